//! What a program has drawn on its terminal.

use std::sync::mpsc;
use std::time::Duration;

use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::Dimensions as _;
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{self, Handler as _, NamedColor, Processor, Rgb, Timeout};
use cuecard_timeline::model::TerminalConfig;
use cuecard_timeline::model::keys::KeyModes;
use memchr::memchr2_iter;
use ratatui::buffer::{self, Buffer};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

/// So many lines above the screen are kept unless the config says otherwise.
const SCROLLBACK: usize = 10_000;
/// No more are kept, whatever it says.
const MAX_SCROLLBACK: usize = 100_000;
/// Clears the screen. The emulator alone would keep what stood there above the screen; xterm doesn't.
const CLEAR: &[u8] = b"\x1b[2J";
/// U+FE0F: the character before it is an emoji, which can make it wide. The emulator alone would leave it narrow.
const EMOJI: &[u8] = b"\xef\xb8\x8f";
/// The looks that a cell can have.
const MODIFIERS: [(Flags, Modifier); 5] = [
    (Flags::BOLD, Modifier::BOLD),
    (Flags::DIM, Modifier::DIM),
    (Flags::ITALIC, Modifier::ITALIC),
    (Flags::ALL_UNDERLINES, Modifier::UNDERLINED),
    (Flags::INVERSE, Modifier::REVERSED),
];

/// A screen, and the lines that were scrolled off it.
pub struct Screen {
    term: Term<Replies>,
    parser: Processor<Unbatched>,
    replies: mpsc::Receiver<String>,
    /// The start of what may become [`CLEAR`] or [`EMOJI`].
    partial: Vec<u8>,
    draws_boxes: bool,
}

/// What stood on a screen.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The second cell of a wide character has an empty symbol.
    cells: Buffer,
    /// Column and row.
    pub(crate) cursor: (u16, u16),
    pub(crate) is_cursor_visible: bool,
}

impl Snapshot {
    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        (self.cells.area.width, self.cells.area.height)
    }

    /// The cells of each row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[buffer::Cell]> {
        self.cells.content.chunks(self.cells.area.width.into())
    }
}

/// Answers of the terminal to what the program asked it.
struct Replies(mpsc::Sender<String>);

impl EventListener for Replies {
    fn send_event(&self, event: Event) {
        const TEXT: usize = NamedColor::Foreground as usize;
        const BACKGROUND: usize = NamedColor::Background as usize;
        let rgb = |r, g, b| Rgb { r, g, b };
        let reply = match event {
            Event::PtyWrite(reply) => reply,
            Event::ColorRequest(TEXT, reply) => reply(rgb(0xd0, 0xd0, 0xd0)),
            Event::ColorRequest(BACKGROUND, reply) => reply(rgb(0x1a, 0x1b, 0x1e)),
            _ => return,
        };
        // The receiver lives as long.
        let _ = self.0.send(reply);
    }
}

/// Draws at once also what a program wants to appear together (mode 2026).
#[derive(Default)]
struct Unbatched;

impl Timeout for Unbatched {
    fn set_timeout(&mut self, _: Duration) {}
    fn clear_timeout(&mut self) {}
    fn pending_timeout(&self) -> bool {
        false
    }
}

/// The emulator needs room for a wide character.
fn term_size(columns: u16, rows: u16) -> TermSize {
    TermSize::new(columns.max(2).into(), rows.max(1).into())
}

impl Screen {
    /// An empty screen.
    pub fn new(config: &TerminalConfig) -> Self {
        let scrollback = config.scrollback.map_or(SCROLLBACK, |lines| {
            usize::try_from(lines).map_or(MAX_SCROLLBACK, |lines| lines.min(MAX_SCROLLBACK))
        });
        let term_config = Config {
            scrolling_history: scrollback,
            ..Config::default()
        };
        let size = term_size(config.width, config.height);
        let (sender, replies) = mpsc::channel();
        Self {
            term: Term::new(term_config, &size, Replies(sender)),
            parser: Processor::new(),
            replies,
            partial: Vec::new(),
            draws_boxes: config.rendering.unicode_box_chars,
        }
    }

    /// Draws what the program has printed; what the terminal answers to it.
    pub fn print(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut printed = std::mem::take(&mut self.partial);
        printed.extend_from_slice(bytes);
        let is_start = |bytes: &[u8]| {
            let mut sequences = [CLEAR, EMOJI].into_iter();
            sequences.any(|whole| bytes.len() < whole.len() && whole.starts_with(bytes))
        };
        let last = printed.len().saturating_sub(CLEAR.len() - 1)..printed.len();
        let complete = last.clone().find(|&at| is_start(&printed[at..]));
        self.partial = printed.split_off(complete.unwrap_or(last.end));
        let mut drawn = 0;
        for at in memchr2_iter(CLEAR[0], EMOJI[0], &printed) {
            let rest = &printed[at..];
            if rest.starts_with(CLEAR) {
                self.parser.advance(&mut self.term, &printed[drawn..at]);
                // Ends what the sequence would have ended.
                self.parser.advance(&mut self.term, b"\x1b[J");
                self.term.grid_mut().reset_region(..);
                drawn = at + CLEAR.len();
            } else if rest.starts_with(EMOJI) {
                let end = at + EMOJI.len();
                self.parser.advance(&mut self.term, &printed[drawn..end]);
                self.widen();
                drawn = end;
            }
        }
        self.parser.advance(&mut self.term, &printed[drawn..]);
        self.replies.try_iter().collect::<String>().into_bytes()
    }

    /// Makes the character before the cursor wide if it is an emoji and there is room.
    fn widen(&mut self) {
        let cursor = &self.term.grid().cursor;
        let Point { line, column } = cursor.point;
        if cursor.input_needs_wrap || column == 0 {
            return;
        }
        let cell = &self.term.grid()[line][column - 1];
        let emoji = String::from_iter([cell.c, '\u{fe0f}']);
        if cell.zerowidth() != Some(&['\u{fe0f}']) || emoji.width() != 2 {
            return;
        }
        self.term.input(' ');
        let row = &mut self.term.grid_mut()[line];
        row[column - 1].flags.insert(Flags::WIDE_CHAR);
        row[column].flags.insert(Flags::WIDE_CHAR_SPACER);
    }

    /// The screen has another size: so many columns and rows.
    pub fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.term.resize(term_size(columns, rows));
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        (
            number(self.term.columns()),
            number(self.term.screen_lines()),
        )
    }

    /// How keys are to be told to the program.
    pub fn key_modes(&self) -> KeyModes {
        let mode = self.term.mode();
        KeyModes {
            application_cursor: mode.contains(TermMode::APP_CURSOR),
            bracketed_paste: mode.contains(TermMode::BRACKETED_PASTE),
        }
    }

    /// The rows of the screen, without the spaces at their ends.
    pub fn rows(&self) -> Vec<String> {
        let rows = (0..self.term.screen_lines()).map(|row| {
            let mut text = String::new();
            self.push_line(Line::from(row), &mut text);
            self.drawn(text.trim_end())
        });
        rows.collect()
    }

    /// The text of the screen.
    pub fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// All lines, those above the screen too; what was wrapped is one line again.
    pub fn whole_text(&self) -> String {
        let mut text = String::new();
        let mut line = String::new();
        for row in self.term.topmost_line().0..=self.term.bottommost_line().0 {
            if !self.push_line(Line(row), &mut line) {
                text.push_str(line.trim_end());
                text.push('\n');
                line.clear();
            }
        }
        text.push_str(&line);
        self.drawn(&text)
    }

    /// Adds the text of a line; whether it goes on in the next.
    fn push_line(&self, line: Line, text: &mut String) -> bool {
        let row = &self.term.grid()[line];
        let cells = &row[Column(0)..];
        cells.iter().for_each(|cell| push_cell(cell, text));
        let last = cells.last();
        last.is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE))
    }

    /// A text with its boxes as the config has them.
    fn drawn(&self, text: &str) -> String {
        match self.draws_boxes {
            true => text.to_owned(),
            false => text.chars().map(plain_box).collect(),
        }
    }

    /// What stands on it now.
    pub fn snapshot(&self) -> Snapshot {
        let (columns, rows) = self.size();
        let grid = self.term.grid();
        let mut cells = Buffer::empty(Rect::new(0, 0, columns, rows));
        let mut text = String::new();
        for (target, shown) in cells.content.iter_mut().zip(grid.display_iter()) {
            let shown = shown.cell;
            text.clear();
            push_cell(shown, &mut text);
            target.set_symbol(&text);
            target.fg = colour(shown.fg);
            target.bg = colour(shown.bg);
            for (flags, modifier) in MODIFIERS {
                target.modifier.set(modifier, shown.flags.intersects(flags));
            }
        }
        let cursor = grid.cursor.point;
        Snapshot {
            cells,
            cursor: (number(cursor.column.0), number(cursor.line.0)),
            is_cursor_visible: self.term.mode().contains(TermMode::SHOW_CURSOR),
        }
    }
}

/// A number of columns or rows, of which there are no more than a `u16` holds.
fn number<T: TryInto<u16>>(number: T) -> u16 {
    number.try_into().unwrap_or(u16::MAX)
}

/// Adds what a cell shows: nothing for the second half of a wide character, and for the gap before one that was wrapped.
fn push_cell(cell: &Cell, text: &mut String) {
    let has = |flags| cell.flags.intersects(flags);
    match cell.c {
        _ if has(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) => {}
        _ if has(Flags::HIDDEN) => text.push_str(match has(Flags::WIDE_CHAR) {
            true => "  ",
            false => " ",
        }),
        // The emulator remembers where tabs were.
        '\t' => text.push(' '),
        character => {
            text.push(character);
            text.extend(cell.zerowidth().unwrap_or_default());
        }
    }
}

fn colour(colour: ansi::Color) -> Color {
    match colour {
        ansi::Color::Spec(Rgb { r, g, b }) => Color::Rgb(r, g, b),
        ansi::Color::Indexed(idx) => Color::Indexed(idx),
        // The others are those of the terminal.
        ansi::Color::Named(name) => {
            u8::try_from(name as usize).map_or(Color::Reset, Color::Indexed)
        }
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
    use cuecard_timeline::model::Rendering;

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
        screen.print("\x1b(0lqk\x1b(B lqk\r\nno \x1b[8msecr日\x1b[0m!".as_bytes());
        assert_eq!(screen.rows(), ["┌─┐ lqk", "no       !"]);
    }

    #[test]
    fn questions_are_answered() {
        let mut screen = screen(20, 5);
        assert_eq!(screen.print(b"ab\x1b[6n"), b"\x1b[1;3R");
        assert_eq!(screen.print(b"\x1b[c\x1b[5n"), b"\x1b[?6c\x1b[0n");
        assert!(screen.print(b"\x1b]11;?\x07").starts_with(b"\x1b]11;rgb:"));
        // No extended keys.
        assert_eq!(screen.print(b"\x1b[?u\x1b[18t"), b"\x1b[8;5;20t");
    }

    #[test]
    fn wide_characters_the_alternate_screen_and_boxes() {
        let mut screen = Screen::new(&TerminalConfig {
            width: 12,
            height: 2,
            rendering: Rendering {
                unicode_box_chars: false,
                ..Rendering::default()
            },
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

    #[test]
    fn a_wide_character_that_did_not_fit_goes_on_in_the_same_line() {
        let mut screen = screen(10, 3);
        screen.print("a12345678日本\r\nend".as_bytes());
        assert_eq!(screen.rows(), ["a12345678", "日本", "end"]);
        assert_eq!(screen.whole_text(), "a12345678日本\nend\n");
    }

    #[test]
    fn lines_are_not_wrapped_without_autowrap() {
        let mut screen = screen(10, 3);
        screen.print(b"\x1b[?7l0123456789ABC\r\n\x1b[?7h0123456789ABC");
        assert_eq!(screen.rows(), ["012345678C", "0123456789", "ABC"]);
    }

    #[test]
    fn the_cursor_is_saved_and_restored() {
        let mut screen = screen(10, 2);
        screen.print(b"ab\x1b[sxyz\r\n\x1b[uQ \x1b7!\x1b8?");
        assert_eq!(screen.rows(), ["abQ ?", ""]);
    }

    #[test]
    fn text_is_inserted_in_insert_mode() {
        let mut screen = screen(10, 2);
        screen.print(b"abc\x1b[4h\rXY\x1b[4lZ");
        assert_eq!(screen.rows(), ["XYZbc", ""]);
    }

    #[test]
    fn lines_are_wrapped_anew_at_another_width() {
        let mut screen = screen(10, 3);
        screen.print(b"0123456789ABCDEF\r\nend");
        screen.resize((20, 3));
        assert_eq!(screen.rows(), ["0123456789ABCDEF", "end", ""]);
        screen.resize((8, 3));
        assert_eq!(screen.rows(), ["89ABCDEF", "end", ""]);
        assert_eq!(screen.whole_text(), "0123456789ABCDEF\nend\n\n");
    }

    #[test]
    fn a_screen_that_is_cleared_is_not_above_it() {
        let mut screen = screen(10, 2);
        for byte in b"old\r\nold\x1b[2J\x1b[Hnew\x1b]0;title\x1b[2J\rx" {
            screen.print(&[*byte]);
        }
        assert_eq!(screen.whole_text(), "x\n\n");
    }

    #[test]
    fn a_character_that_becomes_an_emoji_is_wide() {
        let mut screen = screen(10, 2);
        for byte in "⚠️ \x1b[4GX\r\n1\u{fe0f}\u{20e3}|".bytes() {
            screen.print(&[byte]);
        }
        assert_eq!(screen.rows(), ["⚠️ X", "1\u{fe0f}\u{20e3}|"]);
        assert_eq!(screen.print(b"\x1b[6n"), b"\x1b[2;4R");
    }
}
