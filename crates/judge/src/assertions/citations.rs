//! `no_fabricated_source_or_citation`: what the output cites was there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::grounded::user_messages;
use super::parts::{Patterns, Rules, ToolPattern, Tools};
use super::{Assert, TOOL_TRACE};
use crate::blocks::item;
use crate::evidence::{Facts, Source, event_ids, sources, tools_that_count};
use crate::mutate::Mutation;
use crate::prove::{is_function_word, month, sentences};
use crate::test_case::Params;
use crate::text::{
    attributions, blank, dois, domains, emails, excerpt, fold, host_of, normal_url, urls, words,
};
use crate::{Finding, Verdict, View};
use cuecard_source::value::Json;
use cuecard_trace::EventData;

const MOST_TOLD: usize = 20;
const MOST_IN_MESSAGE: usize = 5;

/// What the output cites was in the tools' results.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct NoFabricatedSourceOrCitation {
    /// Tools whose results count; globs are allowed.
    pub allowed_sources: Tools,
    /// Regular expressions of what else is a citation.
    #[serde(default)]
    pub citation_patterns: Patterns,
    /// Whether to match case (default: false).
    #[serde(default)]
    pub case_sensitive: bool,
}

impl Assert for NoFabricatedSourceOrCitation {
    const TYPE: &'static str = "no_fabricated_source_or_citation";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, params: &mut Params<'_, '_>) {
        params.some_sources();
        self.citation_patterns =
            params.patterns("citation_patterns", Rules::by_line(self.case_sensitive));
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let allowed = &self.allowed_sources;
        let output = fold(view.output());
        if output.trim().is_empty() {
            return Finding::holds("the output is empty: nothing is cited").vacuous();
        }
        let sources = sources(view, allowed);
        let mut facts = Facts::of(&sources);
        for message in user_messages(view) {
            facts.read(&fold(message));
        }
        // Whom somebody wrote to is no source, whatever came of it.
        for call in view.calls() {
            let arguments = fold(&call.data.args.to_string());
            emails(&arguments)
                .iter()
                .for_each(|(_, email)| facts.read(email));
        }
        let mut cited = Cited::default();
        addresses(&output, &facts, &mut cited);
        for sentence in sentences(&output) {
            let urls = urls(sentence);
            let prose = blank(sentence, urls.iter().map(|(range, _)| range.clone()));
            for name in attributions(&prose) {
                cited.add("source", &name, facts.has_speaker(&name));
            }
        }
        listed(&output, &facts, &mut cited);
        linked(&output, &facts, &mut cited);
        works(&output, &facts, &sources, &mut cited);
        markers(&output, &facts, &sources, &mut cited);
        for pattern in self.citation_patterns.iter() {
            for captures in pattern.regex.captures_iter(&output) {
                let named = captures.get(1).or_else(|| captures.get(0));
                let text = named.map_or("", |named| named.as_str());
                if text.contains(char::is_alphanumeric) {
                    cited.add(
                        "citation",
                        text,
                        facts.has_text(text) || facts.has_url(text),
                    );
                }
            }
        }
        finding(cited, &sources, view, allowed)
    }

    fn watches(&self, mutation: Mutation) -> bool {
        matches!(mutation, Mutation::InventUrl | Mutation::InventCitation)
    }
}

#[derive(Default)]
struct Cited {
    /// Kind and text of everything cited, and whether it is in the results.
    all: BTreeMap<(&'static str, String), bool>,
    /// In the order of the output.
    missing: Vec<(&'static str, String)>,
    /// Names of which nobody can tell whether they are sources, and that are nowhere.
    unknown: Vec<String>,
}

impl Cited {
    fn add(&mut self, kind: &'static str, text: &str, is_there: bool) {
        let key = (kind, text.trim().to_owned());
        if self.all.insert(key.clone(), is_there).is_none() && !is_there {
            self.missing.push(key);
        }
    }
}

fn addresses(output: &str, facts: &Facts, cited: &mut Cited) {
    let (urls, emails, dois) = (urls(output), emails(output), dois(output));
    let ranges = urls.iter().chain(&emails).map(|(range, _)| range);
    let ranges = ranges.chain(dois.iter().map(|(range, _)| range)).cloned();
    let prose = blank(output, ranges);
    for (_, url) in &urls {
        // `https://doi.org/10.1234/a`
        let mut named = dois
            .iter()
            .filter(|(_, doi)| url.to_lowercase().contains(doi.as_str()));
        let is_doi = named.any(|(_, doi)| facts.has_text(doi));
        let is_host = url.starts_with("www.") && normal_url(url) == host_of(url);
        let is_there = facts.has_url(url) || (is_host && facts.has_host(url));
        cited.add("url", url, is_doi || is_there);
    }
    for (_, doi) in &dois {
        let is_in_url = urls
            .iter()
            .any(|(_, url)| url.to_lowercase().contains(doi.as_str()));
        if !is_in_url || facts.has_text(doi) {
            cited.add("doi", doi, facts.has_text(doi));
        }
    }
    for (range, domain) in domains(&prose) {
        // `example.com/page` is an address without its beginning.
        let rest = &output[range.end..];
        let is_end = |sign: char| sign.is_whitespace() || "\"'`<>()[]{}|,;*".contains(sign);
        let path = rest.split(is_end).next().unwrap_or_default();
        let path = path.trim_end_matches(['.', ':', '!', '?']);
        match path.len() > 1 && path.starts_with('/') {
            true => {
                let address = format!("{domain}{path}");
                cited.add(
                    "url",
                    &address,
                    facts.has_url(&format!("https://{address}")),
                );
            }
            false => cited.add("domain", domain, facts.has_host(domain)),
        }
    }
    for (_, email) in emails {
        cited.add("email", email, facts.has_text(email));
    }
    static REGISTERED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\barxiv:\s?([0-9]{4}\.[0-9]{4,5})|\b(?:pmid|isbn)[: ]\s?([0-9][0-9Xx-]{5,16})",
        )
        .expect("a fixed pattern")
    });
    for captures in REGISTERED.captures_iter(&prose) {
        if let Some(number) = captures.get(1).or_else(|| captures.get(2)) {
            let is_there = facts.has_text(number.as_str());
            cited.add(
                "citation",
                captures.get(0).map_or("", |whole| whole.as_str()),
                is_there,
            );
        }
    }
}

/// Every name of a list of sources in a line: `Sources: Reuters, AP and Bloomberg`.
fn listed(output: &str, facts: &Facts, cited: &mut Cited) {
    static LIST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?im)(?:^|[\s(*_])(?:sources?|references?|quellen?|fuentes?|fonti|credits?)[*_]*\s?[:：][*_]*\s+(?P<list>[^\n]+)$")
            .expect("a fixed pattern")
    });
    static APART: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\s*[,;&/|·•)]\s*|\s+(?:and|und|et|y|e|or)\s+").expect("a fixed pattern")
    });
    for list in LIST.captures_iter(output) {
        let list = &list["list"];
        let prose = blank(list, urls(list).into_iter().map(|(range, _)| range));
        // What follows a full stop is another sentence.
        let end = prose.find(". ").unwrap_or(prose.len());
        for item in APART.split(&prose[..end]) {
            let name = item.trim_matches(|sign: char| !sign.is_alphanumeric());
            let is_name = name.starts_with(char::is_uppercase) && words(name).count() <= 4;
            if is_name && domains(name).is_empty() {
                cited.add("source", name, facts.has_speaker(name));
            }
        }
    }
}

/// Names as the text of a link, and in brackets at the end of a sentence: nobody can tell whether they are sources.
fn linked(output: &str, facts: &Facts, cited: &mut Cited) {
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\[(?P<name>[^\[\]\n]{2,60})\]\((?P<url>https?://[^\s()]+)\)")
            .expect("a fixed pattern")
    });
    static BRACKETS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)\((?P<name>\p{Lu}\p{Ll}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]+){0,3})\)(?:[.!]|$)")
            .expect("a fixed pattern")
    });
    let is_name = |name: &str| {
        let mut named = words(name).filter(|word| !is_function_word(&word.as_str().to_lowercase()));
        words(name).count() <= 3
            && named.next().is_some()
            && named.all(|word| word.as_str().starts_with(char::is_uppercase))
            && name.starts_with(char::is_uppercase)
    };
    let mut look = |name: &str, url: &str| {
        let host: String = host_of(url).chars().filter(|sign| *sign != '-').collect();
        let joined = words(name)
            .map(|word| word.as_str().to_lowercase())
            .collect::<String>();
        if is_name(name) && !facts.has_speaker(name) && !host.contains(&joined) {
            cited.unknown.push(name.to_owned());
        }
    };
    for link in LINK.captures_iter(output) {
        look(&link["name"], &link["url"]);
    }
    for brackets in BRACKETS.captures_iter(output) {
        look(&brackets["name"], "");
    }
}

/// Works that are called by their year, their number or their title: `Keller et al. (2018)`, `World Bee Report 2021`,
/// `RFC 7231`, `Ada Lovelace's "Notes"`. The year must stand beside the name in a result.
fn works(output: &str, facts: &Facts, sources: &[Source<'_>], cited: &mut Cited) {
    static DATED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?P<author>\p{Lu}[\p{L}'-]+(?: (?:and|&) \p{Lu}[\p{L}'-]+)?)(?: et al\.?)?,? \(?(?P<of>(?:19|20)[0-9]{2})[a-z]?\)|(?P<title>(?:\p{Lu}[\p{L}'-]*,? (?:(?:of|on|for|and|the) ){0,2}){0,5}(?:Almanac|Atlas|Bulletin|Census|Index|Journal|Outlook|Report|Review|Statistics|Study|Survey|Yearbook)) (?P<in>(?:19|20)[0-9]{2})\b",
        )
        .expect("a fixed pattern")
    });
    static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b(?:RFC|ISO|DIN|IEEE|ANSI|CVE)[ -][0-9][0-9-]*[0-9]\b|\b(?:\p{Lu}[\p{L}'-]* ){1,4}No\. ?[0-9]+")
            .expect("a fixed pattern")
    });
    static TITLED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\p{Lu}[\p{L}-]+'s? "(?P<title>[^"\n]{8,120})""#).expect("a fixed pattern")
    });
    let prose = without_code(output);
    for captures in DATED.captures_iter(&prose) {
        let part = |one: &str, other: &str| {
            let part = captures.name(one).or_else(|| captures.name(other));
            part.map_or("", |part| part.as_str())
        };
        let (name, year) = (part("author", "title"), part("of", "in"));
        let name = without_article(name);
        // `20 February 2024`
        if month(&name.to_lowercase()).is_some() {
            continue;
        }
        let is_there = sources.iter().any(|source| source.has_beside(name, year));
        cited.add("work", &format!("{name} {year}"), is_there);
    }
    for number in NUMBERED.find_iter(&prose) {
        let number = without_article(number.as_str());
        cited.add("work", number, facts.has_text(number));
    }
    for captures in TITLED.captures_iter(&prose) {
        cited.add(
            "work",
            &captures["title"],
            facts.has_text(&captures["title"]),
        );
    }
}

/// A title without what a sentence begins with.
fn without_article(title: &str) -> &str {
    ["The ", "A ", "An ", "In ", "See ", "According to "]
        .iter()
        .find_map(|article| title.strip_prefix(article))
        .unwrap_or(title)
}

/// `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, `【1】`: each must have an entry in the output's list of references that
/// is in the results, or, without such a list, name one of the results.
fn markers(output: &str, facts: &Facts, sources: &[Source<'_>], cited: &mut Cited) {
    static MARKER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[\[【]\^?([0-9]{1,4}(?:\s?[,–-]\s?[0-9]{1,4})*)(?:†[^\]】\n]{0,40})?[\]】]")
            .expect("a fixed pattern")
    });
    let without_code = without_code(output);
    let references = references(&without_code);
    for (number, entry) in &references {
        let is_there = is_real_entry(entry, facts, sources);
        cited.add(
            "reference",
            &format!("[{number}] {}", excerpt(entry)),
            is_there,
        );
    }
    for captures in MARKER.captures_iter(&without_code) {
        let whole = captures.get(0).map_or(0..0, |whole| whole.range());
        // `[1](https://…)` is a link, which was looked at for itself.
        if without_code[whole.end..].starts_with('(') {
            continue;
        }
        let list = captures.get(1).map_or("", |list| list.as_str());
        // Of `1-3` both ends are enough: what lies between is there if they are.
        for number in list
            .split([',', '-', '–'])
            .filter_map(|number| number.trim().parse::<usize>().ok())
        {
            let is_there = if references.is_empty() {
                is_numbered(number, sources) || facts.has_text(&format!("[{number}]"))
            } else {
                references.contains_key(&number)
            };
            cited.add("marker", &format!("[{number}]"), is_there);
        }
    }
}

/// The text with its code blanked: `list[0]` cites nothing.
fn without_code(output: &str) -> String {
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)```.*?(?:```|\z)|`[^`\n]*`").expect("a fixed pattern"));
    blank(output, CODE.find_iter(output).map(|code| code.range()))
}

/// The entries of a list of references: `[1] …`, `[1]: …`, `[^1]: …`, or numbered below `Sources:`.
fn references(output: &str) -> BTreeMap<usize, String> {
    static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:[-*+]\s+)?\[\^?([0-9]{1,4})\]:?\s+(\S.*)$").expect("a fixed pattern")
    });
    static HEADING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^[\s#*_]*(?:sources?|references?|citations?|bibliography|works cited|footnotes|further reading|quellen|literatur|références|fuentes|referencias|fonti|参考文献|来源)[\s*_]*[:：]?[\s*_]*$")
            .expect("a fixed pattern")
    });
    static NUMBERED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*([0-9]{1,4})[.)]\s+(\S.*)$").expect("a fixed pattern"));
    let mut references = BTreeMap::new();
    let mut is_below_heading = false;
    for line in output.lines() {
        if HEADING.is_match(line) {
            is_below_heading = true;
            continue;
        }
        let numbered = is_below_heading.then(|| NUMBERED.captures(line)).flatten();
        let captures = ENTRY.captures(line).or(numbered);
        let entry = item(line.trim());
        if let Some(captures) = captures {
            if let Ok(number) = captures[1].parse() {
                references
                    .entry(number)
                    .or_insert_with(|| captures[2].to_owned());
            }
        } else if is_below_heading && let Some((_, _, text)) = entry {
            // Entries without numbers count from 1.
            references.insert(references.len() + 1, text.to_owned());
        } else if !line.trim().is_empty() {
            is_below_heading = false;
        }
    }
    references
}

/// Whether an entry of a list of references stands in the results: by its address, else by its words.
fn is_real_entry(entry: &str, facts: &Facts, sources: &[Source<'_>]) -> bool {
    let urls = urls(entry);
    if !urls.is_empty() {
        return urls.iter().all(|(_, url)| facts.has_url(url));
    }
    let content = |text: &str| -> BTreeSet<String> {
        let words = words(text).map(|word| word.as_str().to_lowercase());
        words.filter(|word| !is_function_word(word)).collect()
    };
    // Names and years must all be there, and most of the other words.
    static STRICT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\p{Lu}\p{L}+|\b(?:19|20)[0-9]{2}\b").expect("a fixed pattern")
    });
    static OF_LISTS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(?:retrieved|accessed|available|vol|volume|issue|pages?|pp|eds?|abgerufen)\b.*",
        )
        .expect("a fixed pattern")
    });
    let named = OF_LISTS.replace_all(entry, "");
    let names: Vec<&str> = STRICT.find_iter(&named).map(|name| name.as_str()).collect();
    let wanted = content(entry);
    if wanted.is_empty() {
        return facts.has_text(entry);
    }
    sources.iter().any(|source| {
        let known: BTreeSet<String> = source.texts.iter().flat_map(|text| content(text)).collect();
        let has_name = |name: &&str| {
            known.contains(&name.to_lowercase()) || is_function_word(&name.to_lowercase())
        };
        names.iter().all(has_name) && wanted.intersection(&known).count() * 3 >= wanted.len() * 2
    })
}

/// Whether the results have so many entries, or one of that number.
fn is_numbered(number: usize, sources: &[Source<'_>]) -> bool {
    // Without a list, each result is an entry.
    (1..=sources.len()).contains(&number)
        || sources.iter().any(|source| {
            let EventData::ToolResult(result) = &source.event.data else {
                return false;
            };
            let mut rest = vec![result.result.as_ref()];
            while let Some(value) = rest.pop() {
                match value {
                    Json::Array(items) => {
                        let has_entries = items
                            .iter()
                            .any(|item| item.is_object() || item.is_string());
                        if has_entries && number > 0 && items.len() >= number {
                            return true;
                        }
                        rest.extend(items);
                    }
                    Json::Object(fields) => {
                        let is_it = ["id", "index", "n", "number", "rank", "ref", "citation"]
                            .iter()
                            .any(|key| {
                                fields.get(*key).is_some_and(|value| {
                                    value.as_u64() == u64::try_from(number).ok()
                                        || value.as_str() == Some(number.to_string().as_str())
                                })
                            });
                        if is_it {
                            return true;
                        }
                        rest.extend(fields.values());
                    }
                    _ => {}
                }
            }
            false
        })
}

fn finding(
    cited: Cited,
    sources: &[Source<'_>],
    view: &View<'_>,
    allowed: &[ToolPattern],
) -> Finding {
    if cited.all.is_empty() && cited.unknown.is_empty() {
        return Finding::holds("the output cites nothing").vacuous();
    }
    let tools = tools_that_count(allowed);
    let results = event_ids(sources);
    let missing: Vec<Json> = cited
        .missing
        .iter()
        .take(MOST_TOLD)
        .map(|(kind, text)| json!({ "kind": kind, "text": text }))
        .collect();
    let observed = json!({
        "cited": cited.all.len(),
        "results": results,
        "fabricated": missing,
        "fabricated_total": cited.missing.len(),
    });
    if let (true, Some(name)) = (cited.missing.is_empty(), cited.unknown.first()) {
        let message = format!("`{name}` may be a source, and is in no result of {tools}");
        return Finding::new(Verdict::Undecided, message)
            .observed(observed)
            .refs(results)
            .help("name it in the answer only if a tool returned it");
    }
    if cited.missing.is_empty() {
        let count = cited.all.len();
        return Finding::holds(format!("all {count} citations refer to results of {tools}"))
            .observed(observed)
            .refs(results);
    }
    let mut texts: Vec<String> = cited
        .missing
        .iter()
        .take(MOST_IN_MESSAGE)
        .map(|(_, text)| format!("`{text}`"))
        .collect();
    if cited.missing.len() > MOST_IN_MESSAGE {
        texts.push(format!("{} more", cited.missing.len() - MOST_IN_MESSAGE));
    }
    let finding = Finding::fails(format!(
        "cited, but not found in any result of {tools}: {}",
        texts.join(", ")
    ))
    .observed(observed)
    .refs(results.iter().copied());
    match elsewhere(&cited, view, allowed) {
        Some(tool) => finding.help(format!(
            "found in results of `{tool}`: is it missing from `allowed_sources`?"
        )),
        None => finding.help("the answer may cite only what the tools returned"),
    }
}

/// A tool that isn't allowed, whose results have what is missing.
fn elsewhere<'a>(cited: &Cited, view: &View<'a>, allowed: &[ToolPattern]) -> Option<&'a str> {
    if allowed.is_empty() {
        return None;
    }
    let (_, first) = cited.missing.first()?;
    let wanted: Vec<String> = words(first)
        .map(|word| word.as_str().to_lowercase())
        .collect();
    sources(view, &[])
        .into_iter()
        .filter(|source| !allowed.iter().any(|tool| tool.matches(source.tool)))
        .find(|source| {
            let facts = Facts::of(std::slice::from_ref(source));
            facts.has_text(first)
                || facts.has_url(first)
                || (!wanted.is_empty() && facts.has_text(&wanted.join(" ")))
        })
        .map(|source| source.tool)
}

#[cfg(test)]
mod tests;
