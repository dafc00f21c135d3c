// The walk itself: every element below the body in the order of the flat tree, as a flat list of nodes.

const LEFT_OUT = new Set(['script', 'style', 'template', 'noscript', 'link', 'meta', 'br', 'wbr', 'head', 'base', 'title']);
const DEEPEST = 1000;
const NAMED_TAGS = new Set(['form', 'section', 'label']);
/** Elements that can host a root without having a name of their own. */
const HOSTS = new Set(('article aside blockquote div footer h1 h2 h3 h4 h5 h6 header main nav p section span').split(' '));

/** Known not to host a closed root, as far as DevTools were asked. */
const asked = new WeakSet();

/** The last step of the path that each element had when it was captured last. */
let places = new WeakMap();

class Walk {
  constructor(options) {
    places = new WeakMap();
    this.options = options;
    this.nodes = [];
    this.painted = new Painted();
    this.waiting = [];
    this.frames = [];
    this.closed = [];
    this.suspects = [];
    this.hasRoots = false;
    this.points = [];
    this.display = '';
    this.range = document.createRange();
    const dialogs = document.querySelectorAll(':modal');
    this.modal = dialogs.length ? dialogs[dialogs.length - 1] : null;
  }

  /** Visits `element`, whose last step is `path`. `around` is what its ancestors say about it. */
  element(element, path, around, isRenderedHere, out) {
    const style = getComputedStyle(element);
    const display = style.display;
    const isRoot = around.isRoot;
    const isRendered = isRenderedHere && (display !== 'none' || isRoot || element.localName === 'area');
    const isOfHtml = isHtml(element);
    const node = { parent: around.parent, nodeId: nodeId(element), tagName: isOfHtml ? element.localName : tagOf(element), path };
    places.set(element, path);
    if (out) node.out = out;
    const isASecret = isOfHtml && isSecret(element);
    const attributes = attributesOf(element, this.options.testIdAttribute, isASecret);
    if (attributes) node.attributes = attributes;
    if (isASecret) node.filled = isFilled(element);
    const idx = this.nodes.push(node) - 1;
    if (!isRendered) {
      this.children(element, hiddenInside(around, idx), null);
      this.display = 'none';
      return;
    }

    const rect = element.getBoundingClientRect();
    const region = element.localName === 'area' ? areaRegion(element) : regionOf(rect);
    const position = style.position;
    const limit = limitOf(around.limits, element, position);
    const opacity = around.opacity * Number(style.opacity);
    const isShowing = opacity > 0 && style.visibility === 'visible';
    const inView = both(region, limit.port);
    const isInViewport = !isEmpty(inView);
    const visible = isInViewport ? inView : both(region, limit.reach);
    const isSeen = isShowing && !isEmpty(visible) && !isClippedAway(style);
    const label = isSeen && rect.width > 1 ? null : standsIn(element, style, rect, opacity === 0);
    const isVisible = isSeen || isRoot || label !== null;
    const shown = label ? both(regionOf(label.getBoundingClientRect()), limit.reach) : visible;
    if (isInViewport || (label && !isEmpty(both(shown, limit.port)))) node.isInViewport = true;
    // With a rectangle it is visible.
    if (isVisible) node.rect = toRect(isEmpty(shown) ? region : shown);
    if (label) node.proxy = absolutePath(label);

    const isInert = around.isInert || element.inert === true;
    const isAriaHidden = around.isAriaHidden || element.getAttribute('aria-hidden') === 'true';
    if (isAriaHidden) node.isAriaHidden = true;
    const role = roleOf(element);
    if (role) node.role = role;
    if (role === 'heading') node.level = headingLevel(element);
    const states = statesOf(element, around.isDisabled || isInert, around.focused);
    if (states.length) node.states = states;
    const place = position === 'static' ? around.place : this.painted.place(around.place, style);
    if (isVisible) {
      this.naming(element, node, role);
      const by = isInert || (this.modal && !isWithin(element, this.modal)) ? null : interactiveBy(element, role, style, around.style, shown);
      if (by) {
        node.interactiveBy = by;
        const part = display === 'inline' && !label ? largestPart(element, isInViewport ? limit.port : limit.reach) : shown;
        this.top(element, node, style, isEmpty(part) ? region : part, place, label);
      }
      const mayCover = position === 'absolute' || position === 'relative';
      if (mayCover && !isInViewport && !around.isPinned && style.pointerEvents !== 'none') this.painted.add(element, region, place);
      if (FRAMES.has(element.localName)) {
        if (!by) this.top(element, node, style, shown, place, null);
        this.frame(element, node, style, rect, inView);
      }
    }
    if (element.localName === 'select') {
      node.options = optionsOf(element);
      if (element.options.length > node.options.length) node.optionCount = element.options.length;
    }
    this.display = display;
    // What a slot shows is not in it.
    if (!element.firstChild && element.localName !== 'slot' && !shadowOf(element)) {
      if (rect.height && !asked.has(element) && this.maySecretlyHost(element, rect)) this.suspects.push(element);
      return;
    }
    // Then its texts are as much in view as it is.
    const isAllOrNotInView = isInViewport ? sameRegion(inView, region) : display !== 'contents';
    const isOfTexts = isAllOrNotInView && !element.firstElementChild && element.localName !== 'slot' && !shadowOf(element);
    this.children(element, {
      parent: idx,
      isRendered: true,
      isRoot: false,
      isInert,
      isAriaHidden,
      isDisabled: around.isDisabled || element.getAttribute('aria-disabled') === 'true',
      opacity,
      style,
      focused: around.focused,
      place,
      isPinned: around.isPinned || position === 'fixed' || position === 'sticky',
      // They limit elements, and texts that may be elsewhere.
      limits: isOfTexts ? around.limits : limitsInside(around.limits, limit, element, style, display, position, rect),
      isShowing,
      isShown: isSeen || isRoot || display === 'contents',
      isAllOrNotInView,
      depth: around.depth + 1,
    }, rect);
    this.display = display;
  }

  naming(element, node, role) {
    const isEditor = element.isContentEditable === true && isEditingHost(element);
    if (!role && !isEditor && !NAMED_TAGS.has(element.localName) && !hasGlobalAria(element)) return;
    const name = role ? nameOf(element, role) : '';
    if (name) node.name = name;
    // What can be edited and has no role has no name either, but may have a label.
    const takesLabel = isEditor || LABELABLE.has(element.localName) || role === 'textbox' || role === 'combobox' || role === 'searchbox' || role === 'spinbutton' || role === 'slider';
    if (takesLabel) {
      const label = labelOf(element);
      if (label) node.label = label;
    }
  }

  /** Is it on top where it is? */
  top(element, node, style, region, place, label) {
    if (style.pointerEvents === 'none' && !label) {
      node.isTopElement = false;
      node.topBasis = 'hit';
      return;
    }
    if (!node.isInViewport) {
      this.waiting.push({ element, node, region, place });
      return;
    }
    const port = this.options.clip ? both(region, this.options.clip) : region;
    const point = hitPoint(label || element, port);
    node.isTopElement = point !== null;
    node.topBasis = 'hit';
    if (point && this.options.isFrame) this.points.push({ node, point });
  }

  frame(element, node, style, rect, inView) {
    const content = contentRect(element, rect, style);
    node.content = toRect(content);
    const clip = both(inView, content);
    this.frames.push({ element, node, path: pathsTo(element), content: content.map(Math.round), clip: isEmpty(clip) ? EMPTY : clip });
  }

  children(element, around, rect) {
    if (around.depth > DEEPEST) return;
    if (element.localName === 'textarea' || element.localName === 'datalist') return;
    const shadow = shadowOf(element);
    this.hasRoots ||= Boolean(shadow);
    if (element.shadowRoot) {
      this.nodes[around.parent].shadowRoot = true;
      const outerFocus = around.focused;
      around.focused = shadow.activeElement;
      this.list(shadow, around, '/');
      around.focused = outerFocus;
      // What is in no slot is not shown.
      this.list(element, hiddenInside(around, around.parent), '', (child) => !child.assignedSlot);
      return;
    }
    if (shadow && around.isRendered) {
      this.closed.push({ host: element, root: shadow, around: { ...around, parent: undefined, focused: shadow.activeElement } });
      // What the root shows of what is in the host is seen by where that is.
      around.isAllOrNotInView = false;
    } else if (rect && !asked.has(element) && this.maySecretlyHost(element, rect)) {
      this.suspects.push(element);
    }
    if (element.localName === 'slot' && around.isRendered) {
      const assigned = element.assignedNodes();
      const root = element.getRootNode();
      if (assigned.length && root.mode === 'open') {
        this.slotted(assigned, around, root);
        return;
      }
    }
    this.list(element, around, '');
  }

  slotted(assigned, around, root) {
    for (const child of assigned) {
      if (child.nodeType === Node.TEXT_NODE) this.text(child, around, false);
      else if (child.nodeType === Node.ELEMENT_NODE && !LEFT_OUT.has(child.localName)) {
        this.element(child, absolutePath(child), around, true, rootsBetween(root, child));
      }
    }
  }

  /** The children of an element or a root, but for those that `isMeant` leaves out. */
  list(parent, around, prefix, isMeant = null) {
    const first = parent.firstChild;
    const steps = first?.nextSibling ? new Steps(first) : null;
    const isOfDetails = parent.localName === 'details';
    let isSkipped;
    // Is what stands before in the same line?
    let isInLine = false;
    for (let child = first; child; child = child.nextSibling) {
      if (child.nodeType === Node.TEXT_NODE) {
        if (around.isRendered && !isSkipped && !(isOfDetails && !parent.open)) this.text(child, around, isInLine);
        isInLine = true;
        continue;
      }
      if (child.nodeType !== Node.ELEMENT_NODE || LEFT_OUT.has(child.localName)) continue;
      if (isMeant && !isMeant(child)) continue;
      if (around.isRendered && (isSkipped === undefined || isOfDetails)) {
        // Asked once for all: contents that are skipped (`content-visibility`, closed `details`).
        if (child.checkVisibility()) isSkipped = false;
        else if (isBoxed(child)) isSkipped = true;
      }
      const isRendered = around.isRendered && !isSkipped;
      this.element(child, prefix + (steps ? steps.of(child) : stepName(child)), around, isRendered, 0);
      isInLine = isRendered && this.display.startsWith('inline');
    }
  }

  text(node, around, isInLine) {
    let text = node.data;
    if (!/\S/.test(text)) {
      // A space between two pieces of a line counts; one between blocks is not rendered.
      if (!isInLine || !node.nextSibling || around.parent === undefined) return;
      text = ' ';
    }
    const entry = { parent: around.parent, text: text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text };
    if (!around.isShowing || !around.isShown || isTransparent(around.style)) entry.isVisible = false;
    else if (!around.isAllOrNotInView) this.place(node, entry, around);
    this.nodes.push(entry);
  }

  /** Whether a text is in view that may be elsewhere than its element. */
  place(node, entry, around) {
    this.range.selectNodeContents(node);
    const region = regionOf(this.range.getBoundingClientRect());
    const limit = around.limits.flow;
    if (isEmpty(both(region, limit.reach))) {
      if (entry.text !== ' ') entry.isVisible = false;
    } else {
      entry.isInViewport = !isEmpty(both(region, limit.port));
    }
  }

  /** Might it have a root that can't be seen from here? Only DevTools can tell; they are asked once for each. */
  maySecretlyHost(element, rect) {
    if (rect.width === 0 || rect.height === 0 || !isHtml(element)) return false;
    if (element.localName.includes('-')) return true;
    if (!HOSTS.has(element.localName) || element.firstElementChild) return false;
    // Nothing in it, and yet it takes room that its style doesn't ask for.
    if (element.firstChild && element.textContent.trim()) return false;
    return element.computedStyleMap().get('height')?.toString() === 'auto' && getComputedStyle(element).position !== 'absolute';
  }

  /** When all is seen: what lies over what is out of view. */
  finish() {
    for (const { element, node, region, place } of this.waiting) {
      node.isTopElement = !this.options.isCovered && !this.painted.covers(element, region, place);
      node.topBasis = 'paint';
    }
  }
}

/** Is text of this style written in no colour at all? One that is painted by its background or shadow is seen. */
function isTransparent(style) {
  const isClear = (colour) => /^rgba\(.*, 0\)$/.test(colour);
  return Boolean(style) && isClear(style.webkitTextFillColor || style.color) && style.backgroundClip !== 'text' && style.textShadow === 'none';
}

/** What is inside of something that is not rendered. */
function hiddenInside(around, parent) {
  return { ...around, parent, isRendered: false, isRoot: false, depth: around.depth + 1 };
}

const isBoxed = (element) => !['none', 'contents'].includes(getComputedStyle(element).display);

function sameRegion(one, other) {
  return one[0] <= other[0] && one[1] <= other[1] && one[2] >= other[2] && one[3] >= other[3];
}
