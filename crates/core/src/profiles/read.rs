//! Profiles as they stand in files.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::profile::{Profile, ToolForm};
use super::template::Template;
use super::version::VersionRange;
use crate::diagnostic::{Diagnostic, codes};
use crate::source::{SourceFile, Span};
use crate::value::Json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    agent: String,
    versions: String,
    endpoint: Option<String>,
    detect: Vec<String>,
    tools: BTreeMap<String, Vec<FormFile>>,
    #[serde(default)]
    required: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormFile {
    name: String,
    #[serde(default)]
    when: BTreeMap<String, Json>,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    args: BTreeMap<String, String>,
    #[serde(default)]
    fixed: BTreeMap<String, Json>,
    #[serde(default)]
    texts: BTreeMap<String, String>,
    #[serde(default)]
    shell: BTreeMap<String, String>,
    #[serde(default)]
    ignores: Vec<String>,
    #[serde(default)]
    assume: BTreeMap<String, Json>,
}

/// Reads a profile (TOML).
///
/// # Errors
///
/// X-CFG-02: it is no TOML, a key is missing or unknown, or a template can't be read.
pub fn read_profile(source: &SourceFile) -> Result<Profile, Vec<Diagnostic>> {
    let file: ProfileFile = toml::from_str(source.text()).map_err(|error| {
        let range = error.span().unwrap_or_default();
        let message = format!("this profile can't be read: {}", error.message());
        vec![problem(source, message).at(source, Span::new(range.start, range.end))]
    })?;
    let mut problems = Vec::new();
    let versions = VersionRange::parse(&file.versions);
    if versions.is_none() {
        let message = format!(
            "`versions` is `{}`, which is no range of versions",
            file.versions
        );
        problems.push(problem(source, message).with_help("write `>=2.0.5` or `>=2.0.5, <3`"));
    }
    let mut tools = BTreeMap::new();
    for (tool, forms) in file.tools {
        let forms = forms
            .into_iter()
            .map(|form| read_form(source, &tool, form, &mut problems))
            .collect();
        tools.insert(tool, forms);
    }
    match versions {
        Some(versions) if problems.is_empty() => Ok(Profile {
            agent: file.agent,
            versions,
            endpoint: file.endpoint,
            detect: file.detect,
            tools,
            required: file.required,
        }),
        _ => Err(problems),
    }
}

fn read_form(
    source: &SourceFile,
    tool: &str,
    form: FormFile,
    problems: &mut Vec<Diagnostic>,
) -> ToolForm {
    let mut read_all = |texts: BTreeMap<String, String>,
                        read: fn(&str) -> Result<Template, String>| {
        let mut templates = BTreeMap::new();
        for (argument, text) in texts {
            match read(&text) {
                Ok(template) => {
                    templates.insert(argument, template);
                }
                Err(why) => {
                    let message = format!("`{argument}` of the tool `{tool}` can't be read: {why}");
                    problems.push(problem(source, message));
                }
            }
        }
        templates
    };
    ToolForm {
        texts: read_all(form.texts, Template::plain),
        shell: read_all(form.shell, Template::shell),
        name: form.name,
        when: form.when,
        with: form.with,
        args: form.args,
        fixed: form.fixed,
        ignores: form.ignores,
        assume: form.assume,
    }
}

fn problem(source: &SourceFile, message: String) -> Diagnostic {
    Diagnostic::error(codes::CONFIG_INVALID, message).at(source, Span::default())
}
