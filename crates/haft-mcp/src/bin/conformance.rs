//! Serves what the official conformance suite asks for, until standard input ends.
#![expect(clippy::print_stdout, reason = "whoever starts it reads the address there")]

use haft_mcp::conformance::Fixture;
use haft_tool::Cancellation;
use tokio::io::AsyncReadExt as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fixture = Fixture::listen().await?;
    println!("{}", fixture.url());
    let stop = Cancellation::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        let mut ignored = [0; 64];
        let (mut input, _) = haft_mcp::standard_streams();
        while input.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
        asked.cancel();
    });
    fixture.serve(&stop).await;
    Ok(())
}
