//! Finds the elements that a step's targets mean, on the page as it is now, and gives the call what the browser's
//! server knows them by.
//!
//! All of them are looked up in one snapshot, since the ids of another one may not count any more. A snapshot knows no
//! selectors. With chrome-devtools-mcp an element that a selector finds is marked with an attribute for as long as it
//! takes to make a snapshot, where the mark stands beside the `uid`; @playwright/mcp takes the selector itself.
//! Selectors and texts go into scripts as literals: they are data.

mod browser;
mod failures;
mod place;

use cuecard_page::Snapshot;
use cuecard_tool_call::script::{ElementTarget, Failure, FailureKind};
use serde_json::{Map, Value as Json, json};

use super::mcp_call::failed_call;
use super::toolbox::Toolbox;
use browser::Browser;
pub(super) use browser::literal;
use cuecard_mcp::ToolInfo;
use cuecard_runtime::tap::Recorder;
pub(super) use place::{Place, put};

/// A browser's server that can find elements, by its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// chrome-devtools-mcp, old and new.
    DevTools,
    /// @playwright/mcp.
    Playwright,
}

impl Kind {
    /// The tools that make a snapshot and run a script.
    fn tools(self) -> [&'static str; 2] {
        match self {
            Self::DevTools => ["take_snapshot", "evaluate_script"],
            Self::Playwright => ["browser_snapshot", "browser_evaluate"],
        }
    }

    /// What tools call the parameter that names the element they act on: the first that a tool has.
    fn params(self) -> &'static [&'static str] {
        match self {
            Self::DevTools => &["uid"],
            Self::Playwright => &["target", "ref"],
        }
    }
}

/// Puts what the server knows the elements by into the arguments of `tool`, and gives the elements in words.
pub(super) async fn aim(
    toolbox: &mut Toolbox,
    place: Place<'_>,
    tool: &str,
    targets: &[ElementTarget],
    arguments: &mut Map<String, Json>,
    recorder: &mut Recorder<'_>,
) -> Result<Vec<String>, Failure> {
    let tools = place
        .peer
        .session
        .tools()
        .await
        .map_err(|error| failed_call(&error))?
        .unwrap_or_default();
    let find = |name: &str| tools.iter().find(|info| info.name == name);
    let of_kind = |kind: Kind| {
        let [snapshot, script] = kind.tools();
        Some((kind, find(snapshot)?, find(script)?))
    };
    let Some((kind, snapshot, script)) =
        of_kind(Kind::DevTools).or_else(|| of_kind(Kind::Playwright))
    else {
        return Err(failures::no_snapshots(place.peer.server));
    };
    let own_param = own_param(kind, find(tool), tool);
    let mut browser = Browser {
        toolbox,
        place,
        kind,
        snapshot,
        script,
        recorder,
    };
    let found = browser.find(targets).await?;
    let mut told = Vec::with_capacity(found.len());
    for (target, (id, words)) in targets.iter().zip(found) {
        let words = format!("{words}, {} {id}", kind.params()[0]);
        told.push(match target.param.as_ref() {
            Some(param) => format!("{} is {words}", param.written),
            None => words,
        });
        match target.param.as_ref() {
            Some(param) => {
                place::put(arguments, param, id).map_err(|failure| failure.at(target.span))?;
            }
            None => {
                own_param.clone()?.put(arguments, id);
                describe(arguments, find(tool), told.last());
            }
        }
    }
    Ok(told)
}

/// The parameter of a tool that names the element it acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnParam {
    /// It has this name.
    Named(&'static str),
    /// It is the list of arguments of a script, which gets the element first.
    FirstArgument {
        /// Whether an element is an object with a `uid` there.
        is_object: bool,
    },
}

impl OwnParam {
    /// Gives the parameter what the server knows the element by.
    pub(super) fn put(self, arguments: &mut Map<String, Json>, id: String) {
        match self {
            Self::Named(name) => {
                arguments.insert(name.to_owned(), id.into());
            }
            Self::FirstArgument { is_object } => {
                let element = match is_object {
                    true => json!({"uid": id}),
                    false => Json::from(id),
                };
                let list = arguments
                    .entry(ARGUMENTS)
                    .or_insert_with(|| Json::Array(Vec::new()));
                if let Some(list) = list.as_array_mut() {
                    list.insert(0, element);
                }
            }
        }
    }
}

/// What chrome-devtools-mcp calls the list of elements that a script gets.
const ARGUMENTS: &str = "args";

fn own_param(kind: Kind, info: Option<&ToolInfo>, tool: &str) -> Result<OwnParam, Failure> {
    let params = kind.params();
    let Some(info) = info else {
        return Ok(OwnParam::Named(params[0]));
    };
    if let Some(name) = params.iter().copied().find(|name| browser::has(info, name)) {
        return Ok(OwnParam::Named(name));
    }
    if kind == Kind::DevTools && tool == kind.tools()[1] && browser::has(info, ARGUMENTS) {
        let items = info.input_schema.pointer("/properties/args/items/type");
        let is_object = items.and_then(Json::as_str) == Some("object");
        return Ok(OwnParam::FirstArgument { is_object });
    }
    Err(failures::takes_no_element(tool, params[0]))
}

/// The parameter of a tool that names the element it acts on, whatever server it is of.
pub(super) fn any_own_param(info: &ToolInfo) -> Option<OwnParam> {
    [Kind::DevTools, Kind::Playwright]
        .into_iter()
        .find_map(|kind| own_param(kind, Some(info), &info.name).ok())
}

/// What to do about a tool without such a parameter.
pub(super) const NO_OWN_PARAM: &str =
    "remove `target`, or name the parameter: \"targets\": { \"elements[0].uid\": { … } }";

/// Whether a tool wants the element in words too, as those of older versions of @playwright/mcp do.
pub(super) fn wants_words(info: &ToolInfo) -> bool {
    let required = info.input_schema.get("required").and_then(Json::as_array);
    required.is_some_and(|required| required.iter().any(|name| name == "element"))
}

/// Adds the element in words where the tool wants it.
fn describe(arguments: &mut Map<String, Json>, info: Option<&ToolInfo>, words: Option<&String>) {
    let wants = info.is_some_and(wants_words);
    if let Some(words) = words.filter(|_| wants && !arguments.contains_key("element")) {
        arguments.insert("element".to_owned(), words.as_str().into());
    }
}

/// The element that is wanted in a snapshot, of those at certain places only.
fn lookup(
    snapshot: &Snapshot,
    target: &ElementTarget,
    is_among: &dyn Fn(usize) -> bool,
) -> Result<(String, String), Failure> {
    match snapshot.meant_among(&target.wanted, is_among) {
        Ok(meant) => Ok((meant.id, meant.words)),
        Err(not_one) => Err(failures::not_one(target, &not_one)),
    }
}

/// A failure of the step's target.
fn failed(message: String) -> Failure {
    Failure::new(FailureKind::Target, message)
}
