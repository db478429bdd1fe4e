// The ways of a newcomer to a first active agreement, as the pages for newcomers describe them: with a token made in the
// app and the README's calls, and in the browser alone. What a page says is done as it stands there.
import fs from 'node:fs';
import { VIEWS, enter, expect, faults, open, signIn, tabTo } from './browser.mjs';
import { Terminal } from './terminal.mjs';

const README = new URL('../../README.md', import.meta.url);

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
  await press('link', 'Publish');
  await says('What happens');
  await press('button', 'Publish');
  await says('Active: step 1 of 2');
  await says('History');
  await says(person.name);
  await press('link', 'Harbor Street acquisition', page.getByRole('complementary'));
  await says('Agreements of this workspace can be published.');
  expect(tab.complaints.length === 0, tab.complaints.join('; '));
  await Promise.all([context.close(), views.close()]);
  return views.count;
}

// docs/draft-to-completion.md, “Complete”: the demo's grant agreement from half-way to completed, by its participants and
// a member, each in a browser of their own, and with the names of that page.
export async function walkCompletion(chrome, stack, hasScript, found) {
  const view = VIEWS.find((view) => view.hasScript === hasScript && (view.width > 390) === hasScript);
  const others = VIEWS.filter((other) => other.hasScript === hasScript && !(hasScript && other === view));
  const all = [];
  // A person's browser, with what they do in it.
  const begin = async () => {
    const tab = Object.assign(await open(chrome, { view, javaScriptEnabled: hasScript }), { hasJavaScript: hasScript });
    const walk = `From half-way to completed, ${hasScript ? 'with' : 'without'} the script`;
    const views = await lookers(chrome, others, walk, tab, found);
    all.push({ tab, views });
    const { page } = tab;
    return {
      page,
      tab,
      look: (says) => views.look(says),
      fill: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
      async press(role, name) {
        await page.getByRole(role, { name, exact: true }).first().click();
        await page.waitForLoadState('load');
        expect(tab.status < 400, `“${name}” leads to ${tab.status} ${page.url()}`);
        await views.look();
      },
      async says(text) {
        expect(await page.getByText(text).count() > 0, `${page.url()} does not say “${text}”`);
      },
    };
  };
  const member = await begin();
  await signIn(member.tab, stack.base, stack.organizations[0].members[0]);
  const { id } = await stack.find('agreements', 'Grant agreement');
  const grant = `${stack.base}/app/agreements/${id}`;
  // Whoever has no script takes the link from the participant's page.
  const attending = async (name) => {
    await member.page.goto(grant);
    await member.press('link', `Link and record of ${name}`);
    const link = await member.page.getByLabel('Personal link', { exact: true }).inputValue();
    const participant = await begin();
    await participant.page.goto(link);
    await participant.press('button', 'Continue');
    if (await participant.page.getByRole('button', { name: 'I agree', exact: true }).count() > 0) await participant.press('button', 'I agree');
    return participant;
  };

  const priya = await attending('Priya Raman');
  await priya.press('link', 'Review and sign: Sign “Grant agreement”');
  await priya.fill('Type your name', 'Priya Raman');
  await priya.press('button', 'Sign');
  await priya.says('You signed “Grant agreement”');

  const riverside = await attending('Riverside Makers Foundation');
  await riverside.press('link', 'Choose a file: Upload a file');
  const blank = await riverside.tab.context.newPage();
  const buffer = await blank.pdf();
  await blank.close();
  await riverside.page.getByLabel('File', { exact: true }).setInputFiles({ name: 'report.pdf', mimeType: 'application/pdf', buffer });
  await riverside.press('button', 'Upload');
  await riverside.press('link', 'Next: Answer questions');
  await riverside.fill('How many students took part?', '48');
  await riverside.press('button', 'Save draft');
  await riverside.says('Draft saved');
  await riverside.fill('When did the workshops end?', 'June 12, 2026');
  await riverside.fill('Account holder', 'Riverside Makers Foundation');
  await riverside.fill('Bank', 'First Bank of Albany');
  await riverside.fill('IBAN or account number', 'DE89 3704 0044 0532 0130 00');
  await riverside.press('button', 'Send');
  await riverside.says('You sent your answers');

  const readAnswers = async () => {
    await member.page.goto(`${stack.base}/app`);
    await member.press('link', 'Grant agreement: Riverside Makers');
    await member.press('link', 'Read answers of Riverside Makers Foundation');
  };
  await readAnswers();
  await member.says('IBAN ending in 3000');
  await member.page.locator('summary', { hasText: 'Return…' }).click();
  await member.fill('Reason', 'Please count the helpers too.');
  await member.press('button', 'Return');
  await member.says('Answers returned');

  await riverside.press('link', 'Grant agreement: Riverside Makers');
  await riverside.press('link', 'Answer: Answer questions');
  await riverside.says('Please count the helpers too.');
  await riverside.fill('How many students took part?', '53');
  await riverside.press('button', 'Send');

  await readAnswers();
  await member.says('1 answer changed since revision 1');
  await member.press('button', 'Accept');
  await member.says('Answers accepted');
  await member.press('link', 'Back to the agreement');
  await member.says('Completed');
  const { lifecycle } = await stack.call(`/api/v1/agreements/${id}`);
  expect(lifecycle === 'completed', `the agreement is ${lifecycle}`);
  await riverside.press('link', 'Grant agreement: Riverside Makers');
  await riverside.says('This agreement is completed');
  const complaints = all.flatMap(({ tab }) => tab.complaints);
  expect(complaints.length === 0, complaints.join('; '));
  await Promise.all(all.flatMap(({ tab, views }) => [tab.context.close(), views.close()]));
  return all.reduce((count, { views }) => count + views.count, 0);
}
