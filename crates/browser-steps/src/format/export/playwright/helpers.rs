//! Functions that a test needs beside Playwright's own.

/// A function that is written into a test if a step needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// `environment(name)`: a variable without a default.
    Environment,
    /// `countInFrames(page, find)`: visible elements of all frames.
    CountInFrames,
    /// `labelOf(box)`: what is clicked in its place.
    LabelOf,
    /// `scrollTo(page, target)`: to what is not rendered yet.
    ScrollTo,
}

impl Helper {
    /// The function.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Environment => ENVIRONMENT,
            Self::CountInFrames => COUNT_IN_FRAMES,
            Self::LabelOf => LABEL_OF,
            Self::ScrollTo => SCROLL_TO,
        }
    }

    /// The types of Playwright that it names.
    pub(super) fn types(self) -> &'static [&'static str] {
        match self {
            Self::Environment => &[],
            Self::CountInFrames => &["Frame", "Locator", "Page"],
            Self::LabelOf => &["ElementHandle", "Locator"],
            Self::ScrollTo => &["Locator", "Page"],
        }
    }
}

const ENVIRONMENT: &str = r#"
function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`set ${name}`);
  return value;
}
"#;

const COUNT_IN_FRAMES: &str = r#"
/** How many visible elements the page and its frames have. */
async function countInFrames(page: Page, find: (frame: Frame) => Locator): Promise<number> {
  // A frame that is gone has none.
  const counts = page.frames().map((frame) => find(frame).filter({ visible: true }).count().catch(() => 0));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
"#;

const LABEL_OF: &str = r#"
/** The label of a box that can't be clicked itself. */
async function labelOf(box: Locator): Promise<ElementHandle> {
  const label = await box.evaluateHandle((input: HTMLInputElement) => input.labels![0]);
  return label.asElement()!;
}
"#;

const SCROLL_TO: &str = r#"
/** Scrolls through the page, and through the lists in it, until the element is rendered. */
async function scrollTo(page: Page, target: Locator, timeout: number): Promise<void> {
  await expect(async () => {
    if ((await target.count()) > 0) return;
    await page.evaluate(() => {
      for (const part of document.querySelectorAll("*")) {
        if (part !== document.scrollingElement && !/auto|scroll/.test(getComputedStyle(part).overflowY)) continue;
        const before = part.scrollTop;
        part.scrollBy({ top: part.clientHeight * 0.8, behavior: "instant" });
        // From its end, back to its beginning.
        if (part.scrollTop === before) part.scrollTo({ top: 0, behavior: "instant" });
      }
    });
    throw new Error("the element is not rendered yet");
  }).toPass({ intervals: [100], timeout });
  await target.scrollIntoViewIfNeeded();
}
"#;
