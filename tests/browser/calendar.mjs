// The calendar beside a field opens on the date that was typed, in figures as the organization writes them, or in words.
import { VIEWS, open, signIn } from './browser.mjs';

export async function walkCalendar(chrome, { base }, person, found) {
  const { page, context } = await open(chrome, { view: VIEWS[0], javaScriptEnabled: true });
  await signIn({ page, context }, base, person);
  await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  await page.goto(`${base}/app/audit`);
  const field = page.getByLabel('To', { exact: true });
  const picker = page.locator('#to ~ input[type=date]');
  for (const [typed, day] of [
    ['4/3/2027', '2027-03-04'],
    ['31.12.2027, 17:00', '2027-12-31'],
    ['Dec 31, 2027', '2027-12-31'],
    ['2027-12-31', '2027-12-31'],
    ['12/31/2027', ''],
    ['5', ''],
  ]) {
    await field.fill(typed);
    await page.getByRole('button', { name: 'Choose from a calendar: To', exact: true }).click();
    const opened = await picker.inputValue();
    if (opened !== day) found(`the calendar beside “${typed}” opens on “${opened}”, not on “${day}”`);
    await page.keyboard.press('Escape');
  }
  await context.close();
}
