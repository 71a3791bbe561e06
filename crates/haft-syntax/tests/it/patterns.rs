//! Patterns and what looks like them.

use haft_syntax::{Language, Limits, Pattern};

use crate::rig::source;

/// Every match on a line: where it is, and what its variables stand for.
fn matched(language: Language, pattern: &str, text: &str) -> String {
    let pattern = Pattern::compile(language, pattern).unwrap_or_else(|error| panic!("{error}"));
    let found = pattern.matches(text, &Limits::default()).unwrap();
    let rows = found.items.iter().map(|it| {
        let variables = it.variables.iter();
        let variables = variables.map(|it| format!(" {}=`{}`", it.name, it.text(text)));
        let (line, column) = (it.span.line, it.span.column);
        format!("{line}:{column}{}", variables.collect::<String>())
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn problem(language: Language, pattern: &str) -> String {
    Pattern::compile(language, pattern).unwrap_err().to_string()
}

#[test]
fn variables_stand_for_pieces_of_code() {
    let rust =
        "fn main() {\n    let x = f(1).unwrap();\n    g(x, 2)?.unwrap();\n    h.expect(\"\");\n}\n";
    insta::assert_snapshot!(matched(Language::Rust, "$IT.unwrap()", rust), @r"
    2:13 IT=`f(1)`
    3:5 IT=`g(x, 2)?`
    ");
    let python = "print()\nprint(a)\nprint(a, b=1, *c)\npprint(a)\n";
    insta::assert_snapshot!(matched(Language::Python, "print($$$ARGS)", python), @r"
    1:1 ARGS=``
    2:1 ARGS=`a`
    3:1 ARGS=`a, b=1, *c`
    ");
}

#[test]
fn a_variable_that_stands_twice_stands_for_the_same() {
    let text = "if (a.b == a.b) {}\nif (a == b) {}\nif (f(x) == f( x )) {}\n";
    insta::assert_snapshot!(matched(Language::JavaScript, "$A == $A", text), @r"
    1:5 A=`a.b`
    3:5 A=`f( x )`
    ");
}

#[test]
fn patterns_fit_every_language() {
    let cases = [
        (Language::C, "printf($$$ARGS)", "void f(void) { printf(\"%d\", 1); }"),
        (Language::C, "if ($C) { $$$BODY }", "void f(void) { if (x) { y(); } }"),
        (Language::Cpp, "$A->b()", "void f() { x->b(); }"),
        (Language::Cpp, "std::$F($$$A)", "void f() { std::move(a, b); }"),
        (
            Language::Go,
            "if err != nil { $$$BODY }",
            "package a\nfunc f() { if err != nil { return } }",
        ),
        (
            Language::Go,
            "func $F($$$P) error { $$$B }",
            "package a\nfunc g(a int) error { return nil }",
        ),
        (Language::Java, "new $T($$$A)", "class A { Object o = new Foo(1, 2); }"),
        (
            Language::Java,
            "System.out.println($A)",
            "class A { void f() { System.out.println(1); } }",
        ),
        (Language::JavaScript, "await $X", "async () => { await f(1) }"),
        (Language::Python, "def $F($$$P): $$$B", "def f(a, b):\n    pass\n    return a\n"),
        (Language::Python, "$A = $A", "x = x\ny = x\n"),
        (Language::Rust, "Some($X)", "fn f() { Some(1); None; }"),
        (Language::Rust, "pub fn $F($$$P) -> $R { $$$B }", "pub fn f(a: u8) -> u8 { a }"),
        (Language::Tsx, "<Card title={$T} />", "const a = <Card title={x} />;"),
        (Language::TypeScript, "const $A: $T = $V", "const a: number = 1;"),
        (Language::TypeScript, "$F($$$P): $R { $$$B }", "class A { b(c: d): e { return f } }"),
        (Language::TypeScript, "Promise<$T>", "let a: Promise<string>;"),
        (Language::Rust, "$A + $B", "fn f() { 1 + 2; }"),
        (Language::Rust, "Option<$T>", "fn f(a: Option<u8>) {}"),
        (Language::Rust, "Some($X) => $B", "fn f() { match a { Some(b) => 1, None => 2 } }"),
        (
            Language::Rust,
            "let Some($X) = $Y else { $$$ };",
            "fn f() { let Some(a) = b else { return; }; }",
        ),
        (
            Language::Java,
            "@Override public $T $F() { $$$B; }",
            "class A { @Override public int f() { return 1; } }",
        ),
        (Language::Java, "List<$T>", "class A { List<String> a; }"),
        (Language::C, "$A->b = $C", "void f(void) { x->b = 1; }"),
        (Language::C, "int $F($$$P) { $$$B }", "int main(int a) { return 0; }"),
        (Language::C, "#define $N $V", "#define A 1\n"),
        (Language::Python, "except $E: $$$B", "try:\n    a()\nexcept B:\n    c()\n"),
        (Language::TypeScript, "interface $I { $$$M }", "interface A { b: string; c(): void }"),
    ];
    let rows: Vec<_> = cases
        .iter()
        .map(|(language, pattern, text)| {
            format!("{language} {pattern} -> {}", matched(*language, pattern, text))
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    c printf($$$ARGS) -> 1:16 ARGS=`"%d", 1`
    c if ($C) { $$$BODY } -> 1:16 BODY=`y();` C=`x`
    cpp $A->b() -> 1:12 A=`x`
    cpp std::$F($$$A) -> 1:12 A=`a, b` F=`move`
    go if err != nil { $$$BODY } -> 2:12 BODY=`return`
    go func $F($$$P) error { $$$B } -> 2:1 B=`return nil` F=`g` P=`a int`
    java new $T($$$A) -> 1:22 A=`1, 2` T=`Foo`
    java System.out.println($A) -> 1:22 A=`1`
    javascript await $X -> 1:15 X=`f(1)`
    python def $F($$$P): $$$B -> 1:1 B=`pass
        return a` F=`f` P=`a, b`
    python $A = $A -> 1:1 A=`x`
    rust Some($X) -> 1:10 X=`1`
    rust pub fn $F($$$P) -> $R { $$$B } -> 1:1 B=`a` F=`f` P=`a: u8` R=`u8`
    tsx <Card title={$T} /> -> 1:11 T=`x`
    typescript const $A: $T = $V -> 1:1 A=`a` T=`number` V=`1`
    typescript $F($$$P): $R { $$$B } -> 1:11 B=`return f` F=`b` P=`c: d` R=`e`
    typescript Promise<$T> -> 
    rust $A + $B -> 1:10 A=`1` B=`2`
    rust Option<$T> -> 1:9 T=`u8`
    rust Some($X) => $B -> 1:20 B=`1` X=`b`
    rust let Some($X) = $Y else { $$$ }; -> 1:10 X=`a` Y=`b`
    java @Override public $T $F() { $$$B; } -> 1:11 B=`return 1;` F=`f` T=`int`
    java List<$T> -> 1:11 T=`String`
    c $A->b = $C -> 1:16 A=`x` C=`1`
    c int $F($$$P) { $$$B } -> 1:1 B=`return 0;` F=`main` P=`int a`
    c #define $N $V -> 1:1 N=`A` V=`1`
    python except $E: $$$B -> 3:1 B=`c()` E=`B`
    typescript interface $I { $$$M } -> 1:1 I=`A` M=`b: string; c(): void`
    "#);
}

#[test]
fn matches_within_matches_are_found_in_the_order_of_the_text() {
    assert_eq!(
        matched(Language::Python, "f($A)", "f(f(f(1)))"),
        "1:1 A=`f(f(1))`\n1:3 A=`f(1)`\n1:5 A=`1`"
    );
}

#[test]
fn a_real_source_is_searched() {
    insta::assert_snapshot!(matched(Language::Go, "func ($R $T) $F($$$P) $RET { $$$ }", source(Language::Go)), @r"
    40:1 F=`Area` P=`` R=`c` RET=`float64` T=`*Circle`
    45:1 F=`String` P=`` R=`c` RET=`string` T=`Circle`
    49:1 F=`Swap` P=`` R=`p` RET=`Pair[T]` T=`Pair[T]`
    ");
    insta::assert_snapshot!(matched(Language::Python, "self.$ATTR = $VALUE", source(Language::Python)), @r"
    22:9 ATTR=`name` VALUE=`name`
    23:9 ATTR=`scale` VALUE=`scale`
    ");
    insta::assert_snapshot!(matched(Language::JavaScript, "$A => $B", source(Language::JavaScript)), @r"
    19:11 A=`(by)` B=`this.area() * by`
    29:17 A=`(y)` B=`y * y`
    44:9 A=`()` B=`fs.open()`
    52:14 A=`({ shape })` B=`<Card title={shape.name} />`
    ");
}

#[test]
fn a_broken_pattern_says_where() {
    let cases = [
        (Language::Python, "foo((("),
        (Language::JavaScript, "foo((("),
        (Language::Rust, "fn $F( {"),
        (Language::Rust, "$X.unwrap("),
        (Language::Go, "if err != nil {"),
        (Language::Java, "new Foo("),
        (Language::C, "printf($A"),
        (Language::Python, "def $F(:\n    pass"),
        (Language::TypeScript, "const 1 = = 2"),
        (Language::Rust, "f(])"),
        (Language::Go, "a := \n  b +/ c"),
        (Language::Java, "int $F() { $$$B }"),
        (Language::JavaScript, "a +\n  * b"),
        (Language::Python, "print(\u{1b}[31m"),
    ];
    let rows: Vec<_> =
        cases.iter().map(|(language, pattern)| problem(*language, pattern)).collect();
    insta::assert_snapshot!(rows.join("\n"), @r"
    `foo(((` is no Python pattern: at line 1, column 6, `(` is not closed
    `foo(((` is no JavaScript pattern: at line 1, column 6, `(` is not closed
    `fn $F( {` is no Rust pattern: at line 1, column 8, `{` is not closed
    `$X.unwrap(` is no Rust pattern: at line 1, column 10, `(` is not closed
    `if err != nil {` is no Go pattern: at line 1, column 15, `{` is not closed
    `new Foo(` is no Java pattern: at line 1, column 8, `(` is not closed
    `printf($A` is no C pattern: at line 1, column 7, `(` is not closed
    `def $F(:\n    pass` is no Python pattern: at line 1, column 7, `(` is not closed
    `const 1 = = 2` is no TypeScript pattern: at line 1, column 1, `const 1 = =` cannot be read
    `f(])` is no Rust pattern: at line 1, column 3, `]` closes nothing
    `a := \n  b +/ c` is no Go pattern: at line 2, column 6, `/` cannot be read
    `int $F() { $$$B }` is no Java pattern: at line 1, column 12, `$$$B` cannot be read: for statements, write `;` after it
    `a +\n  * b` is no JavaScript pattern: at line 2, column 3, `*` cannot be read
    `print(\x1b[31m` is no Python pattern: at line 1, column 8, `[` is not closed
    ");
}

#[test]
fn a_pattern_that_cannot_be_searched_for_says_what_to_write() {
    let deep = format!("{}x{}", "(".repeat(200), ")".repeat(200));
    let tries = format!("{}x{}", "f($$$, ".repeat(20), ")".repeat(20));
    let long = "x".repeat(5000);
    let patterns = ["", "  \n", "$$$ALL", "a\nb", &deep, &tries, &long];
    let rows: Vec<_> = patterns.iter().map(|pattern| problem(Language::Python, pattern)).collect();
    insta::assert_snapshot!(rows.join("\n"), @r"
    `` cannot be searched for: it is empty: write code as it would stand in a file
    `  \n` cannot be searched for: it is empty: write code as it would stand in a file
    `$$$ALL` cannot be searched for: `$$$NAME` alone stands for any number of things: write what it stands in, such as `f($$$NAME)`
    `a\nb` cannot be searched for: it is more than one expression, statement or definition of Python: write one, or search for each
    `((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((…` cannot be searched for: it is nested more than 128 levels deep: search for a part of it
    `f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f($$$, f…` cannot be searched for: `$$$` stands before something with `$$$` in it more than 6 times over: search for a part of it
    `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` cannot be searched for: it has 5000 bytes, and 4096 at most are searched for
    ");
}

#[test]
fn a_match_holds_the_needle() {
    let needle = |pattern| Pattern::compile(Language::Rust, pattern).unwrap().needle();
    assert_eq!(needle("$X.unwrap()"), "unwrap");
    assert_eq!(needle("$X + $Y"), "+");
    assert_eq!(needle("$X"), "");
}

#[test]
fn what_is_over_the_limit_is_counted() {
    let pattern = Pattern::compile(Language::Python, "f($A)").unwrap();
    let found = pattern.matches(&"f(1)\n".repeat(20), &Limits::default().keep(3)).unwrap();
    assert_eq!((found.items.len(), found.total), (3, 20));
}
