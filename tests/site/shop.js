// Twenty products that look alike: same shape, same buttons, names that differ in a word.
const COLOURS = ['Red', 'Blue', 'Green', 'Black', 'White'];
const THINGS = ['cotton shirt', 'linen shirt', 'cotton scarf', 'wool scarf'];
const isNext = location.pathname.startsWith('/next/');

function products() {
  const all = [];
  for (const thing of THINGS) for (const colour of COLOURS) all.push({ name: `${colour} ${thing}`, price: 10 + all.length });
  if (!isNext) return all;
  // Next release: one product is gone, one is renamed, one is there twice, and the order is turned round.
  const changed = all.filter((product) => product.name !== 'Green wool scarf');
  changed.find((product) => product.name === 'Blue linen shirt').name = 'Navy linen shirt';
  changed.push({ name: 'Red cotton shirt', price: 35 });
  return changed.reverse();
}

const cart = [];
function show() {
  const grid = document.querySelector('.grid');
  grid.replaceChildren(...products().map((product) => {
    const item = document.createElement('li');
    item.className = 'card';
    const title = document.createElement('h3');
    title.textContent = product.name;
    const price = document.createElement('p');
    price.textContent = `${product.price} €`;
    const add = document.createElement('button');
    add.textContent = isNext ? 'Add to basket' : 'Add to cart';
    add.addEventListener('click', () => { cart.push(product.name); count(); });
    const details = document.createElement('a');
    details.href = `#${product.name.toLowerCase().replaceAll(' ', '-')}`;
    details.textContent = 'Details';
    item.setAttribute('aria-label', product.name);
    item.append(title, price, add, ' ', details);
    return item;
  }));
  count();
}
function count() {
  document.getElementById('cart').textContent = `Cart: ${cart.length}`;
  document.getElementById('last').textContent = cart.length ? `${cart.at(-1)} was added.` : '';
}
document.getElementById('sort').addEventListener('change', (event) => {
  const items = [...document.querySelectorAll('.grid > li')];
  const by = (item) => (event.target.value === 'name' ? item.getAttribute('aria-label') : item.querySelector('p').textContent);
  items.sort((left, right) => by(left).localeCompare(by(right), 'en', { numeric: true }));
  document.querySelector('.grid').append(...items);
});
show();
