// What a person does in the browser, and what every page must be.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

// scripts/test-browser installs the packages there.
const require = createRequire(process.env.BROWSER_PACKAGES + '/');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
export const { chromium } = require('playwright-core');

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
// How often Tab is pressed to get somewhere.
const TABS_MAX = 60;
const STEP_MS = 60_000;
const HAS_MS = 5_000;
// A line of a table's text is 44 px with its padding, two are 55.
const ROW_PX_MAX = 46;
const AXE_MS = 180_000;
// Where the next thing to do must be in reach without scrolling.
const NARROW_MAX = 390;

// The ways in which every page is looked at. Light and dark differ in style sheets only, which no script has a part in:
// what the pages are without the app's script is looked at in one scheme, on a desktop, a phone and the narrowest screen.
const view = (width, height, scheme, hasScript = true) => ({
  name: `${width} ${scheme}${hasScript ? '' : ' without the script'}`,
  width,
  hasScript,
  options: { viewport: { width, height }, colorScheme: scheme, timezoneId: 'America/New_York' },
});
// Scenes that count against the limit of wrong codes do without these. The narrowest has them without the script.
const spare = (view) => ({ ...view, isSpare: true });
export const VIEWS = [
  view(1280, 900, 'light'), view(1280, 900, 'dark'),
  view(390, 844, 'light'), view(390, 844, 'dark'),
  spare(view(1280, 900, 'light', false)), spare(view(390, 844, 'light', false)), view(320, 640, 'light', false),
];

export function expect(holds, what) {
  if (!holds) throw new Error(what);
}

// A browser of its own, whose cookies are nobody else's. It has no JavaScript, but where it is to look at pages: axe is
// a script. The policy of the app's pages still keeps out all scripts but the app's, and says so on the console.
export async function open(chrome, { view = VIEWS[0], javaScriptEnabled = false } = {}) {
  const context = await chrome.newContext({ ...view.options, javaScriptEnabled });
  if (!view.hasScript) await context.route('**/app/app.js?*', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  const tab = { page, context, view, complaints: [], status: 0 };
  page.on('console', (message) => {
    // That a page is an answer of 4xx is asserted, and no complaint.
    const isStatus = message.text().startsWith('Failed to load resource: the server responded with a status of 4');
    if (message.type() === 'error' && !(isStatus && message.location().url === page.url())) {
      tab.complaints.push(`${message.text()} (${message.location().url})`);
    }
  });
  page.on('pageerror', (error) => tab.complaints.push(String(error)));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText;
    // The browser breaks off what a page still loads (its fonts, say) when a scene goes on to the next page.
    if (why === 'net::ERR_ABORTED' && !request.isNavigationRequest()) return;
    tab.complaints.push(`${request.url()} failed: ${why}`);
  });
  page.on('response', (response) => {
    if (response.request().isNavigationRequest()) tab.status = response.status();
  });
  return tab;
}

export async function signIn({ page }, base, person) {
  await page.goto(`${base}/app/sign-in`);
  await fillSignIn(page, person);
  if (person.recoveryCodes) await fillRecoveryCode(page, person.recoveryCodes.pop());
}

export async function fillSignIn(page, { email, password }) {
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

// The second step, for those who have a second factor.
export async function fillRecoveryCode(page, code) {
  await page.getByText('Use a recovery code', { exact: true }).click();
  await page.getByLabel('Recovery code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Sign in with recovery code', exact: true }).click();
}

// Nothing is waited for without end.
function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`took more than ${ms} ms`)), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// How much wider than its view the page is, once it is drawn, and what sticks out. None if it fits.
async function overflow(page) {
  const measure = () => page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return null;
    const wide = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > clientWidth);
    const names = wide.slice(-3).map(({ tagName, className, textContent }) => `${tagName}.${className} “${textContent.trim().slice(0, 40)}”`);
    return `${scrollWidth} px of ${clientWidth}, ${names.join(', ')}`;
  });
  const until = Date.now() + HAS_MS;
  let wide = await measure();
  while (wide && Date.now() < until) wide = await measure();
  return wide;
}

// Whether one of these is in sight, with nothing above it, on the first screen of the page.
function isReached(elements) {
  scrollTo(0, 0);
  return elements.some((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const isInside = top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && bottom > top;
    return isInside && element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
  });
}

// Whether one of these begins in the upper half of the first screen of the page, with nothing above it.
function isSeen(elements) {
  scrollTo(0, 0);
  return elements.some((element) => {
    const { left, top, right } = element.getBoundingClientRect();
    return top >= 0 && top <= innerHeight / 2 && element.contains(document.elementFromPoint((left + right) / 2, top + 1));
  });
}

// What is wrong with the page that is shown, in a list.
export async function faults({ page, complaints, status, view }, expected) {
  // An act returns when its page has begun to arrive: what is measured before its stylesheet is there says nothing.
  await page.waitForLoadState('load');
  const found = [...complaints];
  complaints.length = 0;
  if (status !== (expected.status ?? 200)) found.push(`status ${status}`);
  const title = await page.title();
  if (!title.endsWith(' · Countersign')) found.push(`the title is “${title}”`);
  const headings = await page.locator('h1').count();
  if (headings !== 1) found.push(`${headings} h1`);
  for (const text of [expected.says ?? []].flat()) {
    if (await page.getByText(text).count() === 0) found.push(`does not say “${text}”`);
  }
  for (const selector of [expected.has ?? []].flat()) {
    // A field takes the focus when the page is first drawn, which on a busy machine is after it has loaded.
    const there = page.locator(selector).first().waitFor({ state: 'attached', timeout: HAS_MS });
    if (await there.then(() => false, () => true)) found.push(`has no ${selector}`);
  }
  for (const selector of view.width <= NARROW_MAX ? [expected.reach ?? []].flat() : []) {
    if (!await page.locator(selector).evaluateAll(isReached)) found.push(`${selector} is out of reach`);
  }
  for (const selector of view.width <= NARROW_MAX ? [expected.seen ?? []].flat() : []) {
    if (!await page.locator(selector).evaluateAll(isSeen)) found.push(`${selector} is not in sight at once`);
  }
  const tall = await page.evaluate(() => document.documentElement.scrollHeight);
  if (view.width > NARROW_MAX && tall > (expected.tall ?? tall)) found.push(`the page is ${tall} px high, of at most ${expected.tall}`);
  for (const selector of view.width > NARROW_MAX ? [expected.lines ?? []].flat() : []) {
    const high = await page.locator(selector).evaluateAll((rows, max) => rows.map((row) => [row.offsetHeight, row.innerText]).filter(([height]) => height > max), ROW_PX_MAX);
    for (const [height, text] of high) found.push(`a row is ${height} px high: ${text.replaceAll(/\s+/g, ' ').slice(0, 80)}`);
  }
  for (const selector of [expected.lacks ?? []].flat()) {
    if (await page.locator(selector).count() > 0) found.push(`has ${selector}`);
  }
  // The documentation is one file, whose policy names its script and its style.
  if (!expected.isAlone && await page.locator('script:not([src^="/app/app.js?v="], [src^="/app/verify.js?v="]), style, [style]').count() > 0) found.push('has a script or a style of its own');
  // Times stay in the organization's zone, which is UTC here. The reader's own, in New York, is the title.
  const times = await page.locator('main time:not([data-hour])').count();
  const short = await page.locator('main time.short').count();
  const inUtc = await page.locator('main time:not([data-hour], .short)', { hasText: 'UTC' }).count();
  if (short > 0 && await page.getByText(/^Times in UTC/).count() !== 1) found.push('short times, whose zone is not named once');
  const titled = await page.locator('main time[title*=E][title$=T]:not([data-hour])').count();
  if (inUtc !== times - short) found.push(`${inUtc} of ${times - short} times are in UTC`);
  if (titled !== (view.hasScript ? times : 0)) found.push(`${titled} of ${times} times have the reader's own as title`);
  const calendars = await page.locator('button[data-calendar]').count();
  const opened = await page.locator('button[data-calendar]:not([hidden])').count();
  if (opened !== (view.hasScript ? calendars : 0)) found.push(`${opened} of ${calendars} calendars can be opened`);
  if (await page.locator('button[data-copy]').count() > 0 && await page.locator('button[data-copy]:visible').count() > 0 !== view.hasScript) {
    found.push('the copy buttons are where they can do nothing, or not where they can');
  }
  const isRefusedForm = status === 409 || status === 422;
  if (title.startsWith('Error: ') !== (expected.isFailedForm ?? isRefusedForm)) found.push(`the title is “${title}” at status ${status}`);
  if (isRefusedForm && await page.locator('main [aria-invalid=true]:visible').count() > 0) {
    // The browser moves the focus after the page has loaded: on a busy machine, a little later.
    const focused = page.locator('[aria-invalid=true]:focus, fieldset[aria-describedby$=-error] :focus').first();
    if (!await focused.waitFor({ state: 'attached', timeout: 2000 }).then(() => true, () => false)) {
      found.push('the focus is not on a wrong field');
    }
  }
  const wide = await overflow(page);
  if (wide) found.push(`is too wide: ${wide}`);
  await page.evaluate(axe);
  // It is told to describe violations only: with all that it looked at, this takes three times as long.
  const { violations } = await within(AXE_MS, page.evaluate(
    (values) => window.axe.run({ runOnly: { type: 'tag', values }, resultTypes: ['violations'] }).then(({ violations }) => ({ violations })),
    RULES,
  ));
  for (const { id, help, nodes } of violations) {
    found.push(`axe: ${id} (${help}) at ${nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ')}`);
  }
  return [...found, ...complaints.splice(0)];
}

export async function screenshot({ page, view }, { name, isAlone = false }) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  const file = `${name} ${view.name}.png`.replaceAll(/[^\w.]+/g, '-');
  await page.screenshot({ path: path.join(folder, file), fullPage: !isAlone });
}

// Goes with Tab to what is wanted, as somebody without a mouse does, and sees to it that it shows where they are.
export async function tabTo(page, wanted) {
  const target = wanted.elementHandle();
  for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
    await page.keyboard.press('Tab');
    const isThere = await page.evaluate((element) => {
      if (document.activeElement !== element) return false;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return outlineStyle !== 'none' && outlineWidth !== '0px' ? true : 'unseen';
    }, await target);
    if (isThere === 'unseen') throw new Error(`the focus does not show on ${wanted}`);
    if (isThere) return;
  }
  throw new Error(`${TABS_MAX} times Tab do not lead to ${wanted}`);
}

// Presses Enter, and waits for the page that it leads to.
export async function enter(page) {
  await Promise.all([page.waitForEvent('framenavigated'), page.keyboard.press('Enter')]);
  await page.waitForLoadState('load');
}
