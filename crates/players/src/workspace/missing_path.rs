//! What a path that does not exist was probably meant to be.

use std::path::Path;

use cuecard_core::diagnostic::did_you_mean;

/// A folder or notebook with more entries than this is only searched so far.
const MOST_NAMES: usize = 10_000;

/// What to say about a path that does not exist: the entry beside it with almost the same name, or the
/// folder that is missing already.
pub(super) fn missing_path_hint(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let Ok(entries) = std::fs::read_dir(folder) else {
        let missing = path
            .ancestors()
            .skip(1)
            .take_while(|ancestor| !ancestor.exists())
            .last()?;
        return Some(format!("the folder `{}` does not exist", missing.display()));
    };
    let wanted = path.file_name()?.to_str()?;
    let names: Vec<String> = entries
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
    Some(format!("did you mean `{}`?", folder.join(near).display()))
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
        let hint = missing_path_hint(&folder.path().join("a/b/c.txt")).unwrap();
        assert_eq!(
            hint,
            format!(
                "the folder `{}` does not exist",
                folder.path().join("a").display()
            )
        );
    }
}
