//! What the HTML reports have in common: their look, their script, and how data gets into a page.

use std::io::{self, Write};

/// The mark of the common style in a page, and the style.
pub(crate) const BASE_STYLE: (&str, &str) = ("/* base style */", include_str!("base.css"));
/// The mark of the common script in a page, and the script.
pub(crate) const BASE_SCRIPT: (&str, &str) = ("/* base script */", include_str!("base.js"));

/// Writes a part of a page, and in the place of each mark what it stands for. The marks come in this order.
pub(crate) fn fill(part: &str, marks: &[(&str, &str)], out: &mut impl Write) -> io::Result<()> {
    let mut rest = part;
    for (mark, text) in marks {
        let (before, after) = around(rest, mark);
        out.write_all(before.as_bytes())?;
        out.write_all(text.as_bytes())?;
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// JSON inside a script element: nothing in it can end the element or begin a comment.
pub(crate) fn write_inert(json: &[u8], out: &mut impl Write) -> io::Result<()> {
    let mut rest = json;
    while let Some(at) = rest.iter().position(|&byte| byte == b'<') {
        out.write_all(&rest[..at])?;
        out.write_all(b"\\u003c")?;
        rest = &rest[at + 1..];
    }
    out.write_all(rest)
}

/// What stands before and after a mark of the page.
pub(crate) fn around<'a>(text: &'a str, mark: &str) -> (&'a str, &'a str) {
    text.split_once(mark).unwrap_or((text, ""))
}

/// What a page may run: the hashes of its style and its script, as the policy in it must say them.
#[cfg(test)]
pub(crate) fn policy(style: &str, script: &str) -> String {
    use base64::Engine as _;
    use sha2::{Digest as _, Sha256};
    let source = |text: &str| {
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
        format!("'sha256-{hash}'")
    };
    format!(
        "style-src {} {}; script-src {} {};",
        source(BASE_STYLE.1),
        source(style),
        source(BASE_SCRIPT.1),
        source(script)
    )
}
