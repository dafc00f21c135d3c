// Roles and names of the links, buttons and fields of a page that are in view, as Playwright sees them.
import { createRequire } from 'node:module';
import process from 'node:process';

const { chromium } = createRequire(`${process.cwd()}/`)('playwright-core');
const [url, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
await page.goto(url);
const found = await page.evaluate(() => Array.from(document.querySelectorAll('a[href], button, input')).flatMap((element) => {
  const box = element.getBoundingClientRect();
  const isInView = box.width > 0 && box.height > 0 && box.top < innerHeight && box.bottom > 0;
  const role = { A: 'link', BUTTON: 'button', INPUT: 'textbox' }[element.tagName];
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent.trim() ?? element.textContent;
  return isInView ? [[role, name]] : [];
}));
await browser.close();
console.log(JSON.stringify(found));
