//! Reads one config file.

use std::collections::HashMap;

use cuecard_source::diagnostic::{Diagnostic, Severity, did_you_mean};
use cuecard_source::json::{self, Node};
use cuecard_source::reader::article;
use cuecard_source::{Mistake, MistakeKind, SourceFile, Span};

use super::entry;
use super::fill::FileScope;
use super::findings::{Findings, Located, cut};
use super::places::Syntax;
use super::{ConfigFile, ConfigSearch, ConfiguredServer, text};

/// The keys under which files list their servers. Each file may use either, or both.
const SERVER_LISTS: &[&str] = &["mcpServers", "servers"];

/// The longest name of a server, in bytes.
const LONGEST_NAME: usize = 256;

/// A file lists at most this many servers.
const MAX_SERVERS: usize = 1000;

/// What reading gave.
pub(super) struct Reading {
    /// The servers in the order of the file, also those that can't be used.
    pub servers: Vec<ConfiguredServer>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The values with their variables filled in, and those of files of variables.
    pub values: Vec<String>,
}

/// Reads the config `text` of `file`.
pub(super) fn read(text: &str, file: &ConfigFile, search: &ConfigSearch<'_>) -> Reading {
    let syntax = Syntax::of(file);
    // Some editors put one before the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = text::parse(text, syntax);
    let is_empty = |mistake: &Mistake| mistake.kind == MistakeKind::Empty;
    let has_nothing = text.trim().is_empty() || parsed.mistakes.iter().any(is_empty);
    if file.program.is_some() && has_nothing {
        // Other programs make such files to be filled in later.
        return Reading {
            servers: Vec::new(),
            diagnostics: Vec::new(),
            values: Vec::new(),
        };
    }
    let source = SourceFile::withheld(file.shown.display().to_string(), text);
    let mut findings = Findings::new(&source);
    for mistake in &parsed.mistakes {
        let mut diagnostic = findings.error(mistake.span, "", mistake.message.clone());
        diagnostic.pointer = None;
        diagnostic.help.clone_from(&mistake.help);
        findings.add(diagnostic);
    }
    let (mut servers, mut values) = (Vec::new(), Vec::new());
    if let Some(root) = parsed.root.filter(|_| parsed.mistakes.is_empty()) {
        let lists = lists(&mut findings, &root, file, syntax);
        let mut scope = FileScope::new(text, &source, file, search);
        let mut names: HashMap<&str, Span> = HashMap::new();
        'lists: for list in &lists {
            for member in list.node.members() {
                if let Some(first) = names.get(member.key.as_str()) {
                    duplicate(&mut findings, &source, list, member, *first);
                    continue;
                }
                names.insert(&member.key, member.key_span);
                if names.len() > MAX_SERVERS {
                    too_many(&mut findings, list, member);
                    break 'lists;
                }
                check_name(&mut findings, list, member);
                let (mut server, found) = entry::read(&mut scope, list, member);
                match file.program {
                    Some(_) => server.warnings = found,
                    None => found.into_iter().for_each(|found| findings.add(found)),
                }
                servers.push(server);
            }
        }
        values = scope.values;
    }
    Reading {
        servers,
        diagnostics: findings.finish(),
        values,
    }
}

/// The objects that list servers.
fn lists<'n>(
    findings: &mut Findings<'_>,
    root: &'n Node,
    file: &ConfigFile,
    syntax: Syntax,
) -> Vec<Located<'n>> {
    let here = Located {
        node: root,
        pointer: String::new(),
    };
    if root.as_object().is_none() {
        let message = format!(
            "a config must be an object, not {}",
            article(root.kind_name())
        );
        let help = r#"write { "mcpServers": { "NAME": { "command": "…" } } }"#;
        findings.add(findings.invalid(&here, message).with_help(help));
        return Vec::new();
    }
    let is_list = |member: &json::Member| SERVER_LISTS.contains(&member.key.as_str());
    let has_list = root.members().iter().any(is_list);
    let mut lists = Vec::new();
    let mut is_any = false;
    for member in root.members() {
        let value = here.child(&member.key, &member.value);
        if is_list(member) {
            is_any = true;
            if value.node.as_object().is_some() {
                lists.push(value);
            } else {
                let message = format!(
                    "`{}` must be an object, not {}",
                    member.key,
                    article(value.node.kind_name())
                );
                let help = format!(
                    r#"write "{}": {{ "NAME": {{ "command": "…" }} }}"#,
                    member.key
                );
                findings.add(findings.invalid(&value, message).with_help(help));
            }
        } else if let Some(list) = did_you_mean(&member.key, SERVER_LISTS.iter().copied()) {
            // Other keys are other programs' business: many keep their settings in the same file.
            is_any = true;
            let holds_all = !has_list && !value.node.members().is_empty();
            let (severity, effect) = match holds_all && file.program.is_none() {
                true => (Severity::Error, "ignored, so the file defines no servers"),
                false => (Severity::Warning, "ignored"),
            };
            let message = format!("`{}` is {effect}", cut(&member.key));
            let found = Diagnostic {
                severity,
                ..findings.error(member.key_span, &value.pointer, message)
            };
            findings.add(found.with_label(format!("did you mean `{list}`?")));
        }
    }
    // Settings of another program needn't name any server.
    if !is_any && !root.members().is_empty() && file.program.is_none() {
        no_list(findings, &here, syntax);
    }
    lists
}

/// A file of another kind, or servers without the key around them.
fn no_list(findings: &mut Findings<'_>, root: &Located<'_>, syntax: Syntax) {
    let start = root.node.span.start as usize;
    let help = match syntax {
        Syntax::Toml => r#"write `[servers.NAME]`, and below it `command = "…"` or `url = "…"`"#,
        _ => r#"a config looks like this: { "mcpServers": { "NAME": { "command": "…" } } }"#,
    };
    let message = "this file has neither `mcpServers` nor `servers`".to_owned();
    let error = findings.error(Span::new(start, start + 1), "", message);
    findings.add(error.with_help(help));
}

/// Nobody can use a server without a proper name, so this can't wait for that.
fn check_name(findings: &mut Findings<'_>, list: &Located<'_>, member: &json::Member) {
    let what = match member.key.as_str() {
        "" => "is empty".to_owned(),
        name if name.len() > LONGEST_NAME => format!("has at most {LONGEST_NAME} bytes"),
        name if name.contains(char::is_control) => "contains a control character".to_owned(),
        _ => return,
    };
    let pointer = list.child(&member.key, &member.value).pointer;
    let message = format!("the name of a server {what}");
    let error = findings.error(member.key_span, &pointer, message);
    findings.add(error.with_help("scenarios use the name: NAME in `mcp__NAME__tool`"));
}

fn duplicate(
    findings: &mut Findings<'_>,
    source: &SourceFile,
    list: &Located<'_>,
    member: &json::Member,
    first: Span,
) {
    let pointer = list.child(&member.key, &member.value).pointer;
    let message = format!(
        "server `{}` is defined in both `mcpServers` and `servers`",
        cut(&member.key)
    );
    let line = source.position(first.start).line;
    let error = findings.error(member.key_span, &pointer, message);
    findings.add(
        error
            .with_label(format!("first defined on line {line}"))
            .with_help("remove one of the two"),
    );
}

fn too_many(findings: &mut Findings<'_>, list: &Located<'_>, member: &json::Member) {
    let message = format!("the file lists more than {MAX_SERVERS} servers");
    let error = findings.error(member.key_span, &list.pointer, message);
    findings.add(error.with_help("remove those that no scenario uses"));
}
