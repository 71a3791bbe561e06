//! The one handler of both eras: what a client asks, and which part of the server answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use haft_protocol::limits;
use haft_tool::{CallContext, Cancellation, Dispatch, Registry, SharedLedger};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, Extensions, GetPromptRequestParams, GetPromptResponse,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    ServerResult, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::call::Requested;
use crate::client::{Acquaintance, Client, Era};
use crate::lines::Out;
use crate::seal::Seal;
use crate::{About, changes, list, resources};

/// Requests with params that are known here. One that comes through as unknown has params that cannot be read.
const KNOWN: &[&str] = &[
    "initialize",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// Large resources of one connection that are read at one time; others wait for their turn.
const READERS: usize = 2;

/// Streams of notifications of one connection.
const LISTENERS: usize = 16;

/// What all connections of a server share.
pub(crate) struct Shared {
    pub(crate) dispatch: Dispatch,
    pub(crate) registry: Arc<Registry>,
    pub(crate) template: CallContext,
    pub(crate) seal: Seal,
    pub(crate) about: About,
}

/// What belongs to one connection.
pub(crate) struct Connection {
    /// What its model has seen of files; nothing where no connection lasts longer than a request.
    pub(crate) ledger: Option<SharedLedger>,
    /// The request to stop everything that it asked for.
    pub(crate) cancellation: Cancellation,
    /// Room for calls at one time.
    pub(crate) room: Semaphore,
    /// Whom the transport let in.
    pub(crate) let_in_as: String,
    /// Who that says to be, where it said so once.
    pub(crate) client: Acquaintance,
    /// Room for readers of resources at one time, each of which may hold a large one.
    readers: Semaphore,
    /// Room for streams of notifications at one time.
    listeners: Semaphore,
    /// Whether somebody tells the client of changes already.
    is_announced: AtomicBool,
    /// Where answers go, if they can pile up there.
    out: Option<Arc<Out>>,
}

impl Connection {
    /// Makes a connection that lasts.
    pub(crate) fn lasting(let_in_as: impl Into<String>, cancellation: Cancellation) -> Self {
        Self {
            ledger: Some(SharedLedger::default()),
            cancellation,
            room: Semaphore::new(limits::MCP_CALLS_AT_ONCE),
            let_in_as: let_in_as.into(),
            client: Acquaintance::default(),
            readers: Semaphore::new(READERS),
            listeners: Semaphore::new(LISTENERS),
            is_announced: AtomicBool::new(false),
            out: None,
        }
    }

    /// Says where answers go, so that no large one is made while earlier ones wait to be read.
    pub(crate) fn writing_to(self, out: Arc<Out>) -> Self {
        Self { out: Some(out), ..self }
    }

    /// Waits for the right to make a large answer.
    async fn reader(&self) -> Option<SemaphorePermit<'_>> {
        let reader = self.readers.acquire().await.ok();
        if let Some(out) = &self.out {
            out.eased().await;
        }
        reader
    }

    /// Makes what requests have in common that stand for themselves: nothing is remembered from one to the next.
    #[cfg(feature = "http")]
    pub(crate) fn passing(let_in_as: impl Into<String>, cancellation: Cancellation) -> Self {
        Self { ledger: None, ..Self::lasting(let_in_as, cancellation) }
    }

    /// Tells whether no call runs.
    #[cfg(feature = "http")]
    pub(crate) fn is_quiet(&self) -> bool {
        self.room.available_permits() == limits::MCP_CALLS_AT_ONCE
    }

    /// Waits until no call runs: all room there is, is there once the last call has ended.
    pub(crate) async fn quiet(&self) {
        let all = u32::try_from(limits::MCP_CALLS_AT_ONCE).unwrap_or(u32::MAX);
        let _all = self.room.acquire_many(all).await;
    }
}

/// The server as one connection sees it.
pub(crate) struct Face {
    pub(crate) shared: Arc<Shared>,
    pub(crate) connection: Arc<Connection>,
}

impl Face {
    /// Returns the face that a message is for: a transport of several connections sends theirs along with it.
    fn of(&self, extensions: &Extensions) -> Self {
        let connection = extensions.get::<Arc<Connection>>().unwrap_or(&self.connection);
        Self { shared: Arc::clone(&self.shared), connection: Arc::clone(connection) }
    }
}

impl ServerHandler for Face {
    /// Says hello, or says it again: what was agreed upon last holds.
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let agreed = self.negotiate_initialize(&request)?;
        request.protocol_version = agreed.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(agreed)
    }

    fn get_info(&self) -> ServerConfig {
        let about = &self.shared.about;
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(about.name.clone(), about.version.clone()));
        match &about.instructions {
            Some(instructions) => info.with_instructions(instructions.clone()),
            None => info,
        }
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.ttl_ms = list::TTL_MS;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|it| it.cursor);
        list::tools(&self.shared.registry.snapshot(), cursor.as_deref())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.of(&context.extensions).call(request.into(), context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.registry.snapshot().find(name).map(list::tool)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(request).map(|()| resources::list())
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        first_page(request).map(|()| resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Self { connection, .. } = self.of(&context.extensions);
        let _reader = connection.reader().await;
        let artifacts = &self.shared.dispatch.ports().artifacts;
        Box::pin(resources::read(&**artifacts, &request.uri)).await.map(Into::into)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let watching = self.shared.registry.watch();
        let Self { connection, .. } = self.of(&context.extensions);
        if connection.is_announced.swap(true, Ordering::Relaxed) {
            return;
        }
        Box::pin(changes::announce(context.peer, watching, &connection.cancellation)).await;
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(changes::offered())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Self { connection, .. } = self.of(&context.request_context().extensions);
        let Ok(_listener) = connection.listeners.try_acquire() else {
            let text =
                format!("{LISTENERS} subscriptions of this client are open, and no more are");
            return Err(ErrorData::internal_error(text, None));
        };
        Box::pin(changes::tell(&context, self.shared.registry.watch())).await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(absent("prompts/list"))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(absent("prompts/get"))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(absent("completion/complete"))
    }

    #[expect(deprecated, reason = "clients of before 2026-07-28 ask for it")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(absent("logging/setLevel"))
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(absent("resources/subscribe"))
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(absent("resources/unsubscribe"))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let era = Client::of(&context).era;
        if method == "tools/call"
            && let Some(requested) = Requested::with_odd_arguments(params.as_ref())
        {
            let response = self.of(&context.extensions).call(requested, context).await?;
            return plain(response, era);
        }
        if method == "ping" && era == Era::Handshake {
            return Ok(CustomResult::new(json!({})));
        }
        let is_of_before = method == "initialize" && era == Era::Stateless;
        if KNOWN.contains(&method.as_str()) && !is_of_before {
            return Err(unreadable(&method, params.as_ref()));
        }
        Err(absent(&method))
    }
}

/// Says that a method is not served.
fn absent(method: &str) -> ErrorData {
    let shown: String = haft_text::visible_line(method).chars().take(100).collect();
    let text = format!("there is no method `{shown}` here");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None)
}

/// The lists of resources have one page.
fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|it| it.cursor) {
        None => Ok(()),
        Some(cursor) => Err(list::unknown_cursor(&cursor)),
    }
}

/// Returns a response as a client of this era knows it, where the library does not see to that.
fn plain(response: CallToolResponse, era: Era) -> Result<CustomResult, ErrorData> {
    let mut result = ServerResult::from(response);
    if era == Era::Handshake {
        result.strip_result_type_for_legacy_peer();
        result.strip_non_object_output_for_legacy_peer();
    }
    let plain = serde_json::to_value(&result);
    plain.map(CustomResult::new).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn unreadable(method: &str, params: Option<&Value>) -> ErrorData {
    let found = match params {
        None => "there are none".to_owned(),
        Some(params) => {
            let text: String = params.to_string().chars().take(200).collect();
            format!("found `{}`", haft_text::visible_line(&text))
        }
    };
    ErrorData::invalid_params(format!("the params of `{method}` are not right: {found}"), None)
}
