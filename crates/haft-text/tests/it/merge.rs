use haft_text::{Merge, merge};

fn merged(base: &str, ours: &str, theirs: &str) -> Result<String, usize> {
    match merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()) {
        Merge::Clean(bytes) => Ok(String::from_utf8(bytes).unwrap()),
        Merge::Conflict(conflicts) => Err(conflicts.len()),
    }
}

const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

#[test]
fn changes_apart_from_each_other_both_happen() {
    let ours = BASE.replace("one", "ONE").replace("five\n", "");
    let theirs = BASE.replace("three\n", "three\n3.5\n");
    assert_eq!(merged(BASE, &ours, &theirs).unwrap(), "ONE\ntwo\nthree\n3.5\nfour\nsix\n");
    let same = BASE.replace("two", "2");
    assert_eq!(merged(BASE, &same, &same).unwrap(), same);
}

#[test]
fn changes_that_touch_are_a_conflict() {
    assert_eq!(merged(BASE, &BASE.replace("two", "2"), &BASE.replace("two", "II")), Err(1));
    assert_eq!(merged(BASE, &BASE.replace("two", "2"), &BASE.replace("three", "3")), Err(1));
    let ours = BASE.replace("two\n", "two\na\n");
    assert_eq!(merged(BASE, &ours, &BASE.replace("two\n", "two\nb\n")), Err(1));
}

#[test]
fn a_conflict_names_lines_of_all_three() {
    let ours = format!("zero\n{}", BASE.replace("four", "4"));
    let theirs = BASE.replace("four\n", "IV\nIV\n");
    let Merge::Conflict(conflicts) = merge(BASE.as_bytes(), ours.as_bytes(), theirs.as_bytes())
    else {
        panic!("both changed line four")
    };
    let [only] = conflicts.as_slice() else { panic!("{conflicts:?}") };
    assert_eq!((&only.base, &only.ours, &only.theirs), (&(3..4), &(4..5), &(3..5)));
}

#[test]
fn bytes_of_every_kind_are_merged_by_lines() {
    let join = |lines: [&[u8]; 3]| lines.concat();
    let base = join([b"a\r\n", b"\xff\xfe\x00\n", b"c"]);
    let ours = join([b"A\r\n", b"\xff\xfe\x00\n", b"c"]);
    let theirs = join([b"a\r\n", b"\xff\xfe\x00\n", b"C"]);
    assert_eq!(
        merge(&base, &ours, &theirs),
        Merge::Clean(join([b"A\r\n", b"\xff\xfe\x00\n", b"C"]))
    );
    let units =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let merged = merge(
        &units("\u{feff}a\n\u{10a}\nb\nc\n"),
        &units("\u{feff}A\n\u{10a}\nb\nc\n"),
        &units("\u{feff}a\n\u{10a}\nb\nC\n"),
    );
    assert_eq!(merged, Merge::Clean(units("\u{feff}A\n\u{10a}\nb\nC\n")));
}
