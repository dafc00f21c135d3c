//! Adds the server to an agent's configuration. Every byte that was there stays, and the result is read back: it must
//! say what it said before and the entry, or nothing is written.

use cuecard_source::json::{Limits, Node, parse_with_comments};
use serde_json::{Value, json};

/// How an agent writes its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// JSON, with comments and commas before closing brackets where the agent reads them.
    Json,
    /// TOML.
    Toml,
}

/// Adds `entry` as `cuecard` to the table `servers`, unless there is one already: it may be the user's own.
///
/// # Errors
/// Why that can't be done, as the end of a sentence about the file.
pub(super) fn add(
    text: &str,
    syntax: Syntax,
    servers: &str,
    entry: &Value,
) -> Result<String, String> {
    let before = value(text, syntax)?;
    let mut wanted = before.clone();
    match wanted.get(servers) {
        None => wanted[servers] = json!({}),
        Some(Value::Object(known)) if known.contains_key("cuecard") => return Ok(text.to_owned()),
        Some(Value::Object(_)) => {}
        Some(_) => return Err(format!("has a `{servers}` that is no table of servers")),
    }
    wanted[servers]["cuecard"] = entry.clone();
    let after = match syntax {
        Syntax::Json => json_text(text, servers, entry)?,
        Syntax::Toml => toml_text(text, servers, entry),
    };
    match value(&after, syntax) {
        Ok(found) if found == wanted => Ok(after),
        _ => Err(format!(
            "is written in a form to which `{servers}` can't be added"
        )),
    }
}

/// What a text says.
fn value(text: &str, syntax: Syntax) -> Result<Value, String> {
    let found = match syntax {
        _ if text.trim().is_empty() => json!({}),
        Syntax::Json => root(text)?.to_value(),
        Syntax::Toml => {
            let table: toml::Table = toml::from_str(text)
                .map_err(|error| format!("isn't valid TOML: {}", error.message()))?;
            json!(table)
        }
    };
    match found.is_object() {
        true => Ok(found),
        false => Err("is no table of settings".to_owned()),
    }
}

fn root(text: &str) -> Result<Node, String> {
    let parsed = parse_with_comments(text, &Limits::default());
    match (parsed.root, parsed.errors.first()) {
        (Some(root), None) => Ok(root),
        (_, error) => {
            let reason = error.map_or("it is empty", |error| error.message.as_str());
            Err(format!("isn't valid JSON: {reason}"))
        }
    }
}

fn json_text(text: &str, servers: &str, entry: &Value) -> Result<String, String> {
    let whole = json!({ servers: { "cuecard": entry } });
    if text.trim().is_empty() {
        return Ok(format!("{whole:#}\n"));
    }
    let root = root(text)?;
    let (object, member) = match root.get(servers) {
        Some(known) => (known, json!({ "cuecard": entry })),
        None => (&root, whole),
    };
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let blanks = |at: usize| {
        let line = &text[line_start(at)..];
        line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
    };
    let closing = blanks(object.span.range().end - 1);
    let (at, comma, indent) = match object.members().last() {
        Some(last) => (
            last.value.span.range().end,
            ",",
            blanks(last.key_span.range().start),
        ),
        None => (object.span.range().start + 1, "", format!("{closing}  ")),
    };
    // Without the braces of the object around it.
    let pretty = format!("{member:#}");
    let lines = pretty.lines().collect::<Vec<_>>();
    let lines = lines[1..lines.len() - 1].iter();
    let lines = lines.map(|line| format!("\n{indent}{}", line.strip_prefix("  ").unwrap_or(line)));
    let mut added = format!("{comma}{}", lines.collect::<String>());
    if comma.is_empty()
        && !text[at..]
            .trim_start_matches([' ', '\t'])
            .starts_with(['\n', '\r'])
    {
        added.push_str(&format!("\n{closing}"));
    }
    if text.contains("\r\n") {
        added = added.replace('\n', "\r\n");
    }
    Ok(format!("{}{added}{}", &text[..at], &text[at..]))
}

fn toml_text(text: &str, servers: &str, entry: &Value) -> String {
    let gap = match text {
        "" => "",
        _ if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    // JSON's texts and lists of texts are TOML's too.
    let members = entry.as_object().into_iter().flatten();
    let members = members.map(|(key, value)| format!("{key} = {value}\n"));
    let members = members.collect::<String>();
    format!("{text}{gap}[{servers}.cuecard]\n{members}")
}

#[cfg(test)]
mod tests;
