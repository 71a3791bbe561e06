//! The one handler of both eras: what a client asks, and which part of the server answers.

use std::sync::Arc;

use haft_protocol::limits;
use haft_tool::{CallContext, Cancellation, Dispatch, Registry, SharedLedger};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, Implementation, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::call::Requested;
use crate::seal::Seal;
use crate::{About, changes, list, resources};

/// Requests with params that are known here. One that comes through as unknown has params that cannot be read.
const KNOWN: &[&str] = &[
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

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
    pub(crate) room: Arc<Semaphore>,
    /// Whom the transport let in.
    pub(crate) let_in_as: String,
}

impl Connection {
    /// Makes a connection that lasts.
    pub(crate) fn lasting(let_in_as: impl Into<String>, cancellation: Cancellation) -> Self {
        Self {
            ledger: Some(SharedLedger::default()),
            cancellation,
            room: Arc::new(Semaphore::new(limits::MCP_CALLS_AT_ONCE)),
            let_in_as: let_in_as.into(),
        }
    }
}

/// The server as one connection sees it.
pub(crate) struct Face {
    pub(crate) shared: Arc<Shared>,
    pub(crate) connection: Connection,
}

impl ServerHandler for Face {
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
        self.call(request.into(), context).await
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
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let artifacts = &self.shared.dispatch.ports().artifacts;
        resources::read(&**artifacts, &request.uri).await.map(Into::into)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let watching = self.shared.registry.watch();
        changes::announce(context.peer, watching, &self.connection.cancellation).await;
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(changes::offered())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        changes::tell(&context, self.shared.registry.watch()).await;
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if method == "tools/call"
            && let Some(requested) = Requested::with_odd_arguments(params.as_ref())
        {
            return match self.call(requested, context).await? {
                CallToolResponse::Complete(result) => Ok(CustomResult::new(plain(&result)?)),
                _ => Err(ErrorData::invalid_params(
                    "this call has to be asked about: make it again with an object as `arguments`",
                    None,
                )),
            };
        }
        if KNOWN.contains(&method.as_str()) {
            return Err(unreadable(&method, params.as_ref()));
        }
        let shown: String = haft_text::visible_line(&method).chars().take(100).collect();
        let text = format!("there is no method `{shown}` here");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }
}

/// The lists of resources have one page.
fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|it| it.cursor) {
        None => Ok(()),
        Some(cursor) => Err(list::unknown_cursor(&cursor)),
    }
}

fn plain(result: &CallToolResult) -> Result<Value, ErrorData> {
    serde_json::to_value(result).map_err(|error| ErrorData::internal_error(error.to_string(), None))
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
