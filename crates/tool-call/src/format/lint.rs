//! What is valid but won't last: literal element ids, coordinates, outputs that nobody uses.

use std::collections::HashSet;

use crate::model::{
    BuiltinTool, Expectation, ExpectedTest, MemberRef, PathSegment, Step, Template, TextPart,
    ToolCallScenario, ToolName,
};
use cuecard_page::Snapshot;
use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::{self, Limits, Node, NodeKind};
use cuecard_source::matching::json_path;
use cuecard_source::value::{Json, cut, push_pointer};

/// How a question begins in the description of a step that `cuecard infer` wrote.
pub const OPEN_QUESTION: &str = "Open question: ";

/// A note names at most this many outputs, or steps.
const MOST_OUTPUTS: usize = 5;

/// The members of a command's result that say how it ended.
const ENDS: &[&str] = &["exit_code", "timed_out"];

/// Warnings about a valid scenario. `snapshots` are pages on which literal element ids may be known: then their
/// targets are proposed.
pub fn lint(scenario: &ToolCallScenario, snapshots: &[Snapshot]) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<_> = unused_outputs(scenario).into_iter().collect();
    diagnostics.extend(open_questions(scenario));
    let unread = scenario
        .steps
        .iter()
        .filter(|step| !reads_exit_code(scenario, step));
    diagnostics.extend(unread.map(|step| {
        let message = format!(
            "nothing reads the exit code of {}: it passes even if the command fails",
            step.label()
        );
        Diagnostic::note(codes::EXIT_UNREAD, message)
            .at(&scenario.source, step.params_span)
            .with_help("add \"expect_exit\": 0 to `params`")
    }));
    let left = scenario.steps.iter().filter(|step| leaves_running(step));
    diagnostics.extend(left.map(|step| {
        let message = format!(
            "{} leaves a process running, which is killed when the command ends",
            step.label()
        );
        Diagnostic::note(codes::LEFT_RUNNING, message)
            .at(&scenario.source, step.params_span)
            .with_help("replace the last `&` by \"run_in_background\": true in `params`")
    }));
    // Steps stand in the order of play; pointers go by the order of the file.
    let mut starts: Vec<u32> = scenario.steps.iter().map(|step| step.span.start).collect();
    starts.sort_unstable();
    for step in &scenario.steps {
        let Some((server, _)) = step.tool.server_and_tool(|_| false) else {
            continue;
        };
        if !is_browser(server) {
            continue;
        }
        let idx = starts.partition_point(|&start| start < step.span.start);
        let pointer = format!("/steps/{idx}/params");
        diagnostics.extend(literals(scenario, step, &pointer, snapshots));
    }
    diagnostics.sort_by_key(|diagnostic| {
        diagnostic
            .place
            .as_ref()
            .map_or(0, |place| place.span.start)
    });
    diagnostics
}

/// Whether a failure of the step's command shows; true of a step without one.
fn reads_exit_code(scenario: &ToolCallScenario, step: &Step) -> bool {
    // A command in the background has no exit code yet.
    let is_checked = ["expect_exit", "run_in_background"]
        .iter()
        .any(|param| step.params.member(param).is_some());
    if step.tool != ToolName::Builtin(BuiltinTool::Bash) || is_checked {
        return true;
    }
    let is_end = |member: &str| ENDS.iter().any(|end| member.contains(end));
    let reads =
        |path: &str| path == "$" || is_end(path) || path.contains('*') || path.contains("..");
    let mut tests = step
        .expectations
        .iter()
        .filter(|one| {
            let path = one.json_path.as_ref().map(|rule| rule.path.to_string());
            path.is_none_or(|path| reads(&path))
        })
        .flat_map(Expectation::tests);
    let mut is_read = tests.any(|test| !matches!(test, ExpectedTest::MaxMilliseconds(_)));
    // An output that nothing uses reads nothing.
    scenario.for_each_placeholder(&mut |placeholder| {
        let reference = &placeholder.reference;
        let Some((PathSegment::Key(name), inside)) = reference.path.split_first() else {
            return;
        };
        let is_own = step.id.as_ref() == Some(&reference.name);
        let output = step
            .outputs
            .iter()
            .find(|rule| is_own && rule.name == *name);
        is_read |= output.is_some_and(|rule| match (rule.path.to_string().as_str(), inside) {
            ("$", [PathSegment::Key(member), ..]) => is_end(member),
            (path, _) => reads(path),
        });
    });
    is_read
}

/// Whether a step's command ends with a process in the background of its shell.
fn leaves_running(step: &Step) -> bool {
    let end = match step.params.member("command") {
        Some(MemberRef::Literal(Json::String(command))) => command.as_str(),
        Some(MemberRef::Template(Template::Text(parts))) => match parts.last() {
            Some(TextPart::Literal(end)) => end.as_str(),
            _ => "",
        },
        _ => "",
    };
    let before = end.trim_end().strip_suffix('&');
    step.tool == ToolName::Builtin(BuiltinTool::Bash)
        && step.params.member("run_in_background").is_none()
        && before.is_some_and(|before| !before.ends_with(['&', '\\']))
}

/// The literal element ids and the first coordinate of a step's parameters: a finding each, at the first place.
fn literals(
    scenario: &ToolCallScenario,
    step: &Step,
    pointer: &str,
    snapshots: &[Snapshot],
) -> Vec<Diagnostic> {
    // The model knows no places inside parameters, so the text is read again where there is something to say.
    let text = scenario.source.slice(step.params_span);
    let Some(params) = json::parse(text, &Limits::default()).root else {
        return Vec::new();
    };
    let mut found = Literals::default();
    found.look(&params, &mut pointer.to_owned());
    let base = step.params_span.start as usize;
    let at = |span: Span| Span::new(base + span.start as usize, base + span.end as usize);
    let id = found.ids.first().map(|first| {
        let proposal = proposal(&found.ids, (&params, pointer), snapshots);
        let mut diagnostic = Diagnostic::warning(
            codes::UID_LITERAL,
            format!(
                "`{}` \"{}\" is valid for one snapshot only",
                first.key,
                cut(&first.id, 40)
            ),
        )
        .at(&scenario.source, at(first.span))
        .with_pointer(first.pointer.clone())
        .with_help(proposal.help);
        diagnostic.notes.extend(proposal.note);
        diagnostic
    });
    let coordinate = found.coordinate.map(|(span, pointer)| {
        Diagnostic::warning(
            codes::COORDINATES,
            "coordinates break as soon as the page changes",
        )
        .at(&scenario.source, at(span))
        .with_pointer(pointer)
        .with_help(
            "call `click` or `hover` with a target instead: \"target\": { \"role\": \"button\", \"name\": \"Sign in\" }",
        )
    });
    id.into_iter().chain(coordinate).collect()
}

/// What to write instead of literal ids.
struct Proposal {
    help: String,
    note: Option<String>,
}

/// Proposes targets: those of the elements, if a snapshot knows them, else what a target looks like.
fn proposal(
    ids: &[LiteralId],
    (params, pointer): (&Node, &str),
    snapshots: &[Snapshot],
) -> Proposal {
    let params = params.to_value();
    // As `targets` name it: `elements[0].uid`.
    let param = |id: &LiteralId| {
        let path = json_path(
            &params,
            id.pointer.strip_prefix(pointer).unwrap_or_default(),
        );
        path.trim_start_matches('.').to_owned()
    };
    let is_own = |param: &str| matches!(param, "uid" | "ref" | "target");
    let written = |id: &LiteralId, target: String| match param(id) {
        param if is_own(&param) => format!("\"target\": {target}"),
        param => format!("\"targets\": {{ {}: {target} }}", Json::from(param)),
    };
    let known: Vec<(&LiteralId, Json)> = ids
        .iter()
        .filter_map(|id| {
            let snapshot = snapshots
                .iter()
                .find(|snapshot| snapshot.by_id(&id.id).is_some())?;
            Some((id, snapshot.lasting(&id.id)?.to_json()))
        })
        .collect();
    let unknown = ids.iter().find(|id| {
        !snapshots.is_empty() && !known.iter().any(|(known, _)| known.pointer == id.pointer)
    });
    let note = unknown.map(|id| format!("no snapshot has an element `{}`", cut(&id.id, 40)));
    let help = match (known.as_slice(), ids.first()) {
        ([], Some(first)) => {
            let example = "{ \"role\": \"button\", \"name\": \"Sign in\" }".to_owned();
            let more = match snapshots.is_empty() {
                true => "; `cuecard check FILE --snapshot SNAPSHOT` suggests one",
                false => "",
            };
            format!(
                "give the step a target instead: {}{more}",
                written(first, example)
            )
        }
        ([(id, target)], _) => format!(
            "give the step a target instead: {}",
            written(id, target.to_string())
        ),
        (several, _) => {
            let members: Vec<String> = several
                .iter()
                .map(|(id, target)| format!("{}: {target}", Json::from(param(id))))
                .collect();
            format!(
                "give the step targets instead: \"targets\": {{ {} }}",
                members.join(", ")
            )
        }
    };
    Proposal { help, note }
}

/// Whether a server is a browser's, by its name.
pub(super) fn is_browser(server: &str) -> bool {
    [
        "chrome",
        "browser",
        "playwright",
        "puppeteer",
        "firefox",
        "devtools",
    ]
    .iter()
    .any(|word| server.contains(word))
}

/// One note for all outputs of a file that no step uses.
fn unused_outputs(scenario: &ToolCallScenario) -> Option<Diagnostic> {
    let mut used: HashSet<(&str, &str)> = HashSet::new();
    scenario.for_each_placeholder(&mut |placeholder| {
        if let Some(PathSegment::Key(output)) = placeholder.reference.path.first() {
            used.insert((&placeholder.reference.name, output));
        }
    });
    let mut names = Vec::new();
    let mut first = None;
    for step in &scenario.steps {
        let Some(id) = step.id.as_deref() else {
            continue;
        };
        for rule in &step.outputs {
            if !used.contains(&(id, rule.name.as_str())) {
                first.get_or_insert(rule.name_span);
                names.push(format!("`{id}.{}`", rule.name));
            }
        }
    }
    let span = first?;
    let message = match names.as_slice() {
        [name] => format!("no step uses the output {name}"),
        names => format!("no step uses the outputs {}", first_of(names)),
    };
    Some(
        Diagnostic::note(codes::OUTPUT_UNUSED, message)
            .at(&scenario.source, span)
            .with_help("unused outputs are still part of the run's result; remove what nothing reads there"),
    )
}

/// One note for all questions of a recording that the descriptions still hold.
fn open_questions(scenario: &ToolCallScenario) -> Option<Diagnostic> {
    let count = |step: &Step| {
        let count = |text: &str| text.matches(OPEN_QUESTION).count();
        match step.description.as_deref() {
            Some(Template::Literal(Json::String(text))) => count(text),
            Some(Template::Text(parts)) => {
                let counts = parts.iter().map(|part| match part {
                    TextPart::Literal(text) => count(text),
                    TextPart::Reference(_) => 0,
                });
                counts.sum()
            }
            _ => 0,
        }
    };
    let open = scenario.steps.iter().map(|step| (step, count(step)));
    let open: Vec<(&Step, usize)> = open.filter(|(_, count)| *count > 0).collect();
    let (first, _) = open.first()?;
    let steps: Vec<String> = open.iter().map(|(step, _)| step.label()).collect();
    let questions = match open.iter().map(|(_, count)| count).sum() {
        1 => "a question of the recording is open".to_owned(),
        count => format!("{count} questions of the recording are open"),
    };
    let message = format!("{questions}: {}", first_of(&steps));
    Some(
        Diagnostic::note(codes::QUESTIONS_OPEN, message)
            .at(&scenario.source, first.span)
            .with_help("answer them in the steps, and delete them from their `description`"),
    )
}

/// The first names of a list, and how many more there are.
fn first_of(names: &[String]) -> String {
    let shown = &names[..names.len().min(MOST_OUTPUTS)];
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// What was found, with its place in the text of the parameters and its pointer.
#[derive(Default)]
struct Literals {
    ids: Vec<LiteralId>,
    coordinate: Option<(Span, String)>,
}

/// An element's id that stands in the scenario.
struct LiteralId {
    key: String,
    id: String,
    span: Span,
    pointer: String,
}

impl Literals {
    fn look(&mut self, node: &Node, pointer: &mut String) {
        let length = pointer.len();
        match &node.kind {
            NodeKind::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    push_pointer(pointer, &index.to_string());
                    self.look(item, pointer);
                    pointer.truncate(length);
                }
            }
            NodeKind::Object(members) => {
                for member in members {
                    push_pointer(pointer, &member.key);
                    let span = Span {
                        start: member.key_span.start,
                        end: member.value.span.end,
                    };
                    match (member.key.as_str(), &member.value.kind) {
                        (key, NodeKind::String(id)) if is_id(key, id) && !id.contains("{{") => {
                            self.ids.push(LiteralId {
                                key: key.to_owned(),
                                id: id.clone(),
                                span,
                                pointer: pointer.clone(),
                            });
                        }
                        (key, kind)
                            if is_coordinate(key, matches!(kind, NodeKind::Number(_)))
                                && !holds_reference(&member.value) =>
                        {
                            self.coordinate
                                .get_or_insert_with(|| (span, pointer.clone()));
                        }
                        _ => {}
                    }
                    self.look(&member.value, pointer);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }
}

fn holds_reference(node: &Node) -> bool {
    match &node.kind {
        NodeKind::String(text) => text.contains("{{"),
        NodeKind::Array(items) => items.iter().any(holds_reference),
        NodeKind::Object(members) => members
            .iter()
            .any(|member| member.key.contains("{{") || holds_reference(&member.value)),
        _ => false,
    }
}

/// Whether a parameter names an element as chrome-devtools-mcp does, or @playwright/mcp, whose parameters may hold a
/// selector instead.
fn is_id(key: &str, id: &str) -> bool {
    match key {
        "uid" | "from_uid" | "to_uid" => true,
        "ref" | "startRef" | "endRef" | "target" | "startTarget" | "endTarget" => is_reference(id),
        _ => false,
    }
}

/// Whether a text is an element's id in a snapshot of @playwright/mcp: `e12`, or `f2e12` in a frame.
fn is_reference(id: &str) -> bool {
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|sign| sign.is_ascii_digit());
    match id.strip_prefix('f') {
        Some(rest) => rest
            .split_once('e')
            .is_some_and(|(frame, element)| is_number(frame) && is_number(element)),
        None => id.strip_prefix('e').is_some_and(is_number),
    }
}

fn is_coordinate(key: &str, is_number: bool) -> bool {
    matches!(key, "coordinates" | "coordinate") || matches!(key, "x" | "y") && is_number
}

#[cfg(test)]
mod tests {
    use super::lint;
    use crate::format::read;
    use cuecard_page::Snapshot;
    use cuecard_source::SourceFile;

    #[test]
    fn questions_that_a_recording_left_open_are_counted() {
        let step = |number: usize, description: &str| {
            format!(
                r#"{{"step": {number}, "id": "s{number}", "tool": "mcp__notes__add", "params": {{}}, "description": "{description}"}}"#
            )
        };
        let steps = [
            step(
                1,
                "Open question: `a` is `7`: is it copied? Open question: it failed: is it needed?",
            ),
            step(2, "It adds a note."),
            step(3, "Open question: {{X}} is `a`: is it a variable?"),
        ];
        let noted = |steps: &[String]| {
            let text = format!(
                r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "variables": {{"X": "1"}}, "steps": [{}]}}"#,
                steps.join(",")
            );
            let scenario = read(&SourceFile::new("x.json", text))
                .scenario
                .expect("valid");
            let found = lint(&scenario, &[]).into_iter();
            found.map(|found| found.message).collect::<Vec<_>>()
        };
        assert_eq!(
            noted(&steps),
            ["3 questions of the recording are open: step 1 (`s1`), step 3 (`s3`)"]
        );
        assert_eq!(
            noted(&steps[2..]),
            ["a question of the recording is open: step 3 (`s3`)"]
        );
        assert!(noted(&steps[1..2]).is_empty());
    }

    #[test]
    fn ids_and_coordinates_are_marked_where_they_stand() {
        let text = r#"{"version": "2.1", "metadata": {"name": "x"}, "variables": {"ID": "1"}, "steps": [
            {"step": 2, "tool": "mcp__chrome-devtools__fill_form", "params": {"elements": [{"uid": "{{ID}}"}, {"uid": "1_7", "value": "{{ID}}"}]}},
            {"step": 1, "tool": "mcp__chrome-devtools__click", "params": {"x": 150, "y": 320}},
            {"step": 3, "tool": "mcp__chrome-devtools__click", "params": {"uid": "{{ID}}", "x": "left", "coordinates": ["{{ID}}", 2]}},
            {"step": 4, "tool": "mcp__maps__pin", "params": {"x": 1, "y": 2}}]}"#;
        let scenario = read(&SourceFile::new("x.json", text))
            .scenario
            .expect("valid");
        let found: Vec<(String, String, String)> = lint(&scenario, &[])
            .into_iter()
            .map(|found| {
                let place = found.place.expect("a place");
                (
                    found.code.name().to_owned(),
                    place.source.slice(place.span).to_owned(),
                    found.pointer.unwrap_or_default(),
                )
            })
            .collect();
        let expected = [
            (
                "C-UID-01",
                r#""uid": "1_7""#,
                "/steps/0/params/elements/1/uid",
            ),
            ("C-UID-02", r#""x": 150"#, "/steps/1/params/x"),
        ]
        .map(|(code, marked, pointer)| (code.to_owned(), marked.to_owned(), pointer.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_command_whose_exit_code_nobody_reads_is_noted() {
        for (more, is_noted) in [
            (r#""params": {"command": "a"}"#, true),
            (
                r#""params": {"command": "a"}, "output": {"x": "$.stdout"}"#,
                true,
            ),
            (
                r#""params": {"command": "a"}, "expect": {"max_ms": 9}"#,
                true,
            ),
            (r#""params": {"command": "a", "expect_exit": 0}"#, false),
            (
                r#""params": {"command": "a"}, "output": {"x": "$.exit_code"}"#,
                false,
            ),
            (r#""params": {"command": "a"}, "output": {"x": "$"}"#, false),
            (
                r#""params": {"command": "a"}, "expect": {"json_path": "$.stdout", "contains": "b"}"#,
                true,
            ),
            (
                r#""params": {"command": "a"}, "expect": {"json_path": "$.exit_code", "equals": 0}"#,
                false,
            ),
            (
                r#""params": {"command": "a"}, "output": {"unused": "$"}"#,
                true,
            ),
        ] {
            let text = format!(
                r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "steps": [
                    {{"step": 1, "id": "a", "tool": "claude__bash", {more}}},
                    {{"step": 2, "tool": "sandy__log", "params": {{"message": "{{{{a.x | default(1)}}}}"}}}}]}}"#
            );
            let read = read(&SourceFile::new("x.json", text));
            let scenario = read
                .scenario
                .unwrap_or_else(|| panic!("{:?}", read.diagnostics));
            let codes: Vec<&str> = lint(&scenario, &[])
                .iter()
                .map(|found| found.code.name())
                .collect();
            assert_eq!(codes.contains(&"C-EXIT-01"), is_noted, "{more}: {codes:?}");
        }
    }

    #[test]
    fn a_command_that_leaves_a_process_running_is_noted() {
        for (params, is_noted) in [
            (r#""command": "npm run dev &", "expect_exit": 0"#, true),
            (
                r#""command": "nohup ./serve > log 2>&1 &\n", "expect_exit": 0"#,
                true,
            ),
            (r#""command": "serve {{P}} &", "expect_exit": 0"#, true),
            (
                r#""command": "serve & sleep 1; curl x", "expect_exit": 0"#,
                false,
            ),
            (r#""command": "serve &", "run_in_background": true"#, false),
            (r#""command": "echo {{P}}", "expect_exit": 0"#, false),
        ] {
            let text = format!(
                r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "variables": {{"P": "1"}},
                    "steps": [{{"step": 1, "tool": "claude__bash", "params": {{{params}}}}}]}}"#
            );
            let read = read(&SourceFile::new("x.json", text));
            let scenario = read
                .scenario
                .unwrap_or_else(|| panic!("{:?}", read.diagnostics));
            let found = lint(&scenario, &[]);
            let codes: Vec<&str> = found.iter().map(|found| found.code.name()).collect();
            assert_eq!(
                codes.contains(&"C-EXIT-02"),
                is_noted,
                "{params}: {codes:?}"
            );
        }
    }

    #[test]
    fn a_snapshot_knows_what_the_targets_are() {
        let text = r#"{"version": "2.1", "metadata": {"name": "x"}, "steps": [
            {"step": 1, "tool": "mcp__chrome-devtools__click", "params": {"uid": "1_3"}},
            {"step": 2, "tool": "mcp__chrome-devtools__fill_form", "params": {"elements": [{"uid": "1_1", "value": "a"}, {"uid": "1_2", "value": "b"}]}},
            {"step": 3, "tool": "mcp__chrome-devtools__click", "params": {"uid": "9_9"}},
            {"step": 4, "tool": "mcp__playwright__browser_click", "params": {"element": "Save", "target": "e7"}},
            {"step": 5, "tool": "mcp__playwright__browser_click", "params": {"target": "css=#save"}}]}"#;
        let scenario = read(&SourceFile::new("x.json", text))
            .scenario
            .expect("valid");
        let devtools = "uid=1_0 RootWebArea \"P\"\n  uid=1_1 textbox \"E-mail\"\n  uid=1_2 textbox \"Name\"\n  uid=1_3 button \"Save\"\n  uid=1_4 heading \"Save\"";
        let playwright = "- button \"Save\" [ref=e7]\n- button \"Save\" [ref=e8]";
        let snapshots = [devtools, playwright].map(|text| Snapshot::read(text).expect("small"));
        let found: Vec<(String, Vec<String>)> = lint(&scenario, &snapshots)
            .into_iter()
            .map(|found| (found.help.unwrap_or_default(), found.notes))
            .collect();
        let help = |help: &str| (help.to_owned(), Vec::new());
        assert_eq!(
            found,
            [
                help(
                    r#"give the step a target instead: "target": {"role":"button","name":"Save"}"#
                ),
                help(
                    r#"give the step targets instead: "targets": { "elements[0].uid": {"role":"textbox","name":"E-mail"}, "elements[1].uid": {"role":"textbox","name":"Name"} }"#
                ),
                (
                    r#"give the step a target instead: "target": { "role": "button", "name": "Sign in" }"#.to_owned(),
                    vec!["no snapshot has an element `9_9`".to_owned()]
                ),
                help(
                    r#"give the step a target instead: "target": {"role":"button","name":"Save","nth":1}"#
                ),
            ]
        );
    }
}
