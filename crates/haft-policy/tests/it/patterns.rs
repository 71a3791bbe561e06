//! What patterns over tools and paths match.

use haft_policy::{PathPattern, ToolPattern};
use haft_protocol::LogicalPath;

#[track_caller]
fn tools(pattern: &str, yes: &[&str], no: &[&str]) {
    let pattern: ToolPattern = pattern.parse().unwrap();
    for name in yes {
        assert!(pattern.matches(&name.parse().unwrap()), "{pattern} on {name}");
    }
    for name in no {
        assert!(!pattern.matches(&name.parse().unwrap()), "{pattern} on {name}");
    }
}

#[track_caller]
fn paths(pattern: &str, yes: &[&str], no: &[&str]) {
    let pattern: PathPattern = pattern.parse().unwrap();
    for path in yes {
        assert!(pattern.matches(&LogicalPath::new(*path)), "{pattern} on {path}");
    }
    for path in no {
        assert!(!pattern.matches(&LogicalPath::new(*path)), "{pattern} on {path}");
    }
}

fn problem<T: std::str::FromStr>(text: &str) -> String
where
    T::Err: std::fmt::Display,
{
    match text.parse::<T>() {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn bare_tool_name_means_builtin_or_local() {
    tools(
        "search",
        &["builtin/search", "local/search", "search"],
        &["web/search", "github:builtin/search", "builtin/search2", "builtin/Search"],
    );
    tools("sea*", &["builtin/search", "local/seal"], &["web/search", "github:local/search"]);
}

#[test]
fn star_stays_within_its_part_of_a_tool_name() {
    tools("web/*", &["web/fetch"], &["builtin/fetch", "github:web/fetch"]);
    tools("*/search", &["builtin/search", "web/search"], &["github:web/search"]);
    tools("*/*", &["builtin/search", "web/search"], &["github:web/search"]);
    tools("git*:issues/list", &["github:issues/list", "gitlab:issues/list"], &["issues/list"]);
}

#[test]
fn server_pattern_reaches_every_namespace_of_it() {
    tools("github:*", &["github:issues/list", "github:pulls/merge"], &["gitlab:issues/list"]);
    tools("*:*", &["github:issues/list"], &["builtin/search"]);
    tools("{github,gitlab}:list", &["github:a/list", "gitlab:b/list"], &["github:a/show"]);
}

#[test]
fn star_alone_means_every_tool() {
    tools("*", &["builtin/search", "web/fetch", "github:issues/list"], &[]);
}

#[test]
fn tool_pattern_that_could_match_nothing_is_refused() {
    insta::assert_snapshot!(problem::<ToolPattern>("a/b/c"), @"pattern `a/b/c` is not valid: expected `name`, `namespace/name`, `server:name` or `server:namespace/name`");
    insta::assert_snapshot!(problem::<ToolPattern>("a:b:c"), @"pattern `a:b:c` is not valid: expected `name`, `namespace/name`, `server:name` or `server:namespace/name`");
    insta::assert_snapshot!(problem::<ToolPattern>(":x"), @"pattern `:x` is not valid: expected `name`, `namespace/name`, `server:name` or `server:namespace/name`");
    insta::assert_snapshot!(problem::<ToolPattern>("se arch"), @"pattern `se arch` is not valid: ` ` never occurs in a tool's name");
    insta::assert_snapshot!(problem::<ToolPattern>("**"), @"pattern `**` is not valid: `**` stands alone between slashes");
    insta::assert_snapshot!(problem::<ToolPattern>(""), @"pattern `` is not valid: it is empty");
}

#[test]
fn star_stays_within_its_part_of_a_path() {
    paths("src/*", &["src/a.rs", "src/.hidden"], &["src", "src/a/b.rs", "a.rs"]);
    paths("*.rs", &["a.rs"], &["src/a.rs"]);
    paths("src/[ab]?.rs", &["src/a1.rs"], &["src/c1.rs", "src/a/.rs"]);
}

#[test]
fn double_star_matches_any_depth_and_the_directory_itself() {
    paths("secrets/**", &["secrets", "secrets/a", "secrets/a/b"], &["secret", "a/secrets", "."]);
    paths("secrets/", &["secrets", "secrets/a"], &["secretsx"]);
    paths("**/*.rs", &["a.rs", "src/a.rs", "src/a/b.rs"], &["a.rs/b"]);
    paths("src/**/mod.rs", &["src/mod.rs", "src/a/b/mod.rs"], &["mod.rs", "src/a/mod.rs2"]);
    paths("**", &[".", "a", "a/b", "/data/x"], &[]);
    paths("a/**/**/b", &["a/b", "a/x/y/b"], &["a"]);
}

#[test]
fn pattern_is_anchored_to_its_roots() {
    paths("src/*", &["src/a"], &["/src/a", "/data/src/a"]);
    paths("/data/**", &["/data", "/data/x"], &["data/x", "/database"]);
    paths("**/.env", &[".env", "a/.env", "/data/.env"], &[]);
    paths("./**/.env", &[".env", "a/.env"], &["/data/.env"]);
    paths(".", &["."], &["a", "/"]);
}

#[test]
fn pattern_is_normalised() {
    paths("./src//lib.rs", &["src/lib.rs"], &["lib.rs"]);
    paths("src/./lib.rs", &["src/lib.rs"], &[]);
    paths("{src,docs/api}/*.md", &["src/a.md", "docs/api/b.md"], &["docs/a.md"]);
    paths("\\*.md", &["*.md"], &["a.md"]);
}

#[test]
fn unresolved_path_matches_nothing() {
    paths("**", &[], &["src/../etc/passwd", "..", "/..", ""]);
    paths("src/*", &[], &["src/../etc"]);
}

#[test]
fn path_pattern_that_needs_resolving_is_refused() {
    insta::assert_snapshot!(problem::<PathPattern>("../x"), @"pattern `../x` is not valid: `..` is not resolved in patterns: write the path it leads to");
    insta::assert_snapshot!(problem::<PathPattern>("a/{b,..}/c"), @"pattern `a/{b,..}/c` is not valid: `..` is not resolved in patterns: write the path it leads to");
    insta::assert_snapshot!(problem::<PathPattern>("~/.ssh/**"), @"pattern `~/.ssh/**` is not valid: `~` is not expanded: write the full path, or the path from the first root");
    insta::assert_snapshot!(problem::<PathPattern>("src/**.rs"), @"pattern `src/**.rs` is not valid: `**` stands alone between slashes");
    insta::assert_snapshot!(problem::<PathPattern>("src\\/x"), @r"pattern `src\/x` is not valid: `\` stands before nothing it could escape");
    insta::assert_snapshot!(problem::<PathPattern>("a\u{202e}b["), @r"pattern `a\u{202e}b[` is not valid: `[` is never closed");
    insta::assert_snapshot!(problem::<PathPattern>(&"a/".repeat(70)).len().to_string(), @"190");
}

#[test]
fn patterns_of_all_rules_together_have_a_limit() {
    let wide: PathPattern = format!("{}{}", "{a,b}".repeat(6), "?".repeat(50)).parse().unwrap();
    assert_eq!(wide.tokens(), 64 * 56);
    let rule = haft_policy::Rule::new(haft_protocol::Decision::Deny).path(wide);
    let build = |rules| {
        haft_policy::Policy::builder().rules(std::iter::repeat_n(rule.clone(), rules)).build()
    };
    assert!(build(73).is_ok());
    let said = build(74).unwrap_err().to_string();
    assert!(said.contains("multiply out to more than 262144 characters"), "{said}");
}
