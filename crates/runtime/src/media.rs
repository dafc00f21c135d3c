//! Media that stand in files beside a scenario: what is sent is their bytes.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use super::text_file::{folder_of, io_reason};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{
    Block, BlockKind, EventKind, MediaSource, ResponseElement, Timeline,
};

/// A larger file is refused, in bytes.
const MAX_MEDIA: u64 = 16 << 20;

/// The timeline with the bytes of its media in place of their names, in the events that `is_wanted`; and which files can't
/// be read.
pub fn embedded(
    timeline: Arc<Timeline>,
    is_wanted: impl Fn(&EventKind) -> bool,
) -> (Arc<Timeline>, Vec<Diagnostic>) {
    let mut timeline = Arc::unwrap_or_clone(timeline);
    let folder = folder_of(Path::new(timeline.source.name())).to_owned();
    let mut found = Vec::new();
    for event in &mut timeline.events {
        if !is_wanted(&event.kind) {
            continue;
        }
        for block in blocks_mut(&mut event.kind) {
            let span = block.span;
            let (BlockKind::Image(media) | BlockKind::Audio(media)) = &mut block.kind else {
                continue;
            };
            let MediaSource::File(path) = &media.source else {
                continue;
            };
            match read(&folder.join(path)) {
                Ok(bytes) => media.source = MediaSource::Data(STANDARD.encode(bytes)),
                Err(reason) => {
                    let message = format!("`{}` can't be read: {reason}", path.display());
                    found.push(
                        Diagnostic::error(codes::FILE_READ, message).at(&timeline.source, span),
                    );
                }
            }
        }
    }
    (Arc::new(timeline), found)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| io_reason(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_MEDIA + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| io_reason(&error))?;
    match bytes.len() as u64 > MAX_MEDIA {
        true => Err(format!("it is larger than {} MiB", MAX_MEDIA >> 20)),
        false => Ok(bytes),
    }
}

fn blocks_mut(kind: &mut EventKind) -> Box<dyn Iterator<Item = &mut Block> + '_> {
    match kind {
        EventKind::UserInputs(inputs) => {
            Box::new(inputs.iter_mut().flat_map(|input| &mut input.blocks))
        }
        EventKind::Response(response) => {
            Box::new(response.elements.iter_mut().flat_map(|element| {
                let entries = match element {
                    ResponseElement::Assistant(entries) => entries.as_mut_slice(),
                    _ => &mut [],
                };
                entries.iter_mut().map(|entry| &mut entry.value)
            }))
        }
        _ => Box::new(std::iter::empty()),
    }
}
