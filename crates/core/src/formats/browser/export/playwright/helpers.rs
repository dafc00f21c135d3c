//! Functions that a test needs beside Playwright's own.

/// A function that is written into a test if a step needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// `called(scope, role, name)`: rows and items.
    Called,
    /// `tab(first, number)`: a tab that may still open.
    Tab,
    /// `closing(page, act)`: what closes its own tab.
    Closing,
    /// `count(page, find)`: visible elements of all frames.
    Count,
    /// `shown(page)`: the text of all frames.
    Shown,
    /// `scrollTo(page, target)`: to what is perhaps not rendered yet.
    ScrollTo,
}

impl Helper {
    /// The function.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Called => CALLED,
            Self::Tab => TAB,
            Self::Closing => CLOSING,
            Self::Count => COUNT,
            Self::Shown => SHOWN,
            Self::ScrollTo => SCROLL_TO,
        }
    }

    /// The types of Playwright that it names.
    pub(super) fn types(self) -> &'static [&'static str] {
        match self {
            Self::Called => &["Frame", "FrameLocator", "Locator", "Page"],
            Self::Count => &["Frame", "Locator", "Page"],
            Self::ScrollTo => &["Locator", "Page"],
            Self::Tab | Self::Closing | Self::Shown => &["Page"],
        }
    }
}

/// What every test with variables needs.
pub(super) const VARIABLE: &str = r#"
/** The value of a variable: from the environment, else its default. */
function variable(name: string, fallback?: string): string {
  const value = process.env[`CUECARD_VAR_${name}`] ?? fallback;
  if (value === undefined) throw new Error(`set CUECARD_VAR_${name}`);
  return value;
}
"#;

const CALLED: &str = r#"
/** Rows and items that are called `name`, by themselves or by a text in them. */
function called(scope: Page | Frame | Locator | FrameLocator, role: "row" | "listitem" | "treeitem", name: string): Locator {
  const all = scope.getByRole(role);
  const outer = "owner" in scope ? scope.owner().page() : "page" in scope && !("childFrames" in scope) ? scope.page() : scope;
  const inner = outer.getByText(name, { exact: true });
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

const CLOSING: &str = r#"
/** What closes its own tab: whether the tab goes before or after the action is over. */
function closing(page: Page, act: () => Promise<void>): () => Promise<void> {
  return async () => {
    const acted = act().catch((error) => {
      if (!String(error).includes("has been closed")) throw error;
    });
    await Promise.all([page.waitForEvent("close"), acted]);
  };
}
"#;

const COUNT: &str = r#"
/** How many visible elements all frames have: those that are called just so or, if none is, with that in their names. */
async function count(page: Page, find: (frame: Frame, exact: boolean) => Locator): Promise<number> {
  let found = 0;
  for (const exact of [true, false]) {
    // A frame that is gone has none.
    for (const frame of page.frames()) found += await find(frame, exact).filter({ visible: true }).count().catch(() => 0);
    if (found > 0) break;
  }
  return found;
}
"#;

const SHOWN: &str = r#"
/** The text that the page shows in its frames and its open shadow roots, with single spaces. */
async function shown(page: Page): Promise<string> {
  const texts = page.frames().map((frame) => frame.evaluate(() => {
    const parts = [document.body.innerText];
    const hosts = Array.from(document.querySelectorAll("*"));
    for (const host of hosts) {
      for (const child of host.shadowRoot?.children ?? []) {
        if (child instanceof HTMLElement && !child.matches("script, style")) parts.push(child.innerText);
      }
      hosts.push(...(host.shadowRoot?.querySelectorAll("*") ?? []));
    }
    return parts.join(" ");
  }).catch(() => ""));
  return (await Promise.all(texts)).join(" ").replace(/\s+/g, " ");
}
"#;

const SCROLL_TO: &str = r#"
/** Scrolls all that scrolls on, and back from its end, until the element is there; then to the element. */
async function scrollTo(page: Page, target: Locator, timeout: number): Promise<void> {
  let idle = 0;
  await expect(async () => {
    if ((await target.count()) > 0) return;
    const hasMoved = await page.evaluate((rewind) => {
      const parts = Array.from(document.querySelectorAll("*")).filter((element) =>
        element === document.scrollingElement ||
        (element.scrollHeight > element.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(element).overflowY)));
      const before = parts.map((part) => part.scrollTop);
      for (const part of parts) {
        if (rewind) part.scrollTo({ top: 0, behavior: "instant" });
        else part.scrollBy({ top: part.clientHeight * 0.8, behavior: "instant" });
      }
      return parts.some((part, index) => part.scrollTop !== before[index]);
    }, idle > 3);
    idle = hasMoved ? 0 : idle + 1;
    throw new Error("the element is not there yet");
  }).toPass({ intervals: [100], timeout });
  await target.scrollIntoViewIfNeeded();
}
"#;
