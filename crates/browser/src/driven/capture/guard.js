// Whether an element and its item still say what they said when they were chosen, at the moment at which it is acted on: a
// page may keep its elements and write another row into them.

const GUARDED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'keydown', 'keyup', 'beforeinput'];

/** `{ element, own, item, text, isBroken, isDone }`; null when nothing is guarded. */
let armed = null;

const lettersOf = (text) => (text.normalize('NFKC').toLowerCase().match(/\p{L}+/gu) ?? []).join('');
const signsOf = (text) => (text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join('');

const saysItself = ({ element, own }) => lettersOf(element.textContent).includes(own);
const saysItsItem = ({ item, text }) => !item || signsOf(item.textContent).includes(text);

/** Only the first event of an action is asked about: what it does to the page is its own business. */
function guard(event) {
  if (!armed || !event.isTrusted || armed.isDone) return;
  const isElsewhere = event.type === 'beforeinput' && !event.composedPath().includes(armed.element);
  armed.isBroken ||= isElsewhere || !saysItself(armed) || !saysItsItem(armed);
  if (!armed.isBroken) armed.isDone = true;
  else {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

/** Watches over the element at `paths`. `wanted`, as JSON: its own text, and the paths and the text of its item. False if they are not so now. */
function arm(paths, wanted) {
  const { own, item, text } = JSON.parse(wanted);
  const next = { element: find(paths), own: lettersOf(own), item: item ? find(item) : null, text: signsOf(text ?? ''), isBroken: false, isDone: false };
  if (!next.element || (item && !next.item)) return false;
  // What shadow roots show is in no element's text.
  const hasRoots = Boolean(last?.walk.hasRoots);
  if (!saysItself(next)) {
    if (!hasRoots) return false;
    next.own = '';
  }
  if (!saysItsItem(next)) {
    if (!hasRoots) return false;
    next.item = null;
  }
  if (!armed) for (const type of GUARDED) window.addEventListener(type, guard, true);
  armed = next;
  return true;
}

/** Ends the watch. Was an event kept from the page? */
function disarm() {
  if (!armed) return false;
  for (const type of GUARDED) window.removeEventListener(type, guard, true);
  const { isBroken } = armed;
  armed = null;
  return isBroken;
}
