//! What a program has drawn on its terminal.

use std::num::NonZeroU16;

use cuecard_timeline::model::TerminalConfig;
use cuecard_timeline::model::keys::KeyModes;
use vt100::{Callbacks, Parser};

use crate::charset::Charset;

/// So many lines above the screen are kept unless the config says otherwise.
const SCROLLBACK: usize = 10_000;
/// No more are kept, whatever it says.
const MAX_SCROLLBACK: usize = 100_000;

/// A screen, and the lines that were scrolled off it.
pub struct Screen {
    parser: Parser<Replies>,
    charset: Charset,
    draws_boxes: bool,
}

/// Answers of the terminal to what the program asked it.
#[derive(Debug, Default)]
struct Replies(Vec<u8>);

impl Callbacks for Replies {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        command: char,
    ) {
        let param = params.first().and_then(|param| param.first()).copied();
        let reply: String = match (first, command, param) {
            // What are you? A VT220 with colours.
            (None, 'c', None | Some(0)) => "\x1b[?62;22c".to_owned(),
            (Some(b'>'), 'c', _) => "\x1b[>1;10;0c".to_owned(),
            // Are you well, and where is the cursor?
            (None, 'n', Some(5)) => "\x1b[0n".to_owned(),
            (None, 'n', Some(6)) => {
                let (row, column) = screen.cursor_position();
                format!("\x1b[{};{}R", row + 1, column + 1)
            }
            // No extended keys.
            (Some(b'?'), 'u', _) => "\x1b[?0u".to_owned(),
            // How large is the text area?
            (None, 't', Some(18)) => {
                let (rows, columns) = screen.size();
                format!("\x1b[8;{rows};{columns}t")
            }
            _ => return,
        };
        self.0.extend_from_slice(reply.as_bytes());
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        let reply = match params {
            [b"10", b"?"] => "\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\",
            [b"11", b"?"] => "\x1b]11;rgb:1a1a/1b1b/1e1e\x1b\\",
            _ => return,
        };
        self.0.extend_from_slice(reply.as_bytes());
    }
}

fn at_least_one(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN)
}

impl Screen {
    /// An empty screen.
    pub fn new(config: &TerminalConfig) -> Self {
        let scrollback = config.scrollback.map_or(SCROLLBACK, |lines| {
            usize::try_from(lines).map_or(MAX_SCROLLBACK, |lines| lines.min(MAX_SCROLLBACK))
        });
        let (rows, columns) = (at_least_one(config.height), at_least_one(config.width));
        Self {
            parser: Parser::new_with_callbacks(rows, columns, scrollback, Replies::default()),
            charset: Charset::default(),
            draws_boxes: config.unicode_box_chars,
        }
    }

    /// Draws what the program has printed; what the terminal answers to it.
    pub fn print(&mut self, bytes: &[u8]) -> Vec<u8> {
        let plain = self.charset.plain(bytes);
        self.parser.process(&plain);
        std::mem::take(&mut self.parser.callbacks_mut().0)
    }

    /// The screen has another size: so many columns and rows.
    pub fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.parser
            .set_size(at_least_one(rows), at_least_one(columns));
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.parser.screen().size();
        (columns.get(), rows.get())
    }

    /// How keys are to be told to the program.
    pub fn key_modes(&self) -> KeyModes {
        let screen = self.parser.screen();
        KeyModes {
            application_cursor: screen.application_cursor(),
            bracketed_paste: screen.bracketed_paste(),
        }
    }

    /// The rows of the screen, without the spaces at their ends.
    pub fn rows(&self) -> Vec<String> {
        let (columns, _) = self.size();
        let rows = self.parser.screen().rows(0, columns);
        rows.map(|row| self.drawn(row.trim_end())).collect()
    }

    /// The text of the screen.
    pub fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// All lines, those above the screen too; what was wrapped is one line again.
    pub fn whole_text(&mut self) -> String {
        let (columns, rows) = self.size();
        let screen = self.parser.screen_mut();
        let mut text = String::new();
        let mut above = screen.scrollback_len();
        loop {
            screen.set_scrollback(above);
            let shown = match above {
                0 => rows,
                above => u16::try_from(above).unwrap_or(u16::MAX).min(rows),
            };
            let lines = screen.rows(0, columns).take(usize::from(shown));
            for (nth, line) in (0..).zip(lines) {
                match screen.row_wrapped(nth) {
                    true => text.push_str(&line),
                    false => {
                        text.push_str(line.trim_end());
                        text.push('\n');
                    }
                }
            }
            if above == 0 {
                break;
            }
            above = above.saturating_sub(usize::from(rows));
        }
        screen.set_scrollback(0);
        self.drawn(&text)
    }

    /// A text with its boxes as the config has them.
    fn drawn(&self, text: &str) -> String {
        match self.draws_boxes {
            true => text.to_owned(),
            false => text.chars().map(plain_box).collect(),
        }
    }

    /// The cells, for who makes a picture of them.
    pub(crate) fn cells(&self) -> &vt100::Screen {
        self.parser.screen()
    }
}

/// The character for a box, drawn with `+`, `-` and `|`.
fn plain_box(character: char) -> char {
    match character {
        '─' | '━' | '┄' | '┅' | '┈' | '┉' | '╌' | '╍' | '═' | '╴' | '╶' | '╸' | '╺' | '╼' | '╾' => {
            '-'
        }
        '│' | '┃' | '┆' | '┇' | '┊' | '┋' | '╎' | '╏' | '║' | '╵' | '╷' | '╹' | '╻' | '╽' | '╿' => {
            '|'
        }
        '\u{2500}'..='\u{257f}' => '+',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(width: u16, height: u16) -> Screen {
        Screen::new(&TerminalConfig {
            width,
            height,
            ..TerminalConfig::default()
        })
    }

    #[test]
    fn lines_that_were_wrapped_and_scrolled_off_are_whole_again() {
        let mut screen = screen(10, 3);
        for nth in 0..20 {
            screen.print(format!("line {nth} and more\r\n").as_bytes());
        }
        let text = screen.whole_text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let wanted: Vec<String> = (0..20).map(|nth| format!("line {nth} and more")).collect();
        assert_eq!(lines, wanted);
        assert_eq!(screen.rows(), ["line 19 an", "d more", ""]);
    }

    #[test]
    fn lines_are_drawn_and_hidden_text_is_not() {
        let mut screen = screen(12, 2);
        screen.print(b"\x1b(0lqk\x1b(B lqk\r\nno \x1b[8msecret\x1b[0m!");
        assert_eq!(screen.rows(), ["┌─┐ lqk", "no       !"]);
    }

    #[test]
    fn questions_are_answered() {
        let mut screen = screen(20, 5);
        assert_eq!(screen.print(b"ab\x1b[6n"), b"\x1b[1;3R");
        assert_eq!(screen.print(b"\x1b[c\x1b[5n"), b"\x1b[?62;22c\x1b[0n");
        assert!(screen.print(b"\x1b]11;?\x07").starts_with(b"\x1b]11;rgb:"));
        assert!(screen.print(b"\x1b[?u plain").ends_with(b"\x1b[?0u"));
    }

    #[test]
    fn wide_characters_the_alternate_screen_and_boxes() {
        let mut screen = Screen::new(&TerminalConfig {
            width: 12,
            height: 2,
            unicode_box_chars: false,
            ..TerminalConfig::default()
        });
        screen.print("日本語 e\u{301}\r\n┌──┐│".as_bytes());
        assert_eq!(screen.rows(), ["日本語 e\u{301}", "+--+|"]);
        screen.print(b"\x1b[?1049h\x1b[Hother");
        assert_eq!(screen.rows()[0], "other");
        screen.print(b"\x1b[?1049l");
        assert_eq!(screen.rows()[1], "+--+|");
        screen.resize((4, 4));
        assert_eq!(screen.size(), (4, 4));
    }
}
