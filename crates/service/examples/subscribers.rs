//! Follows one session of a mock agent service with many subscribers at once, and measures how long after its time each of
//! them gets an event: what `benches/service.py` runs.
//!
//! `subscribers ADDRESS SUBSCRIBERS` starts a task with the prompt `Count`, follows its session to the end and prints one
//! line of JSON. Events before the last subscriber has begun don't count.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use jiff::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Delays are counted in tenths of a millisecond up to this many.
const TENTHS: usize = 100_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a program of its own"
)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(address), Some(Ok(n_subscribers))) =
        (arguments.first(), arguments.get(1).map(|text| text.parse()))
    else {
        eprintln!("usage: subscribers ADDRESS SUBSCRIBERS");
        return ExitCode::FAILURE;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    match runtime.block_on(measure(address, n_subscribers)) {
        Ok(measured) => {
            println!("{measured}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// What all subscribers count into.
struct Counts {
    delays: Vec<AtomicUsize>,
    n_open: AtomicUsize,
}

async fn measure(address: &str, n_subscribers: usize) -> Result<serde_json::Value, Failure> {
    let began = Instant::now();
    let body = r#"{"prompt":"Count"}"#;
    let request = format!(
        "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let task: serde_json::Value =
        serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap_or_default())?;
    let path = task["links"]["events"].as_str().ok_or(answer)?.to_owned();
    let counts = Arc::new(Counts {
        delays: (0..TENTHS).map(|_| AtomicUsize::new(0)).collect(),
        n_open: AtomicUsize::new(0),
    });
    let mut subscribers = tokio::task::JoinSet::new();
    for _ in 0..n_subscribers {
        let (address, path, counts) = (address.to_owned(), path.clone(), counts.clone());
        subscribers.spawn(async move { follow(&address, &path, n_subscribers, &counts).await });
    }
    let (mut sequences, mut errors) = (Vec::new(), Vec::new());
    while let Some(ended) = subscribers.join_next().await {
        match ended? {
            Ok(numbers) => sequences.push(numbers),
            Err(error) => errors.push(error.to_string()),
        }
    }
    let are_identical = sequences.iter().all(|one| *one == sequences[0]);
    let counted = counts
        .delays
        .iter()
        .map(|count| count.load(Ordering::Relaxed));
    let delays: Vec<usize> = counted.collect();
    let total: usize = delays.iter().sum();
    let at = |share: f64| {
        let mut left = (total as f64 * share) as usize;
        let found = delays.iter().position(|&count| {
            let is_here = left < count;
            left = left.saturating_sub(count);
            is_here
        });
        found.unwrap_or(0) as f64 / 10.0
    };
    Ok(serde_json::json!({
        "subscribers": n_subscribers, "errors": errors.len(), "first_errors": errors.iter().take(3).collect::<Vec<_>>(),
        "identical": are_identical, "events": sequences.first(), "counted": total,
        "p50_ms": at(0.5), "p99_ms": at(0.99), "p999_ms": at(0.999),
        "max_ms": delays.iter().rposition(|&count| count > 0).unwrap_or(0) as f64 / 10.0,
        "seconds": began.elapsed().as_secs_f64(),
    }))
}

/// Follows the session to its end: how many events came, each with the next number.
async fn follow(
    address: &str,
    path: &str,
    n_subscribers: usize,
    counts: &Counts,
) -> Result<u64, Failure> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let (mut buffer, mut tail) = (vec![0; 16 << 10], Vec::new());
    let (mut n_seen, mut is_open) = (0, false);
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(n_seen);
        }
        let now = Timestamp::now();
        if !is_open {
            is_open = true;
            counts.n_open.fetch_add(1, Ordering::Relaxed);
        }
        let are_all_open = counts.n_open.load(Ordering::Relaxed) == n_subscribers;
        tail.extend_from_slice(&buffer[..length]);
        let whole = tail
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        for line in tail[..whole].split(|&byte| byte == b'\n') {
            if let Some(number) = line.strip_prefix(b"id: ") {
                n_seen += 1;
                if number != n_seen.to_string().as_bytes() {
                    return Err(format!("event {n_seen} has another number").into());
                }
            } else if line.starts_with(b"data: ") && are_all_open {
                let text = std::str::from_utf8(line)?;
                let ts = text
                    .split("\"ts\":\"")
                    .nth(1)
                    .and_then(|rest| rest.split('"').next());
                let ts: Timestamp = ts.ok_or("an event has no time")?.parse()?;
                let late = now.duration_since(ts).as_micros().max(0) / 100;
                let tenths = usize::try_from(late).unwrap_or(usize::MAX);
                counts.delays[tenths.min(TENTHS - 1)].fetch_add(1, Ordering::Relaxed);
            }
        }
        tail.drain(..whole);
    }
}
