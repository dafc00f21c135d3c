//! `--stop-on-stdin-eof`: a mock that ends with the program that started it. Even if that program is killed, the system
//! closes its end of the pipe.

use std::io::{self, BufRead as _, ErrorKind};
use std::thread;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_util::sync::CancellationToken;

/// Reads standard input in a thread. The receiver gets an element for each line, and `stop` is cancelled at the end.
pub(super) fn follow(stop: &CancellationToken) -> Receiver<()> {
    let (sender, lines) = mpsc::channel(1);
    let of_thread = stop.clone();
    let spawned = thread::Builder::new()
        .name("cuecard-stdin".to_owned())
        .spawn(move || {
            read_to_end(&sender);
            of_thread.cancel();
        });
    if spawned.is_err() {
        // Nobody would see the end.
        stop.cancel();
    }
    lines
}

/// Returns at the end of standard input, or if it can't be read.
fn read_to_end(lines: &Sender<()>) {
    let mut stdin = io::stdin().lock();
    loop {
        let (n_bytes, n_lines) = match stdin.fill_buf() {
            Ok([]) => return,
            Ok(bytes) => {
                let n_lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                (bytes.len(), n_lines)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        stdin.consume(n_bytes);
        for _ in 0..n_lines {
            // Some mocks take no lines.
            let _ = lines.blocking_send(());
        }
    }
}
