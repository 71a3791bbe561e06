//! Doc comments as descriptions.

/// Joins the lines that were only wrapped; paragraphs, lists and code keep theirs.
pub(super) fn unwrapped(doc: &str) -> String {
    let mut text = String::with_capacity(doc.len());
    let mut in_code = false;
    let mut joinable = false;
    for line in doc.trim().lines() {
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        let joins = joinable && !in_code && !fence && !bare.is_empty() && !is_list_item(bare);
        if joins {
            text.push(' ');
            text.push_str(bare.trim_end());
        } else {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line.trim_end());
        }
        in_code ^= fence;
        joinable = !in_code && !fence && !bare.is_empty();
    }
    text
}

fn is_list_item(line: &str) -> bool {
    let after_digits = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let numbered = after_digits.len() < line.len() && after_digits.starts_with(". ");
    numbered || ["- ", "* ", "+ ", "| ", "#"].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_are_joined_and_structure_stays() {
        let doc = "Reads a file\nor a part of it.\n\nModes:\n- one that\n  goes on\n- two\n1. three\n\n```\na\n  b\n```\nafter\nall";
        assert_eq!(
            unwrapped(doc),
            "Reads a file or a part of it.\n\nModes:\n- one that goes on\n- two\n1. three\n\n```\na\n  b\n```\nafter all"
        );
    }
}
