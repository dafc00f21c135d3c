//! Assertions that a player checks at the end of its run: their parameters are the player's.

use super::{Kind, Params};
use crate::model::AssertionCheck;
use cuecard_source::reader::Reader;
use cuecard_source::value::Json;

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "file",
        meaning: "A file is as it should at the end of the run.",
        params: &[],
        capabilities: &[],
        read: |reader, params| {
            let params = given(reader, params)?;
            Some(AssertionCheck::File { params })
        },
    },
    Kind {
        name: "git",
        meaning: "The repository is as it should at the end of the run.",
        params: &[],
        capabilities: &[],
        read: |reader, params| {
            let params = given(reader, params)?;
            Some(AssertionCheck::Git { params })
        },
    },
    Kind {
        name: "exit_code",
        meaning: "The program ended as it should.",
        params: &[],
        capabilities: &[],
        read: |reader, params| {
            let params = given(reader, params)?;
            Some(AssertionCheck::ExitCode { params })
        },
    },
    Kind {
        name: "screen",
        meaning: "The screen shows what it should at the end of the run.",
        params: &[],
        capabilities: &[],
        read: |reader, params| {
            let params = given(reader, params)?;
            Some(AssertionCheck::Screen { params })
        },
    },
];

fn given(reader: &mut Reader<'_>, params: Params<'_>) -> Option<Json> {
    let node = params.object.node;
    if node.members().is_empty() {
        let message = "no check is specified";
        params.conflict(
            reader,
            "",
            message,
            "specify in `params` what the player should check",
        );
        return None;
    }
    Some(super::values::free(reader, node, params.object.pointer))
}
