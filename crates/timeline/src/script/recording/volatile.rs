//! What is different in each run of an agent, though its tools did the same: a recorded result says what may come there.

use std::sync::LazyLock;

use regex::Regex;

/// What agents write around results, as regular expressions without groups.
const VOLATILE: &[&str] = &[
    "Chunk ID: [0-9a-f]+",
    r"Wall time: [0-9.]+ seconds",
    "session ID [0-9]+",
    // It depends on the length of folders.
    "Original token count: [0-9]+",
    "Process Group PGID: [0-9]+",
    "Background PIDs: [0-9][0-9, ]*",
];
/// What may stand in place of a folder.
const ANY_FOLDER: &str = r"/\S+";
/// Where agents tell the model which folder they work in.
static WORKSPACE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?i)(?:<cwd>|working (?:in the )?directory: *|\bcwd: *|\*\*workspace directories:\*\*\s+- )(/[^\s<]+)";
    Regex::new(pattern).expect("the pattern is fixed")
});

/// Finds what is different in each run.
#[derive(Debug)]
pub(super) struct Volatile {
    /// The folders that the agent works in; one inside of another stands before that.
    workspaces: Vec<String>,
    finder: Option<Regex>,
    /// What may come in place of what each group of the finder finds.
    patterns: Vec<String>,
}

impl Default for Volatile {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Volatile {
    /// The same for agents that work in these folders.
    fn new(workspaces: Vec<String>) -> Self {
        let folders = workspaces.iter().map(|folder| {
            let escaped = regex::escape(folder);
            (format!(r"{escaped}\b"), ANY_FOLDER.to_owned())
        });
        let known = VOLATILE
            .iter()
            .map(|it| ((*it).to_owned(), (*it).to_owned()));
        let (found, patterns): (Vec<String>, Vec<String>) = folders.chain(known).unzip();
        Self {
            finder: Regex::new(&format!("({})", found.join(")|("))).ok(),
            patterns,
            workspaces,
        }
    }

    /// Learns the folders in which an agent says that it works.
    pub(super) fn learn<'t>(&mut self, texts: impl Iterator<Item = &'t str>) {
        let mut known = self.workspaces.clone();
        known.extend(texts.flat_map(workspaces));
        known.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        known.dedup();
        if known.len() > self.workspaces.len() {
            *self = Self::new(known);
        }
    }

    /// A regular expression for `text` that leaves open what is different in each run; none if nothing is.
    pub(super) fn pattern(&self, text: &str) -> Option<String> {
        let mut pattern = String::new();
        let mut end = 0;
        for found in self.finder.as_ref()?.captures_iter(text) {
            let whole = found.get(0)?;
            let of_group = self.patterns.iter().enumerate();
            let mut of_group = of_group.filter(|(idx, _)| found.get(idx + 1).is_some());
            let (_, open) = of_group.next()?;
            pattern.push_str(&regex::escape(&text[end..whole.start()]));
            pattern.push_str(open);
            end = whole.end();
        }
        pattern.push_str(&regex::escape(&text[end..]));
        (end > 0).then_some(pattern)
    }
}

/// The folders in which an agent says that it works.
fn workspaces(text: &str) -> Vec<String> {
    let folders = WORKSPACE.captures_iter(text);
    let folders = folders.filter_map(|found| found.get(1));
    folders
        .map(|folder| folder.as_str().trim_end_matches(['/', '.', ',']).to_owned())
        .filter(|folder| !folder.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_times_and_folders_may_be_others() {
        let said = "<environment_context><cwd>/tmp/w1</cwd></environment_context>\nWorking directory: /home/me/x.";
        let folders = workspaces(said);
        assert_eq!(folders, ["/tmp/w1", "/home/me/x"]);
        let gemini = "in /home/me/tmp\n- **Workspace Directories:**\n  - /srv/b\n- **Directory Structure:**\n";
        assert_eq!(workspaces(gemini), ["/srv/b"]);
        let qwen = "I'm currently working in the directory: /srv/c\nHere";
        assert_eq!(workspaces(qwen), ["/srv/c"]);
        let volatile = Volatile::new(folders);
        let result = |id: &str, folder: &str, last: &str| {
            format!(
                "Chunk ID: {id}\nWall time: 0.{id} seconds\nOriginal token count: {id}\nOutput:\n<path>{folder}/a.txt</path> ({last})\nBackground PIDs: {id}, {id}\nProcess Group PGID: {id}"
            )
        };
        let pattern = volatile.pattern(&result("12", "/tmp/w1", "x"));
        let pattern = Regex::new(&format!("^{}$", pattern.expect("it is different"))).expect("one");
        assert!(
            pattern.is_match(&result("345", "/var/w2", "x")),
            "{pattern}"
        );
        assert!(
            !pattern.is_match(&result("345", "/var/w2", "y")),
            "{pattern}"
        );
        // Another folder, and what says nothing of this kind, is the same in each run.
        assert_eq!(volatile.pattern("/tmp/w10/a.txt: no such file"), None);
    }
}
