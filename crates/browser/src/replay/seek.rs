//! Looks for the element of a step until it is there, or the time for it is up.

use std::sync::Arc;
use std::time::Duration;

use cuecard_browser_steps::format::HealedStep;
use cuecard_browser_steps::model::TestStep;
use cuecard_page::dom::{DomState, NodeId};
use cuecard_page::identity::Verdict;
use cuecard_page::selector::Finder;

use super::Replay;
use super::memory::{Judged, Memory};
use crate::ElementAddress;
use crate::stage::{ActionTarget, Deadline, Failure, PageInspector, PageState, Stage};
use cuecard_runtime::clock::Stopwatch;

/// A page that is not done yet may still show what was meant: what was healed, or has something else around
/// it, must stay the best for so long.
const STEADY: Duration = Duration::from_secs(1);

/// The element of a step, on the page on which it was found.
#[derive(Debug)]
pub(super) struct Found {
    /// The page.
    pub(super) scene: Arc<PageState>,
    /// The element.
    pub(super) id: NodeId,
    /// How it is acted on.
    pub(super) aim: ActionTarget,
    /// What it is dragged to, and how that is acted on.
    pub(super) to: Option<ActionTarget>,
    /// What speaks for it.
    pub(super) judged: Judged,
    /// What they are known by now, of those that are not as they were.
    pub(super) healed: Vec<HealedStep>,
}

/// Why there is nothing to act on.
#[derive(Debug)]
pub(super) struct NotFound {
    /// The failure.
    pub(super) failure: Failure,
    /// The last page that was looked at, if one could be.
    pub(super) scene: Option<Arc<PageState>>,
    /// What it says about the element.
    pub(super) judged: Option<Judged>,
    /// What may be the element under a new name.
    pub(super) renamed: Option<HealedStep>,
}

impl From<Failure> for NotFound {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            scene: None,
            judged: None,
            renamed: None,
        }
    }
}

/// Looks for the element of the step at `place` until `deadline`.
pub(super) async fn seek<S: Stage + PageInspector>(
    replay: &Replay<'_>,
    stage: &mut S,
    step: &TestStep,
    place: usize,
    memory: &Memory,
    deadline: Deadline,
) -> Result<Found, Box<NotFound>> {
    let attribute = replay.options.test_id_attribute.as_str();
    let boxed = |failure: Failure| Box::new(NotFound::from(failure));
    let mut scene = stage.look().await.map_err(boxed)?;
    let mut steady: Option<(Vec<ElementAddress>, Stopwatch)> = None;
    let mut was_shown = false;
    let mut is_last = false;
    loop {
        let finder = Finder::new(&scene.state, attribute);
        let Some(all) = memory.judge_all(finder) else {
            // Steps are looked at before they are played.
            let failure = Failure::new(
                cuecard_source::diagnostic::codes::BROWSER_STEPS,
                "the step has no fingerprint of its element",
            );
            return Err(boxed(failure));
        };
        let targets = all.iter().map(|judged| judged.verdict.target());
        let found: Option<Vec<NodeId>> = targets.collect();
        let aims = found.as_ref().and_then(|found| {
            let aims = found.iter().map(|&id| ActionTarget::at(finder, id));
            aims.collect::<Option<Vec<_>>>()
        });
        let is_same = |judged: &Judged| matches!(judged.verdict, Verdict::Same { .. });
        let are_certain = all
            .iter()
            .all(|judged| matches!(judged.verdict, Verdict::Same { is_certain, .. } if is_certain));
        let is_certain = match &aims {
            Some(_) if are_certain => true,
            Some(aims) if replay.heals || all.iter().all(is_same) => {
                let places: Vec<ElementAddress> =
                    aims.iter().map(|aim| aim.address.clone()).collect();
                let since = match &steady {
                    Some((known, since)) if *known == places => *since,
                    _ => Stopwatch::start(),
                };
                steady = Some((places, since));
                since.elapsed() >= STEADY || is_last
            }
            _ => {
                steady = None;
                false
            }
        };
        let pairs = || memory.all().zip(&all);
        if let (true, Some(found), Some(aims)) = (is_certain, found, aims) {
            let (id, mut aims) = (found[0], aims.into_iter());
            let Some(aim) = aims.next() else { continue };
            if replay.is_pictured && !was_shown && !is_in_view(&scene.state, id) {
                // A picture is to show the element; it would be brought into view to be acted on in any case.
                was_shown = true;
                stage.show(&aim.address, deadline).await;
                scene = stage.look().await.map_err(boxed)?;
                continue;
            }
            let healed = pairs().filter_map(|(memory, judged)| match &judged.verdict {
                Verdict::Healed { id, check } => {
                    memory.healed(finder, (*id, check), step, place, replay.values)
                }
                _ => None,
            });
            return Ok(Found {
                id,
                aim,
                to: aims.next(),
                healed: healed.collect(),
                judged: worst(all),
                scene: Arc::clone(&scene),
            });
        }
        match stage.look_again(deadline).await.map_err(boxed)? {
            Some(next) => scene = next,
            // What was found so far is all that there is.
            None if !is_last => is_last = true,
            None => {
                let renamed = pairs().find_map(|(memory, judged)| match &judged.verdict {
                    Verdict::Renamed { id, check } => {
                        memory.renamed(finder, (*id, check), step, place, replay.values)
                    }
                    _ => None,
                });
                let judged = worst(all);
                let mut failure = judged.failure();
                if renamed.is_some() {
                    failure.help = Some(format!(
                        "if it is the same element, accept its new name: `cuecard play {} --accept-rename {}`",
                        replay.source.name(),
                        step.id
                    ));
                }
                return Err(Box::new(NotFound {
                    failure,
                    scene: Some(Arc::clone(&scene)),
                    judged: Some(judged),
                    renamed,
                }));
            }
        }
    }
}

/// What is said of several elements: what keeps one of them from being acted on, else what changed.
pub(super) fn worst(all: Vec<Judged>) -> Judged {
    let rank = |judged: &Judged| match (&judged.verdict, judged.verdict.target()) {
        (Verdict::Same { .. }, _) => 2,
        (_, Some(_)) => 1,
        (_, None) => 0,
    };
    let mut all = all;
    all.sort_by_key(rank);
    all.swap_remove(0)
}

fn is_in_view(state: &DomState, id: NodeId) -> bool {
    state
        .element(id)
        .is_some_and(|element| element.is_in_viewport)
}

/// Where an element is on a picture of the page, if any of it is in view.
pub(super) fn place_of(state: &DomState, id: NodeId) -> Option<[f64; 4]> {
    let element = state.element(id)?;
    let proxy = element.proxy.as_ref().and_then(|xpath| {
        state.elements().find_map(|(_, other)| {
            (other.scope == element.scope && other.xpath == *xpath).then_some(other.rect)?
        })
    });
    let rect = proxy.or(element.rect)?;
    let (width, height) = state.page.viewport;
    let is_in = rect.x < width
        && rect.y < height
        && rect.x + rect.width > 0.0
        && rect.y + rect.height > 0.0;
    is_in.then_some([rect.x, rect.y, rect.width, rect.height])
}
