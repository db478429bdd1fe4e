// Drives the app in headless Chromium without JavaScript and with it, from nothing to an active agreement, looks at every
// page with axe-core, in the views that looked.mjs chooses. Started by
// scripts/test-browser:
//
//   node test.mjs PROGRAM [NAME]    PROGRAM is the local stack; with NAME only scenes whose names have it, with --walk
//                                   only the first deal of the README and an attorney's purchase, with --people only the
//                                   walks of four people, and with --verify only bundles, the palette, the calendar and
//                                   what was typed
//
// Ends with 0, 1 when something is wrong, or 69 when the browser does not start.
import fs from 'node:fs';
import { VIEWS, chromium, expect, faults, open, screenshot, signIn } from './browser.mjs';
import { walkCalendar } from './calendar.mjs';
import { Journey, month, purchase, safe, trust } from './journeys.mjs';
import { LOOKED, note, viewsOf } from './looked.mjs';
import { Receiver } from './receiver.mjs';
import { SCENES, attend, deliveries, guard, links, owed, participantLink, payments, prepare, signFirst, statements, subscribe, trustOf, twoDocuments } from './scenes.mjs';
import { Stack } from './stack.mjs';
import { PAGES } from './standing.mjs';
import { walkTyped } from './typed.mjs';
import { walkPalette } from './palette.mjs';
import { bundles, lookAtVerdicts, verifyBundles } from './verifying.mjs';
import { walkCompletion, walkDrawing, walkFirstDeal, walkReadme } from './walks.mjs';

const [program, wanted = ''] = process.argv.slice(2);
// Proposals expire after about three seconds.
const TIME_SCALE = '86400';
const EXPIRY_MS = 120_000;
const NO_BROWSER = 69;
// From a token to a completed agreement, in seconds, looks at every page included. With what `make run` takes to compile
// (infra/OPERATIONS.md, "Figures") that stays within 15 minutes.
const WALK_S_MAX = 600;
const problems = [];
const WALKS = [purchase, safe, trust, month];

const chrome = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'],
}).catch((error) => {
  console.error(`The browser does not start: ${error.message}`);
  process.exit(NO_BROWSER);
});

// What waits is looked at again when a page comes back into sight, with its times in the reader's zone.
async function refreshes(stack, { safe }) {
  const tab = await open(chrome, { javaScriptEnabled: true });
  // Signing in leads Home: going there at once would break that off.
  await signIn(tab, stack.base, stack.organizations[0].members[0]);
  await tab.page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  const noted = 'Agreement that appears while Home is open';
  expect(await tab.page.getByText(noted).count() === 0, 'the agreement is there before it begins');
  await stack.call('/api/v1/agreements', { name: noted, workspace_id: safe.workspace_id, kind: 'general' });
  await tab.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await tab.page.getByRole('link', { name: noted }).waitFor();
  expect(await tab.page.locator('[data-refresh] time:not([title])').count() === 0, 'a refreshed time lacks the reader’s own');
  expect(tab.complaints.length === 0, tab.complaints.join('; '));
  await tab.context.close();
}

// Decides what scenes show decided.
async function decide(stack, { declined, cancelled }) {
  const tab = await open(chrome);
  await signIn(tab, stack.base, stack.organizations[0].members[0]);
  for (const [{ confirm_url: url }, note, button] of [[declined, 'Still needed.', 'Decline'], [cancelled, 'Done with.', 'Confirm']]) {
    await tab.page.goto(url);
    await tab.page.getByLabel('Decision note', { exact: true }).fill(note);
    await tab.page.getByRole('button', { name: button, exact: true }).click();
    expect(tab.page.url() === url && tab.status === 200, `deciding leads to ${tab.status} ${tab.page.url()}`);
  }
  await tab.context.close();
}

async function expiry(stack) {
  for (const began = Date.now(); Date.now() - began < EXPIRY_MS;) {
    if ((await stack.call('/api/v1/proposals?state=pending')).pagination.total === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('nothing expires');
}

// A problem is said at once: a run that is cut off has said what it found.
function found(problem) {
  problems.push(problem);
  console.error(problem);
}

// Looks at all scenes in one view.
async function look(view, scene, tabs, path, made) {
  const tab = tabs.get(scene.as ?? 'admin').get(view);
  try {
    await tab.page.goto(tab.base + path);
    await scene.act?.(tab.page, made);
    for (const fault of await faults(tab, scene)) found(`${scene.name}, ${view.name}: ${fault}`);
    await screenshot(tab, scene);
    if (scene.as === 'nobody') await tab.context.clearCookies();
  } catch (error) {
    found(`${scene.name}, ${view.name}: ${error.message}`);
  }
}

// Somebody's browser, signed in.
async function signedIn({ base }, { members: [person] }) {
  const tab = await open(chrome);
  await signIn(tab, base, person);
  return Object.assign(tab, { base, person });
}

const secondsSince = (began) => Math.round((Date.now() - began) / 1000);

// The README's deal, on to its end.
async function complete(demo, hasScript) {
  const { count, seconds } = await walkCompletion(chrome, demo, hasScript, found);
  console.log(`From active to completed, ${hasScript ? 'with' : 'without'} JavaScript: done, ${count} pages passed, ${seconds} s`);
  return count;
}

// The README's deal, by keyboard.
async function walkDeal(demo) {
  const started = Date.now();
  const count = await walkReadme(chrome, demo, found);
  console.log(`From a token to an active agreement with the README, by keyboard: done, ${secondsSince(started)} s`);
  return count;
}

// A person's walk from an empty stack, in one view. What it comes to goes with it.
async function journey(walk, view) {
  const stack = await Stack.start(program, '--seed', 'empty');
  stacks.push(stack);
  const way = Object.assign(new Journey(walk.name, chrome, stack, view), { receiver: receiver.base });
  try {
    await walk(way);
  } catch (error) {
    found(`The walk “${walk.name}”, ${view.name}: ${error.message}`);
  }
  await way.close();
  await stack.stop();
  return way;
}

// Walks of people, on a desktop and a phone beside each other. All of them come by every page of the table of what stands at once.
async function people(...walks) {
  const views = VIEWS.filter(({ name }) => name === '1280 light' || name === '390 light');
  const stood = new Map(views.map((view) => [view, []]));
  for (const walk of walks) {
    const started = Date.now();
    const ways = await Promise.all(views.map((view) => journey(walk, view)));
    for (const way of ways) stood.get(way.view).push(...way.stood);
    const loads = ways[0].loads ? `, ${ways[0].loads} of them up to the publication` : '';
    console.log(`The walk “${walk.name}”: ${ways[0].pages.length} pages${loads}, ${secondsSince(started)} s`);
  }
  if (walks.length < WALKS.length || problems.length > 0) return;
  for (const [view, pages] of stood) {
    const missing = Object.keys(PAGES).filter((name) => !pages.includes(name));
    if (missing.length > 0) found(`no walk comes by ${missing.join(', ')}, ${view.name}`);
  }
}

// The README's deal, from a token to its completion.
async function fromToken(demo) {
  const started = Date.now();
  const count = await walkDeal(demo) + await complete(demo, false);
  const seconds = secondsSince(started);
  console.log(`From a token to a completed agreement: ${seconds} s of at most ${WALK_S_MAX}`);
  if (seconds > WALK_S_MAX) found(`From a token to a completed agreement: ${seconds} s`);
  return count;
}

// The first deals of organizations that have nothing.
async function firstDeals(empty) {
  let count = 0;
  for (const [n, hasScript] of [true, false].entries()) {
    count += await walkFirstDeal(chrome, empty, empty.organizations[n].members[0], hasScript, found);
    console.log(`From nothing to an active agreement in the browser, ${hasScript ? 'with' : 'without'} JavaScript: done`);
  }
  return count;
}

// The newcomers' walks, each from the beginning: with the demo, and without anything.
async function walks(demo, empty) {
  const [withDemo, fromNothing] = await Promise.all([fromToken(demo), firstDeals(empty)]);
  console.log(`${withDemo + fromNothing} pages passed on the way, ${secondsSince(began)} s`);
}

async function main(stacks, receiver) {
  const [stack, late, empty] = await Promise.all([
    Stack.start(program, '--seed', 'demo'),
    Stack.start(program, '--seed', 'demo', '--time-scale', TIME_SCALE),
    Stack.start(program, '--seed', 'empty'),
  ].map((starting) => starting.then((started) => { stacks.push(started); return started; })));
  await walks(stack, empty);
  await empty.stop();
  if (wanted === '') await people(...WALKS);
  await expiry(late);
  const [admin, lateTab, colleagueTab] = await Promise.all([
    signedIn(stack, stack.organizations[0]),
    signedIn(late, late.organizations[0]),
    signedIn(stack, stack.organizations[1]),
  ]);
  const subscribed = await subscribe(admin, lateTab, receiver);
  const made = { receiver, lateTab, colleagueTab, ...subscribed, ...await prepare(stack, late) };
  await decide(stack, made);
  await refreshes(stack, made);
  const { decided_by: maren } = await stack.call(`/api/v1/proposals/${made.declined.id}`);
  made.two = await stack.call(`/api/v1/agreements/${await twoDocuments(admin, made)}`);
  Object.assign(made, await owed(admin, stack));
  const guardedTab = Object.assign(await open(chrome), { base: stack.base });
  Object.assign(made, await deliveries(admin, made), {
    maren: maren.id,
    links: await links(admin),
    admin,
    colleague: stack.organizations[1].members[0],
    guarded: await guard(guardedTab, admin, colleagueTab),
    guardedTab,
    signer: await participantLink(admin, made.grant, 'Priya Raman'),
    approver: await participantLink(admin, made.grant, 'Tomás Álvarez'),
    recipient: await participantLink(admin, made.grant, 'Riverside Makers Foundation'),
    beginner: await participantLink(admin, made.two, 'Riverside Makers Foundation'),
    returner: await participantLink(admin, made.two, 'Priya Raman'),
    household: await participantLink(admin, made.letter, 'The Ellery Household'),
    finished: await participantLink(admin, made.confidential, made.confidential.participants[0].display_name),
    newcomer: await participantLink(admin, made.letter, 'Ellery Family Trust'),
    answerer: await participantLink(admin, made.questionnaire, 'Riverside Makers Foundation'),
    answered: await participantLink(admin, made.questionnaire, 'Tomás Álvarez'),
    tenant: await participantLink(admin, made.berthLive, 'Marco Bianchi'),
  });
  const returnerTab = Object.assign(await open(chrome), { base: stack.base });
  await signFirst(returnerTab, made.returner);
  await returnerTab.context.close();
  const secondTab = Object.assign(await open(chrome), { base: stack.base });
  await signIn(secondTab, stack.base, stack.organizations[0].members[1]);
  made.recorder = secondTab;
  made.payments = await payments(admin, secondTab, stack, made);
  made.statements = await statements(admin);
  made.funding = await trustOf(stack);
  // Few recovery codes are left, with those of all views.
  while (made.guarded.recoveryCodes.length > 3 + LOOKED.length) {
    const { page, context } = await open(chrome);
    await signIn({ page }, stack.base, made.guarded);
    await context.close();
  }

  await readDocumentation(chrome, stack.base);
  await verifyAndGo(stack);
  // All that takes its time has happened there. A clock that goes on at this pace takes a third of a processor.
  await late.restart('--seed', 'demo');
  const lookers = {
    nobody: [stack],
    admin: [stack, stack.organizations[0].members[0]],
    member: [stack, stack.organizations[0].members[1]],
    colleague: [stack, stack.organizations[1].members[0]],
    late: [late, late.organizations[0].members[0]],
    guarded: [stack, made.guarded],
    signer: [stack, made.signer],
    approver: [stack, made.approver],
    recipient: [stack, made.recipient],
    beginner: [stack, made.beginner],
    returner: [stack, made.returner],
    household: [stack, made.household],
    finished: [stack, made.finished],
    newcomer: [stack, made.newcomer],
    answerer: [stack, made.answerer],
    answered: [stack, made.answered],
    tenant: [stack, made.tenant],
  };
  const tabs = new Map();
  for (const [name, [{ base }, person]] of Object.entries(lookers)) {
    const views = await Promise.all(LOOKED.map(async (view) => {
      const tab = Object.assign(await open(chrome, { view, javaScriptEnabled: true }), { base });
      if (person?.link) await attend(tab, person, name !== 'newcomer');
      else if (person) await signIn(tab, base, person);
      return [view, tab];
    }));
    tabs.set(name, new Map(views));
  }
  const scenes = SCENES.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  let looks = 0;
  for (const scene of scenes) {
    const path = typeof scene.path === 'function' ? await scene.path(made, late) : scene.path;
    await scene.before?.(stack, made);
    const views = viewsOf(scene);
    looks += views.length;
    await Promise.all(views.map((view) => look(view, scene, tabs, path, made)));
    await scene.after?.(stack, made);
  }
  const fresh = await Stack.start(program, '--seed', 'demo');
  stacks.push(fresh);
  await typed(fresh);
  await complete(fresh, true);
  await walkDrawing(chrome, fresh, found);
  console.log('A signature drawn with a finger: done');
  return { count: scenes.length, looks };
}

// A draft of the demo has a form and a file.
async function typed(stack) {
  await walkTyped(chrome, stack, stack.organizations[0].members[0], found);
  console.log('What was typed: done');
}

// Bundles on the public page, the palette, and the calendar.
async function verifyAndGo(stack) {
  const tab = await signedIn(stack, stack.organizations[0]);
  await tab.page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  const made = await bundles(tab, stack);
  await tab.context.close();
  await verifyBundles(chrome, stack.base, made, found);
  await lookAtVerdicts(chrome, stack.base, made, found);
  await walkPalette(chrome, stack, stack.organizations[0].members[0], found);
  await walkCalendar(chrome, stack, stack.organizations[0].members[0], found);
  console.log('Bundles on the public page, the palette and the calendar: done');
}

// The documentation without JavaScript: what needs it is hidden, and the examples in all languages can be read.
async function readDocumentation(chrome, base) {
  const { page, context } = await open(chrome);
  await page.goto(`${base}/docs`);
  expect(await page.locator('#search').isHidden(), 'the search of the documentation needs JavaScript');
  expect(await page.locator('.entry button:visible').count() === 0, 'so do its buttons');
  const entry = page.locator('#create_contact');
  const python = entry.locator('pre', { hasText: 'urllib.request' });
  expect(await python.isHidden(), 'one language is shown at first');
  await entry.locator('summary', { hasText: 'Python' }).click();
  expect(await python.isVisible(), 'the example in Python opens');
  await context.close();
}

const began = Date.now();
const stacks = [];
const receiver = await Receiver.start();
if (process.env.SCREENSHOTS) fs.mkdirSync(process.env.SCREENSHOTS, { recursive: true });
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => Promise.all(stacks.map((stack) => stack.stop())).finally(() => process.exit(1)));
}
try {
  if (wanted === '--walk') {
    stacks.push(await Stack.start(program, '--seed', 'demo'));
    await walkDeal(stacks[0]);
    await people(purchase);
  } else if (wanted === '--people') {
    await people(...WALKS);
  } else if (wanted === '--verify') {
    stacks.push(await Stack.start(program, '--seed', 'demo'));
    await verifyAndGo(stacks[0]);
    await typed(stacks[0]);
  } else {
    const { count, looks } = await main(stacks, receiver);
    console.log(`${count} pages and states looked at, ${looks} times in ${LOOKED.length} views, ${secondsSince(began)} s`);
    if (wanted === '' && problems.length === 0) note();
  }
} catch (error) {
  problems.push(error.stack);
} finally {
  await chrome.close();
  receiver.stop();
  await Promise.all(stacks.map((stack) => stack.stop()));
}
for (const problem of problems) console.error(`✗ ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
