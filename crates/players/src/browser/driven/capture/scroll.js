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

/** Scrolls each of them down by most of what it shows. Answers whether any moved. */
function advance() {
  let hasMoved = false;
  for (const element of scrollers()) {
    const before = element.scrollTop;
    const height = element === document.scrollingElement ? innerHeight : element.clientHeight;
    element.scrollBy({ top: height * 0.8, behavior: 'instant' });
    hasMoved = hasMoved || element.scrollTop !== before;
  }
  return hasMoved;
}

/** Scrolls all of them back to their beginnings. Answers whether any moved. */
function rewind() {
  let hasMoved = false;
  for (const element of scrollers()) {
    hasMoved = hasMoved || element.scrollTop > 0;
    element.scrollTo({ top: 0, behavior: 'instant' });
  }
  return hasMoved;
}
