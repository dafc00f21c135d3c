//! How the cells of a screen look, as text: a letter for each look, and what each letter means.

use std::fmt::Write as _;

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

use crate::screen::Snapshot;

/// The names of the first eight colours.
const COLOURS: [&str; 8] = [
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
];

/// The looks of the cells, row by row as on the screen, then the meaning of each letter and where the cursor is. Cells without
/// any look are dots, and those at the end of a row are left out.
pub fn style_text(snapshot: &Snapshot) -> String {
    let mut looks: Vec<String> = Vec::new();
    let mut text = String::new();
    for row in snapshot.rows() {
        let cells = row.iter().map(|cell| {
            let look = look(cell);
            if look.is_empty() {
                return '.';
            }
            let known = looks.iter().position(|known| *known == look);
            let idx = known.unwrap_or_else(|| {
                looks.push(look);
                looks.len() - 1
            });
            letter(idx)
        });
        let cells: String = cells.collect();
        text.push_str(cells.trim_end_matches('.'));
        text.push('\n');
    }
    for (idx, look) in looks.iter().enumerate() {
        let _ = writeln!(text, "{}: {look}", letter(idx));
    }
    match snapshot.is_cursor_visible {
        false => text.push_str("cursor: hidden\n"),
        true => {
            let (column, row) = snapshot.cursor;
            let _ = writeln!(text, "cursor: row {}, column {}", row + 1, column + 1);
        }
    }
    text
}

/// The letter of a look; there are few, and the last one stands for all beyond.
fn letter(idx: usize) -> char {
    let letters = ('a'..='z').chain('A'..='Z');
    letters
        .chain(std::iter::repeat('#'))
        .nth(idx)
        .unwrap_or('#')
}

fn look(cell: &Cell) -> String {
    let mut words: Vec<String> = Vec::new();
    for (modifier, word) in [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::ITALIC, "italic"),
        (Modifier::UNDERLINED, "underline"),
        (Modifier::REVERSED, "reverse"),
    ] {
        words.extend(cell.modifier.contains(modifier).then(|| word.to_owned()));
    }
    words.extend(colour(cell.fg));
    words.extend(colour(cell.bg).map(|colour| format!("on {colour}")));
    words.join(" ")
}

/// The name of a colour; nothing for the one of the terminal.
fn colour(colour: Color) -> Option<String> {
    Some(match colour {
        Color::Indexed(idx @ 0..=7) => COLOURS[usize::from(idx)].to_owned(),
        Color::Indexed(idx @ 8..=15) => format!("bright {}", COLOURS[usize::from(idx - 8)]),
        Color::Indexed(idx) => format!("colour {idx}"),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Screen;
    use cuecard_timeline::model::TerminalConfig;

    #[test]
    fn each_look_has_a_letter_and_the_cursor_its_place() {
        let mut screen = Screen::new(&TerminalConfig {
            width: 12,
            height: 3,
            ..TerminalConfig::default()
        });
        screen.print(b"a \x1b[1;31mred\x1b[0m \x1b[7mx\x1b[0m\r\n\x1b[31;1mr\x1b[0m\x1b[48;5;200my\x1b[38;2;1;2;3mz");
        let wanted = "..aaa.b\nacd\n\na: bold red\nb: reverse\nc: on colour 200\nd: #010203 on colour 200\ncursor: row 2, column 4\n";
        assert_eq!(style_text(&screen.snapshot()), wanted);
        screen.print(b"\x1b[?25l");
        assert!(style_text(&screen.snapshot()).ends_with("cursor: hidden\n"));
    }
}
