//! What can go wrong while fetching.

use std::fmt;
use std::time::Duration;

/// How far a fetch has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It looks up the host's addresses.
    Lookup,
    /// It connects, or waits for the answer.
    Answer,
    /// It reads the body.
    Body,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lookup => "while looking up its host",
            Self::Answer => "while waiting for its answer",
            Self::Body => "while reading its body",
        })
    }
}

/// Why there is no page. No URL in it holds a password, unless it is one that couldn't be parsed.
#[derive(Debug)]
pub enum FetchError {
    /// The URL is not one.
    Url {
        /// The URL as given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The URL, or where it redirects, is of a scheme that isn't fetched.
    Scheme {
        /// The URL.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The gate said no.
    Refused {
        /// The URL it was asked about; with redirects not the one given.
        url: String,
        /// What it said.
        reason: String,
    },
    /// The host's name has no address.
    Lookup {
        /// The name.
        host: String,
        /// The system's reason.
        reason: String,
    },
    /// There was no answer to the request.
    Unreachable {
        /// The URL.
        url: String,
        /// What happened.
        reason: String,
    },
    /// A redirect leads to something that isn't a URL.
    Redirect {
        /// Where it came from.
        url: String,
        /// The `Location` as sent.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// One redirect more than allowed.
    TooManyRedirects {
        /// Where the next one leads.
        url: String,
        /// How many were followed.
        followed: usize,
    },
    /// The time ran out.
    TimedOut {
        /// The URL it was at.
        url: String,
        /// The time it had.
        timeout: Duration,
        /// What it was doing.
        stage: Stage,
    },
    /// The connection broke in the middle of the body.
    Interrupted {
        /// The URL.
        url: String,
        /// How many bytes had arrived.
        received: usize,
        /// What happened.
        reason: String,
    },
    /// The body is not text.
    Binary {
        /// The URL.
        url: String,
        /// Its `Content-Type`, if it has one.
        content_type: Option<String>,
        /// Its size in bytes, if it is known.
        size: Option<u64>,
    },
    /// The body is compressed with something that was not offered.
    Encoded {
        /// The URL.
        url: String,
        /// Its `Content-Encoding`.
        encoding: String,
    },
    /// The HTML could not be turned into Markdown.
    Html {
        /// The URL.
        url: String,
    },
}

impl FetchError {
    /// What to do about it, where there is something to say.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Url { url, .. } if !url.contains(':') => Some(format!("write `https://{url}`")),
            Self::Scheme { scheme, .. } if scheme == "file" => {
                Some("`claude__read` reads a file".to_owned())
            }
            Self::Scheme { .. } => Some("only http and https URLs are fetched".to_owned()),
            Self::Binary { .. } => {
                Some("a command can download it: `curl -o FILE URL` with `claude__bash`".to_owned())
            }
            Self::Encoded { .. } => {
                Some("a command can fetch and convert it, with `claude__bash`".to_owned())
            }
            Self::Unreachable { .. } => Some(
                "the connection is made directly: proxy environment variables are not used"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { url, reason } => write!(f, "`{url}` is not a URL: {reason}"),
            Self::Scheme { url, scheme } => write!(f, "`{url}` has the scheme `{scheme}`"),
            Self::Refused { url, reason } => write!(f, "`{url}` may not be fetched: {reason}"),
            Self::Lookup { host, reason } => write!(f, "the host `{host}` was not found: {reason}"),
            Self::Unreachable { url, reason } => write!(f, "no answer from `{url}`: {reason}"),
            Self::Redirect {
                url,
                location,
                reason,
            } => {
                write!(
                    f,
                    "`{url}` redirects to `{location}`, which is not a URL: {reason}"
                )
            }
            Self::TooManyRedirects { url, followed } => {
                write!(
                    f,
                    "too many redirects: {followed} followed, the next is to `{url}`"
                )
            }
            Self::TimedOut {
                url,
                timeout,
                stage,
            } => {
                write!(
                    f,
                    "`{url}` timed out after {} s, {stage}",
                    timeout.as_secs_f64()
                )
            }
            Self::Interrupted {
                url,
                received,
                reason,
            } => {
                write!(
                    f,
                    "the response from `{url}` ended after {received} bytes: {reason}"
                )
            }
            Self::Binary {
                url,
                content_type,
                size,
            } => {
                write!(f, "`{url}` is not text but ")?;
                match content_type {
                    Some(content_type) => write!(f, "`{content_type}`")?,
                    None => f.write_str("of an unknown type")?,
                }
                match size {
                    Some(size) => write!(f, ", {size} bytes"),
                    None => f.write_str(", of unknown size"),
                }
            }
            Self::Encoded { url, encoding } => {
                write!(
                    f,
                    "`{url}` is compressed as `{encoding}`, which was not requested"
                )
            }
            Self::Html { url } => write!(f, "the HTML of `{url}` could not be converted"),
        }
    }
}

impl std::error::Error for FetchError {}
