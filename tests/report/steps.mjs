// Opens the HTML report of a run of browser steps from disk, with the network blocked, and does what a reader does.
//
//   node steps.mjs PLAYWRIGHT CHROMIUM REPORT.html HEALED.html PICTURES
//
// The run has a healed step, one that passed, one that failed and one that did not run. In HEALED
// nothing failed: a step that opened a dialog passed, and one is healed. PICTURES is a folder for screenshots. What does not hold is an assertion that fails, and exit code 1.

import assert from "node:assert/strict";
import { join } from "node:path";

import { assertAccessible, assertFits, launch, open } from "./page.mjs";

const [playwright, executablePath, report, healed, pictures] = process.argv.slice(2);
const browser = await launch(playwright, executablePath);

const row = (page, number) => page.locator(`.test[data-step="${number}"]`);
const statuses = (page) => page.locator(".test").evaluateAll((rows) => rows.map((one) => one.dataset.status));
const openSteps = (page) => page.locator('.test-head[aria-expanded="true"]').count();
const focused = (page) => page.evaluate(() => document.activeElement.closest(".test")?.dataset.step ?? document.activeElement.id);

const checks = {
  async "says how it went, and opens what failed"(page) {
    assert.match(await page.locator("#verdict").textContent(), /1 of 5 steps failed, 1 did not run/);
    assert.match(await page.locator("#facts").textContent(), /5 steps.*1 healed.*1 failed.*1 not run/);
    assert.deepEqual(await statuses(page), ["healed", "pass", "pass", "fail", "skipped"]);
    assert.equal(await openSteps(page), 1);
    assert.match(await row(page, 4).textContent(), /B-element_not_found/);
    assert.ok((await page.locator("#failure-list a").allTextContents()).length === 2);
    assert.match(await row(page, 4).locator("details").textContent(), /button "Remove"/);
  },

  async "outlines the target on the picture"(page) {
    await row(page, 1).locator(".test-head").click();
    const image = row(page, 1).locator(".shot img");
    assert.ok(await image.evaluate((element) => element.decode().then(() => element.naturalWidth)) === 1280);
    const [outline, box] = await Promise.all([row(page, 1).locator(".shot .outline").boundingBox(), image.boundingBox()]);
    const drawing = await row(page, 1).locator(".shot svg").boundingBox();
    for (const side of ["x", "y", "width", "height"]) assert.ok(Math.abs(drawing[side] - box[side]) < 1, `${side}: the drawing lies on the picture`);
    assert.ok(outline.width > 20 && outline.x >= box.x - 4 && outline.y + outline.height <= box.y + box.height + 4, JSON.stringify([outline, box]));
    assert.match(await row(page, 1).textContent(), /section "Your settings" is gone/);
  },

  async "filters and searches"(page) {
    await page.locator("[data-filter=healed]").click();
    assert.deepEqual(await statuses(page), ["healed"]);
    await page.locator("[data-filter=all]").click();
    await page.locator("#search").fill("account: deleted");
    assert.equal(await page.locator("#count").textContent(), "1 of 5 steps");
    await page.locator("#search").fill("no such step");
    assert.equal(await page.locator("#count").textContent(), "No step fits.");
  },

  async "is used with the keyboard alone"(page) {
    await page.keyboard.press("j");
    assert.equal(await focused(page), "1");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    assert.equal(await row(page, 2).locator(".test-head").getAttribute("aria-expanded"), "true");
    assert.match(await page.evaluate(() => location.hash), /^#s=2$/);
    await page.keyboard.press("Escape");
    assert.equal(await row(page, 2).locator(".test-head").getAttribute("aria-expanded"), "false");
    await page.keyboard.press("k");
    assert.equal(await focused(page), "1");
    await page.keyboard.press("/");
    assert.equal(await focused(page), "search");
    await page.keyboard.type("save");
    assert.equal((await statuses(page)).length, 1);
    await page.keyboard.press("Escape");
    assert.equal((await statuses(page)).length, 5);
  },
};

for (const [name, check] of Object.entries(checks)) {
  await open(browser, report, {}, check).catch((error) => { throw new Error(`${name}: ${error.stack}`); });
}

await open(browser, report, { hash: "#s=3" }, async (page) => {
  assert.equal(await focused(page), "3");
});

await open(browser, healed, {}, async (page) => {
  assert.match(await page.locator("#facts").textContent(), /2 steps.*1 passed.*1 healed/);
  assert.ok(!(await page.locator("#facts").textContent()).includes("not run"));
  // Nothing failed, so nothing is red.
  const colours = await page.evaluate(() => [getComputedStyle(document.querySelector("#failures")).borderLeftColor, getComputedStyle(document.querySelector(".mark.healed")).color]);
  assert.equal(colours[0], colours[1]);
  // A note can be seen below the line of its step, which is closed.
  assert.equal(await openSteps(page), 0);
  assert.match(await row(page, 1).locator(".notes").textContent(), /^alert .*dismissed$/);
  const [line, note] = await Promise.all([row(page, 1).locator(".test-head").boundingBox(), row(page, 1).locator(".notes").boundingBox()]);
  assert.ok(note.y >= line.y + line.height - 1, JSON.stringify([line, note]));
  assert.equal(await row(page, 2).locator(".notes").count(), 0);
  // The run was asked for a picture after each step: the dialog is open on that of the second.
  await row(page, 2).locator(".test-head").click();
  const captions = row(page, 2).locator("figcaption");
  assert.match(await captions.nth(0).textContent(), /^Before the step/);
  assert.equal(await captions.nth(1).textContent(), "After the step");
  const [before, after] = await row(page, 2).locator(".shot img").evaluateAll((images) => images.map((image) => image.src));
  assert.notEqual(before, after);
});

for (const [name, file] of Object.entries({ steps: report, healed })) {
  for (const scheme of ["light", "dark"]) {
    for (const width of [1280, 420]) {
      await open(browser, file, { width, scheme }, async (page) => {
        await page.evaluate(() => { for (const head of document.querySelectorAll('.test-head[aria-expanded="false"]')) head.click(); });
        await assertFits(page, `${name} ${scheme} ${width}`);
        await assertAccessible(page, `${name} ${scheme} ${width}`);
        await page.screenshot({ path: join(pictures, `${name}-${scheme}-${width}.png`), fullPage: true });
      });
    }
  }
}

await browser.close();
