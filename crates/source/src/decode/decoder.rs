//! The serde deserializer.

use std::iter::Enumerate;
use std::slice::Iter;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer as _,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Context, DecodeError, Items, MAX_DEPTH, MAX_ITEMS, PathStep, Spanned};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::json::{Member, Node, NodeKind};
use crate::reader::{either, first_character, found};
use crate::value::{Json, cut};

type Result<T> = std::result::Result<T, DecodeError>;

/// Reads a whole tree.
pub(super) fn read<T: DeserializeOwned>(root: &Node, context: &Context<'_>) -> Result<T> {
    let decoder = Decoder {
        node: root,
        context,
    };
    T::deserialize(decoder).map_err(|error| decoder.placed(error))
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Decoder<'a> {
    node: &'a Node,
    context: &'a Context<'a>,
}

impl<'a> Decoder<'a> {
    /// Reads a part of this value.
    fn part<T>(
        self,
        step: PathStep,
        node: &'a Node,
        read: impl FnOnce(Self) -> Result<T>,
    ) -> Result<T> {
        let part = Self { node, ..self };
        let depth = {
            let mut path = self.context.path.borrow_mut();
            path.push(step);
            path.len()
        };
        let result = match depth > MAX_DEPTH {
            true => Err(self.invalid(format!(" is nested more than {MAX_DEPTH} levels deep"))),
            false => read(part),
        };
        let result = result.map_err(|error| part.placed(error));
        self.context.path.borrow_mut().pop();
        result
    }

    /// Returns the error with the place and the name of this value, unless it has those of a part of it.
    fn placed(self, mut error: DecodeError) -> DecodeError {
        if error.place.is_none() {
            let mut span = self.context.span(self.node.span);
            if matches!(self.node.kind, NodeKind::Object(_) | NodeKind::Array(_)) {
                span = first_character(self.context.input.source, span);
            }
            error.message.insert_str(0, &self.context.subject());
            error.place = Some((span, self.context.pointer()));
        }
        error
    }

    fn wrong_type(self, expected: &str) -> DecodeError {
        let message = format!(" must be {expected}, not {}", found(self.node));
        DecodeError::new(|format| format.wrong_type, message)
    }

    fn invalid(self, message: String) -> DecodeError {
        DecodeError::new(|format| format.value, message)
    }

    fn items<T>(self, items: &'a [T]) -> Result<Iter<'a, T>> {
        match items.len() > MAX_ITEMS {
            true => Err(self.invalid(format!(" has more than {MAX_ITEMS} items"))),
            false => Ok(items.iter()),
        }
    }

    fn list(self, goes_on: bool) -> Result<List<'a>> {
        let items = self.node.as_array();
        let items = items.ok_or_else(|| self.wrong_type("an array"))?;
        Ok(List {
            items: self.items(items)?.enumerate(),
            decoder: self,
            goes_on,
        })
    }

    /// The entries of an object: all of them, or those of a struct with these `fields`.
    fn entries(self, fields: Option<&'static [&'static str]>) -> Result<Entries<'a>> {
        let members = self.node.as_object();
        let members = members.ok_or_else(|| self.wrong_type("an object"))?;
        Ok(Entries {
            members: self.items(members)?,
            value: None,
            fields,
            decoder: self,
        })
    }

    /// Reads a struct. Its unknown keys are filed; one that was probably meant to be a key that is missing makes one
    /// finding with it.
    fn structure<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let mut result = visitor.visit_map(self.entries(Some(fields))?);
        for member in self.node.members() {
            let key = member.key.as_str();
            if fields.contains(&key) || key.starts_with("x-") || key.starts_with(['_', '$']) {
                continue;
            }
            let proposal = did_you_mean(key, fields.iter().copied());
            let label = proposal.map(|name| format!("did you mean `{name}`?"));
            let place = (self.context.span(member.key_span), self.pointer_to(key));
            match &mut result {
                Err(error)
                    if error.place.is_none()
                        && proposal.is_some_and(|name| error.missing == Some(name)) =>
                {
                    error.message.insert_str(0, &self.context.subject());
                    error.label = label;
                    error.place = Some(place);
                }
                _ => self.unknown_key(key, place, label),
            }
        }
        result.map_err(|mut error| {
            // Null is as good as absent, and there it stands.
            let null = error.missing.and_then(|field| self.node.get(field));
            if let (Some(null), None) = (null, &error.place) {
                error.message.insert_str(0, &self.context.subject());
                error.place = Some((self.context.span(null.span), self.context.pointer()));
            }
            error
        })
    }

    fn unknown_key(self, key: &str, (span, pointer): (crate::Span, String), label: Option<String>) {
        let input = self.context.input;
        let message = format!(
            "unknown key `{}` in {}",
            cut(key, 100),
            self.context.subject()
        );
        let mut found = Diagnostic::warning(input.format.unknown, message)
            .at(input.source, span)
            .with_pointer(pointer);
        if label.is_none() {
            found.help = Some(
                "remove it, or start its name with `x-` to keep it as a custom field".to_owned(),
            );
        }
        found.label = label;
        self.context.keep(found);
    }

    fn pointer_to(self, key: &str) -> String {
        let mut pointer = self.context.pointer();
        crate::value::push_pointer(&mut pointer, key);
        pointer
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $type:ty, $expected:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            let number = self.node.as_number_text().and_then(|text| text.parse::<$type>().ok());
            visitor.$visit(number.ok_or_else(|| self.wrong_type($expected))?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Decoder<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.node.kind {
            NodeKind::Null => visitor.visit_unit(),
            NodeKind::Bool(flag) => visitor.visit_bool(*flag),
            NodeKind::Number(_) => match self.node.to_value() {
                Json::Number(number) => match (number.as_u64(), number.as_i64()) {
                    (Some(number), _) => visitor.visit_u64(number),
                    (None, Some(number)) => visitor.visit_i64(number),
                    (None, None) => visitor.visit_f64(number.as_f64().unwrap_or_default()),
                },
                // An integer with more digits than fit is the text of its digits.
                Json::String(digits) => visitor.visit_string(digits),
                _ => Err(self.wrong_type("a number that fits")),
            },
            NodeKind::String(text) => visitor.visit_borrowed_str(text),
            NodeKind::Array(_) => visitor.visit_seq(self.list(false)?),
            NodeKind::Object(_) => visitor.visit_map(self.entries(None)?),
        }
    }

    integers! {
        deserialize_u8 visit_u8 u8, "an integer from 0 to 255";
        deserialize_u16 visit_u16 u16, "an integer from 0 to 65535";
        deserialize_u32 visit_u32 u32, "an integer from 0 to 4294967295";
        deserialize_u64 visit_u64 u64, "a whole number, 0 or more";
        deserialize_i8 visit_i8 i8, "an integer from -128 to 127";
        deserialize_i16 visit_i16 i16, "an integer from -32768 to 32767";
        deserialize_i32 visit_i32 i32, "an integer from -2147483648 to 2147483647";
        deserialize_i64 visit_i64 i64, "an integer";
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let number = self.node.as_f64().filter(|number| number.is_finite());
        visitor.visit_f64(number.ok_or_else(|| self.wrong_type("a number"))?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let flag = self.node.as_bool();
        visitor.visit_bool(flag.ok_or_else(|| self.wrong_type("true or false"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let text = self.node.as_str();
        visitor.visit_borrowed_str(text.ok_or_else(|| self.wrong_type("a string"))?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node.is_null() {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node.is_null() {
            true => visitor.visit_unit(),
            false => Err(self.wrong_type("null")),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_seq(self.list(false)?)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        let list = self.list(false)?;
        match list.items.len() == length {
            true => visitor.visit_seq(list),
            false => Err(self.wrong_type(&format!("an array of {length} items"))),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_map(self.entries(None)?)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match name == Items::<()>::NAME {
            true => visitor.visit_seq(self.list(true)?),
            false => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match name == Spanned::<()>::NAME {
            true => visitor.visit_seq(SpanThenValue {
                n_read: 0,
                decoder: self,
            }),
            false => self.structure(fields, visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let (name, value) = match &self.node.kind {
            NodeKind::String(name) => (name, None),
            NodeKind::Object(members) => match members.as_slice() {
                [member] => (&member.key, Some(member)),
                _ => return Err(self.wrong_type("an object with one key")),
            },
            _ => return Err(self.wrong_type("a string")),
        };
        if !variants.contains(&name.as_str()) {
            let names: Vec<_> = variants.iter().map(|name| format!("`{name}`")).collect();
            let message = format!(" must be {}, not `{}`", either(&names), cut(name, 40));
            let mut error = self.invalid(message);
            error.label = did_you_mean(name, variants.iter().copied())
                .map(|name| format!("did you mean `{name}`?"));
            return Err(error);
        }
        visitor.visit_enum(Variant {
            name,
            value,
            decoder: self,
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit_struct tuple_struct identifier
    }
}

struct List<'a> {
    items: Enumerate<Iter<'a, Node>>,
    decoder: Decoder<'a>,
    /// Whether a wrong item is filed, so that the next one can be read.
    goes_on: bool,
}

impl<'a> SeqAccess<'a> for List<'a> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some((idx, node)) = self.items.next() else {
            return Ok(None);
        };
        let read = |item: Decoder<'a>| seed.deserialize(item);
        let result = self.decoder.part(PathStep::Item(idx), node, read);
        if let (Err(error), true) = (&result, self.goes_on) {
            self.decoder.context.file(error.clone());
        }
        result.map(Some)
    }
}

struct Entries<'a> {
    members: Iter<'a, Member>,
    value: Option<&'a Member>,
    fields: Option<&'static [&'static str]>,
    decoder: Decoder<'a>,
}

impl<'a> MapAccess<'a> for Entries<'a> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let fields = self.fields;
        let is_read = |member: &&Member| {
            fields.is_none_or(|fields| {
                fields.contains(&member.key.as_str()) && !member.value.is_null()
            })
        };
        self.value = self.members.find(is_read);
        let Some(member) = self.value else {
            return Ok(None);
        };
        let key = seed.deserialize(BorrowedStrDeserializer::new(&member.key));
        key.map(Some).map_err(|mut error: DecodeError| {
            error
                .message
                .insert_str(0, &format!("the key `{}`", cut(&member.key, 100)));
            let span = self.decoder.context.span(member.key_span);
            error.place = Some((span, self.decoder.pointer_to(&member.key)));
            error
        })
    }

    fn next_value_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<T::Value> {
        let Some(member) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        let step = PathStep::Key(member.key.clone());
        let read = |value: Decoder<'a>| seed.deserialize(value);
        self.decoder.part(step, &member.value, read)
    }
}

/// A variant: its name alone, or an object with its name and what is in it.
struct Variant<'a> {
    name: &'a str,
    value: Option<&'a Member>,
    decoder: Decoder<'a>,
}

impl<'a> Variant<'a> {
    fn value<T>(self, read: impl FnOnce(Decoder<'a>) -> Result<T>) -> Result<T> {
        let Some(member) = self.value else {
            let message = format!(" must be an object with the key `{}`", self.name);
            return Err(self.decoder.invalid(message));
        };
        let step = PathStep::Key(member.key.clone());
        self.decoder.part(step, &member.value, read)
    }
}

impl<'a> EnumAccess<'a> for Variant<'a> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<(T::Value, Self)> {
        let name: StrDeserializer<'_, DecodeError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'a> VariantAccess<'a> for Variant<'a> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<()> {
        match self.value {
            Some(member) if !member.value.is_null() => {
                Err(self.decoder.wrong_type(&format!("`{}`", self.name)))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value> {
        self.value(|value| seed.deserialize(value))
    }

    fn tuple_variant<V: Visitor<'a>>(self, length: usize, visitor: V) -> Result<V::Value> {
        self.value(|value| value.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.value(|value| value.structure(fields, visitor))
    }
}

/// The three elements of a [`Spanned`]: where the value begins, where it ends, the value.
struct SpanThenValue<'a> {
    n_read: u8,
    decoder: Decoder<'a>,
}

impl<'a> SeqAccess<'a> for SpanThenValue<'a> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        self.n_read += 1;
        let span = self.decoder.context.span(self.decoder.node.span);
        match self.n_read {
            1 => seed.deserialize(span.start.into_deserializer()),
            2 => seed.deserialize(span.end.into_deserializer()),
            _ => seed.deserialize(self.decoder),
        }
        .map(Some)
    }
}
