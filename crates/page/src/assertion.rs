//! What a browser step can assert of a page.

use cuecard_source::value::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// An assertion; the element that it is about is that of its step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "AssertionFile", into = "AssertionFile")]
pub struct BrowserAssertion {
    /// What must hold.
    pub kind: AssertKind,
    /// The text or number that is expected, for kinds that need one.
    pub expected: Option<Json>,
    /// Whether it must not hold.
    pub negate: bool,
    /// How texts are compared.
    pub matching: TextMatch,
    /// How counts are compared.
    pub compare: Compare,
    /// Whether capital letters count in texts.
    pub case_sensitive: bool,
}

impl BrowserAssertion {
    /// An assertion of this kind, not negated; texts of the page need only contain what is expected.
    pub fn new(kind: AssertKind) -> Self {
        Self {
            kind,
            expected: None,
            negate: false,
            matching: match kind {
                AssertKind::Text => TextMatch::Contains,
                _ => TextMatch::Equals,
            },
            compare: Compare::Equal,
            case_sensitive: false,
        }
    }

    /// Whether it says that its element is not to be seen.
    pub fn asserts_absence(&self) -> bool {
        match self.kind {
            AssertKind::Hidden => !self.negate,
            AssertKind::Visible => self.negate,
            _ => false,
        }
    }

    /// Whether it holds where something is not so.
    pub fn is_negative(&self) -> bool {
        let is_opposite = matches!(
            self.kind,
            AssertKind::Hidden | AssertKind::Disabled | AssertKind::Unchecked
        );
        let is_none = self.kind == AssertKind::Count && self.expected == Some(0.into());
        self.negate || is_opposite || is_none
    }

    /// Whether its element need not be there when it is asked for: it is hidden or not, or is counted.
    pub fn may_lack_element(&self) -> bool {
        matches!(self.kind, AssertKind::Hidden | AssertKind::Count) || self.asserts_absence()
    }
}

/// An assertion as a file has it: what is expected stands in the `value` of its step.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AssertionFile {
    /// What must hold.
    kind: AssertKind,
    /// Whether it must not hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    negate: bool,
    /// How texts are compared.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    matching: Option<TextMatch>,
    /// How counts are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    compare: Option<Compare>,
    /// Whether capital letters count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    case_sensitive: bool,
}

impl From<AssertionFile> for BrowserAssertion {
    fn from(file: AssertionFile) -> Self {
        let plain = Self::new(file.kind);
        Self {
            negate: file.negate,
            matching: file.matching.unwrap_or(plain.matching),
            compare: file.compare.unwrap_or(plain.compare),
            case_sensitive: file.case_sensitive,
            ..plain
        }
    }
}

impl From<BrowserAssertion> for AssertionFile {
    fn from(own: BrowserAssertion) -> Self {
        Self {
            kind: own.kind,
            negate: own.negate,
            matching: own.kind.needs_expected().then_some(own.matching),
            compare: Some(own.compare).filter(|compare| *compare != Compare::Equal),
            case_sensitive: own.case_sensitive,
        }
    }
}

/// What must hold of the page or of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[derive(EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "camelCase")]
#[allow(missing_docs, reason = "each is the word for it")]
pub enum AssertKind {
    Text,
    Visible,
    Hidden,
    Enabled,
    Disabled,
    Checked,
    Unchecked,
    Focused,
    Editable,
    Value,
    Url,
    Title,
    Dialog,
    Download,
    Count,
}

impl AssertKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether it is about one element, or several for a count.
    pub fn needs_target(self) -> bool {
        !matches!(
            self,
            Self::Text | Self::Url | Self::Title | Self::Dialog | Self::Download
        )
    }

    /// Whether it needs something expected.
    pub fn needs_expected(self) -> bool {
        matches!(self, Self::Value | Self::Count) || !self.needs_target()
    }
}

/// How a text is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextMatch {
    /// It is the expected text.
    Equals,
    /// It holds the expected text.
    Contains,
    /// The expected text is a regular expression that is found in it.
    Regex,
}

/// How a count is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Compare {
    /// So many.
    #[serde(rename = "=")]
    Equal,
    /// So many or more.
    #[serde(rename = ">=")]
    AtLeast,
    /// So many or fewer.
    #[serde(rename = "<=")]
    AtMost,
}

impl Compare {
    /// The words before the number.
    pub fn as_words(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::AtLeast => "at least ",
            Self::AtMost => "at most ",
        }
    }
}
