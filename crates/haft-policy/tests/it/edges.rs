//! Where limits begin: what still fits, and what stands one step beside.

use haft_policy::{CommandPattern, PathPattern, Policy, Preset, Rule, ToolPattern};
use haft_protocol::{Access, Capability, Decision, LogicalPath};

use crate::call::{Call, rule};

fn fits(pattern: &str) -> bool {
    pattern.parse::<PathPattern>().is_ok()
}

/// Braces with so many alternatives of one character.
fn choices(count: usize) -> String {
    format!("{{{}}}", vec!["a"; count].join(","))
}

#[test]
fn a_pattern_may_be_as_large_as_it_may_be_and_no_larger() {
    let two = "{a,b}";
    let any = |count| "?".repeat(count);
    let class = |count| format!("[{}]", "x".repeat(count));
    let nested = |depth| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
    for (what, largest, too_large) in [
        ("bytes", "a".repeat(1024), "a".repeat(1025)),
        ("parts", vec!["a"; 64].join("/"), vec!["a"; 65].join("/")),
        ("parts with the directory", "a/".repeat(63), "a/".repeat(64)),
        ("alternatives", choices(64), choices(65)),
        ("alternatives multiplied", two.repeat(6), format!("{}{}", choices(33), two)),
        ("levels", nested(8), nested(9)),
        // Sixty-four alternatives of sixty-four tokens each, in whatever order they are written.
        ("tokens behind", two.repeat(6) + &any(58), two.repeat(6) + &any(59)),
        ("tokens before", any(58) + &two.repeat(6), any(59) + &two.repeat(6)),
        (
            "tokens of the last braces",
            any(59) + &two.repeat(3) + "{a,b,c,d}" + two,
            any(59) + &two.repeat(3) + "{a,b,c,dd}" + two,
        ),
        ("a class behind", two.repeat(6) + &class(57), two.repeat(6) + &class(58)),
        ("a class before", class(57) + &two.repeat(6), class(58) + &two.repeat(6)),
    ] {
        assert!(fits(&largest), "{what}: {largest}");
        assert!(!fits(&too_large), "{what}: {too_large}");
    }
}

#[test]
fn a_class_holds_no_slash_and_no_range_backwards() {
    for class in ["[a-a]", "[.-0]", "[a-bc-d]", "[!-~]", "[a\\]b]"] {
        assert!(fits(class), "{class}");
    }
    for class in ["[/]", "[a/]", "[/-a]", "[.-/]", "[b-a]", "[a\\"] {
        assert!(!fits(class), "{class}");
    }
}

#[test]
fn a_pattern_of_commands_may_be_as_large_as_it_may_be_and_no_larger() {
    let fits = |pattern: &str| pattern.parse::<CommandPattern>().is_ok();
    for (what, largest, too_large) in [
        ("bytes", "a".repeat(1024), "a".repeat(1025)),
        ("words", vec!["a"; 64].join(" "), vec!["a"; 65].join(" ")),
    ] {
        assert!(fits(&largest), "{what}");
        assert!(!fits(&too_large), "{what}");
    }
}

/// A yes said beforehand answers what would be asked, and not what might have been denied.
#[test]
fn a_deny_in_doubt_is_answered_by_nobody_beforehand_whatever_else_asks() {
    let about = |rule: Rule, pattern: &str| rule.command(pattern.parse().unwrap());
    let deny = || about(Rule::deny(), "rm *");
    let asks = [rule("ask bash"), about(Rule::ask(), "id *"), about(Rule::ask(), "ls *")];
    for ask in asks {
        let other = rule("deny edit");
        for rules in [vec![other, ask.clone(), deny()], vec![deny(), ask.clone()]] {
            let policy = Policy::new(Preset::Full, rules, true).unwrap();
            let decide = |text| Call::runs(text).under(&policy).decision();
            assert_eq!(decide("$X a"), Decision::Ask, "{ask}");
            assert_eq!(decide("ls a; $X"), Decision::Ask, "{ask}");
            assert_eq!(decide("ls a; id b"), Decision::Allow, "{ask}");
            assert_eq!(decide("ls a; rm b"), Decision::Deny, "{ask}");
        }
    }
}

#[test]
fn a_pattern_of_paths_is_what_was_written() {
    for (text, is_absolute) in
        [("src/**", false), ("/data/**", true), ("**/x", false), ("{/data,src}/x", true)]
    {
        let pattern: PathPattern = text.parse().unwrap();
        assert_eq!((pattern.as_str(), pattern.is_absolute()), (text, is_absolute));
        assert_eq!(pattern.to_string(), text);
        assert_eq!(String::from(pattern.clone()), text);
        assert_eq!(pattern, text.parse().unwrap());
        assert_ne!(pattern, "other".parse().unwrap());
    }
    for (text, tokens) in [("a", 1), ("src/**", 6), ("{a,bc}/*", 7), ("[a-z!]?", 4)] {
        assert_eq!(text.parse::<PathPattern>().unwrap().tokens(), tokens, "{text}");
    }
}

#[test]
fn a_directory_covers_what_lies_in_it_and_nothing_beside() {
    let pattern: PathPattern = "a/secrets".parse().unwrap();
    for (path, is_covered) in [
        ("a/secrets", true),
        ("a/secrets/b/c", true),
        ("a", false),
        ("a/secret", false),
        ("secrets", false),
        ("a/secrets/../b", false),
        ("/a/secrets", false),
    ] {
        assert_eq!(pattern.covers(&LogicalPath::new(path)), is_covered, "{path}");
    }
}

#[test]
fn a_rule_holds_as_many_patterns_as_it_may_and_no_more() {
    type WithOne = fn(Rule) -> Rule;
    let kinds: [(&str, WithOne); 3] = [
        ("tools", |rule| rule.tool("read".parse().unwrap())),
        ("paths", |rule| rule.path("src".parse().unwrap())),
        ("commands", |rule| rule.command("ls".parse().unwrap())),
    ];
    for (what, with_one) in kinds {
        let checked = |count| (0..count).fold(Rule::deny(), |rule, _| with_one(rule)).check();
        checked(100).unwrap();
        let error = checked(101).unwrap_err().to_string();
        assert!(error.contains(what), "{what}: {error}");
    }
    let reason = |bytes| rule("deny read").reason("r".repeat(bytes)).check();
    assert!(reason(500).is_ok());
    assert!(reason(501).is_err());
    assert_eq!(rule("deny read web/*").tools().len(), 2);
}

/// A rule that allows writing speaks of writing alone: not of a call that is bound to look at something as well.
#[test]
fn a_rule_that_allows_an_access_is_about_calls_with_no_other() {
    let writes = || Call::new("x/put", &[Capability::WriteFiles]);
    let reads = || Call::new("x/look", &[Capability::ReadFiles]);
    for (text, call, decision) in [
        ("allow * to write", writes(), Decision::Allow),
        ("allow * to write", writes().on("a", Access::Write), Decision::Allow),
        ("allow * to write", writes().on("a", Access::WriteTree), Decision::Allow),
        ("allow * to write", writes().on("a", Access::Write).on("b", Access::Read), Decision::Deny),
        ("allow * to read", reads().on("a", Access::Read), Decision::Allow),
        ("allow * to read", writes(), Decision::Deny),
        ("allow * to read", reads().on("a", Access::Read).on("b", Access::Write), Decision::Deny),
    ] {
        let policy = Policy::new(Preset::ReadOnly, vec![rule(text)], false).unwrap();
        let verdict = call.under(&policy);
        assert_eq!(verdict.decision(), decision, "{text}: {}", verdict.because());
    }
}

/// A tool is offered where a rule could allow some call of it, and not for any other rule.
#[test]
fn only_a_rule_that_could_allow_keeps_a_tool_from_being_ruled_out() {
    let run = Call::new("x/run", &[Capability::Execute]);
    for (text, is_ruled_out) in [
        ("allow x/run", false),
        ("allow x/run that execute", false),
        ("allow x/run that network", true),
        ("allow x/run to write", true),
        ("ask x/run", true),
        ("deny x/run on secrets/**", true),
        ("allow x/other", true),
    ] {
        let policy = Policy::new(Preset::ReadOnly, vec![rule(text)], false).unwrap();
        let because = policy.rules_out(run.tool(), run.alias(), &run.capabilities());
        assert_eq!(because.is_some(), is_ruled_out, "{text}");
    }
}

#[test]
fn a_pattern_of_tools_is_what_was_written() {
    for (text, tokens) in [("read", 4), ("web/*", 5), ("{a,bc}:x", 7)] {
        let pattern: ToolPattern = text.parse().unwrap();
        assert_eq!((pattern.as_str(), pattern.tokens()), (text, tokens));
        assert_eq!(String::from(pattern.clone()), text);
        assert_eq!(pattern, text.parse().unwrap());
        assert_ne!(pattern, "other".parse().unwrap());
    }
    let pattern = ToolPattern::exactly(&"prod:web/fetch".parse().unwrap());
    assert_eq!((pattern.as_str(), pattern.tokens()), ("prod:web/fetch", 14));
}
