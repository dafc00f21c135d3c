//! Steps as a test for Playwright's own runner: one file, which runs as it is.

mod expectations;
mod helpers;
mod locators;
mod statements;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::pages::{OPEN_ROOTS, Parts, closes_its_tab, is_in_root};
use super::settings::settings;
use super::texts::{Names, quoted};
use super::{Exported, Warnings};
use crate::scenario::browser::{BrowserOptions, OnDialog, StepsFile, TestStep};
use crate::source::SourceFile;
use crate::value::as_text;
use helpers::{Helper, VARIABLE};

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
        helpers: BTreeSet::new(),
        parts: Parts::of(file),
    };
    writer.open_roots(file);
    let first = writer.address(&file.url);
    let _ = writeln!(writer.steps, "  await page.goto({first});");
    for (place, step) in file.test_steps.iter().enumerate() {
        writer.step(place, step, closes_its_tab(file, place));
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
    helpers: BTreeSet<Helper>,
    parts: Parts,
}

impl Writer<'_> {
    /// The whole file.
    fn file(&self, file: &StepsFile, source: &SourceFile) -> String {
        let mut text = String::new();
        let is_default = self.settings.assert_timeout_ms == DEFAULT_ASSERT_MS;
        let types: BTreeSet<&str> = self
            .helpers
            .iter()
            .flat_map(|helper| helper.types())
            .copied()
            .collect();
        let expect = match is_default {
            true => "expect",
            false => "expect as playwrightExpect",
        };
        let _ = write!(text, "import {{ {expect}, test");
        for name in types {
            let _ = write!(text, ", type {name}");
        }
        text.push_str(" } from \"@playwright/test\";\n");
        if !is_default {
            let _ = write!(
                text,
                "\nconst expect = playwrightExpect.configure({{ timeout: {} }});\n",
                self.settings.assert_timeout_ms
            );
        }
        text.push_str(&self.variables(file));
        text.push_str(&self.options());
        for helper in &self.helpers {
            text.push_str(helper.text());
        }
        let name = Path::new(source.name())
            .file_stem()
            .map_or("steps".into(), |stem| stem.to_string_lossy());
        let has_tabs = self.helpers.contains(&Helper::Tab);
        let page = if has_tabs { "page: first" } else { "page" };
        let _ = write!(
            text,
            "\ntest({}, async ({{ {page} }}) => {{\n  test.setTimeout({});\n",
            quoted(&name),
            self.settings.timeout_ms
        );
        if has_tabs {
            text.push_str("  let page = first;\n");
        }
        let answer = match self.settings.on_dialog {
            OnDialog::Accept => "accept(dialog.defaultValue())",
            OnDialog::Dismiss => "dismiss()",
        };
        let _ = writeln!(
            text,
            "  page.context().on(\"dialog\", (dialog) => dialog.{answer});"
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

    /// Playwright does not look into closed shadow roots, so there are none in a test.
    fn open_roots(&mut self, file: &StepsFile) {
        let Some(place) = file.test_steps.iter().position(is_in_root) else {
            return;
        };
        let _ = writeln!(
            self.steps,
            "  await page.context().addInitScript({{ content: {} }});",
            quoted(OPEN_ROOTS)
        );
        self.warnings.warn(
            place,
            &file.test_steps[place],
            "shadow roots that the page would close are open in the test",
            "Playwright sees only open ones; scripts of the page may notice",
        );
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

    fn step(&mut self, place: usize, step: &TestStep, closes_tab: bool) {
        let tab = step.tab.unwrap_or(0);
        if tab != self.tab {
            self.tab = tab;
            self.helpers.insert(Helper::Tab);
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
        let [begin, end] = match closes_tab {
            true => {
                self.helpers.insert(Helper::Closing);
                ["closing(page, async () => {", "})"]
            }
            false => ["async () => {", "}"],
        };
        let _ = writeln!(self.steps, "  await test.step({title}, {begin}");
        for statement in statements {
            let _ = writeln!(self.steps, "    {statement}");
        }
        let _ = writeln!(self.steps, "  {end}){optional};");
    }
}
