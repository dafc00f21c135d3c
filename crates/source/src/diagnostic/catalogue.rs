//! The one table of codes. `cuecard explain CODE` shows a code's page; a code is never reused.
//!
//! `C-` tool-call scenarios, `T-` timelines, `B-` browser, `J-` test cases, `X-` everything else.

use std::fmt;

/// A code of the catalogue, for example `C-REF-02`: its place in the table. A reference to the entry would bring a copy of
/// the whole table into each crate that has one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u16);

struct Entry {
    name: &'static str,
    title: &'static str,
    page: &'static str,
}

impl Code {
    fn entry(self) -> &'static Entry {
        &ENTRIES[usize::from(self.0)]
    }

    /// The code as it is written.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What it is about, in a few words.
    pub fn title(self) -> &'static str {
        self.entry().title
    }

    /// The page in Markdown: what it means, an example that causes it, and the correction.
    pub fn page(self) -> &'static str {
        self.entry().page
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Every code, in order of their names.
pub fn catalogue() -> impl Iterator<Item = Code> {
    (0..).map(Code).take(ENTRIES.len())
}

/// The code called `name`, in any case.
pub fn find_code(name: &str) -> Option<Code> {
    catalogue().find(|code| code.name().eq_ignore_ascii_case(name))
}

macro_rules! catalogue {
    ($($constant:ident = $name:literal, $title:literal;)*) => {
        static ENTRIES: &[Entry] = &[$(
            Entry { name: $name, title: $title, page: include_str!(concat!("pages/", $name, ".md")) },
        )*];

        /// A constant for each code.
        #[allow(missing_docs, reason = "each constant's meaning is its title in the table")]
        pub mod codes {
            use super::Code;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "only used to number the rows")]
            enum Row { $($constant),* }
            $(pub const $constant: Code = Code(Row::$constant as u16);)*
        }
    };
}

catalogue! {
    BROWSER_ACTION_COMMENT = "B-action_comment", "a comment truncates an action";
    BROWSER_ACTION_EMPTY = "B-action_empty", "an action is empty";
    BROWSER_ACTION_NOT_STRING = "B-action_not_string", "an action is not a string";
    BROWSER_ACTIONS_EMPTY = "B-actions_empty", "the actions of a browser script are empty";
    BROWSER_ACTIONS_MISSING = "B-actions_missing", "a browser script has no actions";
    BROWSER_AMBIGUOUS = "B-ambiguous_action", "more than one element matches";
    BROWSER_ASSERTION = "B-assertion_failed", "an assertion failed";
    BROWSER_LOST = "B-browser_lost", "the connection to the browser was lost";
    BROWSER_CASSETTE_INVALID = "B-cassette_invalid", "invalid cassette";
    BROWSER_CASSETTE = "B-cassette_miss", "no recorded reply for this prompt";
    BROWSER_COMPOUND = "B-compound_action", "a sentence contains more than one action";
    BROWSER_DIALOG = "B-dialog_blocked", "a dialog blocked an action";
    BROWSER_COVERED = "B-element_covered", "an element is covered by another element";
    BROWSER_DISABLED = "B-element_disabled", "an element is disabled";
    BROWSER_NOT_FOUND = "B-element_not_found", "element not found";
    BROWSER_EXPORT = "B-export_incomplete", "a step can't be exported completely";
    BROWSER_LEFT_OUT = "B-export_left_out", "a step can't be exported";
    BROWSER_FILE = "B-file_refused", "a file can't be uploaded";
    BROWSER_HEAL = "B-heal_refused", "a healing patch can't be applied";
    BROWSER_HOST = "B-host_refused", "an address is not allowed";
    BROWSER_TOO_LARGE = "B-input_too_large", "a browser script is too large";
    BROWSER_MODEL = "B-model_unavailable", "the model can't be reached";
    BROWSER_NAVIGATION = "B-navigation_failed", "navigation failed";
    BROWSER_NOT_EDITABLE = "B-not_editable", "an element is not editable";
    BROWSER_NOT_UNDERSTOOD = "B-not_understood", "a sentence is not understood";
    BROWSER_OPTION = "B-option_invalid", "invalid option in a browser script";
    BROWSER_CHOICE = "B-option_not_found", "option not found in a select";
    BROWSER_CRASHED = "B-page_crashed", "the page crashed";
    BROWSER_PAGE_TOO_LARGE = "B-page_too_large", "a page is too large";
    BROWSER_PASSWORD = "B-password_literal", "a sentence contains a password";
    BROWSER_NOT_OBJECT = "B-scenario_not_object", "a browser script is not an object";
    BROWSER_SECRET = "B-secret_literal", "the value of a secret is in the file";
    BROWSER_STEPS = "B-steps_invalid", "invalid steps file";
    BROWSER_TIMEOUT = "B-timeout", "an action on a page timed out";
    BROWSER_TRANSLATION = "B-translation_invalid", "a model's reply can't be used";
    BROWSER_UNKNOWN_KEY = "B-unknown_key", "unknown key in a browser script";
    BROWSER_URL_INVALID = "B-url_invalid", "invalid URL in a browser script";
    BROWSER_URL_MISSING = "B-url_missing", "a browser script has no URL";
    BROWSER_URL_SCHEME = "B-url_scheme", "unsupported URL scheme in a browser script";
    BROWSER_VALUE = "B-value_rejected", "a field rejected the typed value";
    BROWSER_VARIABLE = "B-variable_missing", "undefined variable in a browser script";
    BROWSER_TARGET = "B-wrong_target", "an element is not as it was recorded";
    ANSWER_INVALID = "C-ANSWER-01", "invalid answer";
    ANSWER_NONE = "C-ANSWER-02", "no answer for a server's question";
    ANSWER_UNFIT = "C-ANSWER-03", "an answer does not match the form";
    ANSWER_UNUSED = "C-ANSWER-04", "an answer was never used";
    CONDITION_SYNTAX = "C-COND-01", "invalid condition";
    CONDITION_BARE_WORD = "C-COND-02", "an unquoted word in a condition is read as text";
    CONDITION_FAILED = "C-COND-03", "a condition can't be evaluated";
    ENVIRONMENT_SERVER = "C-ENV-01", "the server of the recording is not configured";
    EXIT_UNREAD = "C-EXIT-01", "the exit code of a command is not read";
    LEFT_RUNNING = "C-EXIT-02", "a command leaves a process running, which is killed";
    EXPECT_INVALID = "C-EXPECT-01", "invalid expectation";
    EXPECT_FAILED = "C-EXPECT-02", "a result does not match the expectation";
    FIELD_MISSING = "C-FIELD-01", "a required field is missing";
    FIELD_TYPE = "C-FIELD-02", "a field has the wrong type";
    FIELD_UNKNOWN = "C-FIELD-03", "unknown key";
    FIELD_VALUE = "C-FIELD-04", "invalid value for a field";
    ID_DUPLICATE = "C-ID-01", "duplicate step id";
    ID_INVALID = "C-ID-02", "invalid id or name";
    ID_MISSING = "C-ID-03", "outputs without a step id";
    JSON_SYNTAX = "C-JSON-01", "invalid JSON";
    JSON_DUPLICATE = "C-JSON-02", "duplicate key in an object";
    JSON_NUMBER = "C-JSON-03", "an integer with more than 64 bits";
    JSON_SURROGATE = "C-JSON-04", "half of a surrogate pair";
    JSON_ROUNDED = "C-JSON-05", "a number with more digits than are kept";
    QUESTIONS_OPEN = "C-OPEN-01", "questions of a recording are open";
    OUTPUT_NO_MATCH = "C-OUT-01", "an output matched nothing";
    OUTPUT_UNUSED = "C-OUT-02", "an output is never used";
    PARAM_MISSING = "C-PARAM-01", "missing tool parameter";
    PARAM_TYPE = "C-PARAM-02", "a tool parameter has the wrong type";
    PARAM_UNKNOWN = "C-PARAM-03", "unknown tool parameter";
    PARAM_CONVERTED = "C-PARAM-04", "a value was converted to the type that the tool expects";
    PATH_SYNTAX = "C-PATH-01", "invalid JSONPath";
    REFERENCE_SYNTAX = "C-REF-01", "invalid reference syntax";
    REFERENCE_UNKNOWN = "C-REF-02", "undefined reference";
    REFERENCE_LATER = "C-REF-03", "a reference to a step that runs later";
    REFERENCE_LEFT_OUT = "C-REF-04", "a reference to a step outside the played range";
    REFERENCE_ABSENT = "C-REF-05", "a reference has no value";
    REFERENCE_LITERAL = "C-REF-06", "double braces that are not a reference";
    REFERENCE_MISPLACED = "C-REF-07", "a reference where none is allowed";
    RESUME_CHANGED = "C-RESUME-01", "the scenario changed since the run";
    RESUME_UNKNOWN = "C-RESUME-02", "a step may have had its effect";
    RESUME_VALUE = "C-RESUME-03", "a value of the resumed run is unknown";
    RESUME_REFUSED = "C-RESUME-04", "a run can't be resumed";
    RETRY_UNUSED = "C-RETRY-01", "`retry` has no effect";
    RUN_TOOL_ERROR = "C-RUN-01", "the tool reported an error";
    RUN_CALL_FAILED = "C-RUN-02", "a call failed";
    RUN_TIMEOUT = "C-RUN-03", "a call timed out";
    RUN_SERVER_START = "C-RUN-04", "a server failed to start";
    RUN_NOTHING = "C-RUN-05", "no step passed";
    SAFETY_PATH = "C-SAFE-01", "a path is not allowed";
    SAFETY_COMMAND = "C-SAFE-02", "a command is not allowed";
    SAFETY_DATA = "C-SAFE-03", "data would be executed as code";
    SAFETY_HOST = "C-SAFE-04", "a host is not allowed";
    SAFETY_TOOL = "C-SAFE-05", "a tool is not allowed";
    STEP_DUPLICATE = "C-STEP-01", "duplicate step number";
    STEP_ORDER = "C-STEP-02", "steps are out of order";
    STEP_NONE = "C-STEP-03", "a scenario has no steps";
    STEP_RANGE = "C-STEP-04", "no step is in the range";
    TARGET_INVALID = "C-TARGET-01", "invalid target";
    TARGET_NOT_ONE = "C-TARGET-02", "a target does not match exactly one element";
    TIME_MILLISECONDS = "C-TIME-01", "a very long time, possibly meant as milliseconds";
    TOOL_NAME = "C-TOOL-01", "invalid tool name";
    TOOL_UNKNOWN = "C-TOOL-02", "unknown tool";
    TOOL_SERVER = "C-TOOL-03", "unknown server";
    TOOL_LIST = "C-TOOL-04", "a tool list that repeats a cursor";
    UID_LITERAL = "C-UID-01", "an element id is valid for one snapshot only";
    COORDINATES = "C-UID-02", "coordinates break when the page changes";
    VARIABLE_MISSING = "C-VAR-01", "a required variable has no value";
    VARIABLE_UNKNOWN = "C-VAR-02", "unknown variable";
    VERSION = "C-VER-01", "missing or unsupported version";
    VERSION_LEGACY = "C-VER-02", "version 1.x is converted before it is played";
    ACTION_UNKNOWN = "C-VER-03", "unknown action in version 1.x";
    ASSERT_TYPE = "J-ASSERT-01", "unknown assertion type";
    ASSERT_PARAMS = "J-ASSERT-02", "invalid assertion parameters";
    ASSERT_PATTERN = "J-ASSERT-03", "invalid pattern, path or schema";
    ASSERT_NEVER = "J-ASSERT-04", "a selector that never matches";
    BUNDLE_JSON = "J-BUNDLE-01", "a replay bundle is not valid JSON";
    BUNDLE_VERSION = "J-BUNDLE-02", "unsupported replay bundle version";
    BUNDLE_MISSING = "J-BUNDLE-03", "missing field in a replay bundle";
    BUNDLE_VALUE = "J-BUNDLE-04", "invalid value in a replay bundle";
    BUNDLE_STEP = "J-BUNDLE-05", "unknown step type in a replay bundle";
    BUNDLE_CALL = "J-BUNDLE-06", "a result or error without its call";
    BUNDLE_OUTPUT = "J-BUNDLE-07", "a successful run has no final output";
    BUNDLE_SCHEDULER = "J-BUNDLE-08", "a scheduled run has no scheduler context";
    BUNDLE_FIXTURE = "J-BUNDLE-09", "undefined fixture";
    BUNDLE_EVENT_ID = "J-BUNDLE-10", "duplicate event id";
    BUNDLE_UNKNOWN = "J-BUNDLE-11", "unknown key in a replay bundle";
    BUNDLE_DOUBT = "J-BUNDLE-12", "inconsistent replay bundle";
    CASE_FIELD_MISSING = "J-CASE-01", "missing field in a test case";
    CASE_FIELD_TYPE = "J-CASE-02", "a test case field has the wrong type";
    CASE_FIELD_UNKNOWN = "J-CASE-03", "unknown key in a test case";
    CASE_FIELD_VALUE = "J-CASE-04", "invalid value in a test case";
    CASE_VERSION = "J-CASE-05", "unsupported test case version";
    CASE_DUPLICATE = "J-CASE-06", "duplicate id";
    CASE_EMPTY = "J-CASE-07", "a test case has no assertions";
    CASE_INPUT = "J-CASE-08", "ambiguous trace source";
    IMPORT_UNREADABLE = "J-IMPORT-01", "a recorded run can't be read";
    IMPORT_LEFT_OUT = "J-IMPORT-02", "parts of a recorded run were skipped";
    TEST_RUN = "J-RUN-01", "a test produced no run to check";
    TEST_TIMEOUT = "J-RUN-02", "a test timed out";
    TEST_PANIC = "J-RUN-03", "internal error in a test";
    TEST_NONE = "J-SUITE-01", "no tests found";
    TEST_DUPLICATE = "J-SUITE-02", "duplicate test id";
    TEST_SCORE = "J-SUITE-03", "the mutation score is too low";
    TRACE_UNREADABLE = "J-TRACE-01", "a trace can't be read";
    TRACE_UNFINISHED = "J-TRACE-02", "an incomplete trace: the run ended abnormally";
    YAML_SYNTAX = "J-YAML-01", "invalid YAML";
    YAML_DUPLICATE = "J-YAML-02", "duplicate key in a mapping";
    YAML_NOT_JSON = "J-YAML-03", "a YAML feature that JSON does not have";
    YAML_ALIAS = "J-YAML-04", "an alias can't be resolved";
    YAML_DOUBT = "J-YAML-05", "a string that other YAML parsers read differently";
    TIMELINE_ACP_NO_BOUNDARY = "T-ACP-01", "missing `sessionStart` in a loadable session";
    TIMELINE_ACP_HISTORY = "T-ACP-02", "history in a session that can't be loaded";
    TIMELINE_ACP_BOUNDARIES = "T-ACP-03", "more than one `sessionStart`";
    TIMELINE_ACP_UNSTABLE = "T-ACP-04", "`setModel` is unstable";
    TIMELINE_ACP_BLOCK = "T-ACP-05", "a prompt contains a block that the agent does not support";
    TIMELINE_ACP_TRANSPORT = "T-ACP-06", "unsupported MCP transport";
    TIMELINE_ACP_SSE = "T-ACP-07", "the SSE transport is deprecated";
    TIMELINE_ACP_SERVER = "T-ACP-08", "invalid MCP server";
    TIMELINE_ACP_PERMISSION = "T-ACP-09", "invalid permission request";
    TIMELINE_ACP_STOP_REASON = "T-ACP-10", "unknown stop reason";
    TIMELINE_ACP_CONTRADICTION = "T-ACP-11", "contradictory settings";
    TIMELINE_ACP_PATH = "T-ACP-12", "expected an absolute path";
    TIMELINE_ACP_NOTIFY = "T-ACP-13", "an extension method without a leading underscore";
    TIMELINE_ACP_CALL_IN_HISTORY = "T-ACP-14", "a client call in the history";
    TIMELINE_ACP_KIND = "T-ACP-15", "unknown tool call kind";
    ACP_UNEXPECTED = "T-ACP-20", "an unscripted message or action";
    ACP_CAPABILITIES = "T-ACP-21", "a capability is missing";
    ACP_MISSING = "T-ACP-22", "an expected call or message is missing";
    ACP_PERMISSION = "T-ACP-23", "a different permission decision";
    ACP_CONTENT = "T-ACP-24", "content differs from the timeline";
    TIMELINE_ACP_NO_INPUT = "T-ACP-25", "agent events before any user input";
    TIMELINE_ASSERT_UNKNOWN = "T-ASRT-01", "unknown key in an assert";
    TIMELINE_ASSERT_NOTHING = "T-ASRT-02", "an assert is empty";
    MODEL_ASSERT_UNJUDGED = "T-ASRT-03", "an assert can't be evaluated";
    MODEL_ASSERT_FAILED = "T-ASRT-10", "an assert failed";
    TIMELINE_BLOCK_VALUE = "T-BLOCK-01", "empty text, or an unsupported media type";
    TIMELINE_MEDIA = "T-BLOCK-02", "missing or invalid media data";
    TIMELINE_RESOURCE = "T-BLOCK-03", "incomplete resource";
    TIMELINE_DIFF = "T-BLOCK-04", "incomplete diff";
    TIMELINE_PRIORITY = "T-BLOCK-05", "a priority outside the range 0 to 1";
    TIMELINE_PLAN = "T-BLOCK-06", "invalid plan";
    EXPECTATION_FAILED = "T-EXP-01", "the final expectation was not met";
    FAULT_NEVER = "T-FAULT-01", "a fault was never triggered";
    MODEL_OTHER_API = "T-LLM-01", "requests use a different API than the timeline specifies";
    MODEL_MISS = "T-LLM-02", "an unexpected request";
    MODEL_CALL_INVALID = "T-LLM-03", "a scripted call does not match the advertised tools";
    MODEL_EDIT_COUNTS = "T-LLM-04", "an edit with only line counts makes no call";
    MODEL_RESULT_DIFFERS = "T-LLM-05", "a tool result differs from the script";
    TIMELINE_ERROR_STATUS = "T-LLM-06", "an error with an invalid status or count";
    MODEL_UNPLAYED = "T-LLM-07", "turns were not played";
    MODEL_BLOCK_AS_TEXT = "T-LLM-08", "a block is sent as text";
    MODEL_UNALIGNED = "T-LLM-09", "a history that does not match the script";
    MODEL_EMPTY_SEGMENT = "T-LLM-10", "a user input without a response";
    MODEL_UNSERVED = "T-LLM-11", "an unsupported request";
    TIMELINE_YAML = "T-LOAD-01", "invalid YAML";
    TIMELINE_FOREIGN = "T-LOAD-02", "a file in another format";
    TIMELINE_NAME = "T-LOAD-03", "a timeline has no name";
    TIMELINE_SAME_NAME = "T-LOAD-04", "duplicate timeline name";
    TIMELINE_UNKNOWN = "T-LOAD-05", "unknown key in a timeline";
    TIMELINE_EVENT = "T-LOAD-06", "unknown event";
    TIMELINE_TWO_EVENTS = "T-LOAD-07", "one item has two events";
    TIMELINE_SHAPE = "T-LOAD-08", "invalid value";
    TIMELINE_MARKER_OFF = "T-LOAD-09", "a disabled event";
    TIMELINE_LEGACY_EVENT = "T-LOAD-10", "an event in an older form";
    TIMELINE_INLINE_TOOL = "T-LOAD-11", "a call inside a response";
    TIMELINE_KEY_ALIAS = "T-LOAD-12", "a deprecated key";
    TIMELINE_TOOL_ALIAS = "T-LOAD-13", "an alias of a tool or an argument";
    TIMELINE_MISPLACED = "T-LOAD-14", "a key in the wrong place";
    TIMELINE_VALUE_ALIAS = "T-LOAD-15", "a deprecated value";
    TIMELINE_FORM = "T-LOAD-16", "a list, mapping or string in place of another type";
    TIMELINE_YAML_LIMIT = "T-LOAD-17", "duplicate key, or an alias that can't be resolved";
    TIMELINE_PATH = "T-LOAD-18", "invalid path";
    TIMELINE_META = "T-LOAD-19", "`_meta` is not a mapping";
    TIMELINE_NONE = "T-LOAD-20", "no timelines found";
    TIMELINE_REST_LATE = "T-REST-01", "an event after a final status";
    TIMELINE_REST_NO_END = "T-REST-02", "a timeline without a final status";
    TIMELINE_REST_PROMPT = "T-REST-03", "a prompt that is not the scripted one";
    TIMELINE_RULE_SHAPE = "T-RULE-01", "incomplete rule";
    TIMELINE_CONDITION = "T-RULE-02", "invalid condition";
    TIMELINE_RULE_TYPES = "T-RULE-03", "a symbol is compared with a value of another type";
    TIMELINE_RULE_MIXED = "T-RULE-04", "a list is merged with a mapping";
    TIMELINE_SYMBOL_NAME = "T-RULE-05", "invalid symbol name";
    TIMELINE_RULE_FALSE_SYMBOL = "T-RULE-06", "a symbol with the value false is still defined";
    TIMELINE_RULE_BRANCH = "T-RULE-07", "an error in a rule that does not apply";
    TIMELINE_RULE_NEVER = "T-RULE-08", "a rule that never applies";
    SELECT_UNKNOWN = "T-SEL-01", "unknown timeline name or session id";
    SELECT_FAR = "T-SEL-02", "no timeline matches the prompt";
    SELECT_DOUBT = "T-SEL-03", "a timeline that is not selected by its prompt";
    SELECT_SAME = "T-SEL-04", "two timelines have the same prompt";
    TIMELINE_TERMINAL = "T-TERM-01", "invalid terminal config";
    TIMELINE_KEY_TOKEN = "T-TERM-02", "unknown key token";
    TERMINAL_GOLDEN = "T-TERM-03", "a screen differs from the expected one";
    TERMINAL_LABEL = "T-TERM-04", "two screenshots have the same file";
    TOOL_RESULT_DIFFERS = "T-TERM-05", "a tool's result differs from the scripted one";
    TERMINAL_EDIT_DIFFERS = "T-TERM-06", "an edit's line counts differ from the timeline";
    TERMINAL_PATCH = "T-TERM-07", "a patch or a checkpoint command failed";
    TERMINAL_GOLDEN_MISSING = "T-TERM-08", "no expected screen";
    TERMINAL_NO_CONTROL = "T-TERM-09", "no connection between the run and the agent";
    TERMINAL_INPUT = "T-TERM-10", "unexpected input";
    TERMINAL_ENDED = "T-TERM-11", "the program under test ended early";
    TERMINAL_START = "T-TERM-12", "the program under test can't be started";
    TERMINAL_TIMEOUT = "T-TERM-13", "a run takes too long";
    TERMINAL_COMMAND = "T-TERM-14", "a command of the user failed";
    TERMINAL_STUCK = "T-TERM-15", "a real agent is stuck";
    TERMINAL_KILLED = "T-TERM-16", "a program that had to be killed";
    TIMELINE_TIME_BEFORE = "T-TIME-01", "a time before the previous event";
    TIMELINE_TIME_DECREASING = "T-TIME-02", "a decreasing time in a tool execution";
    TIMELINE_TIME_BASE = "T-TIME-03", "the base moves to a time in the past";
    TIMELINE_TIME = "T-TIME-04", "invalid time";
    TIMELINE_TIME_PROMPT = "T-TIME-05", "a prompt is due during the previous turn";
    TIMELINE_TOOL_ARGUMENTS = "T-TOOL-01", "missing or unknown argument";
    TOOL_PROFILE_DIFFERS = "T-TOOL-02", "a different agent than specified";
    TOOL_ARGUMENT_DROPPED = "T-TOOL-03", "an argument that the agent's tool does not have";
    TOOL_UNMAPPED = "T-TOOL-04", "a call of a tool that the agent does not have";
    TOOL_NOT_IN_PROFILE = "T-TOOL-05", "the profile has no entry for a tool";
    TOOL_SIMULATED = "T-TOOL-06", "a tool that is not really run";
    ARGUMENT = "X-ARG-01", "invalid argument";
    BROWSER_UNAVAILABLE = "X-BROWSER-01", "no usable browser";
    CASSETTE_INVALID = "X-CAS-01", "invalid cassette of an MCP server";
    CASSETTE_KEY = "X-CAS-02", "unknown key in a cassette";
    CASSETTE_MISS = "X-CAS-03", "a call that is not in the cassette";
    CASSETTE_UNUSED = "X-CAS-04", "unused records in a cassette";
    CASSETTE_DRIFT = "X-CAS-05", "a server's results differ from the recording";
    CONFIG_NOT_FOUND = "X-CFG-01", "config not found";
    CONFIG_INVALID = "X-CFG-02", "invalid config file";
    CONFIG_VARIABLE = "X-CFG-03", "a config refers to a variable that is not set";
    FILE_KIND = "X-FILE-01", "wrong kind of file";
    FINDINGS_HIDDEN = "X-FIND-01", "more findings than are shown";
    FILE_READ = "X-IO-01", "a file can't be read";
    FILE_WRITE = "X-IO-02", "a file can't be written";
    SERVER_BOUND = "X-LIMIT-01", "a server reached one of its limits";
    RECORD_LEFT_OUT = "X-REC-01", "an exchange is not recorded";
    RECORD_DIFFERS = "X-REC-02", "a recording may replay differently";
    REQUEST_REFUSED = "X-REQ-01", "a request was rejected without being processed";
    INTERRUPTED = "X-RUN-01", "the run was interrupted";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_sorted_within_their_letter_and_have_pages() {
        let names: Vec<_> = catalogue().map(Code::name).collect();
        let mut unique = names.clone();
        unique.dedup();
        assert_eq!(unique, names);
        for code in catalogue() {
            let heading = format!("# {}: {}\n", code.name(), code.title());
            assert!(
                code.page().starts_with(&heading),
                "the page of {code} must start with {heading:?}"
            );
            assert!(
                code.page().len() > heading.len() + 80,
                "the page of {code} says nothing"
            );
        }
    }

    #[test]
    fn codes_are_found_in_any_case() {
        assert_eq!(find_code("c-ref-02"), Some(codes::REFERENCE_UNKNOWN));
        assert_eq!(find_code("C-NOPE-99"), None);
    }
}
