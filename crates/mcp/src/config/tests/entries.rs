//! Entries of servers.

use super::*;

#[test]
fn a_program_has_all_it_needs() {
    let spec = spec(
        r#"{"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": "1", "B": ""}, "cwd": "sub/./x/",
            "protocol": "legacy", "tools": ["read", "list"], "description": "mine", "autoApprove": [], "_note": 1}"#,
        &[],
    );
    let (command, args, env, cwd) = stdio(&spec);
    assert_eq!(
        (command.as_str(), args.as_slice()),
        ("npx", &["-y".to_owned(), "x".to_owned()][..])
    );
    assert_eq!(env, [pair("A", "1"), pair("B", "")]);
    assert!(cwd.expect("it has one").ends_with("project/sub/x"));
    assert_eq!(
        (spec.name.as_str(), spec.source.as_str()),
        ("s", ".mcp.json")
    );
    assert_eq!(
        (spec.protocol, spec.start_timeout),
        (Protocol::Legacy, Duration::from_secs(60))
    );
    assert_eq!(
        spec.allowed_tools,
        Some(vec!["read".to_owned(), "list".to_owned()])
    );
}

#[test]
fn an_address_has_headers() {
    for entry in [
        r#"{"url": "https://h/mcp", "headers": {"X-A": "1"}}"#,
        r#"{"endpoint": " https://h/mcp", "headers": {"X-A": "1"}, "type": "http"}"#,
        r#"{"serverUrl": "https://h/mcp", "headers": {"X-A": "1"}}"#,
        r#"{"httpUrl": "https://h/mcp", "headers": {"X-A": "1"}}"#,
        r#"{"url": "https://h/mcp", "headers": {"X-A": "1"}, "type": "streamable-http"}"#,
        r#"{"url": "https://h/mcp", "headers": {"X-A": "1"}, "type": "streamableHttp", "protocol": "modern"}"#,
    ] {
        let spec = spec(entry, &[]);
        assert_eq!(
            http(&spec),
            ("https://h/mcp".to_owned(), vec![pair("X-A", "1")])
        );
        assert_eq!(spec.allowed_tools, None);
    }
    let plain = spec(r#"{"command": "x"}"#, &[]);
    assert_eq!((plain.protocol, stdio(&plain).3), (Protocol::Auto, None));
}

#[test]
fn a_star_allows_every_tool() {
    assert_eq!(
        spec(r#"{"command": "x", "tools": ["*"]}"#, &[]).allowed_tools,
        None
    );
    assert_eq!(
        spec(r#"{"command": "x", "tools": []}"#, &[]).allowed_tools,
        Some(Vec::new())
    );
}

#[test]
fn relative_folders_start_at_the_projects() {
    let entry = r#"{"servers":{"s":{"command":"./run","cwd":"tools"},"h":{"command":"~/bin/x","cwd":"~"},"a":{"command":"x","cwd":"/abs/"}}}"#;
    for (path, folder) in [
        (".mcp.json", "project/tools"),
        (".cuecard/config.json", "project/tools"),
        (".sandy/config.json", "project/tools"),
        ("ci/servers.json", "project/ci/tools"),
        ("../.cuecard/config.json", "tools"),
    ] {
        let project = Project::new().with(path, entry);
        let config = project.find_in(Some(path)).expect("it is valid");
        let of = |name: &str| {
            let server = config.server(name).expect("it is there");
            stdio(server.spec.as_ref().expect("a program"))
        };
        let (command, _, _, cwd) = of("s");
        assert_eq!(command, "./run");
        let cwd = cwd.expect("it has one");
        let real = cwd
            .parent()
            .expect("a folder")
            .canonicalize()
            .expect("it is there")
            .join("tools");
        let home = project.home.path().canonicalize().expect("it is there");
        assert_eq!(real, home.join(folder), "{path}");
        let (command, _, _, cwd) = of("h");
        assert_eq!(command, text(&project.home.path().join("bin/x")));
        assert_eq!(cwd.as_deref(), Some(project.home.path()));
        assert_eq!(of("a").3.as_deref(), Some(Path::new("/abs")));
    }
}

#[test]
fn the_shape_decides_what_a_server_is() {
    assert_eq!(
        wrong("{}"),
        "error[X-CFG-02] .mcp.json:2:2-5 /mcpServers/s server `s` has no `command` or `url`\n\
          help: add \"command\": \"…\" for a program, \"url\": \"https://…\" for an address"
    );
    assert_eq!(
        wrong(r#"{"type":"stdio"}"#),
        "error[X-CFG-02] .mcp.json:2:14-21 /mcpServers/s/type server `s` has no `command`\n\
          help: add \"command\": \"…\", or another `type`"
    );
    assert_eq!(
        wrong(r#"{"type":"stdio","url":"http://h"}"#),
        "error[X-CFG-02] .mcp.json:2:14-21 /mcpServers/s/type server `s` has no `command`\n\
          help: add \"command\": \"…\", or another `type`"
    );
    assert_eq!(
        wrong(r#"{"type":"sse","command":"x"}"#),
        "error[X-CFG-02] .mcp.json:2:14-19 /mcpServers/s/type server `s` has no `url`\n\
          help: add \"url\": \"https://…\", or another `type`"
    );
    assert_eq!(
        wrong(r#"{"type":"http"}"#),
        "error[X-CFG-02] .mcp.json:2:14-20 /mcpServers/s/type server `s` has no `url`\n\
          help: add \"url\": \"https://…\", or another `type`"
    );
    assert_eq!(
        wrong(r#"{"command":"x","endpoint":"http://h"}"#),
        "error[X-CFG-02] .mcp.json:2:32-42 /mcpServers/s/endpoint server `s` has both `command` and `endpoint`\n\
          help: keep `command` to start a program, or `endpoint` to use one that is already running"
    );
    assert_eq!(
        wrong(r#"{"url":"http://h","endpoint":"http://h"}"#),
        "error[X-CFG-02] .mcp.json:2:35-45 /mcpServers/s/endpoint server `s` has both `url` and `endpoint`, which mean the same\n\
          help: remove one of them"
    );
}

#[test]
fn a_wrong_entry_concerns_those_who_use_the_server() {
    let list = r#"{"good":{"command":"x","zebra":1},"s":{"comand":"npx","timeout":30000},"n":2}"#;
    let config = config(list, &[]).expect("the file is of the right shape");
    assert_eq!(config.names().collect::<Vec<_>>(), ["good", "s", "n"]);
    // The warnings of the wrong one wait with it.
    let warnings: Vec<_> = config.warnings.iter().map(|found| &found.message).collect();
    assert_eq!(warnings, ["unknown key `zebra` in server `good`"]);
    let problem = |name: &str| {
        let server = config.server(name).expect("it is there");
        shown(server.spec.as_ref().expect_err("it can't be used"))
    };
    assert_eq!(
        problem("s"),
        "error[X-CFG-02] .mcp.json:2:35-38 /mcpServers/s server `s` has no `command` or `url`\n\
         = unknown key `comand` in server `s`: did you mean `command`?\n\
         = server `s` has the `timeout` 30000, which is in milliseconds, as Claude Code has it: in a file that only Cuecard reads, and up to 3600, it is in seconds\n\
         help: add \"command\": \"…\" for a program, \"url\": \"https://…\" for an address"
    );
    assert_eq!(
        problem("n"),
        "error[X-CFG-02] .mcp.json:2:76-77 /mcpServers/n server `n` must be an object, not a number"
    );
    let numbers = vec!["1"; 1000].join(",");
    let many = wrong(&format!("{{\"command\":\"x\",\"args\":[{numbers}]}}"));
    assert!(
        many.ends_with("\n= and 990 more") && many.lines().count() == 11,
        "{many}"
    );
}

#[test]
fn words_are_those_of_a_list() {
    assert_eq!(
        wrong(r#"{"command":"x","type":"STDIO","protocol":"new"}"#),
        "error[X-CFG-02] .mcp.json:2:28-35 /mcpServers/s/type server `s`: `type` must be `stdio`, `http`, `streamable-http`, `streamableHttp`, `sse`, `websocket`, `ws` or `unix`, not `STDIO`\n\
             | did you mean `stdio`?\n\
             = server `s`: `protocol` must be `auto`, `legacy` or `modern`, not `new`"
    );
    assert_eq!(
        wrong(r#"{"command":"x","protocol":1}"#),
        "error[X-CFG-02] .mcp.json:2:32-33 /mcpServers/s/protocol server `s`: `protocol` must be a string, not a number"
    );
}

#[test]
fn a_command_is_one_string() {
    assert_eq!(
        wrong(r#"{"command":["npx","-y","x"]}"#),
        "error[X-CFG-02] .mcp.json:2:17-18 /mcpServers/s/command server `s`: `command` must be a string, not an array\n\
          help: write \"command\": \"npx\", \"args\": [\"…\"]"
    );
    assert_eq!(
        wrong(r#"{"command":["x","--token","abcdefgh"]}"#),
        "error[X-CFG-02] .mcp.json:2:17-18 /mcpServers/s/command server `s`: `command` must be a string, not an array\n\
          help: write \"command\": \"npx\", \"args\": [\"…\"]"
    );
    assert_eq!(
        findings(r#"{"command":"x --token=abcdefgh"}"#),
        [
            "warning[X-CFG-02] .mcp.json:2:17-37 /mcpServers/s/command server `s` has a `command` that is used as the name of one program, including spaces\n\
          help: write \"command\": \"npx\", \"args\": [\"…\"]"
        ]
    );
    assert_eq!(
        wrong(r#"{"command":[1]}"#),
        "error[X-CFG-02] .mcp.json:2:17-18 /mcpServers/s/command server `s`: `command` must be a string, not an array\n\
          help: write \"command\": \"npx\", \"args\": [\"…\"]"
    );
    assert_eq!(
        findings(r#"{"command":"npx -y x"}"#),
        [
            "warning[X-CFG-02] .mcp.json:2:17-27 /mcpServers/s/command server `s` has a `command` that is used as the name of one program, including spaces\n\
          help: write \"command\": \"npx\", \"args\": [\"…\"]"
        ]
    );
    for entry in [
        r#"{"command":"/opt/my tools/x"}"#,
        r#"{"command":"my tool","args":["x"]}"#,
        r#"{"command":"x "}"#,
    ] {
        assert_eq!(findings(entry), [""; 0], "{entry}");
    }
}

#[test]
fn kinds_of_values_are_checked_all_at_once() {
    assert_eq!(
        wrong(
            r#"{"command":1,"args":"-y \"x","env":{"A":1,"B":null,"C":[],"":"x"},"cwd":true,"tools":{},"timeout":"30","disabled":0}"#
        ),
        "error[X-CFG-02] .mcp.json:2:17-18 /mcpServers/s/command server `s`: `command` must be a string, not a number\n\
             = server `s`: `args` must be an array, not a string\n\
             = server `s`, `env`: `A` must be a string, not a number\n\
             = server `s`, `env`: `B` must be a string, not null\n\
             = server `s`, `env`: `C` must be a string, not an array\n\
             = server `s`: `cwd` must be a string, not a boolean\n\
             = server `s`: `tools` must be an array, not an object\n\
             = server `s`: `timeout` must be a number, not a string\n\
             = server `s`: `disabled` must be true or false, not a number"
    );
    assert_eq!(
        wrong(r#"{"url":2,"headers":[]}"#),
        "error[X-CFG-02] .mcp.json:2:13-14 /mcpServers/s/url server `s`: `url` must be a string, not a number\n\
             = server `s`: `headers` must be an object, not an array"
    );
    assert_eq!(
        wrong(r#"{"command":"x","args":["a\u0000b",8080]}"#),
        "error[X-CFG-02] .mcp.json:2:29-39 /mcpServers/s/args server `s` has the character U+0000 in `args[0]`\n\
             = server `s`: `args[1]` must be a string, not a number\n\
             help: remove it"
    );
}

#[test]
fn headers_have_names_of_their_own() {
    assert_eq!(
        wrong(r#"{"url":"http://h","headers":{"a b":"1","X-A":"1","x-a":"2"}}"#),
        "error[X-CFG-02] .mcp.json:2:35-40 /mcpServers/s/headers server `s` has a header `a b`, which is not a valid name\n\
             = server `s` has a duplicate header `x-a`: headers look like this: \"Authorization\": \"Bearer ${TOKEN}\"\n\
             help: headers look like this: \"Authorization\": \"Bearer ${TOKEN}\""
    );
}

#[test]
fn timeouts_are_seconds() {
    assert_eq!(
        server(r#"{"command":"x","timeout":0.5}"#, &[]).timeout,
        Some(Duration::from_millis(500))
    );
    assert_eq!(server(r#"{"command":"x"}"#, &[]).timeout, None);
    assert_eq!(findings(r#"{"command":"x","timeout":3600}"#), [""; 0]);
    let long = r#"{"command":"x","timeout":30000}"#;
    let own = Project::new().with(
        ".cuecard/config.json",
        &format!(r#"{{"mcpServers":{{"s":{long}}}}}"#),
    );
    let config = own.find().expect("it is of the right shape");
    let timeout = config.server("s").and_then(|server| server.timeout);
    assert_eq!(timeout, Some(Duration::from_secs(30_000)));
    let found: Vec<String> = config.warnings.iter().map(shown).collect();
    assert_eq!(
        found,
        [
            "warning[C-TIME-01] .cuecard/config.json:1:45-50 /mcpServers/s/timeout server `s` has a `timeout` of 30000 seconds, which is more than an hour: did you mean milliseconds?\n\
          help: `timeout` is in seconds: write 30 if you meant milliseconds"
        ]
    );
    // The file that Claude Code reads too.
    assert_eq!(server(long, &[]).timeout, Some(Duration::from_secs(30)));
    assert_eq!(
        findings(long),
        [
            "note[C-TIME-01] .mcp.json:2:31-36 /mcpServers/s/timeout server `s` has the `timeout` 30000, which is in milliseconds, as Claude Code has it\n\
          help: in a file that only Cuecard reads, and up to 3600, it is in seconds"
        ]
    );
    for bad in ["0", "-1", "1e10", "1e-20"] {
        assert_eq!(
            wrong(&format!(r#"{{"command":"x","timeout":{bad}}}"#)),
            format!(
                "error[X-CFG-02] .mcp.json:2:31-{} /mcpServers/s/timeout server `s` has a `timeout` that is not a number of seconds above 0\n\
                 help: write seconds, such as 30 or 0.5; the default is 60",
                31 + bad.len()
            )
        );
    }
}

#[test]
fn an_env_file_gives_what_the_entry_does_not() {
    let entry = r#"{"servers":{"s":{"command":"x","env":{"A":"own"},"envFile":"${workspaceFolder}/.env"}}}"#;
    let project = Project::new()
        .with(".vscode/mcp.json", entry)
        .with(".env", "A=file\nTOKEN=\"long enough to hide\"\n");
    let config = project.find().expect("it is of the right shape");
    let server = config.server("s").expect("it is there");
    let (_, _, env, _) = stdio(server.spec.as_ref().expect("it can be started"));
    assert_eq!(
        env,
        [pair("A", "own"), pair("TOKEN", "long enough to hide")]
    );
    assert_eq!(server.secrets, ["long enough to hide"]);
    for (content, reason) in [
        (None, "`${workspaceFolder}/.env` is not a file"),
        (
            Some("just words\n"),
            "${workspaceFolder}/.env:1: this line has no `=`",
        ),
    ] {
        let mut project = Project::new().with(".vscode/mcp.json", entry);
        if let Some(content) = content {
            project = project.with(".env", content);
        }
        let config = project.find().expect("it is of the right shape");
        let spec = &config.server("s").expect("it is there").spec;
        let problem = project.shown(spec.as_ref().expect_err("it has no variables"));
        assert!(
            problem.contains(&format!("`envFile` of server `s` can't be used: {reason}")),
            "{problem}"
        );
    }
}

#[test]
fn unknown_keys_are_told_with_the_likely_one() {
    assert_eq!(
        findings(r#"{"comand":"x","command":"x","uri":"x","oauth":{},"zebra":1}"#),
        [
            "warning[X-CFG-02] .mcp.json:2:7-15 /mcpServers/s/comand unknown key `comand` in server `s`\n| did you mean `command`?",
            "warning[X-CFG-02] .mcp.json:2:34-39 /mcpServers/s/uri unknown key `uri` in server `s`\n| did you mean `url`?",
            "warning[X-CFG-02] .mcp.json:2:44-51 /mcpServers/s/oauth unknown key `oauth` in server `s`\n| did you mean `auth`?",
            "warning[X-CFG-02] .mcp.json:2:55-62 /mcpServers/s/zebra unknown key `zebra` in server `s`\n\
             help: remove it, unless another client needs it",
        ]
    );
    assert_eq!(
        findings(r#"{"command":"x","headers":{}}"#),
        [
            "warning[X-CFG-02] .mcp.json:2:21-30 /mcpServers/s/headers server `s` has a `headers` without effect: `command` starts it\nhelp: remove it"
        ]
    );
    assert_eq!(
        findings(r#"{"url":"http://h","env":{"A":"1"}}"#),
        [
            "warning[X-CFG-02] .mcp.json:2:24-29 /mcpServers/s/env server `s` has a `env` without effect: the server is not started, but reached by its URL\nhelp: remove it"
        ]
    );
}

#[test]
fn a_disabled_server_is_not_looked_at_until_somebody_asks() {
    let entry = r#"{"disabled":true,"command":7,"zebra":1}"#;
    assert_eq!(findings(entry), [""; 0]);
    assert_eq!(
        refusal(entry, &[]),
        "error[X-CFG-02] .mcp.json:2:18-22 /mcpServers/s server `s` is disabled\n\
         help: remove `\"disabled\": true` or `\"enabled\": false` from its entry"
    );
    for on in ["\"disabled\":false", "\"enabled\":true"] {
        let entry = format!("{{{on},\"command\":\"x\"}}");
        assert!(server(&entry, &[]).spec.is_ok(), "{on}");
    }
    let off = r#"{"enabled":false,"httpUrl":7}"#;
    assert_eq!(findings(off), [""; 0]);
    assert_eq!(
        refusal(off, &[]),
        "error[X-CFG-02] .mcp.json:2:17-22 /mcpServers/s server `s` is disabled\n\
         help: remove `\"disabled\": true` or `\"enabled\": false` from its entry"
    );
    // It hides a server of the same name in a later file: that is a way to switch one off.
    let project = Project::new()
        .with(
            ".cuecard/config.json",
            r#"{"servers":{"s":{"disabled":true}}}"#,
        )
        .with(".mcp.json", r#"{"servers":{"s":{"command":"x"}}}"#);
    assert!(
        project
            .find()
            .expect("it is valid")
            .server("s")
            .expect("it is there")
            .spec
            .is_err()
    );
}

#[test]
fn every_transport_has_its_addresses() {
    let project = Project::new().set("SOCKETS", "/run/s").with(
        ".mcp.json",
        r#"{"servers":{
                "plain": {"url":"https://h/mcp"},
                "typed": {"type":"http","url":"https://h/mcp"},
                "sse": {"type":"sse","url":"https://h/sse","headers":{"X-A":"b"}},
                "ws": {"type":"websocket","url":"wss://h/ws"},
                "unix": {"url":"unix://${SOCKETS}/x.sock"},
                "home": {"type":"unix","url":"~/x.sock"},
                "near": {"type":"unix","url":"run/x.sock"},
                "over": {"url":"http+unix:///s.sock:/x","headers":{"X-A":"b"}}
            }}"#,
    );
    let found = project.find().expect("it is valid");
    let of = |name: &str| match &found.server(name).expect("it is there").spec {
        Ok(spec) => spec.transport.clone(),
        Err(problem) => panic!("{problem:?}"),
    };
    for (name, or_sse_wanted) in [("plain", true), ("typed", false)] {
        let TransportSpec::Http { or_sse, .. } = of(name) else {
            panic!("{name} is {}", of(name).as_str());
        };
        assert_eq!(or_sse, or_sse_wanted, "{name}");
    }
    let TransportSpec::Sse { url, headers } = of("sse") else {
        panic!("it is {}", of("sse").as_str());
    };
    assert_eq!((&*url, headers), ("https://h/sse", vec![pair("X-A", "b")]));
    let TransportSpec::WebSocket { url, .. } = of("ws") else {
        panic!("it is {}", of("ws").as_str());
    };
    assert_eq!(url, "wss://h/ws");
    for (name, wanted) in [
        ("unix", PathBuf::from("/run/s/x.sock")),
        ("home", project.home.path().join("x.sock")),
        ("near", project.folder.join("run/x.sock")),
    ] {
        let TransportSpec::Unix { path } = of(name) else {
            panic!("{name} is {}", of(name).as_str());
        };
        assert_eq!(path, wanted, "{name}");
    }
    let TransportSpec::HttpUnix {
        socket,
        path,
        headers,
    } = of("over")
    else {
        panic!("it is {}", of("over").as_str());
    };
    assert_eq!(socket, PathBuf::from("/s.sock"));
    assert_eq!((&*path, headers), ("/x", vec![pair("X-A", "b")]));
}

#[test]
fn an_address_of_another_type_or_without_a_path_is_refused() {
    let at = |end: usize| {
        format!("error[X-CFG-02] .mcp.json:2:13-{end} /mcpServers/s/url `url` of server `s`")
    };
    assert_eq!(
        refusal(r#"{"url":"http://h","type":"ws"}"#, &[]),
        format!(
            "{} begins with `http:`, which does not fit its `type`\nhelp: remove `type`: the address says it",
            at(23)
        )
    );
    assert_eq!(
        refusal(r#"{"url":"unix://s.sock"}"#, &[]),
        format!(
            "{} is not a socket path: it must start with `/` or `~/`\nhelp: write three slashes, as in \"unix:///run/notes.sock\"",
            at(28)
        )
    );
    assert_eq!(
        findings(r#"{"url":"unix:///s.sock","headers":{"X-A":"b"}}"#),
        [
            "warning[X-CFG-02] .mcp.json:2:30-39 /mcpServers/s/headers server `s` has a `headers` without effect: messages over a Unix socket have none\nhelp: remove them, or write `http+unix://` if the server speaks HTTP over its socket"
        ]
    );
}

#[test]
fn an_address_is_a_url() {
    let of = |url: &str| refusal(&format!("{{\"url\":\"{url}\"}}"), &[("EMPTY", "")]);
    let at = |end: usize| {
        format!("error[X-CFG-02] .mcp.json:2:13-{end} /mcpServers/s/url `url` of server `s`")
    };
    let scheme = "must begin with `http://`, `https://`, `ws://`, `wss://`, `unix://` or `http+unix://`\nhelp: write the whole address, as in \"http://localhost:8000/mcp\"";
    assert_eq!(of("localhost:80/mcp"), format!("{} {scheme}", at(31)));
    assert_eq!(of("h/mcp"), format!("{} {scheme}", at(20)));
    assert_eq!(of("ftp://h"), format!("{} {scheme}", at(22)));
    assert_eq!(
        of("http://h:99999"),
        format!("{} is not a valid URL: invalid port number", at(29))
    );
    assert_eq!(
        of("${EMPTY}"),
        format!("{} is empty\nhelp: the variable in it is empty", at(23))
    );
    assert_eq!(
        refusal(r#"{"command":" "}"#, &[]),
        "error[X-CFG-02] .mcp.json:2:17-20 /mcpServers/s/command `command` of server `s` is empty\n\
         help: write a program, as in \"npx\", or an address, as in \"http://localhost:8000/mcp\""
    );
}
