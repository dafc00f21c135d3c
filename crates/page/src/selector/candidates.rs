//! Chooses selectors for an element: those that name it alone, the most lasting first.

use super::css::{Css, is_identifier, parent};
use super::generated::{is_hashed_class, looks_generated};
use super::matches::Finder;
use super::{Hop, Pattern, Selector, Within};
use crate::dom::{DomElement, NodeId, ScopeHop, State};
use crate::{Container, Fingerprint, TextPlace};
use cuecard_source::value::Json;

/// The longest name, label or text that a selector is made of, in characters.
const LONGEST_TEXT: usize = 120;

/// How many elements around one are tried in CSS.
const MOST_OUTER: usize = 6;

/// Attributes that CSS is made of.
const ATTRIBUTES: &[&str] = &["name", "type", "for", "href", "alt", "title", "role"];

/// Roles of elements that others are said to be in.
pub(crate) const CONTAINERS: &[&str] = &[
    "row",
    "listitem",
    "treeitem",
    "dialog",
    "alertdialog",
    "region",
    "form",
    "group",
    "radiogroup",
    "navigation",
    "complementary",
    "main",
    "article",
    "table",
    "list",
    "tabpanel",
    "menu",
    "toolbar",
];

impl Finder<'_> {
    /// Every kind of selector that names an element alone, in order of how long they last. Those by what people read
    /// say the container and the position that tell it from its twins.
    pub fn candidates(&self, id: NodeId, fingerprint: &Fingerprint) -> Vec<Selector> {
        let Some(element) = self.state.element(id) else {
            return Vec::new();
        };
        let hops = self.hops(element);
        let with_hops = |selector: Selector| Selector {
            hops: hops.clone(),
            ..selector
        };
        let names_alone = |pattern: &Pattern| self.fitting(pattern, &element.scope) == [id];
        if fingerprint.is_container {
            return self.of_container(id, element, &fingerprint.outline);
        }
        let mut selectors: Vec<Selector> = Vec::new();
        let is_word = |role: &&str| role.chars().all(|sign| sign.is_ascii_alphanumeric());
        let within = fingerprint
            .told_apart_by()
            .and_then(|container| self.container_selector(id, element, container));
        // Only a container makes one of several without a name.
        let role = usable(&element.role)
            .filter(is_word)
            .map(|role| Pattern::Role {
                role: role.to_owned(),
                name: usable(&element.name).map(str::to_owned),
            });
        let is_named = usable(&element.name).is_some();
        let test_id = self
            .test_id(element)
            .map(str::to_owned)
            .map(Pattern::TestId);
        let placeholder = element.attribute("placeholder").and_then(usable);
        // What can be edited shows its value as its text.
        let is_field = matches!(element.tag_name.as_str(), "input" | "select" | "textarea")
            || element.is(State::Editable);
        let text = match is_field || element.tag_name == "body" {
            true => None,
            // What the role and the name say already is not said again.
            false => self.text(id).filter(|text| {
                usable(text).is_some() && (element.role.is_empty() || *text != element.name)
            }),
        };
        let plain = [
            test_id,
            role.clone(),
            usable(&element.label).map(|label| Pattern::Label(label.to_owned())),
            placeholder.map(|text| Pattern::Placeholder(text.to_owned())),
            text.map(Pattern::Text),
            plain_id(element).map(|plain| Pattern::Css(format!("#{plain}"))),
        ];
        let alone = |selector: &Selector| self.find(selector) == [id];
        for pattern in plain.into_iter().flatten() {
            if Some(&pattern) == role.as_ref() {
                let bare = Selector::of(pattern.clone());
                let nth = fingerprint
                    .position
                    .map(|position| position - i32::from(position > 0));
                let qualified = match (&within, nth) {
                    (None, None) => self.qualified(id, element, &pattern),
                    (within, nth) => Some(Selector {
                        within: within.clone(),
                        nth,
                        ..bare.clone()
                    }),
                };
                let bare = Some(bare).filter(|_| is_named && nth.is_none());
                let in_order = match within.is_some() || nth.is_some() {
                    true => [qualified, bare],
                    false => [bare, qualified],
                };
                let mut found = in_order.into_iter().flatten().map(with_hops);
                match within.is_some() || nth.is_some() {
                    true => selectors.extend(found.filter(|selector| alone(selector))),
                    false => selectors.extend(found.find(|selector| alone(selector))),
                }
            } else if names_alone(&pattern) {
                selectors.push(with_hops(Selector::of(pattern)));
            }
        }
        if let Some(within) = &within {
            let made = fragments(element, false).into_iter().map(|css| Selector {
                within: Some(within.clone()),
                ..Selector::of(Pattern::Css(css))
            });
            selectors.extend(made.map(with_hops).find(|selector| alone(selector)));
        }
        selectors.extend(
            self.shortest_css(id, element)
                .map(|css| with_hops(Selector::of(Pattern::Css(css)))),
        );
        if selectors.is_empty()
            && let Some(role) = role.filter(|_| is_named)
        {
            // Nothing but its position tells it apart.
            let twins = self.fitting(&role, &element.scope);
            let nth = twins.iter().position(|&twin| twin == id);
            selectors.extend(nth.map(|nth| {
                with_hops(Selector {
                    nth: i32::try_from(nth).ok(),
                    ..Selector::of(role)
                })
            }));
        }
        selectors.push(with_hops(Selector::of(Pattern::XPath(
            element.xpath.clone(),
        ))));
        selectors
    }

    /// The selectors of a container, by the text that it is known by: what else stands in it may change.
    fn of_container(
        &self,
        id: NodeId,
        element: &DomElement,
        within: &[Container],
    ) -> Vec<Selector> {
        let said = |container: &Container| self.container_selector(id, element, container);
        let known_by = within.first().and_then(said).map(|own| Selector {
            within: within.get(1).and_then(said),
            has_text: own.has_text,
            ..Selector::of(own.pattern)
        });
        let plain = [
            self.test_id(element)
                .map(|test_id| Pattern::TestId(test_id.to_owned())),
            plain_id(element).map(|plain| Pattern::Css(format!("#{plain}"))),
        ];
        let hops = self.hops(element);
        known_by
            .into_iter()
            .chain(plain.into_iter().flatten().map(Selector::of))
            .map(|selector| Selector {
                hops: hops.clone(),
                ..selector
            })
            .filter(|selector| self.find(selector) == [id])
            .chain([Selector {
                hops: hops.clone(),
                ..Selector::of(Pattern::XPath(element.xpath.clone()))
            }])
            .collect()
    }

    /// A container that an element is in, or is itself, as selectors say it: by its role, or what it is made of, and the text that it is
    /// known by. None if it is no element of the same document.
    fn container_selector(
        &self,
        id: NodeId,
        element: &DomElement,
        container: &Container,
    ) -> Option<Within> {
        let mut places = self.places_of(container);
        places.retain(|place| place.contains(&id.0));
        let outer = NodeId(places.pop()?.start);
        let found = self.state.element(outer)?;
        let is_around = outer == id || self.state.ancestors(id).any(|around| around == outer);
        if !is_around || found.scope != element.scope {
            return None;
        }
        let text = match container.text.as_deref() {
            // The only dialog, which nobody named.
            None => None,
            Some(text) => Some(usable(text)?.to_owned()),
        };
        let has_role =
            !found.role.is_empty() && found.role.chars().all(|sign| sign.is_ascii_alphanumeric());
        let by_name = has_role && container.at == TextPlace::Name;
        let pattern = match has_role {
            true => Pattern::Role {
                role: found.role.clone(),
                name: text.clone().filter(|_| by_name),
            },
            false => Pattern::Css(fragments(found, false).pop()?),
        };
        Some(Within {
            pattern,
            has_text: text.filter(|_| !by_name),
        })
    }

    /// The way into the frames and shadow roots that an element is in.
    fn hops(&self, element: &DomElement) -> Vec<Hop> {
        (0..element.scope.len())
            .map(|depth| {
                let (outer, hop): (&[ScopeHop], _) =
                    (&element.scope[..depth], &element.scope[depth]);
                let css = self.state.by_address(outer, &hop.xpath).and_then(|owner| {
                    let element = self.state.element(owner)?;
                    plain_id(element)
                        .map(|plain| format!("#{plain}"))
                        .filter(|css| self.fitting(&Pattern::Css(css.clone()), outer) == [owner])
                        .or_else(|| self.shortest_css(owner, element))
                });
                Hop {
                    kind: hop.kind,
                    pattern: match css {
                        Some(css) => Pattern::Css(css),
                        None => Pattern::XPath(hop.xpath.clone()),
                    },
                }
            })
            .collect()
    }

    /// Role and name with what the element is in, if that has a name.
    fn qualified(&self, id: NodeId, element: &DomElement, pattern: &Pattern) -> Option<Selector> {
        let twins = self.fitting(pattern, &element.scope);
        let around = self
            .state
            .ancestor_elements(id)
            .filter(|(_, outer)| {
                outer.scope == element.scope && CONTAINERS.contains(&outer.role.as_str())
            })
            .flat_map(|(place, outer)| {
                // All that is in a row may be its name; its first cell changes less.
                let mut names = vec![self.place_name(place, outer), outer.name.clone()];
                names.dedup();
                let names = names.into_iter().filter(|name| usable(name).is_some());
                names.map(|name| Pattern::Role {
                    role: outer.role.clone(),
                    name: Some(name),
                })
            });
        for within in around {
            let containers = self.containers(&within, None, &element.scope);
            let inside: Vec<_> = twins
                .iter()
                .filter(|&&twin| {
                    self.state
                        .ancestors(twin)
                        .any(|outer| containers.contains(&outer))
                })
                .collect();
            if inside == [&id] {
                return Some(Selector {
                    within: Some(within.into()),
                    ..Selector::of(pattern.clone())
                });
            }
        }
        None
    }

    /// The shortest CSS without positions and hashed classes that names an element alone.
    fn shortest_css(&self, id: NodeId, element: &DomElement) -> Option<String> {
        let outer: Vec<(NodeId, &DomElement)> =
            std::iter::successors(parent(self.state, id), |&inner| parent(self.state, inner))
                .take(MOST_OUTER)
                .filter_map(|place| Some((place, self.state.element(place)?)))
                .filter(|(_, outer)| outer.tag_name != "body")
                .collect();
        let mut found: Vec<String> = Vec::new();
        for own in fragments(element, false) {
            let twins = self.fitting(&Pattern::Css(own.clone()), &element.scope);
            if twins == [id] {
                found.push(own);
                continue;
            }
            for (depth, (_, around)) in outer.iter().enumerate() {
                let between = if depth == 0 { " > " } else { " " };
                for fragment in fragments(around, true) {
                    let css = format!("{fragment}{between}{own}");
                    let is_shorter = found.iter().all(|known| css.len() < known.len());
                    if is_shorter && self.is_alone(&css, id, &twins) {
                        found.push(css);
                    }
                }
            }
        }
        found.into_iter().min_by_key(|css| (css.len(), css.clone()))
    }

    /// Whether CSS fits `id` and none of its twins.
    fn is_alone(&self, css: &str, id: NodeId, twins: &[NodeId]) -> bool {
        let Ok(css) = Css::parse(css) else {
            return false;
        };
        twins
            .iter()
            .all(|&twin| css.fits(self.state, twin) == (twin == id))
    }
}

/// A text that a selector can be made of.
fn usable(text: &str) -> Option<&str> {
    let is_usable = !text.trim().is_empty() && text.chars().nth(LONGEST_TEXT).is_none();
    is_usable.then_some(text)
}

/// The id of an element, if a person gave it.
fn plain_id(element: &DomElement) -> Option<&str> {
    element
        .attribute("id")
        .filter(|id| is_identifier(id) && !looks_generated(id))
}

/// What CSS can say of an element on its own, without its own id unless `with_id`.
fn fragments(element: &DomElement, with_id: bool) -> Vec<String> {
    let tag = &element.tag_name;
    if !is_identifier(tag) {
        return Vec::new();
    }
    let mut fragments = vec![tag.clone()];
    if with_id {
        fragments.extend(plain_id(element).map(|id| format!("#{id}")));
    }
    for name in ATTRIBUTES {
        let value = element.attribute(name).filter(|value| {
            !value.is_empty()
                && value.chars().count() <= 60
                && !value.chars().any(char::is_control)
                && !looks_generated(value)
        });
        if let Some(value) = value {
            let quoted = Json::String(value.to_owned());
            fragments.push(format!("{tag}[{name}={quoted}]"));
        }
    }
    let classes = element.attribute("class").unwrap_or_default();
    let plain = classes
        .split_ascii_whitespace()
        .filter(|class| is_identifier(class) && !is_hashed_class(class));
    fragments.extend(plain.take(4).map(|class| format!("{tag}.{class}")));
    fragments
}
