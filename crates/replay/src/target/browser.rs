//! What is asked of a browser's server to find elements.

use cuecard_page::Snapshot;
use cuecard_source::value::cut;
use cuecard_tool_call::script::{ElementTarget, Failure, FailureKind};
use serde_json::{Map, Value as Json, json};

use super::super::mcp_call::failed_call;
use super::super::page;
use super::super::toolbox::Toolbox;
use super::failures::{chosen, hidden};
use super::place::Place;
use super::{Kind, lookup};
use cuecard_mcp::result::{self, text_of};
use cuecard_mcp::{ToolInfo, ToolReply};
use cuecard_runtime::tap::Recorder;

/// The attribute that marks an element: snapshots show it, no element inherits it, and pages hardly use it.
const MARK: &str = "aria-keyshortcuts";
/// How a snapshot calls it.
const MARK_IN_SNAPSHOT: &str = "keyshortcuts";

/// Says which elements a selector finds, and marks them; or says why there is none.
const MARK_SCRIPT: &str = include_str!("../scripts/mark.js");
/// Takes the marks away.
const UNMARK_SCRIPT: &str = include_str!("../scripts/unmark.js");
/// Says of an element whether a selector fits it.
const FITS_SCRIPT: &str = include_str!("../scripts/fits.js");

/// An element is asked for so many of those that have its role and name at most.
const MOST_ASKED: usize = 50;

/// An element: what its server knows it by, and the element in words.
pub(super) type Found = (String, String);

pub(super) struct Browser<'a, 'r> {
    pub(super) toolbox: &'a mut Toolbox,
    pub(super) place: Place<'a>,
    pub(super) kind: Kind,
    pub(super) snapshot: &'a ToolInfo,
    pub(super) script: &'a ToolInfo,
    pub(super) recorder: &'a mut Recorder<'r>,
}

impl Browser<'_, '_> {
    /// Every target's element, in their order.
    pub(super) async fn find(&mut self, targets: &[ElementTarget]) -> Result<Vec<Found>, Failure> {
        match self.kind {
            Kind::DevTools => self.find_marked(targets).await,
            Kind::Playwright => self.find_by_selector(targets).await,
        }
    }

    /// Marks what selectors find, takes one snapshot, and looks everything up in it.
    async fn find_marked(&mut self, targets: &[ElementTarget]) -> Result<Vec<Found>, Failure> {
        let call_id = self.place.peer.call_id.cloned().unwrap_or_default();
        let token = |index: usize| format!("cuecard-{call_id}-{index}");
        let mut tokens: Vec<String> = Vec::new();
        let mut problem = None;
        for (index, target) in targets.iter().enumerate() {
            if target.selector.is_none() {
                continue;
            }
            let marked = self.choose(target, Some(&token(index))).await;
            match marked {
                Ok(_) => tokens.push(token(index)),
                Err(failure) => {
                    problem = Some(failure.at(target.span));
                    break;
                }
            }
        }
        let in_places = targets.iter().any(|target| target.wanted.within.is_some());
        // Rows and other parts that nobody acts on are in verbose snapshots only, as marks are.
        let verbose = in_places || !tokens.is_empty();
        let snapshot = match problem {
            None => self.take_snapshot(verbose).await,
            Some(problem) => Err(problem),
        };
        if !tokens.is_empty() {
            // Whatever came of it, the page gets back what it had.
            let unmarked = self
                .run(None, UNMARK_SCRIPT, &[Json::from(MARK), json!(tokens)])
                .await;
            if snapshot.is_ok() {
                unmarked?;
            }
        }
        let found = look_up_all(&snapshot?, targets, &token);
        if found.is_err() && !verbose {
            let snapshot = self.take_snapshot(true).await?;
            return look_up_all(&snapshot, targets, &token);
        }
        found
    }

    /// Looks everything up in one snapshot, but selectors, which the server takes as they are.
    async fn find_by_selector(&mut self, targets: &[ElementTarget]) -> Result<Vec<Found>, Failure> {
        let needs_snapshot = targets.iter().any(|target| !chooses_one(target));
        let snapshot = match needs_snapshot {
            true => self.take_snapshot(false).await?,
            false => Snapshot::default(),
        };
        let mut found = Vec::with_capacity(targets.len());
        for target in targets {
            let element = match (&target.selector, chooses_one(target)) {
                (Some(selector), true) => self.by_selector(target, selector).await,
                (Some(selector), false) => self.of_those(&snapshot, target, selector).await,
                (None, _) => lookup(&snapshot, target, &|_| true),
            };
            found.push(element.map_err(|failure| failure.at(target.span))?);
        }
        Ok(found)
    }

    /// The one element that a selector finds, named by the selector and its place among those that it finds.
    async fn by_selector(
        &mut self,
        target: &ElementTarget,
        selector: &str,
    ) -> Result<Found, Failure> {
        let answer = self.choose(target, None).await?;
        let index = answer.get("index").and_then(Json::as_u64).unwrap_or(0);
        // It must not look into shadow roots, since the script did not.
        let id = format!("css:light={selector} >> nth={index}");
        let words = format!("the element with `{}`", cut(selector, 80));
        Ok((id, words))
    }

    /// Of the elements with a role and a name the one that a selector fits too.
    async fn of_those(
        &mut self,
        snapshot: &Snapshot,
        target: &ElementTarget,
        selector: &str,
    ) -> Result<Found, Failure> {
        let text = target.wanted.text.as_deref().map_or(Json::Null, Json::from);
        let mut rest = target.clone();
        rest.wanted.text = None;
        rest.wanted.nth = None;
        let mut fitting = Vec::new();
        for meant in snapshot
            .all_fitting(&rest.wanted)
            .into_iter()
            .take(MOST_ASKED)
        {
            let inputs = [Json::from(selector), text.clone()];
            let answer = self.run(Some(&meant.id), FITS_SCRIPT, &inputs).await?;
            if answer == Json::Bool(true) {
                fitting.push(meant.id);
            }
        }
        rest.wanted.nth = target.wanted.nth;
        let is_fitting = |index: usize| fitting.contains(&snapshot.elements[index].id);
        lookup(snapshot, &rest, &is_fitting)
    }

    /// Lets the page say which elements a target's selector finds, and mark them.
    async fn choose(
        &mut self,
        target: &ElementTarget,
        token: Option<&str>,
    ) -> Result<Json, Failure> {
        let one = chooses_one(target);
        let inputs = [
            target.selector.as_deref().map_or(Json::Null, Json::from),
            target.wanted.text.as_deref().map_or(Json::Null, Json::from),
            Json::from(one),
            target
                .wanted
                .nth
                .filter(|_| one)
                .map_or(Json::Null, Json::from),
            token.map_or(Json::Null, |_| Json::from(MARK)),
            token.map_or(Json::Null, Json::from),
        ];
        let answer = self.run(None, MARK_SCRIPT, &inputs).await?;
        chosen(&answer, target)?;
        Ok(answer)
    }

    async fn take_snapshot(&mut self, verbose: bool) -> Result<Snapshot, Failure> {
        let info = self.snapshot;
        let mut arguments = Map::new();
        if verbose {
            arguments.insert("verbose".to_owned(), true.into());
        }
        let reply = self.call(info, arguments).await?;
        Snapshot::read(&text_of(&reply)).map_err(|error| {
            Failure::new(
                FailureKind::ToolError,
                format!(
                    "the page has more than {} elements, too many to find one",
                    error.limit
                ),
            )
        })
    }

    /// Calls a function of a script with values, on an element first if one is given, and gives what it returns.
    async fn run(
        &mut self,
        element: Option<&str>,
        function: &str,
        inputs: &[Json],
    ) -> Result<Json, Failure> {
        let mut literals: Vec<String> = inputs.iter().map(literal).collect();
        let info = self.script;
        let mut arguments = Map::new();
        let mut parameter = "";
        if let Some(id) = element {
            parameter = "element";
            literals.insert(0, parameter.to_owned());
            arguments.insert("element".to_owned(), "the element".into());
            for name in self.kind.params() {
                if has(info, name) {
                    arguments.insert((*name).to_owned(), id.into());
                }
            }
        }
        let function = format!(
            "({parameter}) => ({})({})",
            function.trim(),
            literals.join(", ")
        );
        arguments.insert("function".to_owned(), function.into());
        if has(info, "waitForStableDom") {
            arguments.insert("waitForStableDom".to_owned(), false.into());
        }
        let reply = self.call(info, arguments).await?;
        Ok(result::script_result(&reply))
    }

    async fn call(
        &mut self,
        info: &ToolInfo,
        mut arguments: Map<String, Json>,
    ) -> Result<ToolReply, Failure> {
        let peer = self.place.peer;
        if let Some(page) = &self.place.page {
            arguments.insert(page::PAGE_ID.to_owned(), page.clone());
        }
        let arguments = page::complete(self.toolbox, peer, info, arguments, self.recorder).await;
        let reply = peer
            .ask(&info.name, arguments, self.recorder)
            .await
            .map_err(|error| failed_call(&error))?;
        if reply.is_error {
            let said = text_of(&reply);
            return Err(Failure::new(
                FailureKind::ToolError,
                format!("the element can't be looked for: {}", cut(said.trim(), 500)),
            ));
        }
        Ok(reply)
    }
}

/// Every target's element in a snapshot on which those of selectors are marked.
fn look_up_all(
    snapshot: &Snapshot,
    targets: &[ElementTarget],
    token: &dyn Fn(usize) -> String,
) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::with_capacity(targets.len());
    for (index, target) in targets.iter().enumerate() {
        let found = match target.selector {
            None => lookup(snapshot, target, &|_| true),
            Some(_) => look_up_marked(snapshot, target, &token(index)),
        };
        all.push(found.map_err(|failure| failure.at(target.span))?);
    }
    Ok(all)
}

fn look_up_marked(
    snapshot: &Snapshot,
    target: &ElementTarget,
    token: &str,
) -> Result<Found, Failure> {
    let marked: Vec<usize> = snapshot
        .with_attribute_word(MARK_IN_SNAPSHOT, token)
        .collect();
    if marked.is_empty() {
        return Err(hidden(target));
    }
    // The script looked at the text, and at which it is unless the role and the name count too.
    let mut rest = target.clone();
    rest.wanted.text = None;
    if chooses_one(target) {
        rest.wanted.nth = None;
    }
    lookup(snapshot, &rest, &|index| marked.contains(&index))
}

/// Whether the selector and the text alone say which element it is.
fn chooses_one(target: &ElementTarget) -> bool {
    let wanted = &target.wanted;
    target.selector.is_some()
        && wanted.role.is_none()
        && wanted.name.is_none()
        && wanted.within.is_none()
}

pub(super) fn has(info: &ToolInfo, name: &str) -> bool {
    info.input_schema
        .pointer(&format!("/properties/{name}"))
        .is_some()
}

/// JSON that is a literal in JavaScript of every age.
pub(crate) fn literal(value: &Json) -> String {
    value
        .to_string()
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
