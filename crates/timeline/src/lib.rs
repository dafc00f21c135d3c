//! Timelines: the model, the format, when each event is due, a model's turns, which request is where in them, which
//! scenario is meant, and what agents call their tools.
//!
//! A file becomes a timeline; requests and times become what to answer. Knows no wire format, and does no I/O.

/// An enum of words, with the word of each.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        #[allow(dead_code, reason = "not each is asked for all of its words")]
        impl $name {
            /// Each with its word.
            $vis const NAMED: &[(&str, Self)] = &[$(($word, Self::$variant)),+];

            /// The word for it in files.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

pub mod format;
pub mod model;
pub mod profiles;
pub mod script;
