//! The one table of codes. `cuecard explain CODE` shows a code's page; a code is never reused.
//!
//! `C-` tool-call scenarios, `T-` timelines, `B-` browser, `J-` test cases, `X-` everything else.

use std::fmt;

/// A code of the catalogue, for example `C-REF-02`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static Entry);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Entry {
    name: &'static str,
    title: &'static str,
    page: &'static str,
}

impl Code {
    /// The code as it is written.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is about, in a few words.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// The page in Markdown: what it means, an example that causes it, and the correction.
    pub fn page(self) -> &'static str {
        self.0.page
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name)
    }
}

/// Every code, in order of their names.
pub fn catalogue() -> impl Iterator<Item = Code> {
    ENTRIES.iter().map(Code)
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
            use super::{Code, ENTRIES};
            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "only used to number the rows")]
            enum Row { $($constant),* }
            $(pub const $constant: Code = Code(&ENTRIES[Row::$constant as usize]);)*
        }
    };
}

catalogue! {
    BROWSER_ACTION_COMMENT = "B-action_comment", "a comment cuts an action short";
    BROWSER_ACTION_EMPTY = "B-action_empty", "an action is empty";
    BROWSER_ACTION_NOT_STRING = "B-action_not_string", "an action is not a sentence";
    BROWSER_ACTIONS_EMPTY = "B-actions_empty", "the actions of a browser scenario are empty";
    BROWSER_ACTIONS_MISSING = "B-actions_missing", "a browser scenario has no actions";
    BROWSER_AMBIGUOUS = "B-ambiguous_action", "more than one element could be meant";
    BROWSER_ASSERTION = "B-assertion_failed", "what a sentence asserts does not hold";
    BROWSER_LOST = "B-browser_lost", "the browser is gone";
    BROWSER_CASSETTE_INVALID = "B-cassette_invalid", "a cassette can't be read";
    BROWSER_CASSETTE = "B-cassette_miss", "nothing is recorded for this prompt";
    BROWSER_COMPOUND = "B-compound_action", "a sentence asks for more than one thing";
    BROWSER_DIALOG = "B-dialog_blocked", "a dialog kept an action from ending";
    BROWSER_COVERED = "B-element_covered", "something lies over an element";
    BROWSER_DISABLED = "B-element_disabled", "an element is disabled";
    BROWSER_NOT_FOUND = "B-element_not_found", "no element is meant";
    BROWSER_EXPORT = "B-export_incomplete", "an export can't say all of a step";
    BROWSER_LEFT_OUT = "B-export_left_out", "an export has nothing for a step";
    BROWSER_FILE = "B-file_refused", "a file can't be uploaded";
    BROWSER_HEAL = "B-heal_refused", "a patch can't heal these steps";
    BROWSER_HOST = "B-host_refused", "an address is not allowed";
    BROWSER_TOO_LARGE = "B-input_too_large", "a browser scenario is larger than is read";
    BROWSER_MODEL = "B-model_unavailable", "the model can't be reached";
    BROWSER_NAVIGATION = "B-navigation_failed", "a page could not be opened";
    BROWSER_NOT_EDITABLE = "B-not_editable", "a field can't be written to";
    BROWSER_NOT_UNDERSTOOD = "B-not_understood", "a sentence is not understood";
    BROWSER_OPTION = "B-option_invalid", "an option of a browser scenario can't be used";
    BROWSER_CHOICE = "B-option_not_found", "a select has no such option";
    BROWSER_CRASHED = "B-page_crashed", "the page crashed";
    BROWSER_PAGE_TOO_LARGE = "B-page_too_large", "a page is larger than is read";
    BROWSER_PASSWORD = "B-password_literal", "a password stands in a sentence";
    BROWSER_NOT_OBJECT = "B-scenario_not_object", "a browser scenario is not an object";
    BROWSER_SECRET = "B-secret_literal", "a secret has its value in the file";
    BROWSER_STEPS = "B-steps_invalid", "a file of steps can't be read";
    BROWSER_TIMEOUT = "B-timeout", "an action on a page took too long";
    BROWSER_TRANSLATION = "B-translation_invalid", "a model's answer can't be used";
    BROWSER_UNKNOWN_KEY = "B-unknown_key", "nothing reads this key of a browser scenario";
    BROWSER_URL_INVALID = "B-url_invalid", "the URL of a browser scenario is none";
    BROWSER_URL_MISSING = "B-url_missing", "a browser scenario has no URL";
    BROWSER_URL_SCHEME = "B-url_scheme", "a browser scenario begins at a scheme that is not opened";
    BROWSER_VALUE = "B-value_rejected", "a field did not keep what was typed";
    BROWSER_VARIABLE = "B-variable_missing", "a browser scenario refers to what has no value";
    BROWSER_TARGET = "B-wrong_target", "a selector leads to another element";
    ANSWER_INVALID = "C-ANSWER-01", "an answer can't be read";
    ANSWER_NONE = "C-ANSWER-02", "a server asked what nothing answers";
    ANSWER_UNFIT = "C-ANSWER-03", "an answer does not fit the question";
    ANSWER_UNUSED = "C-ANSWER-04", "an answer was never asked for";
    CONDITION_SYNTAX = "C-COND-01", "a condition can't be read";
    CONDITION_BARE_WORD = "C-COND-02", "a bare word in a condition is read as text";
    CONDITION_FAILED = "C-COND-03", "a condition can't be decided";
    ENVIRONMENT_SERVER = "C-ENV-01", "the recording's server is not in the config";
    EXPECT_INVALID = "C-EXPECT-01", "an expectation can't be read";
    EXPECT_FAILED = "C-EXPECT-02", "a result is not what the step expects";
    FIELD_MISSING = "C-FIELD-01", "a required field is missing";
    FIELD_TYPE = "C-FIELD-02", "a field has the wrong type";
    FIELD_UNKNOWN = "C-FIELD-03", "nothing reads this key";
    FIELD_VALUE = "C-FIELD-04", "a field's value is not one of those allowed";
    FIELD_LATER = "C-FIELD-05", "a key this release doesn't play yet";
    ID_DUPLICATE = "C-ID-01", "two steps have the same id";
    ID_INVALID = "C-ID-02", "an id can't be referred to";
    ID_MISSING = "C-ID-03", "outputs without an id";
    JSON_SYNTAX = "C-JSON-01", "the file is not JSON";
    JSON_DUPLICATE = "C-JSON-02", "an object has the same key twice";
    JSON_NUMBER = "C-JSON-03", "a number can't be kept exactly";
    OUTPUT_NO_MATCH = "C-OUT-01", "an output matched nothing";
    OUTPUT_UNUSED = "C-OUT-02", "an output is never used";
    PARAM_MISSING = "C-PARAM-01", "a tool's parameter is missing";
    PARAM_TYPE = "C-PARAM-02", "a tool's parameter has the wrong type";
    PARAM_UNKNOWN = "C-PARAM-03", "the tool has no such parameter";
    PARAM_CONVERTED = "C-PARAM-04", "a text was converted to what the tool asks for";
    PATH_SYNTAX = "C-PATH-01", "a JSONPath can't be read";
    REFERENCE_SYNTAX = "C-REF-01", "a reference can't be read";
    REFERENCE_UNKNOWN = "C-REF-02", "a reference to something that doesn't exist";
    REFERENCE_LATER = "C-REF-03", "a reference to a step that has not run";
    REFERENCE_LEFT_OUT = "C-REF-04", "a reference to a step that is left out";
    REFERENCE_ABSENT = "C-REF-05", "a reference to a value that is not there";
    REFERENCE_LITERAL = "C-REF-06", "double braces that are no reference";
    RETRY_UNUSED = "C-RETRY-01", "a retry that never happens";
    RUN_TOOL_ERROR = "C-RUN-01", "the tool reported an error";
    RUN_CALL_FAILED = "C-RUN-02", "a call failed";
    RUN_TIMEOUT = "C-RUN-03", "a call took too long";
    RUN_SERVER_START = "C-RUN-04", "a server could not be started";
    RUN_NOTHING = "C-RUN-05", "no step ran";
    SAFETY_PATH = "C-SAFE-01", "a path is not allowed";
    SAFETY_COMMAND = "C-SAFE-02", "a command is not allowed";
    SAFETY_DATA = "C-SAFE-03", "data would become code";
    SAFETY_HOST = "C-SAFE-04", "a host is not allowed";
    STEP_DUPLICATE = "C-STEP-01", "two steps have the same number";
    STEP_ORDER = "C-STEP-02", "steps are not in the order of their numbers";
    STEP_NONE = "C-STEP-03", "a scenario without steps";
    STEP_RANGE = "C-STEP-04", "no step is in the range";
    TARGET_INVALID = "C-TARGET-01", "a target can't be used";
    TARGET_NOT_ONE = "C-TARGET-02", "no element, or several, fit a target";
    TIME_MILLISECONDS = "C-TIME-01", "a very long time, in milliseconds perhaps";
    TOOL_NAME = "C-TOOL-01", "not the name of a tool";
    TOOL_UNKNOWN = "C-TOOL-02", "no such tool";
    TOOL_SERVER = "C-TOOL-03", "no config defines this server";
    UID_LITERAL = "C-UID-01", "an element id is valid for one snapshot only";
    COORDINATES = "C-UID-02", "coordinates break when the page changes";
    VARIABLE_MISSING = "C-VAR-01", "a required variable has no value";
    VARIABLE_UNKNOWN = "C-VAR-02", "the scenario has no such variable";
    VERSION = "C-VER-01", "the version is missing or not one this release plays";
    VERSION_LEGACY = "C-VER-02", "version 1.x is played as its conversion";
    ACTION_UNKNOWN = "C-VER-03", "version 1.x has no such action";
    ASSERT_TYPE = "J-ASSERT-01", "there is no such assertion";
    ASSERT_PARAMS = "J-ASSERT-02", "an assertion's parameters make no sense";
    ASSERT_PATTERN = "J-ASSERT-03", "a pattern, path or schema can't be read";
    ASSERT_NEVER = "J-ASSERT-04", "a selector that never matches";
    BUNDLE_JSON = "J-BUNDLE-01", "a replay bundle is not JSON";
    BUNDLE_VERSION = "J-BUNDLE-02", "the version of a replay bundle is none this release reads";
    BUNDLE_MISSING = "J-BUNDLE-03", "a required field of a replay bundle is missing";
    BUNDLE_VALUE = "J-BUNDLE-04", "a value in a replay bundle is not what belongs there";
    BUNDLE_STEP = "J-BUNDLE-05", "a replay bundle has a step of an unknown type";
    BUNDLE_CALL = "J-BUNDLE-06", "a result or error without its call";
    BUNDLE_OUTPUT = "J-BUNDLE-07", "a run that succeeded has no final output";
    BUNDLE_SCHEDULER = "J-BUNDLE-08", "a run of the scheduler has no scheduler context";
    BUNDLE_FIXTURE = "J-BUNDLE-09", "a result refers to a fixture that does not exist";
    BUNDLE_EVENT_ID = "J-BUNDLE-10", "two steps have the same event id";
    BUNDLE_UNKNOWN = "J-BUNDLE-11", "nothing reads this key of a replay bundle";
    BUNDLE_DOUBT = "J-BUNDLE-12", "two parts of a replay bundle disagree";
    CASE_FIELD_MISSING = "J-CASE-01", "a test case lacks a field";
    CASE_FIELD_TYPE = "J-CASE-02", "a field of a test case has the wrong type";
    CASE_FIELD_UNKNOWN = "J-CASE-03", "nothing reads this key of a test case";
    CASE_FIELD_VALUE = "J-CASE-04", "a field of a test case has a value that can't be";
    CASE_VERSION = "J-CASE-05", "a test case of a version this release doesn't read";
    CASE_DUPLICATE = "J-CASE-06", "an id is there twice";
    CASE_EMPTY = "J-CASE-07", "a test case asserts nothing";
    CASE_INPUT = "J-CASE-08", "it is not clear where the trace comes from";
    IMPORT_UNREADABLE = "J-IMPORT-01", "a recorded run can't be read";
    IMPORT_LEFT_OUT = "J-IMPORT-02", "parts of a recorded run were left out";
    TEST_RUN = "J-RUN-01", "a test has no run to judge";
    TEST_TIMEOUT = "J-RUN-02", "a test took too long";
    TEST_PANIC = "J-RUN-03", "a test met a mistake of the program";
    TEST_NONE = "J-SUITE-01", "there are no tests";
    TEST_DUPLICATE = "J-SUITE-02", "two tests have the same id";
    TEST_SCORE = "J-SUITE-03", "the assertions notice too little";
    TRACE_UNREADABLE = "J-TRACE-01", "a trace can't be read";
    TRACE_UNFINISHED = "J-TRACE-02", "a trace has no end: the run died";
    YAML_SYNTAX = "J-YAML-01", "the file is not YAML";
    YAML_DUPLICATE = "J-YAML-02", "a mapping has the same key twice";
    YAML_NOT_JSON = "J-YAML-03", "something of YAML that JSON doesn't have";
    YAML_ALIAS = "J-YAML-04", "an alias can't be followed";
    YAML_DOUBT = "J-YAML-05", "a text that other readers of YAML take otherwise";
    TIMELINE_ACP_NO_BOUNDARY = "T-ACP-01", "sessions can be loaded, and nothing ends the history";
    TIMELINE_ACP_HISTORY = "T-ACP-02", "history without a way to load it";
    TIMELINE_ACP_BOUNDARIES = "T-ACP-03", "more than one `sessionStart`";
    TIMELINE_ACP_UNSTABLE = "T-ACP-04", "`setModel` is not stable yet";
    TIMELINE_ACP_BLOCK = "T-ACP-05", "a prompt holds what the agent doesn't take";
    TIMELINE_ACP_TRANSPORT = "T-ACP-06", "the agent does not reach servers so";
    TIMELINE_ACP_SSE = "T-ACP-07", "a server over SSE";
    TIMELINE_ACP_SERVER = "T-ACP-08", "an MCP server that can't be used";
    TIMELINE_ACP_PERMISSION = "T-ACP-09", "a request for permission that can't be decided";
    TIMELINE_ACP_STOP_REASON = "T-ACP-10", "a reason to stop that is not of the protocol";
    TIMELINE_ACP_CONTRADICTION = "T-ACP-11", "two parts contradict each other";
    TIMELINE_ACP_PATH = "T-ACP-12", "a path that must be absolute";
    TIMELINE_ACP_NOTIFY = "T-ACP-13", "an extension without underscore";
    TIMELINE_ACP_CALL_IN_HISTORY = "T-ACP-14", "a call of the client in the history";
    TIMELINE_ACP_KIND = "T-ACP-15", "a kind of call that is not of the protocol";
    TIMELINE_ASSERT_UNKNOWN = "T-ASRT-01", "an assert has a key that nothing reads";
    TIMELINE_ASSERT_NOTHING = "T-ASRT-02", "nothing to assert";
    MODEL_ASSERT_UNJUDGED = "T-ASRT-03", "an assert needs what is not there";
    MODEL_ASSERT_FAILED = "T-ASRT-10", "an assert failed";
    TIMELINE_BLOCK_VALUE = "T-BLOCK-01", "empty text, or a media type that can't be";
    TIMELINE_MEDIA = "T-BLOCK-02", "media without its bytes";
    TIMELINE_RESOURCE = "T-BLOCK-03", "a resource that is not complete";
    TIMELINE_DIFF = "T-BLOCK-04", "a diff that is not complete";
    TIMELINE_PRIORITY = "T-BLOCK-05", "a priority outside of 0 to 1";
    TIMELINE_PLAN = "T-BLOCK-06", "a plan that can't be shown";
    EXPECTATION_FAILED = "T-EXP-01", "what is expected in the end did not come about";
    FAULT_NEVER = "T-FAULT-01", "a fault that never happened";
    MODEL_OTHER_API = "T-LLM-01", "requests come by another API than the scenario names";
    MODEL_MISS = "T-LLM-02", "a request that the script does not expect";
    MODEL_CALL_INVALID = "T-LLM-03", "a scripted call does not fit the advertised tools";
    MODEL_EDIT_COUNTS = "T-LLM-04", "an edit with counts only makes no call";
    MODEL_RESULT_DIFFERS = "T-LLM-05", "a tool gave another result than the script has";
    TIMELINE_ERROR_STATUS = "T-LLM-06", "an error with a status or count that can't be";
    MODEL_UNPLAYED = "T-LLM-07", "turns that no session got";
    MODEL_BLOCK_AS_TEXT = "T-LLM-08", "a block is sent as text";
    MODEL_UNALIGNED = "T-LLM-09", "a history that can not be followed";
    MODEL_EMPTY_SEGMENT = "T-LLM-10", "a user input that nothing answers";
    MODEL_UNSERVED = "T-LLM-11", "a request for something that is not served";
    TIMELINE_YAML = "T-LOAD-01", "the file is not YAML";
    TIMELINE_FOREIGN = "T-LOAD-02", "a file of another format";
    TIMELINE_NAME = "T-LOAD-03", "a timeline has no name";
    TIMELINE_SAME_NAME = "T-LOAD-04", "two timelines have the same name";
    TIMELINE_UNKNOWN = "T-LOAD-05", "nothing reads this key of a timeline";
    TIMELINE_EVENT = "T-LOAD-06", "there is no such event";
    TIMELINE_TWO_EVENTS = "T-LOAD-07", "one item has two events";
    TIMELINE_SHAPE = "T-LOAD-08", "a value that can't be";
    TIMELINE_MARKER_OFF = "T-LOAD-09", "an event that is switched off";
    TIMELINE_LEGACY_EVENT = "T-LOAD-10", "an event in an older form";
    TIMELINE_INLINE_TOOL = "T-LOAD-11", "a call inside of a response";
    TIMELINE_KEY_ALIAS = "T-LOAD-12", "an older spelling of a key";
    TIMELINE_TOOL_ALIAS = "T-LOAD-13", "another name of a tool or an argument";
    TIMELINE_MISPLACED = "T-LOAD-14", "a key in the wrong place";
    TIMELINE_VALUE_ALIAS = "T-LOAD-15", "an older word for a value";
    TIMELINE_FORM = "T-LOAD-16", "a list, mapping or text for another";
    TIMELINE_YAML_LIMIT = "T-LOAD-17", "a key twice, or an alias that can't be followed";
    TIMELINE_PATH = "T-LOAD-18", "a path that can't be used";
    TIMELINE_META = "T-LOAD-19", "`_meta` is not a mapping";
    TIMELINE_NONE = "T-LOAD-20", "there are no timelines";
    TIMELINE_RULE_SHAPE = "T-RULE-01", "a rule that is not complete";
    TIMELINE_CONDITION = "T-RULE-02", "a condition that can't be read";
    TIMELINE_RULE_TYPES = "T-RULE-03", "a symbol is compared with another type";
    TIMELINE_RULE_MIXED = "T-RULE-04", "a list is merged with a mapping";
    TIMELINE_SYMBOL_NAME = "T-RULE-05", "not the name of a symbol";
    TIMELINE_RULE_FALSE_SYMBOL = "T-RULE-06", "a symbol that is false is defined";
    TIMELINE_RULE_BRANCH = "T-RULE-07", "a mistake in a rule that does not apply";
    TIMELINE_RULE_NEVER = "T-RULE-08", "a rule that never applies";
    SELECT_UNKNOWN = "T-SEL-01", "no scenario has this name or session id";
    SELECT_FAR = "T-SEL-02", "no scenario is near enough to the prompt";
    SELECT_DOUBT = "T-SEL-03", "a scenario that is not chosen by its prompt";
    SELECT_SAME = "T-SEL-04", "two scenarios have the same prompt";
    TIMELINE_TERMINAL = "T-TERM-01", "a terminal config that can't be used";
    TIMELINE_KEY_TOKEN = "T-TERM-02", "a key that does not exist";
    TIMELINE_TIME_BEFORE = "T-TIME-01", "a time lies before what was just placed";
    TIMELINE_TIME_DECREASING = "T-TIME-02", "a time of a running tool goes back";
    TIMELINE_TIME_BASE = "T-TIME-03", "the base moves to a time that has passed";
    TIMELINE_TIME = "T-TIME-04", "not a time";
    TIMELINE_TIME_PROMPT = "T-TIME-05", "a prompt is due inside the turn before it";
    TIMELINE_TOOL_ARGUMENTS = "T-TOOL-01", "an argument is missing or unknown";
    TOOL_PROFILE_DIFFERS = "T-TOOL-02", "the agent is another one than was said";
    TOOL_ARGUMENT_DROPPED = "T-TOOL-03", "an argument has no place in the agent's tool";
    TOOL_UNMAPPED = "T-TOOL-04", "a call that the agent has no tool for";
    TOOL_NOT_IN_PROFILE = "T-TOOL-05", "the profile has no entry for a tool";
    ARGUMENT = "X-ARG-01", "an argument can't be used";
    BROWSER_UNAVAILABLE = "X-BROWSER-01", "no browser can be driven here";
    CONFIG_NOT_FOUND = "X-CFG-01", "no config was found";
    CONFIG_INVALID = "X-CFG-02", "a config file can't be used";
    CONFIG_VARIABLE = "X-CFG-03", "a config refers to a variable that is not set";
    FILE_KIND = "X-FILE-01", "the file is of another kind";
    FINDINGS_HIDDEN = "X-FIND-01", "more findings than are shown";
    FILE_READ = "X-IO-01", "a file can't be read";
    FILE_WRITE = "X-IO-02", "a file can't be written";
    SERVER_BOUND = "X-LIMIT-01", "a server has come to one of its bounds";
    RECORD_LEFT_OUT = "X-REC-01", "an exchange is not recorded";
    RECORD_DIFFERS = "X-REC-02", "a recording may play otherwise";
    REQUEST_REFUSED = "X-REQ-01", "a request was refused unread";
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
