//! What comes back of a call.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_policy::Rule;
use haft_protocol::{
    Capabilities, Capability, ContentPart, ErrorKind, Failure, ImageType, NoticeKind,
};
use haft_schema::Contract;
use haft_testkit::{Era, Rig, echo, pure_tool};
use haft_tool::{FunctionTool, Output, Tool};
use insta::{allow_duplicates, assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use crate::rig::{House, error_text, text};

/// The least that begins like a picture.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn rows(count: usize) -> Arc<dyn Tool> {
    let output = Contract::foreign(json!({
        "type": "object",
        "properties": { "rows": { "type": "array", "items": { "type": "string" } } },
        "required": ["rows"],
    }));
    let schema = json!({ "type": "object", "properties": {} });
    FunctionTool::new("local/rows".parse().unwrap(), "Returns rows.", schema)
        .unwrap()
        .facts(|facts| facts.output(Some(output.unwrap())))
        .body(move |_, _| async move {
            let rows = vec!["a row that is not short"; count];
            Output::text(format!("{count} rows")).with_structured(&json!({ "rows": rows }))
        })
        .unwrap()
}

#[tokio::test]
async fn text_comes_as_text() {
    let house = House::of([echo()]);
    for era in Era::BOTH {
        let result = house.client(era).await.call("echo", json!({ "say": "hello" })).await;
        assert_eq!(text(&result), r#"{"say":"hello"}"#);
        assert_ne!(result["isError"], true);
    }
}

#[tokio::test]
async fn what_says_nothing_is_done() {
    let house = House::of([pure_tool("local/quiet", |_| Ok(Output::default()))]);
    let result = house.client(Era::Stateless).await.call("quiet", json!({})).await;
    assert_eq!(text(&result), "done");
}

#[tokio::test]
async fn notices_stand_beside_the_text() {
    let tool = pure_tool("local/careful", |_| {
        Ok(Output::text("the data").with_notice(NoticeKind::Repaired, "`1` was read as 1"))
    });
    let result = House::of([tool]).client(Era::Stateless).await.call("careful", json!({})).await;
    assert_snapshot!(text(&result), @"
    the data
    [notice: `1` was read as 1]
    ");
}

#[tokio::test]
async fn an_image_comes_as_an_image_after_its_words() {
    let tool = pure_tool("local/draw", |_| {
        let data = Arc::from(PNG);
        let image = ContentPart::Image { media_type: ImageType::Png, data };
        Ok(Output { content: vec![image, ContentPart::text("a picture")], ..Output::default() })
    });
    let house = House::of([tool]);
    for era in Era::BOTH {
        let result = house.client(era).await.call("draw", json!({})).await;
        let content = result["content"].as_array().unwrap();
        let kinds: Vec<_> = content.iter().map(|it| it["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "image"]);
        assert_eq!(content[1]["mimeType"], "image/png");
        assert_eq!(STANDARD.decode(content[1]["data"].as_str().unwrap()).unwrap(), PNG);
    }
}

#[tokio::test]
async fn too_much_text_is_cut_and_the_whole_can_be_read() {
    let whole = "a line of what is said\n".repeat(20_000);
    let said = whole.clone();
    let house = House::of([pure_tool("local/talk", move |_| Ok(Output::text(said.clone())))]);
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        let result = client.call("talk", json!({})).await;
        let content = result["content"].as_array().unwrap();
        assert!(content[0]["text"].as_str().unwrap().len() < 128 * 1024);
        let link = content.iter().find(|it| it["type"] == "resource_link").unwrap();
        assert_eq!(link["size"], whole.len());
        let (text, address) = (content[0]["text"].as_str().unwrap(), link["uri"].as_str().unwrap());
        assert!(text.contains(&format!("the whole text is artifact {address}]")), "it says where");
        let read = client.request("resources/read", json!({ "uri": link["uri"] })).await;
        assert_eq!(read["contents"][0]["text"].as_str(), Some(whole.as_str()));
        assert_eq!(read["contents"][0]["uri"], link["uri"]);
    }
}

#[tokio::test]
async fn data_comes_as_data_and_as_text() {
    let house = House::of([rows(2)]);
    for era in Era::BOTH {
        let mut result = house.client(era).await.call("rows", json!({})).await;
        result.as_object_mut().unwrap().retain(|key, _| key != "resultType" && key != "_meta");
        allow_duplicates! {
            assert_json_snapshot!(result, @r#"
        {
          "content": [
            {
              "type": "text",
              "text": "2 rows"
            }
          ],
          "structuredContent": {
            "rows": [
              "a row that is not short",
              "a row that is not short"
            ]
          },
          "isError": false
        }
        "#);
        }
    }
}

#[tokio::test]
async fn data_that_is_too_much_is_an_error_that_says_where_it_is() {
    let house = House::of([rows(100_000)]);
    let mut client = house.client(Era::Stateless).await;
    let result = client.call("rows", json!({})).await;
    assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None));
    let content = result["content"].as_array().unwrap();
    assert_snapshot!(content[0]["text"].as_str().unwrap(), @"the call did what it was asked to, and its data is too much to be sent: it was kept as a resource");
    let link = content.iter().find(|it| it["type"] == "resource_link").unwrap();
    let read = client.request("resources/read", json!({ "uri": link["uri"] })).await;
    let kept: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(kept["rows"].as_array().unwrap().len(), 100_000);
    assert!(house.outcomes()[0].is_ok(), "the record says how the call went");
}

#[tokio::test]
async fn a_call_that_fails_is_a_result_that_says_what_to_do() {
    let tool = pure_tool("local/fail", |_| {
        Err(Failure::new(ErrorKind::NotFound, "there is no `x`").hint("look with `list` first"))
    });
    let house = House::of([tool]);
    for era in Era::BOTH {
        let result = house.client(era).await.call("fail", json!({})).await;
        allow_duplicates! {
            assert_snapshot!(error_text(&result), @"
    failed (not_found): there is no `x`
    hint: look with `list` first
    ");
        }
    }
}

#[tokio::test]
async fn a_call_that_panics_is_a_result_that_tells_nothing_of_the_inside() {
    let tool = pure_tool("local/trip", |_| panic!("a secret of the inside"));
    let result = House::of([tool]).client(Era::Stateless).await.call("trip", json!({})).await;
    assert_snapshot!(error_text(&result), @"failed (internal): the tool panicked; this is a fault in its code, not in the call");
}

#[tokio::test]
async fn a_call_that_a_rule_denies_is_a_result_that_says_so() {
    let rule = Rule::deny().tool("local/echo".parse().unwrap()).reason("not before the release");
    let house = House::new(Rig::builder().tool(echo()).rule(rule));
    for era in Era::BOTH {
        let result = house.client(era).await.call("echo", json!({})).await;
        allow_duplicates! {
            assert_snapshot!(error_text(&result), @r#"
    denied by policy: not before the release; the rule `deny tool = "local/echo"` (default) denies `local/echo`
    hint: a person can change that rule (default)
    "#);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_a_result_that_says_how_long() {
    let tool =
        FunctionTool::new("local/doze".parse().unwrap(), "Dozes.", json!({ "type": "object" }))
            .unwrap()
            .facts(|facts| facts.run_ms(2_000))
            .body(|call, _| async move {
                call.cancellation().cancelled().await;
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok(Output::text("woken"))
            })
            .unwrap();
    let result = House::of([tool]).client(Era::Stateless).await.call("doze", json!({})).await;
    assert_snapshot!(error_text(&result), @"
            timed out after 2000 ms
            woken
            ");
}

#[tokio::test]
async fn what_a_preset_does_not_allow_names_the_one_that_does() {
    let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
    let tool =
        FunctionTool::new("local/write".parse().unwrap(), "Writes.", json!({ "type": "object" }))
            .unwrap()
            .facts(|facts| facts.capabilities(writes))
            .body(|_, _| async { Ok(Output::text("done")) })
            .unwrap();
    let house = House::new(Rig::builder().tool(tool).preset(haft_policy::Preset::ReadOnly));
    let result = house.client(Era::Stateless).await.call("write", json!({})).await;
    assert_snapshot!(error_text(&result), @"
            denied by policy: the preset `read-only` (default) denies `write_files`
            hint: a person can start with `--preset edit`
            ");
}
