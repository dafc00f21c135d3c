//! What every part of the loader shares: legacy forms, typed access, and what goes beside the model.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::FORMAT;
use super::pieces::{inner_path, is_object, item_pointer, meta_of};
use crate::model::{Block, BlockKind, IncludePurpose, IncludedFile, MediaSource, ToolUse};
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::{Json, cut, pointer_steps, push_pointer};
use cuecard_source::{Edit, SourceFile, Span};

/// The codes of older forms that are more than another word.
const RESTRUCTURED: [Code; 5] = [
    codes::TIMELINE_MARKER_OFF,
    codes::TIMELINE_LEGACY_EVENT,
    codes::TIMELINE_INLINE_TOOL,
    codes::TIMELINE_MISPLACED,
    codes::TIMELINE_FORM,
];

/// Reads one file, or one choice of its rules.
pub(super) struct Loader<'a> {
    pub reader: Reader<'a>,
    /// What makes older forms canonical.
    pub edits: Vec<Edit>,
    pub included: Vec<IncludedFile>,
    /// Whether the item at hand has an older form that is more than another word.
    pub is_restructured: bool,
    pub compat: Compat,
    /// How many calls there were so far.
    pub n_calls: usize,
    /// The tool and the arguments of calls as they were written, if otherwise, by the place of the tool's name.
    pub written_calls: HashMap<Span, (Option<String>, Option<Json>)>,
}

/// `compat`: older forms that need no warning.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Compat {
    /// Whether `terminalRef` may be a mapping.
    #[serde(rename = "allowInlineTerminal")]
    pub inline_terminal: bool,
    /// Whether events may be written with `type`.
    #[serde(rename = "allowTypeSteps")]
    pub type_steps: bool,
}

/// Another spelling of a key, which is reported.
pub(super) struct Alias {
    pub alias: &'static str,
    pub name: &'static str,
}

/// Another spelling of a key.
pub(super) const fn alias(alias: &'static str, name: &'static str) -> Alias {
    Alias { alias, name }
}

impl<'a> Loader<'a> {
    /// `written` is where list items stand in the file, if rules moved them.
    pub(super) fn new(source: &'a SourceFile, written: &'a HashMap<Span, String>) -> Self {
        let mut reader = Reader::new(source, &FORMAT);
        reader.moved = Some(written);
        Self {
            reader,
            edits: Vec::new(),
            included: Vec::new(),
            is_restructured: false,
            compat: Compat::default(),
            n_calls: 0,
            written_calls: HashMap::new(),
        }
    }

    pub(super) fn source(&self) -> &'a SourceFile {
        self.reader.source
    }

    /// The text under a span.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.reader.source.slice(span)
    }

    /// Where an item of a list stands in the file as written.
    pub(super) fn item_pointer(&self, item: &Node, pointer: &str, idx: usize) -> String {
        item_pointer(&self.reader, item, pointer, idx)
    }

    pub(super) fn error(
        &mut self,
        code: Code,
        span: Span,
        pointer: &str,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.reader.error_at(code, span, pointer, message)
    }

    pub(super) fn warning(
        &mut self,
        code: Code,
        span: Span,
        pointer: &str,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = self.reader.warning(code, span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic
    }

    /// A value outside its set, or one that makes no sense.
    pub(super) fn invalid(&mut self, span: Span, pointer: &str, message: impl Into<String>) {
        self.error(codes::TIMELINE_SHAPE, span, pointer, message);
    }

    /// Warns about an older form and says what to write.
    pub(super) fn legacy(
        &mut self,
        code: Code,
        span: Span,
        pointer: &str,
        message: impl Into<String>,
        modern: impl Into<String>,
    ) {
        let diagnostic = self.warning(code, span, pointer, message);
        diagnostic.help = Some(modern.into());
        self.is_restructured |= RESTRUCTURED.contains(&code);
    }

    /// Replaces the text under a span when the file is converted.
    pub(super) fn replace(&mut self, at: Span, text: impl Into<String>) {
        self.edits.push(Edit::new(at, text));
    }

    /// The same mapping under the canonical keys. Reports other spellings, and keys that stand there twice over.
    pub(super) fn renamed<'n>(
        &mut self,
        node: &'n Node,
        pointer: &str,
        aliases: &[Alias],
    ) -> Cow<'n, Node> {
        let is_used = |member: &Member| aliases.iter().any(|alias| alias.alias == member.key);
        if !node.members().iter().any(is_used) {
            return Cow::Borrowed(node);
        }
        let mut members: Vec<Member> = Vec::with_capacity(node.members().len());
        for member in node.members() {
            let Some(alias) = aliases.iter().find(|alias| alias.alias == member.key) else {
                members.push(member.clone());
                continue;
            };
            let at = child(pointer, &member.key);
            let is_double = node.get(alias.name).is_some()
                || members.iter().any(|known| known.key == alias.name);
            if is_double {
                let message = format!("`{}` and `{}` mean the same", alias.alias, alias.name);
                self.error(codes::TIMELINE_SHAPE, member.key_span, &at, message)
                    .help = Some(format!("keep `{}` only", alias.name));
                continue;
            }
            let code = codes::TIMELINE_KEY_ALIAS;
            self.rename(code, member.key_span, &at, alias.alias, alias.name);
            members.push(Member {
                key: alias.name.to_owned(),
                ..member.clone()
            });
        }
        Cow::Owned(Node {
            kind: NodeKind::Object(members),
            span: node.span,
        })
    }

    /// Reports another spelling of a key or value, and replaces it in the conversion.
    pub(super) fn rename(
        &mut self,
        code: Code,
        span: Span,
        pointer: &str,
        found: &str,
        name: &str,
    ) {
        let message = format!("`{}` is an older spelling of `{name}`", cut(found, 40));
        self.legacy(code, span, pointer, message, format!("write `{name}`"));
        self.replace_word(span, name);
    }

    /// Replaces a word when the file is converted. One in quotes stays so: `"a":1` means something else without.
    pub(super) fn replace_word(&mut self, at: Span, word: &str) {
        let quote = self.slice(at).chars().next();
        match quote.filter(|quote| matches!(quote, '"' | '\'')) {
            Some(quote) => self.replace(at, format!("{quote}{word}{quote}")),
            None => self.replace(at, word),
        }
    }

    /// Whether it is a mapping. Reports if not.
    pub(super) fn is_mapping(&mut self, node: &Node, pointer: &str, whose: &str) -> bool {
        is_object(&mut self.reader, node, pointer, whose)
    }

    /// Reads a value, which messages call `what`.
    pub(super) fn decode<T: DeserializeOwned>(
        &mut self,
        node: &Node,
        pointer: &str,
        what: &str,
    ) -> Option<T> {
        self.reader.decode(node, pointer, what)
    }

    /// Items with their pointers.
    pub(super) fn items<'n>(&self, items: &'n [Node], pointer: &str) -> Vec<(&'n Node, String)> {
        items
            .iter()
            .enumerate()
            .map(|(idx, item)| (item, self.item_pointer(item, pointer, idx)))
            .collect()
    }

    /// `_meta` of a mapping; null if there is none.
    pub(super) fn meta(&mut self, object: Object<'_>) -> Json {
        let node = self.reader.get(object, "_meta");
        let meta =
            node.and_then(|node| meta_of(&mut self.reader, node, &object.child_pointer("_meta")));
        meta.unwrap_or_default()
    }

    /// A path that a timeline refers to, which stays in the timeline's folder.
    pub(super) fn include(
        &mut self,
        text: &str,
        span: Span,
        pointer: &str,
        purpose: IncludePurpose,
    ) -> Option<PathBuf> {
        let path = self.inner_path(text, span, pointer, "the timeline's directory")?;
        self.included.push(IncludedFile {
            path: path.clone(),
            span,
            purpose,
        });
        Some(path)
    }

    /// Reads a call in canonical form, which messages call `what`, and its `_meta`.
    pub(super) fn call(
        &mut self,
        call: &Node,
        pointer: &str,
        what: &str,
    ) -> Option<(ToolUse, Json)> {
        self.n_calls += 1;
        let counted = format!("call_{}", self.n_calls);
        let mut tool: ToolUse = self.decode(call, pointer, what)?;
        if tool.call_id.is_empty() {
            tool.call_id = counted;
        }
        let written = self.written_calls.get(&tool.tool_span).cloned();
        let (written_tool, written_args) = written.unwrap_or_default();
        tool.written_tool = written_tool;
        tool.written_args = written_args.map(Arc::new);
        let node = call;
        Some((tool, self.meta(Object { node, pointer })))
    }

    /// Notes the files of blocks.
    pub(super) fn note_media<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>) {
        for block in blocks {
            if let BlockKind::Image(media) | BlockKind::Audio(media) = &block.kind
                && let MediaSource::File(path) = &media.source
            {
                self.included.push(IncludedFile {
                    path: path.clone(),
                    span: media.span,
                    purpose: IncludePurpose::Media(media.mime_type.clone()),
                });
            }
        }
    }

    /// Notes a file that was read of a node.
    pub(super) fn note_included(
        &mut self,
        path: Option<PathBuf>,
        node: Option<&Node>,
        purpose: IncludePurpose,
    ) {
        if let (Some(path), Some(node)) = (path, node) {
            let span = node.span;
            self.included.push(IncludedFile {
                path,
                span,
                purpose,
            });
        }
    }

    /// A relative path that doesn't leave the folder it starts in.
    pub(super) fn inner_path(
        &mut self,
        text: &str,
        span: Span,
        pointer: &str,
        folder: &str,
    ) -> Option<PathBuf> {
        inner_path(&mut self.reader, text, (span, pointer), folder)
    }
}

/// Whether a path is absolute or goes up further than it went down.
pub(super) fn leaves_folder(path: &Path) -> bool {
    let mut depth = 0_usize;
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => return true,
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
            Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
        }
    }
    false
}

/// Why an answer can't have this header.
pub(super) fn header_problem(name: &str, value: &str) -> Option<&'static str> {
    const OF_THE_MESSAGE: [&str; 4] = [
        "connection",
        "content-length",
        "content-type",
        "transfer-encoding",
    ];
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some("has an invalid name");
    }
    if OF_THE_MESSAGE
        .iter()
        .any(|own| own.eq_ignore_ascii_case(name))
    {
        return Some("is set automatically and can't be overridden");
    }
    let is_bad = |letter: char| letter.is_control() && letter != '\t';
    value
        .chars()
        .any(is_bad)
        .then_some("has control characters in its value")
}

/// One step more of a pointer.
pub(super) fn child(pointer: &str, key: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_pointer(&mut pointer, key);
    pointer
}

/// Two mappings as one, the inner one winning; mappings inside are merged likewise.
pub(super) fn merged(outer: Json, inner: Json) -> Json {
    match (outer, inner) {
        (outer, Json::Null) => outer,
        (Json::Object(mut outer), Json::Object(inner)) => {
            for (key, value) in inner {
                match outer.get_mut(&key) {
                    Some(known) if known.is_object() && value.is_object() => {
                        *known = merged(known.take(), value);
                    }
                    _ => {
                        outer.insert(key, value);
                    }
                }
            }
            Json::Object(outer)
        }
        (_, inner) => inner,
    }
}

/// The member of a mapping with this key.
pub(super) fn member<'n>(node: &'n Node, key: &str) -> Option<&'n Member> {
    node.members().iter().find(|member| member.key == key)
}

/// `timeline[7].agentActions[1]` for `/timeline/7/agentActions/1`.
pub(super) fn key_path(pointer: &str) -> String {
    let mut path = String::new();
    for token in pointer_steps(pointer) {
        if !path.is_empty() && !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
        {
            path.push_str(&format!("[{token}]"));
            continue;
        }
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(&token);
    }
    path
}
