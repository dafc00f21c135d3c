use super::*;
use crate::json_text::tests::any_text;
use proptest::prelude::*;
use serde_json::Value;

/// As Jupyter writes it: one space per level, a line end at the end; with a field nobody knows.
const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"big": 123456789012345678901234567890},
   "attachments": {},
   "source": "# Title"
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "c0de",
   "metadata": {
    "x_unknown": 1.0
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "hi\n"
     ]
    }
   ],
   "source": [
    "print('hi')"
   ]
  }
 ],
 "metadata": {
  "x": 1e400
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

fn change(cell_id: Option<&str>, new_source: &str, mode: EditMode) -> NotebookEdit {
    NotebookEdit {
        cell_id: cell_id.map(str::to_owned),
        new_source: new_source.to_owned(),
        cell_type: None,
        mode,
    }
}

fn apply(text: &str, change: &NotebookEdit) -> Result<(String, NotebookEdited), WorkspaceError> {
    changed(text.as_bytes().to_vec(), change)
}

#[test]
fn replacing_code_clears_what_belonged_to_the_old_text_and_nothing_else() {
    let (text, edited) = apply(
        NOTEBOOK,
        &change(Some("c0de"), "a = 1\nb = 2", EditMode::Replace),
    )
    .unwrap();
    let expected = NOTEBOOK
        .replace("\"execution_count\": 3", "\"execution_count\": null")
        .replace(
            &NOTEBOOK[NOTEBOOK.find("\"outputs\"").unwrap()..NOTEBOOK.find("\n  }\n ],").unwrap()],
            "\"outputs\": [],\n   \"source\": [\n    \"a = 1\\n\",\n    \"b = 2\"\n   ]",
        );
    assert_eq!(text, expected);
    assert_eq!(
        serde_json::to_value(edited).unwrap(),
        json!({"cell_id": "c0de", "cells": 2})
    );
}

#[test]
fn a_source_keeps_its_shape() {
    let (text, _) = apply(NOTEBOOK, &change(Some("cell-0"), "a\nb", EditMode::Replace)).unwrap();
    assert!(text.contains(r#""source": "a\nb""#), "{text}");
    assert!(text.contains("\"execution_count\": 3"), "{text}");
}

#[test]
fn changing_the_type_converts_the_fields() {
    let mut to_code = change(Some("intro"), "x", EditMode::Replace);
    to_code.cell_type = Some(CellType::Code);
    let (text, _) = apply(NOTEBOOK, &to_code).unwrap();
    assert!(
        text.contains(r#""metadata": {"big": 123456789012345678901234567890},"#),
        "{text}"
    );
    let document: Document = Document::parse(text.into_bytes()).unwrap();
    let fields = document.cells[0].fields();
    let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "cell_type",
            "execution_count",
            "id",
            "metadata",
            "outputs",
            "source"
        ]
    );
    assert_eq!(fields["outputs"], json!([]));

    let mut to_text = change(Some("c0de"), "x", EditMode::Replace);
    to_text.cell_type = Some(CellType::Markdown);
    let (text, _) = apply(NOTEBOOK, &to_text).unwrap();
    let fields = Document::parse(text.into_bytes()).unwrap().cells[1].fields();
    let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(keys, ["cell_type", "id", "metadata", "source"]);
    assert_eq!(fields["source"], json!(["x"]));
}

#[test]
fn inserted_cells_go_behind_the_named_one_or_to_the_start() {
    let mut insert = change(Some("intro"), "new", EditMode::Insert);
    insert.cell_type = Some(CellType::Code);
    let (text, edited) = apply(NOTEBOOK, &insert).unwrap();
    let cell = format!(
        "  {{\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"{}\",\n   \
         \"metadata\": {{}},\n   \"outputs\": [],\n   \"source\": [\n    \"new\"\n   ]\n  }},\n",
        edited.cell_id
    );
    let second = NOTEBOOK.find("  {\n   \"cell_type\": \"code\"").unwrap();
    assert_eq!(
        text,
        format!("{}{cell}{}", &NOTEBOOK[..second], &NOTEBOOK[second..])
    );
    assert_eq!(edited.cells, 3);
    assert_eq!(edited.cell_id.len(), 8);
    assert_eq!(
        apply(NOTEBOOK, &insert).unwrap(),
        (text, edited),
        "ids are deterministic"
    );

    insert.cell_id = None;
    let (text, edited) = apply(NOTEBOOK, &insert).unwrap();
    assert_eq!(
        Document::parse(text.into_bytes()).unwrap().label(0),
        edited.cell_id
    );
    insert.cell_id = Some("c0de".to_owned());
    let (text, edited) = apply(NOTEBOOK, &insert).unwrap();
    assert_eq!(
        Document::parse(text.into_bytes()).unwrap().label(2),
        edited.cell_id
    );
    insert.cell_type = None;
    let problem = apply(NOTEBOOK, &insert).unwrap_err().to_string();
    assert_eq!(problem, "`cell_type` is missing, and `insert` needs it");
}

#[test]
fn old_notebooks_get_no_ids() {
    let old = NOTEBOOK
        .replace("\"nbformat_minor\": 5", "\"nbformat_minor\": 4")
        .replace("   \"id\": \"c0de\",\n", "");
    let mut insert = change(Some("cell-1"), "new", EditMode::Insert);
    insert.cell_type = Some(CellType::Markdown);
    let (text, edited) = apply(&old, &insert).unwrap();
    assert_eq!(edited.cell_id, "cell-2");
    assert_eq!(text.matches("\"id\"").count(), 1);
    let (_, edited) = apply(&old, &change(Some("intro"), "x", EditMode::Replace)).unwrap();
    assert_eq!(
        edited.cell_id, "intro",
        "an id that is there is used all the same"
    );
}

#[test]
fn a_new_notebook_without_id_gets_one_when_its_cell_is_replaced() {
    let without = NOTEBOOK.replace("   \"id\": \"c0de\",\n", "");
    let (text, edited) = apply(&without, &change(Some("cell-1"), "x", EditMode::Replace)).unwrap();
    assert_eq!(
        Document::parse(text.into_bytes()).unwrap().label(1),
        edited.cell_id
    );
    assert_ne!(edited.cell_id, "cell-1");
}

#[test]
fn deleting_takes_the_cell_and_its_comma() {
    let (text, edited) = apply(NOTEBOOK, &change(Some("c0de"), "", EditMode::Delete)).unwrap();
    assert!(
        text.contains("\"source\": \"# Title\"\n  }\n ],\n \"metadata\""),
        "{text}"
    );
    assert_eq!(
        edited,
        NotebookEdited {
            cell_id: "c0de".to_owned(),
            cells: 1
        }
    );
    let (text, _) = apply(&text, &change(Some("cell-0"), "", EditMode::Delete)).unwrap();
    assert!(text.contains("\"cells\": [],"), "{text}");
    let mut insert = change(None, "", EditMode::Insert);
    insert.cell_type = Some(CellType::Markdown);
    let (text, _) = apply(&text, &insert).unwrap();
    assert!(
        text.contains("\"cells\": [\n  {\n   \"cell_type\": \"markdown\","),
        "{text}"
    );
    assert!(text.contains("\"source\": []\n  }\n ],"), "{text}");
}

#[test]
fn one_line_stays_one_line_and_foreign_line_ends_stay() {
    let compact = r#"{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}"#;
    let mut insert = change(None, "a", EditMode::Insert);
    insert.cell_type = Some(CellType::Markdown);
    let (text, _) = apply(compact, &insert).unwrap();
    assert!(
        !text.contains('\n') && text.contains(r#""cells":[{"cell_type":"markdown","#),
        "{text}"
    );
    let windows = NOTEBOOK.replace('\n', "\r\n");
    let (text, _) = apply(&windows, &insert).unwrap();
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
}

#[test]
fn unknown_cells_are_named_with_those_there_are() {
    let problem = apply(NOTEBOOK, &change(Some("code"), "", EditMode::Delete)).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "cell `code` not found; the cells are: `intro` and `c0de`"
    );
    assert_eq!(problem.help().as_deref(), Some("did you mean `c0de`?"));
    for wanted in ["cell-2", "cell-+1", "cell-", "cell-99999999999999999999"] {
        apply(NOTEBOOK, &change(Some(wanted), "", EditMode::Delete)).unwrap_err();
    }
    let twice = NOTEBOOK.replace("c0de", "intro");
    let problem = apply(&twice, &change(Some("intro"), "", EditMode::Delete)).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "several cells have the id `intro`: cells 0 and 1, counted from 0"
    );
    let problem = apply(NOTEBOOK, &change(None, "", EditMode::Replace)).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "`cell_id` is missing, and `replace` needs it"
    );
}

#[test]
fn what_is_no_notebook_says_why() {
    let reason = |text: &str| {
        apply(text, &change(Some("a"), "", EditMode::Delete))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        reason("{]"),
        "this is not a notebook: it is not JSON: unexpected token in object (line 1, column 2)"
    );
    assert_eq!(
        reason("[]"),
        "this is not a notebook: it is JSON, but not an object"
    );
    assert_eq!(
        reason("{}"),
        "this is not a notebook: it has no `nbformat` number"
    );
    assert_eq!(
        reason(r#"{"nbformat": 3, "worksheets": []}"#),
        "unsupported notebook format 3: only format 4 is supported"
    );
    assert_eq!(
        reason(r#"{"nbformat": 4, "nbformat_minor": 2, "cells": [{}]}"#),
        "this is not a notebook: cell 0 has no `cell_type`"
    );
}

#[test]
fn the_file_is_written_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ipynb");
    std::fs::write(&path, NOTEBOOK).unwrap();
    let edited = edit(&path, &change(Some("intro"), "new", EditMode::Replace)).unwrap();
    assert_eq!(edited.cells, 2);
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains("\"source\": \"new\"")
    );
    let before = std::fs::read(&path).unwrap();
    edit(&path, &change(Some("nobody"), "new", EditMode::Replace)).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// What the format's schema says about a cell, for the versions of this test.
fn check_cell(cell: &Value, wants_ids: bool) {
    let fields = cell.as_object().unwrap();
    let is_code = cell["cell_type"] == "code";
    assert_eq!(fields.contains_key("outputs"), is_code, "{cell}");
    assert_eq!(fields.contains_key("execution_count"), is_code, "{cell}");
    assert_eq!(fields.contains_key("id"), wants_ids, "{cell}");
    assert!(fields["metadata"].is_object());
    assert!(fields["source"].is_array() || fields["source"].is_string());
}

fn any_change() -> impl Strategy<Value = NotebookEdit> {
    let modes = prop_oneof![
        Just(EditMode::Replace),
        Just(EditMode::Insert),
        Just(EditMode::Delete)
    ];
    (
        prop::option::of(0_usize..6),
        any_text(),
        any::<Option<bool>>(),
        modes,
    )
        .prop_map(|(place, new_source, is_code, mode)| NotebookEdit {
            cell_id: place.map(|place| format!("cell-{place}")),
            new_source,
            cell_type: is_code.map(|code| {
                if code {
                    CellType::Code
                } else {
                    CellType::Markdown
                }
            }),
            mode,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_edits_leave_a_valid_notebook_and_the_other_cells_alone(
        changes in prop::collection::vec(any_change(), 1..12),
        minor in 4_u64..6,
        layout in 0_u8..3,
    ) {
        let start = json!({"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": [], "z": 1});
        let mut text = match layout {
            0 => start.to_string(),
            1 => format!("{start:#}"),
            _ => format!("{start:#}\n").replace('\n', "\r\n"),
        };
        let mut sources: Vec<String> = Vec::new();
        for change in changes {
            let Ok((after, edited)) = apply(&text, &change) else { continue };
            let place = change.cell_id.as_ref().map(|id| id[5..].parse::<usize>().unwrap());
            match change.mode {
                EditMode::Replace => sources[place.unwrap()] = change.new_source.clone(),
                EditMode::Insert => {
                    sources.insert(place.map_or(0, |place| place + 1), change.new_source.clone());
                }
                EditMode::Delete => drop(sources.remove(place.unwrap())),
            }
            text = after;
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(value["z"].as_i64(), Some(1));
            let cells = value["cells"].as_array().unwrap();
            prop_assert_eq!(edited.cells, cells.len() as u64);
            let found: Vec<String> = cells
                .iter()
                .map(|cell| {
                    check_cell(cell, minor >= 5);
                    let lines = cell["source"].as_array().unwrap();
                    lines.iter().map(|line| line.as_str().unwrap()).collect()
                })
                .collect();
            prop_assert_eq!(&found, &sources);
        }
    }
}
