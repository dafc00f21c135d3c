// Opens HTML reports from disk in a real browser, with the network blocked, and does what a reader does.
//
//   node browser.mjs PLAYWRIGHT CHROMIUM REPORT.html RESULT.json HOSTILE.html HOSTILE.json PICTURES
//
// PLAYWRIGHT is the folder of playwright-core, RESULT.json what `cuecard test` reported as JSON of the same run, and
// PICTURES a folder for screenshots. What does not hold is an assertion that fails, and exit code 1.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { assertAccessible, assertFits, launch, open as openIn } from "./page.mjs";

const [playwright, executablePath, reportFile, resultFile, hostileFile, hostileResultFile, pictures] = process.argv.slice(2);
const read = (file) => JSON.parse(readFileSync(file, "utf8"));

const browser = await launch(playwright, executablePath);
const open = (...parts) => openIn(browser, ...parts);

const texts = (page, selector) => page.locator(selector).allTextContents();
const shown = (page) => page.locator(".test").evaluateAll((rows) => rows.map((row) => row.dataset.test));
const test = (page, id) => page.locator(`.test[data-test=${JSON.stringify(id)}]`);
/** What has the focus: a short name. */
const focus = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.className.split(" ")[0] || document.activeElement.tagName);

/** Opens every test and every event of it. */
const openAll = (page) => page.evaluate(() => {
  for (const head of document.querySelectorAll('.test-head[aria-expanded="false"]')) head.click();
  for (const head of document.querySelectorAll('.assertion-head[aria-expanded="false"]')) head.click();
  for (const chip of document.querySelectorAll('.chip[aria-expanded="false"]')) chip.click();
});

const result = read(resultFile);
const { tests_total: total, tests_passed: passed, tests_failed: failed, tests_errored: errors } = result.summary;
const byId = new Map(result.results.map((one) => [one.test_case_id, one]));
const withStatus = (...statuses) => result.results.filter((one) => statuses.includes(one.status)).map((one) => one.test_case_id);
assert.ok(failed > 1 && errors > 1 && passed > 1, "the run has tests of every kind");
// A failed test, and an assertion of it that shows its evidence.
const failing = result.results.find((one) => one.status === "fail" && one.assertions.some((it) => it.status === "fail" && it.evidence.event_refs.length));
const evident = failing.assertions.find((it) => it.status === "fail" && it.evidence.event_refs.length);

const checks = {
  async "says what the JSON report says"(page) {
    assert.equal((await page.locator("#verdict").textContent()).slice(1), `${failed} of ${total} tests failed, ${errors} could not be evaluated`);
    const facts = await page.locator("#facts").textContent();
    for (const fact of [`${total} tests`, `${passed} passed`, `${failed} failed`, `${errors} errors`]) assert.ok(facts.includes(fact), facts);
    assert.match(await page.title(), /^✗ /);
    const statuses = await page.locator(".test").evaluateAll((rows) => rows.map((row) => [row.dataset.test, row.dataset.status]));
    assert.equal(statuses.length, total);
    for (const [id, status] of statuses) assert.equal(status, byId.get(id)?.status, id);
    // What did not pass stands first.
    assert.deepEqual(statuses.slice(0, failed + errors).map(([id]) => id), withStatus("fail", "error"));
    const named = await texts(page, "#failure-list a");
    assert.deepEqual(named, withStatus("fail", "error").slice(0, named.length).map((id) => byId.get(id).title || id));
    assert.ok((await texts(page, "#failures")).join().includes(`and ${failed + errors - named.length} more tests`));
    assert.ok((await texts(page, "#failure-list p")).some((text) => text.startsWith(evident.id)));
  },

  async "filters by status"(page) {
    for (const [filter, expected] of [["fail", withStatus("fail")], ["error", withStatus("error")], ["pass", withStatus("pass")]]) {
      const button = page.locator(`[data-filter=${filter}]`);
      await button.click();
      assert.deepEqual(await shown(page), expected);
      assert.equal(await button.getAttribute("aria-pressed"), "true");
      assert.equal(await button.locator("b").textContent(), String(expected.length));
      assert.equal(await page.locator("#count").textContent(), `${expected.length} of ${total} tests`);
    }
    assert.equal(await page.locator("[data-filter=skipped]").count(), 0, "nothing was skipped");
    await page.locator("[data-filter=all]").click();
    assert.equal((await shown(page)).length, total);
  },

  async "searches names, assertions and tools"(page) {
    const search = page.locator("#search");
    await search.fill(failing.test_case_id.toUpperCase());
    assert.deepEqual(await shown(page), [failing.test_case_id]);
    await search.fill(evident.type);
    const having = result.results.filter((one) => one.assertions.some((it) => it.type === evident.type)).length;
    assert.ok((await shown(page)).length >= having);
    await search.fill("booked zebra-xylophone");
    assert.deepEqual(await shown(page), []);
    assert.equal(await page.locator("#count").textContent(), "No test fits.");
    await search.press("Escape");
    assert.equal((await shown(page)).length, total);
  },

  async "is read with the keyboard"(page) {
    await page.keyboard.press("/");
    assert.equal(await focus(page), "search");
    await page.keyboard.type("jk");
    assert.equal(await page.locator("#search").inputValue(), "jk", "letters are text there");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    assert.equal(await focus(page), "BODY");
    await page.keyboard.press("j");
    assert.equal(await focus(page), "test-head");
    const first = page.locator(".test").first();
    await page.keyboard.press("Enter");
    assert.ok(await first.locator(".test-body").isVisible());
    assert.equal(await first.locator(".test-head").getAttribute("aria-expanded"), "true");
    await page.keyboard.press("j");
    assert.equal(await focus(page), "assertion-head");
    for (let presses = 0; (await focus(page)) !== "chip"; presses += 1) {
      assert.ok(presses < 50, "the events follow the assertions");
      await page.keyboard.press("j");
    }
    await page.keyboard.press("Enter");
    assert.equal(await first.locator(".event.open .event-more").count(), 1);
    await page.keyboard.press("Escape");
    assert.equal(await first.locator(".event.open").count(), 0);
    assert.equal(await focus(page), "chip");
    await page.keyboard.press("Escape");
    assert.ok(await first.locator(".test-body").isHidden());
    assert.equal(await focus(page), "test-head");
    await page.keyboard.press("j");
    assert.equal(await page.locator(".test").nth(1).locator(".test-head").evaluate((head) => head === document.activeElement), true);
    await page.keyboard.press("k");
    assert.equal(await first.locator(".test-head").evaluate((head) => head === document.activeElement), true);
  },

  async "lights up what an assertion is about, and leads there"(page) {
    const row = test(page, failing.test_case_id);
    await row.locator(".test-head").click();
    const box = row.locator(`.assertion[data-assertion=${JSON.stringify(evident.id)}]`);
    assert.equal(await box.getAttribute("data-status"), "fail");
    await box.locator(".assertion-head").click();
    assert.ok(await box.locator(".assertion-more").isVisible());
    const lit = await row.locator(".event.lit").evaluateAll((events) => events.map((event) => event.dataset.event));
    assert.deepEqual(lit.sort(), [...evident.evidence.event_refs].sort());
    await box.locator(".refs button").first().click();
    const event = row.locator(`.event[data-event=${JSON.stringify(evident.evidence.event_refs[0])}]`);
    assert.match(await event.getAttribute("class"), /\bopen\b.*\bhere\b|\bhere\b.*\bopen\b/);
    const back = event.locator(".event-more .actions button", { hasText: evident.id });
    await back.click();
    assert.equal(await box.locator(".assertion-head").evaluate((head) => head === document.activeElement), true);
    if (pictures) await page.screenshot({ path: join(pictures, "evidence.png") });
  },

  async "shows arguments and results of an event"(page) {
    const row = test(page, "tools.booked-twice");
    await row.locator(".test-head").click();
    const bundle = read(join(byId.get("tools.booked-twice").file.replace(/test\.yaml$/, ""), "replay.json"));
    for (const type of ["tool_call", "tool_result"]) {
      const step = bundle.script.find((it) => it.type === type);
      const chip = row.locator(".event", { hasText: `${type.replace("tool_", "")} ${step.tool}` }).first().locator(".chip");
      await chip.focus();
      await chip.press("Enter");
      const details = row.locator(".event.open .event-more");
      const values = (await texts(details, "dd")).join("\n");
      for (const value of [step.tool, step.call_id, JSON.stringify(step.args ?? step.result, null, 2)]) assert.ok(values.includes(value), values);
      await chip.click();
      assert.equal(await details.count(), 0);
    }
  },

  async "has light and dark"(page) {
    const dark = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await dark();
    await page.emulateMedia({ colorScheme: "dark" });
    const ofSystem = await dark();
    assert.notEqual(ofSystem, light);
    await page.locator("#theme").click();
    assert.equal(await dark(), light, "the button overrules the system");
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator("#theme").click();
    assert.equal(await dark(), ofSystem);
    // When the browser writes what a page keeps to its disk is its own affair: what was kept is given to the next page.
    const kept = await page.evaluate(() => ({ ...localStorage }));
    await page.addInitScript((kept) => Object.assign(localStorage, kept), kept);
    await page.reload();
    assert.equal(await dark(), ofSystem, "the choice is kept");
  },

  async "prints what failed, opened, and all tests"(page) {
    await page.pdf();
    await page.emulateMedia({ media: "print" });
    assert.ok(await page.locator("#tools").isHidden());
    assert.equal((await shown(page)).length, total);
    for (const id of withStatus("fail", "error")) assert.ok(await test(page, id).locator(".test-body").isVisible(), id);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  },
};

for (const [name, check] of Object.entries(checks)) {
  try {
    await open(reportFile, {}, check);
  } catch (error) {
    error.message = `the report ${name}: ${error.message}`;
    throw error;
  }
}

// A link opens what it names; one that names nothing harms nobody.
const link = (id, event) => "#" + new URLSearchParams({ t: id, ...(event && { e: event }) });
await open(reportFile, { hash: link(failing.test_case_id, evident.evidence.event_refs[0]) }, async (page) => {
  const row = test(page, failing.test_case_id);
  const here = row.locator(".event.open.here");
  assert.equal(await here.getAttribute("data-event"), evident.evidence.event_refs[0]);
  await page.evaluate((hash) => { location.hash = hash; }, link(withStatus("pass")[0]));
  await test(page, withStatus("pass")[0]).locator(".test-body").waitFor();
});
await open(reportFile, { hash: "#t=nobody&e=%3Cimg src=x onerror=alert(1)%3E" }, async (page) => {
  assert.equal(await page.locator(".test-body:not([hidden])").count(), 0);
});

// Every size and both themes, with everything open.
for (const width of [1280, 400]) {
  for (const scheme of ["light", "dark"]) {
    await open(reportFile, { width, scheme }, async (page) => {
      const what = `${width} px, ${scheme}`;
      await assertFits(page, what);
      if (pictures) await page.screenshot({ path: join(pictures, `${width}-${scheme}.png`) });
      await openAll(page);
      await assertFits(page, `${what}, all open`);
      await assertAccessible(page, `${what}, all open`);
      await test(page, "recovery.pretends").locator(".event.bad").first().scrollIntoViewIfNeeded();
      if (pictures) await page.screenshot({ path: join(pictures, `${width}-${scheme}-open.png`) });
    });
  }
}

// What strangers wrote is text.
const hostile = read(hostileResultFile).results[0];
for (const width of [1280, 400]) {
  await open(hostileFile, { width, hash: link(hostile.test_case_id) }, async (page) => {
    await openAll(page);
    assert.equal(await page.evaluate(() => window.stolen), undefined);
    assert.equal(await page.locator("script").count(), 4, "its data twice, and its two scripts");
    assert.equal(await page.locator("img, iframe, object, embed, link, svg script, [onerror], [onclick], base, meta[http-equiv=refresh]").count(), 0);
    assert.equal(await page.locator(".test").getAttribute("data-test"), hostile.test_case_id);
    const said = await page.locator("body").evaluate((body) => body.innerText);
    assert.ok(said.includes(hostile.title.replace("\u202e", "⟨U+202E⟩").split("\u202d")[0]), "texts are as they were written");
    assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(said), "signs of direction can be seen");
    const assertion = hostile.assertions.find((it) => it.status === "fail");
    assert.ok((await texts(page, ".assertion .name")).includes(assertion.id));
    const first = page.locator(".event").first();
    assert.ok((await texts(page, ".event-more")).join().includes("</script><script>window.stolen"));
    // Text from right to left turns nothing beside it.
    assert.deepEqual(await page.evaluate(() => [".tag", ".name", "small", "bdi", "code"].filter((what) => {
      const element = document.querySelector("#tests " + what);
      return element && !getComputedStyle(element).unicodeBidi.startsWith("isolate");
    })), []);
    assert.ok((await page.locator(".tag").evaluateAll((tags) => Math.max(...tags.map((tag) => tag.offsetHeight)))) < 40, "a tag is one line");
    // A long text is shown in part, until it is asked for.
    const more = page.locator("button.all").first();
    await more.scrollIntoViewIfNeeded();
    const value = more.locator("xpath=preceding-sibling::pre");
    const before = (await value.textContent()).length;
    await more.click();
    assert.ok((await page.locator("pre").evaluateAll((all) => Math.max(...all.map((one) => one.textContent.length)))) >= 10000);
    assert.ok(before < 2000);
    // A link to an event whose id has signs of its own in it leads to that event.
    const id = await first.getAttribute("data-event");
    await page.evaluate((hash) => { location.hash = hash; }, link(hostile.test_case_id, id));
    await page.locator(".event.here").first().waitFor();
    assert.equal(await page.locator(".event.here").getAttribute("data-event"), id);
    await assertFits(page, `hostile at ${width} px`);
    await assertAccessible(page, `hostile at ${width} px`);
    if (pictures) await page.screenshot({ path: join(pictures, `${width}-hostile.png`) });
  });
}

await browser.close();
console.log(`${Object.keys(checks).length + 8} checks held`);
