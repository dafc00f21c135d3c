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

// By keyboard: the first session of the list.
const session = page.locator('#sessions button').first();
await session.waitFor();
await session.focus();
await page.keyboard.press('Enter');
await page.locator('#events .assistant').first().waitFor();

// It waits for a prompt, so it can be paused, resumed and asked.
await page.locator('#pause').click();
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
assert.match(await page.locator('#events .call').first().textContent(), /runCmd · failed.*running 2 tests/s);
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
// Who reads with a screen reader finds each control by its name.
for (const [role, name] of [['button', 'Pause'], ['button', 'Send'], ['textbox', 'Prompt'], ['slider', /History/], ['combobox', 'Replay'], ['navigation', 'Sessions'], ['list', 'Events']]) {
  assert.equal(await page.getByRole(role, { name }).count(), 1, `${role} ${name}`);
}
assert.deepEqual(troubles, []);
await browser.close();
console.log('the page is in order');
