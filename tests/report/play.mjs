// Opens the page of a played scenario in a browser whose scripts are off: `node play.mjs PLAYWRIGHT CHROMIUM REPORT PICTURES`.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { assertAccessible, assertFits, launch } from "./page.mjs";

const [playwright, chromium, report, pictures] = process.argv.slice(2);
const browser = await launch(playwright, chromium);
for (const [scheme, width] of [["light", 1280], ["dark", 400]]) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, offline: true, javaScriptEnabled: false });
  const page = await context.newPage();
  const trouble = [];
  page.on("request", (request) => request.url().startsWith("file:") || trouble.push(`request: ${request.url()}`));
  page.on("console", (message) => trouble.push(`console: ${message.text()}`));
  await page.goto(pathToFileURL(report).href);
  assert.equal(await page.locator("h1").textContent(), "✗Release <notes> failed");
  assert.match(await page.locator("#facts").innerText(), /^2 passed · 1 failed · /);
  assert.equal(await page.locator("#failure-list a").innerText(), "3. must be quiet");
  // What failed is open, what passed opens by keyboard.
  assert.ok(await page.locator("#step-3 pre").first().isVisible());
  assert.ok(await page.locator("#step-1 pre").first().isHidden());
  await page.locator("#step-1 summary").focus();
  await page.keyboard.press("Enter");
  assert.ok((await page.locator("#step-1 .test-body").innerText()).includes("<b>bold</b> & more"));
  assert.ok((await page.locator("#step-2 summary").textContent()).includes("exit code 3"));
  await assertFits(page, `${scheme} ${width}`);
  await assertAccessible(page, scheme);
  await page.screenshot({ path: `${pictures}/play-${scheme}-${width}.png`, fullPage: true });
  assert.deepEqual(trouble, []);
  await context.close();
}
await browser.close();
