//! The events of a bundle in their order: its steps, and what it says beside them.

use std::collections::{HashMap, VecDeque};

use super::format::{InputMessage, last_output};
use crate::import::builder::{Draft, Frame};
use crate::{EventData, MemoryRead, MemoryWrite};

/// The events: what the agent was given, then what happened; the final output last, if no step gives it.
pub(super) fn drafts(frame: &Frame, messages: Vec<InputMessage>, steps: Vec<Draft>) -> Vec<Draft> {
    let has_final_output = last_output(&steps).is_some();
    let mut drafts = with_messages(messages, steps);
    if let (Some(output), false) = (&frame.final_output, has_final_output) {
        drafts.push(Draft::new(None, EventData::FinalOutput(output.clone())));
    }
    let common = |key: &str| frame.scenario[key].as_str().map(str::to_owned);
    for draft in &mut drafts {
        for (own, key) in [
            (&mut draft.group_id, "group_id"),
            (&mut draft.session_id, "session_id"),
            (&mut draft.task_id, "task_id"),
        ] {
            if own.is_none() {
                *own = common(key);
            }
        }
        if let EventData::MemoryRead(MemoryRead { group_id, .. })
        | EventData::MemoryWrite(MemoryWrite { group_id, .. }) = &mut draft.data
        {
            group_id.clone_from(&draft.group_id);
        }
    }
    drafts
}

/// Puts the input messages among the steps. One that a step repeats is that step's event; any other comes right
/// after the message before it, so the first ones come first.
fn with_messages(messages: Vec<InputMessage>, mut steps: Vec<Draft>) -> Vec<Draft> {
    let mut repeats: HashMap<(&str, &str), VecDeque<usize>> = HashMap::new();
    for (idx, step) in steps.iter().enumerate() {
        if let EventData::MessageReceived(message) = &step.data {
            let said = (message.role.as_str(), message.content.as_str());
            repeats.entry(said).or_default().push_back(idx);
        }
    }
    // The step after which each message stands, none for the start, and whether that step is the message itself.
    let mut after: Option<usize> = None;
    let places: Vec<(Option<usize>, bool)> = messages
        .iter()
        .map(|message| {
            let said = (message.role.as_str(), message.content.as_str());
            let repeat = repeats.get_mut(&said).and_then(|places| {
                while places.front().is_some_and(|&idx| Some(idx) <= after) {
                    places.pop_front();
                }
                places.pop_front()
            });
            after = repeat.or(after);
            (after, repeat.is_some())
        })
        .collect();
    let mut inserted: Vec<(Option<usize>, Draft)> = Vec::new();
    for (message, (after, is_repeated)) in messages.into_iter().zip(places) {
        match after.filter(|_| is_repeated) {
            Some(idx) => steps[idx].ts = steps[idx].ts.or(message.ts),
            None => inserted.push((after, message.draft())),
        }
    }
    let mut inserted = inserted.into_iter().peekable();
    let mut drafts = Vec::with_capacity(steps.len() + inserted.len());
    let mut insert = |place: Option<usize>, drafts: &mut Vec<Draft>| {
        while let Some((_, draft)) = inserted.next_if(|(after, _)| *after == place) {
            drafts.push(draft);
        }
    };
    insert(None, &mut drafts);
    for (idx, step) in steps.into_iter().enumerate() {
        drafts.push(step);
        insert(Some(idx), &mut drafts);
    }
    drafts
}
