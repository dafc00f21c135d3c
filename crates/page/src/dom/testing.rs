//! Pages for tests, written as indented lines and captured as the walk would:
//!
//! ```text
//! form "Account"
//!   label for=email | E-mail
//!   input "E-mail" type=email id=email required
//!   button "Log in" +disabled
//!   a "Reset" href=/reset ~covered
//!   | Three attempts left.
//! iframe "Pay"
//!   #frame http://pay.example/
//!     button "Pay"
//! x-card
//!   #shadow
//!     button "Inside"
//! ```
//!
//! `+word` is a state, `~word` one of hidden, covered, below, paint, cursor, listener, closed, unnamed. A `name=value` whose
//! value has spaces is quoted. What has a role by its tag gets it; `role=` replaces it. Lines are 30 pixels apart.

use serde_json::{Map, Value as Json, json};

use super::{DomProcessor, DomState};
use cuecard_source::value::Redactor;

const HEIGHT: f64 = 30.0;

/// The first state of a page.
pub(crate) fn page(lines: &str) -> DomState {
    processor().read(&capture(lines)).expect("a capture")
}

/// What reads captures of such pages: nothing is secret, and test ids are `data-testid`.
pub(crate) fn processor() -> DomProcessor {
    DomProcessor::new("data-testid", Redactor::default())
}

/// A capture of a page at `https://shop.example/login` with the title `Sign in`.
pub(crate) fn capture(lines: &str) -> String {
    let lines: Vec<(usize, &str)> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| (line.len() - line.trim_start().len(), line.trim()))
        .collect();
    let mut maker = Maker {
        lines,
        ..Maker::default()
    };
    let first = maker
        .lines
        .first()
        .map_or(0, |(indentation, _)| *indentation);
    maker.document("https://shop.example/login", "Sign in", None, 0, first);
    json!({"version": 1, "owners": maker.owners, "documents": maker.documents}).to_string()
}

#[derive(Default)]
struct Maker<'a> {
    lines: Vec<(usize, &'a str)>,
    documents: Vec<Json>,
    owners: Vec<Json>,
}

struct Open {
    indentation: usize,
    node: Option<usize>,
    /// Tags of the children so far, and where a path goes on.
    is_shadow: bool,
    /// The way from the root of the document through shadow hosts.
    way: Vec<String>,
}

impl Maker<'_> {
    /// Makes a document of the lines from `at` that are indented by `least`; gives the place of the first other line.
    fn document(
        &mut self,
        url: &str,
        title: &str,
        owner: Option<Json>,
        at: usize,
        least: usize,
    ) -> usize {
        let number = self.documents.len();
        self.documents.push(Json::Null);
        self.owners.push(owner.unwrap_or(Json::Null));
        let mut nodes = vec![json!({
            "tagName": "body", "path": "/html/body", "isInViewport": true, "rect": [0, 0, 1280, 1460],
        })];
        let mut open = vec![Open {
            indentation: 0,
            node: Some(0),
            is_shadow: false,
            way: vec!["/html/body".to_owned()],
        }];
        open[0].indentation = least.wrapping_sub(1);
        let mut at = at;
        let mut y = 0.0;
        while let Some(&(indentation, line)) = self.lines.get(at) {
            if indentation < least {
                break;
            }
            while open.len() > 1
                && open
                    .last()
                    .is_some_and(|top| top.indentation >= indentation)
            {
                open.pop();
            }
            let top = open.last().expect("the body is open");
            let parent = top.node.expect("an element");
            if let Some(text) = line.strip_prefix("| ") {
                nodes.push(json!({"parent": parent, "text": text}));
                at += 1;
                continue;
            }
            if let Some(url) = line.strip_prefix("#frame") {
                let owner = json!({"document": number, "path": top.way, "kind": "frame"});
                at = self.document(url.trim(), "", Some(owner), at + 1, indentation + 2);
                continue;
            }
            if line == "#shadow" {
                let way = top.way.clone();
                open.push(Open {
                    indentation,
                    node: Some(parent),
                    is_shadow: true,
                    way,
                });
                at += 1;
                continue;
            }
            let mut node = element(line, parent, y);
            y += HEIGHT;
            let tag = node["tagName"].as_str().unwrap_or_default().to_owned();
            let step = self.step(at, indentation, &tag);
            let is_shadow = top.is_shadow;
            let mut way = top.way.clone();
            let path = match is_shadow {
                true => format!("/{step}"),
                false => step,
            };
            match is_shadow {
                true => way.push(path.clone()),
                false => {
                    if let Some(last) = way.last_mut() {
                        last.push('/');
                        last.push_str(&path);
                    }
                }
            }
            node["path"] = json!(path);
            let text = node
                .as_object_mut()
                .and_then(|node| node.remove("content_text"));
            let index = nodes.len();
            nodes.push(node);
            if let Some(text) = text {
                nodes.push(
                    json!({"parent": index, "text": text, "isVisible": nodes[index]["isVisible"]}),
                );
            }
            open.push(Open {
                indentation,
                node: Some(index),
                is_shadow: false,
                way,
            });
            at += 1;
        }
        self.documents[number] = json!({
            "url": url, "title": title, "documentId": "1",
            "viewport": [1280, 720], "scroll": [0, 0], "size": [1280, 1460], "nodes": nodes,
        });
        at
    }

    /// The tag, with its position if siblings have it too.
    fn step(&self, at: usize, indentation: usize, tag: &str) -> String {
        let is_sibling = |&(other, line): &(usize, &str)| {
            other == indentation && line.split(' ').next() == Some(tag)
        };
        let before = self.lines[..at]
            .iter()
            .rev()
            .take_while(|(other, _)| *other >= indentation)
            .filter(|line| is_sibling(line))
            .count();
        let after = self.lines[at + 1..]
            .iter()
            .take_while(|(other, _)| *other >= indentation)
            .filter(|line| is_sibling(line))
            .count();
        match before + after {
            0 => tag.to_owned(),
            _ => format!("{tag}[{}]", before + 1),
        }
    }
}

/// The words of a line; quotes keep spaces, also behind `=`.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for sign in line.chars() {
        match sign {
            '"' => {
                is_quoted = !is_quoted;
                word.push(sign);
            }
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            other => word.push(other),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn element(line: &str, parent: usize, y: f64) -> Json {
    let (line, inner) = match line.split_once(" | ") {
        Some((line, text)) => (line, Some(text)),
        None => (line, None),
    };
    let mut words = words(line).into_iter();
    let tag = words.next().unwrap_or_default();
    let mut attributes = Map::new();
    let (mut states, mut flags, mut name, mut role) = (Vec::new(), Vec::new(), String::new(), None);
    let mut node = json!({"parent": parent, "tagName": tag, "rect": [8.0, y, 200.0, 24.0]});
    for word in words {
        if word.starts_with('"') {
            name = word.trim_matches('"').to_owned();
        } else if let Some(state) = word.strip_prefix('+') {
            states.push(state.to_owned());
        } else if let Some(flag) = word.strip_prefix('~') {
            flags.push(flag.to_owned());
        } else {
            let (key, value) = word.split_once('=').unwrap_or((&word, ""));
            let value = value.trim_matches('"');
            match key {
                "role" => role = Some(value.to_owned()),
                "options" => {
                    let options: Vec<_> = value
                        .split(',')
                        .map(|option| json!([option, option.to_lowercase()]))
                        .collect();
                    node["options"] = json!(options);
                }
                "label" | "proxy" => node[key] = json!(value),
                "level" | "nodeId" => node[key] = json!(value.parse::<u64>().expect("a number")),
                "filled" => node[key] = json!(value == "true"),
                "y" => {
                    node["rect"] =
                        json!([8.0, value.parse::<f64>().expect("a number"), 200.0, 24.0]);
                }
                _ => {
                    if matches!(key, "required" | "disabled" | "readonly" | "checked") {
                        states.push(key.to_owned());
                    }
                    attributes.insert(key.to_owned(), json!(value));
                }
            }
        }
    }
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    let kind = attributes
        .get("type")
        .and_then(Json::as_str)
        .unwrap_or_default()
        .to_owned();
    let role = role.unwrap_or_else(|| role_of(&tag, &kind, &attributes, &name).to_owned());
    let native = matches!(tag.as_str(), "button" | "select" | "textarea" | "summary")
        || (tag == "input" && kind != "hidden")
        || (tag == "a" && attributes.contains_key("href"));
    let by = match () {
        () if native => "native",
        () if has("listener") => "listener",
        () if has("cursor") => "cursor",
        () if matches!(
            role.as_str(),
            "button" | "link" | "tab" | "menuitem" | "checkbox" | "option" | "switch"
        ) =>
        {
            "role"
        }
        () => "",
    };
    if !by.is_empty() {
        node["isInteractive"] = json!(true);
        node["interactiveBy"] = json!(by);
    }
    if matches!(tag.as_str(), "input" | "select" | "textarea") && node.get("label").is_none() {
        node["label"] = json!(name);
    }
    if let Some(level) = tag
        .strip_prefix('h')
        .and_then(|level| level.parse::<u32>().ok())
    {
        node["level"] = json!(level);
    }
    let is_content = matches!(
        tag.as_str(),
        "button" | "a" | "option" | "summary" | "td" | "li"
    ) || matches!(
        role.as_str(),
        "heading" | "button" | "link" | "tab" | "menuitem" | "option"
    );
    if let Some(inner) = inner {
        node["content_text"] = json!(inner);
    } else if is_content && !name.is_empty() && !has("unnamed") {
        node["content_text"] = json!(name);
    }
    node["attributes"] = Json::Object(attributes);
    node["states"] = json!(states);
    node["role"] = json!(role);
    node["name"] = json!(name);
    node["isVisible"] = json!(!has("hidden"));
    node["isTopElement"] = json!(!has("covered"));
    node["topBasis"] = json!(if has("below") || has("paint") {
        "paint"
    } else {
        "hit"
    });
    node["isInViewport"] = json!(!has("below") && !has("hidden"));
    if has("below") {
        node["rect"] = json!([8.0, 800.0 + y, 200.0, 24.0]);
    }
    if tag == "iframe" {
        node["content"] = json!([8.0, y, 400.0, 300.0]);
    }
    node
}

fn role_of(tag: &str, kind: &str, attributes: &Map<String, Json>, name: &str) -> &'static str {
    match tag {
        "button" | "summary" => "button",
        "a" if attributes.contains_key("href") => "link",
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "heading",
        "select" => "combobox",
        "textarea" => "textbox",
        "input" => match kind {
            "checkbox" => "checkbox",
            "radio" => "radio",
            "submit" | "button" | "reset" => "button",
            "search" => "searchbox",
            "number" => "spinbutton",
            "range" => "slider",
            "hidden" | "file" => "",
            _ => "textbox",
        },
        "form" if !name.is_empty() => "form",
        "section" if !name.is_empty() => "region",
        "dialog" => "dialog",
        "nav" => "navigation",
        "table" => "table",
        "tr" => "row",
        "td" => "cell",
        "th" => "columnheader",
        "ul" | "ol" => "list",
        "li" => "listitem",
        "img" => "img",
        "iframe" => "iframe",
        "option" => "option",
        _ => "",
    }
}
