//! What has to be true of every edit of every file.
//!
//! The fuzz target runs this on inputs it invents, an ordinary test on those that were kept.

use std::num::NonZeroUsize;

use haft_text::{
    Document, Edit, EditRules, Encoding, Found, MatchGrade, Merge, Refusal, edit, insert, merge,
};

/// What stands between the file, the old text and the new one; the last part says how to edit.
const SEPARATOR: u8 = 0x1e;

/// The most bytes of a file after an edit.
const MOST_BYTES: usize = 1024 * 1024;

/// Reads an input as a file, an old text, a new text and a number, and edits.
pub(crate) fn check(input: &[u8]) {
    let mut parts = input.splitn(4, |byte| *byte == SEPARATOR);
    let mut part = || parts.next().unwrap_or_default();
    let (file, old, new, how) = (part(), part(), part(), part());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let how = how.first().copied().unwrap_or(b'9');
    let edit = Edit { old: text(old), new: text(new), replace_all: how % 2 == 1 };
    holds(file, &edit, MatchGrade::ALL[usize::from(how / 2) % 5]);
    holds(file, &edit, MatchGrade::LookAlike);
    inserts(file, &edit.new, u64::from(how % 8));
}

/// Checks one edit of a file against what can be known of it without the search.
pub(crate) fn holds(file: &[u8], one: &Edit, highest: MatchGrade) {
    let document = Document::new(file);
    let text = document.encoding().decode(file).text;
    assert_eq!(document.text(), text);
    let most = NonZeroUsize::new(10_000).unwrap();
    let rules = EditRules { highest, most_places: most, most_bytes: MOST_BYTES };
    let found = document.find(&one.old, highest, most);
    if let Some(found) = &found {
        sound(&document, &one.old, found, highest);
    }
    match edit(file, std::slice::from_ref(one), &rules) {
        Ok(edited) => {
            let found = found.unwrap();
            assert!(!found.is_overlapping && !found.has_more);
            assert!(one.replace_all || found.spans.len() == 1);
            kept_outside(&document, &found, one, &edited.bytes);
            let done = &edited.applied[0];
            assert_eq!((done.grade, done.places), (found.grade, found.spans.len()));
            let mut hashes = document.line_hashes();
            for touched in done.touched.iter().rev() {
                let first = usize::try_from(touched.first_line).unwrap() - 1;
                let old = hashes.splice(first..first + touched.old.len(), touched.new.clone());
                assert_eq!(old.collect::<Vec<_>>(), touched.old);
            }
            let after = Document::new(&edited.bytes);
            let is_read_alike = after.encoding() == document.encoding()
                && [&document, &after].iter().all(|side| side.text().contains('\n'));
            if is_read_alike {
                assert_eq!(hashes, after.line_hashes());
            }
            assert_eq!(merge(file, &edited.bytes, file), Merge::Clean(edited.bytes.clone()));
            assert_eq!(merge(&edited.bytes, file, &edited.bytes), Merge::Clean(file.to_vec()));
        }
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control), "{error}");
            match error.refusal {
                Refusal::EmptyOld => assert!(one.old.is_empty()),
                Refusal::Identical => assert_eq!(one.old, one.new),
                Refusal::NotFound { corrected, without_numbers, .. } => {
                    assert!(found.is_none());
                    if let Some(edit) = corrected {
                        correctable(file, one, &edit, &rules);
                    }
                    if let Some(edit) = without_numbers {
                        assert!(document.find(&edit.old, highest, most).is_some());
                    }
                }
                Refusal::Ambiguous { grade, only, .. } => {
                    let found = found.unwrap();
                    assert_eq!(grade, found.grade);
                    assert!(found.is_overlapping || (found.spans.len() > 1 && !one.replace_all));
                    if grade == MatchGrade::Exact {
                        for around in only {
                            let old = around.before + &one.old + &around.after;
                            let found = document.find(&old, grade, most).unwrap();
                            assert!(found.spans.len() == 1, "{old:?}");
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Checks that an edit offered in place of another can be sent as it is, and cuts no line or word.
fn correctable(file: &[u8], given: &Edit, offered: &Edit, rules: &EditRules) {
    let document = Document::new(file);
    let text = document.text();
    let most = NonZeroUsize::new(2).unwrap();
    let found = document.find(&offered.old, rules.highest, most).unwrap();
    assert!(found.spans.len() == 1 && !found.is_overlapping && offered.old != given.old);
    let span = &found.spans[0];
    let (before, after) = (&text[..span.text.start], &text[span.text.end..]);

    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let blank = [' ', '\t'];
    let edge = |text: &str, at_end: bool| {
        let text = text.trim_matches(blank);
        let first = if at_end { text.chars().next_back() } else { text.chars().next() };
        first.map(|char| if is_word(char) { (true, ' ') } else { (false, char) })
    };
    let begins_line = before.trim_end_matches(blank);
    if !begins_line.is_empty() && !begins_line.ends_with(['\r', '\n']) {
        assert_eq!(edge(&offered.old, false), edge(&offered.new, false), "{offered:?}");
        let cuts = before.ends_with(is_word) && offered.old.starts_with(is_word);
        assert!(!cuts, "{offered:?} begins within a word");
    }
    let ends_line = after.is_empty() || offered.old.ends_with(['\r', '\n']);
    assert!(ends_line || !given.old.ends_with('\n'), "{offered:?} leaves a part of a line");
    if !ends_line && !after.starts_with(['\r', '\n']) {
        assert_eq!(edge(&offered.old, true), edge(&offered.new, true), "{offered:?}");
        let cuts = after.starts_with(is_word) && offered.old.ends_with(is_word);
        assert!(!cuts, "{offered:?} ends within a word");
    }
    match edit(file, std::slice::from_ref(offered), rules) {
        Ok(edited) => kept_outside(&document, &found, offered, &edited.bytes),
        Err(error) => assert!(
            matches!(error.refusal, Refusal::Unwritable(_) | Refusal::Unchanged),
            "{offered:?}: {error}"
        ),
    }
}

/// Checks that what was found is what was looked for, and all of it.
fn sound(document: &Document<'_>, old: &str, found: &Found, highest: MatchGrade) {
    let grade = found.grade;
    assert!(grade <= highest);
    let text = document.text();
    let mut end = 0;
    for (index, span) in found.spans.iter().enumerate() {
        let is_last = index + 1 == found.spans.len();
        assert!(span.text.start >= end || (is_last && found.is_overlapping));
        end = span.text.end;
        let there = &text[span.text.clone()];
        assert_eq!(grade.normalise(there), grade.normalise(old), "{there:?} for {old:?}");
        assert_eq!(document.bytes_of(span.text.clone()), span.bytes);
        let bytes = &document.bytes()[span.bytes.clone()];
        assert_eq!(within(document.encoding(), bytes), there);
    }
    let naive: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .filter(|at| text[*at..].starts_with(old))
        .filter(|at| !(old.starts_with('\n') && text[..*at].ends_with('\r')))
        .collect();
    if document.malformed() > 0 && old.contains(char::REPLACEMENT_CHARACTER) {
        return;
    }
    if grade == MatchGrade::Exact {
        let starts: Vec<usize> = found.spans.iter().map(|span| span.text.start).collect();
        let known = if found.is_overlapping || found.has_more { starts.len() } else { naive.len() };
        assert_eq!(starts, naive[..known]);
    } else {
        assert!(naive.is_empty(), "an exact place was passed over");
    }
}

/// Checks that everything outside the places kept its bytes, and that the new text is what was given.
fn kept_outside(document: &Document<'_>, found: &Found, one: &Edit, after: &[u8]) {
    let file = document.bytes();
    let encoding = document.encoding();
    let (first, last) = (found.spans.first().unwrap(), found.spans.last().unwrap());
    let suffix = &file[last.bytes.end..];
    assert!(after.starts_with(&file[..first.bytes.start]) && after.ends_with(suffix));
    let is_literal = found.grade == MatchGrade::Exact
        && (!one.new.contains('\n') || one.old.contains(['\r', '\n']));
    if is_literal {
        let new = encoding.encode(&one.new).unwrap();
        let mut expected = Vec::new();
        let mut at = 0;
        for span in &found.spans {
            expected.extend_from_slice(&file[at..span.bytes.start]);
            expected.extend_from_slice(&new);
            at = span.bytes.end;
        }
        expected.extend_from_slice(suffix);
        assert_eq!(after, expected);
    } else if found.spans.len() == 1 {
        let middle = &after[first.bytes.start..after.len() - suffix.len()];
        let middle = within(encoding, middle);
        let grade = found.grade.min(MatchGrade::Indentation).max(MatchGrade::LineEnding);
        assert_eq!(grade.normalise(&middle), grade.normalise(&one.new));
    }
}

/// Decodes bytes from within a file, where U+FEFF is no byte order mark.
fn within(encoding: Encoding, bytes: &[u8]) -> String {
    let decoded = encoding.decode(&[&encoding.encode("-").unwrap(), bytes].concat());
    assert_eq!(decoded.invalid, 0);
    decoded.text[1..].to_owned()
}

/// Checks that inserted lines are there and that all others stayed.
pub(crate) fn inserts(file: &[u8], lines: &str, after: u64) {
    let document = Document::new(file);
    let Ok(edited) = insert(file, after, lines, MOST_BYTES) else { return };
    let again = Document::new(&edited.bytes);
    // A lone CR is part of a line, until a line feed comes to stand behind it.
    let is_plain = document.text().contains('\n')
        && !lines.contains('\r')
        && !document.lines().any(|line| line.contains('\r'));
    if again.encoding() != document.encoding() || !is_plain {
        return;
    }
    let ends_blank = again.lines().last().is_some_and(str::is_empty);
    assert!(ends_blank || document.ends_with_newline() == again.ends_with_newline());
    let given = lines.strip_suffix('\n').unwrap_or(lines).split('\n');
    let mut expected: Vec<&str> = document.lines().collect();
    let after = usize::try_from(after).unwrap();
    expected.splice(after..after, given);
    assert_eq!(again.lines().collect::<Vec<_>>(), expected);
    let [touched] = edited.applied[0].touched.as_slice() else { panic!("one place is touched") };
    let mut hashes = document.line_hashes();
    hashes.splice(after..after, touched.new.clone());
    assert_eq!((&touched.old, hashes), (&Vec::new(), again.line_hashes()));
}
