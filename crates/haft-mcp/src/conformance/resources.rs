//! Resources by address. What haft has to read are artifacts of calls, under its own addresses.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceTemplate};
use serde_json::{Value, json};

use super::tools::PIXEL;
use super::{made_of, result_of};

/// Lists those that are always there.
pub(super) fn list() -> Result<Vec<Resource>, ErrorData> {
    let of = |name: &str, media_type: &str| {
        let uri = format!("test://{name}");
        json!({ "uri": uri, "name": name, "description": "Of the fixture.", "mimeType": media_type })
    };
    made_of(json!([
        of("static-text", "text/plain"),
        of("static-binary", "image/png"),
        of("watched-resource", "text/plain"),
    ]))
}

/// Lists the addresses with a hole in them.
pub(super) fn templates() -> Result<Vec<ResourceTemplate>, ErrorData> {
    made_of(json!([{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "Of the fixture.",
        "mimeType": "application/json",
    }]))
}

/// Reads one of them; nothing for another address.
pub(super) fn read(uri: &str) -> Option<Result<ReadResourceResult, ErrorData>> {
    let (media_type, key, content) = match uri {
        "test://static-text" => {
            ("text/plain", "text", "This is the content of the static text resource.".to_owned())
        }
        "test://static-binary" => ("image/png", "blob", PIXEL.to_owned()),
        "test://watched-resource" => ("text/plain", "text", "It never changes.".to_owned()),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ("application/json", "text", data.to_string())
        }
    };
    let mut contents = json!({ "uri": uri, "mimeType": media_type });
    if let Value::Object(contents) = &mut contents {
        contents.insert(key.to_owned(), Value::String(content));
    }
    Some(result_of(json!({ "contents": [contents] })))
}
