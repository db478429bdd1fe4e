// Somebody who uses the app as people do: they follow links and press buttons that they see, and type into fields by their
// labels. Each page that they come to must not make them stumble. What fails says who did what, where, and what was expected.
import { fillSignIn, open } from './browser.mjs';

// How long something that shows at once may take on a busy machine.
const SEEN_MS = 10_000;
const FOCUS_MS = 3_000;

export class Person {
  static async open(chrome, name, view, journey) {
    const tab = await open(chrome, { view, javaScriptEnabled: true });
    const person = Object.assign(new Person(), { name, tab, page: tab.page, journey, loads: 0, doing: 'begins' });
    tab.page.setDefaultTimeout(SEEN_MS);
    // A page that only sends on to another is not one that anybody waits for.
    tab.page.on('response', (response) => {
      const request = response.request();
      const isPage = request.isNavigationRequest() && request.frame() === tab.page.mainFrame();
      if (isPage && (response.status() < 300 || response.status() >= 400)) person.loads += 1;
    });
    return person;
  }

  fail(what) {
    const { pathname } = new URL(this.page.url());
    throw new Error(`${this.name} ${this.doing}, at ${pathname}: ${what}`);
  }

  async tries(doing, act, expected) {
    this.doing = doing;
    return act().catch((error) => this.fail(expected ? `expected ${expected}` : error.message.split('\n')[0]));
  }

  // What is wanted, once it is in sight.
  async seen(doing, locator, expected) {
    await this.tries(doing, () => locator.waitFor(), expected);
    return locator;
  }

  // Does what leads to a page, and looks whether that page makes them stumble.
  async goes(doing, act, expected = {}) {
    const { page } = this;
    const isPage = (response) => response.request().isNavigationRequest() && response.frame() === page.mainFrame()
      && (response.status() < 300 || response.status() >= 400);
    await this.tries(doing, async () => {
      const [response] = await Promise.all([page.waitForResponse(isPage).catch(() => null), act()]);
      if (!response) {
        const held = await page.evaluate(() => document.activeElement.validationMessage);
        throw new Error(held ? `the browser holds the form back: ${held}` : 'no page came');
      }
      await response.finished();
      await page.waitForLoadState('load');
    });
    await this.stumbles(expected);
    await this.journey.look(this, doing);
  }

  // A page is there, fits its view and complains of nothing; whoever has acted is told so at the focus, and nothing is wrong
  // that was not expected to be.
  async stumbles({ status = 200, isAct = false }) {
    const { page, tab } = this;
    if (tab.status !== status) this.fail(`status ${tab.status}, expected ${status}`);
    const wrong = page.locator('main [aria-invalid=true]:visible');
    if (status === 200 && ((await page.title()).startsWith('Error: ') || await wrong.count() > 0)) {
      this.fail(`an error that nobody expected: ${(await page.locator('.notice.bad, .error').allInnerTexts()).join(' ').replaceAll('\n', ' ')}`);
    }
    const width = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    if (width[0] > width[1]) this.fail(`the page is ${width[0]} px wide, and the view ${width[1]} px`);
    // A page that answers an act says so in a notice, and the focus is there, or on the first field that is wrong. Where the
    // address names a part of the page, the browser goes there instead.
    const awaited = status === 200 ? '#notice:focus, main :target' : '[aria-invalid=true]:focus, fieldset[aria-describedby$=-error] :focus';
    const says = status === 200 ? await page.locator('#notice').count() : await wrong.count();
    if (isAct && says > 0) {
      const focused = page.locator(awaited).first().waitFor({ state: 'attached', timeout: FOCUS_MS });
      if (await focused.then(() => false, () => true)) {
        const at = await page.evaluate(() => document.activeElement.outerHTML.slice(0, 80));
        this.fail(`the focus is not on ${status === 200 ? 'what was said' : 'the first wrong field'}, but on ${at}`);
      }
    }
    if (tab.complaints.length > 0) this.fail(tab.complaints.splice(0).join('; '));
  }

  // The start page, or a link that somebody was sent: nothing else is ever typed as an address.
  opens(url) {
    return this.goes('opens a link', () => this.page.goto(url));
  }

  async signsIn(base, member) {
    await this.goes('opens the start page', () => this.page.goto(base));
    await this.goes('signs in', () => fillSignIn(this.page, member));
  }

  // What is seen, and alone or first of its name.
  one(locator) {
    return locator.filter({ visible: true }).first();
  }

  link(name, within = this.page) {
    return this.one(within.getByRole('link', { name, exact: true }));
  }

  button(name, within = this.page) {
    return this.one(within.getByRole('button', { name, exact: true }));
  }

  field(label, within = this.page) {
    return this.one(within.getByLabel(label, { exact: true }));
  }

  group(name) {
    return this.page.getByRole('group', { name, exact: true });
  }

  section(name) {
    return this.page.getByRole('region', { name, exact: true }).or(this.page.getByRole('complementary', { name, exact: true }));
  }

  async follows(name, within) {
    const doing = `follows “${name}”`;
    const link = await this.seen(doing, this.link(name, within), 'a link of that name');
    return this.goes(doing, () => link.click());
  }

  // Presses what acts; a refusal is expected by its status.
  async presses(name, { within, status = 200, isAct = true } = {}) {
    const doing = `presses “${name}”`;
    const button = await this.seen(doing, this.button(name, within), 'a button of that name');
    return this.goes(doing, () => button.click(), { isAct, status });
  }

  // Presses what the browser holds back, which says why at a field. No page comes.
  async isHeldBack(name, label, why) {
    const doing = `presses “${name}”`;
    const button = await this.seen(doing, this.button(name), 'a button of that name');
    await this.tries(doing, () => button.click());
    const said = await this.tries(doing, () => this.field(label).evaluate(({ validationMessage }) => validationMessage));
    if (said !== why) this.fail(`the browser says “${said}”, expected “${why}”`);
  }

  // A page of the menu, which a phone opens first.
  async turnsTo(name) {
    const menu = this.page.getByText('Menu', { exact: true });
    if (await menu.isVisible()) await menu.click();
    await this.follows(name, this.page.getByRole('navigation', { name: 'Pages', exact: true }));
  }

  unfolds(name, within = this.page) {
    return this.tries(`opens “${name}”`, () => this.one(within.locator('summary', { hasText: name }).or(within.locator(`summary[aria-label="${name}"]`))).click());
  }

  // Fields by their labels; of a choice its option.
  async fills(fields, within) {
    for (const [label, value] of Object.entries(fields)) {
      const doing = `fills in “${label}”`;
      const field = await this.seen(doing, this.field(label, within), 'a field of that label');
      await this.tries(doing, async () => {
        if (await field.evaluate(({ tagName }) => tagName === 'SELECT')) await field.selectOption({ label: value });
        else if (typeof value === 'object') await field.setInputFiles(value);
        else await field.fill(value);
      });
    }
  }

  checks(label, within) {
    return this.tries(`checks “${label}”`, () => this.field(label, within).check(), 'a box or a choice of that label');
  }

  // What a page must say, in sight.
  async sees(...texts) {
    for (const text of texts) {
      await this.seen(`looks for “${text}”`, this.one(this.page.getByText(text)), 'the page to say so');
    }
  }

  async close() {
    await this.tab.context.close();
  }
}
