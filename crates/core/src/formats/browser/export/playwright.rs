//! Steps as a test for Playwright's own runner: one file, which runs as it is.

use std::fmt::Write as _;
use std::path::Path;

use super::locators::Locator;
use super::settings::settings;
use super::texts::{Names, escaped, quoted};
use super::{Exported, Warnings};
use crate::scenario::browser::{
    ActionKind, AssertKind, BrowserAssertion, BrowserOptions, Compare, Direction, InputValue,
    OnDialog, StepsFile, TestStep, TextMatch,
};
use crate::source::SourceFile;
use crate::value::{Json, as_text};

/// How long Playwright waits for an assertion unless it is told otherwise, in milliseconds.
const DEFAULT_ASSERT_MS: u64 = 5_000;

/// The test that does what the steps do.
pub fn to_playwright(file: &StepsFile, source: &SourceFile) -> Exported {
    let mut writer = Writer {
        names: Names::of(file),
        settings: settings(&file.options),
        origin: origin(&file.url),
        steps: String::new(),
        warnings: Warnings::new(source),
        tab: 0,
        needs_called: false,
        needs_tabs: false,
    };
    let first = writer.address(&file.url);
    let _ = writeln!(writer.steps, "  await page.goto({first});");
    for (place, step) in file.test_steps.iter().enumerate() {
        writer.step(place, step);
    }
    Exported {
        text: writer.file(file, source),
        warnings: writer.warnings.found,
    }
}

/// Scheme, host and port of an address that has no references in them.
fn origin(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let origin = &url[..scheme.len() + 3 + end];
    (!origin.contains("{{")).then_some(origin)
}

struct Writer<'a> {
    names: Names<'a>,
    settings: BrowserOptions,
    /// What addresses begin with that are written from their path on.
    origin: Option<&'a str>,
    steps: String,
    warnings: Warnings<'a>,
    tab: usize,
    needs_called: bool,
    needs_tabs: bool,
}

impl Writer<'_> {
    /// The whole file.
    fn file(&self, file: &StepsFile, source: &SourceFile) -> String {
        let mut text = String::new();
        let imports = match self.needs_called || self.needs_tabs {
            true => {
                "import { expect as playwrightExpect, test, type FrameLocator, type Locator, type Page } from \"@playwright/test\";\n"
            }
            false => "import { expect as playwrightExpect, test } from \"@playwright/test\";\n",
        };
        let is_default = self.settings.assert_timeout_ms == DEFAULT_ASSERT_MS;
        text.push_str(&match is_default {
            true => imports.replace("expect as playwrightExpect", "expect"),
            false => imports.to_owned(),
        });
        if !is_default {
            let _ = write!(
                text,
                "\nconst expect = playwrightExpect.configure({{ timeout: {} }});\n",
                self.settings.assert_timeout_ms
            );
        }
        text.push_str(&self.variables(file));
        text.push_str(&self.options());
        if self.needs_called {
            text.push_str(CALLED);
        }
        if self.needs_tabs {
            text.push_str(TAB);
        }
        let name = Path::new(source.name())
            .file_stem()
            .map_or("steps".into(), |stem| stem.to_string_lossy());
        let page = if self.needs_tabs {
            "page: first"
        } else {
            "page"
        };
        let _ = write!(
            text,
            "\ntest({}, async ({{ {page} }}) => {{\n  test.setTimeout({});\n",
            quoted(&name),
            self.settings.timeout_ms
        );
        if self.needs_tabs {
            text.push_str("  let page = first;\n");
        }
        let answer = match self.settings.on_dialog {
            OnDialog::Accept => "accept",
            OnDialog::Dismiss => "dismiss",
        };
        let _ = writeln!(
            text,
            "  page.context().on(\"dialog\", (dialog) => dialog.{answer}());"
        );
        text.push_str(&self.steps);
        text.push_str("});\n");
        text
    }

    fn variables(&self, file: &StepsFile) -> String {
        if self.names.all().is_empty() {
            return String::new();
        }
        let mut text = VARIABLE.to_owned();
        text.push_str("\nconst variables = {\n");
        for name in self.names.all() {
            let default = file
                .variables
                .get(*name)
                .filter(|value| !value.is_null() && !file.secrets.iter().any(|known| known == name))
                .map(|value| format!(", {}", quoted(&as_text(value))))
                .unwrap_or_default();
            let _ = writeln!(text, "  {name}: variable({}{default}),", quoted(name));
        }
        text.push_str("};\n");
        text
    }

    fn options(&self) -> String {
        let settings = &self.settings;
        let mut text = "\ntest.use({\n".to_owned();
        if let Some(origin) = self.origin {
            let _ = writeln!(
                text,
                "  baseURL: process.env.BASE_URL ?? {},",
                quoted(origin)
            );
        }
        let _ = write!(
            text,
            "  viewport: {{ width: {}, height: {} }},\n  locale: {},\n  timezoneId: {},\n  contextOptions: {{ reducedMotion: \"reduce\" }},\n  testIdAttribute: {},\n  actionTimeout: {},\n",
            settings.viewport.width,
            settings.viewport.height,
            quoted(&settings.locale),
            quoted(&settings.timezone),
            quoted(&settings.test_id_attribute),
            settings.action_timeout_ms
        );
        if let Some(state) = &settings.storage_state {
            let _ = writeln!(
                text,
                "  storageState: {},",
                quoted(&state.to_string_lossy())
            );
        }
        text.push_str("});\n");
        text
    }

    /// An address, from its path on if it is on the site where the steps begin.
    fn address(&self, url: &str) -> String {
        let path = self
            .origin
            .and_then(|origin| url.strip_prefix(origin))
            .filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
        match path {
            Some("") => self.names.script("/"),
            Some(path) => self.names.script(path),
            None => self.names.script(url),
        }
    }

    fn step(&mut self, place: usize, step: &TestStep) {
        let tab = step.tab.unwrap_or(0);
        if tab != self.tab {
            self.tab = tab;
            self.needs_tabs = true;
            let _ = writeln!(self.steps, "  page = await tab(first, {tab});");
        }
        let Some(statements) = self.statements(place, step) else {
            return;
        };
        let optional = match step.optional {
            true => {
                ".catch((error) => {\n    test.info().annotations.push({ type: \"optional\", description: String(error) });\n  })"
            }
            false => "",
        };
        let title = quoted(&step.description);
        let _ = writeln!(self.steps, "  await test.step({title}, async () => {{");
        for statement in statements {
            let _ = writeln!(self.steps, "    {statement}");
        }
        let _ = writeln!(self.steps, "  }}){optional};");
    }

    fn statements(&mut self, place: usize, step: &TestStep) -> Option<Vec<String>> {
        let one = |statement: String| Some(vec![statement]);
        let within = step
            .timeout_ms
            .map(|limit| format!("{{ timeout: {limit} }}"));
        let alone = within.clone().unwrap_or_default();
        let after = within
            .map(|options| format!(", {options}"))
            .unwrap_or_default();
        match step.action {
            ActionKind::Navigate => one(self.navigate(step)),
            ActionKind::Wait if step.assertion.is_none() => one(format!(
                "await page.waitForTimeout({});",
                step.duration_ms.unwrap_or(0)
            )),
            ActionKind::Assert | ActionKind::Wait => self.assertion(place, step),
            ActionKind::Press if step.selectors.is_empty() => {
                let key = self.names.script(step.key.as_deref().unwrap_or_default());
                one(format!("await page.keyboard.press({key});"))
            }
            ActionKind::Scroll if step.selectors.is_empty() => {
                let sign = match step.direction {
                    Some(Direction::Up) => "-",
                    _ => "",
                };
                one(format!(
                    "await page.evaluate(() => window.scrollBy(0, {sign}window.innerHeight));"
                ))
            }
            ActionKind::Unknown => None,
            _ => {
                let target = self.locator(place, step)?;
                let value = match step.input_value() {
                    Some(InputValue::Text(text)) => self.names.script(&text),
                    Some(InputValue::Number(number)) => quoted(&number.to_string()),
                    Some(InputValue::Flag(flag)) => flag.to_string(),
                    None => "\"\"".to_owned(),
                };
                let is_flag = matches!(step.input_value(), Some(InputValue::Flag(_)));
                let call = match step.action {
                    ActionKind::Click => format!("click({alone})"),
                    ActionKind::DoubleClick => format!("dblclick({alone})"),
                    ActionKind::Hover => format!("hover({alone})"),
                    ActionKind::Input if is_flag => format!("setChecked({value}{after})"),
                    ActionKind::Input => format!("fill({value}{after})"),
                    ActionKind::Select => format!("selectOption({value}{after})"),
                    ActionKind::Upload => format!("setInputFiles({value}{after})"),
                    ActionKind::Scroll => format!("scrollIntoViewIfNeeded({alone})"),
                    ActionKind::Press => {
                        let key = self.names.script(step.key.as_deref().unwrap_or_default());
                        format!("press({key}{after})")
                    }
                    ActionKind::Extract => {
                        return Some(vec![
                            format!("const text = await {target}.innerText({alone});"),
                            "test.info().annotations.push({ type: \"extracted\", description: text });"
                                .to_owned(),
                        ]);
                    }
                    _ => return None,
                };
                one(format!("await {target}.{call};"))
            }
        }
    }

    fn navigate(&self, step: &TestStep) -> String {
        match step.url.as_deref().unwrap_or_default() {
            "back" => "await page.goBack();".to_owned(),
            "forward" => "await page.goForward();".to_owned(),
            "reload" => "await page.reload();".to_owned(),
            url => format!("await page.goto({});", self.address(url)),
        }
    }

    fn locator(&mut self, place: usize, step: &TestStep) -> Option<String> {
        let Some(locator) = Locator::of(step, &self.names) else {
            self.warnings.warn(
                place,
                step,
                "no locator can say its element, so it is left out",
                "Playwright looks into shadow roots by anything but an xpath",
            );
            return None;
        };
        if locator.is_by_position {
            self.warnings.warn(
                place,
                step,
                "only its place among others says which element it is",
                "it may lead to another one as soon as the page changes",
            );
        }
        self.needs_called |= locator.needs_called;
        Some(locator.expression)
    }

    fn assertion(&mut self, place: usize, step: &TestStep) -> Option<Vec<String>> {
        let assertion = step.assertion.as_ref()?;
        let target = match step.selectors.is_empty() {
            true => None,
            false => Some(self.locator(place, step)?),
        };
        let limit = match (step.action, step.timeout_ms) {
            (_, Some(limit)) => Some(limit),
            (ActionKind::Wait, None) => Some(self.settings.action_timeout_ms),
            _ => None,
        };
        let limit = limit.map(|limit| format!("timeout: {limit}"));
        Some(vec![self.expectation(
            assertion,
            target.as_deref(),
            limit.as_deref(),
            step,
        )])
    }

    /// A web-first assertion: it waits until it holds.
    fn expectation(
        &self,
        assertion: &BrowserAssertion,
        target: Option<&str>,
        limit: Option<&str>,
        step: &TestStep,
    ) -> String {
        let expected = assertion
            .expected
            .as_ref()
            .map(|expected| as_text(expected).into_owned())
            .unwrap_or_default();
        let not = if assertion.negate { ".not" } else { "" };
        let subject = target.unwrap_or("page.locator(\"body\")");
        let folds = !assertion.case_sensitive;
        // Options after an argument, and alone.
        let after =
            |more: &[&str]| options(more, limit).map_or_else(String::new, |all| format!(", {all}"));
        let alone = options(&[], limit).unwrap_or_default();
        let plain = |name: &str| format!("await expect({subject}){not}.{name}({alone});");
        match assertion.kind {
            AssertKind::Text => {
                let (name, value) = match assertion.matching {
                    TextMatch::Equals => ("toHaveText", self.names.script(&expected)),
                    TextMatch::Contains => ("toContainText", self.names.script(&expected)),
                    TextMatch::Regex => ("toHaveText", pattern(&expected, folds)),
                };
                let mut more = vec!["useInnerText: true"];
                if folds && assertion.matching != TextMatch::Regex {
                    more.push("ignoreCase: true");
                }
                format!(
                    "await expect({subject}){not}.{name}({value}{});",
                    after(&more)
                )
            }
            AssertKind::Visible => plain("toBeVisible"),
            AssertKind::Hidden => plain("toBeHidden"),
            AssertKind::Enabled => plain("toBeEnabled"),
            AssertKind::Disabled => plain("toBeDisabled"),
            AssertKind::Checked => plain("toBeChecked"),
            AssertKind::Unchecked => {
                let not = if assertion.negate { "" } else { ".not" };
                format!("await expect({subject}){not}.toBeChecked({alone});")
            }
            AssertKind::Focused => plain("toBeFocused"),
            AssertKind::Editable => plain("toBeEditable"),
            AssertKind::Value => {
                let is_select = step
                    .fingerprint
                    .as_ref()
                    .is_some_and(|known| known.tag == "select");
                if is_select && assertion.matching == TextMatch::Equals {
                    // A select is known by its label too.
                    let read = format!(
                        "{subject}.evaluate((list) => [list.value, ...Array.from(list.selectedOptions, (option) => option.label)])"
                    );
                    return format!(
                        "await expect.poll(() => {read}{}){not}.toContain({});",
                        after(&[]),
                        self.names.script(&expected)
                    );
                }
                let value = self.matched(&expected, assertion.matching, false);
                format!(
                    "await expect({subject}){not}.toHaveValue({value}{});",
                    after(&[])
                )
            }
            AssertKind::Url => {
                let is_path = expected.starts_with(['/', '?', '#']);
                let value = match assertion.matching {
                    // Whatever site it is on.
                    TextMatch::Equals if is_path => format!(
                        "(url) => url.pathname + url.search + url.hash === {}",
                        self.names.script(&expected)
                    ),
                    TextMatch::Equals => self.address(&expected),
                    matching => self.matched(&expected, matching, false),
                };
                format!("await expect(page){not}.toHaveURL({value}{});", after(&[]))
            }
            AssertKind::Title => {
                let value = match (assertion.matching, folds) {
                    (TextMatch::Equals, true) => self.whole(&expected),
                    (matching, folds) => self.matched(&expected, matching, folds),
                };
                format!(
                    "await expect(page){not}.toHaveTitle({value}{});",
                    after(&[])
                )
            }
            AssertKind::Count => {
                let visible = format!("{subject}.filter({{ visible: true }})");
                let count = assertion
                    .expected
                    .as_ref()
                    .map_or("0".into(), |expected: &Json| as_text(expected));
                match assertion.compare {
                    Compare::Equal => format!(
                        "await expect({visible}){not}.toHaveCount({count}{});",
                        after(&[])
                    ),
                    compare => {
                        let name = match compare {
                            Compare::AtLeast => "toBeGreaterThanOrEqual",
                            _ => "toBeLessThanOrEqual",
                        };
                        format!(
                            "await expect.poll(() => {visible}.count(){}){not}.{name}({count});",
                            after(&[])
                        )
                    }
                }
            }
        }
    }

    /// A text as an argument that it must equal, hold or match.
    fn matched(&self, expected: &str, matching: TextMatch, folds: bool) -> String {
        let flags = if folds { ", \"i\"" } else { "" };
        match matching {
            TextMatch::Equals => self.names.script(expected),
            TextMatch::Contains if self.names.has_references(expected) => format!(
                "new RegExp({}.replace(/[\\\\^$.*+?()[\\]{{}}|]/g, \"\\\\$&\"){flags})",
                self.names.script(expected)
            ),
            TextMatch::Contains => format!("new RegExp({}{flags})", quoted(&escaped(expected))),
            TextMatch::Regex => pattern(expected, folds),
        }
    }

    /// A whole text, whatever its capital letters.
    fn whole(&self, expected: &str) -> String {
        match self.names.has_references(expected) {
            true => self.names.script(expected),
            false => format!(
                "new RegExp({}, \"i\")",
                quoted(&format!("^{}$", escaped(expected)))
            ),
        }
    }
}

fn pattern(expected: &str, folds: bool) -> String {
    let flags = if folds { ", \"i\"" } else { "" };
    format!("new RegExp({}{flags})", quoted(expected))
}

/// Options of an assertion as an object; none if there are none.
fn options(more: &[&str], limit: Option<&str>) -> Option<String> {
    let all: Vec<&str> = more.iter().copied().chain(limit).collect();
    (!all.is_empty()).then(|| format!("{{ {} }}", all.join(", ")))
}

const VARIABLE: &str = r#"
/** The value of a variable: from the environment, else its default. */
function variable(name: string, fallback?: string): string {
  const value = process.env[`CUECARD_VAR_${name}`] ?? fallback;
  if (value === undefined) throw new Error(`set CUECARD_VAR_${name}`);
  return value;
}
"#;

const CALLED: &str = r#"
/** Rows and items that are called `name`, by themselves or by a text in them. */
function called(scope: Page | Locator | FrameLocator, role: "row" | "listitem" | "treeitem", name: string): Locator {
  const all = scope.getByRole(role);
  const inner = ("owner" in scope ? scope.owner().page() : "page" in scope ? scope.page() : scope).getByText(name, { exact: true });
  return scope.getByRole(role, { name, exact: true }).or(all.filter({ has: inner }));
}
"#;

const TAB: &str = r#"
/** A tab by its number, from 0, as soon as it is open. */
async function tab(first: Page, number: number): Promise<Page> {
  const pages = () => first.context().pages();
  await expect.poll(() => pages().length).toBeGreaterThan(number);
  await pages()[number].waitForLoadState();
  return pages()[number];
}
"#;
