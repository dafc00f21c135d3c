//! "Did you mean": the known name that looks most like the one that was asked for.

use std::path::Path;

/// Names longer than this are not compared, which bounds the work per pair.
const LONGEST_NAME: usize = 256;
/// A folder or notebook with more entries than this is only searched so far.
const MOST_NAMES: usize = 10_000;

/// The name of `known` that is nearest to `wanted`, if it is near enough to be a slip of the keyboard. Of
/// equally near ones the first in alphabetical order.
pub(super) fn nearest_name<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if wanted.len() > LONGEST_NAME {
        return None;
    }
    let most_edits = (wanted.chars().count() / 3).clamp(1, 4);
    known
        .into_iter()
        .take(MOST_NAMES)
        .filter(|name| name.len() <= LONGEST_NAME && *name != wanted)
        .map(|name| {
            (
                strsim::damerau_levenshtein(&wanted.to_lowercase(), &name.to_lowercase()),
                name,
            )
        })
        .filter(|(edits, _)| *edits <= most_edits)
        .min()
        .map(|(_, name)| name)
}

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
    let near = nearest_name(wanted, names.iter().map(String::as_str)).or_else(|| {
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
    fn a_slip_is_found_and_a_different_name_is_not() {
        let known = ["config.json", "notes.md", "confog.json"];
        assert_eq!(nearest_name("cofnig.json", known), Some("config.json"));
        assert_eq!(nearest_name("readme", known), None);
    }

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
