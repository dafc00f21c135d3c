//! Opens many streams of a stand-in for a model's API at once, and measures how far each event is from its time: what
//! `benches/llm.py` runs.
//!
//! `llm_streams ADDRESS STREAMS EVENTS GAP_MS SETTLE_MS` asks for streams of a scenario whose answer is `EVENTS` deltas,
//! one every `GAP_MS`, and prints one line of JSON. The streams are begun one after the other within `SETTLE_MS`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Delays are counted in tenths of a millisecond up to this many.
const TENTHS: usize = 100_000;

#[expect(clippy::print_stdout, reason = "this is a program of its own")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, numbers @ ..] = &arguments[..] else {
        return usage();
    };
    let numbers: Vec<u64> = numbers.iter().flat_map(|text| text.parse()).collect();
    let &[n_streams, n_events, gap_ms, settle_ms] = &numbers[..] else {
        return usage();
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let measured = runtime.block_on(measure(address, n_streams, n_events, gap_ms, settle_ms));
    println!("{measured}");
    ExitCode::SUCCESS
}

#[expect(clippy::print_stderr, reason = "this is a program of its own")]
fn usage() -> ExitCode {
    eprintln!("usage: llm_streams ADDRESS STREAMS EVENTS GAP_MS SETTLE_MS");
    ExitCode::FAILURE
}

/// What all streams count into.
struct Counts {
    delays: Vec<AtomicUsize>,
    n_early: AtomicUsize,
    n_open: AtomicUsize,
    most_open: AtomicUsize,
}

async fn measure(
    address: &str,
    n_streams: u64,
    n_events: u64,
    gap_ms: u64,
    settle_ms: u64,
) -> serde_json::Value {
    let counts = Arc::new(Counts {
        delays: (0..TENTHS).map(|_| AtomicUsize::new(0)).collect(),
        n_early: AtomicUsize::new(0),
        n_open: AtomicUsize::new(0),
        most_open: AtomicUsize::new(0),
    });
    let began = Instant::now();
    let mut streams = tokio::task::JoinSet::new();
    for number in 0..n_streams {
        let begins = Duration::from_millis(settle_ms * number / n_streams.max(1));
        tokio::time::sleep_until((began + begins).into()).await;
        let (address, counts) = (address.to_owned(), counts.clone());
        streams.spawn(async move { read(&address, number, n_events, gap_ms, &counts).await });
    }
    let mut errors: Vec<String> = Vec::new();
    while let Some(ended) = streams.join_next().await {
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => errors.push(error.to_string()),
            Err(error) => errors.push(error.to_string()),
        }
    }
    let delays: Vec<usize> = counts
        .delays
        .iter()
        .map(|count| count.load(Ordering::Relaxed))
        .collect();
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
    serde_json::json!({
        "streams": n_streams, "errors": errors.len(), "first_errors": errors.iter().take(3).collect::<Vec<_>>(),
        "events": total, "early": counts.n_early.load(Ordering::Relaxed),
        "most_open": counts.most_open.load(Ordering::Relaxed),
        "p50_ms": at(0.5), "p99_ms": at(0.99), "p999_ms": at(0.999),
        "max_ms": delays.iter().rposition(|&count| count > 0).unwrap_or(0) as f64 / 10.0,
        "seconds": began.elapsed().as_secs_f64(),
    })
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Reads one stream to its end. Its time begins when the request has been sent.
async fn read(
    address: &str,
    number: u64,
    n_events: u64,
    gap_ms: u64,
    counts: &Counts,
) -> Result<(), Failure> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Count"}]}"#;
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nx-cuecard-session: {number}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let began = Instant::now();
    let n_open = counts.n_open.fetch_add(1, Ordering::Relaxed) + 1;
    counts.most_open.fetch_max(n_open, Ordering::Relaxed);
    let mut n_seen = 0;
    let mut has_ended = false;
    let mut buffer = vec![0; 4 << 10];
    let mut tail = Vec::new();
    while !has_ended {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Err("the connection ended before the stream".into());
        }
        let elapsed = began.elapsed();
        // A line may come in two parts.
        tail.extend_from_slice(&buffer[..length]);
        let whole = tail
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        for line in tail[..whole].split(|&byte| byte == b'\n') {
            if line.starts_with(b"HTTP/1.1 ") && !line.starts_with(b"HTTP/1.1 200") {
                return Err(String::from_utf8_lossy(line).into_owned().into());
            }
            has_ended |= line.starts_with(b"data: [DONE]");
            // The role comes first, with an empty text.
            if has_text(line) {
                n_seen += 1;
                note(counts, elapsed, Duration::from_millis(gap_ms * n_seen));
            }
        }
        tail.drain(..whole);
    }
    counts.n_open.fetch_sub(1, Ordering::Relaxed);
    match n_seen == n_events {
        true => Ok(()),
        false => Err(format!("{n_seen} events came").into()),
    }
}

fn has_text(line: &[u8]) -> bool {
    const BEFORE: &[u8] = b"\"content\":\"";
    line.windows(BEFORE.len() + 1)
        .any(|part| part.starts_with(BEFORE) && part[BEFORE.len()] != b'"')
}

fn note(counts: &Counts, elapsed: Duration, due: Duration) {
    match elapsed.checked_sub(due) {
        // The request is under way while the client's clock runs already, so nothing can come before it is due but by
        // the rounding to milliseconds.
        None => {
            counts.n_early.fetch_add(1, Ordering::Relaxed);
            counts.delays[0].fetch_add(1, Ordering::Relaxed);
        }
        Some(delay) => {
            let tenths = usize::try_from(delay.as_micros() / 100).unwrap_or(usize::MAX);
            counts.delays[tenths.min(TENTHS - 1)].fetch_add(1, Ordering::Relaxed);
        }
    }
}
