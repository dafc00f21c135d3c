//! Steps as a test for Playwright's own runner: one file, which runs as it is.

mod expectations;
mod helpers;
mod locators;
mod statements;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::pages::{Parts, closes_its_tab, is_in_root, opens_tab};
use super::texts::{Names, literal_of, quoted};
use super::{Exported, Warnings, name_of};
use crate::format::read_steps;
use crate::model::{BrowserOptions, OnDialog, StepsFile, TestStep};
use cuecard_source::SourceFile;
use cuecard_source::value::as_text;
use helpers::Helper;

/// How long a test of Playwright may take unless it is told otherwise, and what a step takes at most as a rule, in
/// milliseconds.
const DEFAULT_TEST_MS: u64 = 30_000;
const STEP_MS: u64 = 1_000;

/// Opens the roots that the page's scripts would close.
const OPEN_ROOTS: &str = r#"  // Playwright looks into open shadow roots only.
  await page.context().addInitScript(() => {
    const attachShadow = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (options) {
      return attachShadow.call(this, { ...options, mode: "open" });
    };
  });
"#;

/// The test that does what the steps do.
pub fn to_playwright(file: &StepsFile, source: &SourceFile) -> Exported {
    let mut writer = Writer {
        names: Names::of(file),
        settings: read_steps(source).options,
        origin: origin(&file.url),
        steps: String::new(),
        warnings: Warnings::new(source),
        tabs: vec!["page".to_owned()],
        n_tabs: 1,
        tab: 0,
        helpers: BTreeSet::new(),
        parts: Parts::of(file),
        needed_ms: 0,
    };
    writer.dialogs(file);
    writer.open_roots(file);
    let first = writer.address(&file.url);
    let _ = writeln!(writer.steps, "  await page.goto({first});");
    for (place, step) in file.test_steps.iter().enumerate() {
        writer.needed_ms += STEP_MS;
        writer.step(place, step, file);
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
    /// The variable of each tab that is open, how many were ever open, and the current one.
    tabs: Vec<String>,
    n_tabs: usize,
    tab: usize,
    helpers: BTreeSet<Helper>,
    parts: Parts,
    /// How long the steps may take.
    needed_ms: u64,
}

impl Writer<'_> {
    /// The whole file.
    fn file(&mut self, file: &StepsFile, source: &SourceFile) -> String {
        let variables = self.variables(file);
        let types: BTreeSet<&str> = self
            .helpers
            .iter()
            .flat_map(|helper| helper.types())
            .copied()
            .collect();
        let mut text = "import { expect, test".to_owned();
        for name in types {
            let _ = write!(text, ", type {name}");
        }
        text.push_str(" } from \"@playwright/test\";\n");
        text.push_str(&self.options());
        for helper in &self.helpers {
            text.push_str(helper.text());
        }
        text.push_str(&variables);
        let name = literal_of(&name_of(source));
        let _ = writeln!(text, "\ntest({name}, async ({{ page }}) => {{");
        let default = BrowserOptions::default().timeout_ms;
        if self.settings.timeout_ms != default || self.needed_ms >= DEFAULT_TEST_MS {
            let _ = writeln!(text, "  test.setTimeout({});", self.settings.timeout_ms);
        }
        text.push_str(&self.steps);
        text.push_str("});\n");
        text
    }

    /// Those that the steps use; one without a default must be given.
    fn variables(&mut self, file: &StepsFile) -> String {
        let mut lines = String::new();
        for name in self.names.all() {
            if !self.steps.contains(&format!("variables.{name}")) {
                continue;
            }
            let value = match file.variables.get(*name).filter(|value| !value.is_null()) {
                Some(default) => format!(
                    "process.env.CUECARD_VAR_{name} ?? {}",
                    literal_of(&as_text(default))
                ),
                None => {
                    self.helpers.insert(Helper::Environment);
                    format!("environment(\"CUECARD_VAR_{name}\")")
                }
            };
            let _ = writeln!(lines, "  {name}: {value},");
        }
        match lines.is_empty() {
            true => lines,
            false => format!("\nconst variables = {{\n{lines}}};\n"),
        }
    }

    /// What differs from Playwright's own defaults. Its time zone is that of the machine.
    fn options(&self) -> String {
        let default = BrowserOptions::default();
        let settings = &self.settings;
        let mut options = Vec::new();
        if let Some(origin) = self.origin {
            options.push(format!(
                "baseURL: process.env.BASE_URL ?? {}",
                quoted(origin)
            ));
        }
        if settings.viewport != default.viewport {
            options.push(format!(
                "viewport: {{ width: {}, height: {} }}",
                settings.viewport.width, settings.viewport.height
            ));
        }
        if settings.locale != default.locale {
            options.push(format!("locale: {}", quoted(&settings.locale)));
        }
        options.push(format!("timezoneId: {}", quoted(&settings.timezone)));
        if settings.test_id_attribute != default.test_id_attribute {
            let attribute = quoted(&settings.test_id_attribute);
            options.push(format!("testIdAttribute: {attribute}"));
        }
        if settings.action_timeout_ms != default.action_timeout_ms {
            options.push(format!("actionTimeout: {}", settings.action_timeout_ms));
        }
        if let Some(state) = &settings.storage_state {
            let state = quoted(&state.to_string_lossy());
            options.push(format!("storageState: {state}"));
        }
        match options.as_slice() {
            [one] => format!("\ntest.use({{ {one} }});\n"),
            all => format!("\ntest.use({{\n  {},\n}});\n", all.join(",\n  ")),
        }
    }

    /// Playwright dismisses dialogs by itself, but lets pages be left.
    fn dialogs(&mut self, file: &StepsFile) {
        let seen = || {
            file.test_steps
                .iter()
                .flat_map(|step| &step.observed.dialogs)
        };
        let answer = match self.settings.on_dialog {
            OnDialog::Accept if seen().any(|dialog| dialog.kind == "prompt") => {
                "accept(dialog.defaultValue())"
            }
            OnDialog::Accept => "accept()",
            OnDialog::Dismiss if seen().any(|dialog| dialog.kind == "beforeunload") => "dismiss()",
            OnDialog::Dismiss => return,
        };
        let has_tabs = file
            .test_steps
            .iter()
            .any(|step| step.tab.is_some_and(|tab| tab > 0));
        let source = if has_tabs { "page.context()" } else { "page" };
        let _ = writeln!(
            self.steps,
            "  {source}.on(\"dialog\", (dialog) => dialog.{answer});"
        );
    }

    /// Playwright does not look into closed shadow roots, so there are none in a test.
    fn open_roots(&mut self, file: &StepsFile) {
        let Some(place) = file.test_steps.iter().position(is_in_root) else {
            return;
        };
        self.steps.push_str(OPEN_ROOTS);
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

    /// The variable of the current tab.
    fn page(&self) -> String {
        self.tabs.get(self.tab).cloned().unwrap_or_default()
    }

    /// Makes the tab of a step the current one. What leads back is that later tabs were closed.
    fn go_to_tab(&mut self, tab: usize) {
        if tab < self.tab {
            self.tabs.truncate(tab + 1);
        }
        while self.tabs.len() <= tab {
            let number = self.tabs.len();
            let name = self.new_tab();
            let _ = writeln!(
                self.steps,
                "  const {name} = page.context().pages()[{number}];"
            );
        }
        self.tab = tab;
    }

    fn new_tab(&mut self) -> String {
        self.n_tabs += 1;
        let name = format!("tab{}", self.n_tabs);
        self.tabs.push(name.clone());
        name
    }

    fn step(&mut self, place: usize, step: &TestStep, file: &StepsFile) {
        self.go_to_tab(step.tab.unwrap_or(0));
        let Some(mut statements) = self.statements(place, step) else {
            return;
        };
        if closes_its_tab(file, place) {
            statements = self.closing(statements);
        }
        let mut before = String::new();
        if opens_tab(file, place) && self.tabs.len() == self.tab + 1 {
            statements = self.opening(statements);
            before = format!("const {} = ", self.new_tab());
        }
        // A tab that is needed later is not optional.
        let after = match step.optional && before.is_empty() {
            true => {
                ".catch((error) => {\n    test.info().annotations.push({ type: \"optional\", description: String(error) });\n  })"
            }
            false => "",
        };
        let title = literal_of(&step.description);
        let _ = writeln!(
            self.steps,
            "  {before}await test.step({title}, async () => {{"
        );
        for statement in statements {
            let _ = writeln!(self.steps, "    {statement}");
        }
        let _ = writeln!(self.steps, "  }}){after};");
    }
}
