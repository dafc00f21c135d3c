//! One capture of a page: the walk in each document, joined, with what only DevTools know.

use std::collections::{HashMap, HashSet};

use cuecard_page::dom::{CapturedDocument, Happened, HopKind, Owner, TabInfo, join};
use playwright_rs::protocol::{BrowserContext, Frame, Page};
use playwright_rs::server::channel_owner::ChannelOwner as _;
use serde_json::{Value, json};

use super::devtools::{DevTools, ExecutionContext};
use super::listeners::Listening;
use crate::failure::Failure;
use crate::shapes::CaptureOptions;
use cuecard_source::diagnostic::codes;

/// Frames in frames deeper than this are left out.
const DEEPEST: usize = 5;
/// More frames than this are left out.
const MOST_FRAMES: usize = 50;

/// How deep closed roots are looked for in each other.
const MOST_NESTED: usize = 8;

/// What is remembered of a page between captures.
#[derive(Default)]
pub(super) struct Known {
    devtools: Option<DevTools>,
    /// Sessions of frames with a process of their own, by frame id.
    remote: HashMap<String, DevTools>,
    /// Playwright's frames that were asked for a session already.
    asked: HashSet<String>,
    /// What our worlds know of listeners.
    listening: Listening,
}

/// A walk in progress.
struct Joining<'a> {
    context: &'a BrowserContext,
    page: &'a Page,
    known: &'a mut Known,
    options: &'a CaptureOptions,
    parts: Vec<CapturedDocument>,
    warnings: Vec<String>,
    frames: usize,
}

/// A frame to walk: where it is, and how the documents around reach it.
struct Place {
    /// None for the topmost.
    frame: Option<String>,
    devtools: DevTools,
    owner: Option<Owner>,
    /// What its owner shows of it, in its own coordinates: left, top, right, bottom.
    clip: Option<[f64; 4]>,
    /// Whether something lies over its owner, as far as that is known.
    is_covered: bool,
    /// The worlds around, innermost first, with the key by which each knows the frame and its content's offset.
    around: Vec<(ExecutionContext, String, [f64; 2])>,
}

/// Captures the page, as one JSON text that `cuecard_page::dom` reads. The tabs, and what happened, are told as they are.
pub(super) async fn capture(
    context: &BrowserContext,
    page: &Page,
    known: &mut Known,
    options: &CaptureOptions,
    (tabs, happened): (&[TabInfo], &Happened),
) -> Result<String, Failure> {
    let devtools = known.page(context, page).await?;
    let mut joining = Joining {
        context,
        page,
        known,
        options,
        parts: Vec::new(),
        warnings: Vec::new(),
        frames: 0,
    };
    let mut level = vec![Place {
        frame: None,
        devtools,
        owner: None,
        clip: None,
        is_covered: false,
        around: Vec::new(),
    }];
    let mut depth = 0;
    while !level.is_empty() {
        let mut next = Vec::new();
        for place in level {
            let is_top = place.owner.is_none();
            match joining.document(place).await {
                Ok(inner) => next.extend(inner),
                Err(error) if is_top => return Err(error),
                // A frame that goes away while it is read is not there.
                Err(error) => joining
                    .warnings
                    .push(format!("a frame was skipped: {error}")),
            }
        }
        depth += 1;
        if depth > DEEPEST && !next.is_empty() {
            let names: Vec<String> = next
                .iter()
                .filter_map(|place| place.owner.as_ref())
                .map(told)
                .collect();
            joining.warnings.push(format!(
                "frames nested deeper than {DEEPEST} were skipped: {}",
                names.join(", ")
            ));
            next.clear();
        }
        level = next;
    }
    Ok(join(&joining.parts, tabs, happened, &joining.warnings))
}

impl Known {
    /// The session with the page itself.
    pub(super) async fn page(
        &mut self,
        context: &BrowserContext,
        page: &Page,
    ) -> Result<DevTools, Failure> {
        if let Some(devtools) = &self.devtools {
            return Ok(devtools.clone());
        }
        let devtools = DevTools::of_page(context, page).await?;
        self.devtools = Some(devtools.clone());
        Ok(devtools)
    }

    /// The session of a frame that is in another process than the page.
    pub(super) fn remote(&self, frame: &str) -> Option<&DevTools> {
        self.remote.get(frame)
    }
}

impl Joining<'_> {
    /// Walks one document, and gives the frames in it that are to be walked next.
    async fn document(&mut self, place: Place) -> Result<Vec<Place>, Failure> {
        let world = match &place.frame {
            Some(frame) => place.devtools.world(frame).await?,
            None => place.devtools.top_world().await?,
        };
        let ask = json!({
            "testIdAttribute": self.options.test_id_attribute,
            "root": self.options.root.as_ref().filter(|_| place.owner.is_none()),
            "clip": place.clip,
            "isFrame": place.owner.is_some(),
            "isCovered": place.is_covered,
        });
        let ask = format!("cuecard.capture({ask})");
        let listening = &mut self.known.listening;
        let (mut text, mut has_told) = match listening.knows(&world) {
            // Mostly nothing listens that did not when it was looked last, so both are asked at once.
            true => tokio::try_join!(world.text(&ask), listening.tell(&world))?,
            false => {
                listening.tell(&world).await?;
                (world.text(&ask).await?, false)
            }
        };
        let mut header = header_of(&text)?;
        let mut has_opened = false;
        // What a closed root has in it may host another one.
        for _ in 0..MOST_NESTED {
            if !self.hidden_roots(&world, &header).await? {
                break;
            }
            has_opened = true;
            text = world.text(&ask).await?;
            header = header_of(&text)?;
        }
        if has_opened || header["hasRoots"] == Value::Bool(true) {
            has_told |= self.known.listening.tell_of_roots(&world).await?;
        }
        if has_told {
            text = world.text(&ask).await?;
            header = header_of(&text)?;
        }
        if self.owners(&world, &place, &header).await? {
            world.release().await?;
            text = world.text(&ask).await?;
            header = header_of(&text)?;
        }
        if let Some(points) = header.get("points").and_then(Value::as_array) {
            let reached = reached(&place, points).await?;
            text = world
                .text(&format!("cuecard.finish({})", json!(reached)))
                .await?;
        }
        Ok(self.add(&text, &header, place, &world))
    }

    /// Takes over the documents of a walk, and finds the frames in them.
    fn add(
        &mut self,
        text: &str,
        header: &Value,
        place: Place,
        world: &ExecutionContext,
    ) -> Vec<Place> {
        let idx = self.parts.len();
        let mut lines = text.lines().skip(1);
        self.parts.push(CapturedDocument {
            owner: place.owner,
            json: lines.next().unwrap_or("{}").to_owned(),
        });
        let closed = header["closed"].as_array().map_or(&[][..], Vec::as_slice);
        for (nth, (path, line)) in closed.iter().zip(lines).enumerate() {
            self.parts.push(CapturedDocument {
                owner: Some(owner_of(idx, &closed[..nth], path, HopKind::Shadow)),
                json: line.to_owned(),
            });
        }
        let mut inner = Vec::new();
        for frame in header["frames"].as_array().into_iter().flatten() {
            let owner = owner_of(idx, closed, &frame["path"], HopKind::Frame);
            let Some(key) = frame["key"].as_str() else {
                continue;
            };
            if self.frames == MOST_FRAMES {
                self.warnings.push(format!(
                    "more than {MOST_FRAMES} frames: {} was skipped",
                    told(&owner)
                ));
                continue;
            }
            self.frames += 1;
            let [left, top, ..] = numbers(&frame["content"]);
            let clip = numbers(&frame["clip"]);
            let mut around = vec![(world.clone(), key.to_owned(), [left, top])];
            around.extend(place.around.iter().cloned());
            inner.push(Place {
                frame: Some(key.to_owned()),
                devtools: self
                    .known
                    .remote
                    .get(key)
                    .cloned()
                    .unwrap_or_else(|| world.devtools().clone()),
                owner: Some(owner),
                clip: Some([clip[0] - left, clip[1] - top, clip[2] - left, clip[3] - top]),
                is_covered: frame["isCovered"] == Value::Bool(true),
                around,
            });
        }
        inner
    }

    /// Opens the closed roots among the elements that may have one. True when there were any.
    async fn hidden_roots(
        &self,
        world: &ExecutionContext,
        header: &Value,
    ) -> Result<bool, Failure> {
        if header["suspects"].as_u64().unwrap_or(0) == 0 {
            return Ok(false);
        }
        let suspects = world.elements("cuecard.suspects()").await?;
        let asked = suspects.iter().map(|element| {
            let params = json!({"objectId": element, "depth": 0});
            world.devtools().call("DOM.describeNode", params)
        });
        let mut found = false;
        for described in futures::future::join_all(asked).await {
            let described = described?;
            let root = &described["node"]["shadowRoots"][0];
            let (Some("closed"), Some(node)) = (
                root["shadowRootType"].as_str(),
                root["backendNodeId"].as_u64(),
            ) else {
                continue;
            };
            world.give(node, "open", None).await?;
            found = true;
        }
        world.release().await?;
        Ok(found)
    }

    /// Tells the world which frame each owner holds. True when any was told.
    async fn owners(
        &mut self,
        world: &ExecutionContext,
        place: &Place,
        header: &Value,
    ) -> Result<bool, Failure> {
        let frames = header["frames"].as_array();
        let is_unknown = |frame: &Value| frame["key"].is_null();
        if !frames.is_some_and(|frames| frames.iter().any(is_unknown)) {
            return Ok(false);
        }
        let mut found = false;
        for (frame, parent) in place.devtools.frames().await? {
            if parent.as_deref() == Some(world.frame()) {
                found |= own(world, &frame).await;
            }
        }
        let top = self.page.main_frame().await;
        let top = top.map_err(|error| Failure::from_playwright(&error, "mainFrame"))?;
        for frame in all_below(&top) {
            if !self.known.asked.insert(frame.guid().to_owned()) {
                continue;
            }
            let Some(devtools) = DevTools::of_frame(self.context, &frame).await else {
                continue;
            };
            if let Some((id, _)) = devtools.frames().await?.into_iter().next() {
                self.known.remote.insert(id, devtools);
            }
        }
        let remote: Vec<String> = self.known.remote.keys().cloned().collect();
        for frame in remote {
            found |= own(world, &frame).await;
        }
        Ok(found)
    }
}

/// Tells the world the owner of a frame. False when it isn't in this document.
async fn own(world: &ExecutionContext, frame: &str) -> bool {
    let params = json!({"frameId": frame});
    let Ok(owner) = world.devtools().call("DOM.getFrameOwner", params).await else {
        return false;
    };
    let Some(node) = owner["backendNodeId"].as_u64() else {
        return false;
    };
    world.give(node, "own", Some(frame)).await.is_ok()
}

/// Which points of a frame the documents around let through: as ones and zeros.
async fn reached(place: &Place, points: &[Value]) -> Result<String, Failure> {
    let mut points: Vec<[f64; 2]> = points
        .iter()
        .map(|point| {
            let [x, y, ..] = numbers(point);
            [x, y]
        })
        .collect();
    let mut reached = vec![b'1'; points.len()];
    for (world, key, [left, top]) in &place.around {
        let ask = format!("cuecard.reaches({}, {})", json!(key), json!(points));
        let answer = world.text(&ask).await?;
        for (known, told) in reached.iter_mut().zip(answer.bytes()) {
            if told != b'1' {
                *known = b'0';
            }
        }
        for [x, y] in &mut points {
            *x += left;
            *y += top;
        }
    }
    Ok(reached.into_iter().map(char::from).collect())
}

/// The first line of a walk, unless it says that there is nothing to see.
fn header_of(text: &str) -> Result<Value, Failure> {
    let line = text.lines().next().unwrap_or("");
    let header: Value = serde_json::from_str(line).unwrap_or(Value::Null);
    if let Some(count) = header["tooLarge"].as_u64() {
        let largest = header["largest"].as_str().unwrap_or("");
        let message = format!("the page has {count} elements, most of them in `{largest}`");
        return Err(Failure::of_browser(codes::BROWSER_PAGE_TOO_LARGE, message)
            .help("limit it to a part of the page with --page-root CSS"));
    }
    if let Some(missing) = header["missing"].as_str() {
        let message = format!("`{missing}` not found on the page");
        return Err(Failure::of_browser(codes::BROWSER_NOT_FOUND, message));
    }
    Ok(header)
}

/// All frames below one, at most as many as are looked at.
fn all_below(top: &Frame) -> Vec<Frame> {
    let mut found = Vec::new();
    let mut waiting = top.child_frames();
    while let Some(frame) = waiting.pop() {
        if found.len() >= MOST_FRAMES * 2 {
            break;
        }
        waiting.extend(frame.child_frames());
        found.push(frame);
    }
    found
}

fn numbers(value: &Value) -> [f64; 4] {
    std::array::from_fn(|idx| value[idx].as_f64().unwrap_or(0.0))
}

/// The element at the end of a path, which leads through the hosts of roots, as the owner of a document. `closed` has the
/// paths of the closed roots whose documents follow the one at `document`: what is in one of them is in its document.
fn owner_of(document: usize, closed: &[Value], path: &Value, kind: HopKind) -> Owner {
    let steps = |path: &Value| -> Vec<String> {
        let steps = path.as_array().into_iter().flatten();
        steps.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut path = steps(path);
    let around = closed
        .iter()
        .map(steps)
        .enumerate()
        .filter(|(_, root)| root.len() < path.len() && path.starts_with(root))
        .max_by_key(|(_, root)| root.len());
    let document = match around {
        Some((nth, root)) => {
            path.drain(..root.len());
            document + 1 + nth
        }
        None => document,
    };
    Owner {
        document,
        path,
        kind,
    }
}

fn told(owner: &Owner) -> String {
    format!("`{}`", owner.path.join(" >> "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_closed_root_is_in_its_document() {
        let closed = [
            json!(["/html/body/x-a"]),
            json!(["/html/body/x-a", "/p/x-b"]),
        ];
        let found = |path: Value| {
            let owner = owner_of(4, &closed, &path, HopKind::Frame);
            (owner.document, owner.path.join(" "))
        };
        assert_eq!(
            found(json!(["/html/body/iframe"])),
            (4, "/html/body/iframe".to_owned())
        );
        assert_eq!(
            found(json!(["/html/body/x-a"])),
            (4, "/html/body/x-a".to_owned())
        );
        assert_eq!(
            found(json!(["/html/body/x-a", "/iframe"])),
            (5, "/iframe".to_owned())
        );
        let nested = json!(["/html/body/x-a", "/p/x-b", "/div/x-open", "/iframe"]);
        assert_eq!(found(nested), (6, "/div/x-open /iframe".to_owned()));
    }

    #[test]
    fn a_page_that_is_too_large_names_its_largest_part() {
        let error =
            header_of(r#"{"tooLarge": 60000, "largest": "/html/body/ul"}"#).expect_err("too large");
        assert!(error.is(codes::BROWSER_PAGE_TOO_LARGE), "{error}");
        assert!(error.message.contains("`/html/body/ul`"), "{error}");
    }
}
