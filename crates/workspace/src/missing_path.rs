//! What a path that does not exist was probably meant to be, and what stands in its way.

use std::path::{Path, PathBuf};

use cuecard_source::diagnostic::did_you_mean;

use super::FOLDER;
use super::disk::kind_of;
use cuecard_runtime::text_file::folder_of;

/// A folder or notebook with more entries than this is only searched so far.
const MOST_NAMES: usize = 10_000;

/// What to say about a path that does not exist: the entry beside it with almost the same name, or the
/// folder that is missing already.
pub(super) fn missing_path_hint(path: &Path) -> Option<String> {
    let missing_folder = path
        .ancestors()
        .skip(1)
        // The parent of a bare name is empty, and means here.
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .last();
    let Some(folder) = missing_folder else {
        return near(path).map(|near| format!("did you mean `{}`?", near.display()));
    };
    let shown = folder.display();
    Some(match near(folder) {
        Some(near) => format!(
            "the folder `{shown}` does not exist, did you mean `{}`?",
            near.display()
        ),
        None => format!("the folder `{shown}` does not exist"),
    })
}

/// The entry beside `path` with almost the same name, or with another extension.
fn near(path: &Path) -> Option<PathBuf> {
    let folder = folder_of(path);
    let wanted = path.file_name()?.to_str()?;
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .take(MOST_NAMES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let near = did_you_mean(wanted, names.iter().map(String::as_str)).or_else(|| {
        let stem = Path::new(wanted).file_stem()?;
        names
            .iter()
            .map(String::as_str)
            .filter(|name| Path::new(name).file_stem() == Some(stem))
            .min()
    })?;
    Some(path.with_file_name(near))
}

/// The part of `path` that is there and is no folder, though the path goes on behind it; with what it is.
pub(super) fn blocking_part(path: &Path) -> Option<(PathBuf, &'static str)> {
    let part = path
        .ancestors()
        .skip(1)
        .find(|ancestor| ancestor.symlink_metadata().is_ok())?;
    let kind = kind_of(&part.metadata().ok()?);
    (kind != FOLDER).then(|| (part.to_owned(), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_neighbour_or_the_missing_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data.csv"), "").unwrap();
        let hint = missing_path_hint(&folder.path().join("data.json")).unwrap();
        assert!(hint.ends_with("/data.csv`?"), "{hint}");
        std::fs::create_dir(folder.path().join("notes")).unwrap();
        let hint = missing_path_hint(&folder.path().join("note/b/c.txt")).unwrap();
        assert_eq!(
            hint,
            format!(
                "the folder `{0}/note` does not exist, did you mean `{0}/notes`?",
                folder.path().display()
            )
        );
        let hint = missing_path_hint(&folder.path().join("a/b/c.txt")).unwrap();
        assert_eq!(
            hint,
            format!(
                "the folder `{}` does not exist",
                folder.path().join("a").display()
            )
        );
    }

    #[test]
    fn a_file_in_the_way_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let found = blocking_part(&file.join("a/b"));
        assert_eq!(found, Some((file, "a file")));
        assert_eq!(blocking_part(&folder.path().join("a/b")), None);
    }
}
