// The ways of a newcomer to a first active agreement, as the pages for newcomers describe them: with a token made in the
// app and the README's calls, and in the browser alone. What a page says is done as it stands there.
import fs from 'node:fs';
import { VIEWS, enter, expect, faults, open, screenshot, signIn, tabTo } from './browser.mjs';
import { Terminal } from './terminal.mjs';

const README = new URL('../../README.md', import.meta.url);
const COMPLETION = new URL('../../docs/draft-to-completion.md', import.meta.url);

// The blocks of the README's first deal: they ask for the token, propose, and look at the outcome.
function blocks() {
  const [, deal] = fs.readFileSync(README, 'utf8').split('\n## A first deal\n');
  const found = deal.split('\n## ')[0].split('```sh\n').slice(1).map((block) => block.split('```')[0]);
  expect(found.length === 3, `the README's first deal has ${found.length} blocks`);
  return found;
}

// Looks at every page of a walk in several views, with the cookies of whoever walks, in tabs beside theirs: a browser
// without JavaScript can't run axe. A walker who has JavaScript is looked at too, and so is what a page says only once.
async function lookers(chrome, views, walk, walker, found) {
  const tabs = await Promise.all(views.map((view) => open(chrome, { view, javaScriptEnabled: true })));
  const check = async (tab, says) => {
    for (const fault of await faults(tab, { says })) found(`${walk}, ${new URL(tab.page.url()).pathname}, ${tab.view.name}: ${fault}`);
  };
  const follow = async (tab, cookies, says) => {
    await tab.context.addCookies(cookies);
    await tab.page.goto(walker.page.url());
    await check(tab, says);
  };
  return {
    count: 0,
    async look(says) {
      this.count += 1;
      const cookies = await walker.context.cookies();
      await Promise.all([walker.hasJavaScript && check(walker, says), ...tabs.map((tab) => follow(tab, cookies, says))]);
    },
    close: () => Promise.all(tabs.map(({ context }) => context.close())),
  };
}

// A link to a decision, opened by somebody who is signed out and has no mouse, leads through the sign-in to the decision.
async function comeBack(chrome, stack, url) {
  const { page, context } = await open(chrome);
  await page.goto(url);
  expect(page.url().startsWith(`${stack.base}/app/sign-in?`), `signed out, the review leads to ${page.url()}`);
  await typeSignIn(page, stack.organizations[0].members[0]);
  expect(page.url() === url, `after signing in the browser is at ${page.url()}`);
  await context.close();
}

async function typeSignIn(page, { email, password }) {
  // The form takes the focus as it loads.
  await page.locator('#email:focus').waitFor();
  await page.keyboard.type(email);
  await tabTo(page, page.getByLabel('Password', { exact: true }));
  await page.keyboard.type(password);
  await tabTo(page, page.getByRole('button', { name: 'Sign in', exact: true }));
  await enter(page);
}

// The README's first deal, by somebody who has neither a mouse nor JavaScript: a token is made in the app, its calls
// propose, and a person confirms.
export async function walkReadme(chrome, stack, found) {
  const tab = await open(chrome);
  const { page, context } = tab;
  const [ask, propose, active] = blocks();
  const views = await lookers(chrome, VIEWS, 'The README’s first deal', tab, found);
  const go = async (role, name) => {
    await tabTo(page, page.getByRole(role, { name, exact: true }));
    await enter(page);
    await views.look();
  };
  await page.goto(stack.base);
  await views.look();
  await typeSignIn(page, stack.organizations[0].members[0]);
  await views.look();
  await go('link', 'Developers');
  await go('link', 'Access tokens');
  await tabTo(page, page.getByLabel('Token name', { exact: true }));
  await page.keyboard.type('First deal');
  await tabTo(page, page.getByLabel('Scope', { exact: true }));
  await page.getByLabel('Scope', { exact: true }).selectOption({ label: 'Read and write' });
  await go('button', 'Create token');
  const token = await page.getByLabel('Token value', { exact: true }).inputValue();

  const terminal = new Terminal(stack.folder);
  try {
    // The line is read by what asks for it.
    const said = await terminal.paste(`${ask}${token}\n${propose}`);
    expect(said.startsWith('{"'), `the calls print ${said}`);
    const proposal = JSON.parse(said);
    expect(proposal.action === 'publish_agreement', `the calls propose ${said}`);
    const { lifecycle: before } = await stack.call(`/api/v1/agreements/${proposal.agreement_id}`, undefined, { token });
    expect(before === 'draft', 'nothing happens before somebody confirms');
    await comeBack(chrome, stack, proposal.confirm_url);

    await page.goto(proposal.confirm_url);
    await views.look();
    await tabTo(page, page.getByLabel('Decision note', { exact: true }));
    await page.keyboard.type('Go ahead.');
    await go('button', 'Confirm');
    expect(await page.getByText('Confirmed by').count() > 0, 'the page does not say that it is confirmed');
    const outcome = await terminal.paste(active);
    expect(outcome.endsWith('"lifecycle":"active"'), `the last call prints ${outcome}`);
    const { lifecycle } = await stack.call(`/api/v1/agreements/${proposal.agreement_id}`, undefined, { token });
    expect(lifecycle === 'active', `the agreement is ${lifecycle}`);
  } finally {
    terminal.close();
  }
  await tabTo(page, page.getByRole('button', { name: 'Sign out', exact: true }));
  await enter(page);
  expect(page.url() === `${stack.base}/app/sign-in?ended=session`, `signing out leads to ${page.url()}`);
  await Promise.all([context.close(), views.close()]);
  return views.count;
}

// docs/first-deal.md, by the person of an organization that has nothing: in the browser alone, with the app's script on
// a wide screen, and without any JavaScript on a phone. The names are those of that page, in its order.
export async function walkFirstDeal(chrome, { base }, person, hasScript, found) {
  const view = VIEWS.find((view) => view.hasScript === hasScript && (view.width > 390) === hasScript);
  const tab = Object.assign(await open(chrome, { view, javaScriptEnabled: hasScript }), { hasJavaScript: hasScript });
  const { page, context } = tab;
  const others = VIEWS.filter((other) => other.hasScript === hasScript && !(hasScript && other === view));
  const views = await lookers(chrome, others, `A first deal in the browser, ${hasScript ? 'with' : 'without'} the script`, tab, found);
  const press = async (role, name, within = page) => {
    await within.getByRole(role, { name, exact: true }).click();
    await page.waitForLoadState('load');
    expect(tab.status < 400, `“${name}” leads to ${tab.status} ${page.url()}`);
    await views.look();
  };
  const fill = (label, text) => page.getByLabel(label, { exact: true }).fill(text);
  const choose = (label, option) => page.getByLabel(label, { exact: true }).selectOption({ label: option });
  const says = async (text) => expect(await page.getByText(text).count() > 0, `${page.url()} does not say “${text}”`);
  // A phone has the pages in a menu.
  const goTo = async (name) => {
    const menu = page.getByText('Menu', { exact: true });
    if (await menu.isVisible()) await menu.click();
    await press('link', name, page.getByRole('navigation', { name: 'Pages', exact: true }));
  };

  await page.goto(base);
  await views.look();
  await signIn(tab, base, person);
  await views.look('Begin your first agreement');

  // 1. Contacts.
  const parties = ['Ada Weiß', 'Bram de Wit'];
  for (const [n, name] of parties.entries()) {
    await goTo('Contacts');
    await fill('Name', name);
    await choose('Kind', 'Person');
    await fill('Email', `party-${n}@first-deal.example`);
    await press('button', 'Add contact');
  }

  // 2. Workspace.
  await goTo('Workspaces');
  await fill('Name', 'Harbor Street acquisition');
  await press('button', 'Create workspace');
  await press('link', 'Add people');
  for (const name of parties) await press('button', `Add ${name}`);

  // 3. Draft.
  await press('link', 'Back to Harbor Street acquisition');
  await press('link', 'New agreement');
  await press('link', 'Two-party signature');
  await fill('Agreement name', 'Letter of intent');
  await choose('First party', parties[0]);
  await choose('Second party', parties[1]);
  await press('button', 'Create draft');

  // 4. Document. The file is one that the browser prints.
  await says('Before you publish');
  await press('link', 'Upload the file of “Agreement”');
  const blank = await context.newPage();
  const buffer = await blank.pdf();
  await blank.close();
  await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'agreement.pdf', mimeType: 'application/pdf', buffer });
  await press('button', 'Save document');
  await says('SHA-256');
  const file = await context.request.get(new URL(await page.getByRole('link', { name: /^View/ }).first().getAttribute('href'), page.url()).href);
  expect(file.ok() && (await file.body()).equals(buffer), `“View” does not show the file: ${file.status()}`);

  // 5. Anything else: another step, with a waiting period, moved up and down again.
  await press('link', 'Back to the draft');
  await fill('Step name', 'Reflection');
  await press('button', 'Add step');
  await press('link', 'Waiting period');
  await fill('Duration', '14');
  await choose('Unit', 'days');
  await press('button', 'Add condition');
  await press('link', 'Back to the draft');
  await press('button', 'Move up: Reflection');
  await press('button', 'Move down: Reflection');

  // 6. Publish.
  await press('link', 'Review and publish', page.locator('.deal'));
  await says('What happens');
  for (const box of await page.locator('input[name^="although."]').all()) await box.check();
  await press('button', 'Publish');
  await says('Step 1 of 2');
  await says('History');
  await says(person.name);
  await press('link', 'Harbor Street acquisition', page.getByRole('main').locator('.page-head'));
  await says('Agreements of this workspace can be published.');
  expect(tab.complaints.length === 0, tab.complaints.join('; '));
  await Promise.all([context.close(), views.close()]);
  return views.count;
}

// What docs/draft-to-completion.md says: how a terminal comes to know the stack, the names that one presses to complete the
// first deal, and the call that looks at it.
function completion() {
  const page = fs.readFileSync(COMPLETION, 'utf8');
  const blocks = page.split('```sh\n').slice(1).map((block) => block.split('```')[0]);
  const known = blocks[0].split('\n').filter((line) => /^(BASE|TOKEN)=/.test(line)).join('\n');
  const steps = page.split('\n## Complete\n')[1].split('\n').filter((line) => /^\d+\. /.test(line));
  const names = steps.flatMap((step) => [...step.matchAll(/\*\*(.+?)\*\*/g)].map(([, name]) => name));
  expect(steps.length === 10 && names.length > 25, `the page has ${steps.length} steps with ${names.length} names`);
  return { known, names, outcome: blocks[1] };
}

// Draws in the field for a signature as a person does: two lines and a dot. With a finger where the screen knows fingers.
export async function draw(page) {
  const svg = page.locator('[data-pad] svg');
  await svg.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await svg.boundingBox();
  const hasTouch = await page.evaluate(() => navigator.maxTouchPoints > 0);
  const client = hasTouch && await page.context().newCDPSession(page);
  const touch = (type, points) => client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  const [down, move, up] = hasTouch
    ? [(...at) => touch('touchStart', [at]), (...at) => touch('touchMove', [at]), () => touch('touchEnd', [])]
    : [async (...at) => { await page.mouse.move(...at); await page.mouse.down(); }, (...at) => page.mouse.move(...at), () => page.mouse.up()];
  const before = await page.evaluate(() => scrollY);
  for (const line of [[[.1, .7], [.2, .2], [.3, .75], [.4, .3], [.5, .7]], [[.55, .8], [.75, .4], [.9, .75]], [[.6, .2]]]) {
    const at = ([right, below]) => [x + right * width, y + below * height];
    await down(...at(line[0]));
    for (const point of line.slice(1)) await move(...at(point));
    await up();
  }
  expect(await page.evaluate(() => scrollY) === before, 'drawing scrolls the page');
}

// Draws, clears and draws again, and answers what is drawn.
export async function drawTwice(page) {
  const drawn = async () => {
    const [path, sent] = await Promise.all([page.locator('[data-pad] path').getAttribute('d'), page.locator('#drawing').inputValue()]);
    expect(path === sent, `shown is ${path}, sent would be ${sent}`);
    return sent;
  };
  await draw(page);
  const first = await drawn();
  expect((first.match(/M/g) ?? []).length === 3 && (first.match(/L/g) ?? []).length >= 7, `two lines and a dot are ${first}`);
  await page.getByRole('button', { name: 'Clear the drawing', exact: true }).click();
  expect(await drawn() === '', 'it is not cleared');
  await draw(page);
  const second = await drawn();
  expect(second === first, `drawn again it is ${second}, not ${first}`);
  return second;
}

// Whether the page shows a drawn signature, as it was drawn.
export async function showsDrawing(page, path) {
  const shown = page.locator('svg.signature path');
  const { width } = await page.locator('svg.signature').boundingBox();
  expect(await shown.getAttribute('d') === path && width > 200, `the receipt shows ${await shown.getAttribute('d')}, ${width} px wide`);
}

// docs/draft-to-completion.md, “Complete”: the README's first deal from active to completed, by its participants and a
// member, each in a browser of their own. What the page says to press is pressed, and its call looks at the outcome. Where
// nobody has published the deal yet, the member does first.
export async function walkCompletion(chrome, stack, hasScript, found) {
  const began = Date.now();
  const page = completion();
  const view = VIEWS.find((view) => view.hasScript === hasScript && (view.width > 390) === hasScript);
  const others = VIEWS.filter((other) => other.hasScript === hasScript && !(hasScript && other === view));
  const all = [];
  const pressed = [];
  // A person's browser, with what they do in it.
  const begin = async () => {
    const tab = Object.assign(await open(chrome, { view, javaScriptEnabled: hasScript }), { hasJavaScript: hasScript });
    const walk = `From active to completed, ${hasScript ? 'with' : 'without'} the script`;
    const views = await lookers(chrome, others, walk, tab, found);
    all.push({ tab, views });
    const { page } = tab;
    return {
      page,
      tab,
      look: (says) => views.look(says),
      fill: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
      async press(role, name, within = page) {
        pressed.push(typeof name === 'string' ? name : name.source.replace(/^\^|: $/g, ''));
        await within.getByRole(role, { name, exact: true }).first().click();
        await page.waitForLoadState('load');
        expect(tab.status < 400, `“${name}” leads to ${tab.status} ${page.url()}`);
        await views.look();
      },
      async unfold(name) {
        pressed.push(name);
        await page.locator('summary', { hasText: name }).click();
      },
      async says(text) {
        expect(await page.getByText(text).count() > 0, `${page.url()} does not say “${text}”`);
      },
    };
  };
  const member = await begin();
  await signIn(member.tab, stack.base, stack.organizations[0].members[0]);
  const { id, lifecycle: before } = await stack.find('agreements', 'Cobalt Angels');
  const toDeal = async () => {
    await member.page.goto(`${stack.base}/app`);
    // A phone has the pages in a menu.
    const menu = member.page.getByText('Menu', { exact: true });
    if (await menu.isVisible()) await menu.click();
    await member.press('link', 'Agreements', member.page.getByRole('navigation', { name: 'Pages', exact: true }));
    await member.press('link', 'SAFE: Cobalt Angels');
  };
  await toDeal();
  if (before === 'draft') {
    await member.press('link', 'Review and publish');
    for (const box of await member.page.locator('input[name^="although."]').all()) await box.check();
    await member.press('button', 'Publish');
  }
  const deal = member.page.url();
  // Whoever has no script takes the link from the field that has it.
  const linkOf = async (name) => {
    await member.page.goto(deal);
    await member.press('button', `Show link of ${name}`);
    await member.says('Link shown');
    if (!hasScript) return member.page.getByLabel('Personal link', { exact: true }).inputValue();
    await member.tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await member.press('button', 'Copy link');
    return member.page.evaluate(() => navigator.clipboard.readText());
  };
  const attending = async (name) => {
    const link = await linkOf(name);
    const participant = await begin();
    await participant.page.goto(link);
    await participant.press('button', 'Continue');
    await participant.press('button', 'I agree');
    return participant;
  };

  const northwind = await attending('Northwind Robotics, Inc.');
  await northwind.press('link', 'Review and approve: Give your approval');
  await northwind.press('button', 'Approve');
  await northwind.says('You approved “Terms”');

  const priya = await attending('Priya Raman');
  await priya.press('link', 'Review and sign: Sign “SAFE”');
  await priya.fill('Type your name', 'Priya Raman');
  await priya.press('button', 'Sign');
  await priya.says('You signed “SAFE”');

  const cobalt = await attending('Cobalt Angels LLC');
  await cobalt.press('link', 'Review and sign: Sign “SAFE”');
  await cobalt.fill('Your name', 'Iris Cole');
  await cobalt.fill('Your title', 'Managing Member');
  if (hasScript) {
    const drawing = await drawTwice(cobalt.page);
    await cobalt.press('button', 'Sign');
    await showsDrawing(cobalt.page, drawing);
  } else {
    await cobalt.fill('Type your name to sign', 'Iris Cole');
    await cobalt.press('button', 'Sign');
  }
  await cobalt.says('Cobalt Angels LLC, by Iris Cole, Managing Member');
  await cobalt.press('link', 'Next: Answer questions');
  await cobalt.page.getByLabel('No', { exact: true }).check();
  await cobalt.press('button', 'Save draft');
  await cobalt.says('Draft saved');
  await cobalt.press('button', 'Send');
  await cobalt.says('You sent your answers');
  await cobalt.press('link', 'Next: Upload: LLC resolution');
  const blank = await cobalt.tab.context.newPage();
  const buffer = await blank.pdf();
  await blank.close();
  await cobalt.page.getByLabel('File', { exact: true }).setInputFiles({ name: 'resolution.pdf', mimeType: 'application/pdf', buffer });
  await cobalt.press('button', 'Upload');

  const readAnswers = async () => {
    await member.page.goto(`${stack.base}/app`);
    await member.says('Answers to read');
    await member.press('link', 'SAFE: Cobalt Angels');
    await member.press('link', 'Read answers of Cobalt Angels LLC');
  };
  await readAnswers();
  await member.unfold('Return…');
  await member.fill('Reason', 'Please ask your counsel again.');
  await member.press('button', 'Return');
  await member.says('Answers returned');

  await cobalt.press('link', 'SAFE: Cobalt Angels');
  await cobalt.press('link', 'Answer: Answer questions');
  await cobalt.says('Please ask your counsel again.');
  await cobalt.page.getByLabel('Yes', { exact: true }).check();
  await cobalt.press('button', 'Send');

  await readAnswers();
  await member.says('1 answer changed since revision 1');
  await member.press('button', 'Accept');
  await member.says('Answers accepted');
  await member.press('link', 'Back to the agreement');

  await member.press('link', 'Investment amount');
  await member.press('button', 'Authorize');
  await member.press('link', 'Enter instructions');
  await member.page.getByRole('radio', { name: 'IBAN', exact: true }).check();
  await member.fill('Account holder', 'Northwind Robotics, Inc.');
  await member.fill('Bank', 'Testbank');
  await member.page.getByRole('textbox', { name: 'IBAN', exact: true }).fill('DE89 3704 0044 0532 0130 00');
  await member.press('button', 'Enter instructions');
  await member.says('another member has to verify them');

  const devin = await begin();
  await signIn(devin.tab, stack.base, stack.organizations[0].members[1]);
  await devin.says('Instructions to verify');
  await devin.press('link', 'Investment amount');
  await devin.fill('IBAN', 'DE89 3704 0044 0532 0130 00');
  await devin.fill('Read out by', 'Nora West');
  await devin.page.getByLabel('Method', { exact: true }).selectOption({ label: 'Call back to a known number' });
  await devin.fill('Number called', '+1 212 555 0100');
  await devin.page.getByLabel('Where you have that number from', { exact: true }).selectOption({ label: 'From earlier dealings' });
  await devin.press('button', 'Verify instructions');
  await devin.press('button', 'Release instructions');

  const today = new Date().toLocaleDateString('en-GB', { timeZone: 'UTC' });
  await cobalt.press('link', 'SAFE: Cobalt Angels');
  await cobalt.press('link', /^View instructions: /);
  await cobalt.says('DE89370400440532013000');
  await cobalt.fill('Sent on', today);
  await cobalt.page.getByLabel('Reference type', { exact: true }).selectOption({ label: 'End-to-end ID' });
  await cobalt.fill('Reference', 'COBALT-1');
  await cobalt.press('button', 'I have sent it');
  await cobalt.says('It proves nothing');
  const claimed = await stack.call(`/api/v1/movements?agreement_id=${id}`);
  expect(claimed.data[0].state === 'sender_reported' && claimed.data[0].confirmed_at === null, `the payment is ${claimed.data[0].state}`);

  await northwind.press('link', 'SAFE: Cobalt Angels');
  await northwind.press('link', /^Check and report: /);
  await northwind.fill('Amount received', '250,000');
  await northwind.fill('Currency', 'USD');
  await northwind.fill('Value date', today);
  await northwind.press('button', 'It has arrived');

  await devin.page.goto(`${stack.base}/app`);
  await devin.says('Evidence to review');
  await devin.press('link', 'Investment amount');
  await devin.press('link', 'Review evidence');
  await devin.says('The full amount has arrived. The payment is confirmed received.');
  await devin.press('button', 'Accept evidence');
  await devin.says('Confirmed received');
  const { data: [confirmed] } = await stack.call(`/api/v1/movements?agreement_id=${id}`);
  expect(confirmed.state === 'reconciled' && confirmed.confirmation_basis === 'recipient_confirmation', `the payment is ${confirmed.state}`);

  await member.page.goto(deal);
  await member.look('Completed');
  const terminal = new Terminal(stack.folder);
  try {
    const outcome = await terminal.paste(`${page.known}\n${page.outcome}`);
    expect(outcome === '"lifecycle":"completed"', `the last call prints ${outcome}`);
  } finally {
    terminal.close();
  }
  const { lifecycle } = await stack.call(`/api/v1/agreements/${id}`);
  expect(lifecycle === 'completed', `the agreement is ${lifecycle}`);
  await cobalt.press('link', 'SAFE: Cobalt Angels');
  await cobalt.says('This agreement is completed');
  // Without the script there is nothing to copy with.
  const missing = page.names.filter((name) => !pressed.some((own) => own.startsWith(name)) && (hasScript || name !== 'Copy link'));
  expect(missing.length === 0, `the page says to press ${missing.join(', ')}`);
  const complaints = all.flatMap(({ tab }) => tab.complaints);
  expect(complaints.length === 0, complaints.join('; '));
  await Promise.all(all.flatMap(({ tab, views }) => [tab.context.close(), views.close()]));
  const count = all.reduce((count, { views }) => count + views.count, 0);
  return { count, seconds: Math.round((Date.now() - began) / 1000) };
}

// Somebody signs on a phone with a finger: the demo's grant agreement waits for her.
export async function walkDrawing(chrome, stack, found) {
  const view = VIEWS.find(({ width, hasScript }) => width === 390 && hasScript);
  const touched = { ...view, options: { ...view.options, hasTouch: true } };
  const member = await open(chrome);
  await signIn(member, stack.base, stack.organizations[0].members[0]);
  const grant = await stack.call(`/api/v1/agreements/${(await stack.find('agreements', 'Grant agreement')).id}`);
  const priya = grant.participants.find((participant) => participant.display_name === 'Priya Raman');
  await member.page.goto(`${stack.base}/app/agreements/${grant.id}/participants/${priya.id}/access`);
  const tab = await open(chrome, { view: touched, javaScriptEnabled: true });
  const { page } = tab;
  const press = async (role, name) => {
    // A tap, unlike a click, does not wait for the page that it leads to.
    await Promise.all([page.waitForEvent('framenavigated'), page.getByRole(role, { name, exact: true }).tap()]);
    await page.waitForLoadState('load');
    for (const fault of await faults(tab, {})) found(`A signature drawn on a phone, ${new URL(page.url()).pathname}: ${fault}`);
  };
  await member.page.getByRole('button', { name: 'Show link', exact: true }).click();
  await page.goto(await member.page.getByLabel('Personal link', { exact: true }).inputValue());
  await press('button', 'Continue');
  await press('button', 'I agree');
  await press('link', 'Review and sign: Sign “Grant agreement”');
  await press('link', 'Go to your signature');
  const drawing = await drawTwice(page);
  await screenshot(tab, { name: 'Participant, drawing with a finger' });
  await press('button', 'Sign');
  await showsDrawing(page, drawing);
  await screenshot(tab, { name: 'Participant, receipt of a drawing' });
  await Promise.all([tab.context.close(), member.context.close()]);
}
