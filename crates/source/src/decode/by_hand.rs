//! Pieces that are read by hand, and checks, within structs that serde reads.
//!
//! Serde's data model has no nodes, and a [`serde::Deserialize`] knows its deserializer only as a trait. So the decoder
//! lays the node that it stands at into a cell of the thread, where the visitor of such a piece takes it, and the visitor
//! leaves its findings there. Deserializers that don't know the reserved names give an error.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, SeqAccess, Visitor,
};

use super::DecodeError;
use super::decoder::Decoder;
use crate::diagnostic::Diagnostic;
use crate::json::{Node, NodeKind};
use crate::reader::{Format, Object, Reader};
use crate::yaml::AmbiguousScalar;
use crate::{SourceFile, Span};

/// The name of a piece that is read by hand.
pub(super) const NODE: &str = "$Node";
/// The name of a struct that is checked when it was read.
pub(super) const CHECKED: &str = "$Checked";

/// The same, where a check looks at the object alone, so that it may run with a stand-in for a missing key, too.
pub(super) const CHECKED_ALWAYS: &str = "$CheckedAlways";

/// What the visitor gets.
struct Handed {
    node: Node,
    pointer: String,
    source: SourceFile,
    format: &'static Format,
    yaml: Option<Rc<[AmbiguousScalar]>>,
}

/// What the visitor gives.
#[derive(Default)]
struct Found {
    diagnostics: Vec<Diagnostic>,
    has_value: bool,
}

thread_local! {
    static HANDED: RefCell<Option<Handed>> = const { RefCell::new(None) };
    static FOUND: RefCell<Option<Found>> = const { RefCell::new(None) };
}

/// Reads the value at which a deserializer of [`super::decode`] stands by a function on its node and the pointer to it,
/// which files what is wrong, and returns nothing if the value is of no use.
///
/// `stand_in` is a value that nobody sees: with it, more mistakes are found where this one is required and absent.
///
/// # Errors
/// What is wrong was filed; or this is another deserializer.
pub fn by_hand<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    stand_in: Option<T>,
    read: impl FnOnce(&mut Reader<'_>, &Node, &str) -> Option<T>,
) -> Result<T, D::Error> {
    deserializer.deserialize_newtype_struct(NODE, Piece { stand_in, read })
}

/// Reads a struct by `read`, then calls `check` with it and the object that it was read from; if a required key is missing,
/// only if that `is_always` done. [`crate::checked`] writes the call.
///
/// # Errors
/// Those of `read`.
pub fn checked<'de, D: Deserializer<'de>, S: DeserializeSeed<'de>>(
    deserializer: D,
    read: S,
    check: impl FnOnce(&mut S::Value, &mut Reader<'_>, Object<'_>),
    is_always: bool,
) -> Result<S::Value, D::Error> {
    let name = match is_always {
        true => CHECKED_ALWAYS,
        false => CHECKED,
    };
    deserializer.deserialize_newtype_struct(name, Whole { read, check })
}

/// Implements `Deserialize` for a type with `#[serde(remote = "Self")]` and a method `check(&mut self, &mut Reader<'_>,
/// Object<'_>)`, which files what serde can't say. After `always` it is called for a struct with a stand-in for a required
/// key, too.
#[macro_export]
macro_rules! checked {
    (always $($type:ty),+ $(,)?) => { $crate::checked!(@ true, $($type),+); };
    (@ $is_always:literal, $($type:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Derived;
                impl<'de> serde::de::DeserializeSeed<'de> for Derived {
                    type Value = $type;

                    fn deserialize<D: serde::Deserializer<'de>>(
                        self,
                        deserializer: D,
                    ) -> Result<$type, D::Error> {
                        <$type>::deserialize(deserializer)
                    }
                }
                $crate::decode::checked(deserializer, Derived, <$type>::check, $is_always)
            }
        }
    )+};
    ($($type:ty),+ $(,)?) => { $crate::checked!(@ false, $($type),+); };
}

/// Defines types of a value whose text is looked at when it is read. Each derefs to what it holds.
#[macro_export]
macro_rules! parts {
    ($($(#[$meta:meta])* $vis:vis $part:ident($inner:ty) as $target:ty, $schema:tt, $read:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default)]
        $vis struct $part($vis $inner);

        impl std::ops::Deref for $part {
            type Target = $target;

            fn deref(&self) -> &$target {
                &self.0
            }
        }

        impl From<$inner> for $part {
            fn from(inner: $inner) -> Self {
                Self(inner)
            }
        }

        impl<'de> serde::Deserialize<'de> for $part {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                type Read = fn(
                    &mut $crate::reader::Reader<'_>,
                    &$crate::json::Node,
                    &str,
                ) -> Option<$inner>;
                let read: Read = $read;
                $crate::decode::by_hand(deserializer, Some(Self::default()), |reader, node, pointer| {
                    read(reader, node, pointer).map(Self)
                })
            }
        }

        impl schemars::JsonSchema for $part {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($part).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }

            fn inline_schema() -> bool {
                true
            }
        }
    )*};
}

/// Takes the node, and leaves the findings.
fn take_node<T, E: serde::de::Error>(
    read: impl FnOnce(&mut Reader<'_>, &Node, &str) -> Option<T>,
) -> Result<Option<T>, E> {
    let handed = HANDED.take();
    let handed = handed.ok_or_else(|| E::custom("only `source::decode` reads this type"))?;
    let mut reader = Reader::new(&handed.source, handed.format);
    if let Some(doubts) = handed.yaml {
        reader.set_yaml(doubts);
    }
    let value = read(&mut reader, &handed.node, &handed.pointer);
    FOUND.set(Some(Found {
        diagnostics: reader.diagnostics,
        has_value: value.is_some(),
    }));
    Ok(value)
}

struct Piece<T, F> {
    stand_in: Option<T>,
    read: F,
}

impl<'de, T, F: FnOnce(&mut Reader<'_>, &Node, &str) -> Option<T>> Visitor<'de> for Piece<T, F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that is read by hand")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<T, E> {
        self.stand_in.ok_or_else(|| E::custom("has no stand-in"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut steps: A) -> Result<T, A::Error> {
        steps.next_element::<()>()?;
        let value = take_node(self.read)?;
        steps.next_element::<()>()?;
        value.ok_or_else(|| A::Error::custom("is of no use"))
    }
}

struct Whole<S, F> {
    read: S,
    check: F,
}

impl<'de, S, F> Visitor<'de> for Whole<S, F>
where
    S: DeserializeSeed<'de>,
    F: FnOnce(&mut S::Value, &mut Reader<'_>, Object<'_>),
{
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that is checked")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<S::Value, D::Error> {
        self.read.deserialize(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut steps: A) -> Result<S::Value, A::Error> {
        let value = steps.next_element_seed(self.read)?;
        let mut value = value.ok_or_else(|| A::Error::custom("has no value"))?;
        if steps.next_element::<()>()?.is_some() {
            take_node(|reader, node, pointer| {
                (self.check)(&mut value, reader, Object { node, pointer });
                Some(())
            })?;
            steps.next_element::<()>()?;
        }
        Ok(value)
    }
}

/// What the decoder does for a piece: it reads the struct if there is one, hands over the node, and files the findings.
pub(super) struct HandOver<'a> {
    decoder: Decoder<'a>,
    next: Next,
}

#[derive(Clone, Copy)]
enum Next {
    Struct { is_always: bool },
    Node { is_whole: bool },
    Findings,
}

impl<'a> HandOver<'a> {
    /// For a piece with this reserved name.
    pub(super) fn new(decoder: Decoder<'a>, name: &str) -> Self {
        let next = match name {
            NODE => Next::Node { is_whole: true },
            _ => Next::Struct {
                is_always: name == CHECKED_ALWAYS,
            },
        };
        Self { decoder, next }
    }
}

impl<'a> SeqAccess<'a> for HandOver<'a> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Decoder { node, context } = self.decoder;
        match self.next {
            Next::Struct { is_always } => {
                let n_stand_ins = || context.marks.borrow().holders.len();
                let before = n_stand_ins();
                let value = seed.deserialize(self.decoder)?;
                let is_whole = is_always || n_stand_ins() == before;
                self.next = Next::Node { is_whole };
                return Ok(Some(value));
            }
            Next::Node { is_whole: false } => return Ok(None),
            Next::Node { .. } => {
                let mut node = node.clone();
                if context.input.offset != 0 {
                    shift(&mut node, &|span| context.span(span));
                }
                HANDED.set(Some(Handed {
                    node,
                    pointer: context.pointer(),
                    source: context.input.source.clone(),
                    format: context.input.format,
                    yaml: context.input.yaml.cloned(),
                }));
                self.next = Next::Findings;
            }
            Next::Findings => {
                let found = FOUND.take().unwrap_or_default();
                for diagnostic in found.diagnostics {
                    context.keep(diagnostic);
                }
                if !found.has_value {
                    return Err(DecodeError::filed());
                }
            }
        }
        seed.deserialize(().into_deserializer()).map(Some)
    }
}

/// Moves all places of a tree.
fn shift(node: &mut Node, moved: &impl Fn(Span) -> Span) {
    node.span = moved(node.span);
    match &mut node.kind {
        NodeKind::Array(items) => items.iter_mut().for_each(|item| shift(item, moved)),
        NodeKind::Object(members) => {
            for member in members {
                member.key_span = moved(member.key_span);
                shift(&mut member.value, moved);
            }
        }
        _ => {}
    }
}
