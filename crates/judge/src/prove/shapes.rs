//! Results in other shapes than objects and lists: JSON in texts, lines of fields, tables.

use cuecard_source::value::Json;
use serde_json::Map;

use super::pairs::pairs;
use super::text::pattern;

/// The texts that are JSON as what they are.
pub(super) fn opened(value: &Json) -> Json {
    match value {
        Json::String(text) => {
            let is_json = text.trim_start().starts_with(['{', '[']);
            let parsed = is_json
                .then(|| serde_json::from_str::<Json>(text).ok())
                .flatten();
            let parsed = parsed.map(|parsed| opened(&parsed));
            let parsed = parsed
                .or_else(|| lines_of_fields(text))
                .or_else(|| table(text, false))
                .or_else(|| table(text, true));
            parsed.unwrap_or_else(|| value.clone())
        }
        Json::Array(items) => items.iter().map(opened).collect(),
        Json::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| (key.clone(), opened(value)));
            of_rows(members.collect())
        }
        other => other.clone(),
    }
}

/// A text of lines such as `insured: false` as an object, of several paragraphs of them as a list.
fn lines_of_fields(text: &str) -> Option<Json> {
    pattern!(
        FIELD,
        r"^[\p{L}][\w ()/.-]{0,40}: +\S.*$|^[\p{L}][\w-]{0,40} - [\w ]{1,20}$"
    );
    let mut records: Vec<Map<String, Json>> = vec![Map::new()];
    for line in text.lines() {
        if line.trim().is_empty() {
            records.push(Map::new());
            continue;
        }
        let field = line.split_once(": ").or(line.split_once(" - "));
        let (key, value) = field.filter(|_| FIELD.is_match(line))?;
        // `Ann: smoker no, paid yes` is a record.
        if pairs(value).is_some() {
            return None;
        }
        let record = records.last_mut()?;
        if record
            .insert(key.trim().to_owned(), plain_value(value))
            .is_some()
        {
            return None;
        }
    }
    records.retain(|record| !record.is_empty());
    let n_fields: usize = records.iter().map(Map::len).sum();
    let mut records = records.into_iter().map(Json::Object);
    match records.len() {
        0 => None,
        // One line is a sentence.
        1 if n_fields < 2 => None,
        1 => records.next(),
        _ => Some(records.collect()),
    }
}

/// The time and the level with which a line of a log begins, and the rest of it.
pub(super) fn log_entry(line: &str) -> Option<(&str, &str)> {
    pattern!(
        STAMP,
        r"^\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?\]?\s+(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\]?:?\s+)?"
    );
    let stamp = STAMP.find(line)?;
    let entry = &line[stamp.end()..];
    entry
        .starts_with(char::is_alphabetic)
        .then_some((stamp.as_str(), entry))
}

/// A text without the tables of Markdown in it, and these as lists of objects, each with its row of names.
pub(super) fn without_tables(text: &str) -> (String, Vec<(String, Json)>) {
    let is_row = |line: &&str| line.trim().starts_with('|');
    let (mut rest, mut tables) = (String::new(), Vec::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut rows = vec![line];
        if is_row(&line) {
            while let Some(row) = lines.next_if(is_row) {
                rows.push(row);
            }
        }
        let whole = rows.join("\n");
        match table(&whole, true).filter(|_| rows.len() > 2) {
            Some(table) => tables.push((line.to_owned(), table)),
            None => rest.push_str(&whole),
        }
        rest.push('\n');
    }
    (rest, tables)
}

/// A text of rows under a row of names as a list of objects: rows with commas, or a table of Markdown.
fn table(text: &str, is_markdown: bool) -> Option<Json> {
    let cells_of = |row: &str| -> Option<Vec<String>> {
        let row = row.trim();
        let inner = match is_markdown {
            true => row.strip_prefix('|')?.strip_suffix('|')?,
            false => row,
        };
        let cells = inner.split(if is_markdown { '|' } else { ',' });
        (!inner.contains('"')).then(|| cells.map(|cell| cell.trim().to_owned()).collect())
    };
    let is_line = |row: &&str| row.bytes().all(|byte| b"|-: ".contains(&byte));
    let rows = text.lines().filter(|line| !line.trim().is_empty());
    let mut rows = rows.filter(|row| !(is_markdown && is_line(row)));
    let names = cells_of(rows.next()?)?;
    let is_name = |name: &String| {
        // `- Ann Lee: Graz, 31` and `Main Street 5, Graz` name no columns.
        let is_value = name.contains(' ') && name.contains(|sign: char| sign.is_ascii_digit());
        !name.is_empty()
            && name.len() < 40
            && !name.contains(['.', ':'])
            && !name.starts_with('-')
            && !is_value
    };
    if names.len() < 2 || !names.iter().all(is_name) {
        return None;
    }
    let records = rows.map(|row| {
        let cells = cells_of(row).filter(|cells| cells.len() == names.len())?;
        let members = names
            .iter()
            .cloned()
            .zip(cells.iter().map(|cell| plain_value(cell)));
        Some(of_rows(members.collect()))
    });
    let records: Vec<Json> = records.collect::<Option<_>>()?;
    (!records.is_empty()).then(|| records.into())
}

/// `true`, `false`, `null` and numbers as what they are.
fn plain_value(text: &str) -> Json {
    let parsed = serde_json::from_str(text.trim()).ok();
    let parsed =
        parsed.filter(|json: &Json| json.is_boolean() || json.is_number() || json.is_null());
    parsed.unwrap_or_else(|| text.trim().into())
}

/// `columns` and `rows` as a list of objects, and objects by their names as a list of objects with names.
fn of_rows(members: Map<String, Json>) -> Json {
    let columns = members.get("columns").and_then(Json::as_array);
    let rows = members
        .get("rows")
        .or(members.get("data"))
        .and_then(Json::as_array);
    if let (Some(columns), Some(rows)) = (columns, rows) {
        let names: Option<Vec<&str>> = columns
            .iter()
            .map(|column| column.as_str().or_else(|| column.get("name")?.as_str()))
            .collect();
        let records = names.and_then(|names| {
            let record = |row: &Json| {
                let cells = row.as_array().filter(|cells| cells.len() == names.len())?;
                let members = names
                    .iter()
                    .map(|name| (*name).to_owned())
                    .zip(cells.iter().cloned());
                Some(Json::Object(members.collect()))
            };
            rows.iter().map(record).collect::<Option<Vec<Json>>>()
        });
        if let Some(records) = records.filter(|records| !records.is_empty()) {
            return records.into();
        }
    }
    let keys = |value: &Json| {
        let members = value.as_object()?;
        Some(members.keys().cloned().collect::<Vec<String>>())
    };
    let first = members.values().next().and_then(keys);
    let is_alike = first.is_some_and(|first| {
        !first.is_empty()
            && !first.iter().any(|key| key == "name")
            && members
                .values()
                .all(|value| keys(value).as_ref() == Some(&first))
    });
    if members.len() < 2 || !is_alike {
        return Json::Object(members);
    }
    let named = members.into_iter().map(|(name, value)| {
        let mut record = Map::new();
        record.insert("name".to_owned(), name.into());
        record.extend(value.as_object().cloned().unwrap_or_default());
        Json::Object(record)
    });
    named.collect()
}
