//! What the emulator does not know: line drawing (`ESC ( 0`) becomes the characters that it stands for, and hidden text
//! (SGR 8) becomes spaces.

use unicode_width::UnicodeWidthChar;

/// The special graphics of the VT100, from `` ` `` to `~`.
const GRAPHICS: [char; 31] = [
    '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼',
    '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

/// Where in the output of a program it is.
#[derive(Debug, Default)]
enum State {
    #[default]
    Text,
    Escape,
    /// Within a sequence that names a character set, one of the two or another, or something like it.
    Set(Option<usize>),
    Csi,
    /// A title or the like, up to its end.
    Command,
}

/// How text is printed.
#[derive(Debug, Clone, Copy, Default)]
struct Mode {
    /// Which of the two character sets draw lines.
    draws: [bool; 2],
    /// Which of them is used.
    set: usize,
    is_hidden: bool,
}

/// Goes over the output of a program before the emulator does.
#[derive(Debug, Default)]
pub(crate) struct Charset {
    state: State,
    mode: Mode,
    saved: Mode,
    /// The parameters of a sequence so far.
    params: Vec<u8>,
    /// The bytes of a hidden character that is not complete yet.
    partial: Vec<u8>,
}

impl Charset {
    /// The output as the emulator understands it.
    pub(crate) fn plain(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            let draws = self.mode.draws[self.mode.set];
            match (&self.state, byte) {
                (_, 0x1b) => self.state = State::Escape,
                (State::Text, 0x0e | 0x0f) => {
                    self.mode.set = usize::from(byte == 0x0e);
                    continue;
                }
                (State::Text, b'`'..=b'~') if draws && !self.mode.is_hidden => {
                    let drawn = GRAPHICS[usize::from(byte - b'`')];
                    plain.extend_from_slice(drawn.encode_utf8(&mut [0; 4]).as_bytes());
                    continue;
                }
                (State::Text, b' '..=b'~') if self.mode.is_hidden => {
                    plain.push(b' ');
                    continue;
                }
                (State::Text, 0x80..) if self.mode.is_hidden => {
                    self.hide(byte, &mut plain);
                    continue;
                }
                (State::Text, _) => {}
                (State::Escape, b'[') => {
                    self.params.clear();
                    self.state = State::Csi;
                }
                (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => self.state = State::Command,
                (State::Escape, b'(') => self.state = State::Set(Some(0)),
                (State::Escape, b')') => self.state = State::Set(Some(1)),
                (State::Escape, b' '..=b'/') => self.state = State::Set(None),
                (State::Escape, _) => {
                    match byte {
                        b'7' => self.saved = self.mode,
                        b'8' => self.mode = self.saved,
                        b'c' => self.mode = Mode::default(),
                        _ => {}
                    }
                    self.state = State::Text;
                }
                (State::Set(set), _) => {
                    if let Some(set) = set {
                        self.mode.draws[*set] = byte == b'0';
                    }
                    self.state = State::Text;
                }
                (State::Csi, b'@'..=b'~') => {
                    if byte == b'm' {
                        self.restyle();
                    }
                    self.state = State::Text;
                }
                (State::Csi, _) if self.params.len() < 256 => self.params.push(byte),
                (State::Csi, _) => {}
                (State::Command, 0x07) => self.state = State::Text,
                (State::Command, _) => {}
            }
            plain.push(byte);
        }
        plain
    }

    /// Whether text is hidden from here on.
    fn restyle(&mut self) {
        let params = String::from_utf8_lossy(&self.params).into_owned();
        let mut params = params.split(';');
        while let Some(param) = params.next() {
            match param {
                "" | "0" | "28" => self.mode.is_hidden = false,
                "8" => self.mode.is_hidden = true,
                // The numbers of a colour.
                "38" | "48" | "58" => {
                    let n_numbers = if params.next() == Some("5") { 1 } else { 3 };
                    params.by_ref().take(n_numbers).for_each(drop);
                }
                _ => {}
            }
        }
    }

    /// Spaces for a hidden character beyond ASCII, once it is complete.
    fn hide(&mut self, byte: u8, plain: &mut Vec<u8>) {
        self.partial.push(byte);
        let width = match std::str::from_utf8(&self.partial) {
            Ok(text) => text
                .chars()
                .next()
                .and_then(UnicodeWidthChar::width)
                .unwrap_or(0),
            Err(error) if error.error_len().is_none() => return,
            Err(_) => 1,
        };
        plain.extend(std::iter::repeat_n(b' ', width));
        self.partial.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(pieces: &[&[u8]]) -> String {
        let mut charset = Charset::default();
        let plain = pieces.iter().flat_map(|piece| charset.plain(piece));
        String::from_utf8(plain.collect()).unwrap()
    }

    #[test]
    fn lines_are_drawn_in_the_character_set_for_them() {
        assert_eq!(plain(&[b"\x1b(0lqk\x1b(Blq"]), "\x1b(0┌─┐\x1b(Blq");
        assert_eq!(plain(&[b"\x1b)0a\x0ex\x0fx"]), "\x1b)0a│x");
        // Nothing of a sequence is a line, wherever the output is cut.
        let output = b"\x1b(0\x1b[1mq\x1b]0;title\x07q\x1b[0m\x1b7\x1b(Bq\x1b8q";
        let pieces: Vec<&[u8]> = output.chunks(1).collect();
        let wanted = "\x1b(0\x1b[1m─\x1b]0;title\x07─\x1b[0m\x1b7\x1b(Bq\x1b8─";
        assert_eq!(plain(&pieces), wanted);
    }

    #[test]
    fn hidden_text_is_spaces() {
        assert_eq!(plain(&[b"a\x1b[8mb\x1b[28mc"]), "a\x1b[8m \x1b[28mc");
        assert_eq!(plain(&[b"\x1b[8m\x1b#8\x1b%Gb"]), "\x1b[8m\x1b#8\x1b%G ");
        let output = "\x1b[31;8m日é\u{301}\n\x1b[mx".as_bytes();
        let pieces: Vec<&[u8]> = output.chunks(1).collect();
        assert_eq!(plain(&pieces), "\x1b[31;8m   \n\x1b[mx");
        assert_eq!(
            plain(&[b"\x1b[38;5;8mb\x1b[48;2;8;8;8mc"]),
            "\x1b[38;5;8mb\x1b[48;2;8;8;8mc"
        );
    }
}
