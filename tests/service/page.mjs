// The page of `cuecard serve rest` in a real browser: PLAYWRIGHT CHROMIUM URL SCREENSHOTS.
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';

const [playwright, executablePath, url, shots] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(playwright);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const troubles = [];
async function open(options) {
  const page = await (await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options })).newPage();
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('console', (message) => { if (message.type() === 'error') troubles.push(message.text()); });
  page.on('request', (request) => { if (!request.url().startsWith(url)) troubles.push(request.url()); });
  await page.goto(`${url}/`);
  return page;
}

const page = await open({});
assert.equal(await page.locator('#none').isVisible(), true, 'it says that there is no session');
const started = await page.request.post(`${url}/api/v1/tasks`, { data: { prompt: 'Fix the failing test' } });
assert.equal(started.status(), 201);

// The first session is open at once.
await page.locator('#events .assistant').first().waitFor();

// It waits for a prompt, so it can be paused, resumed and asked: by keyboard, from the session in the list on.
await page.locator('#sessions button').first().focus();
await page.keyboard.press('Tab');
assert.equal(await page.evaluate(() => document.activeElement.id), 'pause');
await page.keyboard.press('Enter');
await page.locator('#status', { hasText: 'paused' }).waitFor();
assert.equal(await page.locator('#text').isDisabled(), true);
await page.locator('#resume').click();
await page.locator('#status', { hasText: 'running' }).waitFor();
await page.locator('#text').fill('Run them again');
await page.keyboard.press('Enter');
await page.locator('#status', { hasText: 'completed' }).waitFor();
await page.locator('#events .user', { hasText: 'Run them again' }).waitFor();
assert.equal(await page.locator('#pause').isDisabled(), true);

// What was told is there once, and each part as what it is.
const total = Number((await page.locator('#shown').textContent()).split(' of ')[1]);
assert.equal(await page.locator('#events .user').count(), 2);
assert.match(await page.locator('#events .call').first().textContent(), /✗ runCmd · failed · exit 101.*running 2 tests.*result1 passed; 1 failed$/s);
assert.equal(await page.locator('#events .edit .who').textContent(), 'src/lib.rs · +1 −1');
assert.equal(await page.locator('#events .stderr').textContent(), 'test adds ... FAILED\n');
assert.deepEqual([await page.locator('#events del').allTextContents(), await page.locator('#events ins').allTextContents()], [['    left - right'], ['    left + right']]);
assert.match(await page.locator('#plan').textContent(), /\[~\] Correct the sum/);

// Back in its history by keyboard, and forward again.
await page.locator('#scrub').focus();
await page.keyboard.press('Home');
assert.equal(await page.locator('#events li').count(), 0);
await page.keyboard.press('ArrowRight');
assert.equal(await page.locator('#shown').textContent(), `1 of ${total}`);
await page.keyboard.press('End');
assert.equal(await page.locator('#shown').textContent(), `${total} of ${total}`);
await page.screenshot({ path: `${shots}/light.png`, fullPage: true });

// An `EventSource` by itself gets the same, in order, and stops once the session is over.
const ids = await page.evaluate(() => new Promise((resolve) => {
  const id = decodeURIComponent(location.hash.slice(1));
  const events = new EventSource(`/api/v1/sessions/${id}/events`);
  const ids = [];
  events.addEventListener('session', (event) => ids.push(Number(event.lastEventId)));
  events.onerror = () => { if (events.readyState === EventSource.CLOSED) resolve(ids); };
}));
assert.deepEqual(ids, Array.from({ length: total }, (_, idx) => idx + 1));

// The address names the session; dark and narrow pages have no part outside the window.
for (const [name, options] of [['dark', { colorScheme: 'dark' }], ['narrow', { viewport: { width: 360, height: 740 } }]]) {
  const other = await open(options);
  await other.goto(page.url());
  await other.reload();
  await other.locator('#status', { hasText: 'completed' }).waitFor();
  assert.equal(await other.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, name);
  await other.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
}

// Texts of others are shown, and never read as HTML; while the session runs, what steers it is in the window.
assert.equal((await page.request.post(`${url}/api/v1/tasks`, { data: { prompt: 'Render <b>me</b>' } })).status(), 201);
for (const [name, options] of [['wide', { viewport: { width: 1280, height: 800 } }], ['wide-dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }], ['phone', { viewport: { width: 390, height: 844 } }], ['phone-dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }]]) {
  const other = await open(options);
  const events = other.locator('#events');
  await events.locator('.assistant', { hasText: 'Another response' }).waitFor();
  assert.equal(await other.locator('#status').textContent(), 'running');
  assert.ok(await other.locator('#scroll').evaluate((scroll) => scroll.scrollTop > 100 && scroll.scrollTop + scroll.clientHeight > scroll.scrollHeight - 2), `${name}: the last event is in view`);
  for (const part of ['#title', '#pause', '#stop', '#text', '#sessions button[aria-current=true]']) {
    const { y, height } = await other.locator(part).boundingBox();
    assert.ok(y >= 0 && y + height <= options.viewport.height, `${name}: ${part} is in the window`);
  }
  assert.ok(await other.evaluate(() => document.documentElement.scrollHeight <= innerHeight), `${name}: the page itself does not scroll`);
  await other.screenshot({ path: `${shots}/${name}.png` });
  assert.equal(await other.evaluate(() => window.hit), undefined);
  assert.equal(await events.locator('script, img, iframe, i, b, [onerror]').count(), 0);
  assert.deepEqual(await events.locator('a').evaluateAll((links) => links.map((link) => `${link.rel} ${link.href}`)), ['noopener noreferrer https://example.org/a?b=1', 'noopener noreferrer http://evil.example/p.png']);
}
const hostile = page.locator('#events');
await page.goto(`${url}/#session-2`);
await hostile.locator('.assistant', { hasText: 'Another response' }).waitFor();
// Three pieces of a response are one message, those of the next one another.
assert.equal(await hostile.locator('.assistant').count(), 2);
assert.equal(await hostile.locator('.thought').textContent(), 'thoughtI look at it.');
const message = hostile.locator('.assistant').first();
const texts = (inside) => message.locator(inside).allTextContents();
assert.deepEqual([await texts('h3'), await texts('strong'), await texts('p code'), await texts('ul ul li'), await texts('ol li'), await texts('blockquote'), await texts('pre')], [['Plan'], ['sum'], ['a<b>c'], ['nested'], ['first', 'second'], ['quoted'], ['let x = 1 < 2; // **no**']]);
assert.ok((await message.textContent()).includes("<script>window.hit = 1</script><img src=x onerror='window.hit = 2'> [click](javascript:window.hit=3) pixel [data](data:text/html,<script>1</script>)"));
assert.equal(await hostile.locator('.output').textContent(), 'ok FAILED <i>not html</i>\norange rgb\n20%\n');
assert.deepEqual(await hostile.locator('.output span[style]').evaluateAll((spans) => spans.map((span) => span.getAttribute('style'))), ['color: var(--a2);', 'color: var(--a1); font-weight: 700;', 'color: rgb(255, 135, 0);', 'color: rgb(1, 2, 3);']);
assert.equal(await hostile.locator('.result').textContent(), "<img src=x onerror='window.hit = 4'> 1 failed");
assert.deepEqual(await hostile.locator('.assistant').nth(1).locator('span').evaluateAll((spans) => spans.map((span) => [span.textContent, span.getAttribute('style')])), [['resp', 'color: var(--a1);'], ['onse', 'color: var(--a1);']]);
// A diff shows what its heading counts.
assert.equal(await hostile.locator('.edit .who').first().textContent(), 'src/lib.rs · +2 −2');
assert.deepEqual([await hostile.locator('del').allTextContents(), await hostile.locator('ins').allTextContents()], [['b', 'j'], ['B', 'J']]);
await page.locator('#text').fill('Go on');
await page.keyboard.press('Enter');
await page.locator('#status', { hasText: 'completed' }).waitFor();
// Texts that make readers slow are shown without delay.
const took = await page.evaluate(() => {
  const began = performance.now();
  for (const text of ['`', '*', '**', '[', '_', '> ', '- ', '# ', '~~', '[a](', '\\', '\u001b[', '\u001b]', '\r', '  - ', '1. ']) {
    const long = text.repeat(100000);
    markdown(long); markdown(`${long}\n`.repeat(3)); markdown(`${text.repeat(1000)}\n\n`.repeat(50)); terminalText(document.createElement('div'), long);
  }
  return performance.now() - began;
});
assert.ok(took < 15000, `${took} ms`);

// Who reads with a screen reader finds each control by its name.
for (const [role, name] of [['button', 'Pause'], ['button', 'Send'], ['textbox', 'Prompt'], ['slider', /History/], ['combobox', 'Replay'], ['navigation', 'Sessions'], ['list', 'Events']]) {
  assert.equal(await page.getByRole(role, { name }).count(), 1, `${role} ${name}`);
}
assert.deepEqual(troubles, []);
await browser.close();
console.log('the page is in order');
