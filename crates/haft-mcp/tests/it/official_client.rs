//! The client of the official library, which is strict about what it takes.

use std::sync::atomic::{AtomicBool, Ordering};

use haft_protocol::limits;
use haft_testkit::{Era, echo, pure_tool};
use haft_tool::Output;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::json;

use crate::rig::{House, counting};

/// Somebody who says yes to everything, once asked.
#[derive(Default)]
struct Ada {
    asked: AtomicBool,
}

impl ClientHandler for Ada {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("official", "3"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.store(true, Ordering::SeqCst);
        assert!(matches!(request, ElicitRequestParams::FormElicitationParams { .. }));
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "allow": true })))
    }
}

async fn official(house: &House, era: Era) -> RunningService<RoleClient, Ada> {
    let lifecycle = match era {
        Era::Handshake => ClientLifecycleMode::Initialize,
        Era::Stateless => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    Ada::default().serve_with_lifecycle(house.serve().0, lifecycle).await.unwrap()
}

#[tokio::test]
async fn it_lists_every_page_calls_and_reads() {
    let tools = (0..2 * limits::MCP_PAGE)
        .map(|it| pure_tool(&format!("local/tool_{it}"), |_| Ok(Output::text(""))));
    let talk = pure_tool("local/talk", |_| Ok(Output::text("a line\n".repeat(40_000))));
    let house = House::of(tools.chain([echo(), talk]));
    for era in Era::BOTH {
        let client = official(&house, era).await;
        assert_eq!(client.list_all_tools().await.unwrap().len(), 2 * limits::MCP_PAGE + 2);
        let arguments = json!({ "say": "hello" }).as_object().cloned().unwrap();
        let call = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = client.call_tool(call).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, r#"{"say":"hello"}"#);
        let result = client.call_tool(CallToolRequestParams::new("talk")).await.unwrap();
        let link = result.content.iter().find_map(|it| it.as_resource_link()).unwrap();
        let params = rmcp::model::ReadResourceRequestParams::new(link.uri.clone());
        let read = client.read_resource(params).await.unwrap();
        assert_eq!(read.contents.len(), 1);
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn its_user_is_asked_in_the_way_of_each_era() {
    for era in Era::BOTH {
        let (tool, ran) = counting();
        let house = House::asking([tool]);
        let client = official(&house, era).await;
        let result = client.call_tool(CallToolRequestParams::new("count")).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, "ran 1");
        assert!(client.service().asked.load(Ordering::SeqCst));
        assert_eq!(ran.load(Ordering::SeqCst), 1);
        assert_eq!(house.answers(), ["approved by the user of official 3"]);
        client.cancel().await.unwrap();
    }
}
