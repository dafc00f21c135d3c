//! A part of a request's body that knows where it stands, so that what is wrong with it can be said.

use cuecard_source::value::Json;

use super::fault::{Expected, Fault, FaultKind};

/// A part of a body.
#[derive(Clone, Copy)]
pub(super) struct Node<'p, 'j> {
    pub(super) json: &'j Json,
    outer: Option<&'p Node<'p, 'j>>,
    step: Step<'p>,
}

/// How one gets from a value to a part of it.
#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Name(&'p str),
    Index(usize),
}

/// Where a part stands: names and indices from the outside to the inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Index(usize),
}

impl<'p, 'j> Node<'p, 'j> {
    /// The whole body.
    pub(super) fn root(json: &'j Json) -> Self {
        Self {
            json,
            outer: None,
            step: Step::Root,
        }
    }

    /// The member `name`; null is as good as absent.
    pub(super) fn get<'n>(&'n self, name: &'n str) -> Option<Node<'n, 'j>> {
        let json = self.json.get(name).filter(|json| !json.is_null())?;
        Some(Node {
            json,
            outer: Some(self),
            step: Step::Name(name),
        })
    }

    /// The member with one of two names, which mean the same.
    pub(super) fn either<'n>(&'n self, name: &'n str, other: &'n str) -> Option<Node<'n, 'j>> {
        self.get(name).or_else(|| self.get(other))
    }

    /// The member `name`, which must be there.
    pub(super) fn need<'n>(&'n self, name: &'n str) -> Result<Node<'n, 'j>, Fault> {
        self.get(name).ok_or_else(|| {
            // Its value is not looked at: only its place counts.
            let missing = Node {
                json: self.json,
                outer: Some(self),
                step: Step::Name(name),
            };
            missing.fault(FaultKind::Missing)
        })
    }

    /// The text.
    pub(super) fn text(&self) -> Result<&'j str, Fault> {
        self.json
            .as_str()
            .ok_or_else(|| self.mistyped(Expected::Text))
    }

    /// The text of the member `name`; empty if there is none.
    pub(super) fn text_of(&self, name: &str) -> Result<&'j str, Fault> {
        self.get(name).map_or(Ok(""), |node| node.text())
    }

    /// The flag `name`; false if there is none.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Fault> {
        let Some(node) = self.get(name) else {
            return Ok(false);
        };
        node.json
            .as_bool()
            .ok_or_else(|| node.mistyped(Expected::Flag))
    }

    /// The count `name`, which is one at least; `None` if it is absent.
    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, Fault> {
        let Some(node) = self.get(name) else {
            return Ok(None);
        };
        match (node.json.as_u64(), node.json.as_i64()) {
            (Some(0), _) | (None, Some(_)) => Err(node.fault(FaultKind::TooSmall)),
            (Some(count), _) => Ok(Some(count)),
            (None, None) => Err(node.mistyped(Expected::Count)),
        }
    }

    /// Calls `visit` with each item of the list.
    pub(super) fn each(
        &self,
        mut visit: impl FnMut(&Node<'_, 'j>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let items = self
            .json
            .as_array()
            .ok_or_else(|| self.mistyped(Expected::List))?;
        for (index, json) in items.iter().enumerate() {
            visit(&Node {
                json,
                outer: Some(self),
                step: Step::Index(index),
            })?;
        }
        Ok(())
    }

    /// Calls `visit` with each item of the list `name`, if there is one.
    pub(super) fn each_of(
        &self,
        name: &str,
        visit: impl FnMut(&Node<'_, 'j>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.get(name).map_or(Ok(()), |list| list.each(visit))
    }

    /// What `read` makes of each item of the list `name`, if there is one.
    pub(super) fn all<T>(
        &self,
        name: &str,
        mut read: impl FnMut(&Node<'_, 'j>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut all = Vec::new();
        self.each_of(name, |item| {
            all.push(read(item)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// That this is an object.
    pub(super) fn object(&self) -> Result<(), Fault> {
        if self.json.is_object() {
            Ok(())
        } else {
            Err(self.mistyped(Expected::Object))
        }
    }

    /// That the type of this is another one.
    pub(super) fn mistyped(&self, expected: Expected) -> Fault {
        self.fault(FaultKind::Mistyped(expected))
    }

    /// Something is wrong with this.
    pub(super) fn fault(&self, kind: FaultKind) -> Fault {
        let mut place = Vec::new();
        let mut node = Some(self);
        while let Some(Node { outer, step, .. }) = node {
            match step {
                Step::Root => {}
                Step::Name(name) => place.push(Token::Name((*name).to_owned())),
                Step::Index(index) => place.push(Token::Index(*index)),
            }
            node = *outer;
        }
        place.reverse();
        let found = match kind {
            FaultKind::Missing => Json::Null,
            _ => self.json.clone(),
        };
        Fault { place, kind, found }
    }
}
