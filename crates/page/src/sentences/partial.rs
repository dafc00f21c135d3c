//! Reads an action that names its element only in part: each of its words must be in what one element is called, in what it
//! is, or in one text of what it stands in. What it means is then said in full.

use super::assertion::{JOINTS, is_claim};
use super::forms::{Verb, take_verb};
use super::partial_words::{
    are_alike, is_item_noun, is_part_noun, is_silent, noun_of, plain_words,
};
use super::phrase::{PREPOSITIONS, Phrase, RoleWord, Within, in_quotes};
use super::resolve::{SHOWN, is_in};
use super::sentence::{Sentence, Token, TokenKind, denies};
use super::verbs::{LIMITS, is_check_of_claim, without_fillers};
use super::{Intent, Pool, Translation, Understanding, understand};
use crate::containers::{ContainedText, Place, item_kind};
use crate::dom::{DomElement, NodeId};
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::{ActionKind, ContainerKind, InputValue, IntermediateStep};

/// The longest text that an element is called by, in characters.
const LONGEST_NAME: usize = 120;

/// The most elements whose surroundings are looked at.
const MOST_CANDIDATES: usize = 400;

/// Verbs that only say that something is chosen.
const CHOICES: &[&str] = &[
    "answer", "change", "filter", "follow", "group", "make", "order", "show", "sort",
];

/// What is to be done, and the words for its element.
struct PartialAction<'t> {
    kind: ActionKind,
    value: Option<InputValue>,
    pool: Pool,
    words: Vec<&'t Token>,
    /// The verb, which the name may have.
    verb: Option<Part>,
    /// Whether that is known for nothing else.
    needs_verb: bool,
    /// Whether what it is done with follows right behind the verb: that is called so, and does not only have it.
    names_item: bool,
    /// Whether it says that something is chosen.
    is_choice: bool,
}

/// A word that must be found, or several that follow each other.
#[derive(PartialEq)]
struct Part {
    words: Vec<String>,
    is_quoted: bool,
    is_plural: bool,
}

impl Part {
    /// None if a token says nothing of an element.
    fn of(token: &Token) -> Option<Self> {
        let is_quoted = token.is_quoted();
        let text = token.text()?;
        let bare = text.trim_end_matches("'s").trim_end_matches("’s");
        let words = plain_words(if is_quoted { text } else { bare });
        let says_nothing = !is_quoted && words.iter().all(|word| is_silent(word));
        (!words.is_empty() && !says_nothing).then(|| Self {
            words,
            is_quoted,
            is_plural: text.ends_with('s'),
        })
    }

    /// Whether the words follow each other in a text. In quotes they are all of it, but for numbers, as of a badge.
    fn is_in(&self, text: &[String]) -> bool {
        if self.is_quoted {
            let is_word = |word: &&String| !word.bytes().all(|byte| byte.is_ascii_digit());
            return text == self.words || text.iter().filter(is_word).eq(&self.words);
        }
        let are_equal = |own: &[String]| {
            own.iter()
                .zip(&self.words)
                .all(|(own, word)| are_alike(own, word))
        };
        text.windows(self.words.len()).any(are_equal)
    }

    /// The word, if it is one without quotes.
    fn noun(&self) -> Option<&str> {
        match self.words.as_slice() {
            [word] if !self.is_quoted => Some(word),
            _ => None,
        }
    }
}

/// One element that a sentence can mean.
struct Candidate {
    id: NodeId,
    phrase: Phrase,
    /// Whether it is called by one of the words at least.
    is_named: bool,
    /// Whether it is called by no other words.
    is_whole: bool,
    /// Whether nothing else can be meant.
    is_clear: bool,
    /// How many nodes are in what tells it from others; all of the page if nothing is needed.
    size: u32,
}

impl Finder<'_> {
    /// The one action that a sentence can mean by all of its words, with its element in full; else the elements that it
    /// can mean. None if there are none.
    pub fn read_partially(&self, sentence: &str) -> Option<Result<Intent, Translation>> {
        let sentence = Sentence::read(sentence).ok()?;
        let mut action = read(&sentence.tokens)?;
        let is_flag = matches!(action.value, Some(InputValue::Flag(_)));
        let is_choice = matches!(action.kind, ActionKind::Click | ActionKind::Input) && !is_flag;
        if is_choice && let Some((option, rest)) = self.take_option(&action.words) {
            action = PartialAction {
                kind: ActionKind::Select,
                value: Some(InputValue::Text(option)),
                pool: Pool::Selects,
                words: rest,
                needs_verb: false,
                ..action
            };
        } else if action.kind == ActionKind::Input && !is_flag {
            let mut values = (0..action.words.len()).filter(|&at| is_value(action.words[at]));
            let at = match action.pool {
                Pool::FieldsAndSelects => values.next_back(),
                _ => values.next(),
            };
            match at {
                Some(at) => {
                    action.value = action
                        .words
                        .remove(at)
                        .text()
                        .map(|text| InputValue::Text(text.to_owned()));
                }
                // `set the theme to Dark` is a click where Dark is a button.
                None if action.pool == Pool::FieldsAndSelects => {
                    (action.kind, action.pool, action.is_choice) =
                        (ActionKind::Click, Pool::Interactive, true);
                }
                None => return None,
            }
        }
        let mut found = self.best_candidates(self.partial_candidates(&action), action.pool);
        if found.is_empty() && action.pool == Pool::Options {
            (action.kind, action.pool, action.value) = (
                ActionKind::Input,
                Pool::Checks,
                Some(InputValue::Flag(true)),
            );
            found = self.best_candidates(self.partial_candidates(&action), action.pool);
        }
        let mut step = IntermediateStep::new(action.kind, sentence.text.as_str());
        step.input_value = action.value;
        if let [one] = found.as_slice()
            && one.is_clear
        {
            step.in_full = Some(self.said_in_full(&step, one).unwrap_or_default());
            return Some(Ok(Intent {
                step,
                phrase: Some(one.phrase.clone()),
                span: 0..0,
                pool: action.pool,
                to: None,
            }));
        }
        let say = found.iter().take(SHOWN);
        let say: Vec<String> = say
            .filter_map(|one| self.said_in_full(&step, one))
            .collect();
        (!say.is_empty()).then(|| {
            Err(Translation::Ambiguous {
                words: found.iter().map(|one| self.in_words(one.id)).collect(),
                candidates: found.into_iter().map(|one| one.id).collect(),
                say,
            })
        })
    }

    /// A sentence that does the same with one of its candidates, if it means that alone.
    fn said_in_full(&self, step: &IntermediateStep, candidate: &Candidate) -> Option<String> {
        let Candidate { id, phrase, .. } = candidate;
        let article = if phrase.name.is_empty() { "the " } else { "" };
        let phrase = format!("{article}{phrase}");
        let value = step.input_value.as_ref().map(|value| match value {
            InputValue::Text(text) => in_quotes(text),
            other => other.to_json().to_string(),
        });
        let sentence = match (step.action_type, value.as_deref()) {
            (ActionKind::Input, Some("true")) => format!("tick {phrase}"),
            (ActionKind::Input, Some("false")) => format!("uncheck {phrase}"),
            (ActionKind::Input, Some(text)) => format!("type {text} into {phrase}"),
            (ActionKind::Select, Some(option)) => format!("select {option} from {phrase}"),
            (ActionKind::DoubleClick, _) => format!("double-click {phrase}"),
            (ActionKind::Hover, _) => format!("hover {phrase}"),
            _ => format!("click {phrase}"),
        };
        let means_it = match understand(&sentence) {
            Understanding::Understood(intent) => {
                matches!(self.resolve(&intent), Translation::Step { target, .. } if target == Some(*id))
            }
            _ => false,
        };
        means_it.then_some(sentence)
    }

    fn partial_candidates(&self, action: &PartialAction<'_>) -> Vec<Candidate> {
        let words: Vec<Part> = action
            .words
            .iter()
            .filter_map(|token| Part::of(token))
            .collect();
        let option = match &action.value {
            Some(InputValue::Text(option)) if action.pool == Pool::Selects => Some(option),
            _ => None,
        };
        let is_meant = |element: &DomElement| {
            element.is_visible
                && is_in(element, action.pool)
                && option
                    .is_none_or(|option| element.options.iter().any(|own| own.label == *option))
        };
        let visible = self
            .state
            .elements()
            .filter(|(_, element)| is_meant(element));
        let candidates =
            visible.filter_map(|(id, element)| self.partial_candidate(id, element, action, &words));
        candidates.take(MOST_CANDIDATES).collect()
    }

    fn partial_candidate(
        &self,
        id: NodeId,
        element: &DomElement,
        action: &PartialAction<'_>,
        words: &[Part],
    ) -> Option<Candidate> {
        let names = self.partial_names(id, element);
        let is_called = |part: &Part| names.iter().any(|(_, own)| part.is_in(own));
        let is_verb_called = action.verb.as_ref().is_some_and(&is_called);
        let is_verb_name = action.needs_verb && !is_verb_called;
        let is_nameless = is_unlabelled(element)
            && !matches!(
                action.pool,
                Pool::Interactive | Pool::NotExpanded | Pool::Anything
            );
        if is_verb_name {
            return None;
        }
        let is_kind = |part: &Part| part.noun().is_some_and(|word| noun_of(element, word));
        let (own, rest): (Vec<_>, Vec<_>) = words
            .iter()
            .partition(|part| is_called(part) || is_kind(part));
        // Of what is pressed its own words stand before those of its place.
        let is_named =
            own.iter().any(|part| !is_kind(part)) || (action.is_choice && is_verb_called);
        let mut named = words
            .iter()
            .filter(|part| !is_kind(part) && (is_called(part) || !is_place_word(part)));
        let is_first_own = named.next().is_none_or(&is_called);
        let is_pressed = matches!(
            action.kind,
            ActionKind::Click | ActionKind::DoubleClick | ActionKind::Hover
        );
        if !action.needs_verb
            && !is_nameless
            && action.pool != Pool::Selects
            && ((own.is_empty() && !(action.is_choice && is_verb_called))
                || (is_pressed && !action.is_choice && !is_first_own))
        {
            return None;
        }
        let is_said = |word: &String| {
            let said = words
                .iter()
                .chain(&action.verb)
                .flat_map(|part| &part.words);
            is_silent(word)
                || word.bytes().all(|byte| byte.is_ascii_digit())
                || said.into_iter().any(|said| are_alike(said, word))
        };
        let whole = names.iter().find(|(_, own)| own.iter().all(is_said));
        let is_only_kind = !is_named && !action.needs_verb;
        let is_whole =
            whole.is_some() || is_nameless || is_only_kind || action.pool == Pool::Selects;
        let (within, size) = self.partial_place(id, &rest, action.names_item)?;
        // A part of its name may do only if nothing else is needed, and no sign stands for it.
        let is_written = |part: &Part| {
            let mut names = names.iter();
            names.any(|(_, own)| own.windows(part.words.len()).any(|own| own == part.words))
        };
        let is_by_sign = !own.iter().all(|word| is_written(word) || is_kind(word));
        if whole.is_none()
            && (is_named || action.needs_verb)
            && (within.is_some() || is_by_sign || is_nameless)
            && action.pool != Pool::Selects
        {
            return None;
        }
        let (name, _) = names
            .first()
            .filter(|_| !is_only_kind || within.is_none())
            .cloned()
            .unwrap_or_default();
        let phrase = Phrase {
            within,
            role: RoleWord::of(&element.role),
            ..Phrase::named(&name)
        };
        Some(Candidate {
            id,
            phrase,
            is_named: is_named || action.needs_verb,
            is_whole,
            // A verb alone is all that a name must have.
            is_clear: is_whole || !action.needs_verb,
            size,
        })
    }

    /// What people call an element, with the words of each. A list is also known by its options.
    fn partial_names(&self, id: NodeId, element: &DomElement) -> Vec<(String, Vec<String>)> {
        let attributes = ["placeholder", "title", "alt"].map(|name| element.attribute(name));
        let given = [Some(element.name.as_str()), Some(element.label.as_str())]
            .into_iter()
            .chain(attributes)
            .flatten();
        let mut names: Vec<String> = given
            .map(single_spaces)
            .filter(|name| !name.is_empty())
            .collect();
        let is_field = is_in(element, Pool::FieldsAndSelects);
        if element.name.is_empty() && !is_field {
            names.extend(
                self.text(id)
                    .filter(|text| !text.is_empty() && text.chars().count() <= LONGEST_NAME),
            );
        }
        if names.is_empty() {
            names.extend(self.column_heading(id));
        }
        let placeholder = element.attribute("placeholder").unwrap_or_default();
        if is_field && names.iter().all(|name| name == placeholder) {
            names.extend(Some(self.text_before(id, element)).filter(|text| !text.is_empty()));
        }
        names.dedup();
        let with_words = |name: String| {
            let mut words = plain_words(&name);
            words.extend(
                element
                    .options
                    .iter()
                    .flat_map(|option| plain_words(&option.label)),
            );
            (name, words)
        };
        names.into_iter().map(with_words).collect()
    }

    /// The smallest part of the page around an element with a text that has all of these words, but for those that say what
    /// that or something around it is; nothing if all do. None if there is no such part.
    /// If the words are what an item is called, other texts in it don't count.
    fn partial_place(
        &self,
        id: NodeId,
        words: &[&Part],
        names_item: bool,
    ) -> Option<(Option<Within>, u32)> {
        let column = self
            .column_heading(id)
            .map(|heading| plain_words(&heading))
            .unwrap_or_default();
        let around: Vec<(NodeId, &DomElement)> = self.state.ancestor_elements(id).collect();
        let items: Vec<(NodeId, ContainerKind)> = around
            .iter()
            .filter(|(outer, element)| {
                self.is_item(*outer, element)
                    || self.is_block(*outer, element)
                    || self.is_parallel(*outer, id)
            })
            .map(|(outer, element)| (*outer, item_kind(element)))
            .collect();
        let is_noun = |part: &&&Part| {
            let is_place = |kind: ContainerKind| match kind.is_item() {
                true => !items.is_empty() || part.is_plural,
                false => around.iter().any(|(outer, element)| {
                    self.is_container(*outer, element, kind) && element.role != "tree"
                }),
            };
            part.is_in(&column)
                || part.noun().is_some_and(|word| {
                    is_part_noun(word)
                        || (is_item_noun(word) && is_place(ContainerKind::Item))
                        || Within::kinds_of(word).any(is_place)
                })
        };
        let mut needed: Vec<&&Part> = words.iter().filter(|part| !is_noun(part)).collect();
        // What is said of a place that is named need not be what the page calls it.
        if !needed.iter().all(|part| is_place_word(part)) {
            needed.retain(|part| !is_place_word(part));
        }
        if needed.is_empty() {
            return Some((None, u32::MAX));
        }
        // What another one of its kind is called says nothing of it.
        let role = self.state.element(id).map(|own| own.role.as_str());
        let is_of_other = |text: NodeId| {
            let mut around = std::iter::once(text).chain(self.state.ancestors(text));
            around.any(|outer| {
                outer != id
                    && self.state.element(outer).is_some_and(|other| {
                        other.is_interactive && Some(other.role.as_str()) == role
                    })
            })
        };
        let texts = items.iter().flat_map(|&(item, kind)| {
            let texts = self.item_texts(item).into_iter();
            let own = names_item.then(|| self.own_text_of(item));
            let texts = texts.filter(move |text| {
                !is_of_other(text.element)
                    && own
                        .as_ref()
                        .is_none_or(|own| own.as_ref() == Some(&text.text))
            });
            texts.map(move |ContainedText { text, .. }| (self.range(item), kind, text))
        });
        let sections = self
            .outline(id, None)
            .into_iter()
            .filter_map(|(place, one)| Some((place, one.kind, one.text?)));
        let has_all = |(_, _, text): &(Place, ContainerKind, String)| {
            let own = plain_words(text);
            needed.iter().all(|part| part.is_in(&own))
        };
        let found = texts.chain(sections).filter(has_all);
        let (place, kind, name) = found.min_by_key(|(place, ..)| place.end - place.start)?;
        let within = Within {
            name: Some(name),
            is_quoted: true,
            kind,
        };
        Some((Some(within), place.end - place.start))
    }

    /// Those that fit best, each in words that mean it alone: those that are called by no other words, and of them those in
    /// the smallest part of the page.
    fn best_candidates(&self, mut candidates: Vec<Candidate>, pool: Pool) -> Vec<Candidate> {
        if candidates.iter().any(|one| one.is_named) {
            candidates.retain(|one| one.is_named);
        }
        if candidates.iter().any(|one| one.is_whole) {
            candidates.retain(|one| one.is_whole);
        }
        // One that is called by all of the words may be meant wherever it is.
        let least = candidates.iter().map(|one| one.size).min();
        candidates.retain(|one| {
            Some(one.size) == least || (one.phrase.within.is_none() && one.is_named && one.is_whole)
        });
        for one in &mut candidates {
            let without_role = Phrase {
                role: None,
                ..one.phrase.clone()
            };
            let means_it = |phrase: &Phrase| {
                self.meant(phrase, pool)
                    .is_ok_and(|found| found.elements == [one.id])
            };
            let clear = [one.phrase.clone(), without_role]
                .into_iter()
                .find(means_it);
            one.is_clear &= clear.is_some();
            one.phrase = clear.unwrap_or_else(|| one.phrase.clone());
        }
        candidates
    }

    /// The longest option of a list that stands in these words, and the other words.
    fn take_option<'t>(&self, words: &[&'t Token]) -> Option<(String, Vec<&'t Token>)> {
        let lists = self
            .state
            .elements()
            .filter(|(_, element)| element.is_interactive && element.is_visible);
        let mut options: Vec<&str> = lists
            .flat_map(|(_, element)| &element.options)
            .map(|option| option.label.as_str())
            .collect();
        options.sort_by_key(|label| (std::cmp::Reverse(label.len()), *label));
        options.dedup();
        options.into_iter().find_map(|label| {
            let option = plain_words(label);
            let (start, end) = (0..words.len()).find_map(|start| {
                let mut found = Vec::new();
                (start..words.len()).find_map(|end| {
                    found.extend(words[end].text().map(plain_words).unwrap_or_default());
                    (!option.is_empty() && found == option).then_some((start, end + 1))
                })
            })?;
            Some((label.to_owned(), [&words[..start], &words[end..]].concat()))
        })
    }
}

/// What an action without a form asks to do, by its verb.
fn read(tokens: &[Token]) -> Option<PartialAction<'_>> {
    use ActionKind::{Click, DoubleClick, Hover, Input};
    let tokens = without_fillers(tokens);
    let is_refused =
        |token: &Token| token.is_any(LIMITS) || matches!(token.kind, TokenKind::Reference(_));
    if denies(tokens) || tokens.iter().any(is_refused) {
        return None;
    }
    let of = |(kind, value, pool), words: &[Token]| {
        let words = &tokens[tokens.len() - words.len()..];
        Some(PartialAction {
            kind,
            value,
            pool,
            words: words.iter().collect(),
            verb: tokens.first().and_then(Part::of),
            needs_verb: false,
            names_item: false,
            is_choice: false,
        })
    };
    let Some((verb, rest)) = take_verb(tokens) else {
        let joins = |token: &Token| token.is_any(JOINTS) && !token.is_any(&["to", "no"]);
        let (first, rest) = tokens.split_first()?;
        if first.as_str().is_none() || is_claim(tokens) || rest.iter().any(joins) {
            return None;
        }
        let action = of((Click, None, Pool::Interactive), rest)?;
        return Some(PartialAction {
            needs_verb: !first.is_any(CHOICES),
            names_item: !rest.iter().any(|token| token.is_any(PREPOSITIONS)),
            is_choice: first.is_any(CHOICES),
            ..action
        });
    };
    let flag = |flag| (Input, Some(InputValue::Flag(flag)), Pool::Checks);
    match verb {
        Verb::Check if is_check_of_claim(rest) => None,
        Verb::Check => of(flag(true), rest),
        Verb::Flag(way) => of(flag(way), rest),
        Verb::Turn => match rest.split_last()? {
            (way, _) if way.is_any(&["on", "off"]) => {
                let mut action = of(flag(way.is("on")), rest)?;
                action.words.pop();
                Some(action)
            }
            _ => of((Input, None, Pool::FieldsAndSelects), rest),
        },
        Verb::Click | Verb::Press | Verb::History => of((Click, None, Pool::Interactive), rest),
        Verb::Navigate => of((Click, None, Pool::NotExpanded), rest),
        Verb::Unfold(pool) => of((Click, None, pool), rest),
        Verb::Select => of((Click, None, Pool::Options), rest),
        Verb::DoubleClick => of((DoubleClick, None, Pool::Interactive), rest),
        Verb::Hover => of((Hover, None, Pool::Anything), rest),
        Verb::Type | Verb::Fill => of((Input, None, Pool::Fields), rest),
        Verb::Set => of((Input, None, Pool::FieldsAndSelects), rest),
        // The verb may be the name of a button.
        Verb::Reload | Verb::Close => {
            let action = of((Click, None, Pool::Interactive), rest)?;
            Some(PartialAction {
                needs_verb: true,
                ..action
            })
        }
        _ => None,
    }
}

/// Whether a token is what is typed: in quotes, or no word.
fn is_value(token: &Token) -> bool {
    let is_no_word = |word: &str| {
        word.contains(|sign: char| sign.is_ascii_digit())
            || word.contains('@')
            || word.contains("://")
            || (word.len() > 1 && !word.contains(char::is_lowercase))
    };
    token.is_quoted() || token.as_str().is_some_and(is_no_word)
}

/// Whether an element has no name of its own, or only what stands in it while it is empty.
fn is_unlabelled(element: &DomElement) -> bool {
    let placeholder = element.attribute("placeholder").unwrap_or_default();
    element.label.is_empty() && element.name == placeholder
}

/// Whether a part may say what a place is, or what something in it is.
fn is_place_word(part: &Part) -> bool {
    let is_known = |word: &str| {
        is_part_noun(word) || is_item_noun(word) || Within::kinds_of(word).next().is_some()
    };
    part.noun().is_some_and(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::testing::page;

    const SHOP: &str = r#"
header
  h1 "Shop"
  button "✎ Compose"
nav "Main"
  a "Trash" href=/trash
form "Filters"
  label for=sort | Sort by
  select "Sort by" id=sort options=Newest,Cheapest
  div "Theme" role=group
    button "Dark"
    button "Light"
table
  tr
    th | Name
    th | Status
  tr
    td "Ana Lopez" | Ana Lopez
    td "Active" | Active
    td
      button "Edit"
      input type=checkbox
  tr
    td "Bob Brown" | Bob Brown
    td "Invited" | Invited
    td
      button "Edit"
      input type=checkbox
ul "Posts"
  li
    h3 "Compost"
    button "Like"
  li
    h3 "Tomatoes"
    button "Like"
"#;

    /// What a sentence means, in full.
    fn means(sentence: &str) -> String {
        let state = page(SHOP);
        let intent = Finder::new(&state, "data-testid").read_partially(sentence);
        match intent {
            Some(Ok(Intent { step, .. })) => step.in_full.unwrap_or_default(),
            _ => "-".to_owned(),
        }
    }

    #[test]
    fn an_action_that_names_its_element_in_part_is_said_in_full() {
        for (sentence, expected) in [
            (
                "click the pencil next to Bob Brown",
                "click 'Edit' button in the 'Bob Brown' row",
            ),
            (
                "Edit the Bob Brown contact",
                "click 'Edit' button in the 'Bob Brown' row",
            ),
            (
                "tick the checkbox of Ana Lopez",
                "tick the checkbox in the 'Ana Lopez' row",
            ),
            ("Go to the trash in the left sidebar", "click 'Trash' link"),
            (
                "Set the theme to Dark",
                "click 'Dark' button in the 'Theme' section",
            ),
            (
                "Sort by cheapest",
                "select 'Cheapest' from 'Sort by' dropdown",
            ),
            (
                "Like the post about tomatoes",
                "click 'Like' button in the 'Tomatoes' item",
            ),
        ] {
            assert_eq!(means(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn what_is_not_clear_means_nothing() {
        for sentence in [
            // Several fit.
            "click the pencil",
            "Like the post",
            // A word is nowhere, or of another element than the name.
            "click the pencil next to Carla Brown",
            "click the golden pencil next to Bob Brown",
            "Delete Bob Brown",
            "Set the theme to Blue",
            "click 'Bob Brown' on Edit",
            // What is said to be so is read in forms alone, and what is denied not at all.
            "Bob Brown is not selected",
            "the Compost post has 9 replies",
            "do not edit Bob Brown",
            "edit everything but Bob Brown",
            // What is typed may be a secret.
            "click the {{WHAT}} next to Bob Brown",
            "take a screenshot",
            "",
        ] {
            assert_eq!(means(sentence), "-", "{sentence}");
        }
    }
}
