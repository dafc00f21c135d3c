//! What the tests of Cuecard share: a place to run the program in, the golden driver, the one normaliser,
//! the way to the real peers, a site for browsers, and what must hold of every reader of files.
//!
//! Not published, and no part of the program: here the environment, the clock and processes may be used.

pub mod golden;
pub mod normalise;
pub mod peers;
pub mod readers;
pub mod scratch;
pub mod site;

use std::path::{Path, PathBuf};

/// The root of the repository that this crate was compiled in.
pub fn repository_root() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir
        .ancestors()
        .nth(2)
        .unwrap_or(crate_dir)
        .to_path_buf()
}
