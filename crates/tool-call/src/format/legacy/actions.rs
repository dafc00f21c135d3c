//! The table of actions: the tool that does the same, and what becomes of the parameters.

use super::numbers::{Number, brief, inside, is_reference, shown};
use super::step::Conversion;
use crate::model::BuiltinTool;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, NodeKind};
use cuecard_source::{Part, Span};

/// An action of version 1.x.
pub(super) struct Action {
    pub name: &'static str,
    /// The tool of the browser's server.
    pub tool: &'static str,
    /// Converts the parameters; `None` if that can't be, which is reported.
    pub convert: fn(&mut Conversion<'_, '_, '_>) -> Option<()>,
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
        Self::new("click", "click", on_element),
        Self::new("hover", "hover", on_element),
        Self::new("fill", "fill", fill),
        Self::new("type", "type_text", type_text),
        Self::new("key", "press_key", key),
        Self::new("screenshot", "take_screenshot", screenshot),
        Self::new("wait", "evaluate_script", wait),
        Self::new("wait_for_text", "wait_for", wait_for_text),
        Self::new("scroll", "evaluate_script", scroll),
    ];

    const fn new(
        name: &'static str,
        tool: &'static str,
        convert: fn(&mut Conversion<'_, '_, '_>) -> Option<()>,
    ) -> Self {
        Self {
            name,
            tool,
            convert,
        }
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|action| action.name == name)
    }
}

fn navigate(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    if step.get("url").is_none() && step.get("type").is_some() {
        return Some(());
    }
    let (_, url) = step.one_of(&["url"])?;
    let is_history = matches!(url.value.as_str(), Some("back" | "forward" | "reload"));
    if is_history && step.get("type").is_none() {
        step.rename(url, "type");
    }
    Some(())
}

/// `click` and `hover`: an element id stays, a selector or a text becomes the step's target.
fn on_element(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    let found = [step.get("selector"), step.get("text")];
    element(step, &["uid", "selector", "text"], found)
}

fn fill(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    let selector = step.get("selector");
    step.one_of(&["value"])?;
    element(step, &["uid", "selector"], [selector, None])
}

fn element(
    step: &mut Conversion<'_, '_, '_>,
    names: &[&str],
    [selector, text]: [Option<&Member>; 2],
) -> Option<()> {
    let uid = step.get("uid").or(step.get("ref"));
    if uid.is_none() && selector.is_none() && text.is_none() {
        step.missing(names);
        return None;
    }
    if let (Some(uid), Some(_)) = (uid, selector.or(text)) {
        let message = format!(
            "this `{}` is ignored: the element is found by the other parameters",
            uid.key
        );
        let pointer = step.pointer_of(&uid.key);
        let diagnostic = step
            .reader
            .warning(codes::UID_LITERAL, uid.key_span, message);
        diagnostic.pointer = Some(pointer);
        diagnostic.help = Some("remove it: it was valid for one snapshot only".to_owned());
        step.remove(uid);
    } else if let Some(id) = uid.filter(|uid| uid.key == "ref") {
        let message = "this `ref` is an id that a browser extension assigned to the element: it is no longer valid";
        let pointer = step.pointer_of("ref");
        let diagnostic = step
            .reader
            .warning(codes::UID_LITERAL, id.key_span, message);
        diagnostic.pointer = Some(pointer);
        diagnostic.help = Some(
            "say what the element is instead: \"selector\": \"…\", or \"text\": \"…\" in a click"
                .to_owned(),
        );
        step.rename(id, "uid");
    }
    for (key, member) in [("selector", selector), ("text", text)] {
        if let Some(member) = member {
            step.aim(key, member);
        }
    }
    Some(())
}

fn type_text(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    step.one_of(&["text"])?;
    for name in ["uid", "selector"] {
        if let Some(member) = step.get(name) {
            step.error(
                member,
                codes::PARAM_UNKNOWN,
                format!(
                    "the action `type` has no parameter `{name}`: it types into the focused element"
                ),
                "use the action `fill`, or `click` the element in an earlier step",
            );
            return None;
        }
    }
    Some(())
}

fn key(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    step.one_of(&["key"]).map(|_| ())
}

fn screenshot(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    if let Some(path) = step.get("path") {
        step.rename(path, "filePath");
    }
    Some(())
}

fn wait(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    let (name, member) = step.one_of(&["duration", "seconds", "ms"])?;
    let time = number(step, member)?;
    let factor = if name == "ms" { 1.0 } else { 1000.0 };
    if let Number::Known(number) = time {
        let seconds = number * factor / 1000.0;
        if !(0.0..=LONGEST_WAIT).contains(&seconds) {
            step.error(
                member,
                codes::PARAM_TYPE,
                format!(
                    "a wait of {} s is out of range: it must be between 0 s and one day",
                    shown(seconds)
                ),
                "write the time in seconds, or in milliseconds as `ms`",
            );
            return None;
        }
        if name == "duration" && number > DOUBTFUL_SECONDS {
            let diagnostic = step.reader.warning(
                codes::TIME_MILLISECONDS,
                member.value.span,
                format!(
                    "`duration` is {} seconds: did you mean milliseconds?",
                    shown(number)
                ),
            );
            diagnostic.help = Some(format!(
                "write \"ms\": {number} or \"seconds\": {number}, which have a unit"
            ));
        }
        if seconds > TOO_LONG_FOR_A_PAGE {
            step.tool = BuiltinTool::Wait.name().to_owned();
            let seconds = Part::new(shown(seconds), member.value.span);
            step.replace(member, "duration", vec![seconds]);
            return Some(());
        }
        // As much again as a call has for itself, so that a slow page is no failure.
        step.timeout = (seconds > LONG_WAIT).then_some(seconds.ceil() as u64 + 30);
    }
    let about = whole(member);
    let mut script = vec![Part::new(
        "\"() => new Promise(resolve => setTimeout(resolve, ",
        about,
    )];
    script.extend(time.script(factor, about));
    script.push(Part::new("))\"", about));
    step.replace(member, "function", script);
    Some(())
}

fn wait_for_text(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    step.one_of(&["text"])?;
    let Some(member) = step.get("timeout") else {
        return Some(());
    };
    // The tool's own timeout is in milliseconds.
    let doubt = match number(step, member)? {
        Number::Known(number) if number <= DOUBTFUL_SECONDS => {
            let milliseconds = Part::new(shown(number * 1000.0), member.value.span);
            step.revalue(member, vec![milliseconds]);
            return Some(());
        }
        Number::Known(number) => format!("{} is", shown(number)),
        Number::Reference(_) => "a reference is".to_owned(),
    };
    let diagnostic = step.reader.warning(
        codes::TIME_MILLISECONDS,
        member.value.span,
        format!("`timeout`: {doubt} interpreted as milliseconds"),
    );
    diagnostic.help = Some("a number up to 100 would be interpreted as seconds".to_owned());
    Some(())
}

fn scroll(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    for name in ["uid", "selector", "text"] {
        if let Some(member) = step.get(name) {
            step.error(
                member,
                codes::PARAM_UNKNOWN,
                format!("the action `scroll` has no parameter `{name}`: it scrolls the page"),
                "`hover` over the element instead, which scrolls it into view",
            );
            return None;
        }
    }
    match step.get("direction") {
        Some(direction) => scroll_direction(step, direction),
        None => scroll_by(step),
    }
}

/// `x` and `y`: pixels to the right and down.
fn scroll_by(step: &mut Conversion<'_, '_, '_>) -> Option<()> {
    let (x, y) = (step.get("x"), step.get("y"));
    let Some(first) = x.or(y) else {
        step.missing(&["x", "y", "direction"]);
        return None;
    };
    let about = whole(first);
    let mut script = vec![Part::new("\"() => window.scrollBy({ left: ", about)];
    script.extend(pixels(step, x, about)?);
    script.push(Part::new(", top: ", about));
    script.extend(pixels(step, y, about)?);
    script.push(Part::new(", behavior: 'instant' })\"", about));
    step.replace(first, "function", script);
    if let (Some(_), Some(y)) = (x, y) {
        step.remove(y);
    }
    Some(())
}

fn pixels(
    step: &mut Conversion<'_, '_, '_>,
    member: Option<&Member>,
    about: Span,
) -> Option<Vec<Part>> {
    match member {
        None => Some(vec![Part::new("0", about)]),
        Some(member) => Some(number(step, member)?.script(1.0, whole(member))),
    }
}

const DIRECTIONS: &[(&str, [i8; 2])] = &[
    ("up", [0, -1]),
    ("down", [0, 1]),
    ("left", [-1, 0]),
    ("right", [1, 0]),
];

/// `direction` and `amount`: pixels, or as much as the window shows.
fn scroll_direction(step: &mut Conversion<'_, '_, '_>, direction: &Member) -> Option<()> {
    let about = whole(direction);
    if let Some(member) = step.get("x").or(step.get("y")) {
        step.error(
            member,
            codes::PARAM_UNKNOWN,
            format!("`scroll` has both `direction` and `{}`", member.key),
            "remove one of them",
        );
        return None;
    }
    let mut script = match &direction.value.kind {
        NodeKind::String(text) if is_reference(text) => vec![
            Part::new(
                "\"() => { const [x, y] = new Map([['up', [0, -1]], ['down', [0, 1]], ['left', [-1, 0]], ['right', [1, 0]]]).get('",
                about,
            ),
            Part::Kept(inside(&direction.value)),
            Part::new("'); ", about),
        ],
        NodeKind::String(text) => {
            let Some((_, [x, y])) = DIRECTIONS.iter().find(|(name, _)| name == text) else {
                let names = DIRECTIONS.iter().map(|(name, _)| *name);
                let proposal = did_you_mean(text, names);
                let message = format!(
                    "`direction` must be up, down, left or right, not `{}`",
                    brief(text)
                );
                step.error(
                    direction,
                    codes::PARAM_TYPE,
                    message,
                    "write one of these four values",
                );
                if let (Some(diagnostic), Some(proposal)) =
                    (step.reader.diagnostics.last_mut(), proposal)
                {
                    diagnostic.label = Some(format!("did you mean `{proposal}`?"));
                }
                return None;
            };
            vec![Part::new(
                format!("\"() => {{ const [x, y] = [{x}, {y}]; "),
                about,
            )]
        }
        _ => {
            let pointer = step.pointer_of("direction");
            step.reader
                .wrong_type(&direction.value, &pointer, "`direction`", "a string");
            return None;
        }
    };
    let amount = step.get("amount");
    match amount {
        None => script.push(Part::new(
            "window.scrollBy({ left: x * window.innerWidth, top: y * window.innerHeight, behavior: 'instant' }); }\"",
            about,
        )),
        Some(member) => {
            script.push(Part::new("const amount = ", about));
            script.extend(number(step, member)?.script(1.0, whole(member)));
            script.push(Part::new(
                "; window.scrollBy({ left: x * amount, top: y * amount, behavior: 'instant' }); }\"",
                about,
            ));
            step.remove(member);
        }
    }
    step.replace(direction, "function", script);
    Some(())
}

fn number(step: &mut Conversion<'_, '_, '_>, member: &Member) -> Option<Number> {
    let pointer = step.pointer_of(&member.key);
    let what = format!("`{}` of the action `{}`", brief(&member.key), step.action);
    Number::read(step.reader, &member.value, &pointer, &what)
}

/// A parameter with its value.
fn whole(member: &Member) -> Span {
    Span {
        start: member.key_span.start,
        end: member.value.span.end,
    }
}
