//! The bridge to a browser, with a real Chromium on the test site (`tests/site/`).

mod actions;
mod captures;
mod failures;
mod tables;

use std::path::PathBuf;
use std::time::Duration;

use cuecard_browser::{
    BrowserBridge, BrowserOptions, CaptureOptions, ClickKind, ElementAddress, Navigation,
    WaitPolicy,
};
use cuecard_page::dom::{DomElement, DomProcessor, DomState};
use cuecard_source::value::Redactor;
use cuecard_testing::peers;
use cuecard_testing::site::Site;

/// How long anything may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How long an action may wait for an element that will not become usable.
pub(crate) const SHORT: Duration = Duration::from_millis(1500);

/// A browser on the test site.
pub(crate) struct Lab {
    pub(crate) site: Site,
    pub(crate) bridge: BrowserBridge,
    pub(crate) processor: DomProcessor,
    pub(crate) folder: tempfile_dir::Folder,
    test_id_attribute: &'static str,
}

/// A folder that goes with the test.
pub(crate) mod tempfile_dir {
    use std::path::{Path, PathBuf};

    use cuecard_testing::scratch::Scratch;

    /// The folder; a scratch place without a program.
    #[derive(Debug)]
    pub(crate) struct Folder(Scratch);

    impl Folder {
        pub(crate) fn new() -> Self {
            Self(Scratch::new(Path::new("none")).expect("a scratch place can be made"))
        }

        pub(crate) fn path(&self) -> PathBuf {
            self.0.work()
        }

        pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
            self.0.write(name, text).expect("it can be written")
        }
    }
}

/// Runs `test` with a browser on the test site.
pub(crate) fn with_browser(test: impl AsyncFnOnce(&mut Lab)) {
    with_options("data-testid", |_| (), test);
}

/// The same, with options changed.
pub(crate) fn with_options(
    test_id_attribute: &'static str,
    change: impl FnOnce(&mut BrowserOptions),
    test: impl AsyncFnOnce(&mut Lab),
) {
    let Some(tools) = peers::browser_tools() else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let folder = tempfile_dir::Folder::new();
        let mut options = BrowserOptions::new(tools, folder.path().join("downloads"));
        change(&mut options);
        let bridge = BrowserBridge::start(&options)
            .await
            .expect("the browser starts");
        let mut lab = Lab {
            site: Site::start().expect("the site starts"),
            bridge,
            processor: DomProcessor::new(test_id_attribute, Redactor::default()),
            folder,
            test_id_attribute,
        };
        test(&mut lab).await;
        lab.bridge.stop().await;
    });
}

impl Lab {
    /// Opens a page of the site and waits until it is done.
    pub(crate) async fn open(&mut self, path: &str) {
        let to = Navigation::To(self.site.url(path));
        self.bridge
            .navigate(&to, PATIENCE)
            .await
            .expect("the page is there");
        self.bridge
            .settle(WaitPolicy::Whole)
            .await
            .expect("the page settles");
    }

    /// The capture as it comes.
    pub(crate) async fn text(&mut self) -> String {
        let options = CaptureOptions {
            test_id_attribute: self.test_id_attribute.to_owned(),
            root: None,
        };
        self.bridge
            .capture(&options)
            .await
            .expect("the page is captured")
    }

    /// The state of the page.
    pub(crate) async fn state(&mut self) -> DomState {
        let text = self.text().await;
        self.processor
            .read(&text)
            .unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Where the element of this role and name is.
    pub(crate) async fn find(&mut self, role: &str, name: &str) -> ElementAddress {
        let state = self.state().await;
        ElementAddress::of(only(&state, role, name))
    }

    /// Clicks the element of this role and name, and waits until the page is done.
    pub(crate) async fn click(&mut self, role: &str, name: &str) {
        let target = self.find(role, name).await;
        let clicked = self
            .bridge
            .click(&target, ClickKind::Single, PATIENCE)
            .await;
        clicked.unwrap_or_else(|error| panic!("{role} {name}: {error}"));
        self.bridge
            .settle(WaitPolicy::Whole)
            .await
            .expect("the page settles");
    }

    /// Fills the field of this name.
    pub(crate) async fn fill(&mut self, name: &str, text: &str) {
        let target = self.find("textbox", name).await;
        let filled = self.bridge.fill(&target, text, PATIENCE).await;
        filled.unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Whether the words can be seen on the page.
    pub(crate) async fn shows(&mut self, words: &str) -> bool {
        let state = self.state().await;
        let root = state.elements().next().expect("a page has a root").0;
        let text = state.visible_text(root);
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains(words)
    }

    /// Whether the words can be seen in time, in the tab that is current then.
    pub(crate) async fn comes(&mut self, words: &str) -> bool {
        let come = async { while !self.shows(words).await {} };
        tokio::time::timeout(PATIENCE, come).await.is_ok()
    }

    #[track_caller]
    pub(crate) fn downloads_folder(&self) -> PathBuf {
        self.folder.path().join("downloads")
    }
}

/// The only visible element of this role and name.
#[track_caller]
pub(crate) fn only<'a>(state: &'a DomState, role: &str, name: &str) -> &'a DomElement {
    let found = all(state, role, name);
    assert_eq!(
        found.len(),
        1,
        "{role} {name:?} among {:?}",
        named(state, role)
    );
    found[0]
}

/// All visible elements of this role and name.
pub(crate) fn all<'a>(state: &'a DomState, role: &str, name: &str) -> Vec<&'a DomElement> {
    state
        .elements()
        .map(|(_, element)| element)
        .filter(|element| element.is_visible && element.role == role && element.name == name)
        .collect()
}

fn named<'a>(state: &'a DomState, role: &str) -> Vec<&'a str> {
    state
        .elements()
        .filter(|(_, element)| element.role == role)
        .map(|(_, element)| element.name.as_str())
        .collect()
}
