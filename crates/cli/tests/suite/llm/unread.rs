//! Standard output that nobody reads: the stand-in goes on answering.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use cuecard_testing::scratch::Scratch;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{TWO, with};
use crate::program::{run_dirs, trace_lines};

/// How long anything may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A stand-in whose output is only read when the test does so.
struct Unread {
    child: Child,
    output: BufReader<ChildStdout>,
    port: u16,
}

impl Unread {
    fn start(scratch: &Scratch) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cuecard"))
            .args(["serve", "llm", "--json", "scenario.yaml"])
            .current_dir(scratch.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it is ready");
        let ready: Value = serde_json::from_str(&line).expect("JSON");
        let port = ready["port"].as_u64().expect("a port");
        Self {
            child,
            output,
            port: u16::try_from(port).expect("a port"),
        }
    }

    /// Asks for what is not there, so often, and reads each answer. The lines about it have some 3,000 bytes.
    fn ask(&self, times: usize) {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("allowed");
        let mut reader = BufReader::new(&stream);
        let long = "x".repeat(3000);
        for number in 0..times {
            let request = format!("GET /{number}/{long} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            (&stream).write_all(request.as_bytes()).expect("it reads");
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("it answers");
                assert!(!line.is_empty(), "it closed the connection");
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a number");
                }
                if line.trim_end().is_empty() {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; length]).expect("a body");
        }
    }

    fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it runs");
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn output_that_nobody_reads_in_time_keeps_no_request_waiting_and_what_lacks_is_counted() {
    const REQUESTS: usize = 6_000;
    // Each in vain, and none a failure of which there would be a line too.
    let scratch = with(&format!("{TWO}server: {{ignore: [\"/**\"]}}\n"));
    let mut served = Unread::start(&scratch);
    served.ask(REQUESTS);
    served.terminate();
    let mut rest = String::new();
    served.output.read_to_string(&mut rest).expect("it ends");
    let lines = trace_lines(&rest);
    let of_event = |name: &str| {
        lines
            .iter()
            .filter(|line| line["event"] == name)
            .collect::<Vec<_>>()
    };
    let told = of_event("exchange").len();
    let missing: u64 = of_event("left_out")
        .iter()
        .map(|line| line["lines"].as_u64().expect("a number"))
        .sum();
    let missing = usize::try_from(missing).expect("a number");
    assert!(missing > 0, "{told} lines");
    let findings = of_event("finding").len();
    let expected = REQUESTS * (1 + usize::from(findings > 0));
    assert_eq!(told + findings + missing, expected);
    assert_eq!(lines.last().expect("a line")["event"], "verdict");
    // The files of the run have everything.
    let exchanges = std::fs::read_to_string(run_dirs(&scratch)[0].join("exchanges.jsonl"));
    assert_eq!(trace_lines(&exchanges.expect("written")).len(), REQUESTS);
}

#[test]
fn output_that_nobody_ever_reads_does_not_keep_it_from_ending() {
    let scratch = with(TWO);
    let mut served = Unread::start(&scratch);
    // More than a pipe holds.
    served.ask(100);
    served.terminate();
    let status = served.child.wait().expect("it ends");
    assert!(status.code().is_some(), "{status}");
}
