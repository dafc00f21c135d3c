//! Files and lists of servers.

use super::*;

/// The findings about a whole file.
fn file(content: &str) -> Vec<String> {
    let found = match Project::new().with(".mcp.json", content).find() {
        Ok(config) => config.warnings,
        Err(found) => found,
    };
    found.iter().map(shown).collect()
}

#[test]
fn both_lists_of_servers_are_read() {
    let content = r#"{"mcpServers":{"a":{"command":"x"}},"inputs":[],"theme":1,"servers":{"b":{"command":"x"}}}"#;
    let config = Project::new()
        .with(".mcp.json", content)
        .find()
        .expect("it is valid");
    assert_eq!(config.names().collect::<Vec<_>>(), ["a", "b"]);
    assert!(config.warnings.is_empty());
    assert!(file("{}").is_empty());
    assert!(file(r#"{"servers":{}}"#).is_empty());
}

#[test]
fn a_name_stands_once_in_a_file() {
    assert_eq!(
        file(
            "{\"mcpServers\": {\"a\": {\"command\":\"x\"}},\n \"servers\": {\"a\": {\"command\":\"x\"}}}"
        ),
        [
            "error[X-CFG-02] .mcp.json:2:14-17 /servers/a server `a` is defined in both `mcpServers` and `servers`\n\
          | first defined on line 1\n\
          help: remove one of the two"
        ]
    );
    assert_eq!(
        file(r#"{"servers": {"a": {}, "a": {}}}"#),
        ["error[X-CFG-02] .mcp.json:1:23-26 duplicate key `a`\n\
          help: remove one of the two, or rename it"]
    );
}

#[test]
fn a_file_that_is_not_json_has_its_first_error() {
    assert_eq!(
        file("{\n  \"servers\": {\n    // mine\n    \"a\": {\"command\": \"x\",}\n  }\n}"),
        [
            "error[X-CFG-02] .mcp.json:3:5-12 comments are not allowed\n\
             help: remove it; put notes for readers into a description",
        ]
    );
}

#[test]
fn the_errors_of_all_files_come_together() {
    let project = Project::new().with(".cuecard/config.json", "[]").with(
        ".mcp.json",
        r#"{"servers": 1, "mcpServers": {"a": 2, "": {}}}"#,
    );
    assert_eq!(
        project.errors(None),
        [
            "error[X-CFG-02] .cuecard/config.json:1:1-3  a config must be an object, not an array\n\
             help: write { \"mcpServers\": { \"NAME\": { \"command\": \"…\" } } }",
            "error[X-CFG-02] .mcp.json:1:13-14 /servers `servers` must be an object, not a number\n\
             help: write \"servers\": { \"NAME\": { \"command\": \"…\" } }",
            "error[X-CFG-02] .mcp.json:1:39-41 /mcpServers/ the name of a server is empty\n\
             help: scenarios use the name: NAME in `mcp__NAME__tool`",
        ]
    );
}

#[test]
fn files_of_another_kind_are_told_apart() {
    for content in [
        r#"{"command": "x"}"#,
        r#"{"mcp": {"servers": {}}}"#,
        r#"{"theme": 1}"#,
    ] {
        assert_eq!(
            file(content),
            [
                "error[X-CFG-02] .mcp.json:1:1-2  this file has neither `mcpServers` nor `servers`\n\
                 help: a config looks like this: { \"mcpServers\": { \"NAME\": { \"command\": \"…\" } } }"
            ]
        );
    }
    assert_eq!(
        file(r#"{"mcp_servers": {}}"#),
        [
            "warning[X-CFG-02] .mcp.json:1:2-15 /mcp_servers `mcp_servers` is ignored\n| did you mean `mcpServers`?"
        ]
    );
    assert_eq!(
        file(r#"{"mcp_servers": {"a": {"command": "x"}}}"#),
        [
            "error[X-CFG-02] .mcp.json:1:2-15 /mcp_servers `mcp_servers` is ignored, so the file defines no servers\n| did you mean `mcpServers`?"
        ]
    );
}

#[test]
fn names_of_servers_are_free_but_for_what_nobody_could_write() {
    let names = r#"{"a__b c/ü":{"command":"x"},"":{"command":"x"},"a\u0007b":{"command":"x"}}"#;
    let found: Vec<_> = config(names, &[])
        .expect_err("two are refused")
        .iter()
        .map(shown)
        .collect();
    assert_eq!(
        found,
        [
            "error[X-CFG-02] .mcp.json:2:29-31 /mcpServers/ the name of a server is empty\n\
             help: scenarios use the name: NAME in `mcp__NAME__tool`",
            "error[X-CFG-02] .mcp.json:2:48-58 /mcpServers/a\u{7}b the name of a server contains a control character\n\
             help: scenarios use the name: NAME in `mcp__NAME__tool`",
        ]
    );
    let long = "n".repeat(257);
    assert!(config(&format!("{{\"{long}\":{{\"command\":\"x\"}}}}"), &[]).is_err());
    assert!(
        config(
            &format!("{{\"{}\":{{\"command\":\"x\"}}}}", &long[1..]),
            &[]
        )
        .is_ok()
    );
}

#[test]
fn servers_and_findings_are_bounded() {
    let servers = |count: usize, entry: &str| {
        let list: Vec<_> = (0..count)
            .map(|number| format!("\"s{number}\":{entry}"))
            .collect();
        config(&format!("{{{}}}", list.join(",")), &[])
    };
    assert_eq!(
        servers(1000, r#"{"command":"x"}"#)
            .expect("all fit")
            .servers()
            .len(),
        1000
    );
    let found = servers(1001, r#"{"command":"x"}"#).expect_err("one too many");
    assert_eq!(found[0].message, "the file lists more than 1000 servers");
    assert_eq!(servers(150, "1").expect("they wait").servers().len(), 150);
    let list: Vec<_> = (0..150)
        .map(|number| format!("\"s{number}\":{{\"command\":\"x\"}}"))
        .collect();
    let list = list.join(",");
    let content = format!("{{\"servers\":{{{list}}},\"mcpServers\":{{{list}}}}}");
    let found = Project::new()
        .with(".mcp.json", &content)
        .find()
        .expect_err("each stands twice");
    assert_eq!(found.len(), 101);
    assert_eq!(found[100].message, "the file has 50 more errors");
}
