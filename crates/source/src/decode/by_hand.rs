//! Pieces that are read by hand, and checks, within structs that serde reads.
//!
//! Serde's data model has no nodes, and a [`serde::Deserialize`] knows its deserializer only as a trait. So the visitor of
//! such a piece lays its function into a cell of the thread, where the decoder takes it and calls it with the node that it
//! stands at. Deserializers that don't know the reserved names give an error.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, SeqAccess, Visitor,
};

use super::DecodeError;
use super::decoder::Decoder;
use crate::json::Node;
use crate::reader::{Object, Reader};

/// The name of a piece that is read by hand.
pub(super) const NODE: &str = "$Node";
/// The name of a struct that is checked when it was read.
pub(super) const CHECKED: &str = "$Checked";

/// The same, where a check looks at the object alone, so that it may run with a stand-in for a missing key, too.
pub(super) const CHECKED_ALWAYS: &str = "$CheckedAlways";

/// Reads a node, and returns whether it is of use.
type ReadNode = dyn FnOnce(&mut Reader<'_>, &Node, &str) -> bool;

thread_local! {
    static READ: RefCell<Option<Box<ReadNode>>> = const { RefCell::new(None) };
}

/// Reads the value at which a deserializer of [`super::decode`] stands by a function on its node and the pointer to it,
/// which files what is wrong, and returns nothing if the value is of no use.
///
/// `stand_in` is a value that nobody sees: with it, more mistakes are found where this one is required and absent.
///
/// # Errors
/// What is wrong was filed; or this is another deserializer.
pub fn by_hand<'de, D: Deserializer<'de>, T: 'static>(
    deserializer: D,
    stand_in: Option<T>,
    read: impl FnOnce(&mut Reader<'_>, &Node, &str) -> Option<T> + 'static,
) -> Result<T, D::Error> {
    deserializer.deserialize_newtype_struct(NODE, Piece { stand_in, read })
}

/// Reads a struct by `read`, then calls `check` with it and the object that it was read from; if a required key is missing,
/// only if that `is_always` done. [`crate::checked`] writes the call.
///
/// # Errors
/// Those of `read`.
pub fn checked<'de, D: Deserializer<'de>, S: DeserializeSeed<'de, Value: 'static>>(
    deserializer: D,
    read: S,
    check: impl FnOnce(&mut S::Value, &mut Reader<'_>, Object<'_>) + 'static,
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

        $crate::pieces! {
            $part = |reader, node, pointer| {
                type Read = fn(
                    &mut $crate::reader::Reader<'_>,
                    &$crate::json::Node,
                    &str,
                ) -> Option<$inner>;
                let read: Read = $read;
                read(reader, node, pointer).map($part)
            }, Some($part::default()), $schema;
        }
    )*};
}

/// Types that are read by hand: by which function, what stands in for one, and the schema.
#[macro_export]
macro_rules! pieces {
    ($($piece:ident = $read:expr, $stand_in:expr, $schema:tt;)*) => {$(
        impl<'de> serde::Deserialize<'de> for $piece {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::decode::by_hand(deserializer, $stand_in, $read)
            }
        }

        impl schemars::JsonSchema for $piece {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($piece).into()
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

/// Has the decoder call a function with the node, and returns what it makes of `value`; that itself if it isn't called.
fn at_node<'de, A: SeqAccess<'de>, T: 'static>(
    steps: &mut A,
    value: Option<T>,
    read: impl FnOnce(Option<T>, &mut Reader<'_>, &Node, &str) -> Option<T> + 'static,
) -> Result<Option<T>, A::Error> {
    let slot = Rc::new(Cell::new(value));
    let inner = Rc::clone(&slot);
    READ.set(Some(Box::new(move |reader, node, pointer| {
        let value = read(inner.take(), reader, node, pointer);
        let is_of_use = value.is_some();
        inner.set(value);
        is_of_use
    })));
    let called = steps.next_element::<()>();
    READ.take();
    called.map(|_| slot.take())
}

struct Piece<T, F> {
    stand_in: Option<T>,
    read: F,
}

impl<'de, T: 'static, F> Visitor<'de> for Piece<T, F>
where
    F: FnOnce(&mut Reader<'_>, &Node, &str) -> Option<T> + 'static,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that is read by hand")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<T, E> {
        self.stand_in.ok_or_else(|| E::custom("has no stand-in"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut steps: A) -> Result<T, A::Error> {
        let read = self.read;
        let value = at_node(&mut steps, None, |_, reader, node, pointer| {
            read(reader, node, pointer)
        })?;
        value.ok_or_else(|| A::Error::custom("only `source::decode` reads this type"))
    }
}

struct Whole<S, F> {
    read: S,
    check: F,
}

impl<'de, S, F> Visitor<'de> for Whole<S, F>
where
    S: DeserializeSeed<'de, Value: 'static>,
    F: FnOnce(&mut S::Value, &mut Reader<'_>, Object<'_>) + 'static,
{
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that is checked")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<S::Value, D::Error> {
        self.read.deserialize(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut steps: A) -> Result<S::Value, A::Error> {
        let Self { read, check } = self;
        let value = steps.next_element_seed(read)?;
        let value = at_node(&mut steps, value, |value, reader, node, pointer| {
            let mut value = value?;
            check(&mut value, reader, Object { node, pointer });
            Some(value)
        })?;
        value.ok_or_else(|| A::Error::custom("has no value"))
    }
}

/// What the decoder does for a piece: it reads the struct if there is one, calls the function, and files the findings.
pub(super) struct HandOver<'a> {
    decoder: Decoder<'a>,
    next: Next,
}

#[derive(Clone, Copy)]
enum Next {
    Struct { is_always: bool },
    Node,
    End,
}

impl<'a> HandOver<'a> {
    /// For a piece with this reserved name.
    pub(super) fn new(decoder: Decoder<'a>, name: &str) -> Self {
        let next = match name {
            NODE => Next::Node,
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
                self.next = match is_always || n_stand_ins() == before {
                    true => Next::Node,
                    false => Next::End,
                };
                return Ok(Some(value));
            }
            Next::End => return Ok(None),
            Next::Node => {}
        }
        let read = READ.take();
        let mut reader = context.reader.without_findings();
        reader.n_patterns = context.n_patterns.get();
        let is_of_use = read.is_some_and(|read| read(&mut reader, node, &context.pointer()));
        context.n_patterns.set(reader.n_patterns);
        let found = reader.diagnostics.into_iter();
        found.for_each(|found| context.keep(found));
        match is_of_use {
            true => seed.deserialize(().into_deserializer()).map(Some),
            false => Err(DecodeError::filed()),
        }
    }
}
