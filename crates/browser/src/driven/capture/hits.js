// What a pointer would hit: asked of the browser where it can be seen, from the order of painting elsewhere.

/** The innermost element at a point, through shadow roots. */
function deepest(x, y) {
  let found = document.elementFromPoint(x, y);
  while (found) {
    const root = shadowOf(found);
    const inner = root ? root.elementFromPoint(x, y) : null;
    if (!inner || inner === found || inner.getRootNode() !== root) return found;
    found = inner;
  }
  return null;
}

/** Five points of a region: its centre, then near its corners. */
function pointsOf(region) {
  const [left, top, right, bottom] = region;
  const across = Math.min(4, (right - left) / 4);
  const down = Math.min(4, (bottom - top) / 4);
  return [
    [(left + right) / 2, (top + bottom) / 2], [left + across, top + down], [right - across, top + down],
    [left + across, bottom - down], [right - across, bottom - down],
  ];
}

/** Does what was hit belong to `element`: itself, something in it, or its label? */
function belongs(hit, element) {
  for (let at = hit; at; at = flatParent(at)) {
    if (at === element) return true;
    if (at.localName === 'label' && at.control === element) return true;
  }
  return element.localName === 'area' && hit.localName === 'img';
}

/** The first point of `region` at which the pointer reaches `element`, or null. */
function hitPoint(element, region) {
  for (const [x, y] of pointsOf(region)) {
    const hit = deepest(x, y);
    if (hit && belongs(hit, element)) return [x, y];
  }
  return null;
}

// Out of view nothing is at a point. There, what is positioned is compared by the order of painting: an element is
// covered when something painted later lies over its centre.

const BAND = 200;

/** The positioned elements out of view, in bands of the page. */
class Painted {
  constructor() {
    this.bands = new Map();
    this.order = 0;
  }

  /** The place in the order of painting of a positioned element, below that of what it is in. */
  place(around, style) {
    this.order += 1;
    const level = Number.parseInt(style.zIndex, 10);
    return [...around, [Number.isNaN(level) ? 0 : level, this.order]];
  }

  add(element, region, place) {
    const last = Math.min(Math.floor(region[3] / BAND), Math.floor(region[1] / BAND) + 500);
    for (let band = Math.floor(region[1] / BAND); band <= last; band += 1) {
      const known = this.bands.get(band);
      const entry = { element, region, place };
      if (known) known.push(entry);
      else this.bands.set(band, [entry]);
    }
  }

  covers(element, region, place) {
    const x = (region[0] + region[2]) / 2;
    const y = (region[1] + region[3]) / 2;
    const near = this.bands.get(Math.floor(y / BAND));
    if (!near) return false;
    return near.some((other) => other.region[0] <= x && x < other.region[2] && other.region[1] <= y && y < other.region[3]
      && isAbove(other.place, place) && !isWithin(other.element, element) && !isWithin(element, other.element));
  }
}

function isAbove(one, other) {
  for (let idx = 0; idx < one.length; idx += 1) {
    // Painted on top of what it is in, unless it is sent behind.
    if (idx >= other.length) return one[idx][0] >= 0;
    if (one[idx][0] !== other[idx][0]) return one[idx][0] > other[idx][0];
    if (one[idx][1] !== other[idx][1]) return one[idx][1] > other[idx][1];
  }
  return false;
}
