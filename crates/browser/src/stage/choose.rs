//! Options of lists that a page makes itself: they are opened by a click, and show what was chosen.

use std::sync::Arc;
use std::time::Duration;

use cuecard_page::dom::{DomElement, NodeId, State};
use cuecard_page::single_spaces;

use super::live::{BETWEEN, LiveStage};
use super::{ActionTarget, Deadline, Failure, PageState};
use crate::ClickKind;
use crate::choice::{Choice, chosen};
use cuecard_source::diagnostic::codes;

/// How long a list may take to show what was chosen.
const SHOWS: Duration = Duration::from_secs(2);

const ROLES: &[&str] = &["option", "menuitemradio", "menuitem", "treeitem"];

/// An option that can be seen.
struct ShownOption {
    target: ActionTarget,
    name: String,
    is_disabled: bool,
}

impl LiveStage {
    /// Opens a list, clicks the only option of that name in it, and checks that the list shows it.
    pub(super) async fn choose(
        &mut self,
        list: &ActionTarget,
        option: &str,
        limit: Duration,
    ) -> Result<(), Failure> {
        let deadline = Deadline::after(limit);
        let before = self.peek().await?;
        let is_open = list.is_open == Some(true) || !self.options(&before, list, None).is_empty();
        if !is_open {
            let click = self.bridge.click(&list.address, ClickKind::Single, limit);
            click.await?;
        }
        let before = (!is_open).then_some(&before);
        let one = loop {
            let scene = self.peek().await?;
            let mut options = self.options(&scene, list, before.map(Arc::as_ref));
            match named(&options, option) {
                Ok(at) => break options.swap_remove(at),
                Err((message, may_pass)) if !may_pass || deadline.is_over() => {
                    self.bridge.guard(None);
                    let _ = self.bridge.press(None, "Escape", BETWEEN * 10).await;
                    return Err(Failure::new(codes::BROWSER_CHOICE, message));
                }
                Err(_) => tokio::time::sleep(BETWEEN).await,
            }
        };
        self.bridge.guard(Some(one.target.guard.clone()));
        let left = deadline.left().max(BETWEEN * 10);
        let click = self
            .bridge
            .click(&one.target.address, ClickKind::Single, left);
        click.await?;
        let soon = Deadline::after(SHOWS);
        while !shows(&*self.peek().await?, list, &one) {
            if soon.is_over() {
                let message = format!("`{option}` was clicked, but the list does not show it");
                return Err(Failure {
                    has_acted: true,
                    ..Failure::new(codes::BROWSER_VALUE, message)
                });
            }
            tokio::time::sleep(BETWEEN).await;
        }
        Ok(())
    }

    /// The options of a list that can be seen: those in it or in what it says that it controls, and those that were not to be
    /// seen before it was opened.
    fn options(
        &self,
        scene: &PageState,
        list: &ActionTarget,
        before: Option<&PageState>,
    ) -> Vec<ShownOption> {
        let (state, finder) = (&scene.state, self.finder(scene));
        let own = list.address.find(state);
        let host = list
            .address
            .scope
            .split_last()
            .and_then(|(hop, around)| state.by_address(around, &hop.xpath));
        let controlled: Vec<&str> = own
            .and_then(|id| state.element(id))
            .map(|element| ["aria-controls", "aria-owns"].map(|name| element.attribute(name)))
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        let is_of_list = |id: NodeId| {
            state.ancestor_elements(id).any(|(outer, element)| {
                Some(outer) == own
                    || Some(outer) == host
                    || element
                        .attribute("id")
                        .is_some_and(|id| controlled.contains(&id))
            })
        };
        let is_new = |element: &DomElement| {
            before.is_some_and(|before| {
                let known = before.state.by_address(&element.scope, &element.xpath);
                let known = known.and_then(|id| before.state.element(id));
                !known.is_some_and(|known| known.is_visible)
            })
        };
        let shown = state.elements().filter(|(id, element)| {
            element.is_visible
                && ROLES.contains(&element.role.as_str())
                && (is_of_list(*id) || is_new(element))
        });
        let shown = shown.filter_map(|(id, element)| {
            let name = match element.name.as_str() {
                "" => state.visible_text(id),
                name => name.to_owned(),
            };
            Some(ShownOption {
                target: ActionTarget::at(finder, id)?,
                name: single_spaces(&name),
                is_disabled: element.is(State::Disabled),
            })
        });
        shown.collect()
    }
}

/// The place of the option that a text means.
fn named(options: &[ShownOption], wanted: &str) -> Result<usize, (String, bool)> {
    let known: Vec<Choice<'_>> = options
        .iter()
        .map(|option| Choice {
            label: &option.name,
            value: None,
            is_disabled: option.is_disabled,
        })
        .collect();
    let found = chosen(
        &single_spaces(wanted),
        &known,
        "a click on the list shows no options",
    );
    found.map(|(idx, _)| idx)
}

/// Whether a list shows an option that was chosen, by its value, its text, or the state of the option. A page that moved on
/// took it with it.
fn shows(scene: &PageState, list: &ActionTarget, option: &ShownOption) -> bool {
    let state = &scene.state;
    let found = list.address.find(state);
    let Some((id, element)) = found.and_then(|id| Some((id, state.element(id)?))) else {
        return true;
    };
    let around = state.node(id).parent.into_iter().chain([id]);
    let is_selected = option
        .target
        .address
        .find(state)
        .and_then(|id| state.element(id))
        .is_some_and(|own| own.is(State::Selected) || own.is(State::Checked));
    is_selected
        || element
            .attribute("value")
            .is_some_and(|value| single_spaces(value) == option.name)
        || around
            .map(|id| single_spaces(&state.visible_text(id)))
            .any(|text| text.contains(&option.name))
}
