//! What an agent really did through its client, held against the script: the files that it wrote, the commands that it ran
//! in terminals. Does no I/O.

use std::collections::HashSet;

use cuecard_source::diagnostic::codes;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{ToolStatus, ToolUse};

use super::compare::{Compared, Comparing, Difference, quoted};
use super::expected::{ExpectedItem, Wanted};
use super::requests::{Requests, is_to_fail};
use super::seen::{Came, SeenItem};
use crate::script::file_effect::FileEffect;
use crate::script::matching::{is_refusal, place};
use crate::script::updates::absolute;

impl Comparing<'_> {
    /// Each file that was written and each command that ran must be one that the script has, in its order.
    pub(super) fn effects(
        &self,
        requests: &Requests,
        expected: &[ExpectedItem<'_>],
        seen: &[SeenItem],
        compared: &mut Compared,
    ) {
        let mut done: HashSet<usize> = HashSet::new();
        for item in seen {
            let found = match &item.came {
                Came::Write {
                    path,
                    before,
                    content,
                } => {
                    let open = |(idx, wanted): &(usize, &ExpectedItem<'_>)| {
                        let effect = self.file_effect(&wanted.wanted);
                        !done.contains(idx) && effect.is_some_and(|(of, _)| of == *path)
                    };
                    let fits = |(_, wanted): &(usize, &ExpectedItem<'_>)| {
                        let effect = self.file_effect(&wanted.wanted);
                        effect.is_some_and(|(_, effect)| effect.makes(before.as_deref(), content))
                    };
                    let mut its = expected.iter().enumerate().filter(open);
                    match its.clone().find(fits).or_else(|| its.next()) {
                        None => {
                            let message = format!("the writing of `{path}` is not in the script");
                            Some(Difference::new(codes::ACP_UNEXPECTED, message))
                        }
                        Some((idx, wanted)) => {
                            done.insert(idx);
                            let is_to_fail = is_to_fail(&wanted.wanted);
                            let differs = (is_to_fail || !fits(&(idx, wanted))).then(|| {
                                let what = match is_to_fail {
                                    true => "the call should fail, but it wrote",
                                    false => "something else was written to",
                                };
                                Difference::new(codes::ACP_CONTENT, format!("{what} `{path}`"))
                                    .at(wanted.event_idx)
                                    .noting(format!("written: {}", quoted(content)))
                            });
                            differs.or_else(|| unasked_effect(requests, expected, seen, idx, item))
                        }
                    }
                }
                Came::Terminal { id, line, .. } => {
                    let lists = (requests, expected, seen);
                    self.command(lists, compared, &mut done, (item, id, line))
                }
                _ => None,
            };
            compared.differences.extend(found);
        }
    }

    /// What is wrong with a command.
    fn command(
        &self,
        (requests, expected, seen): (&Requests, &[ExpectedItem<'_>], &[SeenItem]),
        compared: &Compared,
        done: &mut HashSet<usize>,
        (item, id, line): (&SeenItem, &str, &[String]),
    ) -> Option<Difference> {
        let is_of = |wanted: &Wanted<'_>, came: &SeenItem| match (wanted, &came.came) {
            (Wanted::Call(of_script, _), Came::Call(call)) => {
                // Another tool may be made of commands, and not show them.
                let is_within = came.first <= item.first && item.first <= came.last;
                call.terminals.iter().any(|shown| shown == id)
                    || (of_script.tool != "runCmd" && is_within)
            }
            _ => false,
        };
        let mut pairs = compared.pairs.iter();
        let shown = pairs.find(|(wanted, came)| is_of(&expected[*wanted].wanted, &seen[*came]));
        let told = cut(&line.join(" "), 200).into_owned();
        let idx = match shown.map(|(wanted, _)| (*wanted, &expected[*wanted].wanted)) {
            Some((_, Wanted::Call(call, _))) if call.tool != "runCmd" => return None,
            Some((idx, Wanted::Call(..))) => idx,
            _ => {
                let open = |(idx, wanted): &(usize, &ExpectedItem<'_>)| {
                    !done.contains(idx)
                        && matches!(&wanted.wanted, Wanted::Call(call, _) if runs(call, line))
                };
                let Some((idx, _)) = expected.iter().enumerate().find(open) else {
                    let message =
                        format!("the command `{told}` in a terminal is not in the script");
                    return Some(Difference::new(codes::ACP_UNEXPECTED, message));
                };
                idx
            }
        };
        let event_idx = expected[idx].event_idx;
        let Wanted::Call(call, _) = &expected[idx].wanted else {
            return None;
        };
        if !done.insert(idx) {
            let message = format!("the command `{told}` ran once more than the script has it");
            return Some(Difference::new(codes::ACP_UNEXPECTED, message).at(event_idx));
        }
        if !runs(call, line) {
            let found = Difference::new(codes::ACP_CONTENT, "another command ran in the terminal");
            return Some(found.at(event_idx).noting(format!("it ran: {told}")));
        }
        if let Came::Terminal { cwd: Some(cwd), .. } = &item.came {
            let wanted = self.place(call.args["cwd"].as_str().unwrap_or_default());
            if self.place(cwd) != wanted {
                let message = format!("the command ran in `{cwd}`, not in `{wanted}`");
                return Some(Difference::new(codes::ACP_CONTENT, message).at(event_idx));
            }
        }
        let wants_failure = call.status == ToolStatus::Error;
        let is_in_background = call.args["run_in_background"] == Json::Bool(true);
        let is_waited_for = call.status != ToolStatus::Open && !is_in_background;
        let how = match (self.exit_code)(id) {
            _ if self.is_cut || !is_waited_for => None,
            None if wants_failure => None,
            None => Some("it had not ended when its call did".to_owned()),
            Some(exit_code) if (exit_code != 0) == wants_failure => None,
            Some(exit_code) => Some(format!("it ended with exit code {exit_code}")),
        };
        if let Some(how) = how {
            let wanted = if wants_failure { "error" } else { "ok" };
            let message = format!("expected the command to end with status `{wanted}`: {how}");
            return Some(Difference::new(codes::TOOL_RESULT_DIFFERS, message).at(event_idx));
        }
        unasked_effect(requests, expected, seen, idx, item)
    }

    /// A path of the session: a folder by one name, whatever stands at its end.
    pub(super) fn place(&self, path: &str) -> String {
        place(path, self.folder)
    }

    /// The file that a scripted event changes, and how.
    fn file_effect<'w>(&self, wanted: &'w Wanted<'_>) -> Option<(String, FileEffect<'w>)> {
        let (path, effect) = wanted.file_effect()?;
        Some((absolute(path, self.folder), effect))
    }
}

/// What was done before it was allowed, or although it was refused.
fn unasked_effect(
    requests: &Requests,
    expected: &[ExpectedItem<'_>],
    seen: &[SeenItem],
    idx: usize,
    effect: &SeenItem,
) -> Option<Difference> {
    let mut before = requests
        .for_target(idx)
        .filter(|(asked_idx, _)| *asked_idx < idx);
    before.find_map(|(asked_idx, came_idx)| {
        let Wanted::Permission(request, _) = &expected[asked_idx].wanted else {
            return None;
        };
        let found = match seen[came_idx].first > effect.first {
            true => asked_late(),
            false if is_refusal(request) && is_to_fail(&expected[idx].wanted) => {
                let message = "the agent did what it was not allowed to do";
                Difference::new(codes::ACP_UNEXPECTED, message)
            }
            false => return None,
        };
        Some(found.at(expected[asked_idx].event_idx))
    })
}

/// A permission that was asked for behind what it is for.
pub(super) fn asked_late() -> Difference {
    let message = "the agent asked for permission only when it had done it";
    Difference::new(codes::ACP_UNEXPECTED, message)
}

/// Whether a command is the one of a call: by itself, or as the line that a shell is given.
fn runs(call: &ToolUse, line: &[String]) -> bool {
    let Some(cmd) = call.args["cmd"].as_str().filter(|_| call.tool == "runCmd") else {
        return false;
    };
    match line {
        [only] => only == cmd,
        // `sh -c LINE`, `bash -lc LINE`.
        [.., flag, last] if flag.starts_with('-') && flag.ends_with('c') => last == cmd,
        // What means something to a shell means nothing without one.
        words => words.join(" ") == cmd && !cmd.contains(FOR_SHELLS),
    }
}

/// Characters that a shell makes something of.
const FOR_SHELLS: &[char] = &[
    ';', '&', '|', '<', '>', '$', '`', '*', '?', '(', ')', '[', ']', '{', '}', '\'', '"', '\\',
    '~', '#', '!', '\n',
];
