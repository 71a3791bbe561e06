//! What does not compile under `#[tool]`, and what nobody can write with a call.

#[test]
fn what_must_not_compile_does_not() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
