// Changes a page as its next release might, and tells of everything that is done to it afterwards whether it was done to
// the element that was meant. After each change a careful person, who knows the page as it was, can tell that the tracked
// element is meant, or can't tell which one is: no change may make another element look right. That rule is at the end
// of this file, in `misleads`; what breaks it is undone and refused. Of a control that is called otherwise by now nothing is
// right.
(() => {
// ---- What is heard

const EVENTS = ['mousedown', 'click', 'dblclick', 'input', 'change', 'keydown'];
const roots = new WeakMap();
const told = new WeakSet();
let running = null;

const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attach.call(this, options);
  roots.set(this, root);
  watch(root);
  return root;
};

function watch(place) {
  for (const type of EVENTS) place.addEventListener(type, listen, true);
}

/** Each event is told once, where all of its path can be seen: outside of a closed root it seems to be its host's. */
function listen(event) {
  if (!event.isTrusted || told.has(event)) return;
  const path = event.composedPath();
  // A field that was typed into before tells its change when the next click takes the focus.
  if (event.type === 'change' && !/^(checkbox|radio|file|range|color)$/.test(path[0].type ?? '') && path[0].localName !== 'select') return;
  const tell = () => {
    if (told.has(event)) return;
    told.add(event);
    const own = path.find((node) => node.nodeType === 1);
    const what = `${event.type} ${own?.localName ?? 'page'} ${own ? words(own).slice(0, 40) : ''}`.trim();
    const top = adversaryOfTop();
    if (top) top.report(what, path);
    else parent.postMessage({ adversary: what }, '*');
  };
  // The host itself may be meant too: then nobody inside tells it.
  if (path[0].nodeType === 1 && rootOf(path[0])?.mode === 'closed') setTimeout(tell);
  else tell();
}

/** Only the top document knows what is tracked. Documents of other origins can't ask it, but nothing is tracked in them. */
function adversaryOfTop() {
  try {
    return window.top.__adversary;
  } catch {
    return null;
  }
}

function report(what, path) {
  if (!running) return;
  // A page that renders anew from its own data has undone the change: nothing that was tracked is left.
  const isRendered = running.tracked && !running.tracked.isConnected && !running.isAway;
  const own = path.find((node) => node.nodeType === 1);
  if (isRendered || (!running.tracked && own && !running.known.has(own))) return;
  const isTracked = path.some((node) => running.tracked === node || (node.localName === 'label' && running.tracked && running.tracked === node.control));
  // Where a page moves under the pointer, the click is told by what the two elements have in common: what was pressed counts.
  if (what.startsWith('mousedown ')) running.isPressed = isTracked;
  const isRight = isTracked || (running.isPressed && /^(dbl)?click /.test(what));
  navigator.sendBeacon('/api/count/' + encodeURIComponent(`${running.name}: ${isRight ? 'right' : 'WRONG'} ${what}`));
}

// On the document, so that events which Playwright holds back on the window, since they would not hit what it aims at, are
// not heard: nothing on the page hears them.
watch(document);
addEventListener('message', (event) => {
  const what = event.data?.adversary;
  if (typeof what !== 'string') return;
  const top = adversaryOfTop();
  if (top) top.report(what, []);
  else parent.postMessage({ adversary: what }, '*');
});

// ---- Elements: where they are

const CONTROLS = 'a[href], button, input, select, textarea, summary, [role=button], [role=link], [role=tab], [role=menuitem], [role=checkbox], [role=switch]';
const ITEMS = 'tr, li, article, [role=row], [role=listitem], [role=article], [role=treeitem]';
const SECTIONS = 'section, form, fieldset, nav, aside, dialog, article, table, ul, ol, footer, [role=dialog], [role=alertdialog], [role=region], [role=group], [role=tabpanel], [role=navigation], [role=list], [role=grid], [role=tablist], [role=menu], [role=listbox], [role=radiogroup], [role=form]';
const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role=heading]';
const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy'];
const REFERENCES = ['for', 'list', 'form', 'headers', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns', 'aria-activedescendant', 'aria-details', 'aria-errormessage'];
const NAMING = ['aria-label', 'title', 'alt', 'placeholder', 'value'];

class Refusal extends Error {}
function need(value, reason) {
  if (!value) throw new Refusal(reason);
  return value;
}

const rootOf = (host) => host.shadowRoot ?? roots.get(host) ?? host.ownerDocument.defaultView?.__adversary?.rootOf(host) ?? null;
const isFrame = (node) => node.localName === 'iframe' || node.localName === 'frame';
const isShadow = (root) => root.nodeType === 11 && Boolean(root.host);

/** The shadow root of an element, or the document of a frame; null for a frame of another origin. */
function insideOf(element) {
  if (!isFrame(element)) return rootOf(element);
  try {
    return element.contentDocument;
  } catch {
    return null;
  }
}

/** The element around another one, through shadow roots and frames. */
function outer(element) {
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  if (isShadow(root)) return root.host;
  try {
    return root.defaultView?.frameElement ?? null;
  } catch {
    return null;
  }
}

function* around(element) {
  for (let at = outer(element); at; at = outer(at)) yield at;
}

function isWithin(element, ancestor) {
  for (let at = element; at; at = outer(at)) if (at === ancestor) return true;
  return false;
}

function* elementsIn(root) {
  for (const element of root.querySelectorAll('*')) {
    yield element;
    const inside = insideOf(element);
    if (inside) yield* elementsIn(inside);
  }
}

/** The roots of all trees of the page: ids belong to one of them each. */
function trees() {
  const found = [document];
  for (const element of elementsIn(document)) {
    const inside = insideOf(element);
    if (inside) found.push(inside);
  }
  return found;
}

/** XPath itself can't look into shadow roots. */
function resolve(root, xpath) {
  let at = root;
  for (const [, name, tag, position] of xpath.matchAll(/\/(?:\*\[name\(\)="([^"]+)"\]|([^/[\]]+))(?:\[(\d+)\])?/g)) {
    const isHtml = (child) => child.namespaceURI === 'http://www.w3.org/1999/xhtml';
    const alike = [...at.children].filter((child) => (name ? child.nodeName === name : isHtml(child) && child.localName === tag));
    at = need(alike[(position ?? 1) - 1], `nothing is at ${xpath}`);
  }
  return need(at !== root && at, `nothing is at ${xpath}`);
}

function find({ scope = [], xpath }) {
  let root = document;
  for (const hop of scope) {
    const owner = resolve(root, hop.xpath);
    root = need(insideOf(owner), hop.kind === 'frame' ? 'it is in a frame of another origin' : 'its shadow root is not known');
  }
  return resolve(root, xpath);
}

function isVisible(element) {
  if (!element.isConnected) return false;
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;
  const own = isShown(element) || [...(element.labels ?? [])].some(isShown);
  const frame = [...around(element)].find(isFrame);
  return own && (!frame || isVisible(frame));
}

const isEnabled = (element) => !element.matches(':disabled') && !element.closest('[aria-disabled=true]');

// ---- Elements: what they are called

/** What was put beside a name without becoming part of it. */
const decorations = new WeakSet();

/** Names are compared without case, decoration and a count in brackets. */
function plain(text) {
  const bare = text.normalize('NFKC').replace(/\s*\(\d+\)(?=\s|$)/g, '').replace(/[^\p{L}\p{N}]+/gu, ' ').trim().toLowerCase();
  return bare || text.trim();
}

/** Where texts stand that a person can read or hear: text nodes, and attributes. */
function* slotsOf(node, skip = () => false) {
  if (skip(node) || decorations.has(node)) return;
  if (node.nodeType === 3 && node.data.trim()) yield { node, text: node.data.trim() };
  if (node.nodeType === 1) {
    if (node.matches('head, script, style, template, noscript, textarea')) return;
    const isPush = node.matches('input[type=button], input[type=submit], input[type=reset]');
    for (const attribute of NAMING) {
      const text = attribute !== 'value' || isPush ? node.getAttribute(attribute)?.trim() : '';
      if (text) yield { node, attribute, text };
    }
    const inside = insideOf(node);
    if (inside) yield* slotsOf(inside, skip);
  }
  for (const child of node.childNodes) yield* slotsOf(child, skip);
}

function textsIn(node) {
  const isUnseen = (one) => one.nodeType === 1 && (one.matches('select, option') || !one.checkVisibility());
  return [...slotsOf(node, node.checkVisibility() ? (one) => one !== node && isUnseen(one) : undefined)].filter((slot) => !slot.attribute);
}

const textIn = (node) => textsIn(node).map((slot) => slot.text).join(' ');

function roleOf(element) {
  const role = element.getAttribute('role')?.trim().split(/\s+/)[0];
  if (role) return role;
  const { localName: tag } = element;
  if (tag === 'input') {
    const known = { button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio', range: 'slider', file: 'file' };
    return known[element.type] ?? 'textbox';
  }
  if (/^h[1-6]$/.test(tag)) return 'heading';
  return { a: 'link', textarea: 'textbox', select: 'combobox', summary: 'button', td: 'cell', tr: 'row', li: 'listitem', img: 'image' }[tag] ?? tag;
}

const isField = (element) => ['textbox', 'searchbox', 'combobox', 'spinbutton', 'checkbox', 'radio', 'slider', 'file', 'switch'].includes(roleOf(element));
const labelsOf = (element) => [...(element.labels ?? [])];

function referred(element) {
  const ids = element.getAttribute('aria-labelledby')?.split(/\s+/) ?? [];
  return ids.map((id) => element.getRootNode().getElementById?.(id)).filter(Boolean);
}

/** What a person reads on it, or beside it if it is a field. */
function shown(element) {
  if (element.localName === 'input' && !isField(element)) return element.value || element.alt || element.type;
  const bearers = isField(element) && labelsOf(element).length ? labelsOf(element) : isField(element) ? [] : [element];
  const pictures = element.alt || element.querySelector?.('img[alt]')?.alt || '';
  return bearers.map(textIn).join(' ').trim() || element.getAttribute('placeholder') || pictures;
}

const spoken = (element) => referred(element).map(textIn).join(' ') || element.getAttribute('aria-label') || element.getAttribute('title') || '';
const words = (element) => shown(element) || spoken(element);
/** What assistive tools call it; a step knows it by that. */
const accessibleName = (element) => plain(referred(element).map(textIn).join(' ') || element.getAttribute('aria-label') || shown(element) || element.getAttribute('title') || '');
const namesOf = (element) => [...new Set([plain(shown(element)), plain(spoken(element))].filter(Boolean))];

/** The texts that give a section its name. */
function titlesOf(section) {
  const own = section.hasAttribute('aria-label') ? [{ node: section, attribute: 'aria-label', text: section.getAttribute('aria-label') }] : [];
  const heads = [':scope > legend', ':scope > caption', `:scope > :is(${HEADINGS})`, `:scope > :is(header, div) > :is(${HEADINGS})`];
  const head = heads.map((selector) => section.querySelector(selector)).find(Boolean);
  return [...referred(section).flatMap(textsIn), ...own, ...(head ? textsIn(head) : [])];
}

const sectionAround = (element, isNamed) => [...around(element)].find((one) => one.matches(SECTIONS) && (!isNamed || titlesOf(one).length));

// ---- Items: rows, cards, and what else is there several times

const shapeOf = (element) => [element, ...element.querySelectorAll('*')].map((one) => one.localName).join(' ');
const alikeOf = (item) => [...(item.parentNode?.children ?? [])].filter((other) => other.localName === item.localName);

/** What an item says beside the target and its controls. */
function saidIn(item, target) {
  const labels = target ? labelsOf(target) : [];
  const skip = (node) => node === target || labels.includes(node) || (node.nodeType === 1 && node.matches('button, select, input'));
  return [...slotsOf(item, skip)].map((slot) => slot.text);
}

/** What an item is known by: texts that no other item beside it has. Not what is on its buttons, nor on the target. */
function marksOf(item, target) {
  const others = new Set(alikeOf(item).filter((other) => other !== item).flatMap((other) => [...slotsOf(other)].map((slot) => plain(slot.text))));
  const own = saidIn(item, target).filter((text) => !others.has(plain(text)));
  // A number is no good name for an item that has another.
  return [...new Set(own)].sort((left, right) => /\p{L}/u.test(right) - /\p{L}/u.test(left));
}

/** What was an item before the page changed: with a twin in it, it is made like no other any more. */
const items = new WeakSet();

function isItem(element, target) {
  if (element.matches('body, main, html, td, th, span, label, label *')) return false;
  const others = alikeOf(element).filter((other) => other !== element);
  // Cards of one class are cards, whether or not each has a badge.
  const isAlike = (other) => element.className === other.className && (element.className !== '' || shapeOf(other) === shapeOf(element));
  const isRepeated = items.has(element) || others.some(isAlike);
  return (element.matches(ITEMS) || isRepeated) && marksOf(element, target).length > 0;
}

const itemOf = (target) => [...around(target)].find((element) => isItem(element, target)) ?? null;

/** What an element is in, as a person would say it, from inside out. */
function placeOf(target) {
  const place = [];
  for (const element of around(target)) {
    if (isItem(element, target)) {
      place.push({ kind: 'item', element, name: plain(marksOf(element, target)[0]), texts: new Set([...slotsOf(element)].map((slot) => plain(slot.text))) });
    } else if (isFrame(element)) {
      place.push({ kind: 'frame', name: plain(element.title || 'frame') });
    } else if (rootOf(element)) {
      // What is in it may come and go: it is known by any of its texts.
      const name = plain(spoken(element) || saidIn(element, target)[0] || element.localName);
      place.push({ kind: 'part', name, texts: new Set([...slotsOf(element)].map((slot) => plain(slot.text))) });
    } else if (element.matches(SECTIONS) && titlesOf(element).length) {
      place.push({ kind: 'section', name: plain(titlesOf(element)[0].text) });
    }
  }
  return place;
}

const keepsPlace = (was, is) => was.every((one) => is.some((other) => one.kind === other.kind && (other.name === one.name || other.texts?.has(one.name))));
/** What was around the target, and said nothing of it, is no other place because something came into it. */
const surroundings = new WeakSet();
const isSamePlace = (was, is) => (was.length ? keepsPlace(was, is) : is.every((one) => surroundings.has(one.element)));

/** All that can be seen and has the role and one of the names. */
function bearersOf(role, names, tag) {
  const own = [...elementsIn(document)].filter((element) => element.matches(`${CONTROLS}, option, [role], ${HEADINGS}, ${tag}`) && roleOf(element) === role);
  return own.filter((element) => isVisible(element) && (namesOf(element).some((name) => names.includes(name)) || (!names.length && !namesOf(element).length)));
}

// ---- Edits, each of which can be undone

const undo = [];

/** Moves without taking out, where the browser can: what is taken out loses its frames and its state. */
function put(node, parent, before) {
  const canMove = parent.moveBefore && node.isConnected && parent.isConnected && node.ownerDocument === parent.ownerDocument;
  if (!canMove) {
    need(!node.isConnected || node.nodeType !== 1 || !(isFrame(node) || node.querySelector('iframe')), 'a frame would be loaded again');
    return parent.insertBefore(node, before);
  }
  return parent.moveBefore(node, before);
}

function insert(node, parent, before = null) {
  const { parentNode: oldParent, nextSibling: oldNext } = node;
  put(node, parent, before);
  undo.push(() => (oldParent ? put(node, oldParent, oldNext) : node.remove()));
  return node;
}

const insertAfter = (node, other) => insert(node, other.parentNode, other.nextSibling);

function remove(node) {
  const { parentNode, nextSibling } = node;
  node.remove();
  undo.push(() => parentNode.insertBefore(node, nextSibling));
}

function setText(node, text) {
  const before = node.data;
  node.data = text;
  undo.push(() => { node.data = before; });
}

function setAttribute(element, name, value) {
  const before = element.getAttribute(name);
  const names = element.getAttributeNames();
  const set = (key, text) => (text === null ? element.removeAttribute(key) : element.setAttribute(key, text));
  set(name, value);
  undo.push(() => {
    set(name, before);
    if (before === null || value !== null) return;
    // It is the last one now: those that came after it are put behind it again.
    const { value: held, checked } = element;
    for (const key of names.slice(names.indexOf(name) + 1)) {
      const text = element.getAttribute(key);
      element.removeAttribute(key);
      element.setAttribute(key, text);
    }
    if (element.value !== held) element.value = held;
    if (element.checked !== checked) element.checked = checked;
  });
}

function setProperty(element, name, value) {
  const before = element[name];
  element[name] = value;
  undo.push(() => { element[name] = before; });
}

/** Whether a text stands in an element or is one of its attributes. The parent of a text may be a shadow root. */
function isIn({ node }, element) {
  return isWithin(node.nodeType === 1 ? node : node.parentElement ?? node.getRootNode().host, element);
}

/** Writes where a text stands, and leaves the spaces around it. */
function write({ node, attribute, text }, to) {
  if (attribute) setAttribute(node, attribute, to);
  else setText(node, node.data.replace(text, () => to));
}

function replace(element, other) {
  insert(other, element.parentNode, element);
  for (const child of [...element.childNodes]) insert(child, other);
  remove(element);
  return other;
}

/** Puts siblings in another order, each into the place of one of them. */
function order(list, to) {
  const arrange = (from, into) => {
    const marks = from.map((node) => node.parentNode.insertBefore(node.ownerDocument.createComment(''), node));
    into.forEach((node, idx) => put(node, marks[idx].parentNode, marks[idx]));
    for (const mark of marks) mark.remove();
  };
  arrange(list, to);
  undo.push(() => arrange(to, list));
}

function make(doc, tag, attributes = {}, text = '') {
  const element = doc.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.append(text);
  return element;
}

/** Gives the elements of a tree other ids, and the same to what refers to them. `to` says the new id, null for none. */
function changeIds(tree, to) {
  const bearers = [...tree.querySelectorAll('[id]')];
  const referring = [...tree.querySelectorAll(REFERENCES.map((name) => `[${name}]`).join())];
  const tokens = (element, name) => element.getAttribute(name)?.split(/\s+/) ?? [];
  const isReferred = (id) => referring.some((element) => REFERENCES.some((name) => tokens(element, name).includes(id)));
  const known = new Map();
  for (const element of bearers) {
    const id = to(element, isReferred(element.id));
    if (id === undefined) continue;
    if (!known.has(element.id)) known.set(element.id, id);
    setAttribute(element, 'id', id);
  }
  for (const element of referring) {
    for (const name of REFERENCES) {
      const ids = tokens(element, name);
      if (ids.some((id) => known.has(id))) setAttribute(element, name, ids.map((id) => known.get(id) ?? id).join(' '));
    }
  }
  return known.size;
}

// ---- Chances, and words that no page has

const NAMES = ['Proceed', 'Carry on', 'Look up', 'Bring in', 'Set down', 'Hand over', 'Put through', 'Call back', 'Work out', 'Step in'];
const TEXTS = ['Quentin Ross', 'Vera Stolz', 'Odile Marchand', 'Tadeusz Wrona', 'Ingrid Falk', 'Yusuf Demir', 'Kwame Boateng', 'Hanna Virtanen'];
const TITLES = ['Archive', 'Preview', 'Suggestions', 'Recently viewed', 'Drafts', 'Overview', 'Quick access'];

/** Mulberry32: the same seed gives the same changes. */
function chances(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** What changes work with: the element that is meant, and choices. */
class Case {
  constructor(target, seed) {
    this.target = target;
    this.random = chances(seed);
    this.isCovered = false;
    this.late = null;
    this.waits = [];
  }
  get doc() { return this.target.ownerDocument; }
  get root() { return this.target.getRootNode(); }
  chance() { return this.random() < 0.5; }
  pick(list) { return list[Math.floor(this.random() * list.length)]; }
  shuffled(list) {
    const rest = [...list];
    return list.map(() => rest.splice(Math.floor(this.random() * rest.length), 1)[0]);
  }
  /** One of the words that is nowhere on the page. */
  fresh(list) {
    const used = new Set([...slotsOf(document)].map((slot) => plain(slot.text)));
    return need(this.pick(list.filter((text) => !used.has(plain(text)))), 'there are no more new words');
  }
  /** A text of the same kind as another: what has numbers gets other ones. */
  like(text) {
    if (!/\d/.test(text)) return this.fresh(TEXTS);
    const used = new Set([...slotsOf(document)].map((slot) => plain(slot.text)));
    for (;;) {
      const other = text.replace(/\d+/g, () => String(100 + Math.floor(this.random() * 9000)));
      if (!used.has(plain(other))) return other;
    }
  }
  /** Where something new goes: not out of a dialog, since the page behind it can't be used. */
  get ground() {
    if (isShadow(this.root)) return this.root;
    return this.target.closest('dialog[open], [role=dialog]') ?? this.doc.querySelector('main') ?? this.doc.body;
  }
  section() {
    const title = this.fresh(TITLES);
    const section = make(this.doc, 'section', { 'aria-label': title });
    section.append(make(this.doc, 'h2', {}, title));
    return insert(section, this.ground);
  }
  /** Others of its role in its tree. */
  kin() {
    const isAlike = (other) => roleOf(other) === roleOf(this.target) && (!isField(other) || other.type === this.target.type);
    const all = [...this.root.querySelectorAll('*')].filter((other) => other !== this.target && isAlike(other) && isVisible(other));
    return all.filter((other) => !isWithin(other, this.target) && !isWithin(this.target, other));
  }
  /** Those of them that have other names. */
  peers(isAlike = () => true) {
    const names = namesOf(this.target);
    return this.kin().filter((other) => namesOf(other).length && !namesOf(other).some((name) => names.includes(name)) && isAlike(other));
  }
}

// ---- Parts of changes

/** A field with its label, which go together. */
function whole(target) {
  const labels = isField(target) ? labelsOf(target) : [];
  if (labels.some((label) => label.contains(target))) return [target.closest('label')];
  return [...labels, target].sort((left, right) => (left.compareDocumentPosition(right) & 4 ? -1 : 1));
}

function movable(c) {
  need(!c.target.matches('tr, td, th, li, option, optgroup, legend, caption, summary'), 'its tag needs the parent that it has');
  return whole(c.target);
}

/** Copies, with the ids of what they are copied from or without. Ids that something refers to can't be there twice. */
function copies(c, nodes, keepsIds = c.chance()) {
  const made = nodes.map((node) => node.cloneNode(true));
  const all = made.flatMap((node) => [node, ...node.querySelectorAll('*')]);
  need(!all.some((element) => element.localName === 'slot'), 'of two slots the first takes all that is put into them');
  const renewed = new Map();
  for (const element of all) {
    const isReferred = all.some((other) => REFERENCES.some((name) => other.getAttribute(name)?.split(/\s+/).includes(element.id)));
    if (element.id && isReferred) renewed.set(element.id, `${element.id}-${Math.floor(c.random() * 9000) + 1000}`);
    if (element.id && isReferred) element.id = renewed.get(element.id);
    else if (!keepsIds) element.removeAttribute('id');
    if (!keepsIds) for (const name of TEST_IDS) element.removeAttribute(name);
    // Of a group only one can be on: the copy would turn the other off.
    if (element.type === 'radio') element.name += '-copy';
  }
  for (const element of all) {
    for (const name of REFERENCES) {
      const ids = element.getAttribute(name)?.split(/\s+/);
      if (ids?.some((id) => renewed.has(id))) element.setAttribute(name, ids.map((id) => renewed.get(id) ?? id).join(' '));
    }
  }
  return { made, says: keepsIds ? 'with its ids' : 'without ids' };
}

/** The control among nodes that go together. */
const fieldOf = (nodes) => nodes.find((node) => node.localName === 'label')?.control ?? nodes.findLast((node) => node.localName !== 'label') ?? nodes[0];

/** Names that come from elsewhere don't reach into other trees. */
function takeName(element, name) {
  if (!element.hasAttribute('aria-labelledby')) return;
  setAttribute(element, 'aria-label', name);
  setAttribute(element, 'aria-labelledby', null);
}

function twin(c, isBefore) {
  const nodes = whole(c.target);
  const { made, says } = copies(c, nodes);
  // A label around the field goes with it: a label in a label is not HTML.
  const isTogether = nodes.length === 1 || nodes.every((node) => node.parentNode === c.target.parentNode);
  const [first, last] = isTogether ? [nodes[0], nodes.at(-1)] : [c.target, c.target];
  const before = isBefore ? first : last.nextSibling;
  for (const node of made) insert(node, last.parentNode, before);
  return `a twin ${isBefore ? 'before' : 'after'} it, ${says}`;
}

/** A copy at the end of what the target is in, without ids. */
function twinNodes(c, nodes) {
  return copies(c, nodes, false).made.map((node) => insert(node, c.target.closest('label')?.parentNode ?? c.target.parentNode));
}

/** Writes another text wherever one stands in an element, also as a part of longer ones. */
function rewrite(scope, from, to) {
  let count = 0;
  for (const slot of [...slotsOf(scope)]) {
    if (slot.text !== from && !(from.length > 2 && slot.text.includes(from))) continue;
    write(slot, slot.text.replaceAll(from, to));
    count += 1;
  }
  return count;
}

function twinRow(c, isBefore) {
  const item = need(itemOf(c.target), 'it is in no item');
  need(!isFrame(item), 'a copy of a frame shows the same');
  const { made: [clone], says } = copies(c, [item]);
  const marks = marksOf(item, c.target);
  const changed = marks.map((text) => rewrite(clone, text, c.like(text)));
  need(changed[0], 'the copy would be called the same');
  if (isBefore) insert(clone, item.parentNode, item);
  else insertAfter(clone, item);
  return `a copy of its item ${isBefore ? 'before' : 'after'} it, with another text, ${says}`;
}

/** Another container than the target's, and what it is. */
function elsewhere(c, isPlain) {
  const own = itemOf(c.target) ?? sectionAround(c.target) ?? c.target;
  const all = [...c.root.querySelectorAll(`section, form, fieldset, footer, aside, article${isPlain ? '' : ', li, td, nav'}`)];
  const free = all.filter((one) => isVisible(one) && !isWithin(one, own) && !isWithin(c.target, one) && !(isPlain && itemOf(one)) && !one.closest('a, button, label'));
  return { free, section: () => c.section() };
}

function twinElsewhere(c) {
  const { made, says } = copies(c, movable(c));
  const { free, section } = elsewhere(c, false);
  const container = free.length && c.random() < 0.7 ? c.pick(free) : section();
  for (const node of made) insert(node, container);
  return `a twin in another ${container.localName}, ${says}`;
}

/** Calls an element something else, in all places where its name stands. */
function rename(element, to) {
  const from = [shown(element), spoken(element)].filter(Boolean);
  const bearers = isField(element) ? labelsOf(element) : [element];
  const texts = [...bearers, ...referred(element)].flatMap(textsIn);
  const main = [...texts].sort((left, right) => right.text.length - left.text.length)[0];
  for (const slot of texts) write(slot, slot === main ? to : '');
  for (const attribute of NAMING) {
    const text = element.getAttribute(attribute);
    const isName = attribute === 'value' ? roleOf(element) === 'button' : attribute === 'aria-label' || attribute === 'placeholder' || from.includes(text?.trim());
    if (text !== null && isName) setAttribute(element, attribute, to);
  }
  const names = namesOf(element);
  need(names.length && names.every((name) => name === plain(to)), 'its name is not written where it can be changed');
}

/** The target's item and those beside it; or the target, with what belongs to it, and its own siblings. */
function siblings(c) {
  let own = itemOf(c.target);
  if (!own) {
    const nodes = whole(c.target);
    own = nodes.length === 1 ? nodes[0] : c.target.parentElement;
    const count = (element) => element.querySelectorAll(CONTROLS).length;
    need(own && (nodes.length === 1 || count(own) === 1), 'its label stands beside others');
    while (alikeOf(own).length < 2 && own.parentElement && count(own.parentElement) === 1) own = own.parentElement;
  }
  need(!own.matches('html, body, main') && own.parentNode, 'it has no siblings');
  const list = alikeOf(own);
  need(list.length > 1, 'it has no siblings');
  // What stands under a heading, or beside a label, is not moved away from it.
  need(![...own.parentNode.children].some((other) => !list.includes(other) && other.matches('h2, h3, h4, h5, h6, dt, legend, label')), 'its siblings are told apart by what stands between them');
  return list;
}

function reorder(c, makeOrder, says) {
  const list = siblings(c);
  const to = makeOrder(list);
  need(to.some((node, idx) => node !== list[idx]), 'the order would be the same');
  order(list, to);
  return `${list.length} ${list[0].localName} in ${says} order`;
}

/** Exchanges all texts of two items, so that each is now what the other was. */
function exchange(left, right) {
  const [here, there] = [[...slotsOf(left)], [...slotsOf(right)]];
  const isSame = here.length === there.length && here.every((slot, idx) => slot.attribute === there[idx].attribute && slot.node.localName === there[idx].node.localName);
  need(isSame && shapeOf(left) === shapeOf(right), 'no other item has the same parts');
  here.forEach((slot, idx) => { write(slot, there[idx].text); write(there[idx], slot.text); });
}

/** An element and all in it, through shadow roots and frames. */
function allIn(element) {
  const inside = insideOf(element);
  return [element, ...(inside ? elementsIn(inside) : []), ...elementsIn(element)];
}

function swapRowTexts(c) {
  const item = need(itemOf(c.target), 'it is in no item');
  const all = allIn(item);
  const others = alikeOf(item).filter((one) => one !== item && shapeOf(one) === shapeOf(item) && allIn(one).length === all.length);
  const other = need(c.pick(others), 'no other item has the same parts');
  const meant = allIn(other)[all.indexOf(c.target)];
  exchange(item, other);
  c.target = meant;
  return 'the texts of its item and of another one are exchanged';
}

const idsOf = (element) => ['id', ...TEST_IDS].filter((name) => element.getAttribute(name));

function giveIdAway(c) {
  const { target } = c;
  const names = need(idsOf(target).length && idsOf(target), 'it has no id');
  const given = names.map((name) => [name, target.getAttribute(name)]);
  // A copy that has them already gets none.
  const lacksAll = (other) => given.every(([name, value]) => other.getAttribute(name) !== value);
  const peer = need(c.pick(c.kin().filter(lacksAll)), 'nothing else of its kind lacks them');
  const id = `e${Math.floor(c.random() * 90000) + 10000}`;
  // First away from the target, so that what refers to it goes on referring to it.
  if (target.id) changeIds(c.root, (element) => (element === target ? id : undefined));
  for (const [name, value] of given) {
    if (name !== 'id') setAttribute(target, name, null);
    else if (peer.id) changeIds(c.root, (element) => (element === peer ? value : undefined));
    if (name !== 'id' || !peer.id) setAttribute(peer, name, value);
  }
  c.heir = peer;
  return `${given.map(([name]) => name).join(' and ')} went to ${words(peer)}`;
}

function renumberIds(c) {
  const by = c.chance() ? 1 : Math.floor(c.random() * 900) + 10;
  const next = (text) => text.replace(/\d+/g, (digits) => String(Number(digits) + by).padStart(digits.length, '0'));
  const isTestIds = c.chance();
  let count = 0;
  for (const tree of trees()) {
    count += changeIds(tree, (element) => (/\d/.test(element.id) ? next(element.id) : undefined));
    for (const name of isTestIds ? TEST_IDS : []) {
      for (const element of tree.querySelectorAll(`[${name}]`)) {
        if (/\d/.test(element.getAttribute(name))) count += 1, setAttribute(element, name, next(element.getAttribute(name)));
      }
    }
  }
  need(count, 'no id has digits');
  return `${count} ids have numbers higher by ${by}`;
}

function dropIds(c) {
  const isTestIds = c.chance();
  let count = 0;
  for (const tree of trees()) {
    count += changeIds(tree, (element, isReferred) => (isReferred ? `:r${Math.floor(c.random() * 1e6).toString(36)}:` : null));
    for (const name of isTestIds ? TEST_IDS : []) {
      for (const element of tree.querySelectorAll(`[${name}]`)) count += 1, setAttribute(element, name, null);
    }
  }
  need(count, 'there are no ids');
  return `no ids${isTestIds ? ' and test ids' : ''}, but generated ones where something refers to them`;
}

function swapLabels(c) {
  const place = placeOf(c.target);
  // A name that several texts make is no label of something that is made otherwise: nobody takes a heading for a card.
  const isMade = textsIn(c.target).length > 1;
  const isAlike = (other) => isSamePlace(place, placeOf(other)) && (!isMade || shapeOf(other) === shapeOf(c.target));
  const peer = need(c.pick(c.peers(isAlike)), 'nothing of its role is in the same place');
  const [own, others] = [words(c.target), words(peer)];
  need(own && !labelsOf(c.target).some((label) => labelsOf(peer).includes(label)), 'they have no names of their own');
  if (isMade) exchange(c.target, peer);
  else {
    rename(c.target, others);
    rename(peer, own);
  }
  c.former = c.target;
  c.target = peer;
  c.isSwapped = true;
  return `${own} and ${others} changed their names`;
}

function renameAndReuse(c) {
  const place = need(placeOf(c.target).length && placeOf(c.target), 'it is in no named place');
  const peer = need(c.pick(c.peers((other) => !keepsPlace(place, placeOf(other)))), 'nothing of its role is elsewhere');
  const own = words(c.target);
  rename(c.target, c.fresh(NAMES));
  rename(peer, own);
  return `it has a new name, and something elsewhere its old one`;
}

/** Whether the item is needed to say what is meant: another one holds the same. */
const hasTwins = (c, item) => c.old.alike > 1 && alikeOf(item).some((other) => other !== item && allIn(other).some((one) => roleOf(one) === c.old.role && namesOf(one).some((name) => c.old.names.includes(name))));

function renameRow(c) {
  const item = need(itemOf(c.target), 'it is in no item');
  need(hasTwins(c, item) && !isFrame(item), 'its item is not needed to tell it apart');
  const marks = marksOf(item, c.target);
  if (marks.length > 1 && c.chance()) {
    for (const text of marks.slice(1)) rewrite(item, text, c.like(text));
    c.lost = marks.slice(1);
    need([...slotsOf(item)].some((slot) => slot.text === marks[0]), 'its texts are parts of each other');
    return `its item is still called ${marks[0]}, but its other texts changed`;
  }
  // What others say too may be what a sentence names it by: the author of two posts.
  const said = new Set([...marks, ...saidIn(item, c.target).filter((text) => /\p{L}{3}/u.test(text))]);
  for (const text of said) rewrite(item, text, c.like(text));
  // A copy that was made before may have what the sentence names, too.
  c.lost = [...said].filter((text) => marks.includes(text) || c.said.some((named) => plain(named) === plain(text)));
  // What has an id of its own is still the same, though nobody can see it.
  const isKnown = idsOf(c.target).length + idsOf(item).length > 0;
  if (!isKnown) c.target = null;
  return `its item has other texts, ${isKnown ? 'and the same id' : 'and is not known any more'}`;
}

function neighbourTakesText(c) {
  const item = need(itemOf(c.target), 'it is in no item');
  need(hasTwins(c, item) && !isFrame(item), 'its item is not needed to tell it apart');
  const [mark] = marksOf(item, c.target);
  const other = need(c.pick(alikeOf(item).filter((one) => one !== item && shapeOf(one) === shapeOf(item))), 'it has no neighbour');
  const [from] = marksOf(other);
  const to = c.pick([`${mark} Jr.`, `${mark} II`, `New ${mark}`, `${mark}-B`]);
  need(from && rewrite(other, from, to), 'the neighbour has no text of its own');
  remove(item);
  c.target = null;
  return `its item is gone, and a neighbour is called ${to}`;
}

function nameSlot(target, isShort) {
  const bearers = isField(target) ? labelsOf(target) : [target];
  const texts = bearers.flatMap(textsIn).sort((left, right) => right.text.length - left.text.length);
  return need(texts[0] && (!isShort || texts[0].text.length < 60) && texts[0], 'its name is no text');
}

function badge(c) {
  need(!isField(c.target), 'fields have no counts');
  const slot = nameSlot(c.target, true);
  need(/\d\)?$/.test(slot.text.trim()) || !/\d$/.test(words(c.target).trim()), 'it has a count of its own');
  const number = Math.floor(c.random() * 8) + 1;
  const counted = / \((\d+)\)$/.exec(slot.text);
  if (counted) write(slot, slot.text.replace(/\(\d+\)$/, `(${Number(counted[1]) + number})`));
  // After a number, a badge without brackets would be read as a part of it.
  else if (/\d$/.test(slot.text) || c.chance()) write(slot, `${slot.text} (${number})`);
  else decorations.add(insertAfter(make(c.doc, 'span', { class: 'badge' }, ` ${number}`), slot.node));
  return `a count of ${number}`;
}

function decorate(c) {
  const slot = nameSlot(c.target, true);
  const sign = c.pick(isField(c.target) ? ['*', ':', ' ✎'] : ['★ ', ' →', ' …', '🗑 ', '+ ']);
  const node = c.doc.createTextNode(sign);
  const other = c.chance() ? make(c.doc, 'span', c.chance() ? { 'aria-hidden': 'true' } : {}) : null;
  if (other) other.append(node);
  decorations.add(other ?? node);
  insert(other ?? node, slot.node.parentNode, sign.startsWith(' ') || sign.length === 1 ? slot.node.nextSibling : slot.node);
  return `"${sign.trim()}" beside its name`;
}

function partialName(c) {
  const own = need(words(c.target), 'it has no name');
  const to = c.pick([`${own} all`, `${own} and close`, `Quick ${own.toLowerCase()}`]);
  const peer = c.pick(c.peers()) ?? fieldOf(twinNodes(c, movable(c)));
  // That would be the one that had the name at first, with a new name: nobody could see that another one had it in between.
  need(peer !== c.former, 'it would get back what the swap took');
  need(peer !== c.heir, 'with its id, it would be the one that was renamed');
  rename(peer, to);
  if (c.chance()) return `something else is called ${to}`;
  for (const node of whole(c.target)) remove(node);
  c.target = null;
  return `it is gone, and something else is called ${to}`;
}

function wrap(c, isNamed) {
  const nodes = movable(c);
  need(nodes.every((node) => node.parentNode === nodes[0].parentNode), 'its label stands elsewhere');
  const title = isNamed ? c.fresh(TITLES) : '';
  const isGroup = c.chance();
  const around = isNamed ? make(c.doc, isGroup ? 'div' : 'section', { 'aria-label': title, ...(isGroup ? { role: 'group' } : {}) }) : make(c.doc, c.pick(['div', 'section']));
  insert(around, nodes[0].parentNode, nodes[0]);
  if (isNamed && !isGroup) insert(make(c.doc, 'h3', {}, title), around);
  const inner = !isNamed && c.chance() ? insert(make(c.doc, 'div'), around) : around;
  for (const node of nodes) insert(node, inner);
  return isNamed ? `in a new part called ${title}` : 'in new elements without a name';
}

function unwrap(c) {
  // Scripts may listen to an element with an id, and need the size of one with a style.
  const isPlain = (one) => one.matches(':is(div, span):not([id], [style], [role], [aria-label])') && !rootOf(one);
  const plainOne = need([...around(c.target)].slice(0, 4).find((one) => isPlain(one) && one.ownerDocument === c.doc), 'what is around it means something');
  for (const child of [...plainOne.childNodes]) insert(child, plainOne.parentNode, plainOne);
  remove(plainOne);
  return 'without an element around it';
}

function move(c) {
  const nodes = movable(c);
  const { free, section } = elsewhere(c, true);
  const container = c.random() < 0.4 && free.length ? c.pick(free) : c.chance() ? section() : insert(make(c.doc, 'div'), c.ground);
  const name = spoken(c.target);
  for (const node of nodes) insert(node, container);
  if (container.getRootNode() !== c.root) takeName(c.target, name);
  return `moved into another ${container.localName}`;
}

/** Puts a frame or a component beside something, or at the end. */
function island(c, element, beside) {
  if (!beside) return insert(element, c.ground);
  need(!beside.parentNode.matches?.('ul, ol, dl, tr, tbody, table, select'), 'nothing else can stand there');
  return insert(element, beside.parentNode, beside);
}

function toFrame(c, isTwin) {
  const nodes = isTwin ? copies(c, movable(c)).made : movable(c);
  const name = spoken(c.target);
  const styles = [...c.doc.querySelectorAll('link[rel=stylesheet]')].map((link) => link.outerHTML).join('');
  const frame = make(c.doc, 'iframe', { title: 'Details', width: 400, height: 120, srcdoc: `<!doctype html><html lang="en"><head><title>Details</title>${styles}</head><body></body></html>` });
  c.waits.push(new Promise((done) => frame.addEventListener('load', done, { once: true })).then(() => {
    watch(frame.contentWindow);
    takeName(isTwin ? fieldOf(nodes) : c.target, name);
    for (const node of nodes) insert(node, frame.contentDocument.body);
  }));
  island(c, frame, isTwin ? null : nodes[0]);
  return isTwin ? 'a twin in a new frame' : 'moved into a new frame';
}

function toShadow(c, isTwin) {
  const nodes = isTwin ? copies(c, movable(c)).made : movable(c);
  const name = spoken(c.target);
  const mode = c.chance() ? 'open' : 'closed';
  const host = island(c, make(c.doc, `x-part-${Math.floor(c.random() * 90) + 10}`), isTwin ? null : nodes[0]);
  const root = host.attachShadow({ mode });
  // A document in a frame that was made by a page has its own `attachShadow`.
  if (!rootOf(host)) roots.set(host, root), watch(root);
  takeName(isTwin ? fieldOf(nodes) : c.target, name);
  for (const node of nodes) insert(node, root);
  return `${isTwin ? 'a twin' : 'moved'} in a new component with ${mode} root`;
}

function delay(c) {
  const place = placeOf(c.target);
  const nodes = movable(c).map((node) => ({ node, parent: node.parentNode, next: node.nextSibling }));
  const isTwin = place.length > 0 && c.chance();
  need(!nodes.some(({ node }) => isFrame(node) || node.querySelector('iframe')), 'a frame would be loaded again');
  c.late = () => {
    const section = isTwin ? c.section() : null;
    if (section) section.append(...copies(c, whole(c.target), false).made);
    for (const { node } of nodes) node.remove();
    setTimeout(() => {
      running.isAway = false;
      section?.remove();
      for (const { node, parent, next } of [...nodes].reverse()) parent.insertBefore(node, next?.parentNode === parent ? next : null);
    }, 250);
  };
  return `gone for 250 ms${isTwin ? ', while a twin is elsewhere' : ''}`;
}

function hide(c) {
  if (c.chance()) {
    const style = c.pick(['display: none !important', 'visibility: hidden !important']);
    for (const node of whole(c.target)) setAttribute(node, 'style', `${node.getAttribute('style') ?? ''}; ${style}`);
    c.target = null;
    return style.split(' !')[0];
  }
  const cover = make(c.doc, 'div', { style: 'position: fixed; inset: 0; z-index: 2147483647; background: #fffc' }, 'One moment');
  insert(cover, c.target.closest('dialog[open]') ?? (isShadow(c.root) ? c.root : c.doc.body));
  c.isCovered = true;
  return 'covered';
}

function disable(c) {
  need(isEnabled(c.target), 'it is disabled');
  if (c.target.matches('button, input, select, textarea')) setAttribute(c.target, 'disabled', '');
  else setAttribute(c.target, 'aria-disabled', 'true');
  return 'disabled';
}

/** A language that nobody knows: each letter has one that stands for it, so what differed still differs. */
function foreign(text) {
  const turn = (letter, letters) => letters[(letters.indexOf(letter) + 1) % letters.length];
  return [...text].map((letter) => {
    const low = letter.toLowerCase();
    if (!/[a-z]/.test(low)) return letter;
    const other = turn(low, /[aeiou]/.test(low) ? 'aeiou' : 'bcdfghjklmnpqrstvwxyz');
    return low === letter ? other : other.toUpperCase();
  }).join('');
}

function translate(c, isOthers) {
  const item = isOthers ? itemOf(c.target) : null;
  const kept = isOthers ? [c.target, ...labelsOf(c.target), ...referred(c.target), ...(item ? [item] : [])] : [];
  const slots = [...slotsOf(document)].filter((slot) => !kept.some((one) => isIn(slot, one)));
  for (const slot of slots) write(slot, foreign(slot.text));
  need(slots.some((slot) => foreign(slot.text) !== slot.text), 'there is nothing to translate');
  const dropped = !isOthers && c.chance() && trees().some((tree) => tree.querySelector('[id]')) ? `; ${dropIds(c)}` : '';
  return `${slots.length} texts are in another language${dropped}`;
}

function upperCase(c) {
  const slots = [...slotsOf(document)].filter((slot) => !slot.attribute && slot.text !== slot.text.toUpperCase());
  need(slots.length, 'there is nothing to write in capitals');
  for (const slot of slots) write(slot, slot.text.toUpperCase());
  return `${slots.length} texts in capitals`;
}

function reverseSections(c) {
  const PARTS = 'section, form, nav, header, footer, main, aside, article, div, ul, ol, table, fieldset, iframe';
  const parts = (parent) => [...parent.children].filter((child) => child.matches(PARTS));
  let parent = isShadow(c.root) ? c.root : c.doc.body;
  while (parent && parts(parent).length < 2) parent = parts(parent)[0];
  need(parent && ![...parent.children].some((child) => child.matches('h2, h3, h4, h5, h6')), 'there are no parts that could change places');
  order(parts(parent), parts(parent).reverse());
  return `${parts(parent).length} parts of the page in the other order`;
}

function entitle(section, title) {
  const slots = titlesOf(section).filter((slot) => isIn(slot, section));
  takeName(section, title);
  for (const slot of slots) write(slot, title);
  return slots.length;
}

function duplicateSection(c) {
  const section = need(sectionAround(c.target), 'it is in no section');
  need(!section.matches('dialog, [role=dialog], [role=alertdialog]') && !section.querySelector('iframe'), 'there is one dialog at a time');
  const { made: [clone], says } = copies(c, [section]);
  const title = c.fresh(TITLES);
  const isBefore = c.chance();
  const isList = !section.matches('section, form, fieldset, nav, aside, article, footer');
  const isNamed = entitle(clone, title) > 0;
  const around = isList || !isNamed ? make(c.doc, 'section', { 'aria-label': title }) : null;
  if (around) around.append(make(c.doc, 'h2', {}, title), clone);
  insert(around ?? clone, section.parentNode, isBefore ? section : section.nextSibling);
  return `a copy of its ${section.localName} ${isBefore ? 'before' : 'after'} it, called ${title}, ${says}`;
}

function renameSection(c) {
  const section = need(sectionAround(c.target, true), 'it is in no named section');
  const slots = titlesOf(section).filter((slot) => slot.node !== c.target && slot.node.parentElement !== c.target);
  const title = c.fresh(TITLES);
  need(slots.length, 'the name of its section is its own');
  for (const slot of slots) write(slot, title);
  return `its ${section.localName} is called ${title}`;
}

function retag(c) {
  const old = c.target;
  const role = need(['button', 'link'].includes(roleOf(old)) && !old.matches('summary') && roleOf(old), 'it has no other tag with the same meaning');
  need(!isFrame(old) && old.form === (old.closest('form') ?? old.form), 'its form is elsewhere');
  const isInput = old.localName === 'input';
  const other = isInput ? make(c.doc, 'button', { type: old.type === 'submit' ? 'submit' : 'button' }, shown(old)) : make(c.doc, role === 'link' ? 'span' : 'div', { role, tabindex: 0, style: 'display: inline-block' });
  for (const { name, value } of old.attributes) if (!['type', 'href', 'disabled', 'value', 'style', 'role', 'tabindex'].includes(name)) other.setAttribute(name, value);
  if (!isEnabled(old)) other.setAttribute('aria-disabled', 'true');
  const form = old.type === 'submit' ? old.form : null;
  replace(old, other);
  if (!isInput) other.addEventListener('click', () => (form ? form.requestSubmit() : old.click()));
  c.target = other;
  return `${old.localName} became ${other.localName}`;
}

function headingLevels(c) {
  const headings = [...c.root.querySelectorAll('h1, h2, h3, h4, h5')];
  need(headings.length, 'there are no headings');
  for (const heading of headings) {
    const other = make(c.doc, `h${Number(heading.localName[1]) + 1}`);
    for (const { name, value } of heading.attributes) other.setAttribute(name, value);
    replace(heading, other);
    if (heading === c.target) c.target = other;
  }
  return `${headings.length} headings one level lower`;
}

/** Puts what is in each item into new ones of other tags. */
function rebuild(c, list, tags, attributes) {
  const items = [...list.querySelectorAll('li, tr')].filter((item) => item.closest('ul, ol, table') === list && !item.querySelector('th'));
  const other = insert(make(c.doc, tags[0], attributes), list.parentNode, list);
  const body = tags[0] === 'table' ? insert(make(c.doc, 'tbody'), other) : other;
  for (const item of items) {
    const made = make(c.doc, tags[1]);
    for (const { name, value } of item.attributes) if (name !== 'role') made.setAttribute(name, value);
    insert(made, body);
    const cells = item.localName === 'tr' ? [...item.children] : [item];
    for (const cell of cells) {
      const place = insert(make(c.doc, tags[2]), made);
      for (const child of [...cell.childNodes]) insert(child, place);
    }
  }
  remove(list);
  return `${items.length} ${items[0].localName} became ${tags[1]}`;
}

function listToTable(c) {
  const item = need(c.target.closest('li:not([role])'), 'it is in no list');
  const list = need(item !== c.target && item.parentElement?.matches('ul:not([role]), ol:not([role])') && item.parentElement, 'it is in no list');
  return rebuild(c, list, ['table', 'tr', 'td'], list.hasAttribute('aria-label') ? { 'aria-label': list.getAttribute('aria-label') } : {});
}

function tableToList(c) {
  const row = need(!c.target.matches('td, th, tr') && c.target.closest('tr'), 'it is in no row');
  const table = need(!row.querySelector('th') && row.closest('table'), 'it is in the head of the table');
  const title = titlesOf(table)[0]?.text;
  return rebuild(c, table, ['ul', 'li', 'div'], title ? { 'aria-label': title } : {});
}

function renumber(c) {
  const item = need(itemOf(c.target), 'it is in no item');
  need(/\p{L}/u.test(marksOf(item, c.target)[0]), 'its item is known by a number');
  const isNumber = (text) => /^(#|No\. )?\d+[.)]?$/.test(text);
  const skip = (node) => node === c.target || labelsOf(c.target).includes(node);
  const slots = alikeOf(item).flatMap((one) => [...slotsOf(one, skip)]).filter((slot) => !slot.attribute && isNumber(slot.text));
  need(slots.length, 'there are no numbers');
  // None of the new numbers was on the page: who goes by a number finds it no more, or what it belonged to.
  const by = 200 + Math.floor(c.random() * 700);
  for (const slot of slots) write(slot, slot.text.replace(/\d+/, (digits) => String(Number(digits) + by)));
  return `${slots.length} numbers are higher by ${by}`;
}

function swapValues(c) {
  const kind = c.target.localName;
  need(kind === 'input' || kind === 'textarea', 'it holds no value');
  const key = ['checkbox', 'radio'].includes(c.target.type) ? 'checked' : 'value';
  need(!['radio', 'file', 'submit', 'button', 'reset', 'hidden', 'password'].includes(c.target.type), 'it holds no value');
  const peer = need(c.pick(c.peers((other) => other.localName === kind && other[key] !== c.target[key])), 'no other field holds another value');
  const [own, others] = [c.target[key], peer[key]];
  setProperty(c.target, key, others);
  setProperty(peer, key, own);
  return `it holds what ${words(peer)} held`;
}

function reorderOptions(c) {
  need(c.target.localName === 'select' && c.target.options.length > 1 && !c.target.querySelector('optgroup'), 'it has no options');
  const options = [...c.target.options];
  const chosen = options.map((option) => option.selected);
  order(options, options.toReversed());
  options.forEach((option, idx) => setProperty(option, 'selected', chosen[idx]));
  return 'its options in the other order';
}

function nestedTwin(c) {
  const { made } = copies(c, movable(c));
  // Nobody sees that a card is disabled.
  const isHidden = !c.target.matches(`${CONTROLS}, [role]`) || c.chance();
  for (const node of made) {
    for (const one of [node, ...node.querySelectorAll('*')]) {
      if (!isHidden) one.setAttribute(one.matches('button, input, select, textarea') ? 'disabled' : 'aria-disabled', 'true');
    }
    if (isHidden) node.style.display = 'none';
    insert(node, c.target.parentNode, c.chance() ? c.target : c.target.nextSibling);
  }
  return `a twin beside it that is ${isHidden ? 'hidden' : 'disabled'}`;
}

function twinDialog(c) {
  const { made, says } = copies(c, movable(c));
  const style = 'position: fixed; bottom: 0; right: 0; padding: 8px; background: #eee; z-index: 9';
  const dialog = make(c.doc, 'div', { role: 'dialog', 'aria-label': 'What is new', style });
  dialog.append(make(c.doc, 'p', {}, 'See what is new in this release.'), ...made);
  insert(dialog, isShadow(c.root) ? c.root : c.doc.body);
  return `a twin in a new dialog, ${says}`;
}

function newSibling(c) {
  need(['button', 'link'].includes(roleOf(c.target)), 'it is neither button nor link');
  const { made: [clone] } = copies(c, movable(c), false);
  insert(clone, c.target.parentNode, c.target);
  const name = c.fresh(NAMES);
  rename(clone, name);
  return `${name} before it`;
}

function relabel(c, isText) {
  need(!isField(c.target) && shown(c.target) && !c.target.hasAttribute('aria-labelledby'), 'it has no text of its own');
  const label = c.target.getAttribute('aria-label');
  if (!isText) {
    setAttribute(c.target, 'aria-label', c.fresh(NAMES));
    return 'another aria-label, the same text';
  }
  need(label, 'it has no aria-label');
  write(nameSlot(c.target), c.fresh(NAMES));
  return 'another text, the same aria-label';
}

function iconOnly(c) {
  need(['button', 'link'].includes(roleOf(c.target)), 'it is neither button nor link');
  const name = need(words(c.target), 'it has no name');
  const slot = nameSlot(c.target);
  need(textsIn(c.target).length === 1, 'its name has several parts');
  write(slot, '◆');
  setAttribute(c.target, 'aria-label', name);
  setAttribute(c.target, 'title', name);
  return 'an icon in place of its text';
}

function swapClasses(c) {
  const peer = need(c.pick(c.peers((other) => other.className !== c.target.className)), 'nothing of its kind has other classes');
  const [own, others] = [c.target.getAttribute('class'), peer.getAttribute('class')];
  setAttribute(c.target, 'class', others);
  setAttribute(peer, 'class', own);
  return `it has the classes of ${words(peer)}`;
}

function removeContainer(c) {
  const around = need(itemOf(c.target) ?? sectionAround(c.target), 'it is in no container');
  remove(around);
  c.target = null;
  return `its ${around.localName} is gone`;
}

function removeTarget(c) {
  for (const node of whole(c.target)) remove(node);
  c.target = null;
  return 'it is gone';
}

const CHANGES = {
  'twin-before': (c) => twin(c, true),
  'twin-after': (c) => twin(c, false),
  'twin-row-before': (c) => twinRow(c, true),
  'twin-row-after': (c) => twinRow(c, false),
  'twin-elsewhere': twinElsewhere,
  'twin-frame': (c) => toFrame(c, true),
  'twin-shadow': (c) => toShadow(c, true),
  'twin-dialog': twinDialog,
  'nested-twin': nestedTwin,
  'new-sibling': newSibling,
  'remove-container': removeContainer,
  'remove-target': removeTarget,
  'reorder-siblings': (c) => reorder(c, (list) => c.shuffled(list), 'another'),
  'reverse-siblings': (c) => reorder(c, (list) => list.toReversed(), 'the other'),
  'reverse-page-sections': reverseSections,
  'renumber-cells': renumber,
  'renumber-ids': renumberIds,
  'drop-ids': dropIds,
  'give-id-away': giveIdAway,
  'swap-classes': swapClasses,
  'swap-labels': swapLabels,
  'swap-row-texts': swapRowTexts,
  'swap-values': swapValues,
  'reorder-options': reorderOptions,
  rename: (c) => { rename(c.target, c.fresh(NAMES)); return 'another name'; },
  'rename-old-name-elsewhere': renameAndReuse,
  'rename-row': renameRow,
  'rename-section': renameSection,
  'neighbour-takes-row-text': neighbourTakesText,
  'partial-name': partialName,
  'count-badge': badge,
  decorate,
  'icon-only': iconOnly,
  'change-label': (c) => relabel(c, false),
  'change-text': (c) => relabel(c, true),
  'change-case': upperCase,
  translate: (c) => translate(c, false),
  'translate-others': (c) => translate(c, true),
  wrap: (c) => wrap(c, false),
  'wrap-named': (c) => wrap(c, true),
  unwrap,
  'move-elsewhere': move,
  'move-to-frame': (c) => toFrame(c, false),
  'move-to-shadow': (c) => toShadow(c, false),
  delay,
  hide,
  disable,
  'duplicate-section': duplicateSection,
  retag,
  'heading-levels': headingLevels,
  'list-to-table': listToTable,
  'table-to-list': tableToList,
};

// ---- What a person would say

/** These change nothing by which a person tells apart what has the same name and is in the same place. */
const QUIET = ['renumber-ids', 'drop-ids', 'give-id-away', 'swap-classes', 'wrap', 'unwrap', 'change-case', 'retag', 'heading-levels', 'reorder-options'];
/** What takes the target away, or waits, comes after what needs it. */
const LATER = ['remove-container', 'remove-target', 'rename-row', 'neighbour-takes-row-text', 'partial-name', 'hide', 'move-to-frame', 'twin-frame', 'delay'];

function describe(target) {
  const [role, names] = [roleOf(target), namesOf(target)];
  const bearers = bearersOf(role, names, target.localName);
  for (const element of around(target)) (isItem(element, target) ? items : surroundings).add(element);
  const place = placeOf(target);
  const item = itemOf(target);
  // What is read in an item beside the target, and on no other control: if it is no word, or comes later, the target's own name says which item it is.
  const isOther = (node) => node !== target && node.nodeType === 1 && node.matches('a, button, select, input');
  const mark = item && [...slotsOf(item, isOther)].find((slot) => !slot.attribute && /\p{L}/u.test(slot.text));
  const isMark = Boolean(mark) && [target, ...labelsOf(target)].some((one) => one.contains(mark.node));
  const isTold = target.localName === 'input' ? target.type : null;
  // A `summary` has no role: a step knows it by its text.
  const named = target.matches(CONTROLS) && target.localName !== 'summary' ? accessibleName(target) : null;
  return { role, names, named, tag: target.localName, type: isTold, shown: plain(words(target)), place, isMark, isInItem: Boolean(item), alike: bearers.length, here: bearers.filter((one) => isSamePlace(place, placeOf(one))).length };
}

/** Why a person would now take another element than the tracked one for the one that was meant; null if nobody would. */
function misleads(old, c, isAway = false) {
  const { target } = c;
  const isThere = target && !isAway && isVisible(target);
  const all = bearersOf(old.role, old.names, old.tag);
  const others = all.filter((one) => one !== target && !(target && (isWithin(one, target) || isWithin(target, one))));
  const here = others.filter((one) => isSamePlace(old.place, placeOf(one)));
  const isNamed = isThere && plain(words(target)) === old.shown;
  const isKept = isThere && isSamePlace(old.place, placeOf(target));
  // What went into a new frame, part or named section left its place to what is still there.
  const depth = (place) => place.filter((entry) => entry.kind !== 'item').length;
  const isDeeper = isThere && depth(placeOf(target)) > depth(old.place) && here.some((one) => depth(placeOf(one)) <= depth(old.place));
  // So did what was in no item and is in one.
  const isInside = isThere && !old.isInItem && itemOf(target) && here.some((one) => !itemOf(one));
  const hasLeft = isDeeper || isInside;
  if ((!(isNamed && isKept) || hasLeft) && here.length) return 'another element is in its place, with its name';
  // A sentence may have named its item by a text that only a copy of it still has.
  const isLost = (one) => itemOf(one) && [...slotsOf(itemOf(one))].some((slot) => c.lost.includes(slot.text));
  if (c.lost && others.some(isLost)) return 'only a copy has what its item was called by';
  // Of a copy and of what took the name from elsewhere nobody knows which is meant.
  if (c.isSwapped && here.length) return 'another element has the name that it took';
  if (isThere && (c.isCovered || !isEnabled(target)) && others.some(isEnabled) && (old.alike === 1 || here.length)) return 'another element of its name can be used';
  // The step says where it was if something else had the same name. If not, its name alone says it.
  if (!isAway && !isNamed && others.length && old.alike === 1 && !(isKept && old.place.length)) return 'only another element has its name';
  // A contact is who is called so, and not who was in the row.
  if (!isAway && !isNamed && old.isMark && old.alike === 1 && others.some((one) => itemOf(one))) return 'its name says which item it is';
  return null;
}

/** Whether a text can be read anywhere on the page. */
const isRead = (text) => ` ${[...slotsOf(document)].map((slot) => plain(slot.text)).join(' ')} `.includes(` ${plain(text)} `);

/** Whether the tracked element is called otherwise by now: whatever its ids, that is for a person to look at. */
const isRenamed = (old, { target }) => Boolean(target) && old.named !== null && accessibleName(target) !== old.named;

/** Whether a careful person would be certain that the tracked element is meant. */
function isObvious(old, c) {
  const { target } = c;
  if (!target || isRenamed(old, c) || !isVisible(target) || !isEnabled(target) || c.isCovered || roleOf(target) !== old.role) return false;
  if (plain(words(target)) !== old.shown) return false;
  if (!c.said.every(isRead)) return false;
  const place = placeOf(target);
  const items = (entries) => entries.filter((entry) => entry.kind === 'item');
  if (!keepsPlace(items(old.place), place)) return false;
  const others = bearersOf(old.role, old.names, old.tag).filter((one) => one !== target);
  const scope = itemOf(target) ?? sectionAround(target, true);
  if (others.some((one) => !scope || isWithin(one, scope))) return false;
  if (items(old.place).length && others.some((one) => keepsPlace(items(old.place), placeOf(one)))) return false;
  return !others.length || keepsPlace(old.place, place);
}

/** Changes the page. What can't be done, or would mislead a person, leaves it as it was. */
function apply({ address, said, changes, seed, case: name }) {
  undo.length = 0;
  running = null;
  const refused = (error) => {
    for (const back of undo.splice(0).reverse()) back();
    if (!(error instanceof Refusal) && !(error instanceof DOMException)) console.error(error);
    return { ok: false, reason: error.message, applied: [], obvious: false, tracked: false };
  };
  const finish = (c, old, applied) => {
    const reason = misleads(old, c) ?? (c.late ? misleads(old, c, true) : null);
    need(!reason, reason);
    const result = { ok: true, applied, obvious: isObvious(old, c), tracked: Boolean(c.target && isVisible(c.target)) };
    running = { name, tracked: isRenamed(old, c) ? null : c.target, known: new WeakSet(elementsIn(document)), isAway: Boolean(c.late) };
    c.late?.();
    return result;
  };
  try {
    const c = new Case(find(address), seed);
    // The texts that the sentence names, beside the target's own.
    c.said = said.filter(isRead);
    need(isVisible(c.target), 'it can\'t be seen');
    need(changes.every((change) => CHANGES[change]) && new Set(changes).size === changes.length, 'there are no such changes');
    // In a language that nobody knows, only the place is left to say which of the two it is.
    need(!(changes.includes('translate') && changes.includes('swap-labels')), 'nobody can read which name is whose');
    c.old = describe(c.target);
    need(c.old.here === 1 || changes.every((change) => QUIET.includes(change)), 'only what is around it tells it from another');
    for (const tree of trees()) if (tree.defaultView && !tree.defaultView.__adversary) watch(tree);
    const words = new Map();
    for (const change of changes.toSorted((left, right) => LATER.indexOf(left) - LATER.indexOf(right))) {
      need(c.target, 'nothing is left to change');
      words.set(change, `${change}: ${CHANGES[change](c)}`);
    }
    const applied = changes.map((change) => words.get(change));
    need(!c.late || !c.waits.length, 'it can\'t be put back where it was');
    if (!c.waits.length) return finish(c, c.old, applied);
    return Promise.all(c.waits).then(() => finish(c, c.old, applied)).catch(refused);
  } catch (error) {
    return refused(error);
  }
}

/** Makes the first of several drawn changes that can be made. */
async function applyOne(asked, draws) {
  const all = Object.keys(CHANGES);
  let answer = null;
  for (const draw of draws) {
    answer = await apply({ ...asked, changes: draw.map((pick) => (typeof pick === 'string' ? pick : all[pick % all.length])) });
    if (answer.ok) return answer;
  }
  return answer;
}

window.__adversary = { applyOne, report, rootOf: (host) => roots.get(host) };
})();
