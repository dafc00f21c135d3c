// Tells the site what was clicked: tag and words, and the row, item or dialog that it is in.
document.addEventListener('click', (event) => {
  // A click on a label is followed by one on its field, which is the one that counts.
  const [inner] = event.composedPath();
  const label = inner.closest?.('label');
  if (label?.control && label.control !== inner && !inner.closest('a, button, input')) return;
  const own = inner.closest?.('a, button, input, select, textarea, [role]') ?? inner;
  const field = own.labels?.length ? own.labels[0].innerText : '';
  const words = (own.getAttribute?.('aria-label') || field || own.innerText || '').trim().split('\n')[0];
  const around = own.closest?.('li, tr, [role=dialog], dialog');
  const place = around ? ` in ${(around.getAttribute('aria-label') || around.innerText).trim().split(/[\n\t]/)[0]}` : '';
  navigator.sendBeacon('/api/count/' + encodeURIComponent(`click ${own.localName} ${words}${place}`));
}, true);
