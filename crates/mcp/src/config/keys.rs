//! The tables of keys and words of an entry, and what is said about the others.

use cuecard_source::diagnostic::did_you_mean;

use super::entry::EntryReader;
use super::fields::cut;
use crate::Protocol;

/// The keys that are read.
pub(super) const KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "endpoint",
    "serverUrl",
    "httpUrl",
    "type",
    "headers",
    "auth",
    "timeout",
    "tools",
    "protocol",
    "disabled",
    "enabled",
];

/// The keys of an address, which mean the same.
pub(super) const ADDRESS_KEYS: [&str; 4] = ["url", "endpoint", "serverUrl", "httpUrl"];

/// Keys of other clients that don't change what a server is.
pub(super) const SILENT_KEYS: &[&str] = &[
    "alwaysAllow",
    "autoApprove",
    "description",
    "dev",
    "gallery",
    "icon",
    "sandbox",
    "sandboxEnabled",
    "trust",
];

/// What other clients call a key of ours.
pub(super) const OTHER_WORDS: &[(&str, &str)] = &[
    ("cmd", "command"),
    ("environment", "env"),
    ("workingDirectory", "cwd"),
    ("uri", "url"),
    ("transport", "type"),
    ("transportType", "type"),
    ("allowedTools", "tools"),
    ("includeTools", "tools"),
    ("oauth", "auth"),
];

/// How a server is reached, as its `type` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Stdio,
    Http,
    Sse,
    WebSocket,
    Unix,
}

pub(super) const TYPES: &[(&str, Kind)] = &[
    ("stdio", Kind::Stdio),
    ("http", Kind::Http),
    ("streamable-http", Kind::Http),
    ("streamableHttp", Kind::Http),
    ("sse", Kind::Sse),
    ("ws", Kind::WebSocket),
    ("websocket", Kind::WebSocket),
    ("unix", Kind::Unix),
];

pub(super) const PROTOCOLS: &[(&str, Protocol)] = &[
    ("auto", Protocol::Auto),
    ("legacy", Protocol::Legacy),
    ("modern", Protocol::Modern),
];

impl EntryReader<'_, '_, '_> {
    pub(super) fn warn_of_unknown_keys(&mut self) {
        for member in self.here.node.members() {
            let key = member.key.as_str();
            if KEYS.contains(&key)
                || SILENT_KEYS.contains(&key)
                || key.starts_with(['_', '$'])
                || key.starts_with("x-")
            {
                continue;
            }
            let known = OTHER_WORDS
                .iter()
                .find(|(word, _)| *word == key)
                .map(|(_, ours)| *ours);
            let message = format!("`{}` of {} is ignored", cut(key), self.whose());
            let mut warning = self.warning_at(member, message);
            match known.or_else(|| did_you_mean(key, KEYS.iter().copied())) {
                Some(ours) => warning.label = Some(format!("did you mean `{ours}`?")),
                None => {
                    warning.help = Some("remove it, unless another client needs it".to_owned());
                }
            }
            self.warn(warning);
        }
    }

    pub(super) fn warn_of_unused(&mut self, keys: &[&str], reason: &str) {
        for member in self.here.node.members() {
            if keys.contains(&member.key.as_str()) {
                let message = format!(
                    "`{}` of {} has no effect: {reason}",
                    member.key,
                    self.whose()
                );
                let warning = self.warning_at(member, message).with_help("remove it");
                self.warn(warning);
            }
        }
    }
}
