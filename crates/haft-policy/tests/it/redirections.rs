//! Redirections and here-documents: what lies between an arrow and the next command.

use haft_policy::shell::{Script, Unclear};

/// The commands of a text, and why it is not clear.
fn read(text: &str) -> (Vec<String>, Vec<String>) {
    let script = Script::parse(text);
    let commands = script.commands().iter().map(ToString::to_string).collect();
    let why = script.unclear().iter().map(|Unclear { why, .. }| why.clone()).collect();
    (commands, why)
}

#[track_caller]
fn is_clear(text: &str, commands: &[&str]) {
    let (found, why) = read(text);
    assert!(why.is_empty(), "{text:?}: {why:?}");
    assert_eq!(found, commands, "{text:?}");
}

#[track_caller]
fn is_unclear(text: &str, expected: &str) {
    let (found, why) = read(text);
    assert!(why.iter().any(|it| it == expected), "{text:?}: {found:?} {why:?}");
}

/// To bash the document begins in the next line, and is expanded whatever is quoted there. Behind an operator at the end of
/// the line, and before a backslash, the grammar goes on with the command instead.
#[test]
fn o_028_a_here_document_begins_in_the_next_line_or_is_not_clear() {
    for asked in ["cat <<EOF |", "cat <<EOF |&", "cat <<EOF &&", "cat <<EOF ||"] {
        for line in ["echo '$(rm x)'", "# $(rm x)\ntext"] {
            let text = format!("{asked}\n{line}\nEOF\ncat");
            is_unclear(&text, "it is not clear where the here-document ends");
        }
        is_clear(&format!("{asked} id\ntext\nEOF\nls"), &["cat <<EOF", "id", "ls"]);
        is_clear(&format!("{asked} id\nEOF\nls"), &["cat <<EOF", "id", "ls"]);
    }
    for line in ["\\x '$(rm x)'", "\\\\'$(rm x)'", "\\$ '$(rm x)'"] {
        let text = format!("cat <<EOF\n{line}\nEOF");
        is_unclear(&text, "it is not clear where the here-document ends");
    }
}

#[test]
fn a_here_document_ends_where_bash_ends_it_or_is_not_clear() {
    for text in [
        // Bash looks for the end of the first document before that of the second.
        "cat <<EOF '<<'\ntext\nEOF",
        "cat <<A <<B\nx\nA\nid\nB",
        // A mark that is not the text it looks like.
        "cat <<'E O'\ntext\nE O",
        "cat <<E$OF\ntext\nE$OF",
        "cat <<E\\OF\ntext\nEOF",
        // What only looks like the mark.
        "cat <<EOF\ntext\n EOF\nrm x\nEOF",
        "cat <<EOF\ntext\n\tEOF\nrm x\nEOF",
    ] {
        is_unclear(text, "it is not clear where the here-document ends");
    }
    is_clear("cat <<-EOF\n\ttext\n\tEOF\nid", &["cat <<-EOF", "id"]);
    is_clear("cat 3<<E-O_F.1\ntext\nE-O_F.1\nid", &["cat 3<<E-O_F.1", "id"]);
    is_clear("cat <<\"EOF\"\n$(a)\nEOF\nid", &["cat <<\"EOF\"", "id"]);
    is_clear("cat <<EOF # text\ntext\nEOF\nid", &["cat <<EOF", "id"]);
    is_clear("cat <<EOF 'a b' $c\ntext\nEOF\nid", &["cat 'a b' $c <<EOF", "id"]);
}

#[test]
fn every_command_that_a_here_document_runs_is_found_or_it_is_not_clear() {
    is_clear("cat <<EOF\n$(a) \\ $(b)\nEOF", &["cat <<EOF", "a", "b"]);
    is_clear("cat <<EOF\nx \\\\$(a)\nEOF", &["cat <<EOF", "a"]);
    is_clear("cat <<EOF\n$a ${b} \\\\ \nEOF", &["cat <<EOF"]);
    for text in [
        "cat <<EOF\n${x:-$(a)}\nEOF",
        "cat <<EOF\n$(a) `b`\nEOF",
        "cat <<EOF\n`b`\nEOF",
        "cat <<EOF\n${x:-`a`}\nEOF",
    ] {
        is_unclear(text, "it is not clear what the here-document runs");
    }
}

#[test]
fn what_cannot_be_read_is_no_word_of_the_command() {
    for (text, commands) in [
        ("cat <<EOF )\nx\nEOF", &["cat <<EOF"][..]),
        ("ls a (", &["ls a"]),
        ("echo @(a|b)", &["echo", "a", "b"]),
    ] {
        assert_eq!(read(text).0, commands, "{text:?}");
        is_unclear(text, "it cannot be read");
    }
}

#[test]
fn an_arrow_leads_somewhere_in_its_line() {
    for text in ["ls > \nid", "ls > # text\nid", "ls <<< # text\nid", "ls > a > # text\nid"] {
        is_unclear(text, "it leads nowhere in its line");
    }
    is_clear("ls > a # text\nid", &["ls >a", "id"]);
    is_clear("ls 2>&- >&- <&-", &["ls 2>&- >&- <&-"]);
    is_clear("{ ls; } > a; if b; then c; fi > d", &["ls", ">a", "b", "c", ">d"]);
    is_clear("f() { a; } > b", &["a", ">b"]);
    is_clear("echo $(< a)", &["echo $(< a)", "<a"]);
}
