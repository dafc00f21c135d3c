//! Keys that are typed into a terminal: `<Enter>`, `<C-S-Left>`, `<Paste:…>`, and what a terminal makes of them.

use std::ops::Range;

/// What is typed, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keystroke {
    /// Text as it stands.
    Text(String),
    /// A key with a name, or a character with modifiers.
    Key(Key, Modifiers),
    /// `<Paste:…>`.
    Paste(String),
    /// `<Wait:…>`: nothing is typed for so long, in milliseconds.
    Wait(u64),
    /// `<Resize:100x30>`: the terminal has so many columns and rows from here on.
    Resize(u16, u16),
}

/// The most columns and rows of a terminal.
pub const MAX_SIZE: u16 = 1000;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// One that makes a byte.
    Byte(u8),
    /// One that makes `ESC [ letter`.
    Letter(u8),
    /// One that makes `ESC O letter`.
    Function(u8),
    /// One that makes `ESC [ number ~`.
    Number(u8),
    /// A character.
    Character(char),
}

/// The modifiers that are held with a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// `S-`.
    pub shift: bool,
    /// `M-`.
    pub meta: bool,
    /// `C-`.
    pub control: bool,
}

/// What the program in a terminal has asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyModes {
    /// Cursor keys are told in another way.
    pub application_cursor: bool,
    /// Pasted text is marked as such.
    pub bracketed_paste: bool,
}

/// The keys with names.
pub const KEYS: &[(&str, Key)] = &[
    ("Enter", Key::Byte(b'\r')),
    ("Tab", Key::Byte(b'\t')),
    ("Esc", Key::Byte(0x1b)),
    ("Space", Key::Byte(b' ')),
    ("BS", Key::Byte(0x7f)),
    ("Del", Key::Number(3)),
    ("Up", Key::Letter(b'A')),
    ("Down", Key::Letter(b'B')),
    ("Left", Key::Letter(b'D')),
    ("Right", Key::Letter(b'C')),
    ("Home", Key::Letter(b'H')),
    ("End", Key::Letter(b'F')),
    ("PageUp", Key::Number(5)),
    ("PageDown", Key::Number(6)),
    ("Ins", Key::Number(2)),
    ("F1", Key::Function(b'P')),
    ("F2", Key::Function(b'Q')),
    ("F3", Key::Function(b'R')),
    ("F4", Key::Function(b'S')),
    ("F5", Key::Number(15)),
    ("F6", Key::Number(17)),
    ("F7", Key::Number(18)),
    ("F8", Key::Number(19)),
    ("F9", Key::Number(20)),
    ("F10", Key::Number(21)),
    ("F11", Key::Number(23)),
    ("F12", Key::Number(24)),
];

/// Reads text with tokens; `<<` is the character `<`.
///
/// # Errors
/// Where tokens stand that are none.
pub fn read_keys(text: &str) -> Result<Vec<Keystroke>, Vec<Range<usize>>> {
    let (mut keys, mut unknown) = (Vec::new(), Vec::new());
    let mut plain = String::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        plain.push_str(&text[at..start]);
        if text[start + 1..].starts_with('<') {
            plain.push('<');
            at = start + 2;
            continue;
        }
        let Some(end) = text[start..].find('>').map(|found| start + found + 1) else {
            unknown.push(start..text.len());
            at = text.len();
            break;
        };
        at = end;
        match token(&text[start + 1..end - 1]) {
            Some(key) => {
                if !plain.is_empty() {
                    keys.push(Keystroke::Text(std::mem::take(&mut plain)));
                }
                keys.push(key);
            }
            None => unknown.push(start..end),
        }
    }
    plain.push_str(&text[at..]);
    if !plain.is_empty() {
        keys.push(Keystroke::Text(plain));
    }
    match unknown.is_empty() {
        true => Ok(keys),
        false => Err(unknown),
    }
}

fn token(name: &str) -> Option<Keystroke> {
    if let Some((word, value)) = name.split_once(':') {
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        return match word.to_ascii_lowercase().as_str() {
            "paste" => Some(Keystroke::Paste(value.to_owned())),
            "wait" if is_number => value.parse().ok().map(Keystroke::Wait),
            "resize" => {
                let (columns, rows) = value.split_once(['x', 'X'])?;
                let size = |number: &str| {
                    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
                    let size = number.parse().ok().filter(|_| is_number);
                    size.filter(|size| (1..=MAX_SIZE).contains(size))
                };
                Some(Keystroke::Resize(size(columns)?, size(rows)?))
            }
            _ => None,
        };
    }
    let (modifiers, key) = without_modifiers(name);
    let named = KEYS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(key))
        .map(|(_, key)| *key);
    let mut characters = key.chars();
    let key = match (named, characters.next(), characters.next()) {
        (Some(key), ..) => key,
        (None, Some(character), None) if modifiers != Modifiers::default() => {
            Key::Character(character)
        }
        _ => return None,
    };
    Some(Keystroke::Key(key, modifiers))
}

/// A key without `C-`, `M-` and `S-`.
pub(crate) fn without_modifiers(name: &str) -> (Modifiers, &str) {
    let mut modifiers = Modifiers::default();
    let mut rest = name;
    while let Some((modifier, after)) = rest
        .split_at_checked(2)
        .filter(|(_, after)| !after.is_empty())
    {
        match modifier {
            "C-" | "c-" => modifiers.control = true,
            "M-" | "m-" => modifiers.meta = true,
            "S-" | "s-" => modifiers.shift = true,
            _ => break,
        }
        rest = after;
    }
    (modifiers, rest)
}

impl Keystroke {
    /// What a terminal sends for it.
    pub fn bytes(&self, modes: KeyModes) -> Vec<u8> {
        match self {
            Self::Text(text) => text_bytes(text, modes),
            Self::Paste(text) => paste_bytes(text, modes),
            Self::Wait(_) | Self::Resize(..) => Vec::new(),
            Self::Key(key, modifiers) => key.bytes(*modifiers, modes),
        }
    }
}

/// What is sent for text that is typed: as a paste if it has line ends and the program wants to know.
pub fn text_bytes(text: &str, modes: KeyModes) -> Vec<u8> {
    match modes.bracketed_paste && text.contains('\n') {
        true => paste_bytes(text, modes),
        false => text.replace('\n', "\r").into_bytes(),
    }
}

fn paste_bytes(text: &str, modes: KeyModes) -> Vec<u8> {
    match modes.bracketed_paste {
        true => format!("\x1b[200~{text}\x1b[201~").into_bytes(),
        false => text.replace('\n', "\r").into_bytes(),
    }
}

impl Key {
    fn bytes(self, modifiers: Modifiers, modes: KeyModes) -> Vec<u8> {
        let Modifiers {
            shift,
            meta,
            control,
        } = modifiers;
        let code = 1 + u8::from(shift) + 2 * u8::from(meta) + 4 * u8::from(control);
        match self {
            Self::Byte(b'\t') if shift => b"\x1b[Z".to_vec(),
            Self::Byte(b' ') if control => vec![0],
            Self::Byte(byte) => with_meta(meta, &[byte]),
            Self::Letter(letter) if code > 1 => {
                format!("\x1b[1;{code}{}", char::from(letter)).into()
            }
            Self::Letter(letter) if modes.application_cursor => vec![0x1b, b'O', letter],
            Self::Letter(letter) => vec![0x1b, b'[', letter],
            Self::Function(letter) if code > 1 => {
                format!("\x1b[1;{code}{}", char::from(letter)).into()
            }
            Self::Function(letter) => vec![0x1b, b'O', letter],
            Self::Number(number) if code > 1 => format!("\x1b[{number};{code}~").into(),
            Self::Number(number) => format!("\x1b[{number}~").into(),
            Self::Character(character) => {
                let upper = character.to_ascii_uppercase();
                match (control, upper) {
                    (true, '@'..='_') => with_meta(meta, &[upper as u8 & 0x1f]),
                    (true, '?') => with_meta(meta, &[0x7f]),
                    (_, _) if shift => {
                        with_meta(meta, character.to_uppercase().to_string().as_bytes())
                    }
                    _ => with_meta(meta, character.to_string().as_bytes()),
                }
            }
        }
    }
}

fn with_meta(meta: bool, bytes: &[u8]) -> Vec<u8> {
    match meta {
        true => [b"\x1b", bytes].concat(),
        false => bytes.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(text: &str) -> Vec<Range<usize>> {
        read_keys(text).err().unwrap_or_default()
    }

    #[test]
    fn tokens_that_name_no_key_are_found() {
        for text in [
            "plain",
            "<Enter><tab>",
            "<C-c><M-x><C-S-Left><S-Tab>",
            "<Paste:a b><Wait:200>",
            "<Resize:100x30><resize:1X1000>",
            "a << b",
            "<<Entr>",
            "<F12>",
            "<C-->",
        ] {
            assert!(unknown(text).is_empty(), "{text}");
        }
        for (text, wrong) in [
            ("<Entr>", "<Entr>"),
            ("a<Wait:x>b", "<Wait:x>"),
            ("é<", "<"),
            ("<C-Foo>", "<C-Foo>"),
            ("<x>", "<x>"),
            ("<>", "<>"),
            ("<Wait:>", "<Wait:>"),
            ("<Resize:100>", "<Resize:100>"),
            ("<Resize:0x1>", "<Resize:0x1>"),
            ("<Resize:1001x1>", "<Resize:1001x1>"),
            ("<Resize:+1x1>", "<Resize:+1x1>"),
        ] {
            let found = unknown(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(&text[found[0].clone()], wrong);
        }
    }

    /// What is sent, as xterm sends it.
    fn sent(text: &str, modes: KeyModes) -> String {
        let keys = read_keys(text).expect("keys");
        let bytes: Vec<u8> = keys.iter().flat_map(|key| key.bytes(modes)).collect();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn keys_are_sent_as_terminals_send_them() {
        for (text, wanted) in [
            ("ls -l<Enter>", "ls -l\r"),
            ("a\nb", "a\rb"),
            ("<<a>>", "<a>>"),
            ("<C-c>", "\x03"),
            ("<c-[><C-?><C-Space>", "\x1b\x7f\0"),
            ("<M-x><C-M-a>", "\x1bx\x1b\x01"),
            ("<S-a>", "A"),
            ("<Tab><S-Tab><BS><Del>", "\t\x1b[Z\x7f\x1b[3~"),
            (
                "<Up><C-S-Left><S-F1><F5>",
                "\x1b[A\x1b[1;6D\x1b[1;2P\x1b[15~",
            ),
            ("<Home><PageDown><M-Enter>", "\x1b[H\x1b[6~\x1b\r"),
            ("<Paste:a b><Wait:200>", "a b"),
        ] {
            assert_eq!(sent(text, KeyModes::default()), wanted, "{text}");
        }
        let modes = KeyModes {
            application_cursor: true,
            bracketed_paste: true,
        };
        assert_eq!(sent("<Up><Home><S-Up>", modes), "\x1bOA\x1bOH\x1b[1;2A");
        assert_eq!(sent("a\nb<Enter>", modes), "\x1b[200~a\nb\x1b[201~\r");
        assert_eq!(sent("<Paste:x>", modes), "\x1b[200~x\x1b[201~");
    }
}
