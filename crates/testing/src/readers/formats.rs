//! Files that people write: scenarios, test cases, configs; and pages as a browser gives them.

use std::collections::BTreeMap;
use std::fs;

use cuecard_browser::model::Cassette;
use cuecard_browser_steps::format::export::{ToolCallServer, to_playwright, to_tool_call};
use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_page::dom::DomProcessor;
use cuecard_page::selector::{Finder, Selector};
use cuecard_page::sentences::understand;
use cuecard_page::text::TextOptions;
use cuecard_recording::cassette::Cassette as McpCassette;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::any_error;
use cuecard_source::value::Redactor;

use super::{assert_can_be_shown, assert_read_or_refused};

/// A tool-call scenario is read or refused; one of an older version becomes one that needs no conversion.
///
/// # Panics
/// If that does not hold, here and in the other functions.
pub fn tool_call(text: &str) {
    let reading = cuecard_tool_call::format::read(&SourceFile::new("scenario.json", text));
    assert_read_or_refused(reading.scenario.as_ref(), &reading.diagnostics);
    if let (Some(converted), true) = (&reading.converted, reading.scenario.is_some()) {
        let again =
            cuecard_tool_call::format::read(&SourceFile::new("converted.json", converted.as_str()));
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
        let reading = cuecard_judge::test_case::read(&SourceFile::new(name, text));
        assert_read_or_refused(reading.case.as_ref(), &reading.diagnostics);
    }
}

/// A browser script, in YAML or JSON, is read or refused, and its references can be checked.
///
/// # Panics
/// See [`tool_call`].
pub fn browser(text: &str) {
    for name in ["login.yaml", "login.json"] {
        let reading = cuecard_browser_steps::format::read(&SourceFile::new(name, text));
        assert_read_or_refused(reading.scenario.as_ref(), &reading.diagnostics);
        if let Some(scenario) = &reading.scenario {
            let declared = cuecard_browser_steps::format::Declared::of_scenario(scenario);
            assert_can_be_shown(&declared.check(&scenario.source, &[], true));
            cuecard_browser_steps::format::effects(scenario);
        }
    }
}

/// A file of steps is read or refused; what is read is written and read back the same, and becomes scenarios that can be
/// read, and a test.
///
/// # Panics
/// See [`tool_call`].
pub fn steps(text: &str) {
    for name in ["steps.yaml", "steps.json"] {
        let reading = cuecard_browser_steps::format::read_steps(&SourceFile::new(name, text));
        assert_read_or_refused(reading.steps.as_ref(), &reading.diagnostics);
        if let Some(steps) = &reading.steps {
            let written = SourceFile::new("again.json", steps.to_text());
            let again = cuecard_browser_steps::format::read_steps(&written);
            assert_eq!(again.steps.as_ref(), Some(steps), "{:?}", again.diagnostics);
            for server in [ToolCallServer::ChromeDevtools, ToolCallServer::Playwright] {
                let exported = to_tool_call(steps, &written, server);
                assert_can_be_shown(&exported.warnings);
                let scenario = SourceFile::new("scenario.json", exported.text);
                let reading = cuecard_tool_call::format::read(&scenario);
                assert!(reading.scenario.is_some(), "{:?}", reading.diagnostics);
            }
            to_playwright(steps, &written);
        }
    }
}

/// A patch for steps is read or refused; what is read is written and read back, and changes nothing but what elements
/// are known by.
///
/// # Panics
/// See [`tool_call`].
pub fn heal(text: &str) {
    let patch =
        match cuecard_browser_steps::format::read_heal(&SourceFile::new("steps.heal.json", text)) {
            Ok(patch) => patch,
            Err(errors) => return assert_read_or_refused(None::<&()>, &errors),
        };
    let written = SourceFile::new("again.heal.json", patch.to_text());
    let again = cuecard_browser_steps::format::read_heal(&written).expect("what was written");
    // Numbers may lose their last digit on the way.
    assert_eq!(
        (&again.base, again.patch.len()),
        (&patch.base, patch.patch.len())
    );
    for operation in patch.patch.iter() {
        assert!(
            operation.path().as_str().starts_with("/testSteps/"),
            "{operation:?}"
        );
    }
}

/// The capture of a page is decoded or refused. What is decoded can be printed, each of its elements has selectors
/// that name it alone.
///
/// # Panics
/// See [`tool_call`].
pub fn capture(text: &str) {
    let mut processor = DomProcessor::new("data-testid", Redactor::default());
    let Ok(state) = processor.read(text) else {
        return;
    };
    let finder = Finder::new(&state, "data-testid");
    if let Ok(page) = finder.text_for_model(&TextOptions::default()) {
        assert!(page.text.ends_with('\n'), "{:?}", page.text);
    }
    for (id, element) in state.elements().take(20) {
        let is_alone = element.scope.is_empty();
        let known = finder.identify(id, None).expect("an element");
        for selector in known.selectors {
            let read = selector.to_string().parse::<Selector>();
            assert!(
                read.is_ok() || element.xpath.contains(" >> "),
                "{selector}: {read:?}"
            );
            // Only a broken capture has two elements at one address.
            if is_alone && !selector.to_string().contains("xpath=") {
                assert_eq!(finder.one(&selector), Some(id), "{selector}");
            }
        }
    }
}

/// A sentence is read or refused, and a selector too.
///
/// # Panics
/// See [`tool_call`].
pub fn sentence(text: &str) {
    understand(text);
    if let Ok(selector) = text.parse::<Selector>() {
        assert_eq!(selector.to_string().parse(), Ok(selector));
    }
}

/// A cassette is read or refused, and what is said about it can be shown.
///
/// # Panics
/// See [`tool_call`].
pub fn cassette(text: &str) {
    assert_can_be_shown(&Cassette::check(&SourceFile::new("cassette.jsonl", text)));
}

/// A cassette of MCP servers is read or refused, and what was read is the same when it is written and read again.
///
/// # Panics
/// See [`tool_call`].
pub fn mcp_cassette(text: &str) {
    let read = |text: &str| McpCassette::read(&SourceFile::new("x.cassette.jsonl", text));
    let (cassette, findings) = read(text);
    assert_read_or_refused(cassette.as_ref(), &findings);
    let Some(recording) = cassette.map(|cassette| cassette.recording()) else {
        return;
    };
    let written = recording.to_cassette().concat();
    let (again, findings) = read(&written);
    let again = again.map(|cassette| cassette.recording());
    assert_eq!(again, Some(recording), "{written} {findings:?}");
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
