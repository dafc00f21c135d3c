//! Goes on after a mistake: it is filed, what is wrong is left out, and the value is read again.
//!
//! Serde ends a struct at its first error. So the next attempt leaves the wrong part out, as if its key were absent, and
//! finds the next mistake. A key that must be there gets a stand-in, until nothing else is wrong; then what holds the
//! stand-in is left out itself, so that nobody sees one. Each attempt marks a part, so there are as many as mistakes.

use std::collections::HashSet;

use serde::Deserializer;
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::by_hand::NODE;
use super::decoder::Keys;
use super::wrappers::ITEMS;
use super::{Context, DecodeError, MAX_FINDINGS};
use crate::json::Node;

/// A node, for as long as its tree is read.
pub(super) type NodeId = usize;

pub(super) fn id(node: &Node) -> NodeId {
    std::ptr::from_ref(node).addr()
}

/// What the next attempt does otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    /// Takes this value for absent.
    LeftOut(NodeId),
    /// Gives this object a stand-in for a key.
    StandIn(NodeId, &'static str),
}

/// What is known from the attempts so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    all: HashSet<Mark>,
    /// What holds the stand-ins that this attempt has used.
    pub(super) holders: Vec<NodeId>,
}

/// How an attempt ended.
pub(super) enum Outcome<T> {
    /// With the value.
    Read(T),
    /// The next one finds more.
    Again,
    /// Nothing is left of the value.
    Lost,
}

impl Context<'_> {
    pub(super) fn is_left_out(&self, node: &Node) -> bool {
        self.has_mark(Mark::LeftOut(id(node)))
    }

    pub(super) fn has_marks(&self) -> bool {
        !self.marks.borrow().all.is_empty()
    }

    pub(super) fn has_mark(&self, mark: Mark) -> bool {
        let marks = self.marks.borrow();
        marks.all.contains(&mark)
    }

    /// Reads until nothing wrong is left. Returns nothing if that is nothing at all.
    pub(super) fn attempts<T>(
        &self,
        whole: &Node,
        mut read: impl FnMut() -> Result<T, DecodeError>,
    ) -> Option<T> {
        loop {
            match self.settle(read(), whole) {
                Outcome::Read(value) => return Some(value),
                Outcome::Again => {}
                Outcome::Lost => return None,
            }
        }
    }

    /// Files what was wrong in an attempt to read `whole`, and marks it.
    pub(super) fn settle<T>(&self, result: Result<T, DecodeError>, whole: &Node) -> Outcome<T> {
        let mut holders = std::mem::take(&mut self.marks.borrow_mut().holders);
        // The whole document may keep its stand-ins: there is an error, so nobody takes it for right.
        self.is_whole.set(!holders.contains(&self.root));
        holders.retain(|holder| *holder != self.root);
        let left_out: Vec<Mark> = match result {
            Ok(value) if holders.is_empty() => return Outcome::Read(value),
            Ok(_) => holders.into_iter().map(Mark::LeftOut).collect(),
            Err(error) => {
                let mark = error.mark;
                self.file(error);
                mark.into_iter().collect()
            }
        };
        let mut marks = self.marks.borrow_mut();
        if marks.all.len() > 2 * MAX_FINDINGS {
            return Outcome::Lost;
        }
        let is_lost = left_out.contains(&Mark::LeftOut(id(whole)));
        let n_before = marks.all.len();
        marks.all.extend(left_out);
        match is_lost || marks.all.len() == n_before {
            true => Outcome::Lost,
            false => Outcome::Again,
        }
    }
}

/// Gives any type a value that nobody sees.
#[derive(Clone, Copy)]
pub(super) struct StandIn;

impl<'de> IntoDeserializer<'de, DecodeError> for StandIn {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! stand_ins {
    ($($method:ident $visit:ident $value:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit($value)
        }
    )*};
}

impl<'de> Deserializer<'de> for StandIn {
    type Error = DecodeError;

    stand_ins! {
        deserialize_bool visit_bool false;
        deserialize_u8 visit_u8 0;
        deserialize_u16 visit_u16 0;
        deserialize_u32 visit_u32 0;
        deserialize_u64 visit_u64 0;
        deserialize_i8 visit_i8 0;
        deserialize_i16 visit_i16 0;
        deserialize_i32 visit_i32 0;
        deserialize_i64 visit_i64 0;
        deserialize_f32 visit_f32 0.0;
        deserialize_f64 visit_f64 0.0;
        deserialize_str visit_str "";
        deserialize_string visit_str "";
        deserialize_seq visit_seq SeqDeserializer::new(std::iter::empty::<Self>());
        deserialize_map visit_map MapDeserializer::new(std::iter::empty::<(&str, Self)>());
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_none()
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_seq(SeqDeserializer::new(std::iter::repeat_n(self, length)))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match name {
            NODE => visitor.visit_unit(),
            ITEMS => self.deserialize_seq(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match keys {
            // A value with its span.
            [] => self.deserialize_tuple(3, visitor),
            keys => {
                let keys = Keys(keys).without_aliases();
                visitor.visit_map(MapDeserializer::new(keys.map(|key| (key, self))))
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let first = variants.iter().take(1).map(|name| (*name, self));
        visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(first)))
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple_struct identifier ignored_any
    }
}
