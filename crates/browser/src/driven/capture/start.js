// The walk of a page: what a person could see and use of it, as data. These files are one script: it runs in a world of
// its own beside the page (same document, other globals), reads only, and leaves nothing that the page could notice.

// What is remembered of a document between two walks. Nothing here keeps an element alive.
const nodeIds = new WeakMap();
let lastNodeId = 0;
/** Roots that `shadowRoot` doesn't tell, by their host: DevTools told. */
const closedRoots = new WeakMap();
/** Elements with a listener for pressing, as DevTools told. */
const listening = new WeakSet();
/** Fields that were for a password once: what is in them stays a secret when it is shown. */
const everSecret = new WeakSet();

const LONGEST_NAME = 1000;
const LONGEST_TEXT = 2000;
const MOST_OPTIONS = 200;

function nodeId(element) {
  let id = nodeIds.get(element);
  if (id === undefined) {
    lastNodeId += 1;
    id = lastNodeId;
    nodeIds.set(element, id);
  }
  return id;
}

function shadowOf(element) {
  return element.shadowRoot || closedRoots.get(element) || null;
}

/** The parent in the flat tree: the slot that an element is shown in, or the host of its root. */
function flatParent(node) {
  if (node.assignedSlot) return node.assignedSlot;
  const parent = node.parentNode;
  if (!parent) return null;
  if (parent.nodeType === Node.DOCUMENT_FRAGMENT_NODE) return parent.host || null;
  return parent;
}

function isWithin(node, ancestor) {
  for (let at = node; at; at = flatParent(at)) if (at === ancestor) return true;
  return false;
}

function fold(text) {
  const trimmed = text.trim();
  return /[^\S ]| {2}/.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed;
}

/** An element by its id, in the tree that `element` is in. */
function byId(element, id) {
  const root = element.getRootNode();
  return root.getElementById ? root.getElementById(id) : null;
}

function referenced(element, attribute) {
  const value = element.getAttribute(attribute);
  if (!value) return [];
  return value.split(/\s+/).filter(Boolean).map((id) => byId(element, id)).filter(Boolean);
}

const HTML = 'http://www.w3.org/1999/xhtml';
const isHtml = (element) => element.namespaceURI === HTML;
const tagOf = (element) => (isHtml(element) ? element.localName : element.nodeName.toLowerCase());
