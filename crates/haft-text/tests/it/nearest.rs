use std::num::NonZeroUsize;

use haft_text::{Document, Edit, EditRules, MatchGrade, Nearest, Refusal, edit};
use proptest::prelude::*;

fn nearest(file: &str, old: &str) -> Option<Nearest> {
    Document::new(file.as_bytes()).nearest(old)
}

fn rules() -> EditRules {
    EditRules {
        highest: MatchGrade::LookAlike,
        most_places: NonZeroUsize::new(100).unwrap(),
        most_bytes: 1024 * 1024,
    }
}

/// The edit that is offered for one that finds nothing.
fn offered(file: &str, old: &str, new: &str) -> Option<Edit> {
    let given = Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false };
    match edit(file.as_bytes(), &[given], &rules()).unwrap_err().refusal {
        Refusal::NotFound { corrected, .. } => corrected.map(|edit| *edit),
        other => panic!("{other:?}"),
    }
}

/// The file after the offered edit.
fn sent(file: &str, old: &str, new: &str) -> Option<String> {
    let offered = offered(file, old, new)?;
    Some(String::from_utf8(edit(file.as_bytes(), &[offered], &rules()).unwrap().bytes).unwrap())
}

/// What is said of the place nearest to a text.
fn told(file: &str, old: &str) -> String {
    let Some(nearest) = nearest(file, old) else { return "nothing like it".to_owned() };
    let differs = &nearest.differs;
    format!(
        "lines {}-{}; from {}:{} on {:?} and not {:?}",
        nearest.first_line,
        nearest.last_line,
        differs.line,
        differs.column,
        differs.there,
        differs.given
    )
}

const CODE: &str = "use std::fs;\n\nfn main() {\n    let name = read_name();\n    println!(\"hello {name}\");\n}\n\nfn read_name() -> String {\n    fs::read_to_string(\"name\").unwrap()\n}\n";

#[test]
fn the_place_is_shown_with_the_first_difference_and_a_text_that_finds_it() {
    insta::assert_snapshot!(told(CODE, "let  name = read_name();"), @r#"lines 4-4; from 4:9 on "name = read_name();" and not " name = read_name();""#);
    insta::assert_snapshot!(told(CODE, "fn main() {\n    let name = get_name();\n    println!"), @r#"lines 3-5; from 4:16 on "read_name();\n    println" and not "get_name();\n    println!""#);
}

#[test]
fn an_edit_of_whole_lines_is_offered_with_their_ends() {
    let old = "fn read_name() -> Name {\n    fs::read_to_string(\"name\").unwrap()\n}\n";
    let found = nearest(CODE, old).unwrap();
    assert_eq!((found.first_line, found.last_line), (8, 10));
    let whole = "fn read_name() -> String {\n    fs::read_to_string(\"name\").unwrap()\n}\n";
    assert_eq!(offered(CODE, old, "").unwrap().old, whole);
    // Line ends that differ are no difference, and the text is given with plain ones.
    let found = nearest(&CODE.replace('\n', "\r\n"), old).unwrap();
    assert_eq!((found.differs.line, found.differs.column), (8, 19));
    assert_eq!(offered(&CODE.replace('\n', "\r\n"), old, "").unwrap().old, whole);
}

#[test]
fn the_new_text_of_an_offered_edit_is_indented_like_its_place() {
    let python = "class A:\n    def f(self):\n        x = 1\n        return x\n";
    let sent_to = |old, new| sent(python, old, new);
    assert_eq!(
        sent_to("def f(self):\n    x = 2\n    return x", "def f(self):\n    return 3").unwrap(),
        "class A:\n    def f(self):\n        return 3\n"
    );
    assert_eq!(
        sent_to("    x  = 1\n", "    x = 1\n    y = 2\n").unwrap(),
        "class A:\n    def f(self):\n        x = 1\n        y = 2\n        return x\n"
    );
    assert_eq!(
        sent("all:\n\tgcc -o a a.c\n", "    gcc  -o a a.c", "    clang -o a a.c\n    ./a").unwrap(),
        "all:\n\tclang -o a a.c\n\t./a\n"
    );
    // Nothing says how far the second line is to be indented.
    assert_eq!(sent_to("x  = 1", "x = 1\ny = 2"), None);
    // Its lines are not all indented alike.
    assert_eq!(sent_to("def f(self):\n      x = 2\n    return x", "def f(self):\n    pass"), None);
    // What would have to go is not there.
    assert_eq!(sent("if a:\n    b(1)\n", "  if  a:\n      b(1)\n", "  if a:\nb(2)\n"), None);
}

#[test]
fn an_offered_edit_goes_as_far_as_the_given_one() {
    let file = "// TODO: close the file\nlog = logging.getLogger(__name__)\n";
    assert_eq!(
        sent(file, "// TODO: close  the\n", "// done\n").unwrap(),
        "// done\nlog = logging.getLogger(__name__)\n"
    );
    assert_eq!(sent(file, "// TODO: close  the", "// done"), None);
    assert_eq!(
        sent(file, "// TODO:  close the", "// DONE: close the").unwrap(),
        "// DONE: close the file\nlog = logging.getLogger(__name__)\n"
    );
    // Nothing says that the whole line was meant.
    assert_eq!(sent(file, "log = logging.getLogger(\"app\")", "log = None"), None);
    assert_eq!(sent("foo(a, c)\n", "foo(a, b", "foo(x"), None);
    // The last line that was given stands one further down.
    let file = "start()\nlet a = 1;\nlet b = 2;\nlet c = 3;\nstop()\n";
    assert_eq!(sent(file, "start()\nlet a = 1;\nlet c = 3;\n", "start()\n"), None);
}

#[test]
fn what_is_like_nothing_is_near_nothing() {
    insta::assert_snapshot!(told(CODE, "SELECT * FROM customers WHERE id = 7"), @"nothing like it");
    insta::assert_snapshot!(told("", "anything"), @"nothing like it");
    insta::assert_snapshot!(told(CODE, "\n\n\n"), @"nothing like it");
}

#[test]
fn a_text_that_would_not_be_the_only_one_is_not_offered() {
    assert_eq!(offered("    x = compute(1)\n    x = compute(1)\n", "x  = compute(1)", "y"), None);
}

#[test]
fn a_very_long_line_is_shown_in_part() {
    let file = format!("const data = [{}];\n", "1234567, ".repeat(10_000));
    let old = "const  data = [1234567, 1234567";
    assert!(nearest(&file, old).unwrap().text.len() <= 4096 && offered(&file, old, "x").is_none());
}

/// A line of a program.
fn line() -> impl Strategy<Value = String> {
    let indent = prop::sample::select(&["", "    ", "        ", "\t", "\t\t", "  "][..]);
    let statement = prop::sample::select(
        &[
            "",
            "}",
            "} else {",
            "if ready:",
            "return total",
            "total = total + price",
            "price = item.price(1)",
            "log = logging.getLogger(__name__)",
            "// TODO: close the file",
            "fn compute(a: u32, b: u32) -> u32 {",
            "print(\"total is\", total)",
            "gcc -o main main.c",
            "self.items.append(item)",
            "x = 1; y = 2",
        ][..],
    );
    (indent, statement).prop_map(|(indent, statement)| format!("{indent}{statement}"))
}

/// Changes a text as one misremembers it.
fn misremembered(text: &str, way: u8, at: prop::sample::Index) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = at.index(chars.len().max(1));
    let (before, after) = chars.split_at(at.min(chars.len()));
    let (before, after) = (before.iter().collect::<String>(), after.iter().collect::<String>());
    let each = |change: &dyn Fn(&str) -> String| -> String {
        text.split_inclusive('\n').map(change).collect()
    };
    match way {
        0 => format!("{before}x{after}"),
        1 => before + after.get(1..).unwrap_or_default(),
        2 => format!("{before}  {after}"),
        3 => each(&|line| format!("  {line}")),
        4 => each(&|line| line.strip_prefix("    ").unwrap_or(line).to_owned()),
        5 => each(&|line| line.replace('\t', "    ")),
        6 => text.replace("total", "sum"),
        7 => text.replace("__name__", "\"app\""),
        8 => before,
        _ => text.to_owned(),
    }
}

proptest! {
    #[test]
    fn an_offered_edit_replaces_what_was_meant_and_indents_it_so(
        lines in prop::collection::vec(line(), 1..9), first in 0..8_usize, count in 1..5_usize,
        ways in prop::collection::vec((0..12_u8, any::<prop::sample::Index>()), 1..4),
        is_ended in any::<bool>(),
    ) {
        let file = lines.join("\n") + "\n";
        let first = first.min(lines.len() - 1);
        let last = (first + count).min(lines.len());
        let mut old = lines[first..last].join("\n") + if is_ended { "\n" } else { "" };
        for (way, at) in ways {
            old = misremembered(&old, way, at);
        }
        // Every line stays, with a word behind it.
        let mut new = String::new();
        for line in old.split_inclusive('\n') {
            let content = line.trim_end_matches('\n');
            let mark = if content.trim().is_empty() { "" } else { " # new" };
            new.extend([content, mark, &line[content.len()..]]);
        }
        prop_assume!(!old.is_empty() && old != new);
        let given = Edit { old: old.clone(), new: new.clone(), replace_all: false };
        crate::corpus::edit::holds(file.as_bytes(), &given, MatchGrade::LookAlike);
        let Err(error) = edit(file.as_bytes(), &[given], &rules()) else { return Ok(()) };
        let Refusal::NotFound { corrected: Some(offered), .. } = error.refusal else { return Ok(()) };
        let after = edit(file.as_bytes(), &[*offered.clone()], &rules()).unwrap().bytes;
        let after = String::from_utf8(after).unwrap();

        // As many lines as before, and each that changed is indented as it was.
        let (before, after) = (file.split('\n'), after.split('\n'));
        prop_assert_eq!(before.clone().count(), after.clone().count(), "{:?}", offered);
        let blanks = |line: &str| line.len() - line.trim_start().len();
        for (before, after) in before.zip(after) {
            if after.ends_with("# new") {
                prop_assert_eq!(&before[..blanks(before)], &after[..blanks(after)], "{:?}", offered);
            } else {
                prop_assert!(before == after || before.trim().is_empty() || after.trim().is_empty()
                    || after.contains("# new"), "{:?} became {:?}", before, after);
            }
        }
    }
}
