//! The files that the rules are about.

use std::fs;
use std::path::Path;

/// Folders nested deeper than this are not ours.
const MAX_DEPTH: usize = 24;

/// Every Rust file and manifest below `folder` with its text, by path relative to `root`.
pub(super) fn sources(folder: &Path, root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(folder, root, MAX_DEPTH, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, root: &Path, depth: usize, found: &mut Vec<(String, String)>) {
    let Some(depth) = depth.checked_sub(1) else {
        panic!("`{}` is nested too deep", folder.display());
    };
    for entry in fs::read_dir(folder).expect("the source tree is readable") {
        let path = entry.expect("the source tree is readable").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if name != "target" {
                collect(&path, root, depth, found);
            }
        } else if name == "Cargo.toml"
            || path.extension().is_some_and(|extension| extension == "rs")
        {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            let relative = path.strip_prefix(root).unwrap_or(&path);
            found.push((relative.display().to_string().replace('\\', "/"), text));
        }
    }
}
