// From an address back to its element.

/** The element that an XPath of ours means in a document or root: names, with positions where they are needed. */
function elementAt(tree, path) {
  let at = tree;
  for (const step of path.split('/').filter(Boolean)) {
    const parts = /^(?:\*\[name\(\)="([^"]+)"\]|([^[]+))(?:\[(\d+)\])?$/.exec(step);
    if (!parts) return null;
    const [, foreign, name, position] = parts;
    const isMeant = (child) => (foreign ? child.nodeName === foreign : child.localName === name && child.namespaceURI === 'http://www.w3.org/1999/xhtml');
    at = [...at.children].filter(isMeant)[Number(position || 1) - 1];
    if (!at) return null;
  }
  return at === tree ? null : at;
}
