//! Runs the golden cases of `tests/golden`; its README says what a case is.

use std::path::Path;

#[test]
fn golden_cases() {
    let cases = cuecard_testing::repository_root().join("tests/golden");
    cuecard_testing::golden::run_all(&cases, Path::new(env!("CARGO_BIN_EXE_cuecard")));
}
