// Why an element can't be used, and where to press one that selectors can't reach.

/** The element at XPaths through open roots and closed ones that are known. */
function find(paths) {
  let tree = document;
  let element = null;
  for (const path of paths) {
    element = tree ? elementAt(tree, path) : null;
    if (!element) return null;
    tree = shadowOf(element);
  }
  return element;
}

/** What stands in the way, in words: its role or tag, and its name. */
function described(element) {
  const role = roleOf(element) || tagOf(element);
  const name = nameOf(element, roleOf(element)) || fold(element.textContent).slice(0, 60);
  const id = element.id ? ` #${element.id}` : '';
  return name ? `${role} ${JSON.stringify(name)}${id}` : `${role}${id}`;
}

/** As JSON: `{ found, isVisible, isEnabled, isEditable, isHit, isDownload, by?, over?, options? }`. */
function look(paths) {
  forgetNames();
  const element = find(paths);
  if (!element) return JSON.stringify({ found: false });
  const rect = element.getBoundingClientRect();
  const region = both(regionOf(rect), [0, 0, innerWidth, innerHeight]);
  const isVisible = rect.width > 0 && rect.height > 0 && element.checkVisibility({ visibilityProperty: true });
  const around = [];
  for (let at = element; at; at = flatParent(at)) around.push(at);
  const isDisabled = element.matches(':disabled') || around.some((at) => at.getAttribute && at.getAttribute('aria-disabled') === 'true');
  const point = isEmpty(region) ? null : hitPoint(element, region);
  const isDownload = Boolean(element.closest('a[download]'));
  const answer = { found: true, isVisible, isEnabled: !isDisabled, isEditable: isEditable(element), isHit: point !== null, isDownload };
  if (!point && !isEmpty(region)) {
    const [x, y] = pointsOf(region)[0];
    const over = deepest(x, y);
    if (over) {
      answer.by = described(over);
      let outer = over;
      while (outer.getRootNode().host) outer = outer.getRootNode().host;
      answer.over = absolutePath(outer);
    }
  }
  if (element.localName === 'select') {
    answer.options = Array.from(element.options, (option) => [fold(option.label), option.value, option.matches(':disabled')]);
  }
  return JSON.stringify(answer);
}

/** Scrolls to the element and answers, as JSON, where to press it, or null when it can't be pressed now. */
function aim(paths) {
  const element = find(paths);
  if (!element) return 'null';
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  if (element.matches(':disabled')) return 'null';
  const region = both(regionOf(element.getBoundingClientRect()), [0, 0, innerWidth, innerHeight]);
  return JSON.stringify(isEmpty(region) ? null : hitPoint(element, region));
}

/** Is what is at these XPaths what was captured there? Not, if the page put another element in its place since. */
function isAsCaptured(paths) {
  if (!last) return true;
  let path = '';
  for (let at = find(paths); at && places.has(at); at = at.parentElement) {
    const step = places.get(at);
    const isWhole = step.startsWith('/');
    path = (isWhole ? step : `/${step}`) + path;
    if (isWhole) break;
  }
  return path === paths.at(-1);
}

/** What a field holds equals `text`: asked here, so that it isn't told. */
function holds(paths, text) {
  const element = find(paths);
  return Boolean(element) && ('value' in element ? element.value : element.innerText) === text;
}

function focused() {
  let at = document.activeElement;
  while (at && shadowOf(at)?.activeElement) at = shadowOf(at).activeElement;
  return at === document.body ? null : at;
}

/** Gives an element the focus. Does a key go to it then, to what is in it, or to what it hands the focus to? */
function takesFocus(paths) {
  const element = find(paths);
  const before = focused();
  element?.focus({ preventScroll: true });
  const after = focused();
  for (let at = after; at; at = flatParent(at)) if (at === element) return true;
  return Boolean(after) && after !== before;
}

/** Is one of the roots on the way closed? Selectors can't enter it. */
function isClosedAway(paths) {
  let tree = document;
  for (const path of paths) {
    const element = tree ? elementAt(tree, path) : null;
    if (!element) return false;
    if (tree.mode === 'closed') return true;
    tree = shadowOf(element);
  }
  return false;
}

/** As JSON: the key of the frame that an owner holds, and where its content begins; null when it is none. */
function enter(paths) {
  const owner = find(paths);
  const key = owner ? owners.get(owner) : undefined;
  if (!key) return 'null';
  const [left, top] = contentRect(owner, owner.getBoundingClientRect(), getComputedStyle(owner));
  return JSON.stringify({ key, left, top });
}
