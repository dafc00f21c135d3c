(attribute, tokens) => {
  for (const element of document.querySelectorAll('[' + attribute + ']')) {
    const words = element.getAttribute(attribute).split(' ');
    const left = words.filter(word => !tokens.includes(word));
    if (left.length === words.length) continue;
    if (left.length === 0) element.removeAttribute(attribute);
    else element.setAttribute(attribute, left.join(' '));
  }
}
