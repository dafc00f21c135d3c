//! The table of actions: the tool that does the same, and what becomes of the parameters.

use super::super::reader::found;
use super::step::Conversion;
use crate::model::BuiltinTool;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, NodeKind};
use cuecard_source::value::cut;

/// An action of version 1.x.
pub(super) struct Action {
    pub name: &'static str,
    /// The tool of the browser's server.
    pub tool: &'static str,
    /// Converts the parameters; `None` if that can't be, which is reported.
    pub convert: fn(&mut Conversion<'_, '_>) -> Option<()>,
}

/// A time without a unit that is longer than this, in seconds, is doubtful.
const DOUBTFUL_SECONDS: f64 = 100.0;

/// The longest wait, in seconds: a day.
const LONGEST_WAIT: f64 = 86_400.0;

/// From this wait on, in seconds, the step's call gets more time than calls have by default.
const LONG_WAIT: f64 = 30.0;

/// Browsers give up on a script after three minutes. From here on, in seconds, the player itself waits.
const TOO_LONG_FOR_A_PAGE: f64 = 150.0;

impl Action {
    pub(super) const ALL: &[Self] = &[
        Self::new("navigate", "navigate_page", navigate),
        Self::new("click", "click", |step| {
            element(step, &["selector", "text"])
        }),
        Self::new("hover", "hover", |step| {
            element(step, &["selector", "text"])
        }),
        Self::new("fill", "fill", |step| {
            step.one_of(&["value"])?;
            element(step, &["selector"])
        }),
        Self::new("type", "type_text", type_text),
        Self::new("key", "press_key", |step| step.one_of(&["key"]).map(|_| ())),
        Self::new("screenshot", "take_screenshot", |step| {
            step.rename("path", "filePath");
            Some(())
        }),
        Self::new("wait", "evaluate_script", wait),
        Self::new("wait_for_text", "wait_for", wait_for_text),
        Self::new("scroll", "evaluate_script", scroll),
    ];

    const fn new(
        name: &'static str,
        tool: &'static str,
        convert: fn(&mut Conversion<'_, '_>) -> Option<()>,
    ) -> Self {
        Self {
            name,
            tool,
            convert,
        }
    }
}

fn navigate(step: &mut Conversion<'_, '_>) -> Option<()> {
    let has_type = step.get("type").is_some();
    if has_type && step.get("url").is_none() {
        return Some(());
    }
    let url = step.one_of(&["url"])?;
    if !has_type && matches!(url.value.as_str(), Some("back" | "forward" | "reload")) {
        step.rename("url", "type");
    }
    Some(())
}

/// An element id stays; what `described` names becomes the step's target.
fn element(step: &mut Conversion<'_, '_>, described: &[&str]) -> Option<()> {
    let id = step.get("uid").or(step.get("ref"));
    let is_described = described.iter().any(|key| step.get(key).is_some());
    match id {
        Some(id) if is_described => {
            let message = format!(
                "this `{}` is ignored: the element is found by the other parameters",
                id.key
            );
            let help = "remove it: it was valid for one snapshot only".to_owned();
            let place = (id.key.as_str(), id.key_span);
            step.warn(place, codes::UID_LITERAL, message, help);
            step.remove(&id.key);
        }
        Some(id) if id.key == "ref" => {
            let message = "this `ref` is an id that a browser extension assigned to the element: it is no longer valid";
            let help = "say what the element is instead: \"selector\": \"…\", or \"text\": \"…\" in a click";
            step.warn(
                ("ref", id.key_span),
                codes::UID_LITERAL,
                message.to_owned(),
                help.to_owned(),
            );
            step.rename("ref", "uid");
        }
        None if !is_described => {
            step.missing(&[&["uid"][..], described].concat());
            return None;
        }
        _ => {}
    }
    described.iter().for_each(|key| step.aim(key));
    Some(())
}

fn type_text(step: &mut Conversion<'_, '_>) -> Option<()> {
    step.one_of(&["text"])?;
    step.refuse(
        &["uid", "selector"],
        "it types into the focused element",
        "use the action `fill`, or `click` the element in an earlier step",
    )
}

fn wait(step: &mut Conversion<'_, '_>) -> Option<()> {
    let member = step.one_of(&["duration", "seconds", "ms"])?;
    let key = member.key.as_str();
    let time = number(step, &member)?;
    let factor = if key == "ms" { 1.0 } else { 1000.0 };
    if let Number::Known(number) = time {
        let seconds = number * factor / 1000.0;
        if !(0.0..=LONGEST_WAIT).contains(&seconds) {
            let message = format!(
                "a wait of {} s is out of range: it must be between 0 s and one day",
                shown(seconds)
            );
            let help = "write the time in seconds, or in milliseconds as `ms`";
            step.error(&member, codes::PARAM_TYPE, message, help);
            return None;
        }
        if key == "duration" && number > DOUBTFUL_SECONDS {
            let message = format!(
                "`duration` is {} seconds: did you mean milliseconds?",
                shown(number)
            );
            let help =
                format!("write \"ms\": {number} or \"seconds\": {number}, which have a unit");
            let place = (key, member.value.span);
            step.warn(place, codes::TIME_MILLISECONDS, message, help);
        }
        if seconds > TOO_LONG_FOR_A_PAGE {
            step.tool = BuiltinTool::Wait.name().to_owned();
            step.set_number(key, seconds);
            step.rename(key, "duration");
            return Some(());
        }
        // As much again as a call has for itself, so that a slow page is no failure.
        step.timeout = (seconds > LONG_WAIT).then_some(seconds.ceil() as u64 + 30);
    }
    let time = time.script(factor);
    let script = format!("() => new Promise(resolve => setTimeout(resolve, {time}))");
    step.script(key, script);
    Some(())
}

fn wait_for_text(step: &mut Conversion<'_, '_>) -> Option<()> {
    step.one_of(&["text"])?;
    let Some(member) = step.get("timeout") else {
        return Some(());
    };
    // The tool's own timeout is in milliseconds.
    let doubt = match number(step, &member)? {
        Number::Known(number) if number <= DOUBTFUL_SECONDS => {
            step.set_number("timeout", number * 1000.0);
            return Some(());
        }
        Number::Known(number) => format!("{} is", shown(number)),
        Number::Reference(_) => "a reference is".to_owned(),
    };
    let message = format!("`timeout`: {doubt} interpreted as milliseconds");
    let help = "a number up to 100 would be interpreted as seconds".to_owned();
    let place = ("timeout", member.value.span);
    step.warn(place, codes::TIME_MILLISECONDS, message, help);
    Some(())
}

fn scroll(step: &mut Conversion<'_, '_>) -> Option<()> {
    step.refuse(
        &["uid", "selector", "text"],
        "it scrolls the page",
        "`hover` over the element instead, which scrolls it into view",
    )?;
    let (x, y) = (step.get("x"), step.get("y"));
    let Some(direction) = step.get("direction") else {
        return scroll_by(step, x, y);
    };
    if let Some(member) = x.or(y) {
        let message = format!("`scroll` has both `direction` and `{}`", member.key);
        step.error(&member, codes::PARAM_UNKNOWN, message, "remove one of them");
        return None;
    }
    scroll_direction(step, &direction)
}

/// `x` and `y`: pixels to the right and down.
fn scroll_by(step: &mut Conversion<'_, '_>, x: Option<Member>, y: Option<Member>) -> Option<()> {
    let Some(first) = x.as_ref().or(y.as_ref()).map(|first| first.key.clone()) else {
        step.missing(&["x", "y", "direction"]);
        return None;
    };
    let mut pixels = |member: Option<Member>| match member {
        None => Some("0".to_owned()),
        Some(member) => Some(number(step, &member)?.script(1.0)),
    };
    let (left, top) = (pixels(x)?, pixels(y)?);
    let script =
        format!("() => window.scrollBy({{ left: {left}, top: {top}, behavior: 'instant' }})");
    step.script(&first, script);
    step.remove("y");
    Some(())
}

const DIRECTIONS: &[(&str, &str)] = &[
    ("up", "[0, -1]"),
    ("down", "[0, 1]"),
    ("left", "[-1, 0]"),
    ("right", "[1, 0]"),
];

/// `direction` and `amount`: pixels, or as much as the window shows.
fn scroll_direction(step: &mut Conversion<'_, '_>, direction: &Member) -> Option<()> {
    let pointer = step.pointer_of("direction");
    let text = step
        .reader
        .text_of(&direction.value, &pointer, "`direction`")?;
    let known = DIRECTIONS.iter().find(|(name, _)| *name == text);
    let sign = match known {
        Some((_, sign)) => (*sign).to_owned(),
        None if is_reference(text) => {
            let signs = DIRECTIONS
                .iter()
                .map(|(name, sign)| format!("['{name}', {sign}]"));
            let signs: Vec<_> = signs.collect();
            format!("new Map([{}]).get('{text}')", signs.join(", "))
        }
        None => {
            let message = format!(
                "`direction` must be up, down, left or right, not `{}`",
                cut(text, 40)
            );
            let help = "write one of these four values";
            step.error(direction, codes::PARAM_TYPE, message, help);
            let meant = did_you_mean(text, DIRECTIONS.iter().map(|(name, _)| *name));
            if let Some(found) = step.reader.diagnostics.last_mut() {
                found.label = meant.map(|name| format!("did you mean `{name}`?"));
            }
            return None;
        }
    };
    let (amount, left, top) = match step.get("amount") {
        None => (String::new(), "window.innerWidth", "window.innerHeight"),
        Some(member) => {
            let amount = number(step, &member)?.script(1.0);
            (format!("const amount = {amount}; "), "amount", "amount")
        }
    };
    step.remove("amount");
    let script = format!(
        "() => {{ const [x, y] = {sign}; {amount}window.scrollBy({{ left: x * {left}, top: y * {top}, behavior: 'instant' }}); }}"
    );
    step.script("direction", script);
    Some(())
}

/// A number that goes into a script.
enum Number {
    /// Known now.
    Known(f64),
    /// One reference, with braces.
    Reference(String),
}

impl Number {
    /// The number times `factor`, in a script.
    fn script(&self, factor: f64) -> String {
        match self {
            Self::Known(number) => shown(number * factor),
            Self::Reference(text) if factor == 1.0 => format!("({text})"),
            Self::Reference(text) => format!("{} * ({text})", shown(factor)),
        }
    }
}

/// The number that a parameter is, which may be written as a text; reported if it is none.
fn number(step: &mut Conversion<'_, '_>, member: &Member) -> Option<Number> {
    let node = &member.value;
    let number = match &node.kind {
        NodeKind::Number(_) => node.as_f64(),
        NodeKind::String(text) if is_reference(text) => {
            return Some(Number::Reference(text.clone()));
        }
        NodeKind::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let number = number.filter(|number: &f64| number.is_finite());
    if number.is_none() {
        let message = format!(
            "`{}` of the action `{}` must be a number, or one reference to a number, not {}",
            cut(&member.key, 40),
            step.action,
            found(node)
        );
        let pointer = step.pointer_of(&member.key);
        step.reader
            .error_at(codes::PARAM_TYPE, node.span, &pointer, message);
    }
    number.map(Number::Known)
}

/// To the thousandth, without what binary fractions add.
pub(super) fn shown(number: f64) -> String {
    let rounded = (number * 1000.0).round() / 1000.0;
    // Adding makes a zero of the negative zero.
    format!("{}", rounded + 0.0)
}

/// Whether a text is one reference and nothing else.
fn is_reference(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("{{")
        && text.find("}}") == Some(text.len() - 2)
        && text.matches("{{").count() == 1
}
