//! The notes a demo server keeps, in memory and bounded.

use std::collections::BTreeMap;

/// How many notes a server keeps.
const MAX_NOTES: usize = 10_000;
/// The size of one note, all its parts together, in bytes.
const MAX_NOTE_BYTES: usize = 64 * 1024;
/// The size of all notes together, in bytes.
const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;
/// Titles and tags stand in lists, which must stay small enough to send.
const MAX_TITLE_BYTES: usize = 200;
const MAX_TAGS: usize = 10;
const MAX_TAG_BYTES: usize = 40;
/// How many ids an error names.
const IDS_SHOWN: usize = 10;

/// One note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) tags: Vec<String>,
}

impl Note {
    fn bytes(&self) -> usize {
        self.title.len() + self.text.len() + self.tags.iter().map(String::len).sum::<usize>()
    }

    /// Whether `wanted`, in lower case already, occurs anywhere in the note.
    fn mentions(&self, wanted: &str) -> bool {
        [&self.title, &self.text]
            .into_iter()
            .chain(&self.tags)
            .any(|part| part.to_lowercase().contains(wanted))
    }
}

/// All notes by id. Ids start at 1 and are never used twice.
#[derive(Debug, Default)]
pub(super) struct Notes {
    by_id: BTreeMap<u64, Note>,
    last_id: u64,
    total_bytes: usize,
}

impl Notes {
    /// Keeps a note and gives its id. The error says which bound it breaks.
    pub(super) fn add(&mut self, note: Note) -> Result<u64, String> {
        if note.title.trim().is_empty() {
            return Err("a note needs a `title`".to_owned());
        }
        if note.title.len() > MAX_TITLE_BYTES {
            return Err(format!(
                "a note's `title` may have at most {MAX_TITLE_BYTES} bytes"
            ));
        }
        if note.tags.len() > MAX_TAGS || note.tags.iter().any(|tag| tag.len() > MAX_TAG_BYTES) {
            return Err(format!(
                "a note may have at most {MAX_TAGS} `tags` of {MAX_TAG_BYTES} bytes each"
            ));
        }
        let bytes = note.bytes();
        if bytes > MAX_NOTE_BYTES {
            return Err(format!(
                "a note may have at most {MAX_NOTE_BYTES} bytes, this one has {bytes}"
            ));
        }
        if self.by_id.len() >= MAX_NOTES || self.total_bytes + bytes > MAX_TOTAL_BYTES {
            return Err(format!(
                "the store is full: it takes at most {MAX_NOTES} notes and {MAX_TOTAL_BYTES} bytes; \
                 `delete_note` makes room"
            ));
        }
        self.last_id += 1;
        self.total_bytes += bytes;
        self.by_id.insert(self.last_id, note);
        Ok(self.last_id)
    }

    /// The note with that id. The error names the ids there are.
    pub(super) fn get(&self, id: u64) -> Result<&Note, String> {
        self.by_id.get(&id).ok_or_else(|| self.missing(id))
    }

    /// Forgets the note with that id. The error names the ids there are.
    pub(super) fn delete(&mut self, id: u64) -> Result<(), String> {
        let note = self.by_id.remove(&id).ok_or_else(|| self.missing(id))?;
        self.total_bytes -= note.bytes();
        Ok(())
    }

    /// All notes, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Note)> {
        self.by_id.iter().map(|(id, note)| (*id, note))
    }

    /// The notes that mention `query` in title, text or tags, whatever the case, oldest first.
    pub(super) fn search(&self, query: &str) -> impl Iterator<Item = (u64, &Note)> {
        let wanted = query.to_lowercase();
        self.iter().filter(move |(_, note)| note.mentions(&wanted))
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    fn missing(&self, id: u64) -> String {
        if self.by_id.is_empty() {
            return format!("there is no note {id}: there are no notes yet, `add_note` makes one");
        }
        let shown: Vec<String> = self
            .by_id
            .keys()
            .take(IDS_SHOWN)
            .map(u64::to_string)
            .collect();
        let more = match self.by_id.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "there is no note {id}; the notes are: {}{more}",
            shown.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(title: &str, text: &str) -> Note {
        Note {
            title: title.to_owned(),
            text: text.to_owned(),
            tags: Vec::new(),
        }
    }

    #[test]
    fn an_id_is_never_used_twice() {
        let mut notes = Notes::default();
        assert_eq!(notes.add(note("a", "")), Ok(1));
        assert_eq!(notes.delete(1), Ok(()));
        assert_eq!(notes.add(note("b", "")), Ok(2));
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn an_unknown_id_is_answered_with_the_known_ones() {
        let mut notes = Notes::default();
        assert!(notes.get(7).expect_err("empty").contains("no notes yet"));
        for _ in 0..12 {
            notes.add(note("a", "")).expect("fits");
        }
        let error = notes.get(70).expect_err("only 12");
        assert_eq!(
            error,
            "there is no note 70; the notes are: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"
        );
    }

    #[test]
    fn a_search_finds_titles_texts_and_tags_in_any_case() {
        let mut notes = Notes::default();
        notes.add(note("Grüße", "from here")).expect("fits");
        notes
            .add(Note {
                tags: vec!["Here".to_owned()],
                ..note("b", "c")
            })
            .expect("fits");
        notes.add(note("c", "nothing")).expect("fits");
        let ids = |query: &str| notes.search(query).map(|(id, _)| id).collect::<Vec<_>>();
        assert_eq!(ids("GRÜSSE"), Vec::<u64>::new());
        assert_eq!(ids("GRÜßE"), [1]);
        assert_eq!(ids("here"), [1, 2]);
    }

    #[test]
    fn every_bound_is_an_error_that_names_it() {
        let mut notes = Notes::default();
        let error = |notes: &mut Notes, note| notes.add(note).expect_err("over a bound");
        assert!(error(&mut notes, note(" ", "")).contains("`title`"));
        assert!(error(&mut notes, note(&"t".repeat(201), "")).contains("200 bytes"));
        let tagged = Note {
            tags: vec![String::new(); 11],
            ..note("a", "")
        };
        assert!(error(&mut notes, tagged).contains("10 `tags`"));
        assert!(error(&mut notes, note("a", &"x".repeat(65_536))).contains("65537"));
        let big = note("a", &"x".repeat(65_535));
        while notes.add(big.clone()).is_ok() {}
        assert_eq!(notes.len(), 1024, "64 MiB of notes of 64 KiB");
        notes.delete(1).expect("there");
        assert_eq!(notes.add(big), Ok(1025), "deleting makes room");
    }

    #[test]
    fn the_store_takes_ten_thousand_notes() {
        let mut notes = Notes::default();
        for _ in 0..MAX_NOTES {
            notes.add(note("a", "")).expect("fits");
        }
        assert!(
            notes
                .add(note("a", ""))
                .expect_err("full")
                .contains("10000 notes")
        );
    }
}
