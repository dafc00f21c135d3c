use super::*;
use crate::disk::tests::FaultyDisk;
use crate::json_text::tests::{any_json, any_text};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Map, json};
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

use OnNewColumn::{Error, Extend};

/// Appends without waiting for the device.
fn add(path: &Path, format: Format, data: Value) -> Appended {
    append_on(&FaultyDisk::default(), path, format, &data, Error).unwrap()
}

fn refusal(path: &Path, format: Format, data: Value) -> WorkspaceError {
    append_on(&FaultyDisk::default(), path, format, &data, Error).unwrap_err()
}

fn extend(path: &Path, data: Value) -> Appended {
    append_on(&FaultyDisk::default(), path, Format::Csv, &data, Extend).unwrap()
}

fn file(content: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, content).unwrap();
    (folder, path)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn json_lines_take_items_or_one_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/data.jsonl");
    let appended = append(&path, Format::Jsonl, &json!([{"b": 1, "a": "é"}, 2]), Error).unwrap();
    assert_eq!(
        serde_json::to_value(&appended).unwrap(),
        json!({"appended": 2, "path": path.display().to_string()})
    );
    append(&path, Format::Jsonl, &json!({"text": "a\nb"}), Error).unwrap();
    assert_eq!(
        text(&path),
        "{\"b\":1,\"a\":\"é\"}\n2\n{\"text\":\"a\\nb\"}\n"
    );
}

#[test]
fn no_items_touch_nothing_but_start_an_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for format in [Format::Jsonl, Format::Csv] {
        assert_eq!(add(&path, format, json!([])).appended, 0);
        assert!(!path.exists());
    }
    assert_eq!(add(&path, Format::Json, json!([])).total, Some(0));
    assert_eq!(text(&path), "[]\n");
}

#[test]
fn a_torn_json_line_goes_and_a_whole_one_is_completed() {
    let (_folder, path) = file("{\"a\":1}\n{\"a\":2, \"b\": \"x");
    let appended = add(&path, Format::Jsonl, json!(3));
    assert_eq!(text(&path), "{\"a\":1}\n3\n");
    assert_eq!(
        appended.warnings,
        [format!(
            "a torn record was removed from the end of `{}` (15 bytes): {{\"a\":2, \"b\": \"x",
            path.display()
        )]
    );
    let (_folder, path) = file("{\"a\":1}");
    assert_eq!(add(&path, Format::Jsonl, json!(3)).warnings, [""; 0]);
    assert_eq!(text(&path), "{\"a\":1}\n3\n");
    // A number may be the start of a longer one, so this is said.
    let (_folder, path) = file("12");
    assert!(add(&path, Format::Jsonl, json!(3)).warnings[0].contains("`12` was kept"));
    assert_eq!(text(&path), "12\n3\n");
}

#[test]
fn a_text_that_is_no_torn_record_stays() {
    for content in [
        "important notes without newline",
        "line one\nline two",
        "line one\n\"line two",
        "{\n  \"a\": 1\n}",
        "\"quoted",
        "{\"a\":1}\n{\"a\":2} x",
        "{\"a\":1}\nnope",
    ] {
        let (_folder, path) = file(content);
        let error = refusal(&path, Format::Jsonl, json!(3));
        assert!(
            error
                .to_string()
                .contains("does not end with a line of JSON"),
            "{error}"
        );
        assert_eq!(text(&path), content);
    }
}

#[test]
fn a_long_torn_line_is_found_piece_by_piece() {
    let torn = format!("{{\"a\":\"{}", "x".repeat(200_000));
    let (_folder, path) = file(&format!("1\n{torn}"));
    let warnings = add(&path, Format::Jsonl, json!(2)).warnings;
    assert!(warnings[0].contains("(200006 bytes)"), "{}", &warnings[0]);
    assert!(warnings[0].chars().count() < 500);
    assert_eq!(text(&path), "1\n2\n");
}

#[test]
fn csv_has_one_header_and_follows_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    add(
        &path,
        Format::Csv,
        json!([{"name": "a, b", "price": 1.5}, {"name": "c\"d", "tags": [1, "x"]}]),
    );
    add(
        &path,
        Format::Csv,
        json!({"price": null, "name": "=1+1", "tags": true}),
    );
    assert_eq!(
        text(&path),
        "name,price,tags\n\"a, b\",1.5,\n\"c\"\"d\",,\"[1,\"\"x\"\"]\"\n=1+1,,true\n"
    );
}

#[test]
fn items_that_are_no_objects_go_to_value_or_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    add(&path, Format::Csv, json!([1, [2, 3], null, ["x"]]));
    add(&path, Format::Csv, json!([["y"]]));
    assert_eq!(
        text(&path),
        "value\n1\n\"[2,3]\"\n\"\"\n\"[\"\"x\"\"]\"\n\"[\"\"y\"\"]\"\n"
    );
    let (_folder, path) = file("a,b\n");
    add(&path, Format::Csv, json!([[1, 2], {"b": 3}]));
    assert_eq!(text(&path), "a,b\n1,2\n,3\n");
    let error = refusal(&path, Format::Csv, json!([[1, 2, 3]]));
    assert!(
        error
            .to_string()
            .ends_with("has no column `value`; it has `a` and `b`"),
        "{error}"
    );
    let (_folder, path) = file("name\n");
    add(&path, Format::Csv, json!("x"));
    assert_eq!(text(&path), "name\nx\n");
}

#[test]
fn new_columns_are_named_or_added() {
    let before = "\u{feff}a,b\r\n1,\"x\r\ny\"\r\n2\r\n\r\n";
    let (_folder, path) = file(before);
    let error = refusal(&path, Format::Csv, json!([{"a": 1, "c": 2}, {"d,": 3}]));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}`: the file has no columns `c`, `d,`; it has `a` and `b`",
            path.display()
        )
        .replace("`c`, `d,`", "`c` and `d,`")
    );
    assert!(
        error
            .help()
            .unwrap()
            .contains("\"on_new_column\": \"extend\"")
    );
    assert_eq!(text(&path), before);
    let appended = extend(&path, json!([{"a": 1, "c": 2}, {"d,": 3}, [7, 8]]));
    assert_eq!(appended.appended, 3);
    assert_eq!(
        text(&path),
        "\u{feff}a,b,c,\"d,\"\r\n1,\"x\r\ny\",,\r\n2,,,\r\n\r\n1,,2,\r\n,,,3\r\n7,8,,\r\n"
    );
}

#[test]
fn rows_behind_a_quote_that_is_never_closed_stay() {
    for whole in [
        "a,b\n1,\"oops\n2,3\n",
        "a,b\n1,2\n3,\"oops\n4,5",
        "a\n\"oops\n2\n3\n",
        "a,\"b\n1,2\n",
        "a,b\n\"x\",\"two\n\nlines, and\n5,6\nmore\n",
        "a,b\n1,2\n3,\"two\nlines of text",
    ] {
        let (_folder, path) = file(whole);
        let error = refusal(&path, Format::Csv, json!({"a": 9}));
        assert!(error.to_string().contains("never closed"), "{error}");
        assert_eq!(text(&path), whole);
    }
}

#[test]
fn extending_completes_the_end_and_refuses_what_has_no_column() {
    let (_folder, path) = file("a,b\n1,2\n3,4");
    assert_eq!(extend(&path, json!({"c": 5})).warnings.len(), 1);
    assert_eq!(text(&path), "a,b,c\n1,2,\n3,4,\n,,5\n");
    let (_folder, path) = file("a");
    extend(&path, json!({"c": 5}));
    assert_eq!(text(&path), "a,c\n,5\n");
    let wide = "a\n1\n\"\n\",2\n";
    let (folder, path) = file(wide);
    let error = append_on(
        &FaultyDisk::default(),
        &path,
        Format::Csv,
        &json!({"c": 5}),
        Extend,
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the row on line 3 has 2 fields, but the header has 1"),
        "{error}"
    );
    assert_eq!(text(&path), wide);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_csv_end_is_completed_or_refused_with_its_line() {
    let after = |before: &str| {
        let (_folder, path) = file(before);
        let warnings = add(&path, Format::Csv, json!({"a": "x", "b": "y"})).warnings;
        (text(&path), warnings.len())
    };
    assert_eq!(
        after("a,b\n1,2\n3,4"),
        ("a,b\n1,2\n3,4\nx,y\n".to_owned(), 1)
    );
    assert_eq!(
        after("a,b\r\n1,2\r"),
        ("a,b\r\n1,2\r\nx,y\r\n".to_owned(), 0)
    );
    assert_eq!(after("a,b"), ("a,b\nx,y\n".to_owned(), 0));
    assert_eq!(after("a,b\n"), ("a,b\nx,y\n".to_owned(), 0));
    assert_eq!(after("\n"), ("\na,b\nx,y\n".to_owned(), 0));
    assert_eq!(after("\u{feff}"), ("\u{feff}a,b\nx,y\n".to_owned(), 0));
    for (before, problem) in [
        ("a,b\n1,2\n\n3", "the row on line 4 is incomplete"),
        (
            "a,b\n1,2\n3,\"4\n",
            "the row on line 3 has a quote that is never closed",
        ),
        ("\"a", "the row on line 1 has a quote that is never closed"),
        ("a,", "the file has no column `b`; it has `a` and ``"),
    ] {
        let (_folder, path) = file(before);
        let error = refusal(&path, Format::Csv, json!({"a": "x", "b": "y"}));
        assert!(error.to_string().ends_with(problem), "{error}");
        assert_eq!(text(&path), before);
    }
}

#[test]
fn the_end_of_a_large_csv_file_is_judged_too() {
    let plain = "1,2\n".repeat(50_000);
    let quoted = "1,\"two\nlines\"\n".repeat(20_000);
    // Quotes that read the same from the inside: only the start of the file tells.
    let mirrored = "1,\"\n,\"\n".repeat(30_000);
    for body in [&plain, &quoted, &mirrored] {
        for (end, kept) in [("", ""), ("3,4", "3,4\n"), ("3,\"4\n\"\n", "3,\"4\n\"\n")] {
            let (_folder, path) = file(&format!("a,b\n{body}{end}"));
            let warnings = add(&path, Format::Csv, json!({"a": 0})).warnings;
            assert_eq!(text(&path), format!("a,b\n{body}{kept}0,\n"));
            assert_eq!(warnings.len(), usize::from(end != kept));
        }
        let (_folder, path) = file(&format!("a,b\n{body}3,\"{plain}"));
        refusal(&path, Format::Csv, json!({"a": 0}));
    }
}

#[test]
fn headers_that_cannot_be_followed_are_refused() {
    let (_folder, path) = file("a,a\n");
    let error = refusal(&path, Format::Csv, json!({"a": 1}));
    assert!(
        error
            .to_string()
            .ends_with("the file has a duplicate column `a`"),
        "{error}"
    );
    add(&path, Format::Csv, json!([[1, 2]]));
    assert_eq!(text(&path), "a,a\n1,2\n");
    let (_folder, path) = file(&"x".repeat(1 << 20));
    let error = refusal(&path, Format::Csv, json!({"a": 1}));
    assert!(
        error.to_string().ends_with("does not end within 1 MiB"),
        "{error}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    refusal(&path, Format::Csv, json!([{}]));
    assert!(!path.exists());
}

#[test]
fn a_json_array_grows_and_anything_else_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/data.json");
    let appended = append(&path, Format::Json, &json!([1, {"a": []}]), Error).unwrap();
    assert_eq!(
        serde_json::to_value(&appended).unwrap(),
        json!({"appended": 2, "path": path.display().to_string(), "total": 2})
    );
    assert_eq!(text(&path), "[\n  1,\n  {\n    \"a\": []\n  }\n]\n");
    assert_eq!(add(&path, Format::Json, json!("x")).total, Some(3));
    for (content, reason) in [
        ("{}", "contains an object"),
        (
            "[1",
            "is not a JSON array: unterminated array (line 1, column 1)",
        ),
    ] {
        let (_folder, path) = file(content);
        let error = refusal(&path, Format::Json, json!(1));
        assert!(error.to_string().ends_with(reason), "{error}");
        assert_eq!(text(&path), content);
    }
}

#[test]
fn utf16_and_special_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for format in [Format::Jsonl, Format::Csv, Format::Json] {
        fs::write(&path, b"\xff\xfea\0").unwrap();
        let error = refusal(&path, format, json!([1]));
        assert!(error.to_string().contains("UTF-16"), "{error}");
        let error = refusal(folder.path(), format, json!([1]));
        assert!(error.to_string().ends_with("it is a folder"), "{error}");
        let error = refusal(Path::new("/dev/null"), format, json!([1]));
        assert!(error.to_string().ends_with("it is a device"), "{error}");
    }
}

#[test]
fn a_full_disk_leaves_the_file_as_it_was() {
    for (format, before) in [
        (Format::Jsonl, "{\"a\":1}\n"),
        (Format::Csv, "a\n1\n"),
        (Format::Json, "[1]\n"),
    ] {
        let (_folder, path) = file(before);
        for room in 0..4 {
            let disk = FaultyDisk {
                room: Cell::new(Some(room)),
                ..FaultyDisk::default()
            };
            let error = append_on(&disk, &path, format, &json!([{"a": 12345}]), Error).unwrap_err();
            assert!(error.to_string().ends_with("the disk is full"), "{error}");
            if format != Format::Json {
                assert!(
                    error.to_string().contains("nothing was appended"),
                    "{error}"
                );
            }
            assert_eq!(text(&path), before);
        }
    }
}

#[test]
fn a_full_disk_leaves_no_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for format in [Format::Jsonl, Format::Csv, Format::Json] {
        let disk = FaultyDisk {
            room: Cell::new(Some(1)),
            ..FaultyDisk::default()
        };
        append_on(&disk, &path, format, &json!([{"a": 1}]), Error).unwrap_err();
        assert!(!path.exists());
    }
}

#[test]
fn what_could_not_be_flushed_is_taken_back() {
    for (format, before) in [
        (Format::Jsonl, "1\n"),
        (Format::Csv, "value\n1\n"),
        (Format::Json, "[1]"),
    ] {
        let (_folder, path) = file(before);
        let disk = FaultyDisk {
            sync_fails: true,
            ..FaultyDisk::default()
        };
        append_on(&disk, &path, format, &json!([2]), Error).unwrap_err();
        assert_eq!(text(&path), before);
        let disk = FaultyDisk {
            rename_fails: true,
            ..FaultyDisk::default()
        };
        let result = append_on(&disk, &path, format, &json!([2]), Error);
        assert_eq!(result.is_err(), format == Format::Json);
        if format == Format::Json {
            assert_eq!(text(&path), before);
        }
    }
}

#[test]
fn an_extension_that_fails_leaves_the_file_as_it_was() {
    let (folder, path) = file("a\n1\n");
    for disk in [
        FaultyDisk {
            room: Cell::new(Some(3)),
            ..FaultyDisk::default()
        },
        FaultyDisk {
            sync_fails: true,
            ..FaultyDisk::default()
        },
        FaultyDisk {
            rename_fails: true,
            ..FaultyDisk::default()
        },
    ] {
        append_on(&disk, &path, Format::Csv, &json!({"b": 1}), Extend).unwrap_err();
        assert_eq!(text(&path), "a\n1\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn records_are_one_write() {
    for (format, before) in [(Format::Jsonl, "1"), (Format::Csv, "value\n1")] {
        let (_folder, path) = file(before);
        let disk = FaultyDisk::default();
        let items: Vec<Value> = (0..1000).map(Value::from).collect();
        append_on(&disk, &path, format, &Value::from(items), Error).unwrap();
        assert_eq!(disk.writes.get(), 1);
    }
}

#[test]
fn several_writers_lose_and_tear_nothing() {
    const WRITERS: usize = 4;
    const APPENDS: usize = 25;
    for format in [Format::Jsonl, Format::Csv, Format::Json] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let path = &path;
                scope.spawn(move || {
                    for count in 0..APPENDS {
                        // In CSV each writer brings a column of its own, so that the file is replaced too.
                        let data = json!([{"writer": writer, format!("w{writer}"): count}]);
                        append_on(&FaultyDisk::default(), path, format, &data, Extend).unwrap();
                    }
                });
            }
        });
        let mut seen: Vec<(String, String)> = match format {
            Format::Jsonl => text(&path)
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap())
                .map(|record| pair(&record))
                .collect(),
            Format::Json => serde_json::from_str::<Vec<Value>>(&text(&path))
                .unwrap()
                .iter()
                .map(pair)
                .collect(),
            Format::Csv => {
                let text = text(&path);
                let mut reader = csv::Reader::from_reader(text.as_bytes());
                let rows: Vec<Map<String, Value>> =
                    reader.deserialize().map(|row| row.unwrap()).collect();
                rows.into_iter()
                    .map(|row| pair(&Value::from(row)))
                    .collect()
            }
        };
        seen.sort();
        let mut expected: Vec<(String, String)> = (0..WRITERS)
            .flat_map(|writer| {
                (0..APPENDS).map(move |count| (writer.to_string(), count.to_string()))
            })
            .collect();
        expected.sort();
        assert_eq!(seen, expected);
    }
}

/// The writer of a record and its count, whatever types the format keeps.
fn pair(record: &Value) -> (String, String) {
    let plain = |value: &Value| value.to_string().replace('"', "");
    let writer = plain(&record["writer"]);
    let count = plain(&record[format!("w{writer}")]);
    (writer, count)
}

/// Items as a scenario appends them: objects over a few columns.
fn any_rows() -> impl Strategy<Value = Vec<Map<String, Value>>> {
    let cell = prop_oneof![any_text().prop_map(Value::from), any_json()];
    let row = prop::collection::vec(prop::option::of(cell), 3).prop_map(|cells| {
        ["k", "two words", "q\",\n"]
            .into_iter()
            .zip(cells)
            .filter_map(|(name, cell)| Some((name.to_owned(), cell?)))
            .collect::<Map<String, Value>>()
    });
    prop::collection::vec(row, 1..4)
}

fn cell_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The rows of a CSV file by column name.
fn csv_rows(text: &str) -> Vec<Map<String, Value>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    reader
        .records()
        .map(|record| {
            let record = record.unwrap();
            let cells = record.iter().map(Value::from);
            names.iter().cloned().zip(cells).collect()
        })
        .collect()
}

fn same_rows(
    found: &[Map<String, Value>],
    expected: &[Map<String, Value>],
) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        for name in ["k", "two words", "q\",\n"] {
            prop_assert_eq!(cell_text(found.get(name)), cell_text(expected.get(name)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_appended_is_read_back(batches in prop::collection::vec(any_rows(), 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        let (lines, array, table) =
            (folder.path().join("l"), folder.path().join("j"), folder.path().join("c"));
        for batch in &batches {
            let data = Value::from(batch.iter().cloned().map(Value::from).collect::<Vec<_>>());
            add(&lines, Format::Jsonl, data.clone());
            add(&array, Format::Json, data.clone());
            if batch.iter().any(|row| !row.is_empty()) || table.exists() {
                extend(&table, data);
            }
        }
        let all = batches.concat();
        let read: Vec<Map<String, Value>> =
            text(&lines).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(&read, &all);
        let read: Vec<Map<String, Value>> = serde_json::from_str(&text(&array)).unwrap();
        prop_assert_eq!(&read, &all);
        let in_table: Vec<Map<String, Value>> = batches
            .into_iter()
            .skip_while(|batch| batch.iter().all(Map::is_empty))
            .flatten()
            .collect();
        if !in_table.is_empty() {
            same_rows(&csv_rows(&text(&table)), &in_table)?;
        }
    }
}

proptest! {
    // Each case is a file per byte of the last record.
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn json_lines_torn_anywhere_are_repaired(
        done in prop::collection::vec(any_json(), 1..3),
        // A bare number has whole numbers as starts, which nobody can tell.
        torn in any_json().prop_filter("torn numbers are kept", |value| !value.is_number()),
    ) {
        let (_folder, path) = file("");
        add(&path, Format::Jsonl, Value::from(done.clone()));
        let before = text(&path);
        add(&path, Format::Jsonl, json!([torn]));
        let after = fs::read(&path).unwrap();
        for length in before.len()..=after.len() {
            fs::write(&path, &after[..length]).unwrap();
            let warnings = add(&path, Format::Jsonl, json!({"next": 1})).warnings;
            let read: Vec<Value> =
                text(&path).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let is_whole = length + 1 >= after.len();
            let mut expected = done.clone();
            expected.extend(is_whole.then(|| torn.clone()));
            expected.push(json!({"next": 1}));
            prop_assert_eq!(read, expected);
            prop_assert_eq!(warnings.len(), usize::from(!is_whole && length > before.len()));
        }
    }

    #[test]
    fn csv_rows_torn_anywhere_are_refused_or_spoken_about(done in any_rows(), torn in any_rows()) {
        let all_columns = json!({"k": "first", "two words": "", "q\",\n": ""});
        let (_folder, path) = file("");
        add(&path, Format::Csv, all_columns.clone());
        add(&path, Format::Csv, Value::from(done.iter().cloned().map(Value::from).collect::<Vec<_>>()));
        let before = text(&path);
        add(&path, Format::Csv, Value::from(torn[0].clone()));
        let after = fs::read(&path).unwrap();
        let expected: Vec<Map<String, Value>> =
            [vec![all_columns.as_object().unwrap().clone()], done].concat();
        for length in before.len()..=after.len() {
            fs::write(&path, &after[..length]).unwrap();
            let data = json!({"k": "next"});
            let warnings = match append_on(&FaultyDisk::default(), &path, Format::Csv, &data, Error) {
                Ok(appended) => appended.warnings,
                Err(error) => {
                    prop_assert!((before.len() + 1..after.len()).contains(&length));
                    prop_assert!(error.to_string().contains("the row on line "), "{}", error);
                    prop_assert_eq!(fs::read(&path).unwrap(), &after[..length]);
                    continue;
                }
            };
            let read = csv_rows(&text(&path));
            let (last, rows) = read.split_last().unwrap();
            prop_assert_eq!(cell_text(last.get("k")), "next");
            same_rows(&rows[..expected.len()], &expected)?;
            // A torn row with all its columns is spoken about.
            let kept = rows.len() - expected.len();
            prop_assert!(kept <= 1);
            let is_whole = length == after.len();
            prop_assert_eq!(warnings.len(), usize::from(!is_whole && length > before.len()));
            if !is_whole && kept == 1 {
                prop_assert!(warnings[0].contains("may be truncated"));
            }
            prop_assert!(!is_whole || kept == 1);
        }
    }
}
