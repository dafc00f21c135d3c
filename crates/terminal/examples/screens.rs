//! How fast what a program prints becomes a screen, and the screen a text and a picture: what `benches/timeline.py` runs.
//!
//! `screens MEGABYTES` prints one line of JSON.

use std::process::ExitCode;
use std::time::Instant;

use cuecard_terminal::{Screen, png, svg};
use cuecard_timeline::model::{TerminalConfig, TerminalTheme};

/// What programs print is read in pieces of this size.
const PIECE: usize = 4096;
const REPEATS: u32 = 200;

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a program of its own"
)]
fn main() -> ExitCode {
    let megabytes = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(megabytes) = megabytes.filter(|count: &usize| *count > 0) else {
        eprintln!("usage: screens MEGABYTES");
        return ExitCode::from(3);
    };
    let printed = printed(megabytes << 20);
    let mut screen = Screen::new(&TerminalConfig::default());
    let began = Instant::now();
    for piece in printed.chunks(PIECE) {
        screen.print(piece);
    }
    let parsing = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let length: usize = (0..REPEATS).map(|_| screen.text().len()).sum();
    let text = began.elapsed() / REPEATS;
    let began = Instant::now();
    let drawn = svg(&screen.snapshot(), TerminalTheme::default());
    let drawing = began.elapsed();
    let began = Instant::now();
    let Ok(picture) = png(&drawn) else {
        eprintln!("the screen can't be drawn");
        return ExitCode::FAILURE;
    };
    let rendering = began.elapsed();
    println!(
        "{{\"parsed_mb_per_second\": {:.1}, \"text_us\": {:.1}, \"text_bytes\": {}, \"svg_ms\": {:.2}, \"png_ms\": {:.1}, \
         \"png_bytes\": {}}}",
        f64::from(u32::try_from(printed.len() >> 20).unwrap_or(u32::MAX)) / parsing,
        text.as_secs_f64() * 1e6,
        length / usize::try_from(REPEATS).unwrap_or(1),
        drawing.as_secs_f64() * 1e3,
        rendering.as_secs_f64() * 1e3,
        picture.len(),
    );
    ExitCode::SUCCESS
}

/// What an agent prints in a long session: coloured text, wide characters, lines that are drawn again, and a full screen
/// now and then.
fn printed(length: usize) -> Vec<u8> {
    let mut printed = Vec::with_capacity(length + PIECE);
    let mut number = 0;
    while printed.len() < length {
        number += 1;
        let line = match number % 8 {
            0 => format!(
                "\x1b[{};1H\x1b[2K\x1b[7m status {number} \x1b[0m\r\n",
                number % 24 + 1
            ),
            1 | 5 => format!(
                "\x1b[38;5;{}m● runCmd\x1b[0m cargo test --workspace {number}\r\n",
                number % 256
            ),
            2 => "  ⎿ 日本語のテスト 結果は良好です — ok\r\n".to_owned(),
            3 => "\r\x1b[2K⠋ thinking\r\x1b[2K⠙ thinking\r\x1b[2K⠹ thinking".to_owned(),
            4 if number % 400 == 4 => "\x1b[2J\x1b[H".to_owned(),
            _ => format!(
                "test case_{number} of the whole suite in this workspace ... \x1b[32mok\x1b[0m\r\n"
            ),
        };
        printed.extend_from_slice(line.as_bytes());
    }
    printed.truncate(length);
    printed
}
