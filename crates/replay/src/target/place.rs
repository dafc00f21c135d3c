//! Where elements are looked for, and where what they are known by goes.

use cuecard_source::value::cut;
use cuecard_tool_call::model::{TargetParam, holder};
use cuecard_tool_call::script::{Failure, FailureKind};
use serde_json::{Map, Value as Json};

use super::super::requests::Peer;

/// The page on which an element is looked for.
pub(crate) struct Place<'a> {
    /// Its server.
    pub(crate) peer: Peer<'a>,
    /// The page that the call names itself.
    pub(crate) page: Option<Json>,
}

/// Puts an id where a target's parameter is.
pub(crate) fn put(
    arguments: &mut Map<String, Json>,
    param: &TargetParam,
    id: String,
) -> Result<(), Failure> {
    let Some((object, key)) = holder(arguments, &param.path) else {
        let message = format!("the parameters can't hold `{}`", cut(&param.written, 80));
        return Err(Failure::new(FailureKind::BadParameters, message)
            .with_help("the target's parameter must lead into an object of `params`"));
    };
    object.insert(key.to_owned(), id.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use cuecard_tool_call::model::PathSegment;
    use serde_json::json;

    use super::*;

    fn param(path: &[PathSegment]) -> TargetParam {
        TargetParam {
            written: "elements[1].uid".to_owned(),
            path: path.to_vec(),
        }
    }

    #[test]
    fn an_id_goes_where_its_parameter_is_or_says_that_there_is_no_place() {
        let key = |name: &str| PathSegment::Key(name.to_owned());
        let mut arguments = Map::new();
        put(&mut arguments, &param(&[key("to_uid")]), "1_1".to_owned()).expect("at the top");
        arguments.insert(
            "elements".to_owned(),
            json!([{"value": "a"}, {"value": "b"}, 3]),
        );
        let deep = |index| param(&[key("elements"), PathSegment::Index(index), key("uid")]);
        put(&mut arguments, &deep(1), "1_2".to_owned()).expect("it is there");
        assert_eq!(
            Json::Object(arguments.clone()),
            json!({"to_uid": "1_1", "elements": [{"value": "a"}, {"value": "b", "uid": "1_2"}, 3]})
        );
        for index in [2, 3] {
            let failure = put(&mut arguments, &deep(index), String::new());
            assert!(failure.is_err(), "{index}");
        }
    }
}
