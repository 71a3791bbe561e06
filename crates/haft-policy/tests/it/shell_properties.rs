//! What holds for every command text.

use haft_policy::{Policy, Preset, Rule};
use haft_protocol::Decision::{Allow, Ask, Deny};
use proptest::prelude::*;

use crate::call::Call;

/// A text in the making, of which it is known what it runs.
#[derive(Debug, Clone)]
struct Text {
    written: String,
    programs: Vec<&'static str>,
    is_plain: bool,
}

const PROGRAMS: [&str; 4] = ["ls", "wc", "id", "rm"];
const ALLOWED: [&str; 2] = ["ls", "wc"];

/// Makes one command, its program written in one of several ways.
fn command() -> impl Strategy<Value = Text> {
    let arguments = prop::sample::select(vec![
        "",
        " a",
        " 'a b'",
        " \"c d\"",
        " e\\;f",
        " -x",
        " 2>&1",
        " >/dev/null",
    ]);
    let odd =
        prop::sample::select(vec![" $x", " *", " > out", " ~", " {a,b}", " <<< $x", " $(ls)"]);
    let tail =
        prop_oneof![9 => arguments.prop_map(|it| (it, true)), 1 => odd.prop_map(|it| (it, false))];
    (prop::sample::select(&PROGRAMS[..]), 0..5_usize, tail).prop_map(
        |(program, form, (tail, is_plain))| {
            let (first, rest) = program.split_at(1);
            let written = match form {
                0 => format!("{first}\\{rest}"),
                1 => format!("'{first}'{rest}"),
                2 => format!("{first}\"{rest}\""),
                _ => program.to_owned(),
            };
            let substituted = if tail.contains("$(ls)") { vec!["ls"] } else { Vec::new() };
            let programs = [program].into_iter().chain(substituted).collect();
            Text { written: format!("{written}{tail}"), programs, is_plain }
        },
    )
}

fn text() -> impl Strategy<Value = Text> {
    command().prop_recursive(5, 24, 3, |inner| {
        let joint = prop::sample::select(vec![
            "; ", " && ", " || ", " | ", " & ", "\n", ";", "&", "|", "&&",
        ]);
        let joined = (inner.clone(), joint, inner.clone()).prop_map(|(one, joint, other)| Text {
            written: format!("{}{joint}{}", one.written, other.written),
            programs: [one.programs, other.programs].concat(),
            is_plain: one.is_plain && other.is_plain,
        });
        let frames = [
            ("(", ")", true),
            ("( ", "\n)", true),
            ("{ ", "; }", false),
            ("if ", "; then ls; fi", false),
            ("while ", "; do wc; done", false),
            ("f() { ", "; }", false),
            ("ls \"$(", ")\"", false),
            ("ls <(", ")", false),
        ];
        let framed = (inner, prop::sample::select(frames.to_vec())).prop_map(
            |(inner, (before, after, plain))| Text {
                // A dollar before two parentheses begins a calculation, in which there are no commands.
                written: match (before.ends_with("$("), inner.written.starts_with('(')) {
                    (true, true) => format!("{before} {}{after}", inner.written),
                    _ => format!("{before}{}{after}", inner.written),
                },
                programs: [inner.programs, vec!["ls"]].concat(),
                is_plain: inner.is_plain && plain,
            },
        );
        prop_oneof![3 => joined, 2 => framed]
    })
}

fn allowing() -> Policy {
    let rule = ALLOWED
        .iter()
        .fold(Rule::allow(), |rule, it| rule.command(format!("{it} *").parse().unwrap()));
    Policy::new(Preset::Edit, vec![rule], false).unwrap()
}

fn denying() -> Policy {
    let rule = Rule::deny().command("rm *".parse().unwrap());
    Policy::new(Preset::Full, vec![rule], false).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_text_is_allowed_when_it_is_plain_and_each_command_is(text in text()) {
        let all_allowed = text.programs.iter().all(|it| ALLOWED.contains(it));
        let decision = Call::runs(&text.written).under(&allowing()).decision();
        // A parenthesis right behind another is a calculation to a shell.
        let is_clear = !text.written.contains("((") && !text.written.contains("()");
        if text.is_plain && all_allowed && is_clear {
            prop_assert_eq!(decision, Allow, "{}", text.written);
        } else if !text.is_plain || !all_allowed {
            prop_assert_eq!(decision, Ask, "{}", text.written);
        }
    }

    #[test]
    fn a_command_that_is_denied_is_found_wherever_it_stands(text in text()) {
        let decision = Call::runs(&text.written).under(&denying()).decision();
        if text.programs.contains(&"rm") {
            prop_assert_ne!(decision, Allow, "{}", text.written);
        } else {
            prop_assert_ne!(decision, Deny, "{}", text.written);
        }
    }

    #[test]
    fn nothing_appended_to_what_is_allowed_brings_in_another_command(
        text in text(),
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..8),
    ) {
        let tail: String = pieces.concat();
        let whole = format!("{}{tail}", text.written);
        if Call::runs(&whole).under(&allowing()).decision() == Allow {
            prop_assert!(text.programs.iter().all(|it| ALLOWED.contains(it)), "{}", whole);
            // What is left of the tail is words of the last command, or nothing that runs `id`.
            let alone = format!("ls{tail}");
            let runs = haft_policy::shell::Script::parse(&alone);
            let named = runs.commands().iter().filter_map(|it| it.program()?.literal());
            prop_assert!(named.clone().all(|it| it != "id"), "{}", whole);
        }
    }
}

const PIECES: &[&str] = &[
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    "$",
    "`",
    "$(",
    "<",
    ">",
    "<<",
    "#",
    "id",
    "id",
    "ls",
    "wc",
    "a",
    "=",
    "x=",
    "!",
    "*",
    "~",
    "\r",
    "\t",
    "\\\n",
    "2>&1",
    "/dev/null",
    "if ",
    "then ",
    "fi",
    "time ",
    "env ",
    "exec ",
    "eval ",
    "é",
    "\u{a0}",
];
