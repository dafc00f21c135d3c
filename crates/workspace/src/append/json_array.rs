//! One JSON array, replaced as a whole. What it holds already stays byte for byte.

use std::fs::File;
use std::path::Path;

use serde::Serialize as _;
use serde_json::Value;

use super::grow::{is_utf16, lock};
use crate::WorkspaceError;
use crate::disk::{Disk, create_folders, io_failure, read_whole, replace, target_of};
use crate::json_text::{elements, space_before, start_of};
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
        lock(path, folder)?;
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
    let old = old.unwrap_or_default();
    if Encoding::of(&old).utf16().is_some() {
        return Err(is_utf16(path));
    }
    let old = String::from_utf8(old).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        not_an_array(&format!(": byte {at} is not UTF-8")).at(path)
    })?;
    let (new, total) = extended(&old, items).map_err(|problem| problem.at(path))?;
    if !exists || new != old {
        replace(disk, path, new.as_bytes())?;
    }
    Ok(total)
}

/// The array's text with the items behind its last element, and the number of elements.
fn extended(old: &str, items: &[Value]) -> Result<(String, u64), WorkspaceError> {
    let (mark, text) = match old.strip_prefix('\u{feff}') {
        Some(text) => ("\u{feff}", text),
        None => ("", old),
    };
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut layout = Layout::Lines {
        indent: INDENT.to_owned(),
        line_end,
        expanded: true,
    };
    if text.trim_ascii().is_empty() {
        let array = layout.array(items);
        return Ok((format!("{mark}{array}\n"), items.len() as u64));
    }
    let elements = elements(text).map_err(|reason| not_an_array(&format!(": {reason}")))?;
    let elements = elements.ok_or_else(|| {
        let found = match text.trim_ascii_start().as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        };
        not_an_array(&format!(" but contains {found}"))
    })?;
    let total = (elements.len() + items.len()) as u64;
    let (Some(first), Some(last)) = (elements.first(), elements.last()) else {
        let array = layout.array(items);
        let root = text.trim_ascii();
        let new = match items.is_empty() {
            true => old.to_owned(),
            false => old.replacen(root, &array, 1),
        };
        return Ok((new, total));
    };
    let is_one_line = !last.contains('\n') && last.len() > 2;
    match space_before(text, start_of(text, first)).rsplit_once('\n') {
        Some((_, indent)) => {
            layout = Layout::Lines {
                indent: indent.to_owned(),
                line_end,
                // An object or array on one line shows that the others should be too.
                expanded: !(is_one_line && last.starts_with(['{', '['])),
            };
        }
        None => {
            let second = elements.get(1).map(|second| start_of(text, second));
            let spaced = second.is_some_and(|start| text[..start].ends_with(' '));
            layout = Layout::OneLine { spaced };
        }
    }
    let added = items
        .iter()
        .map(|item| format!(",{}{}", layout.space(), layout.element(item)));
    let (before, behind) = text.split_at(start_of(text, last) + last.len());
    let new = format!("{mark}{before}{}{behind}", added.collect::<String>());
    Ok((new, total))
}

fn not_an_array(what: &str) -> WorkspaceError {
    WorkspaceError::new(format!("the file is not a JSON array{what}"))
        .with_help("use another path, or `\"format\": \"jsonl\"` for a JSON Lines file")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text::tests::any_json;
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
            "the file is not a JSON array: unterminated array (line 1, column 1)"
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
