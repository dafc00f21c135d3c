//! What the user types to the agent: lines from a pipe, or keys of a terminal.

use std::io::{self, Read as _};
use std::sync::Arc;

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use tokio::sync::{Notify, mpsc};

const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";
/// What cancels a turn: Ctrl-C, or Escape by itself.
const INTERRUPT: u8 = 3;
const ESCAPE: u8 = 27;
/// What ends the input: Ctrl-D.
const END: u8 = 4;

/// The standard input.
pub(super) struct Input {
    bytes: mpsc::Receiver<Vec<u8>>,
    /// What was read and not used.
    rest: Vec<u8>,
    is_over: bool,
    pub(super) is_terminal: bool,
    /// How the terminal was before.
    saved: Option<Termios>,
    /// Told of each Ctrl-C of a terminal.
    pub(super) interrupts: Arc<Notify>,
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
        let interrupts = Arc::new(Notify::new());
        let (told, is_terminal) = (interrupts.clone(), saved.is_some());
        let (sender, bytes) = mpsc::channel(64);
        // A read of the standard input can't be given up, so it has a thread that nobody waits for.
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                match io::stdin().lock().read(&mut buffer) {
                    Ok(0) => return,
                    Ok(n) if is_terminal && buffer[..n].contains(&INTERRUPT) => {
                        if sender.blocking_send(buffer[..n].to_vec()).is_err() {
                            return;
                        }
                        told.notify_one();
                    }
                    Ok(n) if sender.blocking_send(buffer[..n].to_vec()).is_err() => return,
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
                    _ => {}
                }
            }
        });
        Self {
            bytes,
            rest: Vec::new(),
            is_over: false,
            is_terminal,
            saved,
            interrupts,
        }
    }

    /// Reads more; `false` at the end of the input.
    async fn more(&mut self) -> bool {
        match self.bytes.recv().await {
            Some(bytes) => self.rest.extend(bytes),
            None => self.is_over = true,
        }
        !self.is_over
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

    /// The next prompt, up to Enter or the end of a line; what is typed is given to `echo`. `None` at the end of the
    /// input, and if it is interrupted.
    pub(super) async fn prompt(&mut self, mut echo: impl FnMut(&str)) -> Option<String> {
        let mut typed: Vec<u8> = Vec::new();
        let mut shown = 0;
        loop {
            let mut is_whole = false;
            while !is_whole && !self.rest.is_empty() {
                if let Some(pasted) = self.rest.strip_prefix(PASTE_BEGIN) {
                    let Some(end) = pasted
                        .windows(PASTE_END.len())
                        .position(|it| it == PASTE_END)
                    else {
                        break;
                    };
                    typed.extend_from_slice(&pasted[..end]);
                    self.rest.drain(..PASTE_BEGIN.len() + end + PASTE_END.len());
                    continue;
                }
                if PASTE_BEGIN.starts_with(&self.rest) && self.rest.len() > 1 {
                    break;
                }
                match self.rest.remove(0) {
                    b'\r' | b'\n' => is_whole = true,
                    INTERRUPT if self.is_terminal => return None,
                    END if self.is_terminal && typed.is_empty() => return None,
                    8 | 127 if self.is_terminal => {
                        while typed.pop().is_some_and(|byte| byte & 0xC0 == 0x80) {}
                    }
                    byte => typed.push(byte),
                }
            }
            if self.is_terminal {
                let text = String::from_utf8_lossy(&typed);
                let valid = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
                if let Some(new) = valid.get(shown..) {
                    echo(new);
                }
                shown = valid.len();
            }
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

impl Drop for Input {
    fn drop(&mut self) {
        if let Some(saved) = &self.saved {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, saved);
        }
    }
}
