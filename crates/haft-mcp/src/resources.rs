//! Artifacts as resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_protocol::ArtifactId;
use haft_tool::ports::{Artifacts, KeptArtifact};
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;

use crate::list::TTL_MS;

const SCHEME: &str = "haft://artifact/";

/// Returns where a client reads an artifact.
pub(crate) fn address(id: ArtifactId) -> String {
    format!("{SCHEME}{id}")
}

/// Names an artifact so that a client can read it.
pub(crate) fn link(id: ArtifactId, title: &str, media_type: &str, bytes: u64) -> Resource {
    Resource::new(address(id), title).with_mime_type(media_type).with_size(bytes)
}

/// Lists nothing: what there is to read is linked to by the results of calls.
pub(crate) fn list() -> ListResourcesResult {
    let mut result = ListResourcesResult::with_all_items(Vec::new());
    (result.ttl_ms, result.cache_scope) = (Some(TTL_MS), Some(CacheScope::Private));
    result
}

/// Says what the addresses look like.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let artifact = ResourceTemplate::new(format!("{SCHEME}{{id}}"), "artifact")
        .with_description("What a call produced that was too much for its result.");
    let mut result = ListResourceTemplatesResult::with_all_items(vec![artifact]);
    (result.ttl_ms, result.cache_scope) = (Some(TTL_MS), Some(CacheScope::Private));
    result
}

/// Reads an artifact that a call of this workspace kept.
///
/// # Errors
///
/// Fails for an address of another kind, and where there is no such artifact or its bytes are gone.
pub(crate) async fn read(
    artifacts: &dyn Artifacts,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let shown: String = haft_text::visible_line(uri).chars().take(200).collect();
    let Some(id) = uri.strip_prefix(SCHEME).and_then(|id| id.parse::<ArtifactId>().ok()) else {
        let text = format!(
            "`{shown}` is no resource of this server: they are `{SCHEME}` and an id that a result gave"
        );
        return Err(not_found(uri, text));
    };
    let kept = artifacts.fetch(id).await.map_err(|error| {
        tracing::warn!(%id, %error, source = ?error.source, "an artifact cannot be read");
        not_found(uri, error.to_string())
    })?;
    let kept = kept.ok_or_else(|| {
        let text = format!("there is no artifact `{id}` of this workspace");
        not_found(uri, text)
    })?;
    let mut result = ReadResourceResult::new(vec![contents(uri, &kept)]);
    (result.ttl_ms, result.cache_scope) = (Some(TTL_MS), Some(CacheScope::Private));
    Ok(result)
}

fn not_found(uri: &str, text: String) -> ErrorData {
    ErrorData::resource_not_found(text, Some(json!({ "uri": uri })))
}

/// Text as text, everything else as bytes.
fn contents(uri: &str, kept: &KeptArtifact) -> ResourceContents {
    let KeptArtifact { media_type, bytes, .. } = kept;
    let is_text = media_type.starts_with("text/") || media_type.starts_with("application/json");
    let contents = match std::str::from_utf8(bytes) {
        Ok(text) if is_text => ResourceContents::text(text, uri),
        Ok(_) | Err(_) => ResourceContents::blob(STANDARD.encode(bytes), uri),
    };
    contents.with_mime_type(media_type)
}
