//! Browser servers with several pages: newer ones want a page's id in every call, which older scenarios
//! don't have. Such a call goes to the page that is selected.

use serde_json::{Map, Value as Json};

use super::pool::log;
use super::requests::Peer;
use super::toolbox::Toolbox;
use cuecard_mcp::result::text_of;
use cuecard_mcp::{Session, ToolInfo, ToolReply};
use cuecard_runtime::tap::Recorder;

/// The parameter that names a page.
pub(super) const PAGE_ID: &str = "pageId";

/// Whether the server is known to speak of pages.
pub(super) fn is_browser(session: &Session) -> bool {
    let name = &session.info().server_name;
    name.contains("chrome") || name.contains("devtools")
}

/// Adds the selected page's id to arguments that lack it, if the tool requires one.
pub(super) async fn complete(
    toolbox: &mut Toolbox,
    peer: Peer<'_>,
    info: &ToolInfo,
    mut arguments: Map<String, Json>,
    recorder: &mut Recorder<'_>,
) -> Map<String, Json> {
    if arguments.contains_key(PAGE_ID) || !requires_page(&info.input_schema) {
        return arguments;
    }
    let page = match toolbox.pages.get(peer.server) {
        Some(page) => Some(*page),
        None => Box::pin(selected_page(peer, recorder)).await,
    };
    if let Some(page) = page {
        toolbox.pages.insert(peer.server.to_owned(), page);
        arguments.insert(PAGE_ID.to_owned(), page.into());
    }
    arguments
}

/// Tools that set the size of a page, by the servers that have them.
const RESIZE_TOOLS: &[&str] = &["resize_page", "browser_resize"];

/// Gives the browser's page the size the scenario was recorded with, once, if the server has a tool for it.
pub(super) async fn resize(toolbox: &mut Toolbox, peer: Peer<'_>, recorder: &mut Recorder<'_>) {
    let Some((width, height)) = toolbox.viewport else {
        return;
    };
    let Ok(Some(tools)) = peer.session.tools().await else {
        return;
    };
    let Some(info) = RESIZE_TOOLS
        .iter()
        .find_map(|name| tools.iter().find(|tool| tool.name == *name))
    else {
        return;
    };
    toolbox.viewport = None;
    let mut arguments = Map::new();
    arguments.insert("width".to_owned(), width.into());
    arguments.insert("height".to_owned(), height.into());
    let arguments = complete(toolbox, peer, info, arguments, recorder).await;
    let problem = match peer.ask(&info.name, arguments, recorder).await {
        Ok(reply) if reply.is_error => Some(text_of(&reply)),
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    };
    recorder.record(match problem {
        None => log(
            "debug",
            format!("the page of `{}` is {width} by {height}", peer.server),
        ),
        Some(problem) => log(
            "warning",
            format!(
                "failed to resize the page to the recorded size of {width} by {height}: {problem}"
            ),
        ),
    });
}

/// How an answer begins to list the pages that the call opened.
const OPENED_PAGES: &str = "## Opened pages";

/// Forgets the selected page after calls that may have changed it.
pub(super) fn follow(toolbox: &mut Toolbox, server: &str, tool: &str, reply: &ToolReply) {
    if !toolbox.pages.contains_key(server) {
        return;
    }
    let may_have_changed =
        matches!(tool, "new_page" | "select_page" | "close_page") || reply.is_error;
    if may_have_changed || text_of(reply).lines().any(|line| line == OPENED_PAGES) {
        toolbox.pages.remove(server);
    }
}

fn requires_page(schema: &Json) -> bool {
    schema
        .get("required")
        .and_then(Json::as_array)
        .is_some_and(|required| required.iter().any(|name| name == PAGE_ID))
}

async fn selected_page(peer: Peer<'_>, recorder: &mut Recorder<'_>) -> Option<u64> {
    let reply = peer.ask("list_pages", Map::new(), recorder).await.ok()?;
    selected_in(&text_of(&reply))
}

/// The page marked `[selected]` in lines such as `1: https://example.com [selected]`, else the first.
fn selected_in(text: &str) -> Option<u64> {
    let pages: Vec<(u64, &str)> = text
        .lines()
        .filter_map(|line| {
            let (number, rest) = line.trim().trim_start_matches("- ").split_once(':')?;
            Some((number.trim().parse().ok()?, rest))
        })
        .collect();
    let selected = pages
        .iter()
        .find(|(_, rest)| rest.contains("[selected]"))
        .or(pages.first())?;
    Some(selected.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_selected_page_is_found_in_the_list() {
        assert_eq!(
            selected_in("## Pages\n1: about:blank\n2: http://x/ [selected]\n"),
            Some(2)
        );
        assert_eq!(selected_in("1: about:blank"), Some(1));
        assert_eq!(selected_in("nothing"), None);
    }

    #[test]
    fn a_page_is_required_only_if_the_schema_says_so() {
        assert!(requires_page(&json!({"required": ["url", "pageId"]})));
        assert!(!requires_page(&json!({"properties": {"pageId": {}}})));
    }
}
