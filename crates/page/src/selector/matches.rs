//! Which elements of a state a selector names.

use super::css::Css;
use super::{Pattern, Selector};
use crate::containers::is_row;
use crate::dom::{DomElement, DomKind, DomState, NodeId, ScopeHop};
use crate::snapshot::single_spaces;
use crate::words::{NameMatch, NameQuery, fold_name};

/// A text in an element with more nodes than this is not looked at.
const MOST_INSIDE: usize = 400;

/// Finds elements of a state.
#[derive(Debug, Clone, Copy)]
pub struct Finder<'a> {
    /// The state.
    pub state: &'a DomState,
    /// The attribute that tests name elements by.
    pub test_id_attribute: &'a str,
}

impl<'a> Finder<'a> {
    /// A finder in a state.
    pub fn new(state: &'a DomState, test_id_attribute: &'a str) -> Self {
        Self {
            state,
            test_id_attribute,
        }
    }

    /// The test id of an element; an empty one is none.
    pub fn test_id(&self, element: &'a DomElement) -> Option<&'a str> {
        element
            .attribute(self.test_id_attribute)
            .filter(|id| !id.is_empty())
    }

    /// Every element that a selector names, in the order of the page. None if a hop doesn't lead to one element.
    pub fn find(&self, selector: &Selector) -> Vec<NodeId> {
        let mut scope: Vec<ScopeHop> = Vec::new();
        for hop in &selector.hops {
            let found = self.fitting(&hop.pattern, &scope);
            let [owner] = found.as_slice() else {
                return Vec::new();
            };
            let Some(element) = self.state.element(*owner) else {
                return Vec::new();
            };
            scope.push(ScopeHop {
                kind: hop.kind,
                xpath: element.xpath.clone(),
            });
        }
        let mut found = match &selector.has_text {
            None => self.fitting(&selector.pattern, &scope),
            Some(text) => self.containers(&selector.pattern, Some(text), &scope),
        };
        if let Some(within) = &selector.within {
            let has_text = within.has_text.as_deref();
            let containers = self.containers(&within.pattern, has_text, &scope);
            found.retain(|&id| {
                self.state
                    .ancestors(id)
                    .any(|outer| containers.contains(&outer))
            });
        }
        match selector.nth {
            None => found,
            Some(nth) => nth_of(&found, nth).into_iter().collect(),
        }
    }

    /// The one element that a selector names.
    pub fn one(&self, selector: &Selector) -> Option<NodeId> {
        match self.find(selector).as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The elements of a document or shadow root that fit a pattern.
    pub(super) fn fitting(&self, pattern: &Pattern, scope: &[ScopeHop]) -> Vec<NodeId> {
        let in_scope = self
            .state
            .elements()
            .filter(|(_, element)| *element.scope == *scope);
        match pattern {
            Pattern::TestId(id) => in_scope
                .filter(|(_, element)| self.test_id(element) == Some(id))
                .map(|(place, _)| place)
                .collect(),
            Pattern::Role { role, name } => {
                let of_role: Vec<(NodeId, &DomElement)> = in_scope
                    .filter(|(_, element)| {
                        element.role == *role && element.is_visible && !element.is_aria_hidden
                    })
                    .collect();
                let called = |fits: &dyn Fn(&str) -> bool| -> Vec<NodeId> {
                    let fitting = of_role.iter().filter(|(_, element)| fits(&element.name));
                    fitting.map(|(place, _)| *place).collect()
                };
                let Some(name) = name else {
                    return called(&|_| true);
                };
                NameQuery::new(name).found_first(&NameMatch::KEPT, called)
            }
            Pattern::Label(label) => in_scope
                .filter(|(_, element)| !element.label.is_empty() && element.label == *label)
                .map(|(place, _)| place)
                .collect(),
            Pattern::Placeholder(text) => in_scope
                .filter(|(_, element)| element.attribute("placeholder") == Some(text))
                .map(|(place, _)| place)
                .collect(),
            Pattern::Text(text) => {
                let mut found: Vec<NodeId> = in_scope
                    .filter(|(place, _)| self.text(*place).is_some_and(|found| found == *text))
                    .map(|(place, _)| place)
                    .collect();
                let all = found.clone();
                // Of elements inside each other the innermost; in pre-order it comes later.
                found.retain(|&outer| {
                    let end = self.state.node(outer).end;
                    !all.iter().any(|inner| inner.0 > outer.0 && inner.0 < end)
                });
                found
            }
            Pattern::Css(css) => match Css::parse(css) {
                Ok(css) => in_scope
                    .filter(|(place, _)| css.fits(self.state, *place))
                    .map(|(place, _)| place)
                    .collect(),
                Err(_) => Vec::new(),
            },
            Pattern::XPath(xpath) => in_scope
                .filter(|(_, element)| fits_xpath(xpath, &element.xpath))
                .map(|(place, _)| place)
                .collect(),
        }
    }

    /// The elements that others may be inside of, with a text in them if one is given. The name of a row may come from
    /// one of its cells.
    pub(super) fn containers(
        &self,
        pattern: &Pattern,
        has_text: Option<&str>,
        scope: &[ScopeHop],
    ) -> Vec<NodeId> {
        let mut found = self.fitting(pattern, scope);
        if let Pattern::Role {
            role,
            name: Some(name),
        } = pattern
            && is_row(role)
        {
            let rows = self
                .state
                .elements()
                .filter(|(id, element)| {
                    element.role == *role
                        && *element.scope == *scope
                        && self.row_name(*id).is_some_and(|cell| cell == *name)
                })
                .map(|(id, _)| id);
            found.extend(rows);
            found.sort_unstable();
            found.dedup();
        }
        if let Some(text) = has_text {
            let folded = fold_name(text);
            found.retain(|&id| self.has_contained_text(id, &folded));
            // Of items inside each other the innermost.
            let all = found.clone();
            found.retain(|&outer| {
                let end = self.state.node(outer).end;
                !all.iter().any(|inner| inner.0 > outer.0 && inner.0 < end)
            });
        }
        found
    }

    /// All text inside an element with single spaces, unless that is a large part of a page.
    pub(crate) fn text(&self, id: NodeId) -> Option<String> {
        let node = self.state.node(id);
        if node.end as usize - id.index() > MOST_INSIDE {
            return None;
        }
        let mut text = String::new();
        for node in &self.state.nodes[id.index()..node.end as usize] {
            if let DomKind::Text(run) = &node.kind {
                text.push_str(&run.text);
            }
        }
        Some(single_spaces(&text)).filter(|text| !text.is_empty())
    }
}

/// One of several: from 0, or from -1 backwards.
fn nth_of(found: &[NodeId], nth: i32) -> Option<NodeId> {
    let at = match usize::try_from(nth) {
        Ok(at) => at,
        Err(_) => found.len().checked_sub(nth.unsigned_abs() as usize)?,
    };
    found.get(at).copied()
}

/// Whether the xpath of an element is one that a written xpath selects: a step without a position selects any.
fn fits_xpath(written: &str, xpath: &str) -> bool {
    let mut wanted = written.split('/');
    let mut found = xpath.split('/');
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some(wanted), Some(found)) => {
                let (tag, position) = step(wanted);
                let (found_tag, found_position) = step(found);
                if tag != found_tag
                    || position.is_some_and(|position| position != found_position.unwrap_or(1))
                {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

fn step(step: &str) -> (&str, Option<usize>) {
    step.strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['))
        .and_then(|(tag, position)| Some((tag, Some(position.parse().ok()?))))
        .unwrap_or((step, None))
}
