//! Faults on purpose: what arrives in place of what was to be sent.
//!
//! [`FrameFaults`] is given one frame after the other, and says what is to arrive instead, as [`Act`]s. It does no I/O and
//! knows no time, so the same fault does the same each time. Whoever moves the bytes carries the acts out.

use cuecard_source::value::Json;
use cuecard_timeline::model::FaultKind;

/// How many bytes an oversized message has: one over the largest message accepted anywhere.
pub const OVERSIZE: usize = 64 * 1024 * 1024 + 1;

/// The size of a flood on standard error, in bytes.
pub const STDERR_FLOOD: usize = 8 * 1024 * 1024;

/// An id that no client counts up to.
pub const NOBODYS_ID: u64 = 987_654_321;

/// What is to arrive at the client. A message is the bytes of a frame, without what its transport
/// puts around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A message, in one piece.
    Send(Vec<u8>),
    /// A message, in many small pieces.
    SendSplit(Vec<u8>),
    /// Several messages, in one piece.
    SendTogether(Vec<Vec<u8>>),
    /// The first half of a message; then the connection ends.
    SendHalf(Vec<u8>),
    /// Nothing any more on this connection, which stays.
    Stall,
    /// The server is no more.
    Crash,
    /// So many bytes on standard error, where the server has one.
    FloodErrors(usize),
}

/// What is sent at once: a message, an event of a stream, or a whole body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// When, in milliseconds.
    pub at_ms: u64,
    /// What.
    pub bytes: Vec<u8>,
}

/// What is done at a time.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// When, in milliseconds.
    pub at_ms: u64,
    /// What.
    pub act: Act,
    /// The faults that have happened then.
    pub faults: Vec<usize>,
}

/// A fault that hits a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameHit {
    /// Which fault it is.
    pub fault_idx: usize,
    /// What goes wrong.
    pub kind: FaultKind,
    /// The id that a wrong one stands for from now on; without it that of the frame.
    pub id: Option<String>,
}

/// What has to be known of frames to spoil them.
#[derive(Debug, Clone, Copy)]
pub struct FrameShape {
    /// The id in a frame.
    pub id_in: fn(&str) -> Option<String>,
    /// A frame of the same form with something in it that is no JSON.
    pub garbage: fn(&[u8]) -> Vec<u8>,
}

/// Spoils frames, as they come. Without a hit each comes as it was.
#[derive(Debug)]
pub struct FrameFaults {
    shape: FrameShape,
    /// A frame that waits for the next one.
    held: Option<(Frame, FrameHit)>,
    /// Ids that are other ones from now on.
    foreign: Vec<Foreign>,
    is_over: bool,
}

#[derive(Debug)]
struct Foreign {
    fault_idx: usize,
    id: Option<String>,
    has_happened: bool,
}

impl FrameFaults {
    /// For frames of this shape.
    pub fn new(shape: FrameShape) -> Self {
        Self {
            shape,
            held: None,
            foreign: Vec::new(),
            is_over: false,
        }
    }

    /// Whether a fault was the end of it: nothing more arrives.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// What arrives in place of a frame.
    pub fn frame(&mut self, frame: Frame, hit: Option<FrameHit>) -> Vec<Part> {
        if self.is_over {
            return Vec::new();
        }
        let Frame { at_ms, bytes } = frame;
        let part = |act, faults| Part { at_ms, act, faults };
        if let Some(hit) = hit.as_ref().filter(|hit| hit.kind == FaultKind::WrongId) {
            self.foreign.push(Foreign {
                fault_idx: hit.fault_idx,
                id: hit.id.clone(),
                has_happened: false,
            });
        }
        let (bytes, mut faults) = self.with_foreign_ids(bytes);
        if let Some((before, hit)) = self.held.take() {
            // Two that are the same have no order.
            if hit.kind == FaultKind::Merge || before.bytes != bytes {
                faults.push(hit.fault_idx);
            }
            return match hit.kind {
                FaultKind::Merge => {
                    vec![part(Act::SendTogether(vec![before.bytes, bytes]), faults)]
                }
                _ => vec![
                    part(Act::Send(bytes), Vec::new()),
                    part(Act::Send(before.bytes), faults),
                ],
            };
        }
        let Some(hit) = hit else {
            return vec![part(Act::Send(bytes), faults)];
        };
        let act = match hit.kind {
            FaultKind::WrongId => return vec![part(Act::Send(bytes), faults)],
            FaultKind::Merge | FaultKind::Reorder => {
                self.held = Some((Frame { at_ms, bytes }, hit));
                return Vec::new();
            }
            FaultKind::Cut => Act::SendHalf(bytes),
            FaultKind::Stall => Act::Stall,
            FaultKind::Crash => Act::Crash,
            FaultKind::Garbage => Act::Send((self.shape.garbage)(&bytes)),
            FaultKind::Split => Act::SendSplit(bytes),
            FaultKind::Oversize => Act::Send(padded(bytes, OVERSIZE)),
            FaultKind::Duplicate | FaultKind::Stderr => {
                let first = match hit.kind {
                    FaultKind::Duplicate => Act::Send(bytes.clone()),
                    _ => Act::FloodErrors(STDERR_FLOOD),
                };
                faults.push(hit.fault_idx);
                return vec![part(first, Vec::new()), part(Act::Send(bytes), faults)];
            }
        };
        self.is_over = matches!(act, Act::SendHalf(_) | Act::Stall | Act::Crash);
        faults.push(hit.fault_idx);
        vec![part(act, faults)]
    }

    /// There are no more frames: one that waits for the next arrives as it was.
    pub fn finish(&mut self) -> Option<Part> {
        let (frame, _) = self.held.take()?;
        Some(Part {
            at_ms: frame.at_ms,
            act: Act::Send(frame.bytes),
            faults: Vec::new(),
        })
    }

    /// The bytes of a frame with ids that were never given, and the faults that this is.
    fn with_foreign_ids(&mut self, bytes: Vec<u8>) -> (Vec<u8>, Vec<usize>) {
        let mut faults = Vec::new();
        if self.foreign.is_empty() {
            return (bytes, faults);
        }
        let Ok(mut text) = String::from_utf8(bytes.clone()) else {
            return (bytes, faults);
        };
        for foreign in &mut self.foreign {
            if foreign.id.is_none() {
                foreign.id = (self.shape.id_in)(&text);
            }
            let Some(id) = &foreign.id else { continue };
            let written = Json::from(id.as_str()).to_string();
            if text.contains(&written) {
                text = text.replace(&written, &Json::from(nobodys(id)).to_string());
                if !foreign.has_happened {
                    foreign.has_happened = true;
                    faults.push(foreign.fault_idx);
                }
            }
        }
        (text.into_bytes(), faults)
    }
}

/// An id of the same kind that was never given: `call_987654321` for `call_1`.
fn nobodys(id: &str) -> String {
    let prefix = id.find(['_', '-']).map_or("", |at| &id[..=at]);
    format!("{prefix}{NOBODYS_ID}")
}

/// The same message with blanks behind its first brace, `size` bytes in all.
pub fn padded(message: Vec<u8>, size: usize) -> Vec<u8> {
    let blanks = size.saturating_sub(message.len());
    let mut padded = Vec::with_capacity(message.len() + blanks);
    let brace = message.iter().position(|byte| *byte == b'{');
    let (brace, rest) = message.split_at(brace.map_or(0, |at| at + 1));
    padded.extend_from_slice(brace);
    padded.resize(padded.len() + blanks, b' ');
    padded.extend_from_slice(rest);
    padded
}
