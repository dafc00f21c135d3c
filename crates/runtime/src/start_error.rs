//! Why a stand-in doesn't start.

use std::{fmt, io};

use cuecard_source::diagnostic::{Diagnostic, bounded};

use super::listener::ListenerError;

/// Why a stand-in doesn't start.
#[derive(Debug)]
pub enum StartError {
    /// Files that can't be used, with all that was found in them.
    Files(Vec<Diagnostic>),
    /// The address can't be listened on.
    Listener(ListenerError),
    /// The trace can't be written, or the operating system refuses something else.
    Io(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(diagnostics) => {
                formatter.write_str("invalid scenarios")?;
                for found in bounded(diagnostics) {
                    write!(formatter, "\n{}: {}", found.code.name(), found.message)?;
                    if let Some(place) = &found.place {
                        let position = place.source.position(place.span.start);
                        let (name, line) = (place.source.name(), position.line);
                        write!(formatter, " ({name}:{line}:{})", position.column)?;
                    }
                }
                Ok(())
            }
            Self::Listener(_) => formatter.write_str("the mock server can't listen"),
            Self::Io(_) => formatter.write_str("the mock server failed to start"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Files(_) => None,
            Self::Listener(error) => Some(error),
            Self::Io(error) => Some(error),
        }
    }
}
