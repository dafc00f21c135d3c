//! Rules: parts of a file that are there only if a symbol says so. They are resolved on the tree, whose spans stay, so
//! that what is said about a rule's config points at the text written there.

use std::collections::HashMap;

use super::condition;
use super::pieces::child;
use super::symbols::{SymbolValue, Symbols};
use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::{Reader, found};
use cuecard_source::value::cut;

/// A symbol that a condition asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolUse {
    /// Its name.
    pub name: String,
    /// The condition, as written.
    pub condition: String,
    /// Whether it is defined.
    pub is_defined: bool,
    /// Whether the condition holds. One that can't be compared doesn't.
    pub holds: bool,
    /// The defined symbol that was perhaps meant, if it is not.
    pub proposal: Option<String>,
    /// Where the condition names it.
    pub span: Span,
}

/// A tree without rules.
pub(super) struct Resolved {
    pub root: Node,
    /// The configs of the rules that don't apply.
    pub untaken: Vec<Span>,
    pub uses: Vec<SymbolUse>,
}

/// Resolves the rules of a tree. With `toward`, the rule applies whose config is or holds that span. The reader learns
/// where items stand in the file, of lists into which rules put others.
pub(super) fn resolve(
    reader: &mut Reader<'_>,
    root: &Node,
    symbols: &Symbols,
    toward: Option<Span>,
) -> Resolved {
    let mut resolver = Resolver {
        reader,
        symbols,
        toward,
        written: HashMap::new(),
        untaken: Vec::new(),
        uses: Vec::new(),
    };
    let root = match has_rules(root) {
        true => resolver.node(root, "", false),
        false => root.clone(),
    };
    let Resolver {
        written,
        untaken,
        uses,
        ..
    } = resolver;
    reader.moved = written.into();
    Resolved {
        root,
        untaken,
        uses,
    }
}

/// Whether a tree has rules at all.
pub(super) fn has_rules(root: &Node) -> bool {
    let mut nodes = vec![root];
    while let Some(node) = nodes.pop() {
        match &node.kind {
            NodeKind::Array(items) => nodes.extend(items),
            NodeKind::Object(members) => {
                if members.iter().any(|member| member.key == "rules") {
                    return true;
                }
                nodes.extend(members.iter().map(|member| &member.value));
            }
            _ => {}
        }
    }
    false
}

/// Keys below which anything may stand, so that `rules` is only what looks like them.
const FREE: &[&str] = &[
    "args", "rawInput", "result", "_meta", "meta", "params", "details", "equals", "reply", "seed",
    "toolCall",
];

struct Resolver<'r, 'a> {
    reader: &'r mut Reader<'a>,
    symbols: &'r Symbols,
    toward: Option<Span>,
    written: HashMap<Span, String>,
    untaken: Vec<Span>,
    uses: Vec<SymbolUse>,
}

/// A rule that applies: its config, and where that stands.
type Applied<'n> = (&'n Node, String);

impl Resolver<'_, '_> {
    fn node(&mut self, node: &Node, pointer: &str, is_free: bool) -> Node {
        let kind = match &node.kind {
            NodeKind::Array(items) => NodeKind::Array(self.items(items, pointer, is_free)),
            NodeKind::Object(members) => self.members(members, pointer, is_free),
            _ => return node.clone(),
        };
        kind.at(node.span)
    }

    fn items(&mut self, items: &[Node], pointer: &str, is_free: bool) -> Vec<Node> {
        let is_rules = |item: &Node| match item.members() {
            [only] => only.key == "rules" && (!is_free || looks_like_rules(&only.value)),
            _ => false,
        };
        let has_rules = items.iter().any(is_rules);
        let mut all = Vec::with_capacity(items.len());
        for (idx, item) in items.iter().enumerate() {
            let at = format!("{pointer}/{idx}");
            if !is_rules(item) {
                if has_rules {
                    self.written.insert(item.span, at.clone());
                }
                all.push(self.node(item, &at, is_free));
                continue;
            }
            let at = format!("{at}/rules");
            for (config, at) in self.applied(&item.members()[0].value, &at) {
                match &config.kind {
                    NodeKind::Array(_) => {
                        let resolved = self.node(config, &at, is_free);
                        let NodeKind::Array(items) = resolved.kind else {
                            continue;
                        };
                        for (idx, item) in items.iter().enumerate() {
                            self.written
                                .entry(item.span)
                                .or_insert_with(|| format!("{at}/{idx}"));
                        }
                        all.extend(items);
                    }
                    _ => {
                        self.written.insert(config.span, at.clone());
                        all.push(self.node(config, &at, is_free));
                    }
                }
            }
        }
        all
    }

    fn members(&mut self, members: &[Member], pointer: &str, is_free: bool) -> NodeKind {
        let mut resolved: Vec<Member> = Vec::with_capacity(members.len());
        let mut rules = None;
        for member in members {
            if member.key == "rules" && (!is_free || looks_like_rules(&member.value)) {
                rules = Some(&member.value);
                continue;
            }
            let at = child(pointer, &member.key);
            let is_free = is_free || FREE.contains(&member.key.as_str());
            resolved.push(Member {
                value: self.node(&member.value, &at, is_free),
                ..member.clone()
            });
        }
        if let Some(rules) = rules {
            let at = child(pointer, "rules");
            for (config, at) in self.applied(rules, &at) {
                match self.node(config, &at, is_free).kind {
                    NodeKind::Object(members) => overlay(&mut resolved, members),
                    _ => {
                        let message = format!(
                            "the config of this rule is merged with the keys beside `rules`, and is {}",
                            found(config)
                        );
                        self.reader
                            .error_at(codes::TIMELINE_RULE_MIXED, config.span, &at, message)
                            .help = Some(
                            "write `- rules:` as an item of the list, or a mapping as config"
                                .to_owned(),
                        );
                    }
                }
            }
        }
        NodeKind::Object(resolved)
    }

    /// The rules of a list that apply, in order. The others are remembered.
    fn applied<'n>(&mut self, rules: &'n Node, pointer: &str) -> Vec<Applied<'n>> {
        let code = codes::TIMELINE_RULE_SHAPE;
        let Some(items) = rules.as_array() else {
            let message = format!("`rules` must be a list, not {}", found(rules));
            self.reader
                .error_at(code, rules.span, pointer, message)
                .help = Some("write `- when: '$name'` and `config: …`".to_owned());
            return Vec::new();
        };
        let mut matching = Vec::new();
        let mut defaults = Vec::new();
        let mut never = Vec::new();
        for (idx, rule) in items.iter().enumerate() {
            let at = format!("{pointer}/{idx}");
            let Some((config, trigger)) = self.rule(rule, &at) else {
                continue;
            };
            let applied = (config, format!("{at}/config"));
            match trigger {
                Trigger::When(true) => matching.push(applied),
                Trigger::Default => defaults.push(applied),
                Trigger::When(false) => never.push(applied),
            }
        }
        let (taken, rest) = match matching.is_empty() {
            true => (defaults, matching),
            false => (matching, defaults),
        };
        let all = || taken.iter().chain(&rest).chain(&never);
        let forced = self
            .toward
            .and_then(|span| all().find(|(config, _)| holds(config.span, span)).cloned());
        if let Some(forced) = forced {
            return vec![forced];
        }
        for (config, _) in rest.iter().chain(&never) {
            self.untaken.push(config.span);
            nested_configs(config, &mut self.untaken);
        }
        taken
    }

    /// Reads one rule: its config, and what makes it apply.
    fn rule<'n>(&mut self, rule: &'n Node, pointer: &str) -> Option<(&'n Node, Trigger)> {
        let code = codes::TIMELINE_RULE_SHAPE;
        if !matches!(rule.kind, NodeKind::Object(_)) {
            let message = format!("a rule must be a mapping, not {}", found(rule));
            self.reader.error_at(code, rule.span, pointer, message);
            return None;
        }
        for member in rule.members() {
            if !["when", "default", "config"].contains(&member.key.as_str()) {
                let at = child(pointer, &member.key);
                let message = format!("unknown key `{}` in a rule", cut(&member.key, 40));
                self.reader
                    .error_at(code, member.key_span, &at, message)
                    .suggest(&member.key, ["when", "default", "config"]);
            }
        }
        let config = rule.get("config");
        let (when, default) = (rule.get("when"), rule.get("default"));
        let problem = match (when, default, config) {
            (Some(_), Some(_), _) => "a rule has both `when` and `default`",
            (None, None, _) => "a rule has neither `when` nor `default`",
            (_, _, None) => "a rule has no `config`",
            (Some(when), None, Some(config)) => {
                let holds = self.when(when, &child(pointer, "when"))?;
                return Some((config, Trigger::When(holds)));
            }
            (None, Some(default), Some(config)) => {
                let trigger = self.default(default, &child(pointer, "default"))?;
                return Some((config, trigger));
            }
        };
        let at = cuecard_source::reader::first_character(self.reader.source, rule.span);
        self.reader.error_at(code, at, pointer, problem).help =
            Some("a rule is {when: '$name', config: …} or {default: true, config: …}".to_owned());
        None
    }

    fn default(&mut self, node: &Node, pointer: &str) -> Option<Trigger> {
        match node.kind {
            NodeKind::Bool(true) => Some(Trigger::Default),
            NodeKind::Bool(false) => {
                let code = codes::TIMELINE_RULE_NEVER;
                let message = "a rule with `default: false` never applies";
                let diagnostic = self.reader.warning_at(code, node.span, pointer, message);
                diagnostic.help = Some("remove the rule, or write `default: true`".to_owned());
                Some(Trigger::When(false))
            }
            _ => {
                let message = format!("`default` must be true, not {}", found(node));
                let code = codes::TIMELINE_RULE_SHAPE;
                self.reader.error_at(code, node.span, pointer, message);
                None
            }
        }
    }

    /// Whether a condition holds. One that can't be read or compared is reported.
    fn when(&mut self, node: &Node, pointer: &str) -> Option<bool> {
        let Some(text) = node.as_str() else {
            let message = format!("a condition must be a string, not {}", found(node));
            let code = codes::TIMELINE_CONDITION;
            self.reader.error_at(code, node.span, pointer, message).help =
                Some("write `when: '$name'`".to_owned());
            return None;
        };
        let Some(condition) = condition::parse(text) else {
            let span = self.reader.part(node, trimmed(text));
            let message = format!("`{}` is not a condition", cut(text.trim(), 60));
            let code = codes::TIMELINE_CONDITION;
            self.reader.error_at(code, span, pointer, message).help =
                Some(condition::HELP.to_owned());
            return None;
        };
        let span = self.reader.part(node, condition.name_range.clone());
        let symbol = self.symbols.get(&condition.name);
        self.uses.push(SymbolUse {
            name: condition.name.clone(),
            condition: text.trim().to_owned(),
            holds: symbol.is_some_and(|symbol| condition.holds(symbol).unwrap_or(false)),
            is_defined: symbol.is_some(),
            proposal: match symbol {
                Some(_) => None,
                None => did_you_mean(&condition.name, self.symbols.names()).map(str::to_owned),
            },
            span,
        });
        let Some(symbol) = symbol else {
            return Some(false);
        };
        if condition.comparison.is_none() && symbol.value == SymbolValue::Flag(false) {
            let message = format!("`${}` is defined, so the rule applies", condition.name);
            let note = Diagnostic::note(codes::TIMELINE_RULE_FALSE_SYMBOL, message)
                .at(self.reader.source, span)
                .with_pointer(pointer)
                .with_note(format!("it is false ({})", symbol.origin))
                .with_help(format!(
                    "write `${} == true` to ask for its value",
                    condition.name
                ));
            self.reader.diagnostics.push(note);
        }
        match condition.holds(symbol) {
            Ok(holds) => Some(holds),
            Err(message) => {
                let note = format!("it is {}, set by {}", symbol.value, symbol.origin);
                let span = self.reader.part(node, trimmed(text));
                let code = codes::TIMELINE_RULE_TYPES;
                self.reader
                    .error_at(code, span, pointer, message)
                    .notes
                    .push(note);
                None
            }
        }
    }
}

enum Trigger {
    When(bool),
    Default,
}

fn trimmed(text: &str) -> std::ops::Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..text.trim_end().len().max(start)
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Whether this can be nothing but rules.
fn looks_like_rules(node: &Node) -> bool {
    node.as_array().is_some_and(|items| {
        !items.is_empty()
            && items.iter().all(|item| {
                item.get("config").is_some()
                    && (item.get("when").is_some() || item.get("default").is_some())
            })
    })
}

/// The configs of all rules inside of a config.
fn nested_configs(config: &Node, spans: &mut Vec<Span>) {
    let mut nodes = vec![config];
    while let Some(node) = nodes.pop() {
        match &node.kind {
            NodeKind::Array(items) => nodes.extend(items),
            NodeKind::Object(members) => {
                for member in members {
                    if member.key == "rules" {
                        let rules = member.value.as_array().unwrap_or_default();
                        let configs = rules.iter().filter_map(|rule| rule.get("config"));
                        spans.extend(configs.map(|config| config.span));
                    }
                    nodes.push(&member.value);
                }
            }
            _ => {}
        }
    }
}

/// Lays members over others: mappings are merged, everything else is replaced.
pub(super) fn overlay(members: &mut Vec<Member>, over: Vec<Member>) {
    let mut places: HashMap<String, usize> = members
        .iter()
        .enumerate()
        .map(|(idx, member)| (member.key.clone(), idx))
        .collect();
    for member in over {
        let Some(&idx) = places.get(&member.key) else {
            places.insert(member.key.clone(), members.len());
            members.push(member);
            continue;
        };
        let known = &mut members[idx];
        match (&mut known.value.kind, member.value.kind) {
            (NodeKind::Object(inner), NodeKind::Object(over)) => overlay(inner, over),
            (_, kind) => {
                known.key_span = member.key_span;
                known.value = kind.at(member.value.span);
            }
        }
    }
}
