//! Taking command texts apart.

use haft_policy::shell::Script;

/// Writes each text and what is found in it; `+` marks what is plain.
fn read(texts: &[&str]) -> String {
    let mut shown = String::new();
    for text in texts {
        let script = Script::parse(text);
        let mark = if script.is_plain() { '+' } else { ' ' };
        shown.push_str(&format!("{mark} {text:?}\n"));
        for line in script.lines() {
            shown.push_str(&format!("      {line}\n"));
        }
    }
    shown
}

/// Separators, groups, conditions, loops and substitutions hide nothing.
#[test]
fn every_command_of_a_text_is_found() {
    let texts = [
        "ls; id",
        "ls && id || true",
        "ls | sh -c 'id'",
        "ls & id",
        "ls\nid",
        "(cd x && ls); { id; }",
        "if ls; then id; elif a; then b; else c; fi",
        "for f in a $(id); do rm \"$f\"; done",
        "while read x; do echo \"$x\"; done < list",
        "until false; do id; done",
        "case $(id) in a) b;; *) c;; esac",
        "! id",
        "echo $(id) `id` \"$(id)\" <(id) >(id)",
        "echo ${x:-$(id)} $(( $(id) ))",
        "a=$(id) b[$(id)]=1",
        "[[ -n $(id) ]] && [ \"$(id)\" ]",
        "((x = $(id)))",
        "ls() { id; }; ls",
        "function f { id; }",
    ];
    insta::assert_snapshot!(read(&texts), @r###"
    + "ls; id"
          ls
          id
    + "ls && id || true"
          ls
          id
          true
    + "ls | sh -c 'id'"
          ls
          sh -c 'id'
          id (run by sh)
    + "ls & id"
          ls
          id
    + "ls\nid"
          ls
          id
      "(cd x && ls); { id; }"
          cd x
          ls
          id
      "if ls; then id; elif a; then b; else c; fi"
          ls
          id
          a
          b
          c
      "for f in a $(id); do rm \"$f\"; done"
          id
          rm "$f"
      "while read x; do echo \"$x\"; done < list"
          read x
          echo "$x"
          <list
      "until false; do id; done"
          false
          id
      "case $(id) in a) b;; *) c;; esac"
          id
          b
          c
      "! id"
          id
      "echo $(id) `id` \"$(id)\" <(id) >(id)"
          echo $(id) `id` "$(id)" <(id) >(id)
          id
          id
          id
          id
          id
      "echo ${x:-$(id)} $(( $(id) ))"
          echo ${x:-$(id)} $(( $(id) ))
          id
          id
          not clear: `$(id)` in line 1: a calculation may run what a command prints
      "a=$(id) b[$(id)]=1"
          a=$(id)
          id
          b[$(id)]=1
          id
          not clear: `$(id)` in line 1: a calculation may run what a command prints
      "[[ -n $(id) ]] && [ \"$(id)\" ]"
          [[ -n $(id) ]]
          id
          [ "$(id)" ]
          id
      "((x = $(id)))"
          id
          not clear: `$(id)` in line 1: a calculation may run what a command prints
      "ls() { id; }; ls"
          id
          ls
      "function f { id; }"
          id
    "###);
}

/// Quotes are taken away; what a shell expands is not literal.
#[test]
fn words_are_what_the_program_gets() {
    let texts = [
        "l\\s 'l's \"l\"s $'l\\x73' l''s",
        "echo 'a b' \"c d\" e\\ f \"\\$x\" '' \"a\\\"b\"",
        "$CMD ${CMD} \"$CMD\" $(id)",
        "a* b? [c] {d,e} ~/f g=~ h~1",
        "$\"text\" $'\\0' $((1))",
        "echo {} {}.a",
    ];
    insta::assert_snapshot!(read(&texts), @r#"
      "l\\s 'l's \"l\"s $'l\\x73' l''s"
          l\s 'l's "l"s $'l\x73' l''s
    + "echo 'a b' \"c d\" e\\ f \"\\$x\" '' \"a\\\"b\""
          echo 'a b' "c d" e\ f "\$x" '' "a\"b"
      "$CMD ${CMD} \"$CMD\" $(id)"
          $CMD ${CMD} "$CMD" $(id)
          id
      "a* b? [c] {d,e} ~/f g=~ h~1"
          a* b? [c] {d,e} ~/f g=~ h~1
      "$\"text\" $'\\0' $((1))"
          $"text" $'\0' $((1))
      "echo {} {}.a"
          echo {} {}.a
    "#);
}

/// Here-documents end where bash ends them; words behind a target belong to the command.
#[test]
fn redirections_are_told_apart() {
    let texts = [
        "ls > out 2>&1 < in >> log >| x &> y 2>/dev/null",
        "> out rm x y",
        "ls > out rm x",
        "exec 3>&-",
        "cat <<'EOF'\n$(id)\nEOF\nls",
        "cat <<EOF\n$(id)\nEOF",
        "cat <<EOF | sh -c id\ntext\nEOF",
        "cat <<EOF > out more\ntext\nEOF\nrm x",
        "cat <<EOF;id\ntext\nEOF;id",
        "cat <<EOF\ntext\n  EOF\nrm x\nEOF",
        "cat <<< \"x $(id)\"",
        "{ ls; } > out",
    ];
    insta::assert_snapshot!(read(&texts), @r#"
      "ls > out 2>&1 < in >> log >| x &> y 2>/dev/null"
          ls >out 2>&1 <in >>log >|x &>y 2>/dev/null
    + "> out rm x y"
          rm x y >out
    + "ls > out rm x"
          ls rm x >out
    + "exec 3>&-"
          exec 3>&-
      "cat <<'EOF'\n$(id)\nEOF\nls"
          cat <<'EOF'
          ls
      "cat <<EOF\n$(id)\nEOF"
          cat <<EOF
          id
      "cat <<EOF | sh -c id\ntext\nEOF"
          cat <<EOF
          sh -c id
          id (run by sh)
      "cat <<EOF > out more\ntext\nEOF\nrm x"
          cat more >out <<EOF
          rm x
      "cat <<EOF;id\ntext\nEOF;id"
          cat <<EOF;id
          not clear: `<<EOF;id\ntext\nEOF;id` in line 1: it is not clear where the here-document ends
      "cat <<EOF\ntext\n  EOF\nrm x\nEOF"
          cat <<EOF
          rm x
          EOF
          not clear: `<<EOF\ntext\n  EOF` in line 1: it is not clear where the here-document ends
      "cat <<< \"x $(id)\""
          cat <<<"x $(id)"
          id
      "{ ls; } > out"
          ls
          >out
    "#);
}

/// What a program runs is a command too.
#[test]
fn runners_are_seen_through() {
    let texts = [
        "env FOO=1 id",
        "env -i -u X id",
        "env -S \"rm x\"",
        "command rm x",
        "command -v rm",
        "builtin cd x",
        "exec rm x",
        "nohup setsid -f rm x",
        "nice -n 3 ionice -c 2 rm x",
        "timeout -k 1 5 rm x",
        "timeout --foreground --signal=KILL 5 rm x",
        "time -p rm x",
        "stdbuf -oL rm x",
        "/usr/bin/env rm x",
        "xargs -0 -n1 rm -f",
        "xargs",
        "xargs -I{} sh -c 'rm {}'",
        "xargs sh -c 'rm \"$@\"' x",
        "sudo -u root FOO=1 rm x",
        "sudo -s",
        "doas rm x",
        "sh -c 'rm x; ls'",
        "bash -euo pipefail -c 'rm x' name",
        "bash -lc 'rm x'",
        "zsh -c \"$X\"",
        "sh x.sh",
        "ls | sh",
        "find . -name '*.o' -exec rm {} + -execdir sh -c 'id {}' \\;",
        "find . -delete",
        "find . $X",
        "ssh -p 22 host 'rm x' y",
        "ssh -o ProxyCommand=id host",
        "eval \"rm x\" y",
        "eval $X",
        ". x",
        "source x",
        "trap 'rm x' EXIT",
        "watch -n 1 rm x",
        "parallel rm ::: a b",
        "parallel -j2 rm ::: a b",
        "busybox rm x",
        "strace rm x",
        "git -c core.pager=id status",
        "git -c alias.x=!id x",
        "git --exec-path=/x status",
        "git rebase --exec id main",
        "git submodule foreach rm x",
        "git -C x status",
        "awk 'BEGIN { system(\"id\") }'",
        "python -c 'import os'",
    ];
    insta::assert_snapshot!(read(&texts), @r#"
    + "env FOO=1 id"
          env FOO=1 id
          FOO=1 id (run by env)
    + "env -i -u X id"
          env -i -u X id
          id (run by env)
      "env -S \"rm x\""
          env -S "rm x"
          not clear: `-S` in line 1: this option of `env` is not understood
    + "command rm x"
          command rm x
          rm x (run by command)
    + "command -v rm"
          command -v rm
    + "builtin cd x"
          builtin cd x
          cd x (run by builtin)
    + "exec rm x"
          exec rm x
          rm x (run by exec)
    + "nohup setsid -f rm x"
          nohup setsid -f rm x
          setsid -f rm x (run by nohup)
          rm x (run by setsid)
    + "nice -n 3 ionice -c 2 rm x"
          nice -n 3 ionice -c 2 rm x
          ionice -c 2 rm x (run by nice)
          rm x (run by ionice)
    + "timeout -k 1 5 rm x"
          timeout -k 1 5 rm x
          rm x (run by timeout)
    + "timeout --foreground --signal=KILL 5 rm x"
          timeout --foreground --signal=KILL 5 rm x
          rm x (run by timeout)
    + "time -p rm x"
          time -p rm x
          rm x (run by time)
    + "stdbuf -oL rm x"
          stdbuf -oL rm x
          rm x (run by stdbuf)
    + "/usr/bin/env rm x"
          /usr/bin/env rm x
          rm x (run by /usr/bin/env)
    + "xargs -0 -n1 rm -f"
          xargs -0 -n1 rm -f
          rm -f … (run by xargs)
    + "xargs"
          xargs
          echo … (run by xargs)
      "xargs -I{} sh -c 'rm {}'"
          xargs -I{} sh -c 'rm {}'
          sh -c 'rm {}' … (run by xargs)
          not clear: `'rm {}'` in line 1: what `sh` runs depends on what the command reads or finds
      "xargs sh -c 'rm \"$@\"' x"
          xargs sh -c 'rm "$@"' x
          sh -c 'rm "$@"' x … (run by xargs)
          rm "$@" (run by sh)
    + "sudo -u root FOO=1 rm x"
          sudo -u root FOO=1 rm x
          FOO=1 rm x (run by sudo)
      "sudo -s"
          sudo -s
          not clear: `-s` in line 1: this option of `sudo` is not understood
    + "doas rm x"
          doas rm x
          rm x (run by doas)
    + "sh -c 'rm x; ls'"
          sh -c 'rm x; ls'
          rm x (run by sh)
          ls (run by sh)
    + "bash -euo pipefail -c 'rm x' name"
          bash -euo pipefail -c 'rm x' name
          rm x (run by bash)
      "bash -lc 'rm x'"
          bash -lc 'rm x'
          not clear: `-lc` in line 1: this option of `bash` is not understood
      "zsh -c \"$X\""
          zsh -c "$X"
          not clear: `"$X"` in line 1: what `zsh` runs depends on a variable
    + "sh x.sh"
          sh x.sh
      "ls | sh"
          ls
          sh
          not clear: `sh` in line 1: it runs what it reads from its input
      "find . -name '*.o' -exec rm {} + -execdir sh -c 'id {}' \\;"
          find . -name '*.o' -exec rm {} + -execdir sh -c 'id {}' \;
          rm {} … (run by find)
          sh -c 'id {}' … (run by find)
          not clear: `'id {}'` in line 1: what `sh` runs depends on what the command reads or finds
    + "find . -delete"
          find . -delete
          rm … (run by find)
      "find . $X"
          find . $X
          not clear: `$X` in line 1: what `find` does depends on a variable
    + "ssh -p 22 host 'rm x' y"
          ssh -p 22 host 'rm x' y
          rm x y (run by ssh)
      "ssh -o ProxyCommand=id host"
          ssh -o ProxyCommand=id host
          not clear: `-o` in line 1: this option of `ssh` is not understood
    + "eval \"rm x\" y"
          eval "rm x" y
          rm x y (run by eval)
      "eval $X"
          eval $X
          not clear: `$X` in line 1: what `eval` runs depends on a variable
      ". x"
          . x
          not clear: `.` in line 1: it runs commands out of a file
      "source x"
          source x
          not clear: `source` in line 1: it runs commands out of a file
    + "trap 'rm x' EXIT"
          trap 'rm x' EXIT
          rm x (run by trap)
    + "watch -n 1 rm x"
          watch -n 1 rm x
          rm x (run by watch)
    + "parallel rm ::: a b"
          parallel rm ::: a b
          rm … (run by parallel)
      "parallel -j2 rm ::: a b"
          parallel -j2 rm ::: a b
          not clear: `parallel` in line 1: what it runs is not read
    + "busybox rm x"
          busybox rm x
          rm x (run by busybox)
      "strace rm x"
          strace rm x
          not clear: `strace` in line 1: it runs other programs in ways that are not read
      "git -c core.pager=id status"
          git -c core.pager=id status
          git status (run by git)
          not clear: `-c` in line 1: it may have `git` run other programs
      "git -c alias.x=!id x"
          git -c alias.x=!id x
          git x (run by git)
          not clear: `-c` in line 1: it may have `git` run other programs
      "git --exec-path=/x status"
          git --exec-path=/x status
          git status (run by git)
          not clear: `--exec-path=/x` in line 1: it may have `git` run other programs
      "git rebase --exec id main"
          git rebase --exec id main
          not clear: `--exec` in line 1: it may have `git` run other programs
      "git submodule foreach rm x"
          git submodule foreach rm x
          not clear: `submodule` in line 1: it may have `git` run other programs
    + "git -C x status"
          git -C x status
          git status (run by git)
    + "awk 'BEGIN { system(\"id\") }'"
          awk 'BEGIN { system("id") }'
    + "python -c 'import os'"
          python -c 'import os'
    "#);
}

/// Rules cannot allow these; see the tests of decisions.
#[test]
fn what_changes_later_names_or_variables_is_told() {
    let texts = [
        "alias ls=id; ls",
        "shopt -s expand_aliases",
        "hash -p /tmp/x ls",
        "enable -f x y",
        "set -euo pipefail",
        "set -k",
        "coproc id",
        "test -v 'a[$(id)]'",
        "[[ 'a[$(id)]' -eq 1 ]]",
        "printf -v PATH x",
        "read 'a[$(id)]'",
        "jobs -x id",
    ];
    insta::assert_snapshot!(read(&texts), @r###"
      "alias ls=id; ls"
          alias ls=id
          ls
          not clear: `alias` in line 1: it changes what later commands mean
      "shopt -s expand_aliases"
          shopt -s expand_aliases
          not clear: `shopt` in line 1: it changes what later commands mean
      "hash -p /tmp/x ls"
          hash -p /tmp/x ls
          not clear: `hash` in line 1: it changes what later commands mean
      "enable -f x y"
          enable -f x y
          not clear: `enable` in line 1: it changes what later commands mean
    + "set -euo pipefail"
          set -euo pipefail
      "set -k"
          set -k
          not clear: `set` in line 1: its options change what later commands mean, or run one
      "coproc id"
          coproc id
          not clear: `coproc` in line 1: `coproc` is no program to a shell
      "test -v 'a[$(id)]'"
          test -v 'a[$(id)]'
          not clear: `test` in line 1: it may run what stands in the index of an array
      "[[ 'a[$(id)]' -eq 1 ]]"
          [[ 'a[$(id)]' -eq 1 ]]
          not clear: `'a[$(id)]'` in line 1: a condition or calculation may run what is quoted in it
    + "printf -v PATH x"
          printf -v PATH x
      "read 'a[$(id)]'"
          read 'a[$(id)]'
          not clear: `read` in line 1: it may run what stands in the index of an array
      "jobs -x id"
          jobs -x id
          not clear: `jobs` in line 1: its options change what later commands mean, or run one
    "###);
}

/// Nothing is guessed.
#[test]
fn what_readers_take_differently_is_unclear() {
    let texts = [
        "ls\r",
        "ls\0",
        "ls\u{b}id",
        "ls\u{a0}id",
        "r\\\nm x",
        "$\\\n(id)",
        "ls \\\n -la",
        "{rm,-r,x}",
        "echo a{#; rm x",
        "`echo \\`id\\``",
        "$'a\\\\' ; rm x ; echo $'b'",
        "((ls)|(id))",
        "echo $((ls)|(id))",
        "time ! id",
        "time FOO=1 id",
        "do ls",
        "ls)",
        "ls (",
        "echo \"a",
        "'a",
        "ls &&",
        "ls ;; id",
        "a(b)",
    ];
    insta::assert_snapshot!(read(&texts), @r###"
      "ls\r"
          not clear: `ls\r` in line 1: it holds a control character or a space that shells and readers take differently
      "ls\0"
          not clear: `ls\0` in line 1: it holds a control character or a space that shells and readers take differently
      "ls\u{b}id"
          not clear: `ls\u{b}id` in line 1: it holds a control character or a space that shells and readers take differently
      "ls\u{a0}id"
          not clear: `ls\u{a0}id` in line 1: it holds a control character or a space that shells and readers take differently
      "r\\\nm x"
          not clear: `r\\nm x` in line 1: a word or operator goes on in the next line
      "$\\\n(id)"
          not clear: `$\\n(id)` in line 1: a word or operator goes on in the next line
      "ls \\\n -la"
          ls -la
      "{rm,-r,x}"
          not clear: `{rm,-r,x}` in line 1: it cannot be read
      "echo a{#; rm x"
          echo a{#
          rm x
      "`echo \\`id\\``"
          `echo \`id\``
          not clear: ``echo \`id\``` in line 1: a backslash within backticks changes what they say
      "$'a\\\\' ; rm x ; echo $'b'"
          $'a\\' ; rm x ; echo $'b
          not clear: `'` in line 1: it cannot be read
      "((ls)|(id))"
          not clear: `((ls)|(id))` in line 1: it cannot be read
      "echo $((ls)|(id))"
          echo
          not clear: `$((ls)|(id))` in line 1: it cannot be read
      "time ! id"
          time ! id
          not clear: `time` in line 1: what it measures is more than one command
      "time FOO=1 id"
          time FOO=1 id
          not clear: `time` in line 1: what it measures is more than one command
      "do ls"
          do ls
          not clear: `do` in line 1: `do` is no program to a shell
      "ls)"
          ls
          not clear: `)` in line 1: it cannot be read
      "ls ("
          ls
          not clear: `(` in line 1: it cannot be read
      "echo \"a"
          echo
          not clear: `"a` in line 1: it cannot be read
      "'a"
          not clear: `'a` in line 1: it cannot be read
      "ls &&"
          ls
          
          not clear: it cannot be read
      "ls ;; id"
          ls
          id
      "a(b)"
          a
          b
          not clear: `(b)` in line 1: parentheses behind a command are not understood
    "###);
}

#[test]
fn where_a_command_stands_is_told() {
    let places = |text: &str| {
        let script = Script::parse(text);
        let each = script.commands().iter().map(|it| format!("{it}: {:?}", it.places()));
        each.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(places("a | b && (c; { d; }); f() { e; }; while g; do h $(i); done; sudo j"), @"
    a: [List, Pipeline]
    b: [List, Pipeline]
    c: [List, Subshell]
    d: [List, Subshell, Group]
    e: [Function, Group]
    g: [Loop]
    h $(i): [Loop]
    i: [Loop, Substitution]
    sudo j: []
    j: [Inner]
    ");
}

#[test]
fn argument_vectors_are_read_without_a_shell() {
    let script = Script::of_argv(&["ls", "a b; id", "$(id)", ""]);
    assert!(script.is_plain());
    insta::assert_snapshot!(script.lines().join("\n"), @"ls 'a b; id' '$(id)' ''");
    let script = Script::of_argv(&["env", "sh", "-c", "rm x; $X"]);
    insta::assert_snapshot!(script.lines().join("\n"), @"
    env sh -c 'rm x; $X'
    sh -c 'rm x; $X' (run by env)
    rm x (run by sh)
    $X (run by sh)
    ");
    insta::assert_snapshot!(Script::of_argv::<&str>(&[]).lines().join("\n"), @"not clear: it is empty");
}

#[test]
fn nothing_makes_reading_long_or_deep() {
    let inputs = [
        "(".repeat(990),
        "$(".repeat(990),
        "a|".repeat(990),
        "<".repeat(990),
        "a=(".repeat(990),
        "a()".repeat(990),
        "`".repeat(990),
        "((".repeat(490),
        "<<a ".repeat(490),
        "{ ".repeat(16_000),
        "if ".repeat(10_000),
        "case x in ".repeat(3_000),
        "${a:-".repeat(6_000),
        "a\n".repeat(16_000),
        "! ".repeat(16_000),
        "\"".repeat(32_001),
        "env ".repeat(8_000),
        "eval ".repeat(6_000),
        "x".repeat(100_000),
        "a;".repeat(100_000),
        format!("find . {}", "-exec a {} + ".repeat(2_000)),
    ];
    for input in inputs {
        let script = Script::parse(&input);
        let commands = script.commands().len();
        assert!(!script.unclear().is_empty(), "{input:.20}: {commands} commands");
        assert!(commands <= 250);
        for line in script.unclear() {
            assert!(line.to_string().len() < 1_000, "{line}");
        }
    }
}
