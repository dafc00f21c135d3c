//! The check of keys that are typed into a terminal.

use super::loader::Loader;
use crate::model::keys::{KEYS, read_keys, without_modifiers};
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::Node;
use cuecard_source::value::cut;

/// Reports each token of a text that names no key.
pub(super) fn check(loader: &mut Loader<'_>, node: &Node, pointer: &str, text: &str) {
    for token in read_keys(text).err().unwrap_or_default() {
        let written = &text[token.clone()];
        let name = written.trim_start_matches('<').trim_end_matches('>');
        let (_, key) = without_modifiers(name);
        let near = did_you_mean(key, KEYS.iter().map(|(name, _)| *name));
        let message = match written.ends_with('>') {
            true => format!("unknown key `{}`", cut(written, 40)),
            false => format!("unterminated key `{}`", cut(written, 40)),
        };
        let span = loader.reader.part(node, token);
        let diagnostic = loader.error(codes::TIMELINE_KEY_TOKEN, span, pointer, message);
        diagnostic.label = near.map(|name| format!("did you mean `<{name}>`?"));
        diagnostic.help = Some("write `<<` for the character `<`".to_owned());
    }
}
