//! The reference servers that keep something: files, and a graph of knowledge.

use super::*;

fn filesystem(folder: &Path) -> Option<Value> {
    Some(json!({"command": npm("mcp-server-filesystem")?, "args": [folder]}))
}

/// A place with a folder `shelf` that the server may use, and the config for it.
fn with_filesystem() -> Option<(Scratch, PathBuf)> {
    let scratch = program::scratch();
    scratch
        .write("shelf/list.txt", "one\ntwo\nthree\n")
        .expect("writable");
    scratch.write("secret.txt", "hidden\n").expect("writable");
    let shelf = scratch.work().join("shelf");
    configure(&scratch, &filesystem(&shelf)?);
    Some((scratch, shelf))
}

#[test]
fn server_filesystem_reads_writes_and_refuses() {
    let Some((scratch, shelf)) = with_filesystem() else {
        return;
    };
    let path = |name: &str| shelf.join(name).display().to_string();
    let played = play(
        &scratch,
        &json!([
            {"id": "head", "tool": "mcp__peer__read_text_file", "params": {"path": path("list.txt"), "head": "2"},
             "output": {"text": "$"}},
            {"tool": "mcp__peer__create_directory", "params": {"path": path("new/deep")}},
            {"tool": "mcp__peer__write_file",
             "params": {"path": path("new/deep/copy.txt"), "content": "{{head.text}}\nGrüße\n"}},
            {"tool": "mcp__peer__edit_file",
             "params": {"path": path("new/deep/copy.txt"), "edits": [{"oldText": "two", "newText": "zwei"}]},
             "expect": {"contains": "+zwei"}},
            {"tool": "mcp__peer__move_file",
             "params": {"source": path("new/deep/copy.txt"), "destination": path("moved.txt")}},
            {"tool": "mcp__peer__read_text_file", "params": {"path": scratch.work().join("secret.txt")}, "on_error": "skip"},
            {"id": "list", "tool": "mcp__peer__list_directory", "params": {"path": &shelf}, "output": {"text": "$"}},
            {"id": "moved", "tool": "claude__read", "params": {"file_path": "shelf/moved.txt"}, "output": {"lines": "$.total_lines"}},
        ]),
        0,
    );
    assert_eq!(
        played.statuses(),
        [
            "passed",
            "passed",
            "passed",
            "passed",
            "passed",
            "tolerated",
            "passed",
            "passed"
        ]
    );
    assert_eq!(played.output("head", "text"), "one\ntwo");
    assert!(
        played.stderr.contains("C-PARAM-04: `head`"),
        "{}",
        played.stderr
    );
    assert_eq!(read(&scratch, "shelf/moved.txt"), "one\nzwei\nGrüße\n");
    assert!(!shelf.join("new/deep/copy.txt").exists());
    assert_eq!(played.output("moved", "lines"), 3);

    let refused = played.step(6);
    assert_eq!(refused["code"], "C-RUN-01");
    let error = refused["error"].as_str().expect("an error");
    assert!(error.contains("outside allowed directories"), "{error}");

    let list = played.output("list", "text").as_str().expect("text");
    let mut lines: Vec<&str> = list.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["[DIR] new", "[FILE] list.txt", "[FILE] moved.txt"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let Some((scratch, shelf)) = with_filesystem() else {
        return;
    };
    let document = dry_run(
        &scratch,
        &json!([
            {"tool": "mcp__peer__write_file", "params": {"path": shelf.join("new.txt"), "content": "no"}},
            {"tool": "claude__write", "params": {"file_path": "also.txt", "content": "no"}},
            {"tool": "claude__bash", "params": {"command": "touch touched.txt"}},
        ]),
        0,
    );
    assert_eq!(document["connected"][0]["server"], "peer");
    assert_eq!(document["effects"]["writes"], json!(["also.txt"]));
    for name in ["shelf/new.txt", "also.txt", "touched.txt"] {
        assert!(!scratch.work().join(name).exists(), "{name}");
    }
}

#[test]
fn server_memory_keeps_a_graph_in_the_file_that_its_environment_names() {
    let Some(server) = npm("mcp-server-memory") else {
        return;
    };
    let mut scratch = program::scratch();
    scratch.set("GRAPH", "graph.jsonl");
    let file = format!("{}/${{GRAPH:-other.jsonl}}", scratch.work().display());
    configure(
        &scratch,
        &json!({"command": server, "env": {"MEMORY_FILE_PATH": file}, "tools": ["create_entities", "create_relations", "add_observations", "search_nodes", "read_graph"]}),
    );
    let played = play(
        &scratch,
        &json!([
            {"id": "made", "tool": "mcp__peer__create_entities", "params": {"entities": [
                {"name": "Ada", "entityType": "person", "observations": ["counts"]},
                {"name": "Engine", "entityType": "machine", "observations": []}]},
             "output": {"names": "$..name"}},
            {"tool": "mcp__peer__create_relations", "params": {"relations": [
                {"from": "{{made.names[0]}}", "to": "{{made.names[1]}}", "relationType": "programs"}]}},
            {"tool": "mcp__peer__add_observations", "params": {"observations": [
                {"entityName": "Ada", "contents": ["writes notes"]}]}},
            {"id": "found", "tool": "mcp__peer__search_nodes", "params": {"query": "notes"},
             "output": {"first": "$.entities[0].name", "all": "$.entities[*].observations[*]"}},
            {"tool": "mcp__peer__delete_entities", "params": {"entityNames": ["Ada"]}, "on_error": "skip"},
            {"tool": "mcp__peer__add_observations", "params": {"observations": [
                {"entityName": "Nobody", "contents": ["?"]}]}, "on_error": "skip"},
            {"id": "graph", "tool": "mcp__peer__read_graph", "params": {},
             "output": {"entities": "$.entities[*].name", "relation": "$.relations[0].relationType"},
             "expect": {"json_path": "$.entities[*]", "matches": "Engine"}},
        ]),
        0,
    );
    assert_eq!(
        played.statuses(),
        [
            "passed",
            "passed",
            "passed",
            "passed",
            "tolerated",
            "tolerated",
            "passed"
        ]
    );
    assert_eq!(played.output("made", "names"), &json!(["Ada", "Engine"]));
    assert_eq!(played.output("found", "first"), "Ada");
    assert_eq!(
        played.output("found", "all"),
        &json!(["counts", "writes notes"])
    );
    assert_eq!(
        played.output("graph", "entities"),
        &json!(["Ada", "Engine"])
    );
    assert_eq!(played.output("graph", "relation"), "programs");

    let not_allowed = played.step(5)["error"].as_str().expect("an error");
    assert!(not_allowed.contains("delete_entities"), "{not_allowed}");
    let no_entity = played.step(6)["error"].as_str().expect("an error");
    assert!(no_entity.contains("Nobody not found"), "{no_entity}");
    assert!(read(&scratch, "graph.jsonl").contains("writes notes"));
}
