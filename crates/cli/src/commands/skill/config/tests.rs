use super::*;

fn entry() -> Value {
    json!({ "command": "cuecard", "args": ["mcp"] })
}

/// The new text, which must be the old one with one piece put in.
#[track_caller]
fn added(text: &str, syntax: Syntax, servers: &str) -> String {
    let after = add(text, syntax, servers, &entry()).expect(text);
    assert_ne!(text, after);
    let common = text
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let is_piece = (0..=common).any(|at| after.as_bytes().ends_with(&text.as_bytes()[at..]));
    assert!(is_piece, "{text:?}\n{after:?}");
    assert_eq!(add(&after, syntax, servers, &entry()), Ok(after.clone()));
    after
}

#[test]
fn json_gets_the_entry_in_its_own_indentation() {
    let whole = "{\n  \"mcpServers\": {\n    \"cuecard\": {\n      \"command\": \"cuecard\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}";
    for (text, expected) in [
        ("", &*format!("{whole}\n")),
        ("{}", whole),
        ("{}\n", &format!("{whole}\n")),
        (
            "{\n\t\"a\": [1, 2],\n\t\"mcpServers\": {\n\t\t\"x\": {}\n\t}\n}\n",
            "{\n\t\"a\": [1, 2],\n\t\"mcpServers\": {\n\t\t\"x\": {},\n\t\t\"cuecard\": {\n\t\t  \"command\": \"cuecard\",\n\t\t  \"args\": [\n\t\t    \"mcp\"\n\t\t  ]\n\t\t}\n\t}\n}\n",
        ),
    ] {
        assert_eq!(added(text, Syntax::Json, "mcpServers"), expected);
    }
}

#[test]
fn everything_else_stays_as_it_was() {
    for text in [
        "{\"a\":1}",
        "{\"mcpServers\":{}}",
        "{ \"mcpServers\" : { } , \"z\" : 1e2 }",
        "{\r\n  \"mcpServers\": {\r\n    \"x\": { \"command\": \"y\" }\r\n  }\r\n}\r\n",
        "// mine\n{\n  // nothing yet\n}\n",
        "{\n  \"a\": 1, // the last\n}\n",
        "{\n  \"mcpServers\": {\n    /* \"cuecard\": {} */\n    \"x\": {}, // keep\n  },\n}\n",
        "{\"é\": \"\\u00e9\", \"mcpServers\": {\"ü\": {}}}",
    ] {
        added(text, Syntax::Json, "mcpServers");
    }
    for text in [
        "",
        "# mine\nmodel = \"x\"",
        "model = \"x\"\n[mcp_servers.other]\ncommand = \"y\" # keep\n",
        "[mcp_servers]\n[mcp_servers.other.env]\nA = \"b\"\n",
        "at = 1979-05-27T07:32:00Z\r\n",
    ] {
        let after = added(text, Syntax::Toml, "mcp_servers");
        assert!(
            after.ends_with("[mcp_servers.cuecard]\ncommand = \"cuecard\"\nargs = [\"mcp\"]\n"),
            "{after}"
        );
    }
}

#[test]
fn an_entry_of_the_users_own_stays() {
    for (text, syntax, servers) in [
        (
            "{\"mcpServers\": {\"cuecard\": {\"command\": \"/opt/cuecard\"}}}",
            Syntax::Json,
            "mcpServers",
        ),
        (
            "mcp_servers.cuecard.command = \"/opt/cuecard\"\n",
            Syntax::Toml,
            "mcp_servers",
        ),
    ] {
        assert_eq!(add(text, syntax, servers, &entry()), Ok(text.to_owned()));
    }
}

#[test]
fn what_can_not_take_it_is_refused() {
    for (text, syntax, servers, reason) in [
        ("{\"a\": ", Syntax::Json, "mcpServers", "isn't valid JSON"),
        ("[]", Syntax::Json, "mcpServers", "no table of settings"),
        (
            "{\"mcpServers\": []}",
            Syntax::Json,
            "mcpServers",
            "no table of servers",
        ),
        (
            "{\"mcpServers\": null}",
            Syntax::Json,
            "mcpServers",
            "no table of servers",
        ),
        (
            "{\"mcpServers\": {}, \"mcpServers\": {}}",
            Syntax::Json,
            "mcpServers",
            "isn't valid JSON",
        ),
        ("a = ", Syntax::Toml, "mcp_servers", "isn't valid TOML"),
        (
            "mcp_servers = 1",
            Syntax::Toml,
            "mcp_servers",
            "no table of servers",
        ),
        (
            "mcp_servers = { x = { command = \"y\" } }",
            Syntax::Toml,
            "mcp_servers",
            "can't be added",
        ),
    ] {
        let refused = add(text, syntax, servers, &entry()).expect_err(text);
        assert!(refused.contains(reason), "{text}: {refused}");
    }
}
