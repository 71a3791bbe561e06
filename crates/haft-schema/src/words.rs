//! Short, bounded words for values: what a message may quote.

use serde_json::{Number, Value};

/// Characters of a quoted text.
const TEXT_CHARS: usize = 60;
/// Characters of a text that is looked at for likeness.
const LIKENESS_CHARS: usize = 64;
/// Names in one list.
const LISTED: usize = 24;

/// Quotes a text as JSON, cut with its length told.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS) {
        None => Value::from(text).to_string(),
        Some((cut, _)) => {
            let shown = text.get(..cut).unwrap_or_default();
            let characters = text.chars().count();
            format!("{}… ({characters} characters)", Value::from(shown))
        }
    }
}

/// Cuts a text that is shown without quotes.
pub(crate) fn cut(text: &str) -> String {
    cut_at(text, 2 * TEXT_CHARS)
}

/// Cuts a text to a number of characters.
pub(crate) fn cut_at(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
    }
}

/// Says what a value is.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => counted("an array", items.len(), "item"),
        Value::Object(object) => counted("an object", object.len(), "key"),
    }
}

fn counted(thing: &str, count: usize, unit: &str) -> String {
    match count {
        0 => format!("{thing} without {unit}s"),
        1 => format!("{thing} of 1 {unit}"),
        _ => format!("{thing} of {count} {unit}s"),
    }
}

/// Lists names in quotes, with the number of those left out.
pub(crate) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    list(names.into_iter().map(quoted), ", ")
}

/// Lists alternatives, with the number of those left out.
pub(crate) fn alternatives(mut words: Vec<String>) -> String {
    words.dedup();
    if words.len() > LISTED {
        return list(words.into_iter(), ", ");
    }
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} or {last}", words.join(", ")),
        None => "nothing".to_owned(),
    }
}

fn list(words: impl Iterator<Item = String>, separator: &str) -> String {
    let all: Vec<String> = words.collect();
    let left_out = all.len().saturating_sub(LISTED);
    let mut text = all.into_iter().take(LISTED).collect::<Vec<_>>().join(separator);
    if left_out > 0 {
        text.push_str(&format!("{separator}and {left_out} more"));
    }
    text
}

/// Lists choices with what each means, one to a line; nothing when none has a meaning given.
pub(crate) fn choice_list(choices: &[(&str, Option<&str>)]) -> Option<String> {
    choices.iter().any(|(_, meaning)| meaning.is_some()).then(|| {
        let line = |(choice, meaning): &(&str, Option<&str>)| match meaning {
            Some(meaning) => {
                let meaning: Vec<&str> = meaning.split_whitespace().collect();
                format!("- `{choice}`: {}", meaning.join(" "))
            }
            None => format!("- `{choice}`"),
        };
        choices.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Finds the one name that a mistyped one most likely means.
pub(crate) fn nearest<'n>(
    wrong: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let wanted = plain(wrong);
    let reach = (wanted.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&wanted, &plain(name)), name))
        .filter(|(distance, name)| *distance <= reach && *distance < plain(name).chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Other names that models know keys by. The list is closed: a name that could mean several things is not in it.
const SYNONYMS: &[(&str, &[&str])] = &[
    (
        "path",
        &[
            "file",
            "filepath",
            "filename",
            "absolutepath",
            "relativepath",
            "targetfile",
            "directory",
            "dir",
            "dirpath",
            "directorypath",
            "folder",
            "root",
            "cwd",
        ],
    ),
    ("pattern", &["query", "regex", "regexp", "search", "searchterm", "needle"]),
    ("include", &["glob", "globs", "filepattern", "includepattern"]),
    ("limit", &["maxresults", "maxcount", "maxlines", "headlimit", "count"]),
    ("old", &["oldstring", "oldstr", "oldtext"]),
    ("new", &["newstring", "newstr", "newtext"]),
    ("content", &["contents", "filetext", "filecontent", "text"]),
    ("command", &["cmd", "script", "shellcommand"]),
];

/// Letters from which on the beginning of a name stands for it.
const BEGINNING_CHARS: usize = 3;

/// Finds the one name that another word most likely means: one that is written much like it, one that models also know by
/// that word, or the only one that begins with it.
pub(crate) fn meant<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let names: Vec<&str> = names.into_iter().collect();
    nearest(word, names.iter().copied()).or_else(|| {
        let plain = plain(word);
        let known = SYNONYMS.iter().find(|(_, words)| words.contains(&plain.as_str()));
        let known = known.and_then(|(wanted, _)| names.iter().find(|name| *name == wanted));
        known.copied().or_else(|| abbreviated(&plain, &names))
    })
}

/// Finds the only name that a word is short for.
fn abbreviated<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    let mut longer = names.iter().filter(|name| plain(name).starts_with(word));
    let only = longer.next().filter(|_| word.chars().count() >= BEGINNING_CHARS)?;
    longer.next().is_none().then_some(*only)
}

/// Returns a name without what is written in different ways.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(|it| !matches!(it, '_' | '-' | ' ' | '.'));
    kept.flat_map(char::to_lowercase).take(LIKENESS_CHARS).collect()
}

/// Returns a whole number in its shortest form, where that is exact.
pub(crate) fn whole(number: &Number) -> Option<Number> {
    /// Beyond it a float no longer tells neighbouring whole numbers apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let float = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() <= EXACT)?;
    Some(Number::from(float as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_beginning_of_a_name_means_it_where_no_other_begins_so() {
        let names = ["language", "path", "pattern", "limit", "max_depth"];
        assert_eq!(meant("lang", names), Some("language"));
        assert_eq!(meant("max", names), Some("max_depth"));
        assert_eq!(meant("pat", ["pattern_one", "pattern_two"]), None, "two begin so");
        assert_eq!(meant("la", names), None, "too short to tell");
        assert_eq!(meant("l", ["language"]), None);
    }

    #[test]
    fn long_texts_are_cut_with_their_length() {
        let text = value(&json!("é".repeat(200)));
        assert_eq!(text, format!("\"{}\"… (200 characters)", "é".repeat(60)));
        assert_eq!(value(&json!("a\nb")), r#""a\nb""#);
    }

    #[test]
    fn nearest_sees_through_case_and_separators_and_swaps() {
        let names = ["max_results", "path", "pattern"];
        assert_eq!(nearest("maxResults", names), Some("max_results"));
        assert_eq!(nearest("pth", names), Some("path"));
        assert_eq!(nearest("ptah", names), Some("path"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn words_that_models_know_a_key_by_mean_that_key() {
        let names = ["path", "pattern", "limit"];
        for word in ["file_path", "filePath", "directory", "folder", "dir"] {
            assert_eq!(meant(word, names), Some("path"), "{word}");
        }
        assert_eq!(meant("query", names), Some("pattern"));
        assert_eq!(meant("head_limit", names), Some("limit"));
        assert_eq!(meant("query", ["path"]), None, "the tool has no such key");
        assert_eq!(meant("verbosity", names), None);
    }

    #[test]
    fn no_word_means_two_keys() {
        let mut words: Vec<&str> = SYNONYMS.iter().flat_map(|(_, words)| *words).copied().collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
        assert!(words.iter().all(|word| plain(word) == **word), "as they are looked up");
    }

    #[test]
    fn whole_numbers_lose_their_point_only_when_exact() {
        let whole = |value: Value| whole(value.as_number().unwrap()).map(|it| it.to_string());
        assert_eq!(whole(json!(5.0)).as_deref(), Some("5"));
        assert_eq!(whole(json!(-3)).as_deref(), Some("-3"));
        assert_eq!(whole(json!(5.5)), None);
        assert_eq!(whole(json!(1e300)), None);
    }

    #[test]
    fn long_lists_count_what_is_left_out() {
        let names_: Vec<String> = (0..30).map(|it| it.to_string()).collect();
        assert!(names(names_.iter().map(String::as_str)).ends_with("\"23\", and 6 more"));
    }
}
