// What is done with more than a click: a menu that opens under the pointer, cells that are edited after a double click,
// a list that is gone through with the arrow keys, a shortcut of the whole page.
const isNext = location.pathname.startsWith('/next/');
const by = (id) => document.getElementById(id);
const say = (text) => { by('said').textContent = text; };

by('desk').innerHTML = `
  <h1>Desk</h1>
  <div class="menu" id="tools">
    <button aria-haspopup="menu">${isNext ? 'Download' : 'Export'}</button>
    <div role="menu" aria-label="Kinds of files" hidden>
      <button role="menuitem">As PDF</button> <button role="menuitem">As table</button>
    </div>
  </div>
  <p role="status" id="said">Nothing was done yet.</p>
  <table role="grid" aria-label="Shopping list">
    <thead><tr><th>Thing</th><th>Pieces</th></tr></thead><tbody></tbody>
  </table>
  <p><label for="city">${isNext ? 'Town' : 'City'}</label><input id="city" role="combobox" aria-expanded="false" aria-controls="cities" aria-autocomplete="list" autocomplete="off"></p>
  <ul role="listbox" id="cities" aria-label="Cities" hidden></ul>
  <p><label for="copies">Copies</label><input id="copies" type="number" min="1" max="5" value="1"></p>
  <fieldset><legend>Delivery</legend>
    <label><input type="radio" name="delivery" value="normal" checked> Normal</label>
    <label><input type="radio" name="delivery" value="express"> Express</label>
  </fieldset>
  <dialog id="keys" aria-label="Keys"><p>Press ? to see this again.</p><button>Got it</button></dialog>`;

// The menu is there as long as the pointer is.
const menu = by('tools').querySelector('[role=menu]');
by('tools').addEventListener('mouseenter', () => { menu.hidden = false; });
by('tools').addEventListener('mouseleave', () => { menu.hidden = true; });
for (const item of menu.children) {
  item.onclick = () => { menu.hidden = true; say(`Exported ${item.textContent.toLowerCase()}`); };
}

// Cells.
const rows = isNext ? [['Bread', '1'], ['Milk', '2'], ['Tea', '3']] : [['Milk', '2'], ['Bread', '1'], ['Tea', '3']];
const cellOf = (text) => {
  const cell = document.createElement('td');
  cell.setAttribute('role', 'gridcell');
  cell.tabIndex = 0;
  cell.textContent = text;
  cell.ondblclick = () => edit(cell);
  return cell;
};
function edit(cell) {
  const before = cell.textContent;
  const field = document.createElement('input');
  field.setAttribute('aria-label', `New text for ${before}`);
  field.value = before;
  field.onkeydown = (event) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    const after = event.key === 'Enter' ? field.value : before;
    say(event.key === 'Enter' ? `${before} became ${after}` : `${before} stays`);
    cell.replaceChildren(after);
  };
  cell.replaceChildren(field);
  field.focus();
  field.select();
}
for (const row of rows) {
  const line = document.createElement('tr');
  line.append(...row.map(cellOf));
  document.querySelector('tbody').append(line);
}

// The list of cities.
const CITIES = ['Belgrade', 'Berlin', 'Bern', 'Lisbon', 'London', 'Prague'];
const field = by('city'), list = by('cities');
let active = -1;
function show(names) {
  active = -1;
  list.hidden = names.length === 0;
  field.setAttribute('aria-expanded', String(!list.hidden));
  list.replaceChildren(...names.map((name, idx) => {
    const option = document.createElement('li');
    option.id = `city-${idx}`;
    option.setAttribute('role', 'option');
    option.textContent = name;
    option.onclick = () => pick(name);
    return option;
  }));
}
function pick(name) {
  field.value = name;
  show([]);
  say(`City: ${name}`);
}
field.oninput = () => {
  const typed = field.value.toLowerCase();
  show(typed ? CITIES.filter((name) => name.toLowerCase().startsWith(typed)) : []);
};
field.onkeydown = (event) => {
  const options = [...list.children];
  if (event.key === 'Escape') show([]);
  if (event.key === 'Enter' && options[active]) pick(options[active].textContent);
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  event.preventDefault();
  active = (active + (event.key === 'ArrowDown' ? 1 : -1) + options.length) % options.length;
  options.forEach((option, idx) => option.setAttribute('aria-selected', String(idx === active)));
};

// The shortcut of the page.
document.addEventListener('keydown', (event) => {
  if (event.key === '?' && event.target.tagName !== 'INPUT') by('keys').showModal();
});
by('keys').querySelector('button').onclick = () => by('keys').close();
for (const radio of document.querySelectorAll('[name=delivery]')) radio.onchange = () => say(`Delivery: ${radio.value}`);
