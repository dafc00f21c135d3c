//! References in entries.

use super::*;

#[test]
fn they_are_filled_in_everywhere() {
    let environment = [("A", "one"), ("B", "two")];
    let (command, args, env, cwd) = stdio(&spec(
        r#"{"command":"${A}/x","args":["${B}","${C:-three}"],"env":{"${A}":"${A}${B}"},"cwd":"/${A}"}"#,
        &environment,
    ));
    assert_eq!(
        (command.as_str(), args.join(" ").as_str()),
        ("one/x", "two three")
    );
    assert_eq!(
        (env, cwd),
        (vec![pair("${A}", "onetwo")], Some(PathBuf::from("/one")))
    );
    let (url, headers) = http(&spec(
        r#"{"url":"https://${A}/${env:B}","headers":{"X":"Bearer ${B}"}}"#,
        &environment,
    ));
    assert_eq!(
        (url.as_str(), headers),
        ("https://one/two", vec![pair("X", "Bearer two")])
    );
}

#[test]
fn one_that_is_not_set_concerns_those_who_use_the_server() {
    let entry = r#"{"command":"x","env":{"GITHUB_TOKEN":"a\n${GITHUB_TOKEN}"}}"#;
    assert_eq!(findings(entry), [""; 0]);
    assert_eq!(
        refusal(entry, &[("GITHUB_TOKN", "1")]),
        "error[X-CFG-03] .mcp.json:2:47-62 /mcpServers/s/env/GITHUB_TOKEN `GITHUB_TOKEN` is not set, and `env.GITHUB_TOKEN` of server `s` needs it\n\
         | did you mean `GITHUB_TOKN`?\n\
         help: run `export GITHUB_TOKEN=…`, put `GITHUB_TOKEN=…` into a file for `--env FILE`, or give a default: `${GITHUB_TOKEN:-…}`"
    );
    assert_eq!(
        stdio(&spec(entry, &[("GITHUB_TOKEN", "t")])).2,
        [pair("GITHUB_TOKEN", "a\nt")]
    );
}

#[test]
fn all_that_are_not_set_are_told() {
    let shown = refusal(
        r#"{"url":"${ZEBRA}/mcp","headers":{"A":"${OSTRICH}"}}"#,
        &[],
    );
    assert_eq!(
        shown,
        "error[X-CFG-03] .mcp.json:2:14-22 /mcpServers/s/url `ZEBRA` is not set, and `url` of server `s` needs it\n\
         = `OSTRICH` is not set, and `headers.A` of server `s` needs it\n\
         help: run `export ZEBRA=…`, put `ZEBRA=…` into a file for `--env FILE`, or give a default: `${ZEBRA:-…}`"
    );
    let many: Vec<_> = (0..15)
        .map(|number| format!("\"${{N{number}}}\""))
        .collect();
    let shown = refusal(
        &format!("{{\"command\":\"x\",\"args\":[{}]}}", many.join(",")),
        &[],
    );
    assert!(
        shown.contains("\n= `N9` is not set, and `args[9]` of server `s` needs it\n= and 5 more\n"),
        "{shown}"
    );
}

#[test]
fn what_vs_code_asks_for_must_be_set() {
    assert_eq!(
        refusal(
            r#"{"command":"x","env":{"T":"${input:github-token}"}}"#,
            &[("GITHUB_TOKEN", "t")]
        ),
        "error[X-CFG-03] .mcp.json:2:33-54 /mcpServers/s/env/T `${input:github-token}` in `env.T` of server `s` is an input that only VS Code can prompt for\n\
         help: write `${GITHUB_TOKEN}` instead, and set it: `export GITHUB_TOKEN=…`, or `GITHUB_TOKEN=…` in a file for `--env FILE`"
    );
    assert!(refusal(r#"{"command":"${input:}"}"#, &[]).contains("write `${VALUE}` instead"));
    assert!(refusal(r#"{"command":"${input:1 é}"}"#, &[]).contains("write `${_1__}` instead"));
}

#[test]
fn other_forms_are_told_without_what_may_be_secret() {
    assert_eq!(
        findings(r#"{"command":"x","args":["${A-sekret12}","a${B","${C%x} ${}"]}"#),
        [
            "warning[X-CFG-02] .mcp.json:2:30-43 /mcpServers/s/args/0 `${A…` in `args[0]` of server `s` is not substituted\n\
             help: only `${NAME}` and `${NAME:-default}` are substituted",
            "warning[X-CFG-02] .mcp.json:2:47-49 /mcpServers/s/args/1 `${` in `args[1]` of server `s` is not substituted\n\
             help: only `${NAME}` and `${NAME:-default}` are substituted",
            "warning[X-CFG-02] .mcp.json:2:53-59 /mcpServers/s/args/2 `${C…` in `args[2]` of server `s` is not substituted\n\
             = neither is another one in the same text\n\
             help: only `${NAME}` and `${NAME:-default}` are substituted",
        ]
    );
}

#[test]
fn a_header_holds_no_line_break() {
    let entry = r#"{"url":"http://h","headers":{"Authorization":"Bearer ${T}"}}"#;
    assert_eq!(
        refusal(entry, &[("T", "sekret12\n")]),
        "error[X-CFG-02] .mcp.json:2:51-64 /mcpServers/s/headers/Authorization `headers.Authorization` of server `s` contains a character that is not allowed in a header\n\
         help: look for a line break, perhaps at the end of a variable's value, and for letters outside ASCII"
    );
}

#[test]
fn what_is_filled_in_is_bounded() {
    let long = "x".repeat(1024 * 1024);
    let args: Vec<_> = (0..17).map(|_| "\"${LONG}\"").collect();
    let shown = refusal(
        &format!("{{\"command\":\"x\",\"args\":[{}]}}", args.join(",")),
        &[("LONG", &long)],
    );
    assert!(
        shown.contains(
            "`args[16]` of server `s` is where the variables in this file come to more than 16 MiB"
        ),
        "{shown}"
    );
}
