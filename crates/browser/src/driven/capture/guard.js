// Whether an element and its item still say what they said when they were chosen, at the moment at which it is acted on: a
// page may keep its elements and write another row into them.

const GUARDED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'keydown', 'keyup', 'beforeinput'];

/** What is watched over, `{ element, own, item, text }` each: first what is acted on. Empty when nothing is guarded. */
let armed = [];
/** Whether an event was kept from the page, and whether one came to it. */
let isBroken = false;
let isDone = false;

const lettersOf = (text) => (text.normalize('NFKC').toLowerCase().match(/\p{L}+/gu) ?? []).join('');
const signsOf = (text) => (text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join('');

const saysItself = ({ element, own }) => lettersOf(element.textContent).includes(own);
const saysItsItem = ({ item, text }) => !item || signsOf(item.textContent).includes(text);

/** Only the first event of an action is asked about: what it does to the page is its own business. */
function guard(event) {
  if (!armed.length || !event.isTrusted || isDone) return;
  // Playwright looks after a click, but not after the press that begins a drag.
  const mustBeHit = event.type === 'beforeinput' || (armed.length > 1 && event.type === 'pointerdown');
  const isElsewhere = mustBeHit && !event.composedPath().includes(armed[0].element);
  isBroken ||= isElsewhere || !armed.every((one) => saysItself(one) && saysItsItem(one));
  if (!isBroken) isDone = true;
  else {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

/** What is to be watched over at `paths`: null if it does not say so now. */
function watched(paths, { own, item, text }) {
  const one = { element: find(paths), own: lettersOf(own), item: item ? find(item) : null, text: signsOf(text ?? '') };
  if (!one.element || (item && !one.item)) return null;
  // What shadow roots show is in no element's text.
  const hasRoots = Boolean(last?.walk.hasRoots);
  if (!saysItself(one)) {
    if (!hasRoots) return null;
    one.own = '';
  }
  if (!saysItsItem(one)) {
    if (!hasRoots) return null;
    one.item = null;
  }
  return one;
}

/**
 * Watches over the element at `paths`. `wanted`, as JSON: its own text, the paths and the text of its item, and `also` the
 * same of another element with its paths. False if they are not so now.
 */
function arm(paths, wanted) {
  const { also, ...own } = JSON.parse(wanted);
  const all = [watched(paths, own), ...(also ? [watched(also.paths, also)] : [])];
  if (all.includes(null)) return false;
  if (!armed.length) for (const type of GUARDED) window.addEventListener(type, guard, true);
  armed = all;
  isBroken = isDone = false;
  return true;
}

/** Ends the watch. Was an event kept from the page? */
function disarm() {
  for (const type of GUARDED) window.removeEventListener(type, guard, true);
  const wasBroken = armed.length > 0 && isBroken;
  armed = [];
  return wasBroken;
}
