// The steps of `tests/scenarios/browser/01-sign-in.yaml` as somebody writes them for Playwright. Prints the seconds from
// the first of them to the last, without the browser's start.
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';
import process from 'node:process';

// From the working directory, where the packages are.
const { chromium } = createRequire(`${process.cwd()}/`)('playwright-core');
const [base, executablePath] = process.argv.slice(2);
const PASSWORD = process.env.CUECARD_VAR_PASSWORD;

const browser = await chromium.launch({ executablePath });
const context = await browser.newContext({
  viewport: { width: 1280, height: 720 }, locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce',
});
const page = await context.newPage();
const shown = (text) => page.getByText(text).waitFor({ timeout: 5000 });
const email = page.getByRole('textbox', { name: 'E-mail' });
const password = page.getByLabel('Password', { exact: true });
const logIn = page.getByTestId('submit');
await page.goto(`${base}/login.html`);

const began = performance.now();
assert.equal(await page.title(), 'Sign in');
await shown('Three attempts left.');
await logIn.click();
await shown('Please enter your e-mail.');
await email.fill('ana');
await logIn.click();
await shown('That is not an e-mail address.');
await page.getByText('Please enter your e-mail.').waitFor({ state: 'hidden', timeout: 5000 });
await email.fill('ana@example.org');
await logIn.click();
await shown('Please enter your password.');
await password.fill(PASSWORD);
const remember = page.getByRole('checkbox', { name: 'Remember me' });
await remember.check();
assert.ok(await remember.isChecked());
assert.equal(await email.inputValue(), 'ana@example.org');
await logIn.click();
await page.waitForURL('**/home.html');
assert.equal(await page.title(), 'Home');
await page.getByRole('heading', { name: 'Welcome' }).waitFor({ timeout: 5000 });
await shown('You are signed in.');
const seconds = (performance.now() - began) / 1000;

await browser.close();
console.log(JSON.stringify({ seconds }));
