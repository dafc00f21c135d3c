
"use strict";

// What tests of this page may count on: ids without a number, classes `test` and `shot`, and the `data-…` attributes.

const MANY = 12; // steps named on the first screen

const run = read("run-data");
const steps = read("step-data").slice(1);

const needsLook = (item) => item.status === "fail" || item.status === "healed" || item.status === "warn";

for (const item of steps) {
  const said = [String(item.number), item.id, item.words, item.action, item.target, item.selector, item.url, item.title, item.error?.message, item.error?.code, item.verdict?.word, item.verdict?.reason, ...item.candidates, ...item.notes, ...item.console];
  item.said = said.filter(Boolean).join("\n").toLowerCase();
}

// The first screen.

function showVerdict() {
  document.title = `${MARKS[run.state]} ${run.words} · Cuecard`;
  by("verdict").append(mark(run.state), run.words);
  const facts = [run.name, run.url, plural(run.counts.all, "step")];
  for (const [name, word] of [["pass", "passed"], ["healed", "healed"], ["warn", "tolerated"], ["fail", "failed"], ["skipped", "not run"]]) {
    if (run.counts[name]) facts.push(`${run.counts[name]} ${word}`);
  }
  facts.push(duration(run.ms));
  by("facts").append(...apart(facts).filter(Boolean));
  document.querySelector("footer").append(` · cuecard ${run.version}`);
  if (run.started) by("when").textContent = run.started.replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

function showFailures() {
  const found = steps.filter(needsLook);
  if (run.failure && !found.some((item) => item.status === "fail")) {
    by("failure-list").append(make("li.fail", mark("fail"), make("div", make("p", ...prose(run.failure)))));
  }
  for (const item of found.slice(0, MANY)) {
    by("failure-list").append(make("li." + item.status, mark(item.status), make("div",
      make("a", `${item.number} ${item.words}`, { href: "#" + address(item) }),
      make("p", ...prose(item.error?.message ?? item.verdict?.reason ?? item.notes.join(" · "))))));
  }
  if (found.length > MANY) by("failure-list").append(make("li", make("span"), make("p", `and ${found.length - MANY} more, in the list below`)));
  by("failures").classList.add(run.counts.fail || run.failure ? "fail" : found[0]?.status ?? "pass");
  by("failures").hidden = !by("failure-list").firstChild;
}

// The list of steps.

function showSteps() {
  const wanted = steps.filter(fits);
  by("steps").replaceChildren(...wanted.map(rowOf));
  by("count").textContent = wanted.length === steps.length ? "" : wanted.length ? `${wanted.length} of ${plural(steps.length, "step")}` : "No step fits.";
}

function rowOf(item) {
  let row = rows.get(item);
  if (row) return row;
  const bodyId = "step-body-" + item.number;
  const verdict = item.verdict?.word ?? "";
  const tone = item.status === "healed" ? ".healed" : item.status === "fail" && verdict && verdict !== "same" ? ".bad" : "";
  const head = make("button.test-head." + item.status, { type: "button", "aria-expanded": "false", "aria-controls": bodyId, "data-nav": "", onclick: () => toggle(item) },
    mark(item.status), make("span.name", make("i", String(item.number)), item.words, item.target && make("small", item.target)),
    make("span.tally" + tone, verdict), make("span.took", item.ms === null ? "" : duration(item.ms)));
  row = make("article.test", { id: "step-" + item.number, "data-step": String(item.number), "data-status": item.status, "data-verdict": verdict },
    make("h3", head), notesOf(item), make("div.test-body", { id: bodyId, hidden: "" }));
  rows.set(item, row);
  return row;
}

function fill(item, body) {
  const copy = make("button.all", { type: "button", onclick: () => copyLink(address(item), copy) }, "Copy link");
  body.append(make("p.test-facts", ...apart([item.action, item.id, item.title, item.url]), " ", copy),
    make("div.scene." + item.status, make("section", { "aria-label": "Picture" }, pictureOf(item), afterOf(item)), make("section", { "aria-label": "Facts" }, ...factsOf(item))));
}

/** Dialogs, downloads and warnings: seen without opening the step. */
function notesOf(item) {
  return item.notes.length > 0 && make("ul.notes", { "aria-label": "Notes" }, ...item.notes.map((note) => make("li", ...prose(note))));
}

/** The page before the step, with the target outlined on the picture, not in the page. */
function pictureOf(item) {
  if (!item.picture) return make("p.faint", item.status === "skipped" ? "The step did not run." : "There is no picture of this step.");
  const { data, width, height, target } = item.picture;
  const image = make("img", { src: "data:image/png;base64," + data, width, height, alt: `The page before step ${item.number}` + (target ? `, ${item.target ?? "the target"} outlined` : "") });
  const frame = make("div.frame", image);
  if (target) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(name, value);
    for (const kind of ["halo", "outline"]) {
      const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const [x, y, w, h] = target;
      for (const [name, value] of Object.entries({ class: kind, x: x - 3, y: y - 3, width: w + 6, height: h + 6, rx: 4 })) rect.setAttribute(name, value);
      svg.append(rect);
    }
    frame.append(svg);
  }
  return make("figure.shot", frame, make("figcaption", target ? `Before the step; outlined: ${item.target ?? "the target"}` : "Before the step"));
}

/** The page after the step, if that was asked for. */
function afterOf(item) {
  if (!item.after) return false;
  const { data, width, height } = item.after;
  const image = make("img", { src: "data:image/png;base64," + data, width, height, alt: `The page after step ${item.number}` });
  return make("figure.shot", make("div.frame", image), make("figcaption", "After the step"));
}

function* factsOf(item) {
  const { error, verdict } = item;
  if (error) {
    yield make("div.why." + item.status, make("b", error.code), make("p", ...prose(error.message)), ...(error.notes ?? []).map((note) => make("p", ...prose(note))),
      error.help && make("p.help", make("b", "Try: "), ...prose(error.help)));
  } else if (verdict?.reason) {
    yield make("div.why." + item.status, make("b", verdict.word), make("p", ...prose(verdict.reason)));
  }
  yield make("h4", "Step");
  yield make("dl.values", ...named("element", item.target), ...named("selector", item.selector), ...named("verdict", verdict?.word ?? null),
    ...named("value", item.value), ...named("read", item.extracted));
  // A failure names them itself.
  if (!error) yield* listOf("Candidates", item.candidates);
  yield* listOf("Console errors", item.console);
  yield* listOf("Failed requests", item.requests);
  if (item.page) yield make("details", make("summary", "The page as text"), make("pre", item.page, { tabindex: "0" }));
}

function* listOf(title, lines) {
  if (!lines.length) return;
  yield make("h4", title);
  yield make("ul.plain", ...lines.map((line) => make("li", ...prose(line))));
}

// Links: #s=NUMBER.

const address = (item) => "s=" + item.number;

function go(item) {
  unhide(item);
  const row = toggle(item, true);
  row.querySelector(".test-head").focus({ preventScroll: true });
  row.scrollIntoView({ block: "start" });
}

function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1)).get("s");
  const item = steps.find((one) => String(one.number) === wanted);
  if (item) go(item);
}

// On paper every step is listed, and what needs a look is open.
addEventListener("beforeprint", () => {
  choose("all");
  for (const item of steps.filter(needsLook)) toggle(item, true);
});

addEventListener("hashchange", follow);

const having = (status) => (item) => item.status === status;
list = {
  items: steps,
  filters: [["all", "All", () => true], ["fail", "Failed", having("fail")], ["healed", "Healed", having("healed")], ["warn", "Warned", having("warn")], ["pass", "Passed", having("pass")], ["skipped", "Not run", having("skipped")]],
  show: showSteps, rowOf, fill, address,
};

showVerdict();
showFailures();
showFilters();
showSteps();
const first = steps.find((item) => item.status === "fail") ?? (steps.length === 1 ? steps[0] : undefined);
if (first && !location.hash) toggle(first, true);
follow();
