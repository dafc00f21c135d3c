//! Serves the test site until it is stopped: `cargo run -p cuecard-testing --example site [PORT]`.
//! With `CUECARD_TEST_PEERS`, its page made with React works too.

fn main() -> std::io::Result<()> {
    let port = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let site = cuecard_testing::site::Site::start_at(port)?;
    #[expect(clippy::print_stdout, reason = "its address is what it is started for")]
    {
        println!("{}", site.url(""));
    }
    site.wait();
    Ok(())
}
