//! Options of programs that run others, told from the command that they run.

use haft_policy::shell::Script;

/// What runs others with words before its command, its options without a value, and those with one.
const RUNNERS: &[(&str, &str, &[&str], &[&str])] = &[
    (
        "env",
        "A=1",
        &["-i0v", "--ignore-environment", "--null", "--debug"],
        &["-u", "-C", "--unset", "--chdir"],
    ),
    ("command", "", &["-p"], &[]),
    ("exec", "", &["-c", "-l"], &["-a"]),
    ("nice", "", &["-5"], &["-n", "--adjustment"]),
    ("ionice", "", &["-t", "--ignore"], &["-c", "-n", "--class", "--classdata"]),
    (
        "timeout",
        "5",
        &["-v", "--preserve-status", "--foreground", "--verbose"],
        &["-s", "-k", "--signal", "--kill-after"],
    ),
    ("time", "", &["-p"], &[]),
    ("stdbuf", "", &[], &["-i", "-o", "-e", "--input", "--output", "--error"]),
    ("setsid", "", &["-cfw", "--ctty", "--fork", "--wait"], &[]),
    (
        "xargs",
        "",
        &[
            "-0rt",
            "--null",
            "--no-run-if-empty",
            "--verbose",
            "--interactive",
            "--exit",
            "--open-tty",
        ],
        &[
            "-I",
            "-n",
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-procs",
            "--max-chars",
            "--process-slot-var",
        ],
    ),
    (
        "sudo",
        "A=1",
        &[
            "-nSE",
            "--non-interactive",
            "--stdin",
            "--set-home",
            "--background",
            "--preserve-env",
            "--askpass",
            "--bell",
        ],
        &[
            "-u",
            "-g",
            "--user",
            "--group",
            "--host",
            "--prompt",
            "--close-from",
            "--chdir",
            "--role",
            "--type",
            "--command-timeout",
        ],
    ),
    ("doas", "", &["-n"], &["-u"]),
    ("busybox", "", &[], &[]),
    ("toybox", "", &[], &[]),
    (
        "watch",
        "",
        &[
            "-bcd",
            "--beep",
            "--color",
            "--no-color",
            "--differences",
            "--errexit",
            "--chgexit",
            "--precise",
            "--no-title",
            "--no-wrap",
        ],
        &["-n", "-q", "--interval", "--equexit"],
    ),
    ("ssh", "host", &["-4q"], &["-p", "-l"]),
];

/// The command that a runner runs.
#[track_caller]
fn check(text: &str, command: &str) {
    let script = Script::parse(text);
    assert!(script.unclear().is_empty(), "{text}: {:?}", script.lines());
    let last = script.commands().last().map(ToString::to_string).unwrap_or_default();
    let last = last.strip_suffix(" …").unwrap_or(&last);
    assert_eq!(last.strip_prefix("A=1 ").unwrap_or(last), command, "{text}");
}

#[test]
fn options_are_told_from_the_command_behind_them() {
    for (program, before, flags, values) in RUNNERS {
        check(&format!("{program} {before} rm x"), "rm x");
        for flag in *flags {
            check(&format!("{program} {flag} {before} rm x"), "rm x");
        }
        for option in *values {
            check(&format!("{program} {option} value {before} rm x"), "rm x");
            let joined = if option.starts_with("--") { "=" } else { "" };
            check(&format!("{program} {option}{joined}value {before} rm x"), "rm x");
        }
        let script = Script::parse(&format!("{program} --nothing-known {before} rm x"));
        assert!(!script.unclear().is_empty(), "{program}: {:?}", script.lines());
    }
}

/// What stands behind it is the command already.
#[test]
fn o_028_a_value_that_may_be_left_out_stands_behind_an_equals_sign() {
    for option in ["--replace", "--max-lines", "--replace={}", "--max-lines=2"] {
        check(&format!("xargs {option} rm x"), "rm x");
    }
}
