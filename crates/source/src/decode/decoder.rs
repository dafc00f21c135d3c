//! The serde deserializer.

use std::slice::Iter;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer as _, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::by_hand::{CHECKED, CHECKED_ALWAYS, HandOver, NODE};
use super::recovery::{Mark, Outcome, StandIn, id};
use super::wrappers::{ITEMS, KIND, SPANNED};
use super::{Context, DecodeError, MAX_ITEMS, PathStep, StepName};
use crate::diagnostic::{Diagnostic, Severity, did_you_mean};
use crate::json::{Member, Node, NodeKind};
use crate::reader::{
    CUSTOM_KEY, article, asserts, either, first_character, found, is_custom, meant_key,
};
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
pub(super) struct Decoder<'a> {
    pub(super) node: &'a Node,
    pub(super) context: &'a Context<'a>,
}

/// What an alias begins with that is a rule, and no key.
const RULES: [char; 3] = ['?', '!', '~'];

/// The keys of a struct as serde lists them: with their aliases, of which some stand for a rule.
#[derive(Clone, Copy)]
pub(super) struct Keys(pub(super) &'static [&'static str]);

impl Keys {
    fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        let names = self.0.iter().copied();
        names.filter(|name| !name.starts_with(RULES))
    }

    /// The keys without other spellings of them.
    pub(super) fn without_aliases(self) -> impl Iterator<Item = &'static str> + Clone {
        let names = self.names().enumerate();
        names.filter_map(move |(at, name)| {
            let mut before = self.names().take(at);
            (!before.any(|other| is_same_key(name, other))).then_some(name)
        })
    }

    /// Whether it is a key of the struct.
    fn knows(self, key: &str) -> bool {
        self.0.contains(&key) && !key.starts_with(RULES)
    }

    /// Whether the member is of the struct, and no null that stands for its absence.
    fn has(self, member: &Member) -> bool {
        let is_nullable = |key: &str| {
            let mut rules = self.0.iter().filter_map(|name| name.strip_prefix('?'));
            rules.any(|name| name == key)
        };
        self.knows(&member.key) && (!member.value.is_null() || is_nullable(&member.key))
    }

    fn has_rule(self, rule: &str) -> bool {
        self.0.contains(&rule)
    }
}

/// Whether two keys differ in their style alone: `timeoutMs`, `timeout_ms`.
fn is_same_key(one: &str, other: &str) -> bool {
    let letters = |key: &str| {
        let letters = key.chars().filter(|letter| *letter != '_');
        letters
            .map(|letter| letter.to_ascii_lowercase())
            .collect::<String>()
    };
    letters(one) == letters(other)
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
        self.context.path.borrow_mut().push(step);
        let result = read(part).map_err(|error| part.placed(error));
        self.context.path.borrow_mut().pop();
        result
    }

    /// Returns the error with the place and the name of this value, unless it has those of a part of it.
    fn placed(self, mut error: DecodeError) -> DecodeError {
        if error.mark.is_none() {
            error.mark = Some(Mark::LeftOut(self.context.part()));
        }
        if error.place.is_none() {
            if error.shows_found {
                error.message.push_str(&self.found());
            }
            let span = match self.node.kind {
                NodeKind::Object(_) | NodeKind::Array(_) => self.first_character(),
                _ => self.node.span,
            };
            error.message.insert_str(0, &self.context.subject());
            error.place = Some((span, self.context.pointer()));
        }
        error
    }

    /// What stands there; of a text that is withheld only its kind.
    fn found(self) -> String {
        match self.context.reader.source.is_withheld() && !self.node.is_null() {
            true => article(self.node.kind_name()),
            false => found(self.node),
        }
    }

    fn first_character(self) -> crate::Span {
        first_character(self.context.reader.source, self.node.span)
    }

    fn wrong_type(self, expected: &str) -> DecodeError {
        let message = format!(" must be {expected}, not {}", self.found());
        let help = self
            .context
            .reader
            .type_help(self.node, expected == "a string");
        let error = DecodeError::new(|format| format.wrong_type, message);
        DecodeError { help, ..error }
    }

    fn invalid(self, message: String) -> DecodeError {
        DecodeError::new(|format| format.value, message)
    }

    fn bounded<T>(self, items: &'a [T]) -> Result<&'a [T]> {
        match items.len() > MAX_ITEMS {
            true => Err(self.invalid(format!(" has more than {MAX_ITEMS} items"))),
            false => Ok(items),
        }
    }

    fn list(self, rule: ListRule) -> Result<List<'a>> {
        let items = self.node.as_array();
        let items = items.ok_or_else(|| self.wrong_type("an array"))?;
        Ok(List {
            items: self.bounded(items)?,
            idx: 0,
            decoder: self,
            rule,
        })
    }

    /// The entries of an object: all of them, or those of a struct with these keys.
    fn entries(self, keys: Option<Keys>) -> Result<Entries<'a>> {
        let members = self.node.as_object();
        let members = members.ok_or_else(|| self.wrong_type("an object"))?;
        let stand_in = |keys: Keys| {
            let mark =
                |key: &&'static str| self.context.has_mark(Mark::StandIn(id(self.node), key));
            keys.names().filter(mark).collect()
        };
        Ok(Entries {
            members: self.bounded(members)?.iter(),
            value: None,
            keys,
            stand_in: None,
            stand_ins: keys
                .filter(|_| self.context.has_marks())
                .map(stand_in)
                .unwrap_or_default(),
            decoder: self,
        })
    }

    /// Reads a struct, and files its unknown keys.
    fn structure<V: Visitor<'a>>(self, keys: Keys, visitor: V) -> Result<V::Value> {
        match visitor.visit_map(self.entries(Some(keys))?) {
            Ok(value) => {
                self.file_unknown(keys);
                Ok(value)
            }
            Err(error) => match (error.missing, &error.place) {
                // Nothing stands in for the missing key, so this was the last attempt.
                (Some(_), None) if error.is_filed => {
                    self.file_unknown(keys);
                    Err(error)
                }
                (Some(missing), None) => Err(self.missing(keys, missing, error)),
                _ => Err(error),
            },
        }
    }

    /// The members with keys that the struct doesn't know, and the keys that were probably meant.
    fn unknown(self, keys: Keys) -> impl Iterator<Item = (&'a Member, Option<&'static str>)> {
        let members = self.node.members().iter();
        let unknown =
            members.filter(move |member| !keys.knows(&member.key) && !is_custom(&member.key));
        unknown.map(move |member| (member, meant_key(&member.key, keys.names())))
    }

    /// The error about a missing key, at the place of the one that was probably meant to be it.
    fn missing(self, keys: Keys, missing: &'static str, mut error: DecodeError) -> DecodeError {
        error.mark = Some(Mark::StandIn(id(self.node), missing));
        let mut members = self.node.members().iter();
        let wrong = members.find(|member| is_same_key(&member.key, missing));
        error.is_filed = wrong.is_some_and(|member| self.context.is_left_out(&member.value));
        let mut unknown = self.unknown(keys);
        let typo = unknown.find(|(_, meant)| *meant == Some(missing));
        error.label = typo.map(|_| format!("did you mean `{missing}`?"));
        let added = self.context.reader.written_key(missing);
        error.help = typo.is_none().then(|| format!("add {added}"));
        // Null is as good as absent, and there it stands.
        let null = self.node.get(missing).map(|null| null.span);
        let span = typo.map(|(member, _)| member.key_span).or(null);
        let span = span.unwrap_or_else(|| self.first_character());
        error.place = Some((span, self.pointer_to(missing)));
        error.message.insert_str(0, &self.context.subject());
        error
    }

    fn file_unknown(self, keys: Keys) {
        let mut typos = Vec::new();
        for (member, meant) in self.unknown(keys) {
            let stand_in = meant.map(|key| Mark::StandIn(id(self.node), key));
            if stand_in.is_some_and(|mark| self.context.has_mark(mark)) && !typos.contains(&meant) {
                // It was reported with the key that is missing.
                typos.push(meant);
                continue;
            }
            if keys.has_rule("~") && meant.is_none() {
                continue;
            }
            let key = member.key.as_str();
            let subject = self.context.subject();
            let message = format!("unknown key `{}` in {subject}", cut(key, 100));
            let mut found = Diagnostic::warning(self.context.reader.format().unknown, message)
                .at(self.context.reader.source, member.key_span)
                .with_pointer(self.pointer_to(key));
            if keys.has_rule("!") || meant.is_some_and(asserts) {
                found.severity = Severity::Error;
            }
            match meant {
                Some(name) => found.label = Some(format!("did you mean `{name}`?")),
                None => found.help = Some(CUSTOM_KEY.to_owned()),
            }
            self.context.keep(found);
        }
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
            NodeKind::Array(_) => visitor.visit_seq(self.list(ListRule::Parts)?),
            NodeKind::Object(_) => visitor.visit_map(self.entries(None)?),
        }
    }

    integers! {
        deserialize_u8 visit_u8 u8, "an integer from 0 to 255";
        deserialize_u16 visit_u16 u16, "an integer from 0 to 65535";
        deserialize_u32 visit_u32 u32, "an integer from 0 to 4294967295";
        deserialize_u64 visit_u64 u64, "a non-negative integer";
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
        visitor.visit_seq(self.list(ListRule::Parts)?)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        let list = self.list(ListRule::Tuple)?;
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
        match name {
            ITEMS => visitor.visit_seq(self.list(ListRule::Attempts)?),
            NODE | CHECKED | CHECKED_ALWAYS => visitor.visit_seq(HandOver::new(self, name)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match name == SPANNED {
            true => visitor.visit_seq(SpanThenValue {
                n_read: 0,
                span: self.node.span,
                value: self,
            }),
            false => self.structure(Keys(fields), visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if name == KIND {
            let kind = self.node.kind_name();
            if !variants.contains(&kind) {
                let kinds: Vec<_> = variants.iter().map(|kind| article(kind)).collect();
                return Err(self.wrong_type(&either(&kinds)));
            }
            return visitor.visit_enum(Variant {
                name: kind,
                value: VariantValue::Itself,
                decoder: self,
            });
        }
        let (name, value) = match &self.node.kind {
            NodeKind::String(name) => (name, VariantValue::None),
            NodeKind::Object(members) => match members.as_slice() {
                [member] => (&member.key, VariantValue::Member(member)),
                _ => {
                    let names: Vec<_> = variants.iter().map(|name| format!("`{name}`")).collect();
                    let message = format!(" must have one key, of {}", either(&names));
                    return Err(DecodeError::new(|format| format.wrong_type, message));
                }
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

/// What becomes of a wrong item.
#[derive(Clone, Copy, PartialEq)]
enum ListRule {
    /// Without it the others are something else.
    Tuple,
    /// It is left out of the next attempt to read the whole.
    Parts,
    /// It is read again by itself.
    Attempts,
}

struct List<'a> {
    items: &'a [Node],
    idx: usize,
    decoder: Decoder<'a>,
    rule: ListRule,
}

impl<'a> SeqAccess<'a> for List<'a> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Decoder { context, .. } = self.decoder;
        let is_part = self.rule != ListRule::Tuple;
        let rest = self.items.get(self.idx..).unwrap_or_default();
        let left_out = rest
            .iter()
            .take_while(|item| is_part && context.is_left_out(item));
        self.idx += left_out.count();
        let Some(node) = self.items.get(self.idx) else {
            return Ok(None);
        };
        let step = PathStep {
            name: StepName::Item(self.idx),
            moved: context.reader.moved.get(&node.span).cloned(),
            part: is_part.then(|| id(node)),
        };
        self.idx += 1;
        let read = |item: Decoder<'a>| seed.deserialize(item);
        if self.rule != ListRule::Attempts {
            return self.decoder.part(step, node, read).map(Some);
        }
        let holders = std::mem::take(&mut context.marks.borrow_mut().holders);
        let result = self.decoder.part(step, node, read);
        let outcome = context.settle(result, node);
        context.marks.borrow_mut().holders = holders;
        match outcome {
            Outcome::Read(value) => return Ok(Some(value)),
            Outcome::Again => self.idx -= 1,
            Outcome::Lost => {}
        }
        Err(DecodeError::filed())
    }
}

struct Entries<'a> {
    members: Iter<'a, Member>,
    value: Option<&'a Member>,
    keys: Option<Keys>,
    /// The keys that get a stand-in, behind the members.
    stand_ins: Vec<&'static str>,
    /// The one of them whose value comes next.
    stand_in: Option<&'static str>,
    decoder: Decoder<'a>,
}

impl<'a> MapAccess<'a> for Entries<'a> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let (keys, context) = (self.keys, self.decoder.context);
        let is_read = |member: &&Member| {
            keys.is_none_or(|keys| keys.has(member)) && !context.is_left_out(&member.value)
        };
        self.value = self.members.find(is_read);
        let Some(member) = self.value else {
            let Some(key) = self.stand_ins.pop() else {
                return Ok(None);
            };
            self.stand_in = Some(key);
            let part = context.part();
            context.marks.borrow_mut().holders.push(part);
            return seed
                .deserialize(BorrowedStrDeserializer::new(key))
                .map(Some);
        };
        let key = seed.deserialize(Key(member));
        key.map(Some).map_err(|mut error: DecodeError| {
            error
                .message
                .insert_str(0, &format!("the key `{}`", cut(&member.key, 100)));
            error.place = Some((member.key_span, self.decoder.pointer_to(&member.key)));
            error
        })
    }

    fn next_value_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<T::Value> {
        let Some(member) = self.value.take() else {
            // A type without a stand-in: what holds it is left out.
            let lost = |_| DecodeError {
                missing: self.stand_in,
                ..DecodeError::filed()
            };
            return seed.deserialize(StandIn).map_err(lost);
        };
        let step = PathStep {
            name: StepName::Key(member.key.clone()),
            moved: None,
            part: Some(id(&member.value)),
        };
        let read = |value: Decoder<'a>| seed.deserialize(value);
        self.decoder.part(step, &member.value, read)
    }
}

/// A variant: its name alone, an object with its name and what is in it, or the kind of a value.
struct Variant<'a> {
    name: &'a str,
    value: VariantValue<'a>,
    decoder: Decoder<'a>,
}

enum VariantValue<'a> {
    None,
    Member(&'a Member),
    Itself,
}

impl<'a> Variant<'a> {
    fn value<T>(self, read: impl FnOnce(Decoder<'a>) -> Result<T>) -> Result<T> {
        match self.value {
            VariantValue::None => {
                let message = format!(" must be an object with the key `{}`", self.name);
                Err(self.decoder.invalid(message))
            }
            VariantValue::Member(member) => {
                let name = StepName::Key(member.key.clone());
                let step = PathStep {
                    name,
                    moved: None,
                    part: None,
                };
                self.decoder.part(step, &member.value, read)
            }
            VariantValue::Itself => read(self.decoder),
        }
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
            VariantValue::Member(member) if !member.value.is_null() => {
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
        self.value(|value| value.structure(Keys(fields), visitor))
    }
}

/// The three elements of a [`Spanned`](super::Spanned): where the value begins, where it ends, the value.
struct SpanThenValue<D> {
    n_read: u8,
    span: crate::Span,
    value: D,
}

impl<'a, D: Deserializer<'a, Error = DecodeError> + Copy> SeqAccess<'a> for SpanThenValue<D> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        self.n_read += 1;
        match self.n_read {
            1 => seed.deserialize(self.span.start.into_deserializer()),
            2 => seed.deserialize(self.span.end.into_deserializer()),
            _ => seed.deserialize(self.value),
        }
        .map(Some)
    }
}

/// A key: a string, perhaps with its place.
#[derive(Clone, Copy)]
struct Key<'a>(&'a Member);

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(&self.0.key)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_seq(SpanThenValue {
            n_read: 0,
            span: self.0.key_span,
            value: self,
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(BorrowedStrDeserializer::new(&self.0.key))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}
