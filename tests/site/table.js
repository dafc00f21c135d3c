// Rows that differ only in their cells, each with the same buttons.
const isNext = location.pathname.startsWith('/next/');
const rows = isNext ? [4, 2, 1, 5] : [1, 2, 3, 4];
const body = document.querySelector('tbody');
for (const number of rows) {
  const row = document.createElement('tr');
  row.innerHTML = `<td>Invoice ${number}</td><td>${number * 10} €</td><td><button>Delete</button> <button>${isNext ? 'Mail' : 'Send'}</button></td>`;
  row.querySelector('button').addEventListener('click', () => {
    row.remove();
    document.querySelector('[role=status]').textContent = `Invoice ${number} was deleted`;
    fetch(`/api/count/delete-${number}`, { method: 'POST' });
  });
  body.append(row);
}
