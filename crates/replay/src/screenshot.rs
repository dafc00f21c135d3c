//! Screenshots of the browser that a server drives.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use cuecard_trace::{EventData, Screenshot};
use serde_json::Map;

use super::mcp_call::extension;
use super::page;
use super::pool::log;
use super::requests::Peer;
use super::toolbox::Toolbox;
use cuecard_mcp::{ContentBlock, Session, ToolInfo};
use cuecard_runtime::tap::Recorder;

/// Tools that take a screenshot, by the servers that have them.
const TOOLS: &[&str] = &["take_screenshot", "browser_take_screenshot", "screenshot"];

/// A browser that hangs must not hold the run up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A step of which a screenshot is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shot {
    pub(super) step: u64,
    pub(super) has_failed: bool,
}

/// Takes a screenshot on the server that the step used; if it failed, else on any open server that can.
pub(super) async fn take(
    toolbox: &mut Toolbox,
    shot: Shot,
    folder: &Path,
    recorder: &mut Recorder<'_>,
) -> Option<PathBuf> {
    let step = shot.step;
    let mut names: Vec<String> = toolbox.last_server.iter().cloned().collect();
    if shot.has_failed {
        names.push("chrome-devtools".to_owned());
        names.extend(toolbox.pool.open_names());
    }
    for name in names {
        let Some(session) = toolbox.pool.open(&name) else {
            continue;
        };
        let Some(tool) = screenshot_tool(&session).await else {
            continue;
        };
        let peer = Peer {
            server: &name,
            session: &session,
            call_id: None,
            timeout: PATIENCE,
        };
        return match save(toolbox, peer, &tool, shot, folder, recorder).await {
            Ok(path) => {
                recorder.record(EventData::Screenshot(Screenshot {
                    label: match shot.has_failed {
                        true => format!("step {step} failed"),
                        false => format!("after step {step}"),
                    },
                    files: vec![path.display().to_string()],
                }));
                Some(path)
            }
            Err(reason) => {
                recorder.record(log(
                    "warning",
                    format!("no screenshot of step {step}: {reason}"),
                ));
                None
            }
        };
    }
    None
}

async fn screenshot_tool(session: &Arc<Session>) -> Option<ToolInfo> {
    let tools = tokio::time::timeout(PATIENCE, session.tools())
        .await
        .ok()?
        .ok()??;
    TOOLS
        .iter()
        .find_map(|name| tools.iter().find(|tool| tool.name == *name))
        .cloned()
}

async fn save(
    toolbox: &mut Toolbox,
    peer: Peer<'_>,
    tool: &ToolInfo,
    shot: Shot,
    folder: &Path,
    recorder: &mut Recorder<'_>,
) -> Result<PathBuf, String> {
    let arguments = page::complete(toolbox, peer, tool, Map::new(), recorder).await;
    let reply = peer
        .ask(&tool.name, arguments, recorder)
        .await
        .map_err(|error| error.to_string())?;
    let image = reply.content.iter().find_map(|block| match block {
        ContentBlock::Image {
            data_base64,
            media_type,
        } => Some((data_base64, media_type)),
        _ => None,
    });
    let (data, media_type) = image.ok_or_else(|| format!("`{}` returned no image", tool.name))?;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(data.trim())
        .map_err(|error| format!("the image is not valid base64: {error}"))?;
    let clock = recorder.clock();
    let taken = clock
        .timestamp(clock.now())
        .strftime("%Y%m%dT%H%M%S%3f")
        .to_string();
    let failure = if shot.has_failed { "failure_" } else { "" };
    let name = format!(
        "step{}_{failure}{taken}.{}",
        shot.step,
        extension(media_type)
    );
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, bytes))
        .map_err(|error| format!("`{}` can't be written: {error}", path.display()))?;
    Ok(path)
}
