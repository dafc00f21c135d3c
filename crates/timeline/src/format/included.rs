//! Files that timelines refer to, and timelines beside each other: what can only be said by who has read more than one
//! text.

use std::collections::HashMap;
use std::path::Path;

use super::content::is_of_type;
use crate::model::{IncludePurpose, IncludedFile, Timeline};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};

/// What is at the path of an included file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Included {
    /// A file. A media file needs its first 4096 bytes only.
    File(Vec<u8>),
    /// A folder.
    Folder,
    /// Nothing, or something that can't be read.
    Missing,
    /// Something outside of the scenario's folder, behind a link.
    Outside,
}

/// Looks at the `files` that the text of a timeline refers to, be it one that can be used or not. `look` says what is at
/// a path, which is relative to the timeline's folder and doesn't lead out of it by itself.
pub fn check_included(
    source: &SourceFile,
    files: &[IncludedFile],
    mut look: impl FnMut(&Path) -> Included,
) -> Vec<Diagnostic> {
    files
        .iter()
        .filter_map(|file| {
            let (code, message) = problem(file, look(&file.path))?;
            Some(Diagnostic::error(code, message).at(source, file.span))
        })
        .collect()
}

fn problem(
    file: &IncludedFile,
    included: Included,
) -> Option<(cuecard_source::diagnostic::Code, String)> {
    let path = file.path.display();
    let of_path = |message: String| Some((codes::TIMELINE_PATH, message));
    match (included, &file.purpose) {
        (Included::Missing, _) => of_path(format!("`{path}` not found next to the timeline")),
        (Included::Outside, _) => of_path(format!("`{path}` is outside the timeline's directory")),
        (Included::Folder, IncludePurpose::SeedFolder) => None,
        (Included::Folder, _) => of_path(format!("`{path}` is a folder: expected a file")),
        (Included::File(_), IncludePurpose::SeedFolder) => {
            of_path(format!("`{path}` is a file: expected a folder"))
        }
        (Included::File(bytes), IncludePurpose::Media(mime)) if !is_of_type(&bytes, mime) => {
            let message = format!("`{path}` does not look like {mime}");
            Some((codes::TIMELINE_MEDIA, message))
        }
        (Included::File(_), _) => None,
    }
}

/// Warns about names that several timelines have: a look-up by name takes the first.
pub fn check_names<'t>(timelines: impl IntoIterator<Item = &'t Timeline>) -> Vec<Diagnostic> {
    let mut firsts: HashMap<&str, &Timeline> = HashMap::new();
    let mut found = Vec::new();
    for timeline in timelines {
        match firsts.get(timeline.name.as_str()) {
            None => {
                firsts.insert(&timeline.name, timeline);
            }
            Some(first) => {
                let message = format!("duplicate timeline name `{}`", timeline.name);
                let note = format!(
                    "first used by {}, which is selected by this name",
                    first.source.name()
                );
                found.push(
                    Diagnostic::warning(codes::TIMELINE_SAME_NAME, message)
                        .at(&timeline.source, timeline.name_span)
                        .with_note(note),
                );
            }
        }
    }
    found
}
