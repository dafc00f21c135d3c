// Parts that keep what is in them to themselves: in roots that scripts of the page may look into, and in closed ones.
const isNext = location.pathname.startsWith('/next/');
const basket = new Map();
let voucher = '';

function show() {
  const parts = [...basket].filter(([, pieces]) => pieces > 0).map(([name, pieces]) => `${pieces} ${name}`);
  const text = parts.length ? `In the basket: ${parts.join(', ')}` : 'The basket is empty.';
  document.getElementById('basket').textContent = voucher ? `${text} (${voucher})` : text;
}

customElements.define('x-stepper', class extends HTMLElement {
  connectedCallback() {
    const name = this.getAttribute('aria-label');
    const root = this.attachShadow({ mode: this.getAttribute('mode') });
    root.innerHTML = `<p><strong></strong> <button>${isNext ? 'Fewer' : 'Less'}</button> <output>0</output> <button>More</button></p>`;
    root.querySelector('strong').textContent = name;
    const [less, more] = root.querySelectorAll('button');
    const change = (by) => {
      const pieces = Math.max(0, (basket.get(name.toLowerCase()) ?? 0) + by);
      basket.set(name.toLowerCase(), pieces);
      root.querySelector('output').textContent = String(pieces);
      less.disabled = pieces === 0;
      fetch(`/api/count/${by > 0 ? 'more' : 'less'}-${name.toLowerCase()}`, { method: 'POST' });
      show();
    };
    less.addEventListener('click', () => change(-1));
    more.addEventListener('click', () => change(1));
    less.disabled = true;
  }
});

// A closed root with an open one in it.
customElements.define('x-voucher', class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: 'closed' });
    root.innerHTML = '<x-field></x-field> <button>Redeem</button>';
    root.querySelector('button').addEventListener('click', () => {
      voucher = root.querySelector('x-field').value;
      show();
    });
  }
});
customElements.define('x-field', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: 'open' }).innerHTML = '<label>Voucher <input></label>';
  }
  get value() {
    return this.shadowRoot.querySelector('input').value;
  }
});
