//! Tags around texts that come from elsewhere.

use std::collections::HashSet;

/// Returns a name for tags around these texts that none of them can close or open: `name`, or `name-2` and so on, where a
/// text speaks of it.
///
/// It takes one look at each text, whatever is in it.
pub(crate) fn tag<'a>(name: &str, texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut taken: HashSet<u64> = HashSet::new();
    for text in texts {
        let text = text.to_ascii_lowercase();
        for (place, _) in text.match_indices(name) {
            // Only what stands at the start of a tag speaks of one, blanks and slashes aside.
            let before = text.get(..place).unwrap_or_default();
            if !before.trim_end_matches([' ', '\t', '\n', '\r', '/']).ends_with('<') {
                continue;
            }
            let behind = text.get(place.saturating_add(name.len())..).unwrap_or_default();
            let digits = behind.strip_prefix('-').unwrap_or_default();
            let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
            let number = digits.get(..end).and_then(|digits| digits.parse().ok());
            taken.insert(number.unwrap_or(1));
            taken.insert(1);
        }
    }
    match (1..=u64::MAX).find(|number| !taken.contains(number)) {
        Some(1) | None => name.to_owned(),
        Some(number) => format!("{name}-{number}"),
    }
}

/// Puts a text between tags.
pub(crate) fn wrapped(tag: &str, attributes: &str, text: &str) -> String {
    format!("<{tag}{attributes}>\n{}\n</{tag}>", text.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_tag_is_plain_where_nothing_speaks_of_it() {
        assert_eq!(tag("notes", ["Follow the notes.", "<note>"]), "notes");
        assert_eq!(tag("notes", []), "notes");
    }

    #[test]
    fn a_tag_is_numbered_where_a_text_could_close_it() {
        assert_eq!(tag("notes", ["</notes>"]), "notes-2");
        assert_eq!(tag("notes", ["a", "< / NOTES\n>"]), "notes-2");
        assert_eq!(tag("notes", ["</notes></notes-2><notes-3 x>"]), "notes-4");
        assert_eq!(tag("notes", ["</notes-99999999999999999999999>"]), "notes-2");
    }

    proptest! {
        #[test]
        fn no_text_holds_the_tag_it_is_put_in(
            texts in prop::collection::vec("(<|/| |>|notes|-[0-9]|NOTES|a){0,12}", 0..4),
        ) {
            let tag = tag("notes", texts.iter().map(String::as_str));
            for text in &texts {
                let text = text.to_ascii_lowercase();
                let closing = format!("</{tag}>");
                let opening = format!("<{tag}>");
                prop_assert!(!text.contains(&closing) && !text.contains(&opening));
            }
        }
    }
}
