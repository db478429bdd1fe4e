// The palette: from the keyboard to a page, an act or what the search finds.
import { VIEWS, faults, open, screenshot, signIn } from './browser.mjs';

const HAS_MS = 10_000;

async function opened(chrome, { base }, person, view) {
  const tab = await open(chrome, { view, javaScriptEnabled: true });
  await signIn(tab, base, person);
  await tab.page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  await tab.page.keyboard.press('Control+k');
  return tab;
}

export async function walkPalette(chrome, stack, person, found) {
  const tab = await opened(chrome, stack, person, VIEWS[0]);
  const { page } = tab;
  const field = page.getByRole('combobox', { name: 'Search, or go to a page' });
  const option = (name) => page.getByRole('option', { name });
  const expects = async (what, condition) => {
    const until = Date.now() + HAS_MS;
    while (!await condition()) {
      if (Date.now() > until) {
        found(`the palette: ${what}`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const active = async () => {
    const id = await field.getAttribute('aria-activedescendant');
    const [selected, ...others] = await page.locator('[role=option][aria-selected=true]').all();
    return others.length === 0 && selected && await selected.getAttribute('id') === id ? selected.innerText() : '';
  };
  // Once a page has loaded, its script listens.
  const goes = async (what, fits) => page.waitForURL(fits, { timeout: HAS_MS, waitUntil: 'load' }).catch(() => found(`the palette does not lead to ${what}`));

  await expects('the focus is not in its field', () => field.evaluate((element) => element === document.activeElement));
  // Arrow keys go round, Escape closes it and gives the focus back.
  const first = await active();
  await page.keyboard.press('ArrowDown');
  await expects('an arrow does not move', async () => await active() !== first);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowDown');
  await expects('the arrows do not go round', async () => await active() === first);
  await page.keyboard.press('Escape');
  await expects('Escape does not close it', async () => await field.count() === 0);
  // Asked for again at once, it opens again.
  await page.evaluate(() => {
    const press = () => document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
    for (let times = 0; times < 3; times += 1) press();
  });
  await expects('it does not open again while it closes', async () => await field.count() === 1);
  await page.keyboard.press('Escape');
  await expects('Escape does not close it again', async () => await field.count() === 0);
  // A page.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('works');
  await expects('it has no page', async () => (await active()).startsWith('Workspaces'));
  await page.keyboard.press('Enter');
  await goes('a page', '**/app/workspaces');
  // An act.
  await page.keyboard.press('Meta+k');
  await page.keyboard.type('add a con');
  await expects('it has no act', async () => (await active()).startsWith('Add a contact'));
  await page.keyboard.press('Enter');
  await goes('an act', '**/app/contacts#add');
  // What the search finds.
  const { data: [contact] } = await stack.call('/api/v1/contacts');
  await page.keyboard.press('Control+k');
  await page.keyboard.type(contact.display_name);
  await option(contact.display_name).filter({ hasText: 'Contacts' }).first().waitFor({ timeout: HAS_MS }).catch(() => found('the palette finds no contact'));
  await option(contact.display_name).filter({ hasText: 'Contacts' }).first().click();
  await goes('what was found', /\/app\/contacts\/[0-9a-f-]{36}$/);
  // All of it, on the search page.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('zzz none');
  await expects('it does not lead to the search', async () => (await active()).startsWith('Search everything for “zzz none”'));
  await page.keyboard.press('Enter');
  await goes('the search', ({ pathname, search }) => pathname === '/app/search' && search === '?q=zzz%20none');
  for (const complaint of tab.complaints) found(`the palette: ${complaint}`);
  await tab.context.close();

  for (const view of VIEWS.filter(({ hasScript }) => hasScript)) {
    const looked = await opened(chrome, stack, person, view);
    await looked.page.keyboard.type('con');
    await looked.page.getByRole('option', { name: 'Search everything' }).waitFor();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    for (const fault of await faults(looked, { has: 'dialog[open] [role=option][aria-selected=true]' })) found(`Palette, ${view.name}: ${fault}`);
    await screenshot(looked, { name: 'Palette', isAlone: true });
    await looked.context.close();
  }
}
