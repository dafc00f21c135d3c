//! Which elements listen for presses. A page can't be asked that, but DevTools can.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::devtools::World;
use crate::browser::error::BrowserError;

/// A listener for one of these says that an element is for pressing.
const PRESSES: [&str; 4] = ["click", "mousedown", "pointerdown", "touchstart"];
/// Listeners beyond this many are not looked up.
const MOST_LISTENERS: usize = 5000;
/// With more worlds than this, all is forgotten, and told anew.
const MOST_WORLDS: usize = 500;

/// The nodes with listeners that worlds were told of, by world.
#[derive(Default)]
pub(super) struct Listening {
    told: HashMap<(String, u64), HashSet<u64>>,
}

impl Listening {
    /// Tells a world which elements of its document, and of the roots that are known in it, listen for presses.
    ///
    /// Each tree is asked by itself: a page may crash (Chromium 156) when DevTools list the listeners of a document
    /// with all trees in it (`pierce`) after it was walked.
    pub(super) async fn tell(&mut self, world: &World) -> Result<(), BrowserError> {
        let trees = world.elements("cuecard.trees()").await?;
        let asked = trees.iter().map(|tree| listeners(world, tree));
        let mut nodes: HashSet<u64> = HashSet::new();
        for found in futures::future::join_all(asked).await {
            // A root that is gone meanwhile has none.
            nodes.extend(found.unwrap_or_default());
        }
        if self.told.len() > MOST_WORLDS {
            self.told.clear();
        }
        let told = self.told.entry(world.id()).or_default();
        let untold: Vec<u64> = nodes.difference(told).copied().collect();
        let given = untold.iter().map(|node| world.give(*node, "listen", None));
        // So is a node.
        let _ = futures::future::join_all(given).await;
        told.extend(untold);
        world.release().await
    }
}

/// The nodes of one tree that listen. The tree is a handle of our world; the listeners are those of the page's.
async fn listeners(world: &World, tree: &str) -> Result<Vec<u64>, BrowserError> {
    let params = json!({"objectId": tree, "depth": 0});
    let described = world.devtools().call("DOM.describeNode", params).await?;
    let Some(node) = described["node"]["backendNodeId"].as_u64() else {
        return Ok(Vec::new());
    };
    let theirs = world.theirs(node).await?;
    let params = json!({"objectId": theirs, "depth": -1});
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
