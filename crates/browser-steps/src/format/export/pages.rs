//! What steps tell of the pages that they are about.

use super::texts::{Names, Part};
use crate::model::{ActionKind, StepsFile, TestStep};
use cuecard_page::dom::HopKind;
use cuecard_page::selector::Selector;

/// Opens the roots that the page's scripts would close, from the next document on.
pub(super) const OPEN_ROOTS: &str = "const attach = Element.prototype.attachShadow; Element.prototype.attachShadow = function (options) { return attach.call(this, { ...options, mode: 'open' }); };";

/// Whether a text of the page may stand where the page's own document does not have it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    /// Whether any step is about an element in a shadow root.
    pub have_roots: bool,
}

impl Parts {
    pub(super) fn of(file: &StepsFile) -> Self {
        Self {
            have_roots: file.test_steps.iter().any(is_in_root),
        }
    }

    /// Whether the page of a step is in several parts: it has frames, or shadow roots.
    pub(super) fn are_several(self, step: &TestStep) -> bool {
        self.have_roots || has_frames(step)
    }
}

/// Whether what a step does closes the tab that it is in: the next step is in an earlier one.
pub(super) fn closes_its_tab(file: &StepsFile, place: usize) -> bool {
    match file.test_steps.get(place..) {
        Some([step, next, ..]) => acts(step) && tab(next) < tab(step),
        _ => false,
    }
}

/// Whether what a step does opens a tab: the next step that acts, or one before it, is in a later one.
pub(super) fn opens_tab(file: &StepsFile, place: usize) -> bool {
    let Some([step, later @ ..]) = file.test_steps.get(place..) else {
        return false;
    };
    let next = later
        .iter()
        .find(|next| tab(next) != tab(step) || acts(next));
    acts(step) && next.is_some_and(|next| tab(next) > tab(step))
}

fn acts(step: &TestStep) -> bool {
    !matches!(
        step.action,
        ActionKind::Assert | ActionKind::Wait | ActionKind::Extract
    )
}

fn tab(step: &TestStep) -> usize {
    step.tab.unwrap_or(0)
}

/// Whether the element of a step is in a shadow root.
pub(super) fn is_in_root(step: &TestStep) -> bool {
    first_selector(step)
        .is_some_and(|selector| selector.hops.iter().any(|hop| hop.kind == HopKind::Shadow))
}

/// Whether the element of a step is in a frame or a shadow root.
pub(super) fn is_in_part(step: &TestStep) -> bool {
    first_selector(step).is_some_and(|selector| !selector.hops.is_empty())
}

/// Whether the page of a step has frames. A line of its text that begins so is none of the page's own words.
pub(super) fn has_frames(step: &TestStep) -> bool {
    step.context
        .dom_structure_snapshot
        .lines()
        .any(|line| is_frame(line.trim_start()))
}

/// Whether a line of a page's text, without its indentation, is a frame.
fn is_frame(line: &str) -> bool {
    line == "frame" || line.starts_with("frame ")
}

/// Whether the element of a step is in a frame of another host that is in a frame itself, as far as is known.
pub(super) fn is_in_foreign_inner_frame(step: &TestStep) -> bool {
    let hops = first_selector(step).map_or(Vec::new(), |selector| selector.hops);
    let n_frames = hops.iter().filter(|hop| hop.kind == HopKind::Frame).count();
    n_frames > 1 && has_foreign_inner_frame(step)
}

/// Whether the page of a step has a frame of another host in a frame.
pub(super) fn has_foreign_inner_frame(step: &TestStep) -> bool {
    let page = &step.context.dom_structure_snapshot;
    let own = page
        .lines()
        .next()
        .and_then(|line| host(line.strip_prefix("url: ")?));
    // The frames that the next line may be in, by their indentation.
    let mut open: Vec<usize> = Vec::new();
    page.lines().any(|line| {
        let text = line.trim_start();
        let indentation = line.len() - text.len();
        open.retain(|outer| *outer < indentation);
        if !is_frame(text) {
            return false;
        }
        let is_inner = !open.is_empty();
        open.push(indentation);
        let source = text.rsplit_once(" src=").and_then(|(_, url)| host(url));
        is_inner && source.is_some() && source != own
    })
}

/// The host of a whole address, without its port.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.trim_matches('"').split_once("://")?;
    rest.split([':', '/', '?', '#']).next()
}

/// Whether the list of a step is no `select`, but made by the page.
pub(super) fn is_made_by_page(step: &TestStep) -> bool {
    let tag = step.fingerprint.as_ref().map(|known| known.tag.as_str());
    tag.is_some_and(|tag| !matches!(tag, "" | "select"))
}

/// How many lines of a step's page have a text in them, whatever its capital letters and spaces.
pub(super) fn count_lines(step: &TestStep, text: &str) -> usize {
    let fold = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").to_lowercase()
    };
    let (page, text) = (&step.context.dom_structure_snapshot, fold(text));
    page.lines()
        .filter(|line| fold(line).contains(&text))
        .count()
}

/// Whether a step's page has a text just as it is written, as far as is known.
pub(super) fn is_written(step: &TestStep, text: &str) -> bool {
    let page = &step.context.dom_structure_snapshot;
    page.is_empty() || page.contains(text)
}

/// Whether an address is a whole one: one that begins with a scheme, or with a variable that does.
pub(super) fn is_whole(url: &str, names: &Names<'_>) -> bool {
    let has_scheme = url.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|sign| sign.is_ascii_alphanumeric() || "+-.".contains(sign))
    });
    has_scheme || matches!(names.parts(url).first(), Some(Part::Variable(..)))
}

fn first_selector(step: &TestStep) -> Option<Selector> {
    step.selectors.iter().find_map(|text| text.parse().ok())
}
