// Scrolling in search of an element that is not rendered yet.

/** Everything that scrolls up and down: parts of the page in view, open roots included, then the page itself. */
function scrollers() {
  const found = [];
  const waiting = [document.documentElement];
  let looked = 0;
  for (let element = waiting.pop(); element && looked < MOST_NODES; element = waiting.pop()) {
    looked += 1;
    const root = shadowOf(element);
    waiting.push(...element.children, ...(root ? root.children : []));
    if (element.scrollHeight <= element.clientHeight + 1 || element.clientHeight < 20) continue;
    if (canScroll(getComputedStyle(element).overflowY) && element !== document.scrollingElement) found.push(element);
  }
  const page = document.scrollingElement || document.documentElement;
  return [...found.slice(0, 50), page];
}

/** Scrolls each of them by most of what it shows: 1 is down, -1 up. Answers whether any moved. */
function advance(direction) {
  return scrolled((element) => {
    const height = element === document.scrollingElement ? innerHeight : element.clientHeight;
    element.scrollBy({ top: direction * height * 0.8, behavior: 'instant' });
  });
}

/** Scrolls all of them back to their beginnings. Answers whether any moved. */
function rewind() {
  return scrolled((element) => element.scrollTo({ top: 0, behavior: 'instant' }));
}

/** Where each of them was when a search began. */
let began = [];

/** Keeps where each of them is. */
function markBegin() {
  began = scrollers().map((element) => [element, element.scrollTop]);
  return false;
}

/** Scrolls those that are still there back to where the search began. Answers whether any moved. */
function goBackToBegin() {
  let hasMoved = false;
  for (const [element, top] of began) {
    hasMoved = hasMoved || element.scrollTop !== top;
    element.scrollTo({ top, behavior: 'instant' });
  }
  return hasMoved;
}

function scrolled(scroll) {
  let hasMoved = false;
  for (const element of scrollers()) {
    const before = element.scrollTop;
    scroll(element);
    hasMoved = hasMoved || element.scrollTop !== before;
  }
  return hasMoved;
}
