(selector, text, one, nth, attribute, token) => {
  const squeeze = value => String(value ?? '').trim().replace(/\s+/g, ' ');
  const names = element => [
    element.getAttribute('aria-label'), element.innerText, element.value, element.title, element.alt,
    ...Array.from(element.labels ?? []).map(label => label.innerText),
  ].map(squeeze);
  const describe = element => {
    const id = element.id ? '#' + element.id : '';
    const classes = Array.from(element.classList).slice(0, 3).map(name => '.' + name).join('');
    const name = names(element).find(name => name !== '') ?? '';
    return element.localName + id + classes + (name ? ' "' + name.slice(0, 40) + '"' : '');
  };
  let fitting;
  try {
    fitting = Array.from(document.querySelectorAll(selector));
  } catch (error) {
    return { invalid: String(error.message) };
  }
  let found = fitting;
  if (text !== null) {
    const wanted = squeeze(text);
    found = fitting.filter(element => names(element).includes(wanted));
  }
  const isOne = nth !== null || found.length === 1;
  const chosen = !one ? found.slice(0, 1000) : !isOne ? [] : nth === null ? found : found.slice(nth - 1, nth);
  if (chosen.length === 0) {
    return { count: found.length, chosen: 0, candidates: (found.length ? found : fitting).slice(0, 8).map(describe) };
  }
  if (attribute !== null) {
    for (const element of chosen) {
      const before = element.getAttribute(attribute);
      element.setAttribute(attribute, before ? before + ' ' + token : token);
    }
  }
  return { count: found.length, chosen: chosen.length, index: fitting.indexOf(chosen[0]) };
}
