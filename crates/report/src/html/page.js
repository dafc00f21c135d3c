
"use strict";

// What tests of this page may count on: ids without a number, classes `test`, `assertion` and `event` with their
// `data-…` attributes, and `lit` and `open` on them.

const AT_ONCE = 200; // tests in the list before "show more"
const MANY_FAILURES = 12; // failed tests named on the first screen

const run = read("run-data");
const tests = read("test-data").slice(1);

function after(ms) {
  if (ms < 1000) return `+${ms} ms`;
  if (ms < 100000) return `+${(ms / 1000).toFixed(2)} s`;
  return "+" + duration(ms);
}

let limit = AT_ONCE;
const isBad = (test) => test.status === "fail" || test.status === "error";

tests.forEach((test, index) => {
  test.index = index;
  const said = [test.id, test.title, test.file, ...test.tags, ...test.categories, ...test.errors.map((error) => error.message + " " + error.code)];
  for (const assertion of test.assertions) said.push(assertion.id, assertion.type, assertion.message);
  for (const event of test.trace?.events ?? []) if (event.tool) said.push(event.tool);
  test.said = said.join("\n").toLowerCase();
  test.warned = test.assertions.some((assertion) => assertion.status === "warn");
});
// Files have one test each, but the same id may stand in two suites.
const testOf = new Map();
for (const test of tests) if (!testOf.has(test.id)) testOf.set(test.id, test);
const keyOf = (test) => (testOf.get(test.id) === test ? test.id : `${test.id}@${test.index}`);
for (const test of tests) testOf.set(keyOf(test), test);

// The first screen.

function showVerdict() {
  const state = run.state;
  document.title = `${MARKS[state]} ${run.words} · Cuecard`;
  by("verdict").append(mark(state), run.words);
  const passed = run.counts.pass;
  const facts = [plural(run.counts.all, "test"), `${passed} passed`];
  if (run.counts.fail) facts.push(`${run.counts.fail} failed`);
  if (run.counts.error) facts.push(plural(run.counts.error, "error"));
  if (run.counts.skipped) facts.push(`${run.counts.skipped} skipped`);
  if (run.counts.warnings) facts.push(plural(run.counts.warnings, "warning"));
  if (run.counts.unproven) facts.push(`${plural(run.counts.unproven, "claim")} unproven`);
  if (run.counts.vacuous) facts.push(`${run.counts.vacuous} vacuous`);
  facts.push(duration(run.ms));
  by("facts").textContent = facts.join(" · ");
  document.querySelector("footer").append(` · cuecard ${run.version}`);
  if (run.started) by("when").textContent = run.started.replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

/** Why a test did not pass, a line each. */
function reasons(test) {
  const lines = test.errors.map((error) => [error.code, error.message]);
  for (const assertion of test.assertions) if (assertion.status === "fail") lines.push([assertion.id, assertion.message]);
  if (!lines.length) for (const line of test.vacuous) lines.push(["nothing to check", line]);
  return lines;
}

function showFailures() {
  const bad = tests.filter(isBad);
  by("failures").hidden = bad.length === 0;
  for (const test of bad.slice(0, MANY_FAILURES)) {
    const lines = reasons(test);
    const item = make("li." + test.status, mark(test.status), make("div",
      make("a", test.title || test.id, { href: "#" + address(test) }), test.title && test.title !== test.id && make("small.faint", " " + test.id),
      ...lines.slice(0, 3).map(([what, message]) => make("p", make("b", what), " ", ...prose(message))),
      lines.length > 3 && make("p", `and ${lines.length - 3} more`)));
    by("failure-list").append(item);
  }
  if (bad.length > MANY_FAILURES) {
    by("failure-list").append(make("li", make("span"), make("p", `and ${bad.length - MANY_FAILURES} more tests, in the list below`)));
  }
}

// The list of tests.

function showTests() {
  // What failed stands first; the rest keeps its order.
  const order = { fail: 0, error: 0, skipped: 1, pass: 1 };
  const wanted = tests.filter(fits).sort((a, b) => order[a.status] - order[b.status] || a.index - b.index);
  by("tests").replaceChildren(...wanted.slice(0, limit).map(rowOf));
  by("more").hidden = wanted.length <= limit;
  by("more").textContent = `Show ${Math.min(AT_ONCE, wanted.length - limit)} more`;
  by("count").textContent = wanted.length === tests.length ? "" : wanted.length ? `${wanted.length} of ${plural(tests.length, "test")}` : "No test fits.";
}

/** How a test looks: one that passed with warnings, or with nothing to check, is not as good as any. */
const lookOf = (test) => (test.status !== "pass" ? test.status : test.vacuous.length ? "vacuous" : test.warned ? "warn" : "pass");

function rowOf(test) {
  let row = rows.get(test);
  if (row) return row;
  const held = test.assertions.filter((assertion) => assertion.status === "pass").length;
  const tally = test.errors.length ? plural(test.errors.length, "error") : test.status === "skipped" ? "nothing checked" : lookOf(test) === "vacuous" ? "nothing to check" : `${held} of ${plural(test.assertions.length, "assertion")} held`;
  const bodyId = "test-body-" + test.index;
  const head = make("button.test-head." + lookOf(test), { type: "button", "aria-expanded": "false", "aria-controls": bodyId, "data-nav": "", onclick: () => toggle(test) },
    mark(lookOf(test)), make("span.name", test.id, test.title && test.title !== test.id && make("small", test.title)),
    make("span.tally", tally), make("span.took", duration(test.ms)));
  row = make("article.test", { id: "test-" + test.index, "data-test": test.id, "data-status": test.status },
    make("h3", head), make("div.test-body", { id: bodyId, hidden: "" }));
  rows.set(test, row);
  return row;
}

function fill(test, body) {
  const facts = [test.file, test.adapter && `adapter ${test.adapter}`, test.trace && plural(test.trace.calls, "tool call"), test.trace && `run ${test.trace.status ?? "died"} in ${duration(test.trace.ms)}`, test.categories.length && `failure: ${test.categories.join(", ")}`];
  body.append(make("p.test-facts", ...test.tags.map((tag) => make("span.tag", tag)), ...apart(facts)));
  for (const line of test.vacuous) body.append(make("p.note", make("b", "Vacuous: "), ...prose(line)));
  for (const error of test.errors) body.append(make("pre.trouble", error.text));
  const artifacts = Object.entries(test.artifacts);
  if (artifacts.length) body.append(make("p.test-facts", ...apart(artifacts.map(([kind, file]) => `${kind}: ${file}`))));
  if (!test.assertions.length && !test.trace) return;
  const timeline = test.trace && timelineOf(test);
  body.append(make("div.columns",
    make("section.assertions", { "aria-label": "Assertions" }, make("h4", "Assertions"), ...sorted(test.assertions).map((assertion) => assertionOf(test, assertion))),
    make("section", { "aria-label": "Timeline" }, make("h4", "What happened"), timeline || make("p.faint", "No trace."))));
}

function sorted(assertions) {
  const order = { fail: 0, warn: 1, skip: 2, pass: 3 };
  return assertions.slice().sort((a, b) => order[a.status] - order[b.status]);
}

// Assertions, and the events that show them.

function assertionOf(test, assertion) {
  const head = make("button.assertion-head." + assertion.status, { type: "button", "aria-expanded": "false", "data-nav": "" },
    mark(assertion.status), make("span", make("span.name", assertion.id), make("span.kind", assertion.type, assertion.severity === "warning" && " (warning)", assertion.vacuous && " (vacuous)")));
  const box = make("div.assertion." + assertion.status, { "data-assertion": assertion.id, "data-status": assertion.status }, head, assertion.message && make("p.message", ...prose(assertion.message)));
  const refs = new Set(assertion.refs);
  const known = (test.trace?.events ?? []).filter((event) => refs.has(event.id));
  if (known.length) {
    box.append(make("div.refs", ...known.slice(0, 20).map((event) => make("button", { type: "button", "aria-label": `event ${event.seq}`, onclick: () => go(test, event) }, `#${event.seq}`)), known.length > 20 && make("span.faint", `and ${known.length - 20} more`)));
  }
  head.addEventListener("click", () => {
    const open = box.querySelector(".assertion-more");
    head.setAttribute("aria-expanded", !open);
    if (open) return open.remove();
    box.append(make("div.assertion-more",
      assertion.help && make("p.help", make("b", "Try: "), ...prose(assertion.help)),
      make("dl.values", ...named("expected", assertion.params), ...named("observed", assertion.observed)),
      assertion.line && make("p.faint", `${test.file}:${assertion.line}`)));
  });
  lights(box, box, () => light(test, refs, new Set([assertion.id])));
  return box;
}

/** Runs `light` while the pointer or the focus is on `target`; the focus outlasts the pointer. */
function lights(target, holder, light_up) {
  const row = () => holder.closest(".test");
  const settle = () => {
    const focused = document.activeElement?.closest?.(".assertion, .event");
    if (focused && row()?.contains(focused)) focused.lightUp();
    else if (row()) light(tests[Number(row().id.slice("test-".length))], null, null);
  };
  holder.lightUp = light_up;
  target.addEventListener("pointerenter", light_up);
  target.addEventListener("focusin", light_up);
  target.addEventListener("pointerleave", settle);
  target.addEventListener("focusout", () => queueMicrotask(settle));
}

/** Lights up events and assertions of a test; nothing with null. */
function light(test, events, assertions) {
  const row = rowOf(test);
  const timeline = row.querySelector(".timeline");
  timeline?.classList.toggle("pointing", Boolean(events?.size));
  for (const item of timeline?.querySelectorAll(".event") ?? []) item.classList.toggle("lit", Boolean(events?.has(item.dataset.event)));
  for (const item of row.querySelectorAll(".assertion")) item.classList.toggle("lit", Boolean(assertions?.has(item.dataset.assertion)));
}

// The timeline.

function timelineOf(test) {
  const { events, omitted } = test.trace;
  const list = make("ol.timeline");
  const last = events.reduce((end, event) => Math.max(end, event.at + (event.ms ?? 0)), 0);
  let seq = 0;
  for (const event of events) {
    if (event.seq > seq + 1) list.append(make("li.gap", `${plural(event.seq - seq - 1, "event")} not shown`));
    seq = Math.max(seq, event.seq);
    list.append(eventOf(test, event, last));
  }
  if (!events.length && !omitted) list.append(make("li.gap", "No events."));
  const rest = omitted && `${plural(omitted, "event")} not shown here; the trace file has all of them.`;
  return make("div",
    make("div.lanes", { "aria-hidden": "true" }, make("span.time", "time"), ...["user", "agent", "tool", "system"].map((lane) => make("span." + lane, lane)), make("span.bars", "took")),
    list, rest ? make("p.faint", rest) : null);
}

function eventOf(test, event, last) {
  const label = `event ${event.seq}, ${event.lane}, ${event.type}${event.tool ? " " + event.tool : ""}${event.bad ? ", failed" : ""}`;
  const chip = make("button.chip", { type: "button", "aria-expanded": "false", "aria-label": `${label}: ${event.text}`, "data-nav": "", onclick: () => { openEvent(test, event); } },
    make("span.what", make("i", `#${event.seq}`), event.tool ? `${event.type.replace("tool_", "")} ${event.tool}` : event.type.replaceAll("_", " ")), event.text && make("span.text", event.text));
  const item = make("li.event." + event.lane + (event.bad ? ".bad" : ""), { id: `event-${test.index}-${event.seq}`, "data-event": event.id, "data-seq": event.seq, "data-lane": event.lane },
    make("div.row", event.synthesized ? make("span.at", { title: "This time was not measured; it is interpolated from neighbouring events." }, "~" + after(event.at)) : make("span.at", after(event.at)), chip, bar(event, last)));
  lights(chip, item, () => light(test, new Set(), new Set(shownBy(test, event).map((assertion) => assertion.id))));
  return item;
}

/** The assertions that refer to an event. */
const shownBy = (test, event) => test.assertions.filter((assertion) => assertion.refs.includes(event.id));

/** How long an event took, and when in the run. */
function bar(event, last) {
  if (event.ms === null || event.ms === undefined) return make("span");
  const box = make("span.bars", duration(event.ms));
  if (last > 0) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(name, value);
    const width = Math.max(2, (100 * event.ms) / last);
    for (const [name, value] of Object.entries({ x: Math.min(100 - width, (100 * event.at) / last), y: 0, width, height: 4, rx: 1 })) rect.setAttribute(name, value);
    svg.append(rect);
    box.append(svg);
  }
  return box;
}

const itemOf = (test, event) => by(`event-${test.index}-${event.seq}`);

function openEvent(test, event, open) {
  const item = itemOf(test, event);
  if (!item) return;
  const opens = open ?? !item.classList.contains("open");
  item.classList.toggle("open", opens);
  item.querySelector(".chip").setAttribute("aria-expanded", opens);
  item.querySelector(".event-more")?.remove();
  if (opens) item.append(detailsOf(test, event));
  remember(opens ? address(test, event) : address(test));
}

function detailsOf(test, event) {
  const copy = make("button.copy", { type: "button", onclick: () => copyLink(address(test, event), copy) }, "Copy link");
  const causes = causesOf(test);
  const related = causes.get(event);
  const answer = test.trace.events.find((other) => causes.get(other) === event);
  const jump = (other, words) => other && make("button", { type: "button", onclick: () => go(test, other) }, `${words} #${other.seq}`);
  const shown = (name, value) => (name === "content" && event.type === "final_output" ? [answerOf(test, value)] : [...named(name, value)]);
  const values = typeof event.data === "object" && event.data !== null && !Array.isArray(event.data) ? Object.entries(event.data).flatMap(([name, value]) => shown(name, value)) : [...named("data", event.data)];
  return make("div.event-more",
    make("div.actions", make("span", ...apart([event.type, event.actor, event.id, event.group && `group ${event.group}`])), jump(related, "caused by"), jump(answer, "answered by"), ...shownBy(test, event).map((assertion) => make("button", { type: "button", onclick: () => goToAssertion(test, assertion) }, `${MARKS[assertion.status]} ${assertion.id}`)), copy),
    make("dl.values", ...values),
    event.cut && make("p.faint", "Long texts are truncated; see the trace file for the full text."));
}

/** The answer, with the claims marked that are refuted or not proved. */
function answerOf(test, text) {
  const claims = test.assertions.flatMap((assertion) => assertion.observed?.not_supported ?? []);
  const parts = [];
  let rest = text;
  for (;;) {
    const [at, claim] = claims.map((claim) => [claim.claim ? rest.indexOf(claim.claim) : -1, claim]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0])[0] ?? [];
    if (!claim) break;
    parts.push(rest.slice(0, at), make("mark." + claim.verdict, claim.claim, { title: `${claim.verdict}: ${claim.why}` }));
    rest = rest.slice(at + claim.claim.length);
  }
  return make("div", make("dt", "content"), make("dd", make("pre.answer", { tabindex: "0" }, ...parts, rest)));
}

/** For each event the one that it answers: the one it names, else the call with its id. */
function causesOf(test) {
  if (test.causes) return test.causes;
  test.causes = new Map();
  const known = new Map(test.trace.events.map((event) => [event.id, event]));
  const calls = new Map();
  for (const event of test.trace.events) {
    const call = event.data?.call_id;
    const answers = event.type === "tool_result" || event.type === "error";
    const cause = known.get(event.parent) ?? (answers ? calls.get(call) : undefined);
    if (cause) test.causes.set(event, cause);
    if (event.type === "tool_call") calls.set(call, event);
  }
  return test.causes;
}

// Links: #t=TEST, #t=TEST&e=EVENT.

function address(test, event) {
  const parts = new URLSearchParams({ t: keyOf(test) });
  if (event) parts.set("e", event.id);
  return parts.toString();
}

function go(test, event) {
  unhide(test);
  while (!rowOf(test).isConnected) {
    limit += AT_ONCE;
    showTests();
  }
  const row = toggle(test, true);
  document.querySelectorAll(".event.here").forEach((item) => item.classList.remove("here"));
  const item = event && itemOf(test, event);
  if (item) {
    if (!item.classList.contains("open")) openEvent(test, event, true);
    item.classList.add("here");
    item.querySelector(".chip").focus({ preventScroll: true });
    item.scrollIntoView({ block: "center" });
  } else {
    row.querySelector(".test-head").focus({ preventScroll: true });
    row.scrollIntoView({ block: "start" });
  }
  remember(address(test, item && event));
}

function goToAssertion(test, assertion) {
  const boxes = [...rowOf(test).querySelectorAll(".assertion")];
  const head = boxes.find((box) => box.dataset.assertion === assertion.id)?.querySelector(".assertion-head");
  head?.focus({ preventScroll: true });
  head?.scrollIntoView({ block: "nearest" });
}

function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const test = testOf.get(wanted.get("t"));
  if (test) go(test, test.trace?.events.find((event) => event.id === wanted.get("e")));
}

// On paper all tests are listed, and what failed is open.
addEventListener("beforeprint", () => {
  limit = tests.length;
  showTests();
  for (const test of tests.filter((test) => fits(test) && isBad(test)).slice(0, AT_ONCE)) toggle(test, true);
});

by("more").addEventListener("click", () => { limit += AT_ONCE; showTests(); });
addEventListener("hashchange", follow);

list = {
  items: tests,
  filters: [
    ["all", "All", () => true],
    ["fail", "Failed", (test) => test.status === "fail"],
    ["error", "Errors", (test) => test.status === "error"],
    ["warn", "Warned", (test) => test.warned],
    ["vacuous", "Vacuous", (test) => test.vacuous.length > 0],
    ["pass", "Passed", (test) => test.status === "pass"],
    ["skipped", "Skipped", (test) => test.status === "skipped"],
  ],
  show() {
    limit = AT_ONCE;
    showTests();
  },
  rowOf, fill, address,
  closeInner(test, focused) {
    const item = focused.closest(".event.open");
    if (!item) return false;
    openEvent(test, test.trace.events.find((event) => event.id === item.dataset.event), false);
    item.querySelector(".chip").focus();
    return true;
  },
};

showVerdict();
showFailures();
showFilters();
showTests();
if (tests.length === 1) toggle(tests[0], true);
follow();
