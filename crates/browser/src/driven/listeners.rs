//! Which elements listen for presses. A page can't be asked that, but DevTools can.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::devtools::ExecutionContext;
use crate::failure::Failure;

/// A listener for one of these says that an element is for pressing.
const PRESSES: [&str; 4] = ["click", "mousedown", "pointerdown", "touchstart"];
/// Listeners beyond this many are not looked up.
const MOST_LISTENERS: usize = 5000;
/// With more worlds than this, all is forgotten, and told anew.
const MOST_WORLDS: usize = 500;

/// What is remembered of worlds: each is a document of a page.
#[derive(Default)]
pub(super) struct Listening {
    worlds: HashMap<(String, u64), InjectedListeners>,
}

/// What a world was told.
#[derive(Default)]
struct InjectedListeners {
    /// Its document, as the page has it.
    document: String,
    /// The nodes in it that listen.
    nodes: HashSet<u64>,
}

impl Listening {
    /// Whether a world was told anything yet.
    pub(super) fn knows(&self, world: &ExecutionContext) -> bool {
        self.worlds.contains_key(&world.id())
    }

    /// Tells a world which elements of its document listen for presses. True when any was told.
    ///
    /// Each tree is asked by itself: a page may crash (Chromium 156) when DevTools list the listeners of a document
    /// with all trees in it (`pierce`) after it was walked.
    pub(super) async fn tell(&mut self, world: &ExecutionContext) -> Result<bool, Failure> {
        if self.worlds.len() > MOST_WORLDS {
            self.worlds.clear();
        }
        let told = self.worlds.entry(world.id()).or_default();
        if told.document.is_empty() {
            told.document = world.document().await?;
        }
        let found = listeners(world, &told.document).await;
        // A document that is gone meanwhile has none.
        let has_told = told.tell(world, found.unwrap_or_default()).await;
        if has_told {
            world.release().await?;
        }
        Ok(has_told)
    }

    /// Tells it also of the roots that are known in it. True when any was told.
    pub(super) async fn tell_of_roots(
        &mut self,
        world: &ExecutionContext,
    ) -> Result<bool, Failure> {
        let roots = world.elements("cuecard.roots()").await?;
        let asked = roots.iter().map(|root| async {
            let node = world.backend_node(root).await?;
            let theirs = world.theirs(node).await?;
            listeners(world, &theirs).await
        });
        let found = futures::future::join_all(asked).await;
        // So has a root.
        let nodes = found.into_iter().flatten().flatten().collect();
        let told = self.worlds.entry(world.id()).or_default();
        let has_told = told.tell(world, nodes).await;
        // A handle keeps its root alive.
        world.release().await?;
        Ok(has_told)
    }
}

impl InjectedListeners {
    async fn tell(&mut self, world: &ExecutionContext, mut nodes: Vec<u64>) -> bool {
        nodes.retain(|node| !self.nodes.contains(node));
        let given = nodes.iter().map(|node| world.give(*node, "listen", None));
        // So has a node.
        let _ = futures::future::join_all(given).await;
        let has_told = !nodes.is_empty();
        self.nodes.extend(nodes);
        has_told
    }
}

/// The nodes of one tree that listen. The tree is a handle of the page's own world.
async fn listeners(world: &ExecutionContext, tree: &str) -> Result<Vec<u64>, Failure> {
    let params = json!({"objectId": tree, "depth": -1});
    let answer = world
        .devtools()
        .call("DOMDebugger.getEventListeners", params)
        .await?;
    let is_press = |listener: &&Value| {
        let kind = listener["type"].as_str();
        kind.is_some_and(|kind| PRESSES.contains(&kind))
    };
    let listeners = answer["listeners"].as_array().into_iter().flatten();
    Ok(listeners
        .filter(is_press)
        .filter_map(|listener| listener["backendNodeId"].as_u64())
        .take(MOST_LISTENERS)
        .collect())
}
