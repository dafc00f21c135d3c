// What can be asked from outside. Everything else in these files is hidden.

const MOST_NODES = 50000;
const MOST_TREES = 1000;
const owners = new WeakMap();
let last = null;
const begin = performance.now();
let lastChange = begin;

new MutationObserver(() => { lastChange = performance.now(); })
  .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });

/** The child with the most elements in it, as long as it has more than half of all. */
function largestSubtree(root) {
  let at = root;
  for (;;) {
    const sizes = [...at.children].map((child) => [child, child.getElementsByTagName('*').length + 1]);
    const all = sizes.reduce((sum, [, size]) => sum + size, 0);
    const [child, size] = sizes.reduce((most, next) => (next[1] > most[1] ? next : most), [null, 0]);
    if (!child || size * 2 <= all) return at;
    at = child;
  }
}

function documentOf(nodes, id) {
  const page = document.scrollingElement || document.documentElement;
  return {
    url: document.URL, title: document.title, documentId: `${performance.timeOrigin}${id}`,
    viewport: [innerWidth, innerHeight], scroll: [Math.round(scrollX), Math.round(scrollY)],
    size: [page.scrollWidth, page.scrollHeight], nodes,
  };
}

/**
 * Walks the document. `options` are { testIdAttribute, root?, clip?, isFrame, isCovered } with clip as
 * [left, top, right, bottom].
 * Answers one text: a line that says what else there is to ask, then a line for each document: this one, then each
 * closed root. With too many elements, the line alone.
 */
function capture(options) {
  const root = options.root ? document.querySelector(options.root) : document.body;
  if (!root) return JSON.stringify({ missing: options.root ?? 'body' });
  const count = root.getElementsByTagName('*').length;
  if (count > MOST_NODES) return JSON.stringify({ tooLarge: count, largest: absolutePath(largestSubtree(root)) });
  const walk = new Walk(options);
  forgetNames();
  const page = getComputedStyle(document.documentElement);
  const around = {
    parent: undefined, isRendered: true, isRoot: true, isInert: false, isAriaHidden: false, isDisabled: false,
    opacity: Number(page.opacity), style: page, focused: document.activeElement === document.body ? null : document.activeElement,
    place: [], isPinned: false, limits: startingLimits(options.clip), isShowing: true, isShown: true, isAllOrNotInView: false,
    depth: 0,
  };
  walk.element(root, absolutePath(root), around, true, 0);
  const parts = [walk.nodes];
  const closed = [];
  for (let next = walk.closed.shift(); next; next = walk.closed.shift()) {
    if (parts.length > 200) break;
    closed.push(pathsTo(next.host));
    walk.nodes = [];
    walk.list(next.root, next.around, '/');
    parts.push(walk.nodes);
  }
  walk.finish();
  last = { walk, parts, closed, count };
  return options.isFrame && walk.points.length ? waitingText() : wholeText();
}

function header(more) {
  const { walk, closed, count } = last;
  return JSON.stringify({
    count,
    frames: walk.frames.map(({ element, node, path, content, clip }) => (
      { key: owners.get(element) ?? null, path, content, clip, isCovered: node.isTopElement === false })),
    closed, suspects: walk.suspects.length, hasRoots: walk.hasRoots, ...more,
  });
}

function wholeText() {
  const { parts, closed } = last;
  const lines = parts.map((nodes, idx) => JSON.stringify(documentOf(nodes, idx ? `/${closed[idx - 1].join(' ')}` : '')));
  return [header({}), ...lines].join('\n');
}

/** Only where the pointer reached what: the documents around must say whether it gets there. */
function waitingText() {
  return header({ points: last.walk.points.map(({ point }) => point.map(Math.round)) });
}

/** The rest of a capture, once the documents around have said which of its points they let through. */
function finish(reached) {
  last.walk.points.forEach(({ node }, idx) => { if (reached[idx] !== '1') node.isTopElement = false; });
  return wholeText();
}

/** For each point: is the frame of this key what a pointer reaches there? As a text of ones and zeros. */
function reaches(key, points) {
  const entry = last.walk.frames.find(({ element }) => owners.get(element) === key);
  if (!entry) return '0'.repeat(points.length);
  const [left, top] = entry.content;
  return points.map(([x, y]) => (deepest(x + left, y + top) === entry.element ? '1' : '0')).join('');
}

/** The elements that may host a root which can't be seen from here; asked for once. */
function suspects() {
  const elements = last ? last.walk.suspects.slice(0, 200) : [];
  for (const element of elements) asked.add(element);
  return elements;
}

/** Every root in the document that is known. */
function roots() {
  const found = [document];
  for (let idx = 0; idx < found.length && found.length < MOST_TREES; idx += 1) {
    for (const element of found[idx].querySelectorAll('*')) {
      const root = shadowOf(element);
      if (root) found.push(root);
    }
  }
  return found.slice(1, MOST_TREES);
}

const api = Object.freeze({
  mark, capture, finish, reaches, suspects, roots, look, aim, holds, isAsCaptured, takesFocus, isClosedAway, arm, disarm, enter, advance, rewind, markBegin, goBackToBegin,
  own: (owner, key) => { owners.set(owner, key); },
  open: (root) => { if (root.host && root.mode === 'closed') closedRoots.set(root.host, root); },
  listen: (node) => { listening.add(node); },
  /** How many milliseconds the document has been as it is, and whether it never was otherwise since it is watched. */
  quiet: () => [performance.now() - lastChange, lastChange === begin],
});
Object.defineProperty(globalThis, 'cuecard', { value: api });
return true;
