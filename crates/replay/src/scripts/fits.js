(element, selector, text) => {
  const squeeze = value => String(value ?? '').trim().replace(/\s+/g, ' ');
  if (!element.matches(selector)) return false;
  if (text === null) return true;
  const names = [
    element.getAttribute('aria-label'), element.innerText, element.value, element.title, element.alt,
    ...Array.from(element.labels ?? []).map(label => label.innerText),
  ];
  return names.map(squeeze).includes(squeeze(text));
}
