// Can a person do something with it, and by what is that known?

const ACTING = new Set(('button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem combobox '
  + 'textbox searchbox slider spinbutton').split(' '));
const ACTING_WHEN_FOCUSABLE = new Set(['listbox', 'row', 'gridcell']);
const PRESSED = ['onclick', 'onmousedown', 'onpointerdown', 'ontouchstart'];

/** `native`, `role`, `tabindex`, `listener`, `cursor`, or null. `visible` is its region in view or reach. */
function interactiveBy(element, role, style, styleAround, visible) {
  if (isNativeControl(element)) return 'native';
  const isLabel = element.localName === 'label' && element.control;
  if (isLabel) return null;
  if (element.hasAttribute('role')) {
    if (ACTING.has(role)) return 'role';
    if (ACTING_WHEN_FOCUSABLE.has(role) && isFocusable(element)) return 'role';
  } else if (element.localName === 'option') return 'role';
  if (element.hasAttribute('tabindex') && element.tabIndex >= 0) return 'tabindex';
  if (hasListener(element) && !isDelegation(element, visible)) return 'listener';
  if (style.cursor === 'pointer' && styleAround.cursor !== 'pointer' && !isDelegation(element, visible)) return 'cursor';
  return null;
}

function hasListener(element) {
  return listening.has(element) || PRESSED.some((name) => element.hasAttribute(name));
}

/** A listener for half the page is there for what is in it. */
function isDelegation(element, visible) {
  if (element === document.body || element === document.documentElement) return true;
  return (visible[2] - visible[0]) * (visible[3] - visible[1]) > (innerWidth * innerHeight) / 2;
}

/** Elements that only look like decoration because a label shows in their place. */
function standsIn(element, style, rect, isTransparent) {
  if (element.localName !== 'input' || !['checkbox', 'radio', 'file'].includes(element.type)) return null;
  const isTiny = rect.width <= 1 || rect.height <= 1;
  if (!isTiny && !isTransparent && !isClippedAway(style)) return null;
  for (const label of labelsOf(element)) {
    if (label.checkVisibility({ opacityProperty: true, visibilityProperty: true })) {
      const around = label.getBoundingClientRect();
      if (around.width > 1 && around.height > 1) return label;
    }
  }
  return null;
}
