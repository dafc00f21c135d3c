//! Whatever a file holds.

use super::*;
use proptest::prelude::*;

/// A piece of JSON, or of what people take for it.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1"),
        Just("-0.5"),
        Just("1e300"),
        Just("true"),
        Just("null"),
        Just("[]"),
        Just("{}"),
        Just("'x'"),
        Just(r#""stdio""#),
        Just(r#""sse""#),
        Just(r#""auto""#),
        Just(r#""http://u:p@h:1/?token=abcdefgh""#),
        Just(r#""${A}${NONE:-${A}}${input:x}${""#),
        Just(r#"["-y", "--token", "${A}é", 1]"#),
        Just(r#"{"A": "${A-b}", "X=": "\u0000", "": "abcdefgh", "b": 12345678}"#),
        Just("\"open"),
        Just(r#""npx -y é""#),
        Just(r#""~/x""#),
    ]
    .prop_map(str::to_owned)
}

fn key() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "command", "args", "env", "cwd", "url", "endpoint", "type", "headers", "timeout", "tools",
        "protocol", "disabled", "comand", "envFile", "apiToken",
    ])
}

fn members(members: Vec<(String, String)>, is_toml: bool) -> Vec<String> {
    let separator = if is_toml { " =" } else { ":" };
    let member = |(key, value)| format!("\"{key}\"{separator} {value}");
    members.into_iter().map(member).collect()
}

fn object(list: Vec<(String, String)>, is_toml: bool) -> String {
    format!("{{{}}}", members(list, is_toml).join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn is_read_without_a_panic_and_with_findings_inside_it(
        (path, program) in proptest::sample::select(vec![
            (".mcp.json", None), (".vscode/mcp.json", Some("VS Code")), (".cuecard/config.toml", None),
        ]),
        lists in proptest::collection::vec(
            ("mcpServers|servers|other", proptest::collection::vec(
                ("[ab]{0,1}", proptest::collection::vec((key(), value()), 0..5)), 0..4)), 0..3),
    ) {
        let is_toml = path.ends_with(".toml");
        let lists = lists.into_iter().map(|(list, servers)| {
            let servers = servers.into_iter().map(|(name, members)| {
                let members = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
                (name, object(members, is_toml))
            });
            (list, object(servers.collect(), is_toml))
        });
        let content = match is_toml {
            true => members(lists.collect(), true).join("\n"),
            false => object(lists.collect(), false),
        };
        let environment = BTreeMap::from([("A".to_owned(), "one".to_owned())]);
        let search = ConfigSearch {
            explicit: None,
            working_directory: Path::new("/project"),
            environment: &environment,
        };
        let file = crate::config::ConfigFile {
            path: Path::new("/project").join(path),
            shown: path.into(),
            project_local: true,
            program,
        };
        let reading = crate::config::read::read(&content, &file, &search);
        let problems = reading.servers.iter().filter_map(|server| server.spec.as_ref().err());
        for found in reading.diagnostics.iter().chain(problems) {
            let place = found.place.as_ref().expect("it has one");
            prop_assert_eq!(place.source.text().len(), content.len());
            prop_assert!(place.span.start <= place.span.end);
            prop_assert!(content.get(place.span.range()).is_some());
        }
    }
}
