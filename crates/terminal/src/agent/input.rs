//! What the user types to the agent: lines from a pipe, or keys of a terminal.

use std::io::{self, Read as _};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use tokio::sync::{mpsc, watch};

const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";
/// What cancels a turn: Ctrl-C, or Escape by itself.
const INTERRUPT: u8 = 3;
const ESCAPE: u8 = 27;
/// What ends the input: Ctrl-D.
const END: u8 = 4;
/// What deletes the line, and its last word: Ctrl-U and Ctrl-W.
const KILL: u8 = 21;
const ERASE_WORD: u8 = 23;

/// The standard input.
pub(super) struct Input {
    bytes: mpsc::Receiver<Vec<u8>>,
    /// What was read and not used.
    rest: Vec<u8>,
    pub(super) is_over: bool,
    pub(super) is_terminal: bool,
    /// How the terminal was before.
    saved: Option<Termios>,
    /// How many Ctrl-C were pressed in a terminal.
    n_pressed: watch::Receiver<usize>,
    /// How many of them came into `rest`.
    n_received: usize,
}

impl Input {
    /// Reads the standard input; a terminal gives its keys from now on as they are pressed, and shows none.
    pub(super) fn open() -> Self {
        let saved = tcgetattr(io::stdin()).ok();
        if let Some(saved) = &saved {
            let mut keys = saved.clone();
            keys.local_modes -=
                LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
            keys.input_modes -= rustix::termios::InputModes::ICRNL;
            keys.special_codes[SpecialCodeIndex::VMIN] = 1;
            keys.special_codes[SpecialCodeIndex::VTIME] = 0;
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &keys);
        }
        let (pressed, n_pressed) = watch::channel(0);
        let is_terminal = saved.is_some();
        let (sender, bytes) = mpsc::channel(64);
        // A read of the standard input can't be given up, so it has a thread that nobody waits for.
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                match io::stdin().lock().read(&mut buffer) {
                    Ok(0) => return,
                    Ok(n) => {
                        if is_terminal {
                            pressed.send_modify(|count| *count += n_interrupts(&buffer[..n]));
                        }
                        if sender.blocking_send(buffer[..n].to_vec()).is_err() {
                            return;
                        }
                    }
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
                    Err(_) => {}
                }
            }
        });
        Self {
            bytes,
            rest: Vec::new(),
            is_over: false,
            is_terminal,
            saved,
            n_pressed,
            n_received: 0,
        }
    }

    /// Reads more; `false` at the end of the input.
    async fn more(&mut self) -> bool {
        match self.bytes.recv().await {
            Some(bytes) => {
                self.n_received += n_interrupts(&bytes);
                self.rest.extend(bytes);
            }
            None => self.is_over = true,
        }
        !self.is_over
    }

    /// Waits until a Ctrl-C is pressed that was not used before; for ever if none comes. It stays unused.
    pub(super) fn pressed_ctrl_c(&self) -> impl Future<Output = ()> + use<> {
        let n_used = self.n_received - n_interrupts(&self.rest);
        let mut n_pressed = self.n_pressed.clone();
        async move {
            if n_pressed.wait_for(|count| *count > n_used).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Uses the first Ctrl-C that was pressed and not used.
    pub(super) async fn use_ctrl_c(&mut self) {
        loop {
            if let Some(at) = self.rest.iter().position(|byte| *byte == INTERRUPT) {
                self.rest.remove(at);
                return;
            }
            if !self.more().await {
                return;
            }
        }
    }

    /// Waits until an interrupt is pressed that nobody used; for ever if none comes.
    pub(super) async fn interrupted(&mut self) {
        while !self.take_interrupt() {
            if !self.more().await {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Takes an interrupt out of what was typed.
    fn take_interrupt(&mut self) -> bool {
        let is_it = |(at, byte): (usize, &u8)| match *byte {
            INTERRUPT => Some(at),
            // Keys and pastes begin with it too.
            ESCAPE if !matches!(self.rest.get(at + 1), Some(b'[' | b'O')) => Some(at),
            _ => None,
        };
        let found = self.rest.iter().enumerate().find_map(is_it);
        if let Some(at) = found {
            self.rest.remove(at);
        }
        found.is_some()
    }

    /// The next prompt, up to Enter or the end of a line; `echo` gets what is removed from the end of the line on the screen,
    /// and what is added. Ctrl-C clears the line. `None` at the end of the input, and at a Ctrl-C with nothing to clear.
    pub(super) async fn prompt(&mut self, mut echo: impl FnMut(&str, &str)) -> Option<String> {
        let mut typed: Vec<u8> = Vec::new();
        let mut shown = String::new();
        loop {
            let mut pressed = Pressed::Edit;
            while pressed == Pressed::Edit && !self.rest.is_empty() {
                pressed = press(&mut typed, &mut self.rest, self.is_terminal);
            }
            self.is_over |= pressed == Pressed::End;
            if pressed == Pressed::Interrupt && !typed.is_empty() {
                typed.clear();
                continue;
            }
            if matches!(pressed, Pressed::Interrupt | Pressed::End) {
                return None;
            }
            if self.is_terminal {
                let text = String::from_utf8_lossy(&typed);
                let valid = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
                let pairs = shown.chars().zip(valid.chars());
                let same = pairs.take_while(|(before, now)| before == now);
                let kept: usize = same.map(|(sign, _)| sign.len_utf8()).sum();
                echo(&shown[kept..], &valid[kept..]);
                shown = valid.to_owned();
            }
            let is_whole = pressed == Pressed::Enter;
            if is_whole || (!self.more().await && !typed.is_empty()) {
                let text = String::from_utf8_lossy(&typed).into_owned();
                return Some(text.trim_end_matches('\r').to_owned());
            }
            if self.is_over {
                return None;
            }
        }
    }

    /// What a pipe gave beyond what was asked for.
    pub(super) fn unread(&mut self) -> Option<String> {
        if self.is_terminal {
            return None;
        }
        while let Ok(bytes) = self.bytes.try_recv() {
            self.rest.extend(bytes);
        }
        let text = String::from_utf8_lossy(&self.rest).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// As many bytes as `wanted` has, or those before the end of the input.
    pub(super) async fn keys(&mut self, wanted: usize) -> Vec<u8> {
        while self.rest.len() < wanted && self.more().await {}
        let count = wanted.min(self.rest.len());
        self.rest.drain(..count).collect()
    }
}

/// How many Ctrl-C there are among these bytes.
fn n_interrupts(bytes: &[u8]) -> usize {
    memchr::memchr_iter(INTERRUPT, bytes).count()
}

/// What a key does.
#[derive(Debug, PartialEq)]
enum Pressed {
    /// It edits the line.
    Edit,
    /// It ends the line.
    Enter,
    /// It ends the input.
    End,
    /// It interrupts what is typed.
    Interrupt,
    /// The rest of it has not come yet.
    Partial,
}

/// Takes the next key, or a paste, out of `rest` and edits `line` with it. A terminal has the keys that it has for a shell's
/// `read`; others, as Escape and the arrows, do nothing.
fn press(line: &mut Vec<u8>, rest: &mut Vec<u8>, is_terminal: bool) -> Pressed {
    if let Some(pasted) = rest.strip_prefix(PASTE_BEGIN) {
        let Some(end) = memchr::memmem::find(pasted, PASTE_END) else {
            return Pressed::Partial;
        };
        line.extend_from_slice(&pasted[..end]);
        rest.drain(..PASTE_BEGIN.len() + end + PASTE_END.len());
        return Pressed::Edit;
    }
    if rest.len() > 1 && PASTE_BEGIN.starts_with(rest) {
        return Pressed::Partial;
    }
    match rest.remove(0) {
        b'\n' => return Pressed::Enter,
        b'\r' if is_terminal => return Pressed::Enter,
        byte if !is_terminal => line.push(byte),
        INTERRUPT => return Pressed::Interrupt,
        END if line.is_empty() => return Pressed::End,
        END => {}
        8 | 127 => while line.pop().is_some_and(|byte| byte & 0xC0 == 0x80) {},
        KILL => line.clear(),
        ERASE_WORD => {
            let text = line.trim_ascii_end();
            let start = text.iter().rposition(u8::is_ascii_whitespace);
            line.truncate(start.map_or(0, |at| at + 1));
        }
        ESCAPE => {
            let is_end = |byte: &u8| (b'@'..=b'~').contains(byte);
            let n_bytes = match rest.first() {
                Some(b'[') => rest[1..].iter().position(is_end).map(|at| at + 2),
                Some(b'O') => rest.get(1).map(|_| 2),
                _ => Some(0),
            };
            let Some(n_bytes) = n_bytes else {
                rest.insert(0, ESCAPE);
                return Pressed::Partial;
            };
            rest.drain(..n_bytes);
        }
        byte => line.push(byte),
    }
    Pressed::Edit
}

impl Drop for Input {
    fn drop(&mut self) {
        if let Some(saved) = &self.saved {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, saved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line that these keys leave, and what the last of them does.
    fn typed(keys: &str, is_terminal: bool) -> (String, Pressed) {
        let (mut line, mut rest) = (Vec::new(), keys.as_bytes().to_vec());
        let mut pressed = Pressed::Edit;
        while pressed == Pressed::Edit && !rest.is_empty() {
            pressed = press(&mut line, &mut rest, is_terminal);
        }
        (String::from_utf8(line).expect("text"), pressed)
    }

    #[test]
    fn a_line_is_edited_as_a_terminal_does() {
        for (keys, line) in [
            ("Hellp\x7fo\r", "Hello"),
            ("打开门\x08\r", "打开"),
            ("rubbish\x15Hello\r", "Hello"),
            ("Hello me \x17you\r", "Hello you"),
            ("me\x17\x17you\r", "you"),
            ("\x1bHello\r", "Hello"),
            ("Hel\x1b[D\x1b[1;5C\x1bOHlo\x1b[3~\r", "Hello"),
            ("Hello\x04\r", "Hello"),
            ("a\x1b[200~\x15b\nc\x1b[201~\r", "a\u{15}b\nc"),
        ] {
            assert_eq!(typed(keys, true), (line.to_owned(), Pressed::Enter));
        }
        for (keys, pressed) in [
            ("\x04", Pressed::End),
            ("a\x03", Pressed::Interrupt),
            ("a\x1b[1;", Pressed::Partial),
            ("a\x1b[200~b", Pressed::Partial),
            ("a", Pressed::Edit),
        ] {
            assert_eq!(typed(keys, true).1, pressed, "{keys:?}");
        }
    }

    #[test]
    fn a_pipe_has_no_keys() {
        let line = "a\u{4}\u{15}b\u{1b}[Dc\r";
        assert_eq!(
            typed(&format!("{line}\n"), false),
            (line.to_owned(), Pressed::Enter)
        );
    }
}
