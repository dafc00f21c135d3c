// The role of an element: its first valid `role`, else what HTML says it is.

const ROLES = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code columnheader '
  + 'combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid '
  + 'gridcell group heading img image insertion link list listbox listitem log main mark marquee math meter menu menubar '
  + 'menuitem menuitemcheckbox menuitemradio navigation none note option paragraph presentation progressbar radio radiogroup '
  + 'region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript '
  + 'superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem').split(' '));

const TAG_ROLES = {
  article: 'article', aside: 'complementary', blockquote: 'blockquote', button: 'button', caption: 'caption', code: 'code',
  datalist: 'listbox', dd: 'definition', del: 'deletion', details: 'group', dfn: 'term', dialog: 'dialog', dt: 'term',
  em: 'emphasis', fieldset: 'group', figure: 'figure', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading',
  h5: 'heading', h6: 'heading', hr: 'separator', ins: 'insertion', li: 'listitem', main: 'main', mark: 'mark', math: 'math',
  menu: 'list', meter: 'meter', nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status',
  p: 'paragraph', progress: 'progressbar', search: 'search', strong: 'strong', sub: 'subscript', sup: 'superscript',
  svg: 'img', table: 'table', tbody: 'rowgroup', textarea: 'textbox', tfoot: 'rowgroup', thead: 'rowgroup', time: 'time',
  tr: 'row', ul: 'list',
};

const INPUT_ROLES = {
  button: 'button', checkbox: 'checkbox', file: 'button', image: 'button', number: 'spinbutton', radio: 'radio',
  range: 'slider', reset: 'button', search: 'searchbox', submit: 'button',
};

const SECTIONING = 'article, aside, main, nav, section, [role=article], [role=complementary], [role=main], [role=navigation], [role=region]';

/** ARIA attributes that any element may have: with one of these an element is not mere presentation. */
const GLOBAL_ARIA = ['atomic', 'busy', 'controls', 'current', 'describedby', 'details', 'dropeffect', 'flowto', 'grabbed',
  'keyshortcuts', 'label', 'labelledby', 'live', 'owns', 'relevant', 'roledescription'].map((name) => `aria-${name}`);

function isFocusable(element) {
  if (element.hasAttribute('tabindex')) return !Number.isNaN(Number.parseInt(element.getAttribute('tabindex'), 10));
  return isNativeControl(element) && !element.matches(':disabled');
}

/** What HTML makes a control by its tag. */
function isNativeControl(element) {
  if (!isHtml(element)) return element.localName === 'a' && (element.hasAttribute('href') || element.hasAttribute('xlink:href'));
  switch (element.localName) {
    case 'a':
    case 'area':
      return element.hasAttribute('href');
    case 'button':
    case 'select':
    case 'textarea':
      return true;
    case 'input':
      return element.type !== 'hidden';
    case 'summary':
      return isHtml(element) && element.parentElement?.localName === 'details' && element.parentElement.querySelector(':scope > summary') === element;
    case 'audio':
    case 'video':
      return element.hasAttribute('controls');
    default:
      return isEditingHost(element);
  }
}

function isEditingHost(element) {
  return element.isContentEditable === true && !(element.parentElement && element.parentElement.isContentEditable);
}

function explicitRole(element) {
  const value = element.getAttribute('role');
  if (!value) return '';
  return value.toLowerCase().split(/\s+/).find((role) => ROLES.has(role)) || '';
}

function inputRole(input) {
  if (input.type === 'hidden') return '';
  const role = INPUT_ROLES[input.type];
  const takesList = ['email', 'search', 'tel', 'text', 'url', ''].includes(input.type);
  if (takesList && input.hasAttribute('list') && byId(input, input.getAttribute('list'))?.localName === 'datalist') return 'combobox';
  return role || 'textbox';
}

function headerCellRole(cell) {
  const scope = cell.getAttribute('scope');
  if (scope === 'col' || scope === 'colgroup') return 'columnheader';
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  const row = cell.parentElement;
  const hasData = row && [...row.children].some((other) => other.localName === 'td');
  return hasData ? 'rowheader' : 'columnheader';
}

function cellRole(cell) {
  const table = cell.closest('table');
  const role = table ? explicitRole(table) : '';
  return role === 'grid' || role === 'treegrid' ? 'gridcell' : 'cell';
}

function implicitRole(element) {
  const tag = element.localName;
  if (!isHtml(element)) return tag === 'svg' ? 'img' : isNativeControl(element) ? 'link' : tag === 'math' ? 'math' : '';
  switch (tag) {
    case 'a':
    case 'area':
      return element.hasAttribute('href') ? 'link' : '';
    case 'input':
      return inputRole(element);
    case 'select':
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'img':
      return element.getAttribute('alt') === '' && !element.title && !hasGlobalAria(element) ? 'presentation' : 'img';
    case 'header':
      return flatClosest(element, SECTIONING) ? '' : 'banner';
    case 'footer':
      return flatClosest(element, SECTIONING) ? '' : 'contentinfo';
    case 'form':
      return givenName(element) ? 'form' : '';
    case 'section':
      return givenName(element) ? 'region' : '';
    case 'td':
      return cellRole(element);
    case 'th':
      return headerCellRole(element);
    default:
      return TAG_ROLES[tag] || '';
  }
}

function flatClosest(element, selector) {
  const parent = element.parentElement;
  return parent ? parent.closest(selector) : null;
}

/** Has it a name that its author gave it on purpose? Without one, forms and sections are no landmarks. */
function givenName(element) {
  return Boolean(fold(element.getAttribute('aria-label') || '') || fold(element.getAttribute('title') || '')
    || referenced(element, 'aria-labelledby').length);
}

function hasGlobalAria(element) {
  return element.hasAttributes() && GLOBAL_ARIA.some((name) => element.hasAttribute(name));
}

/** The role, or an empty text when there is none. */
function roleOf(element) {
  const explicit = element.hasAttribute('role') ? explicitRole(element) : '';
  if (!explicit) return implicitRole(element);
  if (explicit === 'none' || explicit === 'presentation') {
    return isFocusable(element) || hasGlobalAria(element) ? implicitRole(element) : 'presentation';
  }
  return explicit === 'image' ? 'img' : explicit;
}

function headingLevel(element) {
  const given = Number.parseInt(element.getAttribute('aria-level'), 10);
  if (given > 0) return given;
  return /^h[1-6]$/.test(element.localName) ? Number(element.localName[1]) : 2;
}
