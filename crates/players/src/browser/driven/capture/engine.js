// An engine for selectors: `cuecard=["/html/body/x-card", "/button"]` is the button in the open root of the card.
return {
  query(root, body) {
    return this.queryAll(root, body)[0] ?? null;
  },
  queryAll(root, body) {
    let tree = root.ownerDocument ?? root;
    let element = null;
    for (const path of JSON.parse(body)) {
      element = tree ? elementAt(tree, path) : null;
      if (!element) return [];
      tree = element.shadowRoot;
    }
    return element ? [element] : [];
  },
};
