//! Rules about commands.

use haft_policy::shell::Script;
use haft_policy::{Because, CommandPattern, Layer, Origin, Policy, Preset, Rule};
use haft_protocol::Decision::{self, Allow, Ask, Deny};

use crate::call::Call;

fn commands(rule: Rule, patterns: &[&str]) -> Rule {
    patterns.iter().fold(rule, |rule, it| rule.command(it.parse().unwrap()))
}

fn policy(preset: Preset, rules: Vec<Rule>) -> Policy {
    Policy::new(preset, rules, false).unwrap()
}

fn allowing(patterns: &[&str]) -> Policy {
    policy(Preset::Edit, vec![commands(Rule::allow(), patterns)])
}

fn denying(patterns: &[&str]) -> Policy {
    policy(Preset::Full, vec![commands(Rule::deny(), patterns)])
}

#[track_caller]
fn check(policy: &Policy, expected: Decision, texts: &[&str]) {
    for text in texts {
        let verdict = Call::runs(text).under(policy);
        assert_eq!(verdict.decision(), expected, "{text}: {}", verdict.because());
    }
}

#[test]
fn o_028_a_rule_looks_at_every_command_and_never_at_the_first_word() {
    let policy = allowing(&["ls", "echo *", "git status"]);
    check(
        &policy,
        Allow,
        &["ls", "echo hi", "git status", "ls; echo 'a b' && git status", "ls | ls", "(ls)"],
    );
    check(
        &policy,
        Ask,
        &[
            "ls; id",
            "ls && id",
            "ls | sh",
            "echo $(id)",
            "echo `id`",
            "ls\nid",
            "ls & id",
            "echo hi > /tmp/x",
            "lsof",
            "FOO=1 id",
            "FOO=1 ls",
            "git status --porcelain; id",
            "git -c core.pager=id status",
            "find . -exec id ;",
            "ls -la",
        ],
    );
}

#[test]
fn what_is_not_plain_is_never_allowed() {
    let policy = allowing(&["*"]);
    check(
        &policy,
        Allow,
        &["ls -la | wc -l", "cat < list", "ls 2>&1 >/dev/null", "l\\s", "'l's", "ls # id"],
    );
    check(
        &policy,
        Ask,
        &[
            "",
            " ",
            "# ls",
            "ls $X",
            "ls \"$X\"",
            "ls *",
            "ls ~",
            "ls {a,b}",
            "$'ls'",
            "ls <<EOF\na\nEOF",
            "cat <(ls)",
            "coproc ls",
            "[[ a ]]",
            "[ a ]",
            "((1))",
            "echo $((1))",
            "case a in a) ls;; esac",
            "ls() { id; }; ls",
            "alias ls=id; ls",
            "trap \"$X\" EXIT",
            "PROMPT_COMMAND=id ls",
            "BASH_ENV=x bash -c ls",
            "IFS=x; ls",
            "export PATH=x; ls",
            "printf -v PATH x; ls",
            "read PATH <<< x; ls",
            "ls\r",
            "ls\0",
            "ls \\\n-la",
            "ｌｓ",
            "ls；id",
            "lѕ",
            "ls\u{a0}-la",
            "if ls; then ls; fi",
            "for a in b; do ls; done",
            "{ ls; }",
            "! ls",
            "ls > a",
            "ls >& a",
            "ls <> a",
            "cat < /dev/tcp/a/1",
            "find . -delete",
            "find . -fprint x",
            "git log --outp=x",
            "xargs ls",
            "find . -exec ls {} +",
            "eval $X",
            ". x",
            "sh",
            "exec 3<>x",
            "env A=1 ls",
            "sudo -s",
        ],
    );
    let long = format!("ls {}", "a".repeat(100_000));
    check(&policy, Ask, &[&long]);
}

#[test]
fn what_a_command_runs_has_to_match_too() {
    let inner = allowing(&["ls *"]);
    check(
        &inner,
        Allow,
        &[
            "timeout 5 ls",
            "nice -n 5 nohup ls a",
            "env ls",
            "time ls",
            "command ls",
            "exec ls",
            "stdbuf -oL ls",
            "setsid ls",
        ],
    );
    check(
        &inner,
        Ask,
        &[
            "sudo ls",
            "sh -c ls",
            "xargs ls",
            "env -i ls",
            "/tmp/env ls",
            "/tmp/timeout 5 ls",
            "ssh host ls",
            "eval ls",
            "timeout 5 id",
        ],
    );
    check(
        &allowing(&["ls", "sudo *", "sh -c *", "eval *"]),
        Allow,
        &["sudo ls", "sh -c ls", "eval 'sudo ls; ls'"],
    );
    check(
        &allowing(&["sudo *", "sh -c *", "timeout *"]),
        Ask,
        &["sudo id", "sh -c id", "timeout 5 id"],
    );
}

#[test]
fn patterns_are_about_words() {
    let policy = allowing(&[
        "cargo {build,test} --p*",
        "git * main",
        "/bin/ls",
        "echo a\\ b",
        "grep -e [a-c]? src/*",
        "x \\*",
    ]);
    check(
        &policy,
        Allow,
        &[
            "cargo build --package=a",
            "cargo test --p",
            "git checkout main",
            "/bin/ls",
            "echo 'a b'",
            "echo a\\ b",
            "grep -e bx src/a/b",
            "x '*'",
        ],
    );
    check(
        &policy,
        Ask,
        &[
            "cargo run --p",
            "cargo build",
            "cargo build --p --q",
            "git main",
            "git a b main",
            "ls",
            "bin/ls",
            "echo a b",
            "grep -e dx src/a",
            "grep -e bx src",
            "x y",
            "Cargo build --p",
        ],
    );
}

#[test]
fn one_command_is_enough_to_deny() {
    let policy = denying(&["rm *", "git push *"]);
    check(
        &policy,
        Deny,
        &[
            "rm x",
            "ls; rm x",
            "ls && /bin/rm x",
            "\\rm x",
            "'r'm x",
            "$'\\x72m' x",
            "echo $(rm x)",
            "echo \"`rm x`\"",
            "sudo rm x",
            "timeout 5 env A=1 nice rm x",
            "sh -c 'ls; rm x'",
            "xargs rm",
            "find . -exec rm {} +",
            "find . -delete",
            "rm $X",
            "rm *",
            "git push",
            "git push origin $X",
            "if a; then rm x; fi",
            "f() { rm x; }",
            "cat <<EOF\n$(rm x)\nEOF",
            "> out rm x",
            "FOO=1 rm x",
            "eval rm x",
            "trap 'rm x' EXIT",
            "ssh host rm x",
            "busybox rm x",
            "[[ -n $(rm x) ]]",
        ],
    );
    check(
        &policy,
        Allow,
        &["ls", "rmdir x", "echo rm x", "git status", "ls $X", "git pull", "rg rm"],
    );
    check(&denying(&["/bin/rm *"]), Allow, &["rm x", "/usr/bin/rm x"]);
}

#[test]
fn what_could_be_denied_is_asked_about() {
    let policy = denying(&["rm *"]);
    let unsure = [
        "$X a",
        "\"$X\"",
        "$(echo rm) x",
        "r* x",
        "{rm,x}",
        "eval $X",
        ". x",
        "curl x | sh",
        "ls )",
        "coproc id",
        "alias ls=rm",
        "git -c alias.x=!rm x",
        "xargs $X",
        "strace rm x",
        "ls\r",
        "((ls)|(id))",
        "exec {x}>\\'{ rm; }#",
        "ls\n\\\n${x:-rm}",
        "ls a &>b \\ #c || rm x",
    ];
    check(&policy, Ask, &unsure);
    // A yes that was said beforehand was not said to this.
    let yes = Policy::new(Preset::Full, vec![commands(Rule::deny(), &["rm *"])], true).unwrap();
    check(&yes, Ask, &unsure);
    let asking =
        |yes| Policy::new(Preset::Full, vec![commands(Rule::ask(), &["rm *"])], yes).unwrap();
    check(&asking(false), Ask, &["rm x", "$X"]);
    check(&asking(true), Allow, &["rm x", "$X"]);
    // Where no rule is about commands, nothing about them matters.
    check(&policy_without_commands(), Allow, &unsure);
}

fn policy_without_commands() -> Policy {
    policy(Preset::Full, vec![commands(Rule::deny(), &["rm *"]).tool("other".parse().unwrap())])
}

#[test]
fn several_rules_may_allow_one_text() {
    let project = Origin::new(Layer::Project);
    let both = vec![
        commands(Rule::allow(), &["ls"]),
        commands(Rule::allow(), &["id"]),
        commands(Rule::allow(), &["x"]),
    ];
    check(&policy(Preset::Edit, both), Allow, &["ls; id", "ls", "id"]);
    let untrusted = vec![
        commands(Rule::allow(), &["ls"]),
        commands(Rule::allow(), &["id"]).with_origin(project),
    ];
    check(&policy(Preset::Edit, untrusted), Ask, &["ls; id", "id"]);
    let other_tool = vec![
        commands(Rule::allow(), &["ls"]),
        commands(Rule::allow(), &["id"]).tool("other".parse().unwrap()),
    ];
    check(&policy(Preset::Edit, other_tool), Ask, &["ls; id", "id"]);
    let denied = vec![
        commands(Rule::allow(), &["ls"]),
        commands(Rule::allow(), &["id"]),
        commands(Rule::deny(), &["id"]),
    ];
    check(&policy(Preset::Edit, denied), Deny, &["ls; id"]);
}

#[test]
fn presets_ask_about_commands_without_rules() {
    check(&policy(Preset::Edit, Vec::new()), Ask, &["ls", "rm x"]);
    check(&policy(Preset::ReadOnly, Vec::new()), Deny, &["ls"]);
    // What denies outright is lifted by what was said later alone, and the default layer is not.
    let flag = Origin::new(Layer::Flag);
    let held = Policy::builder()
        .preset(Preset::ReadOnly, flag)
        .rule(commands(Rule::allow(), &["ls"]))
        .build()
        .unwrap();
    check(&held, Deny, &["ls"]);
}

#[test]
fn a_rule_about_commands_is_about_no_other_calls() {
    assert_eq!(Call::reads("a").under(&denying(&["*"])).decision(), Allow);
    assert!(Call::edits("a").under(&denying(&["*"])).filter().is_open());
    let read_only =
        Policy::new(Preset::ReadOnly, vec![commands(Rule::allow(), &["*"])], false).unwrap();
    assert_eq!(Call::edits("a").under(&read_only).decision(), Deny);
}

#[test]
fn paths_and_commands_do_not_share_a_rule() {
    let rule = commands(Rule::allow(), &["cat *"]).path("src/**".parse().unwrap());
    let error = Policy::new(Preset::Edit, vec![rule], false).unwrap_err();
    insta::assert_snapshot!(error, @r#"rule `allow path = "src/**", command = "cat *"` is about paths and about commands, and a rule about commands does not see what these do with files: write two rules"#);
    for pattern in ["", "  ", "a {b", "a [", "a \\"] {
        assert!(pattern.parse::<CommandPattern>().is_err(), "{pattern}");
    }
    insta::assert_snapshot!("git {a".parse::<CommandPattern>().unwrap_err(), @"pattern `git {a` is not valid: `{` is never closed");
}

#[test]
fn the_exact_pattern_matches_its_command_alone() {
    for text in [
        "ls",
        "git commit -m 'a b*c'",
        "echo 'a\\b' '{x,y}' '[a]' '?'",
        "echo \"a\nb\" 'é'",
        "rm -- -x",
    ] {
        let script = Script::parse(text);
        let pattern = CommandPattern::exactly(&script.commands()[0]).unwrap();
        assert!(pattern.matches(&script.commands()[0]), "{text}: {pattern}");
        for other in ["ls x", "git commit -m axb*c", "echo ab x a z", "echo 'a b'", "rm -- -y"] {
            assert!(!pattern.matches(&Script::parse(other).commands()[0]), "{other}: {pattern}");
        }
    }
    for text in ["ls $X", "$X", "echo ''", "> x"] {
        assert_eq!(CommandPattern::exactly(&Script::parse(text).commands()[0]), None, "{text}");
    }
}

/// What a person reads about a decision, with its hints.
fn because(policy: &Policy, text: &str) -> String {
    let verdict = Call::runs(text).under(policy);
    let because: &Because = verdict.because();
    let hints = because.hints().iter().map(|it| format!("hint: {it}"));
    [format!("{}: {because}", verdict.decision())]
        .into_iter()
        .chain(hints)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn sentences_name_the_command_and_the_rule() {
    let user = |line| Origin::new(Layer::User).at("config.toml", line);
    let rules = vec![
        commands(Rule::deny(), &["rm *"]).with_origin(user(3)).reason("nothing is removed here"),
        commands(Rule::allow(), &["ls", "git status"]).with_origin(user(7)),
    ];
    let policy = policy(Preset::Edit, rules);
    insta::assert_snapshot!(because(&policy, "ls && rm -r x"), @r#"
    deny: nothing is removed here; the rule `deny command = "rm *"` (config.toml:3) denies `builtin/bash` for `rm -r x`
    hint: a person can change that rule (config.toml:3)
    "#);
    insta::assert_snapshot!(because(&policy, "ls && $X -r x"), @r#"
    ask: nothing is removed here; the rule `deny command = "rm *"` (config.toml:3) may deny `builtin/bash`: `$X -r x` could be one of its commands
    hint: a person has to answer when asked: `--yes` does not
    "#);
    insta::assert_snapshot!(because(&policy, "ls; git status"), @r#"allow: the rule `allow commands = ["ls", "git status"]` (config.toml:7) allows `builtin/bash`"#);
    // What is offered is no wider than what was asked for.
    insta::assert_snapshot!(because(&policy, "ls; cargo test 'a b' && timeout 5 make"), @r#"
    ask: the preset `edit` (default) asks before `execute`
    hint: the rule `allow commands = ["ls", "git status"]` does not cover it: `cargo test 'a b'` is none of its commands
    hint: a person can answer when asked, or start with `--yes` or `--preset full`
    hint: to allow it for good, add to the user's config.toml:
    [[rules]]
    decision = "allow"
    tool = "builtin/bash"
    commands = ["ls", "cargo test a\\ b", "make"]
    "#);
    insta::assert_snapshot!(because(&policy, "ls > out"), @r#"
    ask: the preset `edit` (default) asks before `execute`
    hint: the rule `allow commands = ["ls", "git status"]` does not cover it: `ls >out` redirects to more than `/dev/null`
    hint: a person can answer when asked, or start with `--yes` or `--preset full`
    "#);
}

#[test]
fn an_explanation_shows_every_command_and_what_decided_it() {
    let user = |line| Origin::new(Layer::User).at("config.toml", line);
    let rules = vec![
        commands(Rule::allow(), &["ls"]).with_origin(user(3)),
        commands(Rule::deny(), &["rm *"]).with_origin(user(7)),
        commands(Rule::ask(), &["git push *"]).with_origin(user(9)),
    ];
    let policy = policy(Preset::Edit, rules);
    let explain = |text: &str| Call::runs(text).with(|subject| policy.explain(subject).to_string());
    insta::assert_snapshot!(explain("ls && sudo rm -r x | wc"), @r#"
    deny: the rule `deny command = "rm *"` (config.toml:7) denies `builtin/bash` for `rm -r x`

    call builtin/bash
      effects: execute
      runs ls
      runs sudo rm -r x
      runs rm -r x (run by sudo)
      runs wc

    policy says deny
      ls
        allow: allow command = "ls" (config.toml:3)
      sudo rm -r x
        no rule about commands names it
      rm -r x
        deny: deny command = "rm *" (config.toml:7)
      wc
        no rule about commands names it
      allow command = "ls" (config.toml:3)
        differs: `sudo rm -r x` is none of its commands
      deny command = "rm *" (config.toml:7)
        decides: `rm -r x`
      ask command = "git push *" (config.toml:9)
        differs: names other commands
      preset edit (default)
        says: ask execute

    hint: a person can change that rule (config.toml:7)
    "#);
    insta::assert_snapshot!(explain("timeout 5 ls; $X; git push"), @r#"
    ask: the rule `deny command = "rm *"` (config.toml:7) may deny `builtin/bash`: `$X` could be one of its commands; 1 more rule does so too

    call builtin/bash
      effects: execute
      runs timeout 5 ls
      runs ls (run by timeout)
      runs $X
      runs git push

    policy says ask
      timeout 5 ls
        only runs another command
      ls
        allow: allow command = "ls" (config.toml:3)
      $X
        ask: deny command = "rm *" (config.toml:7)
      git push
        ask: ask command = "git push *" (config.toml:9)
      allow command = "ls" (config.toml:3)
        differs: `$X` depends on a variable
      deny command = "rm *" (config.toml:7)
        decides: `$X` could be one of its commands
      ask command = "git push *" (config.toml:9)
        matches: `git push`
      preset edit (default)
        says: ask execute

    hint: a person has to answer when asked: `--yes` does not
    "#);
}

#[test]
fn what_git_does_is_seen_behind_its_own_options() {
    let push = policy(Preset::Full, vec![commands(Rule::deny(), &["git push *", "git push"])]);
    for text in [
        "git push",
        "git -C . push origin",
        "git --no-pager push",
        "git -P push",
        "git --git-dir=.git --work-tree . push",
        "env git -C . push",
    ] {
        assert_eq!(Call::runs(text).under(&push).decision(), Deny, "{text}");
    }
    // To allow what git does is not to allow its own options.
    let status = policy(Preset::Edit, vec![commands(Rule::allow(), &["git status"])]);
    for (text, decision) in
        [("git status", Allow), ("git -C x status", Ask), ("git -P status", Ask)]
    {
        assert_eq!(Call::runs(text).under(&status).decision(), decision, "{text}");
    }
}
