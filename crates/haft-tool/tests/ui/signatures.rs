use haft_protocol::Failure;
use haft_tool::tool;

/// Is not asynchronous.
#[tool]
fn not_async(a: i64) -> i64 {
    a
}

/// Has many contracts.
#[tool]
async fn generic<T: ToString>(a: T) -> String {
    a.to_string()
}

struct Counter;

impl Counter {
    /// Has a receiver.
    #[tool]
    async fn method(&self) {}
}

#[tool]
async fn undocumented(a: i64) -> i64 {
    a
}

/// Hides its contract.
#[tool]
async fn opaque() -> impl ToString {
    "x"
}

/// Is no function.
#[tool]
struct Thing;

/// Fails in a way that nobody can show to a model.
#[tool]
async fn unknown_error() -> Result<String, std::fmt::Error> {
    Ok(String::new())
}

/// Returns what has no form for a reader.
#[tool]
async fn unknown_value() -> Result<Counter, Failure> {
    Ok(Counter)
}

fn main() {}
