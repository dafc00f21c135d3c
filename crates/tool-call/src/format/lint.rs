//! What is valid but won't last: literal element ids, coordinates, outputs that nobody uses.

use std::collections::HashSet;

use super::template::has_braces;
use crate::model::{
    BuiltinTool, Expectation, ExpectedTest, PathSegment, Step, Template, TextPart,
    ToolCallScenario, ToolName,
};
use cuecard_page::Snapshot;
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::document::place_of;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::matching::push_key;
use cuecard_source::value::{Json, cut, pointer_steps, push_pointer};
use cuecard_source::{SourceFile, Span};

/// How a question begins in the description of a step that `cuecard infer` wrote.
pub const OPEN_QUESTION: &str = "Open question: ";

/// A note names at most this many outputs, or steps.
const MOST_OUTPUTS: usize = 5;

/// The members of a command's result that say how it ended.
const ENDS: &[&str] = &["exit_code", "timed_out"];

/// Warnings about a valid scenario. `snapshots` are pages on which literal element ids may be known: then their
/// targets are proposed.
pub fn lint(scenario: &ToolCallScenario, snapshots: &[Snapshot]) -> Vec<Diagnostic> {
    let mut found: Vec<_> = unused_outputs(scenario).into_iter().collect();
    found.extend(open_questions(scenario));
    for step in &scenario.steps {
        let note = |code: Code, message: String, help: &str| {
            Diagnostic::note(code, message)
                .at(&scenario.source, step.params_span)
                .with_help(help)
        };
        if !reads_exit_code(scenario, step) {
            let message = format!(
                "nothing reads the exit code of {}: it passes even if the command fails",
                step.label()
            );
            let help = "add \"expect_exit\": 0 to `params`";
            found.push(note(codes::EXIT_UNREAD, message, help));
        }
        if leaves_running(step) {
            let message = format!(
                "{} leaves a process running, which is killed when the command ends",
                step.label()
            );
            let help = "replace the last `&` by \"run_in_background\": true in `params`";
            found.push(note(codes::LEFT_RUNNING, message, help));
        }
        if let Some(literals) = &step.literals {
            found.extend(literals.warnings(&scenario.source, snapshots));
        }
    }
    found.sort_by_key(|found| place_of(found).start);
    found
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
    let command = step.params.member("command");
    let end = match command.as_deref() {
        Some(Template::Literal(Json::String(command))) => command.as_str(),
        Some(Template::Text(parts)) => match parts.last() {
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

/// What in the parameters of a browser's tool won't last.
#[derive(Debug, Clone)]
pub(crate) struct Literals {
    /// The pointer to the parameters.
    params: String,
    ids: Vec<LiteralId>,
    /// The first coordinate, with its pointer.
    coordinate: Option<(Span, String)>,
}

/// An element's id that stands in the scenario.
#[derive(Debug, Clone)]
struct LiteralId {
    key: String,
    id: String,
    span: Span,
    /// The pointer to it in the parameters.
    pointer: String,
}

impl Literals {
    /// Those of a step; `None` if its tool is not a browser's.
    pub(super) fn of(tool: &ToolName, params: &Node, pointer: &str) -> Option<Box<Self>> {
        let (server, _) = tool.server_and_tool(|_| false)?;
        if !is_browser(server) {
            return None;
        }
        let mut found = Self {
            params: pointer.to_owned(),
            ids: Vec::new(),
            coordinate: None,
        };
        params.walk(&mut String::new(), &mut |node, pointer| {
            for member in node.members() {
                found.add(member, pointer);
            }
        });
        Some(Box::new(found))
    }

    fn add(
        &mut self,
        Member {
            key,
            value,
            key_span,
        }: &Member,
        holder: &str,
    ) {
        let mut pointer = holder.to_owned();
        push_pointer(&mut pointer, key);
        let span = Span {
            start: key_span.start,
            end: value.span.end,
        };
        if has_braces(value) {
            return;
        }
        match &value.kind {
            NodeKind::String(id) if is_id(key, id) => self.ids.push(LiteralId {
                key: key.clone(),
                id: id.clone(),
                span,
                pointer,
            }),
            kind if is_coordinate(key, matches!(kind, NodeKind::Number(_))) => {
                let pointer = format!("{}{pointer}", self.params);
                self.coordinate.get_or_insert((span, pointer));
            }
            _ => {}
        }
    }

    /// A warning about the ids, at the first of them, and one about the coordinates.
    fn warnings(
        &self,
        source: &SourceFile,
        snapshots: &[Snapshot],
    ) -> impl Iterator<Item = Diagnostic> {
        let ids = self.ids.first().map(|first| {
            let message = format!(
                "`{}` \"{}\" is valid for one snapshot only",
                first.key,
                cut(&first.id, 40)
            );
            let mut found = Diagnostic::warning(codes::UID_LITERAL, message)
                .at(source, first.span)
                .with_pointer(format!("{}{}", self.params, first.pointer));
            self.propose(first, snapshots, &mut found);
            found
        });
        let coordinate = self.coordinate.as_ref().map(|(span, pointer)| {
            let message = "coordinates break as soon as the page changes";
            Diagnostic::warning(codes::COORDINATES, message)
                .at(source, *span)
                .with_pointer(pointer)
                .with_help(
                    "call `click` or `hover` with a target instead: \"target\": { \"role\": \"button\", \"name\": \"Sign in\" }",
                )
        });
        ids.into_iter().chain(coordinate)
    }

    /// Proposes targets: those of the elements, if a snapshot knows them, else what a target looks like.
    fn propose(&self, first: &LiteralId, snapshots: &[Snapshot], found: &mut Diagnostic) {
        let target = |id: &LiteralId| {
            let mut snapshots = snapshots.iter();
            let snapshot = snapshots.find(|snapshot| snapshot.by_id(&id.id).is_some())?;
            Some(snapshot.lasting(&id.id)?.to_json().to_string())
        };
        let written = |id: &LiteralId, target: &str| match id.param().as_str() {
            "uid" | "ref" | "target" => format!("\"target\": {target}"),
            param => format!("\"targets\": {{ {}: {target} }}", Json::from(param)),
        };
        let (mut known, mut unknown) = (Vec::new(), None);
        for id in &self.ids {
            match target(id) {
                Some(target) => known.push((id, target)),
                None => unknown = unknown.or(Some(id)),
            }
        }
        if let Some(id) = unknown.filter(|_| !snapshots.is_empty()) {
            let note = format!("no snapshot has an element `{}`", cut(&id.id, 40));
            found.notes.push(note);
        }
        found.help = Some(match known.as_slice() {
            [] => {
                let example = written(first, "{ \"role\": \"button\", \"name\": \"Sign in\" }");
                let more = match snapshots.is_empty() {
                    true => "; `cuecard check FILE --snapshot SNAPSHOT` suggests one",
                    false => "",
                };
                format!("give the step a target instead: {example}{more}")
            }
            [(id, target)] => format!("give the step a target instead: {}", written(id, target)),
            several => {
                let members = several
                    .iter()
                    .map(|(id, target)| format!("{}: {target}", Json::from(id.param())));
                let members: Vec<_> = members.collect();
                format!(
                    "give the step targets instead: \"targets\": {{ {} }}",
                    members.join(", ")
                )
            }
        });
    }
}

impl LiteralId {
    /// Its parameter, as `targets` name it: `elements[0].uid`.
    fn param(&self) -> String {
        let mut path = String::new();
        for step in pointer_steps(&self.pointer) {
            match step.parse::<usize>() {
                Ok(idx) => path.push_str(&format!("[{idx}]")),
                Err(_) => push_key(&mut path, &step),
            }
        }
        path.trim_start_matches('.').to_owned()
    }
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
