// Where an element is, and how much of it can be seen: now (`port`), or after scrolling (`reach`).
// A region is [left, top, right, bottom] in client coordinates of the document.

const EMPTY = [0, 0, 0, 0];
const isEmpty = (region) => region[2] <= region[0] || region[3] <= region[1];

function both(one, other) {
  return [Math.max(one[0], other[0]), Math.max(one[1], other[1]), Math.min(one[2], other[2]), Math.min(one[3], other[3])];
}

function regionOf(rect) {
  return [rect.left, rect.top, rect.right, rect.bottom];
}

/** As `[x, y, width, height]` in whole pixels. */
function toRect(region) {
  const left = Math.round(region[0]);
  const top = Math.round(region[1]);
  return [left, top, Math.max(0, Math.round(region[2]) - left), Math.max(0, Math.round(region[3]) - top)];
}

/** What limits elements in the flow, absolute ones and fixed ones. `clip` is the part of the viewport that an outer
 * document shows, as a region, or null. */
function startingLimits(clip) {
  const whole = [0, 0, innerWidth, innerHeight];
  const port = clip ? both(whole, clip) : whole;
  const page = document.scrollingElement || document.documentElement;
  const reach = [-scrollX, -scrollY, Math.max(page.scrollWidth, innerWidth) - scrollX, Math.max(page.scrollHeight, innerHeight) - scrollY];
  const flow = { reach, port };
  return { flow, absolute: flow, fixed: { reach: whole, port } };
}

function limitOf(limits, element, position) {
  if (position === 'absolute') return limits.absolute;
  if (position !== 'fixed') return limits.flow;
  // A transformed ancestor holds what is fixed, too.
  for (let at = flatParent(element); at && at.nodeType === Node.ELEMENT_NODE; at = flatParent(at)) {
    if (getComputedStyle(at).transform !== 'none') return limits.flow;
  }
  return limits.fixed;
}

/** The limits for what is inside of `element`, whose own limit is `own`. */
function limitsInside(limits, own, element, style, display, position, rect) {
  let flow = own;
  if (display !== 'inline' && style.overflowX !== 'visible' && element !== document.body && element !== document.documentElement) {
    const box = [rect.left + element.clientLeft, rect.top + element.clientTop,
      rect.left + element.clientLeft + element.clientWidth, rect.top + element.clientTop + element.clientHeight];
    flow = { reach: insideReach(own, element, style, box), port: both(own.port, axisBox(style, box)) };
  }
  if (position !== 'static') return { flow, absolute: flow, fixed: limits.fixed };
  return flow === limits.flow ? limits : { flow, absolute: limits.absolute, fixed: limits.fixed };
}

/** `overflow: visible` beside `clip` on the other axis doesn't clip. */
function axisBox(style, box) {
  return [style.overflowX === 'visible' ? -1e9 : box[0], style.overflowY === 'visible' ? -1e9 : box[1],
    style.overflowX === 'visible' ? 1e9 : box[2], style.overflowY === 'visible' ? 1e9 : box[3]];
}

const canScroll = (overflow) => overflow === 'auto' || overflow === 'scroll';

function insideReach(own, element, style, box) {
  if (!canScroll(style.overflowX) && !canScroll(style.overflowY)) return both(own.reach, axisBox(style, box));
  // A scroller that nobody can see shows nothing, however it is scrolled.
  if (isEmpty(both(own.reach, box))) return EMPTY;
  const left = box[0] - element.scrollLeft;
  const top = box[1] - element.scrollTop;
  const isLeftward = style.direction === 'rtl';
  const wide = isLeftward ? [box[2] - element.scrollLeft - element.scrollWidth, box[2] - element.scrollLeft] : [left, left + element.scrollWidth];
  const across = canScroll(style.overflowX) ? wide : [box[0], box[2]];
  const down = canScroll(style.overflowY) ? [top, top + element.scrollHeight] : [box[1], box[3]];
  return [across[0], down[0], across[1], down[1]];
}

/** Does `clip` or `clip-path` leave nothing of it? The usual ways to hide from sight only. */
function isClippedAway(style) {
  const clip = style.clip;
  // It has no effect on what is in the flow.
  if (clip && clip.startsWith('rect(') && (style.position === 'absolute' || style.position === 'fixed')) {
    const [top, right, bottom, left] = clip.slice(5).split(',').map((text) => Number.parseFloat(text));
    if (right - left <= 0 || bottom - top <= 0) return true;
  }
  const path = style.clipPath;
  if (!path || path === 'none') return false;
  const inset = /^inset\(([\d.]+)%/.exec(path);
  return Boolean(inset && Number(inset[1]) >= 50) || /^circle\(0(px|%)?[ )]/.test(path) || /^polygon\(0px 0px(, 0px 0px)*\)/.test(path);
}

/** The box of an `area`, which has none of its own: that of its shape, on the image that uses its map. */
function areaRegion(area) {
  const map = area.closest('map');
  const image = map && map.name ? area.getRootNode().querySelector(`img[usemap="#${CSS.escape(map.name)}"]`) : null;
  if (!image) return EMPTY;
  const around = regionOf(image.getBoundingClientRect());
  const numbers = (area.getAttribute('coords') || '').split(',').map((text) => Number.parseFloat(text)).filter((number) => !Number.isNaN(number));
  if (area.shape === 'default' || numbers.length < 3) return around;
  if (area.shape === 'circle') {
    const [x, y, radius] = numbers;
    return both(around, [around[0] + x - radius, around[1] + y - radius, around[0] + x + radius, around[1] + y + radius]);
  }
  const across = numbers.filter((_, idx) => idx % 2 === 0);
  const down = numbers.filter((_, idx) => idx % 2 === 1);
  return both(around, [around[0] + Math.min(...across), around[1] + Math.min(...down), around[0] + Math.max(...across), around[1] + Math.max(...down)]);
}

/** The largest part within `limit` of an element that may be broken into several boxes. */
function largestPart(element, limit) {
  let best = EMPTY;
  let most = 0;
  for (const rect of element.getClientRects()) {
    const part = both(regionOf(rect), limit);
    const size = isEmpty(part) ? 0 : (part[2] - part[0]) * (part[3] - part[1]);
    if (size > most) {
      most = size;
      best = part;
    }
  }
  return best;
}

/** The content box of a frame's owner. */
function contentRect(owner, rect, style) {
  const number = (text) => Number.parseFloat(text) || 0;
  const left = rect.left + owner.clientLeft + number(style.paddingLeft);
  const top = rect.top + owner.clientTop + number(style.paddingTop);
  const width = owner.clientWidth - number(style.paddingLeft) - number(style.paddingRight);
  const height = owner.clientHeight - number(style.paddingTop) - number(style.paddingBottom);
  return [left, top, left + width, top + height];
}
