//! What a person reads who made a slip.

use haft_protocol::LogicalPath;

use crate::files::Files;

fn error(text: impl AsRef<[u8]>) -> String {
    Files::user(text).error()
}

#[test]
fn o_121_unknown_key_names_the_nearest_one() {
    insta::assert_snapshot!(error("presett = \"edit\""), @r#"
    /u/haft/config.toml:1:1: unknown key `presett`: did you mean `preset`?
      |
    1 | presett = "edit"
      | ^^^^^^^
    "#);
    insta::assert_snapshot!(error("[limits]\n  permit = 3"), @"
    /u/haft/config.toml:2:3: unknown key `limits.permit`: did you mean `permits`?
      |
    2 |   permit = 3
      |   ^^^^^^
    ");
    insta::assert_snapshot!(error("[[rule]]\ndecision = \"deny\""), @"
    /u/haft/config.toml:1:3: unknown key `rule`: did you mean `rules`?
      |
    1 | [[rule]]
      |   ^^^^
    ");
    insta::assert_snapshot!(error("denyWrit = ['x']"), @"
    /u/haft/config.toml:1:1: unknown key `denyWrit`: expected `preset`, `rules`, `protection`, `roots`, `limits`, `journal`, `programs`, `model`, `models`, `network` or `aliases`
      |
    1 | denyWrit = ['x']
      | ^^^^^^^^
    ");
    insta::assert_snapshot!(error("[journal]\nrecord_argument = true"), @"
    /u/haft/config.toml:2:1: unknown key `journal.record_argument`: did you mean `record_arguments`?
      |
    2 | record_argument = true
      | ^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(error("[protection]\nexcluded = []"), @"
    /u/haft/config.toml:2:1: unknown key `protection.excluded`: expected `extra` or `except`
      |
    2 | excluded = []
      | ^^^^^^^^
    ");
    insta::assert_snapshot!(error("roots.more = []"), @"
    /u/haft/config.toml:1:7: unknown key `roots.more`: expected `extra`
      |
    1 | roots.more = []
      |       ^^^^
    ");
    insta::assert_snapshot!(error("\"a\\u001b[2K\" = 1"), @r#"
    /u/haft/config.toml:1:1: unknown key `a\u{1b}[2K`: expected `preset`, `rules`, `protection`, `roots`, `limits`, `journal`, `programs`, `model`, `models`, `network` or `aliases`
      |
    1 | "a\u001b[2K" = 1
      | ^^^^^^^^^^^^
    "#);
}

#[test]
fn unknown_preset_names_the_three() {
    insta::assert_snapshot!(error("# who\npreset = \"nonsense\"  # what"), @r#"
    /u/haft/config.toml:2:10: `nonsense` is not a preset: expected `read-only`, `edit` or `full`
      |
    2 | preset = "nonsense"  # what
      |          ^^^^^^^^^^
    "#);
    insta::assert_snapshot!(error("preset = 3"), @"
    /u/haft/config.toml:1:10: `preset` takes text, and this is a whole number
      |
    1 | preset = 3
      |          ^
    ");
}

#[test]
fn value_of_another_type_is_named() {
    insta::assert_snapshot!(error("rules = { decision = \"deny\" }"), @r#"
    /u/haft/config.toml:1:9: `rules` takes a list, and this is a table
      |
    1 | rules = { decision = "deny" }
      |         ^^^^^^^^^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(error("limits = 3"), @"
    /u/haft/config.toml:1:10: `limits` takes a table, and this is a whole number
      |
    1 | limits = 3
      |          ^
    ");
    insta::assert_snapshot!(error("[limits]\npermits = \"3\""), @r#"
    /u/haft/config.toml:2:11: `limits.permits` takes a whole number, and this is text
      |
    2 | permits = "3"
      |           ^^^
    "#);
    insta::assert_snapshot!(error("[limits]\npermits = 3.5"), @"
    /u/haft/config.toml:2:11: `limits.permits` takes a whole number, and this is a number with a point
      |
    2 | permits = 3.5
      |           ^^^
    ");
    insta::assert_snapshot!(error("[journal]\nrecord_arguments = 1"), @"
    /u/haft/config.toml:2:20: `journal.record_arguments` takes true or false, and this is a whole number
      |
    2 | record_arguments = 1
      |                    ^
    ");
    insta::assert_snapshot!(error("[protection]\nextra = \"*.pem\""), @r#"
    /u/haft/config.toml:2:9: `protection.extra` takes a list, and this is text
      |
    2 | extra = "*.pem"
      |         ^^^^^^^
    "#);
    insta::assert_snapshot!(error("[protection]\nextra = [1979-05-27]"), @"
    /u/haft/config.toml:2:10: `protection.extra` takes text, and this is a date
      |
    2 | extra = [1979-05-27]
      |          ^^^^^^^^^^
    ");
}

#[test]
fn number_out_of_range_names_the_range() {
    insta::assert_snapshot!(error("[limits]\npermits = 0"), @"
    /u/haft/config.toml:2:11: `limits.permits` is 0: expected 1 to 64
      |
    2 | permits = 0
      |           ^
    ");
    insta::assert_snapshot!(error("[limits]\npermits = -1"), @"
    /u/haft/config.toml:2:11: `limits.permits` is -1: expected 1 to 64
      |
    2 | permits = -1
      |           ^^
    ");
    insta::assert_snapshot!(error("[limits]\npermits = 0xff"), @"
    /u/haft/config.toml:2:11: `limits.permits` is 255: expected 1 to 64
      |
    2 | permits = 0xff
      |           ^^^^
    ");
    insta::assert_snapshot!(error("[journal]\nretention_days = 99999999999999999999999"), @"
    /u/haft/config.toml:2:18: `journal.retention_days` is 99999999999999999999999: expected 1 to 3650
      |
    2 | retention_days = 99999999999999999999999
      |                  ^^^^^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn text_that_is_not_toml_is_refused_at_its_place() {
    insta::assert_snapshot!(error("preset = \"edit\"\npreset = \"full\""), @r#"
    /u/haft/config.toml:2:1: this is not TOML: duplicate key
      |
    2 | preset = "full"
      | ^^^^^^
    "#);
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"allo"), @r#"
    /u/haft/config.toml:2:17: this is not TOML: invalid basic string, expected `"`
      |
    2 | decision = "allo
      |                 ^
    "#);
    insta::assert_snapshot!(error("{ \"preset\": \"edit\", }"), @r#"
    /u/haft/config.toml:1:1: this is not TOML: invalid key-value pair, expected key
      |
    1 | { "preset": "edit", }
      | ^
    "#);
    insta::assert_snapshot!(error("// words\npreset = \"edit\""), @"
    /u/haft/config.toml:1:4: this is not TOML: key with no value, expected `=`
      |
    1 | // words
      |    ^
    ");
    insta::assert_snapshot!(error(b"preset = \"edit\"\n# \xff"), @"
    /u/haft/config.toml:2:3: this is not UTF-8 text
      |
    2 | # 
      |   ^
    ");
    insta::assert_snapshot!(error(format!("a = {}", "[".repeat(50_000))).lines().next().unwrap(), @"/u/haft/config.toml:1:85: this is not TOML: it nests too deeply");
    insta::assert_snapshot!(error(format!("{}a = 1", "a.".repeat(50_000))).lines().next().unwrap(), @"/u/haft/config.toml:1:1: this is not TOML: it nests too deeply");
}

#[test]
fn file_has_a_bound() {
    insta::assert_snapshot!(error("#".repeat(262_145)), @"/u/haft/config.toml has 262145 bytes, and 262144 is the most a configuration may have");
}

#[test]
fn rule_without_sense_is_refused_at_its_place() {
    insta::assert_snapshot!(error("[[rules]]\ntool = \"x\""), @"
    /u/haft/config.toml:1:1: the rule lacks `decision`: expected `allow`, `ask` or `deny`
      |
    1 | [[rules]]
      | ^^^^^^^^^
    ");
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"alow\"\ntool = \"x\""), @r#"
    /u/haft/config.toml:2:12: `alow` is not a decision: did you mean `allow`?
      |
    2 | decision = "alow"
      |            ^^^^^^
    "#);
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"never\"\ntool = \"x\""), @r#"
    /u/haft/config.toml:2:12: `never` is not a decision: expected `allow`, `ask` or `deny`
      |
    2 | decision = "never"
      |            ^^^^^^^
    "#);
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"allow\""), @"
    /u/haft/config.toml:1:1: rule `allow` names no tool, path, command, capability or access: use the tool `*` to mean every call
      |
    1 | [[rules]]
      | ^^^^^^^^^
    ");
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"allow\"\ntools = []"), @"
    /u/haft/config.toml:3:9: `rules.tools` is empty: leave it out to mean everything
      |
    3 | tools = []
      |         ^^
    ");
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"deny\"\ntool = [\"x\"]"), @r#"
    /u/haft/config.toml:3:8: `tool` takes one text: write `tools` for a list
      |
    3 | tool = ["x"]
      |        ^^^^^
    "#);
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"deny\"\ntool = \"x\"\ntools = [\"y\"]"), @r#"
    /u/haft/config.toml:4:9: `tool` and `tools` say the same: keep one of them
      |
    4 | tools = ["y"]
      |         ^^^^^
    "#);
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"deny\"\ntool = \"x\"\ncapabilities = [\"net\"]"), @r#"
    /u/haft/config.toml:4:17: `net` is not a capability: expected `read_files`, `write_files`, `execute`, `network`, `external` or `session`
      |
    4 | capabilities = ["net"]
      |                 ^^^^^
    "#);
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"deny\"\ntool = \"x\"\naccess = \"writes\""), @r#"
    /u/haft/config.toml:4:10: `writes` is not an access: did you mean `write`?
      |
    4 | access = "writes"
      |          ^^^^^^^^
    "#);
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"deny\"\ntol = \"x\""), @r#"
    /u/haft/config.toml:3:1: unknown key `rules.tol`: did you mean `tool`?
      |
    3 | tol = "x"
      | ^^^
    "#);
    insta::assert_snapshot!(error(format!("[[rules]]\ndecision = \"deny\"\ntool = \"x\"\nreason = \"{}\"", "x".repeat(501))), @"
    /u/haft/config.toml:1:1: bytes of a rule's reason number 501, and 500 is the most
      |
    1 | [[rules]]
      | ^^^^^^^^^
    ");
    insta::assert_snapshot!(error("rules = [3]"), @"
    /u/haft/config.toml:1:10: `rules` takes a table, and this is a whole number
      |
    1 | rules = [3]
      |          ^
    ");
}

#[test]
fn rules_and_patterns_have_a_bound() {
    insta::assert_snapshot!(error(format!("[[rules]]\ndecision = 'deny'\npaths = [{}]", "'/a',".repeat(101))).lines().next().unwrap(), @"/u/haft/config.toml:3:9: patterns of one rule number 101, and 100 is the most");
    insta::assert_snapshot!(error("[[rules]]\ndecision = 'deny'\ntool = 'x'\n".repeat(1_001)), @"
    /u/haft/config.toml:1:1: rules number 1001, and 1000 is the most
      |
    1 | [[rules]]
      | ^^^^^^^^^
    ");
    insta::assert_snapshot!(error(format!("protection.extra = [{}]", "'a',".repeat(1_001))).lines().next().unwrap(), @"/u/haft/config.toml:1:20: patterns number 1001, and 1000 is the most");
    insta::assert_snapshot!(error(format!("roots.extra = [{}]", "'/a',".repeat(33))).lines().next().unwrap(), @"/u/haft/config.toml:1:15: paths number 33, and 32 is the most");
}

#[test]
fn pattern_that_cannot_be_read_is_refused_at_its_place() {
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"deny\"\npaths = [\n  \"src\",\n  \"../x\",\n]"), @r#"
    /u/haft/config.toml:5:3: pattern `../x` is not valid: `..` is not resolved in patterns: write the path it leads to
      |
    5 |   "../x",
      |   ^^^^^^
    "#);
    insta::assert_snapshot!(error("[[rules]]\ndecision = \"deny\"\ntool = \"se arch\""), @r#"
    /u/haft/config.toml:3:8: pattern `se arch` is not valid: ` ` never occurs in a tool's name
      |
    3 | tool = "se arch"
      |        ^^^^^^^^^
    "#);
    insta::assert_snapshot!(error("[protection]\nextra = ['*.pem', '[']"), @"
    /u/haft/config.toml:2:19: pattern `[` is not valid: unclosed character class; missing ']'
      |
    2 | extra = ['*.pem', '[']
      |                   ^^^
    ");
    insta::assert_snapshot!(error("[protection]\nextra = ['']"), @"
    /u/haft/config.toml:2:10: pattern `` is not valid: it is empty
      |
    2 | extra = ['']
      |          ^^
    ");
    insta::assert_snapshot!(error("[roots]\nextra = ['~/data']"), @"
    /u/haft/config.toml:2:10: `~/data` in `roots.extra` is not a full path: expected one that begins with `/` and holds no `..`
      |
    2 | extra = ['~/data']
      |          ^^^^^^^^
    ");
    insta::assert_snapshot!(error("[roots]\nextra = ['/data/../x']"), @"
    /u/haft/config.toml:2:10: `/data/../x` in `roots.extra` is not a full path: expected one that begins with `/` and holds no `..`
      |
    2 | extra = ['/data/../x']
      |          ^^^^^^^^^^^^
    ");
}

#[test]
fn how_programs_run_is_refused_at_its_place() {
    insta::assert_snapshot!(error("[programs]\nsandbox = 'net'"), @"
    /u/haft/config.toml:2:11: `net` is no sandbox level: use `none`, `group`, `files` or `files+net`
      |
    2 | sandbox = 'net'
      |           ^^^^^
    ");
    insta::assert_snapshot!(error("[programs]\nenvironment = ['A', 'B c']"), @"
    /u/haft/config.toml:2:21: `B c` is no variable: expected letters, digits and `_`, then `*` for any rest, or `=` and a value
      |
    2 | environment = ['A', 'B c']
      |                     ^^^^^
    ");
    insta::assert_snapshot!(error("[programs]\nread = ['opt']"), @"
    /u/haft/config.toml:2:9: `opt` in `programs.read` is not a full path: expected one that begins with `/` and holds no `..`
      |
    2 | read = ['opt']
      |         ^^^^^
    ");
    insta::assert_snapshot!(error("[programs]\nsandbx = 'none'"), @"
    /u/haft/config.toml:2:1: unknown key `programs.sandbx`: did you mean `sandbox`?
      |
    2 | sandbx = 'none'
      | ^^^^^^
    ");
}

#[test]
fn pattern_over_a_full_path_is_for_whichever_root_it_lies_in() {
    let config = Files::user("[[rules]]\ndecision = 'deny'\npaths = ['a', '/data/secrets/**']")
        .load()
        .unwrap();
    let astray = |roots: &[&str]| {
        let roots: Vec<_> = roots.iter().map(|it| LogicalPath::new(*it)).collect();
        config.policy(&roots, false).unwrap().astray().count()
    };
    assert_eq!(astray(&["/data"]), 0);
    assert_eq!(astray(&["/srv", "/data"]), 0);
    assert_eq!(astray(&["/srv"]), 1);
    assert_eq!(astray(&[]), 1);
}

#[test]
fn untrusted_file_with_a_slip_is_an_error_too() {
    insta::assert_snapshot!(Files::project("[[rules]]\ndecision = 'denny'").error(), @"
    .haft/config.toml:2:12: `denny` is not a decision: did you mean `deny`?
      |
    2 | decision = 'denny'
      |            ^^^^^^^
    ");
}

#[test]
fn excerpt_is_cut_and_cannot_disguise_itself() {
    insta::assert_snapshot!(error(format!("preset = \"\u{202e}\t{}\"", "x".repeat(300))), @r#"
    /u/haft/config.toml:1:10: `\u{202e}\txxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is not a preset: expected `read-only`, `edit` or `full`
      |
    1 | preset = "� xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(error(format!("limits = {{ {} permit = 1 }}", " ".repeat(200))), @"
    /u/haft/config.toml:1:213: unknown key `limits.permit`: did you mean `permits`?
      |
    1 | …                                        permit = 1 }
      |                                          ^^^^^^
    ");
    insta::assert_snapshot!(error("preset = \"\"\"\nedit\n\"\"\""), @r#"
    /u/haft/config.toml:1:10: `edit\n` is not a preset: expected `read-only`, `edit` or `full`
      |
    1 | preset = """
      |          ^^^
    "#);
    insta::assert_snapshot!(error("roots.extra = [\"a\\u202eb\"]"), @r#"
    /u/haft/config.toml:1:16: `a\u{202e}b` in `roots.extra` is not a full path: expected one that begins with `/` and holds no `..`
      |
    1 | roots.extra = ["a\u202eb"]
      |                ^^^^^^^^^^
    "#);
    insta::assert_snapshot!(error("# é\r\n\tpresét = 1\r\n"), @"
    /u/haft/config.toml:2:6: this is not TOML: invalid unquoted key, expected letters, numbers, `-`, `_`
      |
    2 |  presét = 1
      |      ^
    ");
}

// Places are sought only for what is wrong: were they sought for each pattern, this would take minutes.
#[test]
fn file_full_of_patterns_on_one_line_is_read_at_once() {
    let rule = format!("{{decision='deny',paths=[{}]}},", "'/a',".repeat(100));
    let config = Files::user(format!("rules=[{}]", rule.repeat(480))).load().unwrap();
    assert_eq!(config.rules.len(), 480);
}

#[test]
fn patterns_whose_braces_multiply_out_to_much_are_refused_before_they_do() {
    let braces = "{a,b}".repeat(6);
    let one = format!("[[rules]]\ndecision = \"deny\"\npath = \"{braces}{}\"\n", "?".repeat(900));
    let said = error(&one);
    assert!(said.contains("multiply out to more than 4096"), "{said}");
    assert!(said.contains("pattern `{a,b}{a,b}"), "{said}");

    // Each of these may stand, and all of them together are too much.
    let path = format!("\"{braces}{}\"", "?".repeat(50));
    let paths = vec![path; 50].join(",\n");
    let rule = format!("[[rules]]\ndecision = \"deny\"\npaths = [{paths}]\n");
    let said = error(rule.repeat(40));
    assert!(said.contains("of all rules multiply out to more than 262144"), "{said}");
    assert!(said.contains("config.toml:"), "{said}");
}

#[test]
fn what_a_file_says_is_repeated_no_longer_than_a_person_reads() {
    let long = "x".repeat(200_000);
    let range = format!("[limits]\npermits = {}", "9".repeat(200_000));
    for text in [
        format!("preset = \"{long}\""),
        format!("{long} = 1"),
        format!("[limits]\n{long} = 1"),
        range,
        format!("[[rules]]\ndecision = \"{long}\""),
        format!("[[rules]]\ndecision = \"deny\"\npath = \"{long}\""),
        format!("[[rules]]\ndecision = \"deny\"\ntool = \"[{long}\""),
        format!("[protection]\nextra = [\"{long}\"]"),
        format!("[protection]\nextra = [\"[{long}\"]"),
        format!("[protection]\nextra = [\"{}\"]", "{a,".repeat(60_000)),
        format!("[roots]\nextra = [\"{long}\"]"),
        long.clone(),
        format!("preset = {long}"),
    ] {
        let said = error(&text);
        assert!(said.len() < 2_000, "{} bytes: {said}", said.len());
        assert!(said.contains('…'), "the cut is marked: {said}");
    }
}
