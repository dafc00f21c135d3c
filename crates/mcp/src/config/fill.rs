//! The texts of an entry with their variables filled in, and what can't be.

use std::ops::Range;
use std::path::{Path, PathBuf};

use cuecard_runtime::{env_file, text_file};
use cuecard_source::diagnostic::{Code, Diagnostic, Severity, codes, did_you_mean};
use cuecard_source::value::push_pointer;
use cuecard_source::{SourceFile, Span};

use super::entry::{EntryReader, Text};
use super::expand::{Missing, MissingKind, Names, expand};
use super::findings::cut;
use super::text::text_span;
use super::{ConfigFile, ConfigSearch, places};

/// How many bytes of variables are filled into one file.
const BUDGET: usize = 16 * 1024 * 1024;

/// What the entries of one file share.
pub(super) struct FileScope<'a> {
    /// The text as it was parsed.
    text: &'a str,
    /// The same, of which nothing is shown.
    pub source: &'a SourceFile,
    pub file: &'a ConfigFile,
    search: &'a ConfigSearch<'a>,
    names: Names<'a>,
    /// What may still be filled in, in bytes.
    budget: usize,
    /// What texts with variables become, and the values of files of variables.
    pub values: Vec<String>,
}

impl<'a> FileScope<'a> {
    pub(super) fn new(
        text: &'a str,
        source: &'a SourceFile,
        file: &'a ConfigFile,
        search: &'a ConfigSearch<'a>,
    ) -> Self {
        Self {
            text,
            source,
            file,
            search,
            names: Names {
                environment: search.environment,
                editor: places::editor_names(file, search),
            },
            budget: BUDGET,
            values: Vec::new(),
        }
    }

    /// Returns the path of a program, of which one below `~/` is in the home folder.
    pub(super) fn below_home(&self, program: String) -> String {
        match places::below_home(Path::new(&program), self.search).to_str() {
            Some(path) => path.to_owned(),
            None => program,
        }
    }

    /// Returns a path that starts at the project's folder, without `.` and a slash at the end.
    pub(super) fn folder(&self, path: &str) -> PathBuf {
        let folder = places::project_folder(&self.file.path)
            .join(places::below_home(Path::new(path), self.search));
        folder.components().collect()
    }
}

impl EntryReader<'_, '_, '_> {
    /// Returns the text at `path` of the entry with its references filled in, without those that can't be.
    pub(super) fn fill(&mut self, path: &[&str], text: &Text) -> String {
        if text.value.contains('\0') {
            let what = format!("has the character U+0000 in `{}`", place(path));
            self.error(text.span, &path[..1], &what, "remove it");
        }
        let expansion = expand(&text.value, &self.file.names, &mut self.file.budget);
        for (name, value) in &expansion.filled {
            self.secrets.add_variable(name, value);
        }
        for missing in &expansion.missing {
            let found = self.missing(path, text, missing);
            self.found.push(found);
        }
        if expansion.is_too_long {
            let what = "is where the variables in this file come to more than 16 MiB";
            self.about(path, text, what, "set them to shorter values");
        }
        if let Some(first) = expansion.unread.first() {
            let n_more = expansion.unread.len() - 1;
            let found = self.unread(path, text, first.clone(), n_more);
            self.found.push(found);
        }
        if expansion.text != text.value {
            self.file.values.push(expansion.text.clone());
        }
        expansion.text
    }

    /// Returns the members of the object at `key` with their references filled in.
    pub(super) fn fill_all(&mut self, key: &str, pairs: &[(Text, Text)]) -> Vec<(String, String)> {
        let filled = pairs.iter().map(|(name, text)| {
            let value = self.fill(&[key, &name.value], text);
            (name.value.clone(), value)
        });
        filled.collect()
    }

    /// Returns the variables in the file that `envFile` names.
    pub(super) fn variables_of_file(&mut self, written: &Text) -> Vec<(String, String)> {
        let path = self.fill(&["envFile"], written);
        let path = self.file.folder(&path);
        self.file.values.push(path.display().to_string());
        // What stands for `${NAME}` may be a secret.
        let name = match written.value.contains("${") {
            true => written.value.clone(),
            false => path.display().to_string(),
        };
        let read = match path.is_file() {
            true => text_file::read(&path, &name).map(|source| env_file::parse(&source)),
            false => Err(Diagnostic::error(
                codes::FILE_READ,
                format!("`{name}` is not a file"),
            )),
        };
        let (variables, problem) = match read {
            Err(problem) => (Vec::new(), Some(problem)),
            Ok((variables, found)) => {
                let is_error = |found: &Diagnostic| found.severity == Severity::Error;
                (variables, found.into_iter().find(is_error))
            }
        };
        if let Some(problem) = problem {
            let place = problem.place.as_ref().map_or_else(String::new, |place| {
                let position = place.source.position(place.span.start);
                format!("{}:{}: ", place.source.name(), position.line)
            });
            let what = format!("can't be used: {place}{}", problem.message);
            let help = "write the path of a file of `NAME=value` lines, or remove `envFile`";
            self.about(&["envFile"], written, &what, help);
        }
        let values = variables.iter().map(|(_, value)| value.clone());
        self.file.values.extend(values);
        variables
    }

    /// What looks like a reference and isn't filled in, at `range` of the text.
    fn unread(&self, path: &[&str], text: &Text, range: Range<usize>, n_more: usize) -> Diagnostic {
        let written = text.value.get(range.clone()).unwrap_or_default();
        let message = format!(
            "`{}` in `{}` of server `{}` is not substituted",
            form(written),
            place(path),
            cut(self.name)
        );
        let span = text_span(self.file.text, text.span, range);
        let found = Diagnostic {
            severity: Severity::Warning,
            ..self.finding(codes::CONFIG_INVALID, span, path, message)
        };
        let found = found.with_help("only `${NAME}` and `${NAME:-default}` are substituted");
        match n_more {
            0 => found,
            1 => found.with_note("neither is another one in the same text"),
            n_more => found.with_note(format!("neither are {n_more} more in the same text")),
        }
    }

    fn missing(&self, path: &[&str], text: &Text, missing: &Missing) -> Diagnostic {
        let (place, server) = (place(path), cut(self.name));
        let (message, help, near) = match &missing.kind {
            MissingKind::Variable(name) => {
                let shown = cut(name);
                let known = self.file.search.environment.keys().map(String::as_str);
                (
                    format!("`{shown}` is not set, and `{place}` of server `{server}` needs it"),
                    format!(
                        "run `export {shown}=…`, put `{shown}=…` into a file for `--env FILE`, or give a default: `${{{shown}:-…}}`"
                    ),
                    did_you_mean(name, known),
                )
            }
            MissingKind::Input(id) => {
                let name = variable_for(id);
                (
                    format!(
                        "`${{input:{}}}` in `{place}` of server `{server}` is an input that only VS Code can prompt for",
                        cut(id)
                    ),
                    format!(
                        "write `${{{name}}}` instead, and set it: `export {name}=…`, or `{name}=…` in a file for `--env FILE`"
                    ),
                    None,
                )
            }
        };
        let span = text_span(self.file.text, text.span, missing.range.clone());
        Diagnostic {
            label: near.map(|near| format!("did you mean `{}`?", cut(near))),
            help: Some(help),
            ..self.finding(codes::CONFIG_VARIABLE, span, path, message)
        }
    }

    /// Says what is wrong with the text at `path`, with what to do about it, if there is something.
    pub(super) fn about(&mut self, path: &[&str], text: &Text, what: &str, help: &str) {
        let message = format!("`{}` of server `{}` {what}", place(path), cut(self.name));
        self.found.push(Diagnostic {
            help: (!help.is_empty()).then(|| help.to_owned()),
            ..self.finding(codes::CONFIG_INVALID, text.span, path, message)
        });
    }

    /// An error at a path of the entry.
    pub(super) fn finding(
        &self,
        code: Code,
        span: Span,
        path: &[&str],
        message: String,
    ) -> Diagnostic {
        let mut pointer = self.here.pointer.clone();
        path.iter().for_each(|key| push_pointer(&mut pointer, key));
        Diagnostic::error(code, message)
            .at(self.file.source, span)
            .with_pointer(pointer)
    }
}

/// A path in an entry, for messages: `env.TOKEN`.
fn place(path: &[&str]) -> String {
    match path {
        ["args", idx] => format!("args[{idx}]"),
        path => path
            .iter()
            .map(|key| cut(key))
            .collect::<Vec<_>>()
            .join("."),
    }
}

/// The variable that could stand for what VS Code calls `id`: `GITHUB_TOKEN` for `github-token`.
fn variable_for(id: &str) -> String {
    let name: String = id
        .chars()
        .take(60)
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    match name.chars().next() {
        None => "VALUE".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    }
}

/// A form of reference that is not filled in: its beginning, since defaults may be secret.
fn form(written: &str) -> String {
    let is_name =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '{');
    let name_len = written
        .find(|character| !is_name(character))
        .unwrap_or(written.len());
    let (name, rest) = written.split_at(name_len);
    match rest {
        "" | "}" => cut(written),
        _ => format!("{}…", cut(name)),
    }
}
