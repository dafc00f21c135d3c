//! Which of several timelines is chosen for a prompt, and why.

use cuecard_source::value::Redactor;
use cuecard_timeline::script::{LlmScript, Ranked, Selection, SelectionReason, Selector, Wanted};
use serde_json::{Value as Json, json};

use super::Explained;
use super::describe::{line, quoted};
use crate::args::ExplainArgs;
use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::output::Output;

/// Says which of the timelines that can be used is chosen for `prompt`.
pub(super) fn tell(
    prompt: &str,
    args: &ExplainArgs,
    all: &[Explained],
    output: &Output,
) -> ExitCode {
    let usable: Vec<(&Explained, &LlmScript)> = all
        .iter()
        .filter_map(|explained| Some((explained, explained.script.as_ref()?)))
        .collect();
    if usable.is_empty() {
        // Why, is said.
        return ExitCode::Invalid;
    }
    let timelines = usable.iter().map(|(_, script)| &*script.timeline);
    let selector = Selector::new(timelines, args.distance.max_distance);
    let wanted = Wanted {
        prompts: &[prompt],
        ..Wanted::default()
    };
    match selector.select(wanted) {
        Ok(selection) => {
            let doubt = selection.doubt(&usable[selection.scenario_idx].1.timeline);
            let doubt = doubt.map(|doubt| doubt.strictly(args.strict));
            output.diagnostics(doubt.as_slice());
            let document = || document(prompt, &selection, &usable);
            output.result(&Redactor::default(), document, |_| {
                text(&selection, &usable)
            });
            match doubt.is_some() && args.strict {
                true => ExitCode::Invalid,
                false => ExitCode::Passed,
            }
        }
        Err(unselected) => {
            let document = json!({"prompt": prompt, "chosen": null, "error": unselected.message});
            (Stop::invalid(*unselected).with_document(|_| document)).print(output)
        }
    }
}

fn text(selection: &Selection, usable: &[(&Explained, &LlmScript)]) -> String {
    let (explained, script) = usable[selection.scenario_idx];
    let mut text = format!(
        "chosen  {}  `{}`: {}\n",
        explained.file,
        line(&script.timeline.name),
        selection.reason
    );
    if let Some(prompt) = script.timeline.effective_prompt() {
        text.push_str(&format!("        its prompt is {}\n", quoted(&prompt)));
    }
    for ranked in &selection.others {
        let (explained, _) = usable[ranked.scenario_idx];
        text.push_str(&format!("next    {}  {ranked}\n", explained.file));
    }
    text
}

fn document(prompt: &str, selection: &Selection, usable: &[(&Explained, &LlmScript)]) -> Json {
    let (explained, script) = usable[selection.scenario_idx];
    let distance = match selection.reason {
        SelectionReason::Prompt(distance) => Some(distance),
        _ => None,
    };
    let others = selection.others.iter().map(|ranked: &Ranked| {
        json!({
            "file": usable[ranked.scenario_idx].0.file,
            "name": ranked.name,
            "distance": ranked.distance,
        })
    });
    json!({
        "prompt": prompt,
        "chosen": {
            "file": explained.file,
            "name": script.timeline.name,
            "reason": selection.reason.to_string(),
            "distance": distance,
            "its_prompt": script.timeline.effective_prompt(),
        },
        "next": others.collect::<Vec<_>>(),
    })
}
