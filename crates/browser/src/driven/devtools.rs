//! A DevTools session, and the world beside a page's own in which our script runs.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use playwright_rs::protocol::{BrowserContext, CDPSession, Frame, Page};
use playwright_rs::server::channel_owner::ChannelOwner as _;
use playwright_rs::server::connection::ConnectionExt as _;
use serde_json::{Value, json};

use super::failure::first_line;
use crate::failure::Failure;
use cuecard_source::diagnostic::codes;

/// The parts of the script, in order; together they are one.
const PARTS: &[&str] = &[
    include_str!("capture/start.js"),
    include_str!("capture/roles.js"),
    include_str!("capture/names.js"),
    include_str!("capture/states.js"),
    include_str!("capture/boxes.js"),
    include_str!("capture/hits.js"),
    include_str!("capture/interactive.js"),
    include_str!("capture/paths.js"),
    include_str!("capture/resolve.js"),
    include_str!("capture/aim.js"),
    include_str!("capture/guard.js"),
    include_str!("capture/scroll.js"),
    include_str!("capture/walk.js"),
    include_str!("capture/api.js"),
];

/// The name of our world.
const WORLD: &str = "cuecard";
/// The group of all handles, to let go of them at once.
const HANDLES: &str = "cuecard";

/// With more worlds than this, all are forgotten, and made anew.
const MOST_WORLDS: usize = 500;

/// What only our worlds have: a number of a world may be that of a page's own after the page went to another process.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("{:016x}", RandomState::new().hash_one("cuecard")));

/// The script that makes our world.
fn script() -> String {
    let mark = &*MARK;
    format!(
        "(() => {{\nconst mark = '{mark}';\n{}\n}})()",
        PARTS.join("\n")
    )
}

/// Whether a world is one of ours, and ready.
fn is_ours() -> String {
    format!("globalThis.cuecard?.mark === '{}'", *MARK)
}

/// The engine for our addresses, as Playwright takes it.
pub(super) fn engine() -> String {
    format!(
        "(() => {{\n{}\n{}\n}})()",
        include_str!("capture/resolve.js"),
        include_str!("capture/engine.js")
    )
}

/// A session with a page, or with a frame that has a process of its own.
#[derive(Clone)]
pub(super) struct DevTools {
    session: CDPSession,
    made: Arc<Mutex<Made>>,
}

/// What was made in a session, as long as it is there.
#[derive(Default)]
struct Made {
    /// The topmost frame.
    top: Option<String>,
    /// The number of our world in each frame.
    worlds: HashMap<String, u64>,
}

/// A document that our script can run in.
#[derive(Clone)]
pub(super) struct ExecutionContext {
    devtools: DevTools,
    frame: String,
    context: u64,
}

impl DevTools {
    pub(super) async fn of_page(context: &BrowserContext, page: &Page) -> Result<Self, Failure> {
        let session = context.new_cdp_session(page).await;
        let session = session.map_err(|error| Failure::from_playwright(&error, "newCDPSession"))?;
        Ok(Self::new(session))
    }

    fn new(session: CDPSession) -> Self {
        Self {
            session,
            made: Arc::default(),
        }
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of a frame, or nothing when it shares the one of the page it is in.
    pub(super) async fn of_frame(context: &BrowserContext, frame: &Frame) -> Option<Self> {
        let params = json!({"frame": {"guid": frame.guid()}});
        let answer: playwright_rs::Result<Value> =
            context.channel().send("newCDPSession", params).await;
        let answer = answer.ok()?;
        let guid = answer.get("session")?.get("guid")?.as_str()?;
        let session = context.connection().get_typed::<CDPSession>(guid).await;
        Some(Self::new(session.ok()?))
    }

    /// Calls a method. What DevTools answer is wrapped by the driver, and is taken out here.
    pub(super) async fn call(&self, method: &'static str, params: Value) -> Result<Value, Failure> {
        match self.session.send(method, Some(params)).await {
            Ok(Value::Object(mut answer)) => Ok(answer.remove("result").unwrap_or(Value::Null)),
            Ok(other) => Ok(other),
            Err(error) => Err(Failure::from_playwright(&error, method)),
        }
    }

    /// The frames of this session's process, the topmost one first, each with its parent.
    pub(super) async fn frames(&self) -> Result<Vec<(String, Option<String>)>, Failure> {
        let answer = self.call("Page.getFrameTree", json!({})).await?;
        let mut found = Vec::new();
        let mut waiting = vec![(&answer["frameTree"], None)];
        while let Some((tree, parent)) = waiting.pop() {
            let Some(id) = tree["frame"]["id"].as_str() else {
                continue;
            };
            found.push((id.to_owned(), parent));
            let children = tree["childFrames"].as_array().into_iter().flatten();
            waiting.extend(children.map(|child| (child, Some(id.to_owned()))));
        }
        Ok(found)
    }

    /// Our world in the topmost document.
    pub(super) async fn top_world(&self) -> Result<ExecutionContext, Failure> {
        let known = self.made().top.clone();
        if let Some(top) = known
            && let Some(world) = self.known_world(&top).await
        {
            return Ok(world);
        }
        let frames = self.frames().await?;
        let Some((top, _)) = frames.into_iter().next() else {
            return Err(Failure::of_browser(
                codes::BROWSER_LOST,
                "the page has no document",
            ));
        };
        let world = self.world(&top).await?;
        self.made().top = Some(top);
        Ok(world)
    }

    /// Our world in the document of a frame; made if need be.
    pub(super) async fn world(&self, frame: &str) -> Result<ExecutionContext, Failure> {
        if let Some(world) = self.known_world(frame).await {
            return Ok(world);
        }
        let params = json!({"frameId": frame, "worldName": WORLD});
        let made = self.call("Page.createIsolatedWorld", params).await?;
        let context = made["executionContextId"].as_u64().ok_or_else(|| {
            Failure::of_browser(codes::BROWSER_LOST, "a document has no world to read it in")
        })?;
        let world = ExecutionContext {
            devtools: self.clone(),
            frame: frame.to_owned(),
            context,
        };
        if world.value(&is_ours()).await? != Value::Bool(true) {
            world.value(&script()).await?;
        }
        let mut made = self.made();
        if made.worlds.len() >= MOST_WORLDS {
            made.worlds.clear();
        }
        made.worlds.insert(frame.to_owned(), context);
        drop(made);
        Ok(world)
    }

    /// The world that was made in a frame, if its document is still there.
    async fn known_world(&self, frame: &str) -> Option<ExecutionContext> {
        let context = self.made().worlds.get(frame).copied()?;
        let world = ExecutionContext {
            devtools: self.clone(),
            frame: frame.to_owned(),
            context,
        };
        let answer = world.value(&is_ours()).await;
        (answer == Ok(Value::Bool(true))).then_some(world)
    }
}

impl ExecutionContext {
    /// The value of an expression, as JSON.
    pub(super) async fn value(&self, expression: &str) -> Result<Value, Failure> {
        let mut answer = self.evaluate(expression, true).await?;
        Ok(answer["result"]["value"].take())
    }

    /// The text that an expression gives.
    pub(super) async fn text(&self, expression: &str) -> Result<String, Failure> {
        match self.value(expression).await? {
            Value::String(text) => Ok(text),
            other => Err(Failure::of_browser(
                codes::BROWSER_LOST,
                format!("the page's state is no text but {other}"),
            )),
        }
    }

    /// The document as the page itself has it: a handle that stays when the others are let go of.
    pub(super) async fn document(&self) -> Result<String, Failure> {
        let own = self.handle("document").await?;
        let node = self.backend_node(&own).await?;
        self.resolve(json!({"backendNodeId": node})).await
    }

    /// The id that DevTools have for the node of a handle.
    pub(super) async fn backend_node(&self, handle: &str) -> Result<u64, Failure> {
        let params = json!({"objectId": handle, "depth": 0});
        let described = self.devtools.call("DOM.describeNode", params).await?;
        described["node"]["backendNodeId"]
            .as_u64()
            .ok_or_else(|| Failure::of_browser(codes::BROWSER_LOST, "the page has no such node"))
    }

    /// A handle to the object that an expression gives.
    async fn handle(&self, expression: &str) -> Result<String, Failure> {
        let answer = self.evaluate(expression, false).await?;
        let handle = answer["result"]["objectId"].as_str().map(str::to_owned);
        handle.ok_or_else(|| Failure::of_browser(codes::BROWSER_LOST, "the page gave no object"))
    }

    /// Gives a node, by the id that DevTools have for it, to one of our functions.
    pub(super) async fn give(
        &self,
        backend_node: u64,
        function: &str,
        argument: Option<&str>,
    ) -> Result<(), Failure> {
        let params = json!({
            "backendNodeId": backend_node,
            "executionContextId": self.context,
            "objectGroup": HANDLES,
        });
        let node = self.resolve(params).await?;
        let call = json!({
            "objectId": node,
            "functionDeclaration": format!("function (argument) {{ cuecard.{function}(this, argument); }}"),
            "arguments": [{"value": argument}],
        });
        self.devtools.call("Runtime.callFunctionOn", call).await?;
        Ok(())
    }

    /// A handle to a node as the page itself has it.
    pub(super) async fn theirs(&self, backend_node: u64) -> Result<String, Failure> {
        let params = json!({"backendNodeId": backend_node, "objectGroup": HANDLES});
        self.resolve(params).await
    }

    async fn resolve(&self, params: Value) -> Result<String, Failure> {
        let mut resolved = self.devtools.call("DOM.resolveNode", params).await?;
        match resolved["object"]["objectId"].take() {
            Value::String(handle) => Ok(handle),
            _ => Err(Failure::of_browser(
                codes::BROWSER_LOST,
                "the page gave no node",
            )),
        }
    }

    /// Lets go of all handles: until then the page keeps what they are of.
    pub(super) async fn release(&self) -> Result<(), Failure> {
        let params = json!({"objectGroup": HANDLES});
        self.devtools
            .call("Runtime.releaseObjectGroup", params)
            .await?;
        Ok(())
    }

    /// The elements of an array, as handles.
    pub(super) async fn elements(&self, expression: &str) -> Result<Vec<String>, Failure> {
        let array = self.handle(expression).await?;
        let params = json!({"objectId": array, "ownProperties": true});
        let answer = self.devtools.call("Runtime.getProperties", params).await?;
        let properties = answer["result"].as_array().into_iter().flatten();
        let is_item = |name: &Value| {
            name.as_str()
                .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        };
        Ok(properties
            .filter(|property| is_item(&property["name"]))
            .filter_map(|property| property["value"]["objectId"].as_str())
            .map(str::to_owned)
            .collect())
    }

    /// Its frame and number: another one after each load.
    pub(super) fn id(&self) -> (String, u64) {
        (self.frame.clone(), self.context)
    }

    pub(super) fn frame(&self) -> &str {
        &self.frame
    }

    pub(super) fn devtools(&self) -> &DevTools {
        &self.devtools
    }

    async fn evaluate(&self, expression: &str, by_value: bool) -> Result<Value, Failure> {
        let params = json!({
            "expression": expression,
            "contextId": self.context,
            "returnByValue": by_value,
            "objectGroup": HANDLES,
        });
        let answer = self.devtools.call("Runtime.evaluate", params).await?;
        match answer["exceptionDetails"]["exception"]["description"].as_str() {
            None if answer.get("exceptionDetails").is_none() => Ok(answer),
            text => Err(Failure::of_browser(
                codes::BROWSER_LOST,
                format!(
                    "the page could not be read: {}",
                    first_line(text.unwrap_or("an exception"))
                ),
            )),
        }
    }
}
