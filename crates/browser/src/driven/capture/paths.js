// The address of an element: an XPath in its own document or shadow root, with positions only where they are needed.

const stepName = (element) => (isHtml(element) ? element.localName : `*[name()="${element.nodeName}"]`);

/** The last steps of the children of one parent, of which `first` is the first. */
class Steps {
  constructor(first) {
    this.totals = new Map();
    this.places = new Map();
    for (let child = first; child; child = child.nextSibling) {
      if (child.nodeType !== Node.ELEMENT_NODE) continue;
      const name = child.nodeName;
      const position = (this.totals.get(name) || 0) + 1;
      this.totals.set(name, position);
      if (position > 1) this.places.set(child, position);
    }
  }

  of(element) {
    const isAlone = this.totals.get(element.nodeName) === 1;
    return stepName(element) + (isAlone ? '' : `[${this.places.get(element) ?? 1}]`);
  }
}

/** The whole XPath in the tree that the element is in. */
function absolutePath(element) {
  let path = '';
  for (let at = element; at && at.nodeType === Node.ELEMENT_NODE; at = at.parentNode) {
    let position = 1;
    let isAlone = true;
    for (let other = at.previousElementSibling; other; other = other.previousElementSibling) if (other.nodeName === at.nodeName) position += 1;
    isAlone = position === 1;
    for (let other = at.nextElementSibling; other && isAlone; other = other.nextElementSibling) if (other.nodeName === at.nodeName) isAlone = false;
    path = `/${stepName(at)}${isAlone ? '' : `[${position}]`}${path}`;
  }
  return path;
}

/** The XPaths from the top of its document through the hosts of shadow roots down to the element. */
function pathsTo(element) {
  const paths = [];
  for (let at = element; at; at = at.getRootNode().host || null) paths.unshift(absolutePath(at));
  return paths;
}

/** How many shadow roots out of `root` the tree of `element` is. */
function rootsBetween(root, element) {
  let count = 0;
  const own = element.getRootNode();
  for (let at = root; at && at !== own; at = at.host ? at.host.getRootNode() : null) count += 1;
  return count;
}
