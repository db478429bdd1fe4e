// A link, or another form, asks before what was typed in a form is lost; the form itself doesn’t, nor does a download.
import { VIEWS, open, signIn } from './browser.mjs';

export async function walkTyped(chrome, { base }, person, found) {
  const { page, context } = await open(chrome, { view: VIEWS[0], javaScriptEnabled: true });
  await signIn({ page, context }, base, person);
  await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  let asked = 0;
  page.on('dialog', (dialog) => {
    asked += dialog.type() === 'beforeunload' ? 1 : 0;
    return dialog.dismiss();
  });
  const money = page.getByRole('link', { name: 'Money', exact: true }).first();
  await page.goto(`${base}/app/contacts`);
  const name = page.locator('#display_name');
  await name.fill('Harbor Escrow');
  await Promise.all([page.waitForEvent('dialog'), money.click({ noWaitAfter: true })]);
  if (!page.url().startsWith(`${base}/app/contacts`)) found(`who stayed is at ${page.url()}`);
  if (await name.inputValue() !== 'Harbor Escrow') found('who stayed lost what was typed');
  await page.getByRole('button', { name: 'Add contact', exact: true }).click();
  await page.getByText('Harbor Escrow was added').first().waitFor();
  await money.click();
  await page.getByRole('heading', { name: 'Money', exact: true }).waitFor();
  if (asked !== 1) found(`the browser asked ${asked} times before a page was left, not once`);
  await page.goto(`${base}/app/agreements?lifecycle=draft`);
  await page.getByRole('link', { name: 'SAFE: Juniper Seed Fund II', exact: true }).click();
  await page.locator('#documents ~ * .row-main a').first().click();
  const label = page.getByLabel('Label', { exact: true });
  await label.fill('As a witness');
  await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download', exact: true }).click()]);
  if (asked !== 1) found('the browser asked before a download, which leaves no page');
  for (const other of [money, page.getByRole('button', { name: 'Save document', exact: true })]) {
    await Promise.all([page.waitForEvent('dialog'), other.click({ noWaitAfter: true })]);
    if (await label.inputValue() !== 'As a witness') found('who downloaded, and stayed, lost what was typed');
  }
  // So does a tab that is closed.
  await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
  await context.close();
}
