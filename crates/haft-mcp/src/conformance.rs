//! The server that the official conformance suite is run against.
//!
//! The suite knows tools, resources and prompts by name, and wants some that haft does not have. So that a pass says
//! something of haft, whatever haft has goes through haft's own handler and its one call path; only the rest is answered by
//! the fixture beside it.
//!
//! Through haft: the handshake and discovery, versions, `_meta`, sessions, `Host` and `Origin`, ping, cancellation, listing
//! with caching hints, unknown tools, resources and methods, subscriptions and `tools/list_changed`; and these tools:
//! `test_simple_text`, `test_image_content`, `test_error_handling`, `test_tool_with_progress`, `json_schema_2020_12_tool`,
//! `test_trigger_tool_change`, and, asked about by haft with a sealed state, `test_streaming_elicitation` and
//! `test_input_required_result_tampered_state`.
//!
//! By the fixture alone, for haft offers no such thing: prompts, completion, logging, sampling, roots, resources by address
//! and subscriptions to them, audio and embedded resources, forms with other questions than haft's own, and questions
//! before a call in more rounds than one.
#![expect(deprecated, reason = "the suite checks what the older revisions have, too")]

mod beyond;
mod prompts;
mod resources;
mod rounds;
mod tools;

use std::sync::Arc;

use haft_policy::{Policy, Preset, Rule};
use haft_protocol::{Caller, Entrance};
use haft_tool::ports::none::{
    NoArtifacts, NoBinder, NoCapture, NoCheckpoints, NoExclusion, NoJournal,
};
use haft_tool::{
    Budget, CallContext, Cancellation, Dispatch, DispatchLimits, Ports, Registry, SystemClock,
    SystemIds,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::face::Face;
use crate::http::Listening;
use crate::{About, AskTheClient, McpServer};
use rounds::Rounds;

type Fault = Box<dyn std::error::Error>;

/// The fixture, with an address. It lets everybody in, for the suite has no token to show.
#[derive(Debug)]
pub struct Fixture(Listening);

impl Fixture {
    /// Listens on a port of this machine that nobody uses.
    ///
    /// # Errors
    ///
    /// Fails when the system gives no port or no random numbers.
    pub async fn listen() -> Result<Self, Fault> {
        let listening = server()?.bind("127.0.0.1:0".parse()?).await?;
        Ok(Self(listening.without_token()))
    }

    /// Returns the address.
    pub fn url(&self) -> String {
        self.0.url()
    }

    /// Serves until `stop` is asked for.
    pub async fn serve(self, stop: &Cancellation) {
        let rounds = Arc::new(Rounds::new());
        self.0.serve_as(stop, move |face| Handler { face, rounds: Arc::clone(&rounds) }).await;
    }
}

/// Makes the server of the tools that go through haft.
fn server() -> Result<McpServer, Fault> {
    let registry = Arc::new(Registry::default());
    tools::register(&registry)?;
    let mut rules = Vec::new();
    for name in tools::ASKED {
        rules.push(Rule::ask().tool(format!("*/{name}").parse()?));
    }
    let ports = Ports {
        journal: Arc::new(NoJournal),
        binder: Arc::new(NoBinder),
        checkpoints: Arc::new(NoCheckpoints),
        capture: Arc::new(NoCapture),
        artifacts: Arc::new(NoArtifacts),
        approver: Arc::new(AskTheClient),
        exclusion: Arc::new(NoExclusion),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
    };
    let caller = Caller {
        entrance: Entrance::Mcp,
        principal: "the conformance suite".into(),
        run: ports.run_id(),
        branch: None,
        parent: None,
    };
    let policy = Arc::new(Policy::new(Preset::Full, rules, false)?);
    let mut context = CallContext::new(caller, registry.snapshot(), policy);
    context.run = Budget::new(u64::MAX);
    let dispatch = Dispatch::new(ports, DispatchLimits::default());
    let about = About::new("haft-mcp-conformance", env!("CARGO_PKG_VERSION"))
        .instructions("A fixture for the conformance suite.");
    Ok(McpServer::builder(dispatch, registry, context).about(about).build()?)
}

/// haft's own handler, and around it what haft does not offer.
struct Handler {
    face: Face,
    rounds: Arc<Rounds>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.face.get_info();
        let further = ServerCapabilities::builder()
            .enable_prompts()
            .enable_completions()
            .enable_logging()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        info.capabilities.prompts = further.prompts;
        info.capabilities.completions = further.completions;
        info.capabilities.logging = further.logging;
        info.capabilities.resources = further.resources;
        info
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.face.discover(context).await?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.face.list_tools(request, context).await?;
        result.tools.extend(beyond::list()?);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.face.get_tool(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(response) = self.rounds.of_tool(&request, &context) {
            return response;
        }
        match beyond::call(&request, &context).await {
            Some(response) => response,
            None => self.face.call_tool(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut result = self.face.list_resources(request, context).await?;
        result.resources.extend(resources::list()?);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut result = self.face.list_resource_templates(request, context).await?;
        result.resource_templates.extend(resources::templates()?);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&request.uri) {
            Some(result) => result.map(Into::into),
            None => self.face.read_resource(request, context).await,
        }
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        prompts::list()
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.rounds.of_prompt(&request, &context) {
            Some(response) => response,
            None => prompts::get(&request).map(Into::into),
        }
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        result_of(serde_json::json!({ "completion": { "values": ["test"], "hasMore": false } }))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.face.on_initialized(context).await;
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.face.accepted_subscription_filter(asked)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.face.listen(context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.face.on_custom_request(request, context).await
    }
}

/// Reads a result that is complete.
fn result_of<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    if let Value::Object(result) = &mut value {
        result.insert("resultType".to_owned(), "complete".into());
    }
    made_of(value)
}

/// Reads what the fixture says from the form in which the suite describes it.
fn made_of<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
