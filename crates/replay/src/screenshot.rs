//! A picture of the browser when a step fails.

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

/// Takes a screenshot on the server that the failed step used, else on any open server that can.
pub(super) async fn take(
    toolbox: &mut Toolbox,
    step: u64,
    folder: &Path,
    recorder: &mut Recorder<'_>,
) -> Option<PathBuf> {
    let mut names: Vec<String> = toolbox.last_server.iter().cloned().collect();
    names.push("chrome-devtools".to_owned());
    names.extend(toolbox.pool.open_names());
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
        return match save(toolbox, peer, &tool, step, folder, recorder).await {
            Ok(path) => {
                recorder.record(EventData::Screenshot(Screenshot {
                    label: format!("step {step} failed"),
                    files: vec![path.display().to_string()],
                }));
                Some(path)
            }
            Err(reason) => {
                recorder.record(log(
                    "warning",
                    format!("no screenshot of the failed step {step}: {reason}"),
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
    step: u64,
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
    let path = folder.join(format!(
        "step{step}_failure_{taken}.{}",
        extension(media_type)
    ));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, bytes))
        .map_err(|error| format!("`{}` can't be written: {error}", path.display()))?;
    Ok(path)
}
