//! A place to run the scenarios in: a running site, the scenarios, and Playwright's driver.

use std::time::Duration;

use cuecard_testing::peers;
use cuecard_testing::scratch::Scratch;
use cuecard_testing::site::Site;

use super::folder;
use crate::program::{self, told};

/// Values of the secrets; none may stand in steps or in what is printed.
pub(super) const SECRETS: [(&str, &str); 3] = [
    ("PASSWORD", "correct horse"),
    ("MISTAKE", "battery staple"),
    ("CARD", "4111 1111 1111 1111"),
];

/// How long one run may take before a test fails.
pub(super) const LIMIT: Duration = Duration::from_secs(300);

/// A running site, and a folder with the scenarios and the driver in it.
pub(super) struct Place {
    pub(super) site: Site,
    pub(super) scratch: Scratch,
}

impl Place {
    /// Nothing when peers are left out.
    pub(super) fn new() -> Option<Self> {
        let driver = peers::require("npm/node_modules/playwright-core")?;
        peers::require_program("node")?;
        peers::require_program("chromium-headless-shell")?;
        let modules = driver.parent()?;
        let mut scratch = program::scratch();
        scratch.limit(LIMIT);
        let site = Site::start().expect("the site starts");
        scratch.set("CUECARD_VAR_BASE", base(&site));
        for (name, value) in SECRETS {
            scratch.set(format!("CUECARD_VAR_{name}"), value);
        }
        scratch.copy_tree(&folder()).expect("readable");
        std::os::unix::fs::symlink(modules, scratch.work().join("node_modules"))
            .expect("a link can be made");
        Some(Self { site, scratch })
    }

    pub(super) fn write(&self, name: &str, text: &str) -> String {
        self.scratch.write(name, text).expect("writable");
        name.to_owned()
    }

    /// What the program prints if it succeeds, else all that it says.
    pub(super) fn cuecard(&self, args: &[&str]) -> Result<String, String> {
        let finished = program::run(&self.scratch, args);
        match finished.code() {
            Some(0) => {
                for (secret, value) in SECRETS {
                    let printed = [&finished.stdout, &finished.stderr];
                    assert!(
                        printed.iter().all(|text| !text.contains(value)),
                        "{args:?} prints the value of {secret}"
                    );
                }
                Ok(finished.stdout)
            }
            _ => Err(told(&finished)),
        }
    }
}

/// What the addresses of a site begin with.
pub(super) fn base(site: &Site) -> String {
    site.url("").trim_end_matches('/').to_owned()
}
