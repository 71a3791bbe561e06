use haft_text::{Document, Nearest};

fn nearest(file: &str, old: &str) -> Option<Nearest> {
    Document::new(file.as_bytes()).nearest(old)
}

/// What is said of the place nearest to a text.
fn told(file: &str, old: &str) -> String {
    let Some(nearest) = nearest(file, old) else { return "nothing like it".to_owned() };
    let differs = &nearest.differs;
    format!(
        "lines {}-{}; from {}:{} on {:?} and not {:?}; {:?}",
        nearest.first_line,
        nearest.last_line,
        differs.line,
        differs.column,
        differs.there,
        differs.given,
        nearest.old
    )
}

const CODE: &str = "use std::fs;\n\nfn main() {\n    let name = read_name();\n    println!(\"hello {name}\");\n}\n\nfn read_name() -> String {\n    fs::read_to_string(\"name\").unwrap()\n}\n";

#[test]
fn the_place_is_shown_with_the_first_difference_and_a_text_that_finds_it() {
    insta::assert_snapshot!(told(CODE, "let  name = read_name();"), @r#"lines 4-4; from 4:9 on "name = read_name();" and not " name = read_name();"; Some("let name = read_name();")"#);
    insta::assert_snapshot!(told(CODE, "fn main() {\n    let name = get_name();\n    println!"), @r#"lines 3-5; from 4:16 on "read_name();\n    println" and not "get_name();\n    println!"; Some("fn main() {\n    let name = read_name();\n    println!")"#);
}

#[test]
fn a_place_of_whole_lines_keeps_their_ends() {
    let old = "fn read_name() -> Name {\n    fs::read_to_string(\"name\").unwrap()\n}\n";
    let found = nearest(CODE, old).unwrap();
    assert_eq!((found.first_line, found.last_line), (8, 10));
    let whole = "fn read_name() -> String {\n    fs::read_to_string(\"name\").unwrap()\n}\n";
    assert_eq!(found.old.as_deref(), Some(whole));
    // Line ends that differ are no difference, and the text is given with plain ones.
    let found = nearest(&CODE.replace('\n', "\r\n"), old).unwrap();
    assert_eq!(found.old.as_deref(), Some(whole));
    assert_eq!((found.differs.line, found.differs.column), (8, 19));
}

#[test]
fn what_is_like_nothing_is_near_nothing() {
    insta::assert_snapshot!(told(CODE, "SELECT * FROM customers WHERE id = 7"), @"nothing like it");
    insta::assert_snapshot!(told("", "anything"), @"nothing like it");
    insta::assert_snapshot!(told(CODE, "\n\n\n"), @"nothing like it");
}

#[test]
fn a_text_that_would_not_be_the_only_one_is_not_offered() {
    let found = nearest("    x = compute(1)\n    x = compute(1)\n", "x  = compute(1)").unwrap();
    assert_eq!((found.first_line, found.old), (1, None));
}

#[test]
fn a_very_long_line_is_shown_in_part() {
    let file = format!("const data = [{}];\n", "1234567, ".repeat(10_000));
    let found = nearest(&file, "const  data = [1234567, 1234567").unwrap();
    assert!(found.text.len() <= 4096 && found.old.is_none());
}
