//! Reading a file as a reader sees it (numbered lines, an image, a notebook's cells), and writing one.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use base64::Engine as _;
use serde::Serialize;

use super::disk::{RealDisk, io_failure, open_for_reading, read_whole, replace, too_large};
use super::text::{Encoding, utf16_as_utf8};
use super::{WorkspaceError, bytes_in_words};
use lines::{Page, PageError, Wanted};

mod lines;
mod notebook_view;

pub use notebook_view::{CellOutput, CellView, ImageReference, NotebookRead};

/// What is enough to tell a binary file from text, and an image by its first bytes.
const SNIFFED: usize = 8192;

/// How much one read may take and give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadBounds {
    /// The largest text file that is read, in bytes. Lines beyond the wanted ones are only counted.
    pub file_bytes: u64,
    /// The largest image or notebook, in bytes.
    pub media_bytes: u64,
    /// The most text that one read returns, in bytes.
    pub content_bytes: usize,
    /// How many lines are returned where no limit is given.
    pub lines: u64,
    /// Characters of a line beyond which it is cut.
    pub line_chars: usize,
}

impl Default for ReadBounds {
    fn default() -> Self {
        Self {
            file_bytes: 256 << 20,
            media_bytes: 32 << 20,
            content_bytes: 16 << 20,
            lines: 2000,
            line_chars: 2000,
        }
    }
}

/// What was read: which of the three depends on the file's first bytes, and its name for notebooks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ReadOutcome {
    /// A text file.
    Text(TextRead),
    /// A picture.
    Image(ImageRead),
    /// A Jupyter notebook.
    Notebook(NotebookRead),
}

impl ReadOutcome {
    /// What the reader should be told besides the result.
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Text(text) => &text.warnings,
            Self::Image(_) | Self::Notebook(_) => &[],
        }
    }
}

/// Lines of a text file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextRead {
    /// The lines as `cat -n` shows them: the number right-aligned to six places, a tab, the text. Joined by
    /// `\n`, without one at the end. A line that was cut ends in `... [truncated]`.
    pub content: String,
    /// How many lines the file has; the last one counts without a line end too.
    pub total_lines: u64,
    /// The number of the first line returned, from 1.
    pub start_line: u64,
    /// How many lines were returned.
    pub lines_read: u64,
    /// What the reader should be told, such as bytes that are not UTF-8 and were replaced.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImageRead {
    /// Always `image`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: &'static str,
    /// The file's bytes in standard Base64 with padding.
    pub base64: String,
    /// The file's size in bytes, before encoding.
    pub bytes: u64,
}

/// What [`write`] did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The path as it was given.
    pub path: String,
    /// The file's new size in bytes.
    pub bytes_written: u64,
}

/// Reads a file from line `offset` (from 1; 0 means 1 too, as in the tool this one replays) for at most
/// `limit` lines.
///
/// Images are recognised by their first bytes and returned whole. A file called `*.ipynb` is rendered cell
/// by cell; `offset` and `limit` then count the lines of the rendering. UTF-16 with a byte order mark is
/// read as text. The whole file is read once to count its lines, in bounded memory.
///
/// # Errors
/// A missing or special file, one over the bounds, a binary one, an `offset` behind the last line, a
/// notebook that is none.
pub fn read(
    path: &Path,
    offset: Option<u64>,
    limit: Option<u64>,
    bounds: ReadBounds,
) -> Result<ReadOutcome, WorkspaceError> {
    if limit == Some(0) {
        let problem = WorkspaceError::new("`limit` is 0, so there is nothing to read");
        let help = "omit `limit` to read up to 2000 lines";
        return Err(problem.with_help(help).at(path));
    }
    let wanted = Wanted {
        first: offset.unwrap_or(1).max(1),
        count: limit.unwrap_or(bounds.lines),
        line_chars: bounds.line_chars,
        content_bytes: bounds.content_bytes,
    };
    if path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
    {
        return read_notebook(path, &wanted, bounds).map(ReadOutcome::Notebook);
    }
    let (file, metadata) = open_for_reading(path)?;
    let too_large = || {
        let hint = "take the part that matters with `claude__grep` or `claude__bash`";
        too_large(path, bounds.file_bytes, hint)
    };
    if metadata.len() > bounds.file_bytes {
        return Err(too_large());
    }
    let mut reader = BufReader::with_capacity(64 << 10, file.take(bounds.file_bytes + 1));
    let start = reader
        .fill_buf()
        .map_err(|source| io_failure(path, "read", source))?;
    if let Some(media_type) = image_type(start) {
        drop(reader);
        return read_image(path, media_type, bounds).map(ReadOutcome::Image);
    }
    let encoding = Encoding::of(start);
    if let Some(seems) = binary(start, encoding) {
        let problem = WorkspaceError::new(format!("this is not a text file but {seems}"));
        let help = "convert it to text first, for example with `claude__bash`";
        return Err(problem.with_help(help).at(path));
    }
    reader.consume(encoding.mark().len());
    let page = match encoding.utf16() {
        Some(charset) => {
            let mut decoder = BufReader::new(utf16_as_utf8(&mut reader, charset));
            lines::page(&mut decoder, &wanted)
        }
        None => lines::page(&mut reader, &wanted),
    };
    let page = page.map_err(|error| refused_page(path, error, wanted.content_bytes))?;
    if reader.into_inner().limit() == 0 {
        return Err(too_large());
    }
    text_read(path, &wanted, page).map(ReadOutcome::Text)
}

/// Writes `content` as the whole of a file, creating missing folders. The file is replaced at once: whoever
/// reads it sees the old content or the new. Its mode is kept, and a symbolic link leads to the same file
/// as before.
///
/// # Errors
/// What the operating system refuses; the file is then as it was.
pub fn write(path: &Path, content: &str) -> Result<Written, WorkspaceError> {
    write_bytes(path, content.as_bytes())?;
    Ok(Written {
        path: path.display().to_string(),
        bytes_written: content.len() as u64,
    })
}

/// As [`write`], for a file that is no text.
///
/// # Errors
/// As [`write`].
pub fn write_bytes(path: &Path, content: &[u8]) -> Result<(), WorkspaceError> {
    replace(&RealDisk, path, content)
}

fn text_read(path: &Path, wanted: &Wanted, page: Page) -> Result<TextRead, WorkspaceError> {
    if wanted.first > page.total_lines.max(1) {
        let (offset, total) = (wanted.first, page.total_lines);
        let lines = if total == 1 { "line" } else { "lines" };
        let problem = format!("`offset` is {offset}, but there are {total} {lines}");
        return Err(WorkspaceError::new(problem).at(path));
    }
    let mut warnings = Vec::new();
    if let Some((line, count)) = page.invalid_lines {
        warnings.push(format!(
            "`{}` is not valid UTF-8: bytes were replaced by U+FFFD in {}",
            path.display(),
            match count {
                1 => format!("line {line}"),
                _ => format!("{count} lines, the first is line {line}"),
            }
        ));
    }
    Ok(TextRead {
        content: page.content,
        total_lines: page.total_lines,
        start_line: wanted.first,
        lines_read: page.lines_read,
        warnings,
    })
}

fn read_image(
    path: &Path,
    media_type: &'static str,
    bounds: ReadBounds,
) -> Result<ImageRead, WorkspaceError> {
    let bytes = read_whole(path, bounds.media_bytes, "make the image smaller first")?;
    Ok(ImageRead {
        kind: "image",
        media_type,
        base64: base64::engine::general_purpose::STANDARD.encode(&bytes),
        bytes: bytes.len() as u64,
    })
}

fn read_notebook(
    path: &Path,
    wanted: &Wanted,
    bounds: ReadBounds,
) -> Result<NotebookRead, WorkspaceError> {
    let bytes = read_whole(
        path,
        bounds.media_bytes,
        "clear its outputs, or take single cells with `claude__bash` and `jq`",
    )?;
    let (rendered, cells) = notebook_view::render(bytes).map_err(|problem| problem.at(path))?;
    let unnumbered = lines::page_unnumbered(&rendered, wanted)
        .map_err(|error| refused_page(path, error, wanted.content_bytes))?;
    let text = text_read(path, wanted, unnumbered)?;
    Ok(NotebookRead {
        kind: "notebook",
        content: text.content,
        cells,
        total_lines: text.total_lines,
        start_line: text.start_line,
        lines_read: text.lines_read,
    })
}

fn refused_page(path: &Path, error: PageError, limit: usize) -> WorkspaceError {
    match error {
        PageError::Io(source) => io_failure(path, "read", source),
        PageError::TooMuch { last_fitting } => {
            let limit = bytes_in_words(limit as u64);
            WorkspaceError::new(format!("the requested lines are larger than {limit} in total"))
                .with_help(format!(
                    "read it in parts: give `offset` and a `limit`, the first one ending at line {last_fitting}"
                ))
                .at(path)
        }
    }
}

/// The media type of an image, by the signature it starts with.
fn image_type(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

/// What a file that is no text seems to be.
fn binary(start: &[u8], encoding: Encoding) -> Option<&'static str> {
    match start {
        _ if encoding.utf16().is_some() => None,
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("a PDF document"),
        [b'P', b'K', 3, 4, ..] => Some("a ZIP archive or an office document"),
        [0x1f, 0x8b, ..] => Some("gzip-compressed data"),
        [0x7f, b'E', b'L', b'F', ..] => Some("a program"),
        _ if start[..start.len().min(SNIFFED)].contains(&0) => {
            Some("binary data (it contains NUL bytes)")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::path::PathBuf;
    use tempfile::TempDir;

    fn file(content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.txt");
        fs::write(&path, content).unwrap();
        (folder, path)
    }

    fn text(path: &Path, offset: Option<u64>, limit: Option<u64>) -> TextRead {
        match read(path, offset, limit, ReadBounds::default()).unwrap() {
            ReadOutcome::Text(text) => text,
            other => panic!("not text: {other:?}"),
        }
    }

    #[test]
    fn lines_are_numbered_and_counted() {
        let (_folder, path) = file("one\ntwo\r\n\nfour");
        let read = read(&path, None, None, ReadBounds::default()).unwrap();
        assert_eq!(
            serde_json::to_value(&read).unwrap(),
            json!({
                "content": "     1\tone\n     2\ttwo\n     3\t\n     4\tfour",
                "total_lines": 4, "start_line": 1, "lines_read": 4,
            })
        );
        let part = text(&path, Some(2), Some(2));
        assert_eq!(part.content, "     2\ttwo\n     3\t");
        assert_eq!(
            (part.total_lines, part.start_line, part.lines_read),
            (4, 2, 2)
        );
    }

    #[test]
    fn an_empty_file_has_no_lines() {
        let (_folder, path) = file("");
        let read = text(&path, None, None);
        assert_eq!(
            (read.content.as_str(), read.total_lines, read.lines_read),
            ("", 0, 0)
        );
    }

    #[test]
    fn the_default_limit_is_2000_lines_and_long_lines_are_cut() {
        let (_folder, path) = file(format!("{}\n", "ä".repeat(2001)).repeat(2001));
        let read = text(&path, None, None);
        assert_eq!((read.total_lines, read.lines_read), (2001, 2000));
        let last = text(&path, Some(2001), None).content;
        assert_eq!(last, format!("  2001\t{}... [truncated]", "ä".repeat(2000)));
    }

    #[test]
    fn an_offset_behind_the_end_says_how_many_lines_there_are() {
        let (_folder, path) = file("one\n");
        let error = read(&path, Some(2), None, ReadBounds::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{}`: `offset` is 2, but there are 1 line", path.display())
        );
        read(&path, None, Some(0), ReadBounds::default()).unwrap_err();
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_and_said() {
        let (_folder, path) = file(b"fine\ncaf\xe9\n\xff\n");
        let read = text(&path, None, None);
        assert_eq!(
            read.content,
            "     1\tfine\n     2\tcaf\u{fffd}\n     3\t\u{fffd}"
        );
        assert!(
            read.warnings[0].ends_with("in 2 lines, the first is line 2"),
            "{read:?}"
        );
        assert_eq!(text(&path, None, Some(1)).warnings, [""; 0]);
    }

    #[test]
    fn marks_are_not_part_of_the_text() {
        let (_folder, path) = file(b"\xef\xbb\xbfa\n");
        assert_eq!(text(&path, None, None).content, "     1\ta");
        let (_folder, path) = file(b"\xff\xfea\0\n\0b\0");
        assert_eq!(text(&path, None, None).content, "     1\ta\n     2\tb");
    }

    #[test]
    fn images_come_whole_by_their_first_bytes() {
        let (_folder, path) = file(b"\x89PNG\r\n\x1a\nrest");
        let read = read(&path, None, None, ReadBounds::default()).unwrap();
        assert_eq!(
            serde_json::to_value(&read).unwrap(),
            json!({"type": "image", "media_type": "image/png", "base64": "iVBORw0KGgpyZXN0", "bytes": 12})
        );
        assert_eq!(image_type(b"RIFF\x10\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(image_type(b"RIFF\x10\0\0\0WAVEfmt "), None);
        assert_eq!(image_type(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(image_type(b"GIF89a"), Some("image/gif"));
    }

    #[test]
    fn binary_files_are_refused_by_name() {
        for (start, seems) in [
            (&b"%PDF-1.7"[..], "a PDF document"),
            (b"ab\0cd", "binary data (it contains NUL bytes)"),
        ] {
            let (_folder, path) = file(start);
            let error = read(&path, None, None, ReadBounds::default()).unwrap_err();
            assert!(error.to_string().ends_with(seems), "{error}");
        }
    }

    #[test]
    fn folders_and_missing_files_say_what_to_do() {
        let (folder, path) = file("");
        let error = read(folder.path(), None, None, ReadBounds::default()).unwrap_err();
        assert_eq!(
            error.help().as_deref(),
            Some("list its files with `claude__glob`")
        );
        let error = read(
            &path.with_file_name("fiel.txt"),
            None,
            None,
            ReadBounds::default(),
        )
        .unwrap_err();
        assert!(error.to_string().ends_with("no such file"), "{error}");
        assert!(error.help().unwrap().ends_with("/file.txt`?"));
    }

    #[test]
    fn every_bound_is_an_error_that_names_it() {
        let (_folder, path) = file("12345\n67890\n");
        let bounds = ReadBounds {
            file_bytes: 11,
            ..ReadBounds::default()
        };
        let error = read(&path, None, None, bounds).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("is larger than the limit of 11 bytes"),
            "{error}"
        );
        let bounds = ReadBounds {
            content_bytes: 20,
            ..ReadBounds::default()
        };
        let error = read(&path, None, None, bounds).unwrap_err();
        assert!(
            error.help().unwrap().ends_with("ending at line 1"),
            "{error:?}"
        );
        read(&path, Some(2), None, bounds).unwrap();
        let bounds = ReadBounds {
            file_bytes: 12,
            ..ReadBounds::default()
        };
        read(&path, None, None, bounds).unwrap();
    }

    #[test]
    fn notebooks_are_rendered_and_paged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.IPYNB");
        let notebook = json!({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# a\n", "b"]},
        ]});
        fs::write(&path, notebook.to_string()).unwrap();
        let read_value = |offset, limit| {
            let read = read(&path, offset, limit, ReadBounds::default()).unwrap();
            serde_json::to_value(&read).unwrap()
        };
        let whole = read_value(None, None);
        assert_eq!(
            whole["content"],
            "<cell id=\"cell-0\"><cell_type>markdown</cell_type># a\nb</cell id=\"cell-0\">"
        );
        assert_eq!(whole["type"], "notebook");
        assert_eq!(whole["cells"][0]["source"], "# a\nb");
        assert_eq!(
            read_value(Some(2), Some(1))["content"],
            "b</cell id=\"cell-0\">"
        );
        assert_eq!(read_value(Some(2), Some(1))["total_lines"], 2);
    }

    #[test]
    fn writing_creates_folders_and_says_how_much() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/c.txt");
        let written = write(&path, "äö").unwrap();
        assert_eq!(
            serde_json::to_value(&written).unwrap(),
            json!({"path": path.display().to_string(), "bytes_written": 4})
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "äö");
        write(&path, "").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }
}
