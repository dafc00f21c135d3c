//! What a sentence means that has none of the forms: every word of it must be found in what one element is, in what it
//! is called, or in what it stands in. What fits as well in the same place makes it unclear, and then nothing is meant.

use super::Pool;
use super::loose::{LooseAction, gist};
use super::phrase::is_position;
use super::resolve::is_in;
use super::sentence::{Sentence, Token, TokenKind};
use super::surroundings::{Called, Fitting, is_any_part};
use super::synonyms::{is_item_noun, is_preposition, is_silent, noun_of, plain_words};
use super::verbs::LIMITS;
use crate::dom::{DomElement, NodeId};
use crate::selector::Finder;
use crate::words::fold_name;
use crate::{ActionKind, InputValue, IntermediateStep};

/// The longest text that an element is called by, in characters.
pub(super) const LONGEST_NAME: usize = 120;

/// The most elements whose surroundings are looked at.
const MOST_CANDIDATES: usize = 400;

/// A part of a sentence that must be found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// One word, as [`plain_words`] has it.
    Word(String),
    /// What people call an item, and whether it stood in the plural.
    Noun(String, bool),
    /// Words that follow each other: what stood in quotes, or `Invoice.pdf`.
    Words {
        folded: String,
        words: Vec<String>,
        /// Whether they may say where something is; else they are its name.
        is_place: bool,
    },
    /// One of several items: the word for its place in their order, and what they are called.
    Nth { order: String, noun: String },
}

/// What is looked for.
struct Search<'a> {
    parts: &'a [Part],
    /// The words of the verb: they may be in the name.
    verb: &'a [String],
    /// Whether the verb must be in the name: it is known for nothing else.
    is_verb_name: bool,
    /// Whether an element without a name may be meant, by what stands around it.
    may_lack_name: bool,
}

/// What a sentence means by all of its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpretation {
    /// The action, with its element in the words of the forms.
    pub step: IntermediateStep,
    /// Its element.
    pub target: NodeId,
}

impl Finder<'_> {
    /// The one step that a sentence can mean by all of its words, with its element in the words of the forms. None if
    /// there is none, or more than one.
    pub fn gist(&self, sentence: &str) -> Option<Interpretation> {
        let sentence = Sentence::read(sentence).ok()?;
        let is_reference = |token: &Token| matches!(token.kind, TokenKind::Reference(_));
        if sentence.tokens.iter().any(is_reference) {
            return None;
        }
        let LooseAction { action, verb, rest } = gist(&sentence)?;
        let (action, value, target) = self.deed_meant(action, verb, rest)?;
        let mut step = IntermediateStep::new(action, sentence.text.as_str());
        step.input_value = value;
        step.target = self.state.element(target)?.highlight_index;
        let words = self.words_for(target);
        step.meant = Some(words.unwrap_or_else(|| self.in_words(target)));
        Some(Interpretation { step, target })
    }

    pub(super) fn deed_meant(
        &self,
        action: Option<(ActionKind, Option<bool>, Pool)>,
        verb: &Token,
        rest: &[Token],
    ) -> Option<(ActionKind, Option<InputValue>, NodeId)> {
        if rest.iter().any(|token| token.is_any(LIMITS)) {
            return None;
        }
        let (mut kind, flag, mut pool) =
            action.unwrap_or((ActionKind::Click, None, Pool::Interactive));
        let can_choose = matches!(kind, ActionKind::Click | ActionKind::Input) && flag.is_none();
        if can_choose && let Some((target, option)) = self.option_meant(rest) {
            return Some((ActionKind::Select, Some(InputValue::Text(option)), target));
        }
        let mut rest = rest.to_vec();
        let mut value = flag.map(InputValue::Flag);
        let needs_text = kind == ActionKind::Input;
        if needs_text && flag.is_none() {
            match take_text(&mut rest, pool) {
                Some(text) => value = Some(InputValue::Text(text)),
                // `set the theme to Dark` is a click where Dark is a button.
                None if pool == Pool::FieldsAndSelects => {
                    (kind, pool) = (ActionKind::Click, Pool::Options);
                }
                None => return None,
            }
        }
        let parts = parts(&rest);
        // `choose Table from the Insert menu` names the Table, and not something on any table.
        let named = rest
            .iter()
            .find(|token| !is_silent(&token.as_str().unwrap_or_default().to_lowercase()))
            .and_then(Token::as_str)
            .filter(|word| word.starts_with(char::is_uppercase) && is_any_part(word));
        let search = Search {
            parts: &parts,
            verb: &verb.as_str().map(plain_words).unwrap_or_default(),
            is_verb_name: action.is_none(),
            may_lack_name: needs_text,
        };
        let is_clicked = action.is_none() || pool == Pool::NotExpanded;
        let is_meant = |element: &DomElement| {
            let is_choice = pool == Pool::Options
                && element.is_interactive
                && (is_in(element, Pool::Checks) || matches!(element.role.as_str(), "" | "button"));
            (is_in(element, pool) || is_choice)
                && !(is_clicked && is_in(element, Pool::FieldsAndSelects))
        };
        let target = self.one_fitting(&search, &is_meant)?;
        let called = self.called(target);
        if named.is_some() && !parts.first().is_some_and(|named| called.has(named)) {
            return None;
        }
        let is_named = |part: &Part| {
            !matches!(part, Part::Words { is_place, .. } if !is_place) || called.has(part)
        };
        // `delete the 'Billing sync' webhook` names what is deleted, and not the button.
        if action.is_some() && !called.names.is_empty() && !parts.iter().all(is_named) {
            return None;
        }
        let element = self.state.element(target)?;
        if pool == Pool::Options && is_in(element, Pool::Checks) && element.role != "radio" {
            return Some((ActionKind::Input, Some(InputValue::Flag(true)), target));
        }
        Some((kind, value, target))
    }

    /// The list whose option is said in a sentence, and the option.
    fn option_meant(&self, rest: &[Token]) -> Option<(NodeId, String)> {
        let is_list = |element: &DomElement| !element.options.is_empty() && element.is_interactive;
        let mut tried: Vec<&str> = Vec::new();
        let mut found: Vec<(usize, NodeId, String)> = Vec::new();
        let lists = || {
            self.state
                .elements()
                .filter(|(_, element)| is_list(element))
        };
        for option in lists().flat_map(|(_, element)| &element.options) {
            if tried.contains(&option.label.as_str()) {
                continue;
            }
            tried.push(&option.label);
            let words = plain_words(&option.label);
            let Some((start, end)) = stands_in(&words, rest) else {
                continue;
            };
            let has_it = |element: &DomElement| {
                element
                    .options
                    .iter()
                    .any(|known| known.label == option.label)
            };
            let says_more = |part: &Part| match part {
                Part::Noun(..) => false,
                Part::Word(word) => !noun_of("combobox", word),
                _ => true,
            };
            let others = parts(&[&rest[..start], &rest[end..]].concat());
            let others: Vec<Part> = others.into_iter().filter(says_more).collect();
            let target = match others.is_empty() {
                true => {
                    let mut having = lists().filter(|(_, element)| has_it(element));
                    having
                        .next()
                        .filter(|_| having.next().is_none())
                        .map(|(id, _)| id)
                }
                false => {
                    let search = Search {
                        parts: &others,
                        verb: &[],
                        is_verb_name: false,
                        may_lack_name: true,
                    };
                    self.one_fitting(&search, &|element| is_list(element) && has_it(element))
                }
            };
            found.extend(target.map(|id| (words.len(), id, option.label.clone())));
        }
        // `Price: low to high` and not `Price`.
        let most = found.iter().map(|(words, ..)| *words).max()?;
        found.retain(|(words, ..)| *words == most);
        match found.as_slice() {
            [(_, id, label)] => Some((*id, label.clone())),
            _ => None,
        }
    }

    /// The one element that all parts fit: of what a pointer reaches, else of what something lies over.
    fn one_fitting(
        &self,
        search: &Search<'_>,
        is_meant: &dyn Fn(&DomElement) -> bool,
    ) -> Option<NodeId> {
        let is_reachable = |element: &DomElement| {
            element.highlight_index.is_some() || element.is_top_element != Some(false)
        };
        let find = |is_covered: bool| {
            self.all_fitting(search, &|element| {
                is_meant(element) && is_reachable(element) != is_covered
            })
        };
        let reachable = find(false);
        match reachable.is_empty() {
            true => self.best(find(true)),
            false => self.best(reachable),
        }
    }

    fn all_fitting(
        &self,
        search: &Search<'_>,
        is_meant: &dyn Fn(&DomElement) -> bool,
    ) -> Vec<Fitting> {
        let Search { parts, verb, .. } = search;
        let says_more = parts.iter().any(|part| !matches!(part, Part::Noun(..)));
        if parts.is_empty() && !search.is_verb_name {
            return Vec::new();
        }
        let verbs: Vec<Part> = verb.iter().cloned().map(Part::Word).collect();
        let is_nameless = |element: &DomElement| {
            let placeholder = element.attribute("placeholder").unwrap_or_default();
            search.may_lack_name && element.label.is_empty() && element.name == placeholder
        };
        let is_candidate =
            |id: NodeId, element: &DomElement, called: &Called| match search.is_verb_name {
                true => verbs.iter().all(|part| called.has(part)),
                false => {
                    (is_nameless(element) && says_more)
                        || parts.iter().any(|part| called.has(part))
                        || self.is_of(id, parts)
                }
            };
        let visible = self.state.elements();
        let visible = visible.filter(|(_, element)| element.is_visible && is_meant(element));
        visible
            .map(|(id, element)| (id, element, self.called(id)))
            .filter(|(id, element, called)| is_candidate(*id, element, called))
            .take(MOST_CANDIDATES)
            .filter_map(|(id, element, called)| {
                let scope = self.scope(id, &called, parts)?;
                let is_nameless = is_nameless(element);
                let is_whole = is_nameless || called.is_within(parts, verb);
                // A part of its name may do only if nothing else is needed.
                (is_whole || scope.is_none()).then_some(Fitting {
                    id,
                    scope,
                    is_whole,
                    is_nameless,
                })
            })
            .collect()
    }
}

/// The parts of a sentence that must be found: all words but those that say nothing.
pub(super) fn parts(tokens: &[Token]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut order: Option<&Token> = None;
    for (at, token) in tokens.iter().enumerate() {
        let word = match &token.kind {
            TokenKind::Quoted(text) => {
                parts.push(Part::Words {
                    folded: fold_name(text),
                    words: plain_words(text),
                    is_place: tokens[..at].iter().skip(1).any(is_preposition),
                });
                continue;
            }
            TokenKind::Word(word) => word,
            TokenKind::Reference(_) | TokenKind::Break => continue,
        };
        let bare = word.trim_end_matches("'s").trim_end_matches("’s");
        let words = plain_words(bare);
        let is_noun = |one: &str| !word.contains(char::is_uppercase) && is_item_noun(one);
        let next = tokens.get(at + 1).and_then(Token::as_str).map(plain_words);
        let is_order = is_position(token)
            && next.is_some_and(|next| matches!(next.as_slice(), [one] if is_item_noun(one)));
        match (words.as_slice(), order.take()) {
            ([noun], Some(order)) => parts.push(Part::Nth {
                order: order.as_str().unwrap_or_default().to_lowercase(),
                noun: noun.clone(),
            }),
            _ if is_order => order = Some(token),
            ([], _) => {}
            ([next], _) if next == "next" && tokens.get(at + 1).is_some_and(|to| to.is("to")) => {}
            ([one], _) if is_silent(one) => {}
            ([one], _) if is_noun(one) => parts.push(Part::Noun(one.clone(), word.ends_with('s'))),
            ([one], _) => parts.push(Part::Word(one.clone())),
            (_, _) => parts.push(Part::Words {
                folded: fold_name(bare),
                words,
                is_place: true,
            }),
        }
    }
    parts
}

/// Takes the text that is put into a field: in quotes, else what is no word. It stands before `into`, or where a field is
/// set behind the last `to`.
fn take_text(tokens: &mut Vec<Token>, pool: Pool) -> Option<String> {
    let is_no_word = |token: &Token| {
        token.as_str().is_some_and(|word| {
            let is_code = word.len() > 1 && !word.contains(char::is_lowercase);
            let is_figure = word.contains(|sign: char| sign.is_ascii_digit());
            is_code || is_figure || word.contains('@') || word.contains("://")
        })
    };
    let is_value = |at: &usize| tokens[*at].is_quoted() || is_no_word(&tokens[*at]);
    let values: Vec<usize> = (0..tokens.len()).filter(is_value).collect();
    let at = match values[..] {
        [one] => one,
        [] => return None,
        _ if pool == Pool::FieldsAndSelects => {
            let to = tokens
                .iter()
                .rposition(|token| token.is_any(&["to", "with", "as"]))?;
            *values.iter().find(|&&at| at > to)?
        }
        [first, ..] => {
            let into = tokens
                .iter()
                .position(|token| token.is_any(&["into", "in", "as", "for", "to"]))?;
            (first < into).then_some(first)?
        }
    };
    tokens.remove(at).text().map(str::to_owned)
}

/// Where words stand in tokens, one after the other.
fn stands_in(words: &[String], tokens: &[Token]) -> Option<(usize, usize)> {
    let of = |token: &Token| token.text().map(plain_words).unwrap_or_default();
    (0..tokens.len()).find_map(|start| {
        let mut found: Vec<String> = Vec::new();
        (start..tokens.len()).find_map(|end| {
            found.extend(of(&tokens[end]));
            (!words.is_empty() && found == words).then_some((start, end + 1))
        })
    })
}

/// Whether words follow each other in a text.
pub(super) fn holds(text: &[String], words: &[String]) -> bool {
    !words.is_empty() && text.windows(words.len()).any(|window| window == words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::testing::page;

    const SHOP: &str = r#"
header
  h1 "Shop"
  button "✎ Compose" class=compose
nav "Main"
  a "Trash" href=/trash
form "Filters"
  label for=sort | Sort by
  select "Sort by" id=sort
  div class=group role=group aria-label=Theme
    button "Dark" aria-pressed=false
    button "Light" aria-pressed=true
table
  tr
    th | Name
    th | Status
    th | Seen
  tr
    td "Ana Lopez" | Ana Lopez
    td "Active" | Active
    td "Never" | Never
    td
      button "Edit"
      input "Ana" type=checkbox +checked
  tr
    td "Bob Brown" | Bob Brown
    td "Invited" | Invited
    td "Today" | Today
    td
      button "Edit"
      input "Bob" type=checkbox
ul "Posts"
  li
    h3 "Compost"
    p | 9 replies
    button "Like" aria-pressed=true
  li
    h3 "Tomatoes"
    p | 19 replies
    button "Like" aria-pressed=false
"#;

    /// What a sentence means by all of its words, on one line.
    fn means(sentence: &str) -> String {
        let state = page(SHOP);
        let finder = Finder::new(&state, "data-testid");
        let Some(meant) = finder.gist(sentence) else {
            return "-".to_owned();
        };
        let mut words = vec![meant.step.action_type.as_str().to_owned()];
        let value = meant.step.input_value.as_ref();
        words.extend(value.map(|value| value.to_json().to_string()));
        words.push(finder.in_words(meant.target));
        words.join(" ")
    }

    #[test]
    fn a_sentence_without_a_form_means_the_one_element_that_all_of_its_words_fit() {
        for (sentence, expected) in [
            (
                "click the pencil next to Bob Brown",
                "click button \"Edit\" in row \"Bob Brown\"",
            ),
            (
                "Go to the trash in the left menu",
                "click link \"Trash\" in navigation \"Main\"",
            ),
            (
                "Set the theme to Dark",
                "click button \"Dark\" in form \"Filters\"",
            ),
            (
                "Like the first post",
                "click button \"Like\" in listitem \"Compost\"",
            ),
            (
                "Like the post about tomatoes",
                "click button \"Like\" in listitem \"Tomatoes\"",
            ),
        ] {
            assert_eq!(means(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn a_heading_is_over_what_follows_it_and_no_more() {
        let list = |name: &str, song: &str| {
            format!("\n  h2 \"{name}\"\n  ul\n    li\n      span | {song}\n      button \"Remove\"")
        };
        let bar = |text: String| {
            let (heading, rest) = text.split_once("\n  ul").expect("a list");
            format!(
                "{}\n  ul{rest}",
                heading.replace("\n  h2", "\n  div\n    h2")
            )
        };
        let (morning, next) = (list("Morning", "Alpha"), list("Up next", "Omega"));
        let flat = format!("main{morning}{next}");
        let bars = format!("main{}{}", bar(morning.clone()), bar(next.clone()));
        for lines in [flat, bars] {
            let state = page(&lines);
            let finder = Finder::new(&state, "data-testid");
            for sentence in [
                "remove Alpha from Up next",
                "remove Omega from Morning",
                "in Up next, remove Alpha",
            ] {
                assert_eq!(finder.gist(sentence), None, "{sentence}: {lines}");
            }
            for sentence in ["remove Alpha from Morning", "remove Omega from Up next"] {
                assert!(finder.gist(sentence).is_some(), "{sentence}: {lines}");
            }
        }
        // A larger one before it is over the smaller ones.
        let state = page(&format!("main\n  h1 \"Songs\"{morning}{next}"));
        let finder = Finder::new(&state, "data-testid");
        assert!(finder.gist("remove Omega from my songs").is_some());
    }

    #[test]
    fn what_is_not_clear_means_nothing() {
        for sentence in [
            // Several fit.
            "click the pencil",
            "Like the post",
            // A word is nowhere.
            "click the pencil next to Carla Brown",
            "click the golden pencil next to Bob Brown",
            "Delete Bob Brown",
            "Set the theme to Blue",
            "Like the third post",
            // The second of those, or the second of all?
            "Like the second post about tomatoes",
            // What is said to be so is read in forms alone.
            "Bob Brown is not selected",
            "the selected theme is Light",
            "the compost post should be liked",
            "the Compost post has 9 replies",
            "there is a pencil next to Bob Brown",
            "I should see the pencil next to Bob Brown",
            "Visitors were many",
            // What is typed may be a secret.
            "click the {{WHAT}} next to Bob Brown",
            // It is no element.
            "take a screenshot",
            "",
        ] {
            assert_eq!(means(sentence), "-", "{sentence}");
        }
    }
}
