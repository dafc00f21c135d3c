// Attributes, states and values: as they are now, not as the page was written.

const KEPT = new Set(('id name type role href placeholder title alt for value checked selected required min max step pattern '
  + 'accept multiple autocomplete contenteditable class colspan rowspan').split(' '));
const FRAMES = new Set(['iframe', 'frame', 'object', 'embed', 'fencedframe']);

/** Is what a field holds a secret? Its value is never read then. */
function isSecret(element) {
  if (element.localName !== 'input' && element.localName !== 'textarea' && element.localName !== 'select') return false;
  if (element.type === 'password') {
    everSecret.add(element);
    return true;
  }
  if (everSecret.has(element)) return true;
  const hints = (element.getAttribute('autocomplete') || '').toLowerCase().split(/\s+/);
  return hints.some((hint) => hint === 'current-password' || hint === 'new-password' || hint === 'one-time-code' || hint.startsWith('cc-'));
}

const isTicked = (element) => element.localName === 'input' && (element.type === 'checkbox' || element.type === 'radio');

/** Whether a secret field holds something: the one look at its value, of which nothing is kept. */
const isFilled = (element) => element.value !== '';

/** The attributes that are told, with the live value in place of the written one. */
function attributesOf(element, testIdAttribute, isASecret) {
  const kept = {};
  let any = false;
  if (element.hasAttributes()) {
    for (const name of element.getAttributeNames()) {
      if (!KEPT.has(name) && name !== testIdAttribute && !name.startsWith('aria-')
        && !(name === 'src' && FRAMES.has(element.localName))) continue;
      kept[name] = element.getAttribute(name);
      any = true;
    }
  }
  if (!isHtml(element)) return any ? kept : null;
  switch (element.localName) {
    case 'input':
      if (isTicked(element)) {
        delete kept.checked;
        if (element.checked) kept.checked = '';
      } else {
        delete kept.value;
        if (isASecret) break;
        if (element.type === 'file') kept.value = [...element.files].map((file) => file.name).join(', ');
        else if (!['button', 'submit', 'reset', 'image'].includes(element.type) || element.hasAttribute('value')) kept.value = element.value;
      }
      return kept;
    case 'textarea':
    case 'select':
      delete kept.value;
      if (!isASecret) kept.value = element.value;
      return kept;
    case 'option':
      delete kept.selected;
      if (element.selected) kept.selected = '';
      return kept;
    default:
  }
  return any || isASecret ? kept : null;
}

function isEditable(element) {
  if (element.localName === 'input') {
    return !['button', 'checkbox', 'color', 'file', 'hidden', 'image', 'radio', 'range', 'reset', 'submit'].includes(element.type)
      && !element.readOnly && !element.matches(':disabled');
  }
  if (element.localName === 'textarea') return !element.readOnly && !element.matches(':disabled');
  return element.isContentEditable === true && isEditingHost(element);
}

const NO_STATES = [];

/** Only these can have a state when no attribute says so. */
const HAS_STATES = new Set(['input', 'textarea', 'select', 'option', 'button', 'summary', 'fieldset', 'optgroup']);

/** `focused` is the element of this tree that has the focus. */
function statesOf(element, isDisabledAround, focused) {
  if (element !== focused && !isDisabledAround && !HAS_STATES.has(element.localName) && !element.isContentEditable
    && !(element.hasAttributes() && element.getAttributeNames().some((name) => name.startsWith('aria-')))) return NO_STATES;
  const states = [];
  const aria = (name) => element.getAttribute(`aria-${name}`);
  const has = (name) => element.hasAttribute(`aria-${name}`);
  const isField = element.localName === 'input' || element.localName === 'textarea' || element.localName === 'select';
  if (isDisabledAround || element.matches(':disabled') || aria('disabled') === 'true') states.push('disabled');
  if ((isField && element.readOnly === true && !isTicked(element)) || aria('readonly') === 'true') states.push('readonly');
  if ((isField && element.required) || aria('required') === 'true') states.push('required');
  if (isTicked(element)) {
    if (element.indeterminate) states.push('mixed');
    else if (element.checked) states.push('checked');
  } else if (aria('checked') === 'true') states.push('checked');
  else if (aria('checked') === 'mixed') states.push('mixed');
  if (element.localName === 'option' ? element.selected : aria('selected') === 'true') states.push('selected');
  if (element.localName === 'summary' && element.parentElement?.localName === 'details') {
    states.push(element.parentElement.open ? 'expanded' : 'collapsed');
  } else if (has('expanded')) {
    if (aria('expanded') === 'true') states.push('expanded');
    else if (aria('expanded') === 'false') states.push('collapsed');
  }
  if (aria('pressed') === 'true') states.push('pressed');
  else if (aria('pressed') === 'mixed') states.push('mixed');
  if ((has('invalid') && !['false', ''].includes(aria('invalid'))) || (isField && element.matches(':user-invalid'))) states.push('invalid');
  if (element === focused) states.push('focused');
  if (isEditable(element)) states.push('editable');
  return states;
}

/** The options of a select: label and value of the first, and of those that are chosen. */
function optionsOf(select) {
  const options = [];
  const add = (option) => options.push([fold(option.label).slice(0, LONGEST_NAME), option.value.slice(0, LONGEST_NAME)]);
  for (let idx = 0; idx < Math.min(select.options.length, MOST_OPTIONS); idx += 1) add(select.options[idx]);
  for (const option of [...select.selectedOptions].slice(0, MOST_OPTIONS)) if (option.index >= MOST_OPTIONS) add(option);
  return options;
}
