//! Targets: elements of a page, to be found when their step is played.

use super::{PathSegment, Placeholder, Template};
use cuecard_source::Span;

/// `target`, or an entry of `targets`: what is given must hold for exactly one element.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// `role`.
    pub role: Option<Template>,
    /// `name`: its accessible name.
    pub name: Option<Template>,
    /// `text`: its whole name or text.
    pub text: Option<Template>,
    /// `within`: what it is in.
    pub within: Option<TargetPlace>,
    /// `nth`: which of several it is, from 1.
    pub nth: Option<usize>,
    /// `selector`: a CSS selector.
    pub selector: Option<Template>,
    /// Where the target stands.
    pub span: Span,
}

/// `within`: what an element is in.
#[derive(Debug, Clone, Default)]
pub struct TargetPlace {
    /// `role`.
    pub role: Option<Template>,
    /// `name`: its accessible name, or the text of a row's first cell or heading, or of all of the row.
    pub name: Option<Template>,
    /// `text`: the whole of one of its cells, headings or lines.
    pub text: Option<Template>,
}

/// An entry of `targets`: the parameter that gets what the server knows the element by.
#[derive(Debug, Clone)]
pub struct ParamTarget {
    /// The parameter as written: `elements[0].uid`.
    pub written: String,
    /// The way to it in the parameters.
    pub path: Vec<PathSegment>,
    /// The element.
    pub target: Target,
}

impl Target {
    /// Everything that may hold references.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let within = self.within.as_ref();
        [
            self.role.as_ref(),
            self.name.as_ref(),
            self.text.as_ref(),
            within.and_then(|within| within.role.as_ref()),
            within.and_then(|within| within.name.as_ref()),
            within.and_then(|within| within.text.as_ref()),
            self.selector.as_ref(),
        ]
        .into_iter()
        .flatten()
    }

    /// Calls `visit` with every reference.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        for template in self.templates() {
            template.for_each_placeholder(visit);
        }
    }
}
