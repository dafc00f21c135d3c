//! Keys that are typed into a terminal: `<Enter>`, `<C-S-Left>`, `<Paste:…>`.

use super::loader::Loader;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::Node;
use cuecard_source::value::cut;

const NAMES: &[&str] = &[
    "Enter", "Tab", "Esc", "Space", "BS", "Del", "Up", "Down", "Left", "Right", "Home", "End",
    "PageUp", "PageDown", "Ins", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10",
    "F11", "F12",
];

/// Reports each token of a text that names no key.
pub(super) fn check(loader: &mut Loader<'_>, node: &Node, pointer: &str, text: &str) {
    for token in unknown_tokens(text) {
        let written = &text[token.clone()];
        let name = written.trim_start_matches('<').trim_end_matches('>');
        let near = did_you_mean(without_modifiers(name), NAMES.iter().copied());
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

/// Where tokens stand that name no key.
fn unknown_tokens(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut unknown = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        if text[start + 1..].starts_with('<') {
            at = start + 2;
            continue;
        }
        let Some(end) = text[start..].find('>').map(|found| start + found + 1) else {
            unknown.push(start..text.len());
            break;
        };
        if !is_key(&text[start + 1..end - 1]) {
            unknown.push(start..end);
        }
        at = end;
    }
    unknown
}

fn is_key(name: &str) -> bool {
    if let Some((word, value)) = name.split_once(':') {
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        return word.eq_ignore_ascii_case("paste")
            || (word.eq_ignore_ascii_case("wait") && is_number);
    }
    let key = without_modifiers(name);
    let has_modifier = key.len() < name.len();
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(key))
        || (has_modifier && key.chars().count() == 1)
}

/// A key without `C-`, `M-` and `S-`.
fn without_modifiers(name: &str) -> &str {
    let mut rest = name;
    while let Some((modifier, after)) = rest.split_at_checked(2) {
        let is_modifier = ["c-", "m-", "s-"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(modifier));
        if !is_modifier || after.is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::unknown_tokens;

    #[test]
    fn tokens_that_name_no_key_are_found() {
        for text in [
            "plain",
            "<Enter><tab>",
            "<C-c><M-x><C-S-Left><S-Tab>",
            "<Paste:a b><Wait:200>",
            "a << b",
            "<<Entr>",
            "<F12>",
            "<C-->",
        ] {
            assert!(unknown_tokens(text).is_empty(), "{text}");
        }
        for (text, unknown) in [
            ("<Entr>", "<Entr>"),
            ("a<Wait:x>b", "<Wait:x>"),
            ("é<", "<"),
            ("<C-Foo>", "<C-Foo>"),
            ("<x>", "<x>"),
            ("<>", "<>"),
        ] {
            let found = unknown_tokens(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(&text[found[0].clone()], unknown);
        }
    }
}
