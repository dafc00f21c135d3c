// What the tests of both HTML reports share: a report is opened from disk, with the network blocked.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/** Starts Chromium through the playwright-core in a folder. */
export async function launch(playwright, executablePath) {
  const { chromium } = createRequire(import.meta.url)(playwright);
  return chromium.launch({ executablePath, timeout: 120000, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

/** Opens a report in a window of its own, and gives `check` its page. Whatever the page asks for is a failure. */
export async function open(browser, file, { width = 1280, scheme = "light", hash = "" }, check) {
  const url = pathToFileURL(file).href;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, offline: true });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const trouble = [];
  page.on("request", (request) => request.url().split("#")[0] === url || request.url().startsWith("data:") || trouble.push(`request: ${request.url()}`));
  page.on("console", (message) => trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error}`));
  page.on("dialog", (dialog) => { trouble.push(`dialog: ${dialog.message()}`); return dialog.dismiss(); });
  await page.goto(url + hash);
  await check(page);
  assert.deepEqual(trouble, []);
  await context.close();
}

/** Nothing is wider than the window, and nothing that must be read sticks out of its box. */
export async function assertFits(page, what) {
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide[0] <= wide[1], `${what}: ${wide[0]} px wide in a window of ${wide[1]} px`);
}

/** Ids are unique, what can be pressed has a name, and text stands out from what is behind it (WCAG AA). */
export async function assertAccessible(page, what) {
  const found = await page.evaluate(() => {
    const problems = [];
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`two elements are #${id}`);
    for (const element of document.querySelectorAll("button, a, input")) {
      if (!(element.getAttribute("aria-label") || element.textContent).trim()) problems.push(`no name: ${element.outerHTML.slice(0, 80)}`);
    }
    for (const element of document.querySelectorAll("[aria-controls]")) {
      if (!document.getElementById(element.getAttribute("aria-controls"))) problems.push(`controls nothing: ${element.className}`);
    }
    const channels = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
    const light = (color) => {
      const [red, green, blue] = channels(color).slice(0, 3).map((value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element) => {
      for (; element; element = element.parentElement) {
        const color = getComputedStyle(element).backgroundColor;
        if ((channels(color)[3] ?? 1) > 0) return color;
      }
      return "rgb(255, 255, 255)";
    };
    const seen = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || !element.checkVisibility() || element.closest(".unseen, script")) continue;
      const color = getComputedStyle(element).color, ground = behind(element);
      const [high, low] = [light(color), light(ground)].sort((a, b) => b - a);
      const ratio = (high + 0.05) / (low + 0.05);
      const place = `${element.tagName.toLowerCase()}.${element.className} ${color} on ${ground}`;
      if (ratio < 4.5 && !seen.has(place)) problems.push(`contrast ${ratio.toFixed(1)}: ${place}`);
      seen.add(place);
    }
    return problems;
  });
  assert.deepEqual(found, [], what);
}
