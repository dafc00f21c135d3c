// A list of ten thousand people of which only those in view are rendered, by React.
const { createElement: h, useState, useRef } = React;
const ROW = 40, VIEW = 400, COUNT = 10000;
const isNext = location.pathname.startsWith('/next/');
const nameOf = (idx) => `Person ${idx + 1}`;

function People() {
  const [top, setTop] = useState(0);
  const [picked, setPicked] = useState([]);
  const [filter, setFilter] = useState('');
  const scroller = useRef(null);
  const all = [];
  for (let idx = 0; idx < COUNT; idx += 1) if (!filter || nameOf(idx).includes(filter)) all.push(idx);
  const first = Math.max(0, Math.floor(top / ROW) - 2);
  const shown = all.slice(first, first + VIEW / ROW + 5);
  const toggle = (idx) => setPicked((known) => (known.includes(idx) ? known.filter((other) => other !== idx) : [...known, idx]));
  return h('div', null,
    h('p', null, h('label', { htmlFor: 'filter' }, isNext ? 'Search' : 'Filter'),
      h('input', { id: 'filter', value: filter, onChange: (event) => setFilter(event.target.value) })),
    h('p', { role: 'status' }, `${picked.length} of ${all.length} picked`),
    h('div', { ref: scroller, className: 'people', tabIndex: 0, role: 'listbox', 'aria-label': 'People', 'aria-multiselectable': true,
      style: { height: VIEW, overflow: 'auto', border: '1px solid #ccc', position: 'relative' },
      onScroll: (event) => setTop(event.target.scrollTop) },
      h('div', { style: { height: all.length * ROW } },
        shown.map((idx, place) => h('div', { key: idx, role: 'option', 'aria-selected': picked.includes(idx),
          style: { position: 'absolute', top: (first + place) * ROW, height: ROW, left: 0, right: 0, padding: '8px 16px', cursor: 'pointer' },
          onClick: () => toggle(idx) }, h('span', null, isNext ? `${nameOf(idx)} (member)` : nameOf(idx)))))));
}
ReactDOM.createRoot(document.getElementById('root')).render(h(People));
