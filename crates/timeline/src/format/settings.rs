//! What stands beside the timeline: terminal, workspace, program, services, expectations.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::loader::{Alias, Compat, Loader, alias};
use super::{fields, model_fields};
use crate::model::{
    ApiStyle, ArtifactPattern, IncludePurpose, Repository, RepositoryMode, SeedFile, ServerMode,
    ServerSettings, SideCall, TerminalChoice, TimelineExpectations,
};
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::fields::Field;

/// Reads the mapping under a key; `None` if it is absent or no mapping.
pub(super) fn section<T>(
    loader: &mut Loader<'_>,
    parent: Object<'_>,
    key: &str,
    known: &'static [Field],
    aliases: &[Alias],
    read: impl FnOnce(&mut Loader<'_>, Object<'_>) -> T,
) -> Option<T> {
    let node = loader.reader.get(parent, key)?;
    let pointer = parent.child_pointer(key);
    let node = loader.mapping(node, &pointer, &format!("`{key}`"), known, aliases)?;
    let object = Object {
        node: &node,
        pointer: &pointer,
    };
    Some(read(loader, object))
}

pub(super) fn compat(loader: &mut Loader<'_>, root: Object<'_>) -> Compat {
    section(
        loader,
        root,
        "compat",
        fields::COMPAT,
        &[],
        |loader, object| Compat {
            inline_terminal: loader.flag(object, "allowInlineTerminal").unwrap_or(false),
            type_steps: loader.flag(object, "allowTypeSteps").unwrap_or(false),
        },
    )
    .unwrap_or_default()
}

pub(super) fn terminal(loader: &mut Loader<'_>, root: Object<'_>) -> Option<TerminalChoice> {
    let node = loader.reader.get(root, "terminalRef")?;
    let pointer = root.child_pointer("terminalRef");
    match &node.kind {
        NodeKind::String(text) => {
            let purpose = IncludePurpose::Terminal;
            let path = loader.include(text, node.span, &pointer, purpose)?;
            Some(TerminalChoice::File(path))
        }
        NodeKind::Object(_) => {
            if !loader.compat.inline_terminal {
                let code = codes::TIMELINE_FORM;
                let message = "inline terminal configuration: expected a path";
                let modern = "move it to a file with `cuecard convert --terminal-file terminal.yaml`, or set compat.allowInlineTerminal";
                loader.legacy(code, node.span, &pointer, message, modern);
            }
            let config = super::terminal::inline(loader, node, &pointer)?;
            Some(TerminalChoice::Inline(Box::new(config)))
        }
        _ => {
            loader
                .reader
                .wrong_type(node, &pointer, "`terminalRef`", "a path");
            None
        }
    }
}

pub(super) fn repository(loader: &mut Loader<'_>, root: Object<'_>) -> Option<Repository> {
    section(loader, root, "repo", fields::REPO, &[], |loader, object| {
        let init = loader.flag(object, "init").unwrap_or(false);
        let branch = loader.filled(object, "branch");
        let folder = loader.reader.get(object, "dir").and_then(|node| {
            let at = object.child_pointer("dir");
            let text = loader.reader.text_of(node, &at, "`dir`")?;
            loader.include(text, node.span, &at, IncludePurpose::SeedFolder)
        });
        let files = loader
            .list(object, "files")
            .into_iter()
            .filter_map(|(item, pointer)| seed_file(loader, item, &pointer))
            .collect();
        let commit = commit(loader, object);
        let url = loader.filled(object, "url");
        let revision = loader.filled(object, "rev");
        let words = [("git", true), ("none", false)];
        let mode = match loader.reader.one_of(object, "mode", "`repo.mode`", &words) {
            Some(true) => {
                if url.is_none() {
                    let example = "url: https://…";
                    loader
                        .reader
                        .required(object, "url", "`repo` with `mode: git`", example);
                }
                RepositoryMode::Clone {
                    url: url.unwrap_or_default(),
                    revision,
                }
            }
            chosen => {
                for key in ["url", "rev"] {
                    if let Some(node) = loader.reader.get(object, key) {
                        let at = object.child_pointer(key);
                        let message = format!("`{key}` requires `mode: git`");
                        loader.warning(codes::TIMELINE_UNKNOWN, node.span, &at, message);
                    }
                }
                match chosen {
                    Some(_) => RepositoryMode::Nothing,
                    None => RepositoryMode::Fresh,
                }
            }
        };
        Some(Repository {
            init,
            branch,
            folder,
            files,
            commit,
            mode,
        })
    })
    .flatten()
}

/// `commit: true` or a message.
fn commit(loader: &mut Loader<'_>, object: Object<'_>) -> Option<String> {
    let node = loader.reader.get(object, "commit")?;
    match &node.kind {
        NodeKind::Bool(flag) => flag.then(|| "Initial commit".to_owned()),
        NodeKind::String(_) => loader.filled(object, "commit"),
        _ => {
            let at = object.child_pointer("commit");
            loader
                .reader
                .wrong_type(node, &at, "`repo.commit`", "true, false or a message");
            None
        }
    }
}

fn seed_file(loader: &mut Loader<'_>, item: &Node, pointer: &str) -> Option<SeedFile> {
    let what = "an entry of `files`";
    let aliases = [alias("content", "contents")];
    let node = loader.mapping(item, pointer, what, fields::SEED_FILE, &aliases)?;
    let object = Object {
        node: &node,
        pointer,
    };
    let path = loader
        .reader
        .required(object, "path", what, "path: README.md");
    let path = path.and_then(|node| {
        let at = object.child_pointer("path");
        let text = loader.reader.text_of(node, &at, "`path`")?;
        loader.inner_path(text, node.span, &at, "the workspace")
    });
    let contents = loader
        .reader
        .required(object, "contents", what, "contents: \"…\"")?;
    let at = object.child_pointer("contents");
    let contents = match &contents.kind {
        NodeKind::Object(_) => {
            let whose = "`contents`";
            let inner = loader.mapping(contents, &at, whose, fields::BASE64, &[])?;
            let object = Object {
                node: &inner,
                pointer: &at,
            };
            let example = "base64: …";
            let node = loader.reader.required(object, "base64", whose, example)?;
            let at = object.child_pointer("base64");
            let text = loader.reader.text_of(node, &at, "`base64`")?;
            let compact: String = text.split_ascii_whitespace().collect();
            let bytes = STANDARD.decode(compact);
            if bytes.is_err() {
                loader.invalid(node.span, &at, "not valid padded base64");
            }
            bytes.ok()?
        }
        _ => loader
            .reader
            .text_of(contents, &at, "`contents`")?
            .as_bytes()
            .to_vec(),
    };
    Some(SeedFile {
        path: path?,
        contents,
        span: node.span,
    })
}

/// `ah`: command, arguments, environment.
pub(super) type Program = (Option<String>, Vec<String>, Vec<(String, String)>);

pub(super) fn program(loader: &mut Loader<'_>, root: Object<'_>) -> Program {
    section(loader, root, "ah", fields::AH, &[], |loader, object| {
        (
            loader.filled(object, "cmd"),
            loader.texts(object, "flags"),
            loader.pairs(object, "env"),
        )
    })
    .unwrap_or_default()
}

pub(super) fn server(loader: &mut Loader<'_>, root: Object<'_>) -> ServerSettings {
    section(
        loader,
        root,
        "server",
        model_fields::SERVER,
        &[],
        |loader, object| {
            let modes = [
                ("none", ServerMode::None),
                ("mock", ServerMode::Mock),
                ("real", ServerMode::Real),
            ];
            let styles = [
                ("openai", ApiStyle::OpenAi),
                ("anthropic", ApiStyle::Anthropic),
                ("gemini", ApiStyle::Gemini),
            ];
            let mode = loader
                .reader
                .one_of(object, "mode", "`server.mode`", &modes);
            let style = loader
                .reader
                .one_of(object, "llmApiStyle", "`llmApiStyle`", &styles);
            let span = node_span(object, "llmApiStyle");
            let mut models: Vec<String> = loader.filled(object, "model").into_iter().collect();
            models.extend(loader.texts(object, "models"));
            let side_calls = loader
                .list(object, "sideCalls")
                .into_iter()
                .filter_map(|(item, pointer)| side_call(loader, item, &pointer))
                .collect();
            let on_repeat = loader.reader.one_of(
                object,
                "onRepeat",
                "`onRepeat`",
                &[("same", false), ("next", true)],
            );
            let thinking = loader.reader.one_of(
                object,
                "thinking",
                "`server.thinking`",
                &[("asked", false), ("always", true)],
            );
            ServerSettings {
                any_prompt: loader.flag(object, "anyPrompt").unwrap_or(false),
                is_by_name: loader.flag(object, "byName").unwrap_or(false),
                ignored_paths: ignored_paths(loader, object),
                always_thinks: thinking.unwrap_or(false),
                sends_reasoning: loader.flag(object, "reasoningContent").unwrap_or(false),
                headers: loader.headers(object, "headers"),
                repeats_go_on: on_repeat.unwrap_or(false),
                mode,
                api_style: style.map(|style| (style, span)),
                coalesce_thinking: loader
                    .flag(object, "coalesceThinkingWithToolUse")
                    .unwrap_or(true),
                models,
                has_no_side: object
                    .get("sideCalls")
                    .and_then(Node::as_array)
                    .is_some_and(<[_]>::is_empty),
                side_calls,
                exact_prompts: loader.flag(object, "exactPrompts").unwrap_or(false),
                seed: loader.object(object, "seed"),
            }
        },
    )
    .unwrap_or_default()
}

fn ignored_paths(loader: &mut Loader<'_>, object: Object<'_>) -> Vec<(String, Span)> {
    let items = loader.list(object, "ignore");
    let texts = items.into_iter().filter_map(|(item, pointer)| {
        let text = loader
            .reader
            .text_of(item, &pointer, "an entry of `ignore`")?;
        Some((text.to_owned(), item.span))
    });
    texts.collect()
}

pub(super) fn node_span(object: Object<'_>, key: &str) -> Span {
    object.get(key).map_or(object.node.span, |node| node.span)
}

fn side_call(loader: &mut Loader<'_>, item: &Node, pointer: &str) -> Option<SideCall> {
    let what = "an entry of `sideCalls`";
    let node = loader.mapping(item, pointer, what, model_fields::SIDE_CALL, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let pattern = loader
        .reader
        .required(object, "match", what, "match: title");
    let pattern = pattern.and_then(|node| {
        super::tool::regex(loader, node, &object.child_pointer("match"), "`match`")
    });
    let model = loader.filled(object, "model");
    let reply = loader.reader.required(object, "reply", what, "reply: …")?;
    Some(SideCall {
        pattern: pattern?,
        model,
        reply: reply.to_value(),
        span: node.span,
    })
}

pub(super) fn expectations(loader: &mut Loader<'_>, root: Object<'_>) -> TimelineExpectations {
    let aliases = [alias("exit_code", "exitCode")];
    section(
        loader,
        root,
        "expect",
        fields::EXPECT,
        &aliases,
        |loader, object| {
            let exit_code = loader.integer(object, "exitCode");
            let artifacts = loader
                .list(object, "artifacts")
                .into_iter()
                .filter_map(|(item, pointer)| {
                    let what = "an entry of `artifacts`";
                    let node = loader.mapping(item, &pointer, what, fields::ARTIFACT, &[])?;
                    let object = Object {
                        node: &node,
                        pointer: &pointer,
                    };
                    let words = [("taskFile", ()), ("file", ())];
                    loader
                        .reader
                        .one_of(object, "type", "`type` of an artifact", &words);
                    let pattern = loader.required(object, "pattern", what, "pattern: \"*.md\"")?;
                    Some(ArtifactPattern {
                        pattern,
                        span: node_span(object, "pattern"),
                    })
                })
                .collect();
            TimelineExpectations {
                exit_code,
                artifacts,
                span: Some(object.node.span),
            }
        },
    )
    .unwrap_or_default()
}
