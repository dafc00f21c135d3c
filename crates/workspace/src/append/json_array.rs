//! One JSON array, replaced as a whole. What it holds already stays byte for byte.

use std::fs::File;
use std::path::Path;

use serde::Serialize as _;
use serde_json::Value;

use super::grow::lock;
use super::{AppendProblem, refused};
use crate::WorkspaceError;
use crate::disk::{Disk, create_folders, io_failure, read_whole, replace, target_of};
use crate::json_spans;
use crate::text::Encoding;
use cuecard_runtime::text_file::folder_of;

/// The largest array that is rewritten, in bytes.
const LARGEST_ARRAY: u64 = 256 << 20;
/// Of an array that doesn't show how it is laid out.
const INDENT: &str = "  ";

/// Appends the items; returns how many the array has now.
pub(super) fn append(disk: &dyn Disk, path: &Path, items: &[Value]) -> Result<u64, WorkspaceError> {
    let target = target_of(path, "append to")?;
    let folder = folder_of(&target);
    create_folders(disk, folder).map_err(|source| io_failure(path, "append to", source))?;
    // The file is replaced, so what appends have in common is its folder. One that can't be opened is used
    // without a lock, like a file system that has none.
    let locked = File::open(folder).ok();
    if let Some(folder) = &locked {
        lock(folder).map_err(|()| refused(path, AppendProblem::Locked))?;
    }
    let old = match target.try_exists() {
        Ok(false) => None,
        _ => Some(read_whole(
            path,
            LARGEST_ARRAY,
            "append to a file of JSON lines instead: `\"format\": \"jsonl\"`",
        )?),
    };
    let exists = old.is_some();
    let old = text_of(old.unwrap_or_default()).map_err(|problem| refused(path, problem))?;
    let (new, total) = extended(&old, items).map_err(|problem| refused(path, problem))?;
    if !exists || new != old {
        replace(disk, path, new.as_bytes())?;
    }
    Ok(total)
}

fn text_of(bytes: Vec<u8>) -> Result<String, AppendProblem> {
    if Encoding::of(&bytes).is_utf16() {
        return Err(AppendProblem::Utf16);
    }
    String::from_utf8(bytes).map_err(|error| AppendProblem::NotJson {
        reason: format!("byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1),
    })
}

/// The array's text with the items behind its last element, and the number of elements.
fn extended(old: &str, items: &[Value]) -> Result<(String, u64), AppendProblem> {
    let (mark, text) = match old.strip_prefix('\u{feff}') {
        Some(text) => ("\u{feff}", text),
        None => ("", old),
    };
    if text.trim_ascii().is_empty() {
        let layout = Layout::Lines {
            indent: INDENT.to_owned(),
            line_end: "\n",
            expanded: true,
        };
        return Ok((
            format!("{mark}{}\n", layout.array(items)),
            items.len() as u64,
        ));
    }
    json_spans::validate(text).map_err(|reason| AppendProblem::NotJson { reason })?;
    let root = json_spans::root(text);
    if let Some(found) = other_than_array(&text[root.clone()]) {
        return Err(AppendProblem::NotAnArray { found });
    }
    let mut count = 0_u64;
    let mut first_two = Vec::new();
    let mut last = root.start..root.start + 1;
    for element in json_spans::elements(text, root.clone()) {
        count += 1;
        if first_two.len() < 2 {
            first_two.push(element.clone());
        }
        last = element;
    }
    let total = count + items.len() as u64;
    if items.is_empty() {
        return Ok((old.to_owned(), total));
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let layout = match &first_two[..] {
        [] => Layout::Lines {
            indent: INDENT.to_owned(),
            line_end,
            expanded: true,
        },
        [first, rest @ ..] => {
            let space = json_spans::space_before(text, first.start);
            let element = &text[last.clone()];
            let is_one_line = !element.contains('\n') && element.len() > 2;
            match space.rsplit_once('\n') {
                Some((_, indent)) => Layout::Lines {
                    indent: indent.to_owned(),
                    line_end,
                    // An object or array on one line shows that the others should be too.
                    expanded: !(is_one_line && element.starts_with(['{', '['])),
                },
                None => Layout::OneLine {
                    spaced: rest
                        .first()
                        .is_some_and(|second| text[..second.start].ends_with(' ')),
                },
            }
        }
    };
    let new = if count == 0 {
        format!(
            "{mark}{}{}{}",
            &text[..root.start],
            layout.array(items),
            &text[root.end..]
        )
    } else {
        let mut added = String::new();
        for item in items {
            added.push(',');
            added.push_str(&layout.space());
            added.push_str(&layout.element(item));
        }
        format!("{mark}{}{added}{}", &text[..last.end], &text[last.end..])
    };
    Ok((new, total))
}

/// How the elements of an array stand in the file.
enum Layout {
    /// Each on its own line, `indent` in front.
    Lines {
        indent: String,
        line_end: &'static str,
        /// Whether an element itself takes several lines.
        expanded: bool,
    },
    /// All on one line, with or without a space behind the comma.
    OneLine { spaced: bool },
}

impl Layout {
    /// What stands between a comma and the next element.
    fn space(&self) -> String {
        match self {
            Self::Lines {
                indent, line_end, ..
            } => format!("{line_end}{indent}"),
            Self::OneLine { spaced: true } => " ".to_owned(),
            Self::OneLine { spaced: false } => String::new(),
        }
    }

    fn element(&self, item: &Value) -> String {
        let Self::Lines {
            indent,
            line_end,
            expanded: true,
        } = self
        else {
            return item.to_string();
        };
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Writing a JSON value to memory cannot fail.
        let _ = item.serialize(&mut serializer);
        String::from_utf8_lossy(&bytes).replace('\n', &format!("{line_end}{indent}"))
    }

    /// A whole array.
    fn array(&self, items: &[Value]) -> String {
        if items.is_empty() {
            return "[]".to_owned();
        }
        let elements: Vec<String> = items
            .iter()
            .map(|item| format!("{}{}", self.space(), self.element(item)))
            .collect();
        let closing = match self {
            Self::Lines { line_end, .. } => line_end,
            Self::OneLine { .. } => "",
        };
        format!("[{}{closing}]", elements.join(","))
    }
}

fn other_than_array(json: &str) -> Option<&'static str> {
    match json.as_bytes().first() {
        Some(b'[') => None,
        Some(b'{') => Some("an object"),
        Some(b'"') => Some("a string"),
        Some(b't' | b'f') => Some("a boolean"),
        Some(b'n') => Some("null"),
        _ => Some("a number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_spans::tests::any_json;
    use proptest::prelude::*;
    use serde_json::json;

    fn after(old: &str, items: Value) -> String {
        extended(old, items.as_array().unwrap()).unwrap().0
    }

    #[test]
    fn the_layout_of_the_file_is_kept() {
        assert_eq!(after("", json!([])), "[]\n");
        assert_eq!(
            after("", json!([{"a": 1}])),
            "[\n  {\n    \"a\": 1\n  }\n]\n"
        );
        assert_eq!(after("[ ]", json!([1, []])), "[\n  1,\n  []\n]");
        assert_eq!(
            after("[\n\t{\n\t\t\"a\": 1e5\n\t}\n]", json!([{"b": 2}])),
            "[\n\t{\n\t\t\"a\": 1e5\n\t},\n\t{\n\t\t\"b\": 2\n\t}\n]"
        );
        assert_eq!(
            after("[\r\n {\"a\":1}\r\n]\r\n", json!([{"b": 2}])),
            "[\r\n {\"a\":1},\r\n {\"b\":2}\r\n]\r\n"
        );
        assert_eq!(after("[1,2]", json!([3])), "[1,2,3]");
        assert_eq!(after("[1, 2]\n", json!([3, 4])), "[1, 2, 3, 4]\n");
        assert_eq!(after("\u{feff}[1]", json!([2])), "\u{feff}[1,2]");
    }

    #[test]
    fn what_is_no_array_is_named() {
        let problem = |text: &str| extended(text, &[Value::Null]).unwrap_err().to_string();
        assert_eq!(
            problem("{\"a\": []}"),
            "the file is not a JSON array but contains an object"
        );
        assert_eq!(
            problem("-1"),
            "the file is not a JSON array but contains a number"
        );
        assert_eq!(
            problem("[1,\n2"),
            "the file is not a JSON array: this `[` is never closed (line 1, column 1)"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn appending_gives_the_old_and_the_new_elements(
            old in prop::collection::vec(any_json(), 0..4),
            new in prop::collection::vec(any_json(), 0..4),
            pretty in any::<bool>(),
        ) {
            let text = if pretty {
                format!("{:#}", Value::from(old.clone()))
            } else {
                Value::from(old.clone()).to_string()
            };
            let (extended, total) = extended(&text, &new).unwrap();
            let all = [old, new].concat();
            prop_assert_eq!(total, all.len() as u64);
            if pretty && text != "[]" {
                prop_assert_eq!(&extended, &format!("{:#}", Value::from(all.clone())));
            }
            prop_assert_eq!(serde_json::from_str::<Vec<Value>>(&extended).unwrap(), all);
        }
    }
}
