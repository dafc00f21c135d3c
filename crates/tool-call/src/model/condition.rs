//! Conditions as they were parsed. Their sides are resolved afterwards, so data can't change the meaning.

use regex::Regex;

use super::{Comparison, Placeholder, Template};

/// A condition: a boolean expression over values.
#[derive(Debug, Clone)]
pub enum Condition {
    /// A bare value: true unless null, false, 0, empty or the text "false".
    Truth(Template),
    /// Two values compared.
    Compare {
        /// Left side.
        left: Template,
        /// How.
        comparison: Comparison,
        /// Right side.
        right: Template,
        /// The right side as a regular expression, when it is a literal of `matches`.
        regex: Option<Regex>,
    },
    /// `!`.
    Not(Box<Condition>),
    /// `&&`.
    And(Box<Condition>, Box<Condition>),
    /// `||`.
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// Calls `visit` with every reference, in the order of the text.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        match self {
            Self::Truth(operand) => operand.for_each_placeholder(visit),
            Self::Compare { left, right, .. } => {
                left.for_each_placeholder(visit);
                right.for_each_placeholder(visit);
            }
            Self::Not(inner) => inner.for_each_placeholder(visit),
            Self::And(left, right) | Self::Or(left, right) => {
                left.for_each_placeholder(visit);
                right.for_each_placeholder(visit);
            }
        }
    }
}
