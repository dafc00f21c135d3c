//! Types that formats are made of, and that the decoder knows.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Span;

/// The name of a [`Spanned`].
pub(super) const SPANNED: &str = "$Spanned";
/// The name of [`Items`].
pub(super) const ITEMS: &str = "$Items";
/// The name of an enum of which the kind of a value chooses the variant.
pub(super) const KIND: &str = "$Kind";

/// A value with its place. Two are equal if their values are, wherever they stand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spanned<T> {
    /// The place.
    pub span: Span,
    /// The value.
    pub value: T,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        let span = Span::default();
        Self { span, value }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
            type Value = Spanned<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value with its place")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
                let missing = || de::Error::custom("a value with its place has three parts");
                let start = parts.next_element()?.ok_or_else(missing)?;
                let end = parts.next_element()?.ok_or_else(missing)?;
                let value = parts.next_element()?.ok_or_else(missing)?;
                let span = Span { start, end };
                Ok(Spanned { span, value })
            }
        }
        deserializer.deserialize_struct(SPANNED, &[], Parts(PhantomData))
    }
}

impl<T: Serialize> Serialize for Spanned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }
}

/// A list whose wrong items are left out. Only they are read again for more mistakes, so it is for long lists.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Items<T>(pub Vec<T>);

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Each<T> {
            type Value = Items<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                loop {
                    match list.next_element() {
                        Ok(Some(item)) => items.push(item),
                        Ok(None) => return Ok(Items(items)),
                        // The decoder has filed it, and stands there again or at the next one.
                        Err(_) => {}
                    }
                }
            }
        }
        deserializer.deserialize_newtype_struct(ITEMS, Each(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Items<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Items_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Vec<T>>::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

/// Reads [`Items`]: for `#[serde(deserialize_with)]`.
///
/// # Errors
/// It is no list.
pub fn items<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Items::deserialize(deserializer).map(|items| items.0)
}

/// Reads an object as the list of its entries, in the order of the text: for `#[serde(deserialize_with)]`. Keys may be
/// [`Spanned`].
///
/// # Errors
/// Those of the entries.
pub fn entries<'de, D: Deserializer<'de>, K: Deserialize<'de>, V: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<(K, V)>, D::Error> {
    struct Entries<K, V>(PhantomData<(K, V)>);
    impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
        type Value = Vec<(K, V)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(Entries(PhantomData))
}

/// One object, or an array of objects: what [`one_or_many`] reads, for the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "OneOrMany_{T}", untagged, inline)]
pub enum OneOrMany<T> {
    /// One.
    Object(T),
    /// Many.
    Array(Vec<T>),
}

/// Reads an array of objects, which may also be one object: for `#[serde(deserialize_with)]`.
///
/// # Errors
/// Those of the objects.
pub fn one_or_many<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::Object(one) => vec![one],
        OneOrMany::Array(many) => many,
    })
}

/// Reads a value that may be null, and is there even then: for `#[serde(deserialize_with)]` of an `Option`, with an alias
/// `?key` that keeps null from being taken for absence.
///
/// # Errors
/// Those of the value.
pub fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
