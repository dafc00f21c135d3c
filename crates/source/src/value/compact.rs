//! Compact JSON, byte for byte as `serde_json` writes it, for what is written by the million: lines of traces, answers
//! of stand-ins.
//!
//! The difference is how it gets into the line: a name with its quotes, its colon and the comma before it in one go,
//! and a text without anything to escape, which is nearly every one, as a whole.

use serde::ser::{self, Serialize, Serializer};
use serde_json::{Error, Result};

/// Puts `value` at the end of `line`.
///
/// # Errors
/// If the value can't be serialized, such as a map whose keys are no texts.
pub fn write(line: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    value.serialize(Compact { line })
}

/// Puts a text at the end of `line`.
pub fn write_text(line: &mut Vec<u8>, text: &str) -> Result<()> {
    if needs_escapes(text.as_bytes()) {
        return serde_json::to_writer(line, text);
    }
    line.reserve(text.len() + 2);
    line.push(b'"');
    line.extend_from_slice(text.as_bytes());
    line.push(b'"');
    Ok(())
}

/// Eight bytes at a time: most texts are short, and byte by byte each would take longer than all else that is written.
fn needs_escapes(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    // What is left behind the words is looked at together with bytes before it.
    let mut last = [b' '; 8];
    match text.last_chunk::<8>() {
        Some(chunk) => last = *chunk,
        None => last[..rest.len()].copy_from_slice(rest),
    }
    // Without a way out in the middle, so that several words are looked at together.
    let found = words.iter().fold(escaped_bytes(last), |found, word| {
        found | escaped_bytes(*word)
    });
    found != 0
}

/// The highest bit of each byte that needs an escape. Above such a byte, others may be marked too.
#[inline]
fn escaped_bytes(bytes: [u8; 8]) -> u64 {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    let word = u64::from_ne_bytes(bytes);
    let below = |word: u64, limit: u64| word.wrapping_sub(EACH * limit) & !word;
    let is = |byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    (below(word, u64::from(b' ')) | is(b'"') | is(b'\\')) & (EACH << 7)
}

/// One value.
struct Compact<'a> {
    line: &'a mut Vec<u8>,
}

/// The elements of a list or the members of an object.
struct Parts<'a> {
    line: &'a mut Vec<u8>,
    is_first: bool,
    /// What stands at the end.
    end: u8,
    /// Whether an object around it, with nothing else in it, ends there too.
    is_variant: bool,
}

impl<'a> Compact<'a> {
    fn parts(self, begin: u8, end: u8) -> Parts<'a> {
        self.line.push(begin);
        Parts {
            line: self.line,
            is_first: true,
            end,
            is_variant: false,
        }
    }

    /// The parts of an object's one member.
    fn parts_of_variant(self, name: &'static str, begin: u8, end: u8) -> Result<Parts<'a>> {
        let parts = self.variant(name)?.parts(begin, end);
        Ok(Parts {
            is_variant: true,
            ..parts
        })
    }

    /// An object with one member, which is not closed.
    fn variant(self, name: &'static str) -> Result<Self> {
        self.line.push(b'{');
        write_text(self.line, name)?;
        self.line.push(b':');
        Ok(self)
    }

    fn integer(self, number: impl itoa::Integer) -> Result<()> {
        let mut digits = itoa::Buffer::new();
        match digits.format(number).as_bytes() {
            // Many numbers are small.
            [digit] => self.line.push(*digit),
            digits => self.line.extend_from_slice(digits),
        }
        Ok(())
    }

    fn word(self, word: &'static [u8]) -> Result<()> {
        self.line.extend_from_slice(word);
        Ok(())
    }
}

impl Parts<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if !self.is_first {
            self.line.push(b',');
        }
        self.is_first = false;
        value.serialize(Compact { line: self.line })
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        // Names of fields are written in our own code.
        debug_assert!(!needs_escapes(name.as_bytes()));
        match self.is_first {
            true => self.line.push(b'"'),
            false => self.line.extend_from_slice(b",\""),
        }
        self.is_first = false;
        self.line.extend_from_slice(name.as_bytes());
        self.line.extend_from_slice(b"\":");
        value.serialize(Compact { line: self.line })
    }

    fn finish(self) -> Result<()> {
        self.line.push(self.end);
        if self.is_variant {
            self.line.push(b'}');
        }
        Ok(())
    }
}

macro_rules! integers {
    ($($name:ident $type:ty),*) => {
        $(fn $name(self, number: $type) -> Result<()> { self.integer(number) })*
    };
}

impl<'a> Serializer for Compact<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    integers!(
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128
    );

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.word(if value { b"true" } else { b"false" })
    }

    fn serialize_f32(self, number: f32) -> Result<()> {
        serde_json::to_writer(self.line, &number)
    }

    fn serialize_f64(self, number: f64) -> Result<()> {
        serde_json::to_writer(self.line, &number)
    }

    fn serialize_char(self, character: char) -> Result<()> {
        write_text(self.line, character.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<()> {
        write_text(self.line, text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<()> {
        serde_json::to_writer(self.line, bytes)
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.word(b"null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<()> {
        write_text(self.line, name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        let inner = self.variant(name)?;
        value.serialize(Compact {
            line: &mut *inner.line,
        })?;
        inner.word(b"}")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>> {
        Ok(self.parts(b'[', b']'))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>> {
        Ok(self.parts(b'[', b']'))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>> {
        Ok(self.parts(b'[', b']'))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Parts<'a>> {
        self.parts_of_variant(name, b'[', b']')
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>> {
        Ok(self.parts(b'{', b'}'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>> {
        Ok(self.parts(b'{', b'}'))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Parts<'a>> {
        self.parts_of_variant(name, b'{', b'}')
    }
}

macro_rules! elements {
    ($($trait:ident $method:ident),*) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.element(value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

elements!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

macro_rules! members {
    ($($trait:ident),*) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<()> {
                self.member(name, value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

members!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        if !self.is_first {
            self.line.push(b',');
        }
        self.is_first = false;
        let begin = self.line.len();
        key.serialize(Compact { line: self.line })?;
        match self.line.get(begin) {
            Some(b'"') => Ok(()),
            // Numbers and truth values are put in quotes.
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.line.insert(begin, b'"');
                self.line.push(b'"');
                Ok(())
            }
            _ => Err(ser::Error::custom("the name of a member must be a text")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.line.push(b':');
        value.serialize(Compact { line: self.line })
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Serialize;

    use crate::value::Json;

    fn written(value: &impl Serialize) -> String {
        let mut line = b"before ".to_vec();
        super::write(&mut line, value).expect("it can be written");
        let text = String::from_utf8(line).expect("UTF-8");
        text.strip_prefix("before ").expect("appended").to_owned()
    }

    #[derive(Serialize)]
    struct Pair(u8, Option<char>);

    #[derive(Serialize)]
    struct Alone(f32);

    #[derive(Serialize)]
    enum Kind {
        Plain,
        Wrapped(i8),
        Tuple(bool, ()),
        Named { a: u64, b: Vec<u128> },
    }

    #[derive(Serialize)]
    struct All<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<u8>,
        pair: Pair,
        alone: Alone,
        kinds: Vec<Kind>,
        numbers: BTreeMap<i32, f64>,
        flags: BTreeMap<bool, (i64, i128)>,
        none: BTreeMap<String, ()>,
    }

    #[test]
    fn every_shape_is_written_as_the_library_writes_it() {
        let all = All {
            name: "tab\tand \u{7f} and \u{1}",
            left_out: None,
            pair: Pair(7, Some('"')),
            alone: Alone(0.1),
            kinds: vec![
                Kind::Plain,
                Kind::Wrapped(-3),
                Kind::Tuple(true, ()),
                Kind::Named {
                    a: u64::MAX,
                    b: vec![0, u128::MAX],
                },
            ],
            numbers: BTreeMap::from([(-1, f64::NAN), (2, 1e300)]),
            flags: BTreeMap::from([(false, (i64::MIN, i128::MIN))]),
            none: BTreeMap::new(),
        };
        assert_eq!(written(&all), serde_json::to_string(&all).expect("text"));
    }

    #[test]
    fn a_list_is_no_name() {
        let bad = BTreeMap::from([(vec![1], 2)]);
        assert!(serde_json::to_string(&bad).is_err());
        assert!(super::write(&mut Vec::new(), &bad).is_err());
    }

    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<u64>().prop_map(Json::from),
            any::<f64>().prop_map(Json::from),
            "\\PC*".prop_map(Json::from),
            any::<String>().prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn every_byte_is_seen_at_every_place() {
        for length in 0..40 {
            for at in 0..length {
                for byte in 0..128 {
                    let mut text = vec![b'~'; length];
                    text[at] = byte;
                    let needs = byte < b' ' || byte == b'"' || byte == b'\\';
                    assert_eq!(
                        super::needs_escapes(&text),
                        needs,
                        "{byte} at {at} of {length}"
                    );
                }
            }
        }
        assert!(!super::needs_escapes(&[
            0x80, 0xa2, 0xdc, 0xff, 0x9f, 0x7f, b'!', b'#', b'[', b']'
        ]));
    }

    proptest! {
        #[test]
        fn json_is_written_as_the_library_writes_it(value in json()) {
            prop_assert_eq!(written(&value), serde_json::to_string(&value).expect("text"));
        }
    }
}
