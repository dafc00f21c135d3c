// The name of an element as assistive tools tell it: https://www.w3.org/TR/accname-1.2 and what HTML adds to it.

const NAMED_BY_CONTENT = new Set(('button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox '
  + 'menuitemradio option radio row rowheader switch tab tooltip treeitem').split(' '));

/** Roles that have no name, whatever is said. */
const NEVER_NAMED = new Set(('caption code definition deletion emphasis generic insertion mark paragraph presentation none '
  + 'strong subscript superscript term time').split(' '));

/** The accessible name; at most LONGEST_NAME characters. */
function nameOf(element, role) {
  if (NEVER_NAMED.has(role) && !element.hasAttribute('aria-label') && !element.hasAttribute('aria-labelledby')) return '';
  const text = fold(textOf(element, { role, visited: new Set(), isTop: true, isReference: false, isLabel: false }));
  return text.length > LONGEST_NAME ? text.slice(0, LONGEST_NAME) : text;
}

/** What labels a field, without its placeholder or title: the text of its labels, or what ARIA says instead. */
function labelOf(element) {
  // A list may name itself behind its label, with what is chosen.
  const references = referenced(element, 'aria-labelledby').filter((other) => other !== element);
  if (references.length) return fold(references.map((other) => referenceText(other)).join(' ')).slice(0, LONGEST_NAME);
  const given = fold(element.getAttribute('aria-label') || '');
  if (given) return given.slice(0, LONGEST_NAME);
  return labelsText(element, new Set([element])).slice(0, LONGEST_NAME);
}

const LABELABLE = new Set(['button', 'input', 'meter', 'output', 'progress', 'select', 'textarea']);

/** What is found out of names, which holds for one walk. */
let learned;

function forgetNames() {
  learned = {
    /** The labels in a tree by what they are for, and what they say. */
    labels: new Map(),
    labelTexts: new Map(),
    /** Of how many elements it was asked what is before and after them, and whether sheets may put anything there. */
    askedForAdded: 0,
    mayBeAdded: undefined,
  };
}
forgetNames();

/** The labels of a field, in their order. What the field itself says of them is a search of the page for each field. */
function labelsOf(element) {
  const root = element.getRootNode();
  let known = learned.labels.get(root);
  if (!known) {
    known = new Map();
    for (const label of root.querySelectorAll('label')) {
      const field = isHtml(label) ? label.control : null;
      if (field && known.has(field)) known.get(field).push(label);
      else if (field) known.set(field, [label]);
    }
    learned.labels.set(root, known);
  }
  return known.get(element) ?? [];
}

function labelsText(element, visited) {
  if (!LABELABLE.has(element.localName)) return '';
  const labels = labelsOf(element);
  if (!labels.length) return '';
  if (!learned.labelTexts.has(element)) learned.labelTexts.set(element, textOfLabels(labels, visited));
  return learned.labelTexts.get(element);
}

function textOfLabels(labels, visited) {
  return fold(labels.map((label) => textOf(label, { role: '', visited, isTop: false, isReference: false, isLabel: true })).join(' '));
}

function referenceText(element) {
  return textOf(element, { role: roleOf(element), visited: new Set(), isTop: true, isReference: true, isLabel: false });
}

function textOf(element, context) {
  const { visited, isTop, isReference, isLabel } = context;
  if (visited.has(element) && !isTop) return '';
  visited.add(element);
  if (!isReference && !isTop && !isLabel && isHiddenForNames(element)) return '';
  if (isTop && !isReference) {
    const references = referenced(element, 'aria-labelledby');
    const text = fold(references.map((other) => referenceText(other)).join(' '));
    if (text) return text;
  }
  const role = context.role || roleOf(element);
  if (!isTop) {
    const value = embeddedValue(element, role);
    if (value !== null) return value;
  }
  const given = element.getAttribute('aria-label');
  if (given && fold(given)) return given;
  if (role !== 'presentation' && role !== 'none') {
    const native = nativeName(element, visited);
    if (native) return native;
  }
  if (NAMED_BY_CONTENT.has(role) || !isTop || isReference || element.localName === 'summary') {
    const content = contentText(element, context);
    if (fold(content)) return content;
  }
  return element.getAttribute('title') || fallbackName(element);
}

/** Skipped in the name of another element. */
function isHiddenForNames(element) {
  if (element.getAttribute('aria-hidden') === 'true') return true;
  return !element.checkVisibility({ visibilityProperty: true }) && getComputedStyle(element).display !== 'contents';
}

/** What a control inside of a label says: its value. Null when it is no such control. */
function embeddedValue(element, role) {
  switch (role) {
    case 'textbox':
    case 'searchbox':
      if (isSecret(element)) return '';
      return 'value' in element ? element.value : element.textContent;
    case 'combobox':
    case 'listbox':
      if (element.localName === 'select') return [...element.selectedOptions].map((option) => option.label).join(' ');
      if (element.localName === 'input') return isSecret(element) ? '' : element.value;
      return [...element.querySelectorAll('[aria-selected="true"]')].map((option) => option.textContent).join(' ');
    case 'meter':
    case 'progressbar':
    case 'scrollbar':
    case 'slider':
    case 'spinbutton': {
      const text = element.getAttribute('aria-valuetext') || element.getAttribute('aria-valuenow');
      if (text !== null && text !== '') return text;
      return isSecret(element) ? '' : String(element.value ?? '');
    }
    default:
      return null;
  }
}

function nativeName(element, visited) {
  switch (isHtml(element) ? element.localName : `:${element.localName}`) {
    case 'input': {
      const text = labelsText(element, visited);
      if (['button', 'submit', 'reset'].includes(element.type)) {
        if (text) return text;
        if (element.hasAttribute('value')) return element.getAttribute('value');
        return element.type === 'submit' ? 'Submit' : element.type === 'reset' ? 'Reset' : '';
      }
      if (element.type === 'image') return text || element.alt || element.title || 'Submit';
      return text;
    }
    case 'button':
    case 'meter':
    case 'output':
    case 'progress':
    case 'select':
    case 'textarea':
      return labelsText(element, visited);
    case 'img':
    case 'area':
      return element.getAttribute('alt') || '';
    case 'fieldset':
      return childText(element, 'legend', visited);
    case 'figure':
      return childText(element, 'figcaption', visited);
    case 'table':
      return childText(element, 'caption', visited) || element.getAttribute('summary') || '';
    case 'optgroup':
      return element.label;
    case 'option':
      return element.label;
    case ':svg':
    case ':a':
    case ':g':
      return [...element.children].find((child) => child.localName === 'title')?.textContent || '';
    default:
      return '';
  }
}

function childText(element, tag, visited) {
  const child = [...element.children].find((other) => other.localName === tag);
  return child ? fold(textOf(child, { role: 'generic', visited, isTop: false, isReference: true, isLabel: false })) : '';
}

/** What names a field as a last resort. */
function fallbackName(element) {
  if (element.localName !== 'input' && element.localName !== 'textarea') return element.getAttribute('aria-placeholder') || '';
  return element.getAttribute('placeholder') || '';
}

function contentText(element, context) {
  const { visited } = context;
  const mayBeAdded = mayHaveAddedText(element);
  const parts = mayBeAdded ? [pseudoText(element, '::before')] : [];
  const add = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      parts.push(node.data);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || ['script', 'style', 'template', 'noscript'].includes(node.localName)) return;
    if (node.localName === 'br') {
      parts.push(' ');
      return;
    }
    const text = textOf(node, { role: '', visited, isTop: false, isReference: false, isLabel: false });
    const isInline = getComputedStyle(node).display.startsWith('inline');
    parts.push(isInline ? text : ` ${text} `);
  };
  const assigned = element.localName === 'slot' ? element.assignedNodes() : [];
  for (const child of assigned) add(child);
  if (!assigned.length) {
    for (let child = (shadowOf(element) || element).firstChild; child; child = child.nextSibling) if (!child.assignedSlot) add(child);
  }
  for (const owned of referenced(element, 'aria-owns')) add(owned);
  if (mayBeAdded) parts.push(pseudoText(element, '::after'));
  return parts.join('');
}

// To ask an element what is before and after it takes long. On a page with many elements its sheets are asked first.
const FEW_ELEMENTS = 50;
const MANY_RULES = 3000;

function mayHaveAddedText(element) {
  learned.askedForAdded += 1;
  if (learned.askedForAdded <= FEW_ELEMENTS) return true;
  // Sheets of shadow roots reach their host, and what is in their slots.
  if (element.assignedSlot || shadowOf(element) || element.getRootNode() !== document) return true;
  learned.mayBeAdded ??= mayAddText([...document.styleSheets, ...document.adoptedStyleSheets], { left: MANY_RULES });
  return learned.mayBeAdded;
}

/** May one of the sheets put text before or after elements? Those that can't be read, and too many rules, may. */
function mayAddText(sheets, budget) {
  try {
    return sheets.some((sheet) => someAddText(sheet.cssRules, budget));
  } catch {
    return true;
  }
}

function someAddText(rules, budget) {
  for (const rule of rules) {
    budget.left -= 1;
    if (budget.left < 0) return true;
    if (rule.selectorText && /:(before|after)/i.test(rule.selectorText) && !['', 'none', 'normal', '""'].includes(rule.style.content)) return true;
    if (rule.styleSheet && mayAddText([rule.styleSheet], budget)) return true;
    if (rule.cssRules && someAddText(rule.cssRules, budget)) return true;
  }
  return false;
}

/** The text that a style puts before or after an element. */
function pseudoText(element, pseudo) {
  const style = getComputedStyle(element, pseudo);
  const content = style.content;
  if (!content || content === 'none' || content === 'normal' || !content.startsWith('"')) return '';
  const alternative = /\/\s*("(?:[^"\\]|\\.)*")\s*$/.exec(content);
  const quoted = alternative ? alternative[1] : /^"(?:[^"\\]|\\.)*"/.exec(content)?.[0];
  if (!quoted) return '';
  const text = quoted.slice(1, -1).replace(/\\(.)/g, '$1');
  return style.display.startsWith('inline') ? text : ` ${text} `;
}
