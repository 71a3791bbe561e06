//! Finding a JSON object in what a model said.

use haft_protocol::limits::PARSE_BYTES;

/// Returns what may be a JSON object in a text, the likeliest first: the whole text, what stands between fences, what
/// stands between the first brace and the one that closes it, and what stands between the first brace and the last.
pub(super) fn candidates(text: &str) -> Vec<&str> {
    let text = haft_text::head(text, PARSE_BYTES).trim();
    let mut found = Vec::new();
    if text.starts_with('{') {
        found.push(text);
    }
    found.extend(fenced(text));
    if let Some((_, rest)) = text.split_once('{').map(|(before, _)| text.split_at(before.len())) {
        found.extend(balanced(rest));
        found.extend(rest.rfind('}').and_then(|end| rest.get(..=end)));
        // One whose last braces were forgotten.
        found.push(rest);
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|it| it.starts_with('{') && seen.insert(*it));
    found
}

/// Returns what stands between fences of Markdown.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).filter_map(|block| {
        let inside = block.split_once('\n').map_or(block, |(_, rest)| rest).trim();
        inside.starts_with('{').then_some(inside)
    })
}

/// Returns the start of a text up to the brace that closes its first one.
fn balanced(text: &str) -> Option<&str> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth = depth.saturating_add(1),
            b'}' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(..=place);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_in_what_surrounds_it() {
        for text in [
            r#"{"a": "}"}"#,
            "Here it is:\n```json\n{\"a\": \"}\"}\n```\nIs it right?",
            r#"It is {"a": "}"}, I think {or not}."#,
        ] {
            assert!(candidates(text).contains(&r#"{"a": "}"}"#), "{text}");
        }
        assert_eq!(candidates("nothing here"), Vec::<&str>::new());
        assert_eq!(candidates(r#"so: {"a": [1, 2"#), [r#"{"a": [1, 2"#]);
    }
}
