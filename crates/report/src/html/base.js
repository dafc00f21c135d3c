
"use strict";

// What the reports have in common. Everything shown is set as text, never as markup: names, arguments and results
// come from strangers.

const MARKS = { pass: "✓", fail: "✗", error: "✗", warn: "!", healed: "~", skip: "–", skipped: "–", unknown: "?", vacuous: "∅" };
const WORDS = { pass: "passed", fail: "failed", error: "error", warn: "warning", healed: "healed", skip: "skipped", skipped: "skipped", vacuous: "nothing to check" };
const SHORT = 1200; // characters of a value before "show all"

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const by = (id) => document.getElementById(id);

/** Text whose signs of direction can be seen: unseen, they could turn around what the page itself says. */
const visible = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (sign) => `⟨U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

/** An element: `make("p.faint", "text", child, …)`; properties in an object. */
function make(what, ...parts) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const part of parts) {
    if (part === null || part === undefined || part === false) continue;
    if (typeof part === "object" && !(part instanceof Node)) {
      for (const [name, value] of Object.entries(part)) {
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value);
      }
    } else element.append(typeof part === "string" ? visible(part) : part);
  }
  return element;
}

const mark = (state) => make("span.mark." + state, MARKS[state] ?? "?", { "aria-label": WORDS[state] ?? state, role: "img" });
/** Text in which what stands in backticks is code. */
const prose = (text) => text.split("`").map((part, at, all) => (at % 2 && at < all.length - 1 ? make("code", part) : at % 2 ? "`" + part : part));
/** Words with a dot between them; none of them changes the direction of another. */
const apart = (words) => words.filter(Boolean).flatMap((word, at) => [at > 0 && " · ", make("bdi", word)]);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function duration(ms) {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 99950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A named value: short ones on one line, the rest below the name; nothing of an empty one. */
function* named(name, value) {
  if (value === null || (typeof value === "object" && !Object.keys(value).length)) return;
  const short = typeof value !== "object" && String(value).length <= 80 && !String(value).includes("\n");
  if (short) yield make("div.short", make("dt", name), make("dd", make("code", String(value))));
  else yield make("div", make("dt", name), make("dd", valueOf(value)));
}

/** A value as text: strings as they are, the rest as indented JSON; long ones shortened until asked for. */
function valueOf(value) {
  const text = visible(typeof value === "string" ? value : JSON.stringify(value, null, 2));
  const box = make("pre", { tabindex: "0" });
  if (text.length <= SHORT) {
    box.textContent = text;
    return box;
  }
  box.textContent = text.slice(0, SHORT) + "…";
  const more = make("button.all", { type: "button", onclick: () => { box.textContent = text; more.remove(); } }, `show all ${text.length} characters`);
  return make("div", box, more);
}

// Links.

const remember = (hash) => history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);

async function copyLink(hash, button) {
  const link = location.href.split("#")[0] + "#" + hash;
  try {
    await navigator.clipboard.writeText(link);
    say("Link copied", button);
  } catch {
    // Some browsers give files no clipboard; the address bar has the link too.
    remember(hash);
    say("The link is in the address bar", button);
  }
}

function say(words, button) {
  by("said").textContent = words;
  button.textContent = words;
}

// The list: rows that open, filters and search. What is in it, a report says by `list`.

const view = { filter: "all", words: [] };
const rows = new Map(); // item → its article, once shown
let list; // { items, filters: [[word, name, which items]], show, rowOf, fill, address, closeInner }

function fits(item) {
  const [, , fitting] = list.filters.find(([filter]) => filter === view.filter);
  return fitting(item) && view.words.every((word) => item.said.includes(word));
}

function showFilters() {
  for (const [filter, name, fitting] of list.filters) {
    const count = list.items.filter(fitting).length;
    if (!count && filter !== "all") continue;
    by("filters").append(make("button", { type: "button", "data-filter": filter, "aria-pressed": filter === view.filter, onclick: () => choose(filter) },
      name, " ", make("b", String(count))));
  }
}

function choose(filter) {
  view.filter = filter;
  for (const button of by("filters").children) button.setAttribute("aria-pressed", button.dataset.filter === filter);
  list.show();
}

function setSearch(text) {
  by("search").value = text;
  view.words = text.toLowerCase().split(/\s+/).filter(Boolean);
  list.show();
}

/** Opens or closes the row of an item; the address names what a reader opened. */
function toggle(item, open) {
  const row = list.rowOf(item);
  const body = row.querySelector(".test-body");
  const opens = open ?? body.hidden;
  if (opens && !body.firstChild) list.fill(item, body);
  body.hidden = !opens;
  row.querySelector(".test-head").setAttribute("aria-expanded", opens);
  if (open === undefined) remember(opens ? list.address(item) : "");
  return row;
}

/** Makes sure that an item is in the list. */
function unhide(item) {
  if (fits(item)) return;
  by("search").value = "";
  view.words = [];
  choose("all");
}

// Keyboard.

function step(by_) {
  const stops = [...document.querySelectorAll("[data-nav]")].filter((element) => element.offsetParent !== null);
  if (!stops.length) return;
  const at = stops.indexOf(document.activeElement);
  const next = stops[at < 0 ? (by_ > 0 ? 0 : stops.length - 1) : Math.max(0, Math.min(stops.length - 1, at + by_))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function escape() {
  const search = by("search");
  const focused = document.activeElement;
  if (focused === search) {
    if (search.value) setSearch("");
    else search.blur();
    return;
  }
  const row = focused?.closest?.(".test");
  const item = row && [...rows].find(([, shown]) => shown === row)[0];
  if (item && list.closeInner?.(item, focused)) return;
  if (item && !row.querySelector(".test-body").hidden) {
    toggle(item);
    row.querySelector(".test-head").focus();
  } else if (search.value) setSearch("");
}

document.addEventListener("keydown", (key) => {
  if (key.ctrlKey || key.metaKey || key.altKey) return;
  if (key.key === "Escape") return escape();
  if (document.activeElement === by("search")) return;
  const action = { j: () => step(1), k: () => step(-1), "/": () => by("search").focus() }[key.key];
  if (!action) return;
  key.preventDefault();
  action();
});

by("search").addEventListener("input", () => setSearch(by("search").value));

// Light and dark: as the system says, until somebody chooses.

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

by("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = dark ? "light" : "dark";
  setTheme(theme);
  try { localStorage.setItem("cuecard-theme", theme); } catch { /* kept for this page only */ }
});
try { setTheme(localStorage.getItem("cuecard-theme")); } catch { /* not allowed for files in some browsers */ }
