//! Files that people write: scenarios, test cases, configs.

use std::collections::BTreeMap;
use std::fs;

use cuecard_core::diagnostic::any_error;
use cuecard_core::formats;
use cuecard_core::source::SourceFile;
use cuecard_players::mcp::config::{Config, ConfigSearch};

use super::{assert_can_be_shown, assert_read_or_refused};

/// A tool-call scenario is read or refused; one of an older version becomes one that needs no conversion.
///
/// # Panics
/// If that does not hold, here and in the other functions.
pub fn tool_call(text: &str) {
    let reading = formats::tool_call::read(&SourceFile::new("scenario.json", text));
    assert_read_or_refused(reading.scenario.as_ref(), &reading.diagnostics);
    if let (Some(converted), true) = (&reading.converted, reading.scenario.is_some()) {
        let again =
            formats::tool_call::read(&SourceFile::new("converted.json", converted.as_str()));
        assert!(again.scenario.is_some(), "{:?}", again.diagnostics);
        assert_eq!(again.converted, None, "converted once is converted");
    }
}

/// A test case, in YAML or JSON, is read or refused.
///
/// # Panics
/// See [`tool_call`].
pub fn test_case(text: &str) {
    for name in ["test.yaml", "test.json"] {
        let reading = formats::test_case::read(&SourceFile::new(name, text));
        assert_read_or_refused(reading.case.as_ref(), &reading.diagnostics);
    }
}

/// A config with MCP servers, as JSON with comments and as TOML, gives servers and findings that can be shown.
///
/// # Panics
/// See [`tool_call`]; also if no temporary file can be written.
pub fn config(text: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let environment = BTreeMap::from([("A".to_owned(), "one".to_owned())]);
    for name in [".mcp.json", "config.toml"] {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it can be written");
        let search = ConfigSearch {
            explicit: Some(&path),
            working_directory: folder.path(),
            environment: &environment,
        };
        let (config, findings) = Config::survey(&search);
        assert_can_be_shown(&findings);
        assert_can_be_shown(&config.warnings);
        for server in config.servers() {
            if let Err(error) = &server.spec {
                assert_can_be_shown(std::slice::from_ref(error));
                assert!(any_error(std::slice::from_ref(error)), "{error:?}");
            }
        }
    }
}
