//! Reads selectors.

use std::fmt;
use std::str::FromStr;

use super::css::Css;
use super::{Hop, Pattern, Selector, Within};
use crate::dom::HopKind;
use cuecard_source::value::cut;

/// The longest selector in bytes, and the most hops.
const LONGEST: usize = 8_000;
const MOST_HOPS: usize = 32;

/// A text that is no selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    /// The part of it that can't be read.
    pub part: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for SelectorError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "`{}` is not a valid selector: {}",
            cut(&self.part, 100),
            self.reason
        )
    }
}

impl std::error::Error for SelectorError {}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let error = |part: &str, reason: &str| SelectorError {
            part: part.to_owned(),
            reason: reason.to_owned(),
        };
        if text.len() > LONGEST {
            return Err(error(text, "it is longer than 8,000 bytes"));
        }
        let parts = parts(text);
        if parts.len() > MOST_HOPS {
            return Err(error(text, "it has more than 32 parts"));
        }
        let (mut hops, mut within, mut pattern, mut nth) = (Vec::new(), None, None, None);
        let mut own_text = None;
        for part in parts {
            let Some((kind, rest)) = part.split_once('=') else {
                return Err(error(
                    part,
                    "a part must start with its kind, such as `role=`",
                ));
            };
            if let Some(hop) = hop_kind(kind) {
                if within.is_some() || pattern.is_some() {
                    return Err(error(part, "frames and shadow hosts come first"));
                }
                hops.push(Hop {
                    kind: hop,
                    pattern: rest.parse()?,
                });
            } else if kind == "within" {
                if within.is_some() || pattern.is_some() {
                    return Err(error(part, "`within` is allowed once, before the element"));
                }
                within = Some(Within::from(rest.parse::<Pattern>()?));
            } else if kind == "has-text" {
                let known_by = match (&pattern, within.as_mut()) {
                    (Some(_), _) => Some(&mut own_text),
                    (None, within) => within.map(|within: &mut Within| &mut within.has_text),
                };
                let Some(known_by) = known_by.filter(|text| text.is_none() && nth.is_none()) else {
                    return Err(error(
                        part,
                        "`has-text` is allowed once, right after `within` or the element",
                    ));
                };
                let text = unquoted(rest).filter(|text| !text.trim().is_empty());
                let Some(text) = text else {
                    return Err(error(
                        part,
                        "the quoted text is not a non-empty JSON string",
                    ));
                };
                *known_by = Some(text);
            } else if kind == "nth" {
                if pattern.is_none() || nth.is_some() {
                    return Err(error(part, "`nth` is allowed once, after the element"));
                }
                let number = rest.parse().map_err(|_| {
                    error(
                        part,
                        "`nth` must be an integer: from 0, or from -1 backwards",
                    )
                })?;
                nth = Some(number);
            } else {
                if pattern.is_some() {
                    return Err(error(part, "it must come before the element"));
                }
                pattern = Some(part.parse()?);
            }
        }
        Ok(Self {
            hops,
            within,
            pattern: pattern.ok_or_else(|| error(text, "it has no element"))?,
            has_text: own_text,
            nth,
        })
    }
}

impl FromStr for Pattern {
    type Err = SelectorError;

    fn from_str(part: &str) -> Result<Self, SelectorError> {
        let error = |reason: &str| SelectorError {
            part: part.to_owned(),
            reason: reason.to_owned(),
        };
        let Some((kind, rest)) = part.split_once('=') else {
            return Err(error("it must start with its kind, such as `role=`"));
        };
        if rest.is_empty() {
            return Err(error("expected a value after `=`"));
        }
        let text =
            || unquoted(rest).ok_or_else(|| error("the quoted text is not a valid JSON string"));
        match kind {
            "testid" => Ok(Self::TestId(text()?)),
            "label" => Ok(Self::Label(text()?)),
            "placeholder" => Ok(Self::Placeholder(text()?)),
            "text" => Ok(Self::Text(text()?)),
            "xpath" if rest.starts_with('/') => Ok(Self::XPath(rest.to_owned())),
            "xpath" => Err(error("an XPath must start with `/`")),
            "css" => match Css::parse(rest) {
                Ok(_) => Ok(Self::Css(rest.to_owned())),
                Err(reason) => Err(error(&reason)),
            },
            "role" => {
                let (role, name) = match rest.split_once('[') {
                    None => (rest, None),
                    Some((role, name)) => {
                        let name = name
                            .strip_prefix("name=")
                            .and_then(|name| name.strip_suffix(']'))
                            .and_then(unquoted);
                        let Some(name) = name else {
                            return Err(error("a name is written as `[name=\"…\"]`"));
                        };
                        (role, Some(name))
                    }
                };
                if role.is_empty() || !role.chars().all(|sign| sign.is_ascii_alphanumeric()) {
                    return Err(error("a role must be one word"));
                }
                Ok(Self::Role {
                    role: role.to_owned(),
                    name,
                })
            }
            _ => Err(error(
                "unknown kind: use testid, role, label, placeholder, text, css or xpath",
            )),
        }
    }
}

fn hop_kind(word: &str) -> Option<HopKind> {
    match word {
        "frame" => Some(HopKind::Frame),
        "shadow" => Some(HopKind::Shadow),
        _ => None,
    }
}

/// Whether a text needs no quotes.
pub(super) fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.' | ':' | '/'))
}

fn unquoted(text: &str) -> Option<String> {
    match text.starts_with('"') {
        true => serde_json::from_str(text).ok(),
        false => Some(text.to_owned()),
    }
}

/// The parts between ` >> ` outside of quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quote, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, sign) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if sign == '\\' {
            is_escaped = quote;
        } else if sign == '"' {
            quote = !quote;
        } else if !quote && at >= start && text[at..].starts_with(" >> ") {
            parts.push(text[start..at].trim());
            start = at + " >> ".len();
        }
    }
    parts.push(text[start..].trim());
    parts
}
