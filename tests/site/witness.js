// Tells the site what was done on a page: `click` or `fill`, tag and words, and what it is in: a row, an item, a dialog,
// a section, a component, a frame. A page that was opened with `?load=N` says N before it.
(() => {
const load = new URLSearchParams(location.search).get('load');
const PLACES = 'li, tr, dialog, [role=dialog], section, form[aria-label], nav[aria-label], fieldset';
const OWN = 'a, button, input, select, textarea, [role]';

function tell(what) {
  if (window !== window.top) parent.postMessage({ witness: what }, '*');
  else navigator.sendBeacon('/api/count/' + encodeURIComponent(load ? `${load}: ${what}` : what));
}

// What was done in a frame; frames of other sites can't say it themselves.
addEventListener('message', (event) => {
  const frame = [...document.querySelectorAll('iframe')].find((one) => one.contentWindow === event.source);
  if (event.data?.witness) tell(`${event.data.witness} in frame ${frame?.title ?? '?'}`);
});

const firstLine = (text) => (text ?? '').trim().split(/[\n\t]/)[0];

/** The heading over what has no name in a table. */
function column(own) {
  const cell = own.closest?.('td');
  return firstLine(cell?.closest('table').rows[0].cells[cell.cellIndex]?.innerText);
}

/** Tag and words of an element, and what it is in. `path` are the nodes from it outwards. */
function words(own, path, more = '') {
  const field = own.labels?.length ? own.labels[0].innerText : '';
  const name = firstLine(own.getAttribute?.('aria-label') || field || own.innerText) || column(own);
  const around = path.find((node) => node.matches?.(PLACES) || node.localName?.includes('-'));
  const place = around?.getAttribute('aria-label') || firstLine(around?.innerText);
  return `${own.localName} ${name}${more}${place ? ` in ${place}` : ''}`;
}

function watch(root) {
  root.addEventListener('click', (event) => {
    const path = event.composedPath();
    const [inner] = path;
    // What was clicked in a closed root is told there.
    if (closed.has(inner)) return;
    // A click on a label is followed by one on its field, which is the one that counts.
    const label = inner.closest?.('label');
    if (label?.control && label.control !== inner && !inner.closest('a, button, input')) return;
    const own = inner.closest?.(OWN) ?? inner;
    tell(`click ${words(own, path.slice(path.indexOf(own)))}`);
  }, true);
  root.addEventListener('input', (event) => {
    const path = event.composedPath();
    const [own] = path;
    if (closed.has(own) || ['checkbox', 'radio'].includes(own.type)) return;
    const isSecret = ['password', 'file'].includes(own.type) || own.autocomplete?.startsWith('cc-');
    tell(`fill ${words(own, path, isSecret ? '' : `: ${own.value}`)}`);
  }, true);
}

const closed = new WeakSet();
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attach.call(this, options);
  if (options.mode === 'closed') {
    closed.add(this);
    watch(root);
  }
  return root;
};
watch(document);
})();
