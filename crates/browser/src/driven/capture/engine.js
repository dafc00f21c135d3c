// An engine for selectors: `cuecard=["/html/body/x-card", "/button"]` is the button in the open root of the card.
// `cuecard={"hold": 7, "paths": […]}` is the same and keeps it, as the last two; `cuecard={"held": 7}` is what was kept, and no other element
// that has come to its place since.
let held = [];

return {
  query(root, body) {
    return this.queryAll(root, body)[0] ?? null;
  },
  queryAll(root, body) {
    const wanted = JSON.parse(body);
    if (wanted.held !== undefined) {
      const kept = held.find(({ key }) => key === wanted.held);
      if (!kept?.element.isConnected) throw new Error('cuecard: the element was replaced');
      return [kept.element];
    }
    let tree = root.ownerDocument ?? root;
    let element = null;
    for (const path of wanted.paths ?? wanted) {
      element = tree ? elementAt(tree, path) : null;
      if (!element) return [];
      tree = element.shadowRoot;
    }
    if (!element) return [];
    if (wanted.hold !== undefined) held = [...held.slice(-1), { key: wanted.hold, element }];
    return [element];
  },
};
