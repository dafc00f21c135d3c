//! Where configs are found.

use super::super::places::{Platform, fixed_paths};
use super::*;
use cuecard_runtime::policy::executable_files::decides_what_runs;

#[test]
fn data_can_write_no_config_that_is_found_by_itself() {
    for path in fixed_paths() {
        let mut names = std::path::Path::new(path).iter();
        assert!(
            names.any(|name| decides_what_runs(&name.to_string_lossy())),
            "`{path}` is missing in `runtime/policy/executable_files.rs`"
        );
    }
    assert!(decides_what_runs("claude_desktop_config.json"));
}

#[test]
fn every_place_is_searched_in_order_and_the_first_definition_of_a_name_counts() {
    let of = |own: &str, from: &str| {
        format!(
            r#"{{"servers":{{"{own}":{{"command":"{from}"}},"shared":{{"command":"{from}"}}}}}}"#
        )
    };
    let toml = |own: &str, from: &str| {
        format!("[servers.{own}]\ncommand = '{from}'\n[mcpServers.shared]\ncommand = '{from}'\n")
    };
    let project = Project::new()
        .with("one.json", &of("a", "1"))
        .with("../two.json", &of("b", "2"))
        .with(".cuecard/config.json", &of("c", "3"))
        .with(".cuecard/config.toml", &toml("d", "4"))
        .with(".sandy/config.json", &of("e", "5"))
        .with(".mcp.json", &of("f", "6"))
        .with(
            "../settings/Claude/claude_desktop_config.json",
            &of("g", "7"),
        )
        .with(".cursor/mcp.json", &of("h", "8"))
        .with("../.cursor/mcp.json", &of("i", "9"))
        .with(".vscode/mcp.json", &of("j", "10"))
        .with("../settings/Code/User/mcp.json", &of("k", "11"))
        .with("../settings/Code - Insiders/User/mcp.json", &of("l", "12"))
        .with("../.cuecard/config.json", &of("m", "13"))
        .with("../.cuecard/config.toml", &toml("n", "14"))
        .with("../.sandy/config.json", &of("o", "15"))
        .set("CUECARD_CONFIG", "one.json")
        .set("SANDY_CONFIG", "~/two.json");
    let settings = text(&project.home.path().join("settings"));
    let project = project.set("XDG_CONFIG_HOME", &settings);
    let config = project.find().expect("all are valid");
    let names: Vec<&str> = config.names().collect();
    assert_eq!(
        names,
        [
            "a", "shared", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"
        ]
    );
    let files: Vec<_> = config
        .files
        .iter()
        .map(|file| (text(&file.shown), file.project_local, file.program))
        .collect();
    let expected = [
        ("one.json", false, None),
        ("~/two.json", false, None),
        (".cuecard/config.json", true, None),
        (".cuecard/config.toml", true, None),
        (".sandy/config.json", true, None),
        (".mcp.json", true, None),
        (
            "~/settings/Claude/claude_desktop_config.json",
            false,
            Some("Claude Desktop"),
        ),
        (".cursor/mcp.json", true, Some("Cursor")),
        ("~/.cursor/mcp.json", false, Some("Cursor")),
        (".vscode/mcp.json", true, Some("VS Code")),
        ("~/settings/Code/User/mcp.json", false, Some("VS Code")),
        (
            "~/settings/Code - Insiders/User/mcp.json",
            false,
            Some("VS Code"),
        ),
        ("~/.cuecard/config.json", false, None),
        ("~/.cuecard/config.toml", false, None),
        ("~/.sandy/config.json", false, None),
    ];
    let expected = expected.map(|(path, local, program)| (path.to_owned(), local, program));
    assert_eq!(files, expected);
    let froms: Vec<String> = config
        .servers()
        .iter()
        .map(|server| text(&server.from))
        .collect();
    let own = names
        .iter()
        .zip(&froms)
        .filter(|(name, _)| **name != "shared");
    assert!(
        own.map(|(_, from)| from)
            .eq(files.iter().map(|(path, ..)| path))
    );
    let shadowed: Vec<String> = config
        .shadowed
        .iter()
        .map(|other| text(&other.from))
        .collect();
    assert!(shadowed.iter().eq(files[1..].iter().map(|(path, ..)| path)));
    assert!(config.absent.is_empty());
    assert_eq!(
        config.files[1].path,
        project.folder.join(project.home.path().join("two.json"))
    );
    let shared = config
        .server("shared")
        .expect("it is there")
        .spec
        .as_ref()
        .expect("a program");
    assert_eq!(
        (stdio(shared).0.as_str(), shared.source.as_str()),
        ("1", "one.json")
    );
    assert!(config.server("nothing").is_none());
}

#[test]
fn without_any_file_there_are_no_servers() {
    // An empty variable is one that is not set, and a file in the way is no folder.
    let project = Project::new().with(".sandy", "").set("CUECARD_CONFIG", "");
    let config = project.find().expect("nothing is wrong");
    assert!(config.servers().is_empty() && config.files.is_empty() && config.warnings.is_empty());
    assert!(Config::empty().names().next().is_none());
}

#[test]
fn an_explicit_file_is_the_only_one() {
    let project = Project::new()
        .with("../other.json", &ONE.replace("NAME", "other"))
        .with(".mcp.json", "broken")
        .set("CUECARD_CONFIG", "missing.json");
    let other = text(&project.home.path().join("other.json"));
    for (explicit, shown) in [
        (other.as_str(), "~/other.json"),
        ("~/other.json", "~/other.json"),
    ] {
        let config = project.find_in(Some(explicit)).expect("it is valid");
        assert_eq!(config.names().collect::<Vec<_>>(), ["other"]);
        assert_eq!(text(&config.files[0].shown), shown);
    }
}

#[test]
fn named_files_must_exist() {
    assert_eq!(
        Project::new().with(".mcp.json", ONE).errors(Some("x.json")),
        ["error[X-CFG-01] config `x.json` not found\n\
          = looked for `$HOME/project/x.json`\n\
          help: correct `--config`, or leave it out: `cuecard doctor` shows where servers are found"]
    );
    let project = Project::new()
        .with(".mcp.json", ONE)
        .set("CUECARD_CONFIG", "/nowhere/x.json")
        .set("SANDY_CONFIG", "y.json");
    assert_eq!(
        project.errors(None),
        [
            "error[X-CFG-01] config `/nowhere/x.json` (set by `$CUECARD_CONFIG`) not found\n\
             help: correct `CUECARD_CONFIG`, or unset it",
            "error[X-CFG-01] config `y.json` (set by `$SANDY_CONFIG`) not found\n\
             = looked for `$HOME/project/y.json`\n\
             help: correct `SANDY_CONFIG`, or unset it",
        ]
    );
}

#[test]
fn a_file_that_is_named_twice_is_read_once() {
    let project = Project::new()
        .with(".mcp.json", &ONE.replace("NAME", "s"))
        .set("CUECARD_CONFIG", "./.mcp.json")
        .set("SANDY_CONFIG", "../project/.mcp.json");
    let config = project.find().expect("it is valid");
    assert_eq!(config.files.len(), 1);
    // However it was named: whoever wrote the project wrote it.
    assert!(config.files[0].project_local);
}

#[test]
fn links_do_not_hide_that_a_file_belongs_to_the_project() {
    let project = Project::new().with(".cuecard/config.json", &ONE.replace("NAME", "s"));
    let link = project.home.path().join("link.json");
    std::os::unix::fs::symlink(project.folder.join(".cuecard/config.json"), &link)
        .expect("it can be made");
    let config = project.find_in(Some(&text(&link))).expect("it is valid");
    assert_eq!(text(&config.files[0].shown), "~/link.json");
    assert!(config.files[0].project_local);
    let elsewhere = Project::new().with("../.mcp.json", &ONE.replace("NAME", "s"));
    let config = elsewhere
        .find_in(Some("../.mcp.json"))
        .expect("it is valid");
    assert!(!config.files[0].project_local);
}

#[test]
fn folders_and_pipes_are_no_configs() {
    let project = Project::new().with(".mcp.json/x", "");
    assert_eq!(
        project.errors(None),
        [
            "error[X-IO-01] config `.mcp.json` can't be read: it is a folder\n\
          help: make it readable, or name another file with `--config`"
        ]
    );
    let project = Project::new();
    let socket = project.folder.join(".mcp.json");
    let _listener = std::os::unix::net::UnixListener::bind(socket).expect("it can be made");
    assert_eq!(
        project.errors(None),
        [
            "error[X-IO-01] config `.mcp.json` can't be read: it is not a regular file\n\
          help: make it readable, or name another file with `--config`"
        ]
    );
    for folder in [".", ""] {
        let errors = project.errors(Some(folder));
        assert!(
            errors[0].starts_with("error[X-IO-01] config `.` can't be read: it is a folder\n"),
            "{errors:?}"
        );
    }
}

#[test]
fn a_config_is_bounded_and_text() {
    let project = Project::new();
    fs::write(
        project.folder.join(".mcp.json"),
        vec![b' '; 16 * 1024 * 1024 + 1],
    )
    .expect("it can be written");
    assert_eq!(
        project.errors(None),
        [
            "error[X-CFG-02] `.mcp.json` is larger than 16 MiB, the limit for a config\n\
          help: name the file with the servers"
        ]
    );
    fs::write(project.folder.join(".mcp.json"), b"{\n  \"a\": \"\xff\"}")
        .expect("it can be written");
    assert_eq!(
        project.errors(None),
        ["error[X-CFG-02] .mcp.json:2:9-9 the file is not UTF-8 text\nhelp: save it as UTF-8"]
    );
}

#[test]
fn settings_lie_where_each_system_has_them() {
    let environment = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    };
    let of = |platform: Platform, pairs: &[(&str, &str)]| {
        let environment = environment(pairs);
        let search = ConfigSearch {
            explicit: None,
            working_directory: Path::new("/w"),
            environment: &environment,
        };
        platform.settings(&search).map(|folder| text(&folder))
    };
    let home = ("HOME", "/home/ann");
    let settings = |path: &str| Some(path.to_owned());
    assert_eq!(of(Platform::Linux, &[home]), settings("/home/ann/.config"));
    assert_eq!(
        of(Platform::Linux, &[home, ("XDG_CONFIG_HOME", "/x")]),
        settings("/x")
    );
    assert_eq!(
        of(Platform::Linux, &[home, ("XDG_CONFIG_HOME", "x")]),
        settings("/home/ann/.config")
    );
    assert_eq!(
        of(Platform::MacOs, &[home]),
        settings("/home/ann/Library/Application Support")
    );
    assert_eq!(
        of(Platform::Windows, &[("APPDATA", "/roaming")]),
        settings("/roaming")
    );
    for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
        assert_eq!(of(platform, &[]), None);
    }
}

#[test]
fn the_home_folder_as_the_project_is_read_once() {
    let project = Project::new().with(".cuecard/config.json", &ONE.replace("NAME", "s"));
    let home = text(&project.folder);
    let config = project.set("HOME", &home).find().expect("it is valid");
    assert_eq!((config.files.len(), config.shadowed.len()), (1, 0));
}

#[test]
fn broken_files_of_other_programs_are_in_nobodys_way() {
    let project = Project::new()
        .with(".mcp.json", &ONE.replace("NAME", "ours"))
        .with(
            "../.cursor/mcp.json",
            "{\"mcpServers\": {}, \"mcpServers\": {}, \"mcpServers\": {}}",
        )
        .with(
            "../.config/Claude/claude_desktop_config.json",
            "{\"theme\": \"dark\"}",
        )
        .with(".vscode/mcp.json", "")
        .with("../.config/Code/User/mcp.json/folder", "");
    let config = project.find().expect("ours is valid");
    assert_eq!(config.names().collect::<Vec<_>>(), ["ours"]);
    let broken: Vec<_> = config
        .broken
        .iter()
        .map(|broken| (text(&broken.file.shown), broken.errors.len()))
        .collect();
    assert_eq!(
        broken,
        [
            ("~/.cursor/mcp.json".to_owned(), 2),
            ("~/.config/Code/User/mcp.json".to_owned(), 1)
        ]
    );
    let warnings: Vec<String> = config
        .warnings
        .iter()
        .map(|found| project.shown(found))
        .collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].starts_with("warning[X-CFG-02] ~/.cursor/mcp.json:1:")
            && warnings[0].contains("\n= `~/.cursor/mcp.json` is a config of Cursor; ")
            && warnings[0].contains("\n= the file has another error"),
        "{warnings:?}"
    );
}

#[test]
fn files_of_editors_may_hold_comments_and_what_editors_fill_in() {
    let entry = r#"{
        // every server
        "servers": {
            "s": {
                "type": "stdio",
                "command": "${workspaceFolder}${/}server", /* "env": {"TOKEN": "abcdefgh"}, */
                "args": ["${workspaceFolderBasename}", "${userHome}",],
                "cwd": "tools",
            },
        },
        "inputs": [],
    }"#;
    for place in [".vscode/mcp.json", ".cursor/mcp.json", ".cuecard/c.jsonc"] {
        let project = Project::new().with(place, entry);
        let explicit = place.ends_with('c').then_some(place);
        let config = project.find_in(explicit).expect("it is valid");
        let server = config.server("s").expect("it is there");
        let folder = text(&project.folder);
        assert_eq!(
            stdio(server.spec.as_ref().expect("it is complete")),
            (
                format!("{folder}/server"),
                vec!["project".to_owned(), text(project.home.path())],
                Vec::new(),
                Some(project.folder.join("tools"))
            )
        );
    }
    let project = Project::new().with(".mcp.json", entry);
    assert!(project.errors(None)[0].contains("comment"));
}

#[test]
fn what_is_odd_in_an_entry_of_another_program_waits_for_its_use() {
    let entry = r#"{"mcpServers": {"s": {"command": "x", "sparkle": 1}, "t": {"command": "x"}}}"#;
    let project = Project::new().with("../.cursor/mcp.json", entry);
    let config = project.find().expect("it is valid");
    assert_eq!(config.warnings.len(), 0);
    let count = |name: &str| config.server(name).map(|server| server.warnings.len());
    assert_eq!((count("s"), count("t")), (Some(1), Some(0)));
}

#[test]
fn toml_is_read_with_the_same_messages() {
    let project = Project::new().with(
        "c.toml",
        "[servers.a]\ncommand = 'npx'\nargs = ['-y', '${MISSING}']\n[servers.b]\nurl = 7\n[servers.a.env]\nA_TOKEN = 'abcdefgh'\n",
    );
    let config = project.find_in(Some("c.toml")).expect("it is valid");
    let refusal = |name: &str| {
        let server = config.server(name).expect("it is there");
        shown(server.spec.as_ref().expect_err("it can't be used"))
    };
    assert!(
        refusal("a")
            .starts_with("error[X-CFG-03] c.toml:3:16-26 /servers/a/args/1 `MISSING` is not set"),
        "{}",
        refusal("a")
    );
    assert!(
        refusal("b").starts_with("error[X-CFG-02] c.toml:5:7-8 /servers/b/url "),
        "{}",
        refusal("b")
    );
    let place = config.server("a").map(|server| &server.spec);
    let Some(Err(diagnostic)) = place else {
        panic!("it can't be used")
    };
    let source = &diagnostic.place.as_ref().expect("it has a place").source;
    assert!(!source.text().contains("abcdefgh"), "{}", source.text());

    let errors = |text: &str| Project::new().with("c.toml", text).errors(Some("c.toml"));
    assert_eq!(
        errors("x = 1\n"),
        [
            "error[X-CFG-02] c.toml:1:1-2  this file has neither `mcpServers` nor `servers`\n\
          help: write `[servers.NAME]`, and below it `command = \"…\"` or `url = \"…\"`"
        ]
    );
    assert_eq!(
        errors("[servers.a]\ntimeout = 07:32:00\n"),
        [
            "error[X-CFG-02] c.toml:2:11-19 nothing in a config is a date or a time\n\
          help: write it in quotes, if it is meant as a text"
        ]
    );
    let broken = errors("[servers.a]\nenv = { A_TOKEN = abcdefgh }\n");
    assert!(
        broken[0].starts_with("error[X-CFG-02] c.toml:2:") && !broken.concat().contains("abcdefgh"),
        "{broken:?}"
    );
}
