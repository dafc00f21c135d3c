//! Where configs are found.

use super::*;

#[test]
fn every_place_is_searched_in_order_and_the_first_definition_of_a_name_counts() {
    let of = |own: &str, from: &str| {
        format!(
            r#"{{"servers":{{"{own}":{{"command":"{from}"}},"shared":{{"command":"{from}"}}}}}}"#
        )
    };
    let project = Project::new()
        .with("one.json", &of("a", "1"))
        .with("../two.json", &of("b", "2"))
        .with(".cuecard/config.json", &of("c", "3"))
        .with(".sandy/config.json", &of("d", "4"))
        .with(".mcp.json", &of("e", "5"))
        .set("CUECARD_CONFIG", "one.json")
        .set("SANDY_CONFIG", "~/two.json");
    let config = project.find().expect("all are valid");
    assert_eq!(
        config.names().collect::<Vec<_>>(),
        ["a", "shared", "b", "c", "d", "e"]
    );
    let from: Vec<_> = config
        .servers()
        .iter()
        .map(|server| (server.from.to_str().expect("plain"), server.project_local))
        .collect();
    assert_eq!(
        from,
        [
            ("one.json", false),
            ("one.json", false),
            ("~/two.json", false),
            (".cuecard/config.json", true),
            (".sandy/config.json", true),
            (".mcp.json", true),
        ]
    );
    let files: Vec<_> = config.files.iter().map(|file| text(&file.shown)).collect();
    assert_eq!(
        files,
        [
            "one.json",
            "~/two.json",
            ".cuecard/config.json",
            ".sandy/config.json",
            ".mcp.json"
        ]
    );
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
fn the_order_can_be_told() {
    assert_eq!(
        crate::mcp::config::search_order(),
        "`$CUECARD_CONFIG`, `$SANDY_CONFIG`, `.cuecard/config.json`, `.sandy/config.json`, `.mcp.json`"
    );
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
        ["error[X-CFG-01] there is no config `x.json`\n\
          = looked for `$HOME/project/x.json`\n\
          help: correct `--config`, or leave it out to search `$CUECARD_CONFIG`, `$SANDY_CONFIG`, `.cuecard/config.json`, `.sandy/config.json`, `.mcp.json`"]
    );
    let project = Project::new()
        .with(".mcp.json", ONE)
        .set("CUECARD_CONFIG", "/nowhere/x.json")
        .set("SANDY_CONFIG", "y.json");
    assert_eq!(
        project.errors(None),
        [
            "error[X-CFG-01] there is no config `/nowhere/x.json`, which `$CUECARD_CONFIG` names\n\
             help: correct `CUECARD_CONFIG`, or unset it",
            "error[X-CFG-01] there is no config `y.json`, which `$SANDY_CONFIG` names\n\
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
            "error[X-IO-01] config `.mcp.json` can't be read: is a directory\n\
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
            errors[0].starts_with("error[X-IO-01] config `.` can't be read: is a directory\n"),
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
            "error[X-CFG-02] `.mcp.json` is larger than 16 MiB, and no more is read of a config\n\
          help: name the file with the servers"
        ]
    );
    fs::write(project.folder.join(".mcp.json"), b"{\n  \"a\": \"\xff\"}")
        .expect("it can be written");
    assert_eq!(
        project.errors(None),
        ["error[X-CFG-02] .mcp.json:2:9-9 the file is not UTF-8 text\nhelp: save it as UTF-8"]
    );
    let project = Project::new().with("x.toml", "[servers]");
    let errors = project.errors(Some("x.toml"));
    assert!(
        errors[0].starts_with(
            "error[X-CFG-02] `x.toml` is TOML, and this release reads configs in JSON\n"
        )
    );
}
