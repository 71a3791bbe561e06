//! What a client finds when it looks around.

use std::sync::Arc;

use haft_protocol::{Capabilities, Capability, limits};
use haft_schema::Contract;
use haft_testkit::{Era, McpClient, echo, pure_tool};
use haft_tool::{FunctionTool, OnConflict, Output, Tool};
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use crate::rig::House;

fn with_effects(name: &str, capabilities: Capabilities) -> Arc<dyn Tool> {
    FunctionTool::new(name.parse().unwrap(), "A tool of a test.", json!({ "type": "object" }))
        .unwrap()
        .facts(|facts| facts.capabilities(capabilities))
        .body(|_, _| async { Ok(Output::text("done")) })
        .unwrap()
}

fn many(count: usize) -> impl Iterator<Item = Arc<dyn Tool>> {
    (0..count).map(|it| pure_tool(&format!("local/tool_{it:03}"), |_| Ok(Output::text("done"))))
}

async fn page(client: &mut McpClient, cursor: Option<&Value>) -> (Vec<String>, Option<Value>) {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
    let list = client.request("tools/list", params).await;
    let names = list["tools"].as_array().unwrap().iter();
    let names = names.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    (names, list.get("nextCursor").cloned())
}

#[tokio::test]
async fn a_client_with_a_handshake_learns_what_there_is() {
    let house = House::of([echo()]);
    let mut client = house.client(Era::Handshake).await;
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "tester", "version": "1.0" },
    });
    let mut said = client.request("initialize", hello).await;
    said["serverInfo"]["version"] = json!("[version]");
    assert_json_snapshot!(said, @r#"
    {
      "protocolVersion": "2025-06-18",
      "capabilities": {
        "resources": {},
        "tools": {
          "listChanged": true
        }
      },
      "serverInfo": {
        "name": "haft",
        "version": "[version]"
      }
    }
    "#);
}

#[tokio::test]
async fn a_stateless_client_learns_it_by_discovering() {
    let house = House::of([echo()]);
    let mut client = house.client(Era::Stateless).await;
    let mut said = client.request("server/discover", json!({})).await;
    said["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] = json!("[version]");
    assert_json_snapshot!(said, @r#"
    {
      "resultType": "complete",
      "supportedVersions": [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28"
      ],
      "capabilities": {
        "resources": {},
        "tools": {
          "listChanged": true
        }
      },
      "ttlMs": 60000,
      "cacheScope": "private",
      "_meta": {
        "io.modelcontextprotocol/serverInfo": {
          "name": "haft",
          "version": "[version]"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_tool_is_listed_with_its_schemas_as_they_are() {
    let input = json!({
        "type": "object",
        "properties": {
            "zebra": { "type": "string", "description": "The first, though not by its letter." },
            "ant": { "$ref": "#/$defs/size", "default": 3 },
        },
        "required": ["zebra"],
        "additionalProperties": false,
        "$defs": { "size": { "type": "integer", "minimum": 1 } },
    });
    let output = json!({
        "type": "object",
        "properties": { "rows": { "type": "array", "items": { "type": "integer" } } },
        "required": ["rows"],
    });
    let contract = Contract::foreign(output.clone()).unwrap();
    let tool = FunctionTool::new("local/measure".parse().unwrap(), "Measures it.", input.clone())
        .unwrap()
        .facts(|facts| facts.output(Some(contract)))
        .body(|_, _| async { Ok(Output::text("done")) })
        .unwrap();
    let house = House::of([tool, echo()]);
    for era in Era::BOTH {
        let list = house.client(era).await.request("tools/list", json!({})).await;
        let measure = &list["tools"][0];
        assert_eq!(measure["inputSchema"].to_string(), input.to_string());
        assert_eq!(measure["outputSchema"].to_string(), output.to_string());
        assert_eq!(measure["description"], "Measures it.");
        assert!(list["tools"][1].get("outputSchema").is_none());
    }
}

#[tokio::test]
async fn annotations_follow_from_capabilities() {
    let of = |capability| Capabilities::builder().effect(capability);
    let tools = [
        with_effects("local/pure", Capabilities::pure()),
        with_effects("local/look", Capabilities::read_only()),
        with_effects("local/fetch", of(Capability::Network).build().unwrap()),
        with_effects("local/write", of(Capability::WriteFiles).build().unwrap()),
        with_effects("local/touch", of(Capability::WriteFiles).idempotent().build().unwrap()),
        with_effects("local/run", of(Capability::Execute).build().unwrap()),
        with_effects("local/post", of(Capability::External).build().unwrap()),
        with_effects("local/plan", of(Capability::Session).build().unwrap()),
    ];
    let house = House::of(tools);
    let list = house.client(Era::Stateless).await.request("tools/list", json!({})).await;
    let rows = list["tools"].as_array().unwrap().iter();
    let rows = rows.map(|it| format!("{}: {}", it["name"].as_str().unwrap(), it["annotations"]));
    assert_snapshot!(rows.collect::<Vec<_>>().join("\n"), @r#"
    pure: {"title":"Pure","readOnlyHint":true,"openWorldHint":false}
    look: {"title":"Look","readOnlyHint":true,"openWorldHint":false}
    fetch: {"title":"Fetch","readOnlyHint":true,"openWorldHint":true}
    write: {"title":"Write","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}
    touch: {"title":"Touch","readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}
    run: {"title":"Run","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}
    post: {"title":"Post","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}
    plan: {"title":"Plan","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}
    "#);
}

#[tokio::test]
async fn people_read_the_title_of_a_tool_or_its_name_as_words() {
    let titled =
        FunctionTool::new("local/fix".parse().unwrap(), "A tool.", json!({ "type": "object" }))
            .unwrap()
            .facts(|facts| facts.title("Mend a file\u{202e}"))
            .body(|_, _| async { Ok(Output::text("done")) });
    let house =
        House::of([titled.unwrap(), pure_tool("local/count_words", |_| Ok(Output::text("")))]);
    for era in Era::BOTH {
        let list = house.client(era).await.request("tools/list", json!({})).await;
        let titles: Vec<_> = list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["annotations"]["title"])
            .collect();
        assert_eq!(titles, [r"Mend a file\u{202e}", "Count words"]);
    }
}

#[tokio::test]
async fn the_order_is_that_of_registration_and_the_same_for_everybody() {
    let house = House::of(
        ["local/zebra", "local/ant", "other/bee"]
            .map(|name| pure_tool(name, |_| Ok(Output::text("")))),
    );
    let mut lists = Vec::new();
    for era in [Era::Handshake, Era::Stateless, Era::Stateless] {
        let mut client = house.client(era).await;
        lists.push(page(&mut client, None).await.0);
        lists.push(page(&mut client, None).await.0);
    }
    assert!(lists.iter().all(|it| *it == lists[0]), "{lists:?}");
    assert_eq!(lists[0], ["zebra", "ant", "other__bee"]);
}

#[tokio::test]
async fn a_long_list_comes_in_pages_that_hold_every_tool_once() {
    let total = 2 * limits::MCP_PAGE + 30;
    let house = House::of(many(total));
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        let (mut names, mut sizes, mut cursor) = (Vec::new(), Vec::new(), None);
        loop {
            let (page, next) = page(&mut client, cursor.as_ref()).await;
            sizes.push(page.len());
            names.extend(page);
            match next {
                None => break,
                next => cursor = next,
            }
        }
        assert_eq!(sizes, [limits::MCP_PAGE, limits::MCP_PAGE, 30]);
        let wanted: Vec<String> = (0..total).map(|it| format!("tool_{it:03}")).collect();
        assert_eq!(names, wanted);
    }
}

#[tokio::test]
async fn a_list_that_fills_its_page_has_no_next() {
    let house = House::of(many(limits::MCP_PAGE));
    let (names, next) = page(&mut house.client(Era::Stateless).await, None).await;
    assert_eq!((names.len(), next), (limits::MCP_PAGE, None));
}

#[tokio::test]
async fn a_tool_that_comes_between_two_pages_doubles_and_hides_nothing() {
    let house = House::of(many(limits::MCP_PAGE + 1));
    let mut client = house.client(Era::Stateless).await;
    let (_, next) = page(&mut client, None).await;
    house.registry.register_tool(echo(), OnConflict::Reject).unwrap();
    let (names, end) = page(&mut client, next.as_ref()).await;
    assert_eq!((names, end), (vec![format!("tool_{}", limits::MCP_PAGE), "echo".to_owned()], None));
}

#[tokio::test]
async fn a_cursor_that_no_page_gave_is_refused() {
    let house = House::of(many(3));
    let mut client = house.client(Era::Stateless).await;
    let bad = format!("nobody\u{1b}[2J{}", "x".repeat(10_000));
    for method in ["tools/list", "resources/list", "resources/templates/list"] {
        let error = client.refused(method, json!({ "cursor": bad })).await;
        assert_eq!(error["code"], -32602, "{method}");
        let text = error["message"].as_str().unwrap();
        assert!(text.len() < 200 && !text.contains('\u{1b}'), "{method}: {text}");
    }
    let error = client.refused("tools/list", json!({ "cursor": "tool_009" })).await;
    assert_snapshot!(error["message"].as_str().unwrap(), @"`tool_009` is no cursor of this list; ask for its first page without one");
}

#[tokio::test]
async fn lists_say_how_long_they_hold_and_for_whom() {
    let house = House::of([echo()]);
    let mut client = house.client(Era::Stateless).await;
    for method in ["tools/list", "resources/list", "resources/templates/list"] {
        let list = client.request(method, json!({})).await;
        assert_eq!(
            (&list["ttlMs"], &list["cacheScope"]),
            (&json!(60_000), &json!("private")),
            "{method}"
        );
        assert_eq!(list["resultType"], "complete", "{method}");
    }
    let list = house.client(Era::Handshake).await.request("tools/list", json!({})).await;
    assert!(list.get("resultType").is_none(), "{list}");
}
