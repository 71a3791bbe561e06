//! What is known of each command, and of texts put together.

use haft_policy::shell::{Redirection, Script, ShellCommand, Unknown};

/// The command that runs each.
fn runners(script: &Script) -> Vec<Option<usize>> {
    script.commands().iter().map(ShellCommand::run_by).collect()
}

#[test]
fn a_script_behind_another_keeps_what_runs_what() {
    let (one, other) = (Script::parse("timeout 5 ls"), Script::parse("id; nice env rm x"));
    assert_eq!(runners(&one), [None, Some(0)]);
    assert_eq!(runners(&other), [None, None, Some(1), Some(2)]);
    let both = one.clone().and(other.clone());
    assert_eq!(runners(&both), [None, Some(0), None, None, Some(3), Some(4)]);
    assert_eq!(both.lines(), [one.lines(), other.lines()].concat());
}

#[test]
fn scripts_put_together_are_plain_where_each_is() {
    let (plain, other) = (|| Script::parse("ls"), || Script::parse("echo $(id)"));
    assert!(plain().and(plain()).is_plain());
    for both in [plain().and(other()), other().and(plain()), other().and(other())] {
        assert!(!both.is_plain());
    }
}

#[test]
fn what_is_no_text_and_no_list_is_not_clear() {
    let script = Script::unreadable("it is a number");
    assert_eq!(script.lines(), ["not clear: it is a number"]);
    assert!(!script.is_plain() && script.commands().is_empty());
    let both = Script::parse("ls").and(script);
    assert_eq!(both.lines(), ["ls", "not clear: it is a number"]);
    assert!(!both.is_plain());
}

#[test]
fn why_a_word_is_not_known_is_told() {
    for (text, unknown) in [
        ("$x", Unknown::Expansion),
        ("$(id)", Unknown::Substitution),
        ("$((1))", Unknown::Arithmetic),
        ("\"$x\"", Unknown::Expansion),
        ("\"$(id)\"", Unknown::Substitution),
        ("\"$((1))\"", Unknown::Arithmetic),
        ("\"$[1]\"", Unknown::Arithmetic),
        ("a*", Unknown::Glob),
        ("a?", Unknown::Glob),
        ("a[b]c", Unknown::Glob),
        ("{a,b}", Unknown::Braces),
        ("{1..3}", Unknown::Braces),
        ("~/a", Unknown::Home),
        ("a=~/b", Unknown::Home),
        ("a:~/b", Unknown::Home),
    ] {
        let script = Script::parse(&format!("echo {text}"));
        let word = &script.commands()[0].arguments()[0];
        assert_eq!((word.text(), word.literal()), (text, None));
        assert_eq!(word.unknown_by(), Some(unknown), "{text}");
        assert_eq!(format!("{unknown:>25}").trim_start(), unknown.as_str());
    }
    let script = Script::parse("$\"a\" b");
    let program = script.commands()[0].program().unwrap();
    assert_eq!(program.unknown_by(), Some(Unknown::Translation));
    // Whatever becomes of a base, what it is the base of is not known.
    assert_eq!(literal("10#$x"), None);
}

#[test]
fn a_redirection_is_told_by_its_operator_and_target() {
    let script = Script::parse("ls <<< text 2>&1 >> out; ls <<'E'\nx\nE\n");
    let told: Vec<_> = script
        .commands()
        .iter()
        .flat_map(ShellCommand::redirections)
        .map(|it| (it.operator(), it.target().map(haft_policy::shell::Word::text)))
        .collect();
    let expected =
        [("<<<", Some("text")), ("2>&", Some("1")), (">>", Some("out")), ("<<'E'", None)];
    assert_eq!(told, expected);
}

/// What a program gets for a word.
fn literal(text: &str) -> Option<String> {
    let script = Script::parse(&format!("echo {text}"));
    let [word] = script.commands().first()?.arguments() else { return None };
    word.literal().map(str::to_owned)
}

#[test]
fn what_only_looks_like_an_expansion_is_what_it_is() {
    for (text, expected) in [
        ("a]b[c", "a]b[c"),
        ("'a*?{b,c}[d]'", "a*?{b,c}[d]"),
        (r"a\*b", "a*b"),
        ("a~b", "a~b"),
        ("'~/b'", "~/b"),
        (r#""a\$b\c""#, r"a$b\c"),
        ("a$", "a$"),
        ("'a'$", "a$"),
        ("{}", "{}"),
        ("{a}b}", "{a}b}"),
        ("a{b,c", "a{b,c"),
        ("a}b,{c", "a}b,{c"),
    ] {
        assert_eq!(literal(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn escapes_of_a_quoted_text_are_read_as_bash_reads_them() {
    for (text, expected) in [
        (r"$'\a\b\e\E\f\n\r\t\v'", Some("\u{7}\u{8}\u{1b}\u{1b}\u{c}\n\r\t\u{b}")),
        (r#"$'\\ \' \" \?'"#, Some(r#"\ ' " ?"#)),
        (r"$'\101\1012\501'", Some("AA2A")),
        (r"$'\x41\x4142\x9'", Some("AA42\t")),
        (r"$'\u41\u00e9\U0001f600'", Some("A\u{e9}\u{1f600}")),
        (r"$'\xc3\xa9'", Some("\u{e9}")),
        (r"$'\0'", None),
        (r"$'\400'", None),
        (r"$'\x'", None),
        (r"$'\xg'", None),
        (r"$'\u'", None),
        (r"$'\ud800'", None),
        (r"$'\xff'", None),
        (r"$'\q'", None),
        (r"$'\c['", None),
    ] {
        assert_eq!(literal(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn a_number_is_a_descriptor_only_bare_and_right_before_an_arrow() {
    for (text, arguments, operators) in [
        ("ls>/dev/null", vec![], vec![">"]),
        ("ls a>/dev/null", vec!["a"], vec![">"]),
        ("ls 2>/dev/null", vec![], vec!["2>"]),
        ("ls 2 >/dev/null", vec!["2"], vec![">"]),
        ("ls '2'>/dev/null", vec!["2"], vec![">"]),
        ("ls a2>/dev/null", vec!["a2"], vec![">"]),
    ] {
        let script = Script::parse(text);
        assert!(script.is_plain(), "{text}: {:?}", script.unclear());
        let command = &script.commands()[0];
        let words: Vec<_> = command.arguments().iter().filter_map(|it| it.literal()).collect();
        let arrows: Vec<_> = command.redirections().iter().map(Redirection::operator).collect();
        assert_eq!((words, arrows), (arguments, operators), "{text}");
    }
}

#[test]
fn only_a_name_before_an_equals_sign_is_assigned_to() {
    for text in ["a=b ls", "_a=b ls", "A_1=b ls", "a+=b ls", "a=b"] {
        let script = Script::parse(text);
        assert!(!script.is_plain() && !script.commands()[0].assignments().is_empty(), "{text}");
    }
    for text in ["=b ls", "ls a=b"] {
        let script = Script::parse(text);
        assert!(script.is_plain() && script.commands()[0].assignments().is_empty(), "{text}");
    }
}

#[test]
fn commands_that_run_commands_are_followed_so_far_and_no_further() {
    for runner in ["eval ", "env "] {
        let script = |times| Script::parse(&(runner.repeat(times) + "id"));
        assert!(script(8).unclear().is_empty(), "{runner}: {:?}", script(8).unclear());
        assert_eq!(script(8).commands().len(), 9, "{runner}");
        assert_eq!(script(9).unclear().len(), 1, "{runner}");
    }
}

#[test]
fn options_of_what_runs_a_command_are_skipped_where_they_are_known() {
    for text in [
        "timeout --signal KILL 5 rm x",
        "timeout --signal=KILL --foreground 5 rm x",
        "timeout -vsKILL 5 rm x",
        "timeout -s KILL -- 5 rm x",
        "env --unset A -uB rm x",
    ] {
        let script = Script::parse(text);
        assert!(script.unclear().is_empty(), "{text}: {:?}", script.unclear());
        assert_eq!(script.commands().last().unwrap().to_string(), "rm x", "{text}");
    }
    for text in ["timeout --sig KILL 5 rm x", "timeout --foreground=1 5 rm x", "timeout -q 5 rm x"]
    {
        assert_eq!(Script::parse(text).unclear().len(), 1, "{text}");
    }
}

#[test]
fn unclear_places_are_told_once_cut_and_so_many_of_them() {
    let unclear = |text: &str| -> Vec<String> {
        Script::parse(text).unclear().iter().map(ToString::to_string).collect()
    };
    assert_eq!(unclear(". a; . b").len(), 1);
    let many = |count| (0..count).fold(String::new(), |text, it| format!("{text}sh -z{it};"));
    assert_eq!(unclear(&many(20)).len(), 20);
    assert_eq!(unclear(&many(21)).len(), 20);

    let option = |chars: usize| format!("-{}", "z".repeat(chars - 1));
    let said = |chars: usize| unclear(&format!("sh {}", option(chars))).remove(0);
    assert!(said(60).starts_with(&format!("`{}` in line 1: ", option(60))), "{}", said(60));
    assert!(said(61).starts_with(&format!("`{}…` in line 1: ", option(60))), "{}", said(61));
}

#[test]
fn a_line_goes_on_only_where_a_backslash_plainly_says_so() {
    for (text, commands) in [
        ("ls \\\n-la", 1),
        ("ls\\\n -la", 1),
        ("ls\\\n\t-la", 1),
        ("ls \\\n -la", 1),
        // The backslash is escaped itself.
        ("ls a\\\\\nid", 2),
    ] {
        let script = Script::parse(text);
        assert!(script.unclear().is_empty(), "{text:?}: {:?}", script.unclear());
        assert_eq!(script.commands().len(), commands, "{text:?}");
    }
    for text in ["ls\\\n-la", "l\\\ns", "ls a\\\\\\\nid"] {
        assert_eq!(Script::parse(text).unclear().len(), 1, "{text:?}");
    }
}

#[test]
fn so_many_operators_and_bytes_are_taken_apart_and_no_more() {
    let unclear = |count| Script::parse(&format!("ls '{}'", "<".repeat(count))).unclear().len();
    assert_eq!((unclear(1000), unclear(1001)), (0, 1));
    let of_bytes = |bytes: usize| Script::parse(&format!("ls {}", "a".repeat(bytes - 3)));
    assert!(of_bytes(32 * 1024).is_plain());
    assert_eq!(of_bytes(32 * 1024 + 1).unclear().len(), 1);
}

#[test]
fn operands_and_settings_before_a_command_are_told_from_it() {
    let texts = [
        "timeout \"$(a)\" rm x",
        "timeout $T rm x",
        "nice \"$(a)\" x",
        "env - A=1 rm x",
        "ssh host -p 22 rm x",
        "timeout 5 -v x",
        "trap - EXIT",
        "trap '' INT",
        "trap -p",
        "trap -- 'rm x' EXIT",
        "sh - x.sh",
        "bash -- x.sh",
        "bash --noprofile --norc -c 'rm x'",
        "wait -p a",
        "mapfile -C a b",
        "readarray a",
        "printf '[%s' a",
        "test '$a' = b",
    ];
    let mut shown = String::new();
    for text in texts {
        shown.push_str(&format!("{text}\n"));
        for line in Script::parse(text).lines() {
            shown.push_str(&format!("    {line}\n"));
        }
    }
    for text in ["wait -p a", "mapfile a", "printf -v a b", "read a"] {
        assert_eq!(Script::parse(text).commands()[0].beside(), Some("sets variables"), "{text}");
    }
    for text in ["wait a", "printf a -v", "echo -p"] {
        assert_eq!(Script::parse(text).commands()[0].beside(), None, "{text}");
    }
    insta::assert_snapshot!(shown, @r###"
    timeout "$(a)" rm x
        timeout "$(a)" rm x
        rm x (run by timeout)
        a
    timeout $T rm x
        timeout $T rm x
        not clear: `$T` in line 1: what `timeout` runs depends on a variable
    nice "$(a)" x
        nice "$(a)" x
        a
        not clear: `"$(a)"` in line 1: what `nice` runs depends on the output of a command
    env - A=1 rm x
        env - A=1 rm x
        A=1 rm x (run by env)
    ssh host -p 22 rm x
        ssh host -p 22 rm x
        rm x (run by ssh)
    timeout 5 -v x
        timeout 5 -v x
        -v x (run by timeout)
    trap - EXIT
        trap - EXIT
    trap '' INT
        trap '' INT
    trap -p
        trap -p
    trap -- 'rm x' EXIT
        trap -- 'rm x' EXIT
        rm x (run by trap)
    sh - x.sh
        sh - x.sh
    bash -- x.sh
        bash -- x.sh
    bash --noprofile --norc -c 'rm x'
        bash --noprofile --norc -c 'rm x'
        rm x (run by bash)
    wait -p a
        wait -p a
    mapfile -C a b
        mapfile -C a b
        not clear: `mapfile` in line 1: its options change what later commands mean, or run one
    readarray a
        readarray a
    printf '[%s' a
        printf '[%s' a
    test '$a' = b
        test '$a' = b
    "###);
}

#[test]
fn options_of_git_that_run_programs_are_told_from_others_of_the_same_letter() {
    for text in [
        "git -c a.b=c status",
        "git -ca.b=c status",
        "git clone -c a.b=c url",
        "git rebase -x id main",
        "git rebase -xid main",
        "git difftool -x id",
        "git clone -u id url",
        "git fetch -u id",
        "git ls-remote -u id",
        "git grep -Oid a",
    ] {
        assert!(!Script::parse(text).unclear().is_empty(), "{text}");
    }
    for text in [
        "git commit -c HEAD",
        "git commit -cHEAD",
        "git clean -x",
        "git clean -xdf",
        "git push -u origin main",
        "git diff -Oorder",
        "git log --oneline",
    ] {
        let script = Script::parse(text);
        assert!(script.is_plain() && script.commands()[0].beside().is_none(), "{text}");
    }
    for text in ["git log --output=x", "git diff --outp x", "git format-patch --output-directory x"]
    {
        assert!(Script::parse(text).commands()[0].beside().is_some(), "{text}");
    }
}

#[test]
fn settings_that_say_when_to_stop_are_harmless() {
    for text in ["set -eux", "set +x", "set -eo pipefail", "set -o errexit -o nounset"] {
        assert!(Script::parse(text).is_plain(), "{text}");
    }
    for text in ["set -", "set -k", "set -o posix", "set a", "set --"] {
        assert_eq!(Script::parse(text).unclear().len(), 1, "{text}");
    }
}

#[test]
fn so_much_nests_and_no_more() {
    let nested = |depth| Script::parse(&format!("{}ls{}", "(".repeat(depth), ")".repeat(depth)));
    let spaced = |depth| Script::parse(&format!("{}ls{}", "( ".repeat(depth), " )".repeat(depth)));
    assert!(spaced(32).is_plain());
    assert_eq!(spaced(32).commands()[0].places().len(), 32);
    assert_eq!(spaced(33).unclear().len(), 1);
    assert!(!nested(2).is_plain(), "two at once begin a calculation");
}

#[test]
fn an_ordinary_text_is_read_however_long_it_may_be() {
    let command = format!("cargo test {}\n", "--package a ".repeat(9));
    let text = command.repeat(240);
    assert!(text.len() > 28_000, "{}", text.len());
    let script = Script::parse(&text);
    assert!(script.is_plain(), "{:?}", script.unclear());
    assert_eq!(script.commands().len(), 240);
}

/// Within a calculation or a condition, bash runs a substitution in an index although it is quoted.
#[test]
fn what_is_quoted_in_a_calculation_is_not_clear() {
    for text in [
        "((a['$(id)']))",
        "((a['`id`']))",
        "echo $((a['$(id)']))",
        "echo \"$((a['$(id)']))\"",
        "[[ a -eq '$(id)' ]]",
        "[ a -eq '$(id)' ]",
        "(('$(id)'))",
        "echo $(('$(id)'))",
        "[[ '$(id)' ]]",
        "[ '$(id)' ]",
    ] {
        let said = "a condition or calculation may run what is quoted in it";
        let script = Script::parse(text);
        assert!(script.unclear().iter().any(|it| it.why == said), "{text}: {:?}", script.lines());
    }
    let script =
        Script::parse("for ((i = 0; i < 2; i++)); do echo '$(id)'; done; { echo '$(id)'; }");
    assert_eq!(script.lines(), ["i = 0", "echo '$(id)'", "echo '$(id)'"]);
    for header in ["'a[$(id)]'; ; ", "; 'a[$(id)]'; ", "; ; 'a[$(id)]'", "i = 'a[$(id)]'; ; "] {
        let script = Script::parse(&format!("for (({header})); do ls; done"));
        assert!(!script.unclear().is_empty(), "{header}");
    }
    let script = Script::parse("for ((i = a['$(id)']; i < 2; i++)); do ls; done");
    assert!(!script.unclear().is_empty(), "{:?}", script.lines());
    // A command that it runs has quotes of its own.
    let script = Script::parse("echo $(($(echo '$(id)')))");
    let said =
        "not clear: `$(echo '$(id)')` in line 1: a calculation may run what a command prints";
    assert_eq!(script.lines(), ["echo $(($(echo '$(id)')))", "echo '$(id)'", said]);
}

/// To bash, a name in a calculation is what the variable holds: after `x='a[$(rm y)]'`, each of these runs `rm`.
#[test]
fn a_calculation_with_what_a_variable_holds_is_not_clear() {
    for text in [
        "echo $((x))",
        "echo $((1 + x))",
        "echo $(($x))",
        "echo $((${x}))",
        "echo $((${x:-1}))",
        "echo $((\"$x\"))",
        "echo $((x ? 1 : 2))",
        "echo $((-x))",
        "echo $((x[1]))",
        "echo $[x]",
        "echo \"$((x))\"",
        "((x))",
        "((x++))",
        "((y = x))",
        "echo $(( $(cat list) ))",
        "echo $(( `cat list` ))",
        "echo $((1$x))",
        "echo $((10#$x))",
        "for ((i = x; ; )); do ls; done",
        "for ((i = 0; i < x; i++)); do ls; done",
        "for ((i = 0; i < $x; i++)); do ls; done",
        "for (( ; ; x)); do ls; done",
        "[[ x -eq 1 ]]",
        "[[ 1 -lt $x ]]",
        "[[ -n y && ! x -ge 1 ]]",
        "[[ $(cat list) -gt 1 ]]",
        "[[ -v $x ]]",
        "[[ -v a[x] ]]",
        "[ -v \"$x\" ]",
        "echo ${a[x]}",
        "echo ${a[$x]}",
        "echo ${#a[x]}",
        "echo ${v:x}",
        "echo ${v:1:x}",
        "echo ${v:(x)}",
        "echo ${@:x}",
        "echo ${v:$x}",
        "echo ${!x}",
        "echo ${!x:-1}",
        "echo ${!x##*}",
        "echo ${!x#[@]}",
        "echo ${!x@Q}",
        "[[ -n ${y:-'$(id)'} ]]",
        "[[ ${y:-${z:-'$(id)'}} ]]",
        "[ ${y:-'$(id)'} ]",
        "echo ${x@P}",
        "a[x]=1",
        "a[x]+=1",
        "a=([x]=1)",
        "a=([$x]=1)",
        "cat <<EOF\n$((x))\nEOF",
        "cat <<EOF\n${a[x]}\nEOF",
        "cat <<EOF\n${x@P}\nEOF",
    ] {
        assert!(!Script::parse(text).unclear().is_empty(), "{text}");
        let after = Script::parse(&format!("x='a[$(rm y)]'; {text}"));
        assert!(!after.unclear().is_empty(), "after an assignment: {text}");
    }
    for text in [
        "echo $((1 + 2 * 3)) $((0x1f)) $((16#ff))",
        "echo $(($# + $? + $$))",
        "echo $((${#x}))",
        "for ((i = 0; i < 3; i++)); do echo \"$i\"; done",
        "for ((i = 0, j = 5; i < j; i += 1)); do echo ${i}; done",
        "i=0; while ((i < 3)); do echo $i; i=$((i + 1)); done",
        "n=5; [[ $n -gt 3 ]] && echo $n",
        "[[ $x == y ]] && [[ -n $x ]] && [[ -v x ]]",
        "[ \"$x\" -eq 1 ]",
        "echo ${x:-1} ${x:=y} ${x%.c} ${x/a/b} ${#x} ${x:?} ${x^^} ${x@Q}",
        "echo ${v:1:2} ${v: -1} ${a[0]} ${a[@]} ${a[*]} ${#a[@]} ${!a[@]} ${!a*}",
        "a=(1 2 3); a[0]=1; a=([0]=x [1]=y)",
        "echo ${x/:/y} ${!a@} ${y:-'$(id)'}",
    ] {
        let script = Script::parse(text);
        assert!(script.unclear().is_empty(), "{text}: {:?}", script.unclear());
    }
    // Whatever else may set the name makes it what it was.
    for text in [
        "read i; for ((i = 0; i < 3; i++)); do ls; done",
        "for ((i = 0; i < 3; i++)); do i='a[$(rm y)]'; done",
        "i=0; printf -v i %s \"$x\"; echo $((i))",
        "i=0; i=$x; echo $((i))",
        "i=0; for i in *; do echo $((i)); done",
        "i=0; p=i; read $p; echo $((i))",
        "i=0; echo ${i:=$x} $((i))",
    ] {
        assert!(!Script::parse(text).unclear().is_empty(), "{text}");
    }
}

#[test]
fn what_a_here_document_runs_is_found_or_not_clear() {
    for (text, lines) in [
        ("cat <<EOF\n$(a) $(b)\nEOF", vec!["cat <<EOF", "a", "b"]),
        ("cat <<EOF\na \\ b\nEOF", vec!["cat <<EOF"]),
        ("cat <<'EOF'\n`a` \\$(b)\nEOF", vec!["cat <<'EOF'"]),
        ("cat <<\\EOF\n$(a)\nEOF", vec!["cat <<\\EOF"]),
    ] {
        assert_eq!(Script::parse(text).lines(), lines, "{text:?}");
    }
    for text in ["cat <<EOF\n`a`\nEOF", "cat <<EOF\n\\$(a)\nEOF", "cat <<EOF\n$(a) \\ `\nEOF"] {
        assert!(!Script::parse(text).unclear().is_empty(), "{text:?}");
    }
}

#[test]
fn what_declares_variables_is_a_program_with_arguments() {
    for text in ["export A=1 B", "declare -x A=1", "local a=1", "readonly A=1", "unset A B"] {
        let script = Script::parse(text);
        assert!(script.unclear().is_empty(), "{text}: {:?}", script.unclear());
        let command = &script.commands()[0];
        let words: Vec<_> = command.program().into_iter().chain(command.arguments()).collect();
        let literals: Vec<_> = words.iter().filter_map(|it| it.literal()).collect();
        assert_eq!(literals, text.split(' ').collect::<Vec<_>>());
        assert!(command.assignments().is_empty(), "{text}");
        assert!(command.beside().is_some(), "{text}");
    }
}

#[test]
fn words_that_the_grammar_parts_and_a_shell_does_not_are_not_clear() {
    let script = Script::parse("echo $\"a\"");
    assert_eq!(script.unclear()[0].why, "it is not clear where a word ends");
}

/// Where the grammar takes a pattern for plain characters, bash may still run what stands in it.
#[test]
fn what_runs_within_a_pattern_is_found_or_not_clear() {
    for text in [
        "[[ a =~ $(id) ]]",
        "[[ a =~ x`id` ]]",
        "[[ a =~ ^x$(id)y ]]",
        "[[ a =~ ${x:-$(id)} ]]",
        "[[ a =~ (a|$(id)) ]]",
        "echo ${x/$(id)/b}",
        "echo ${x#`id`}",
        "echo ${x%${y:-$(id)}}",
        "case a in a$(id)) ls;; esac",
        "case a in @(a|$(id))) ls;; esac",
        "case a in *`id`*) ls;; esac",
    ] {
        let script = Script::parse(text);
        let is_found = script.commands().iter().any(|it| it.to_string() == "id");
        assert!(is_found || !script.unclear().is_empty(), "{text}: {:?}", script.lines());
    }
    for text in [
        "[[ a =~ ^a$ ]]",
        "[[ a =~ (a|b)$ ]]",
        "[[ a =~ \\$\\(x\\) ]]",
        "echo ${x%.*}",
        "echo ${x/a/b}",
        "case a in a*|?b) ls;; esac",
    ] {
        let script = Script::parse(text);
        assert!(script.unclear().is_empty(), "{text}: {:?}", script.lines());
    }
}

#[test]
fn a_redirection_ends_with_its_line() {
    for arrow in [">", "<", ">>", "2>", ">&", "&>", "<<<", ">|", "> \t", ">\n\n"] {
        let script = Script::parse(&format!("ls {arrow}\nid"));
        assert!(!script.unclear().is_empty(), "{arrow}: {:?}", script.lines());
    }
    let script = Script::parse("ls > \\\n out");
    assert!(script.unclear().is_empty(), "{:?}", script.unclear());
    assert_eq!(script.lines(), ["ls >out"]);
}

#[test]
fn what_the_grammar_takes_for_characters_is_looked_at_again() {
    for text in ["`id`", "<(id)", ">(id)", "b${x}"] {
        let script = Script::parse(&format!("[[ a =~ {text} ]]"));
        let said = "a substitution is not read as one";
        assert!(script.unclear().iter().any(|it| it.why == said), "{text}: {:?}", script.lines());
    }
    for text in ["[[ a =~ ^b$ ]]", "[[ a =~ <b ]]", "echo \\`a", "echo $(ls a\\ b)", "echo `ls`"] {
        let script = Script::parse(text);
        assert!(script.unclear().is_empty(), "{text}: {:?}", script.unclear());
    }
    let script = Script::parse("echo 'a'\\ #$(id)");
    assert_eq!(script.unclear()[0].why, "it is no comment to a shell");
}

/// To bash, the dollar is no part of `r$"m"`, which is a way to write `rm`.
#[test]
fn o_028_a_text_to_be_translated_is_not_known_wherever_it_stands_in_a_word() {
    for text in ["r$\"m\"", "'r'$\"m\"", "r\"\"$\"m\"", "$\"r\"m", "r$\"m\"x"] {
        let script = Script::parse(&format!("{text} x"));
        let program = script.commands()[0].program().unwrap();
        assert_eq!(program.unknown_by(), Some(Unknown::Translation), "{text}");
    }
}

#[test]
fn a_word_of_which_the_grammar_leaves_something_out_is_not_known() {
    let script = Script::parse("export a=\\ b");
    let word = &script.commands()[0].arguments()[0];
    assert_eq!((word.text(), word.unknown_by()), ("a=\\ b", Some(Unknown::Quoting)));
}
