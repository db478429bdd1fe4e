// Every page of the app in every state that it has, a line each.
//
//   name      what it is called when something is wrong with it, and in the names of screenshots
//   path      where it is; a function gets what `prepare` has made
//   as        who looks: `admin` (the default), `member`, `colleague` (an admin of another organization), `late` (an
//             admin on the stack on which everything expires at once), `guarded` (a member with a second factor),
//             `nobody`, or a participant: `signer`, `approver`, `household`, `recipient`, `finished`, `answerer`, `answered`,
//             `tenant` (who owes something), `beginner` and `returner` (who have signed none and one of two documents), and `newcomer` (without consent)
//   act       what is done on the page to get to the state, in every view: something that can be repeated
//   before, after   what is changed for the scene, and changed back
//   status    the status of the page, if not 200
//   says      what must be on it
//   isFailedForm   whether the title says so, if that does not follow from the status
//   isCounted      whether it uses up something that the app counts (wrong codes, replaced secrets): not all views may, see `VIEWS`
//   reach     selectors of what must be in sight on the first screen without scrolling, on a phone
//   seen      selectors of what must begin in its upper half, on a phone
//   tall      the most pixels that the page may be high, on a desktop
//   lines     selectors of rows of a table that must be a line each, on a desktop
//   has, lacks   selectors of what must be on it, and of what must not
import { createHmac } from 'node:crypto';
import { fillRecoveryCode, fillSignIn } from './browser.mjs';
import { drawTwice } from './walks.mjs';

// How long what happens by itself may take.
const SOON_MS = 120_000;

// Adds an endpoint as somebody who is signed in, and answers where its page is.
async function addEndpoint({ page }, base, url, ...types) {
  await page.goto(`${base}/app/developers`);
  await fillEndpoint(page, url, ...types);
  return new URL(page.url()).pathname;
}

async function fillEndpoint(page, url, ...types) {
  await page.getByLabel('Endpoint URL', { exact: true }).fill(url);
  if (types.length > 0) await page.getByLabel('Selected events', { exact: true }).check();
  for (const type of types) await page.getByLabel(type, { exact: true }).check();
  await press('Add endpoint')(page);
}

// Waits for a page to say something, as somebody does who presses Reload.
async function reloadUntil(page, path, fits) {
  await page.goto(path);
  for (const began = Date.now(); !await fits(page);) {
    if (Date.now() - began > SOON_MS) throw new Error(`${path} does not come to what it should be`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await page.reload();
  }
}

const badges = (page, text) => page.locator('main .table .badge', { hasText: text }).count();

// Endpoints in every state. What they are told follows, but for a delivery that nobody acknowledged in five attempts.
export async function subscribe(tab, lateTab, receiver) {
  const made = {
    working: await addEndpoint(tab, tab.base, `${receiver.base}/ok`),
    busy: await addEndpoint(tab, tab.base, `${receiver.base}/busy/webhooks`, 'proposal.created', 'proposal.confirmed', 'proposal.declined', 'agreement.published'),
    paused: await addEndpoint(tab, tab.base, `${receiver.base}/ok/with/a/path/that/goes/on/and/on/as/addresses/of/integrations/do?tenant=harbor-and-pine&environment=production`, 'proposal.created'),
    failing: await addEndpoint(tab, tab.base, `${receiver.base}/broken`, 'proposal.created', 'agreement.published'),
    given: await addEndpoint(lateTab, lateTab.base, `${receiver.base}/down`),
  };
  await tab.page.goto(tab.base + made.paused);
  await press('Pause')(tab.page);
  const { page, base } = lateTab;
  await page.goto(base + made.given);
  await press('Send test event')(page);
  made.exhausted = new URL(page.url()).pathname;
  await reloadUntil(page, base + made.exhausted, () => page.getByText('All 5 attempts failed').isVisible());
  receiver.isDown = false;
  for (let n = 0; n < 2; n += 1) {
    await page.goto(base + made.given);
    await press('Send test event')(page);
    await page.getByText('Test event delivered').waitFor();
  }
  return made;
}

// Deliveries to look at, once what was done has been told.
export async function deliveries({ page, base }, { working, busy, failing }) {
  const first = async (path) => new URL(await page.locator('main .table a').first().getAttribute('href'), base + path).pathname;
  await reloadUntil(page, `${base}${failing}?state=waiting`, async () => await badges(page, 'Retrying') > 0);
  const waiting = await first(failing);
  await reloadUntil(page, `${base}${working}?state=delivered`, async () => await badges(page, 'Delivered') > 0);
  const delivered = await first(working);
  await reloadUntil(page, `${base}${busy}?state=waiting`, async () => await badges(page, 'Retrying') > 0);
  await reloadUntil(page, `${base}${working}?state=queued`, async () => await badges(page, 'Queued') === 0);
  return { waiting, delivered };
}

// Sends a form, and gives the cookies of a browser that is about to be shown the outcome, which is shown once and within
// two minutes.
async function outcome({ context, base }, action, form) {
  const answer = await context.request.post(base + action, { form, maxRedirects: 0 });
  if (answer.status() !== 303) throw new Error(`${action} answered ${answer.status()}`);
  return (await context.cookies()).map(({ name, value }) => ({ name, value, url: base }));
}

// Shows the outcome in another browser.
const show = (cookies) => async (page, made) => {
  await page.context().addCookies(cookies(made));
  await page.reload();
};

const formToken = (page) => page.locator('input[name=form_token]').first().inputValue();

async function remove(tab) {
  await tab.page.goto(`${tab.base}/app/organization`);
  const inputs = tab.page.locator('main form[action^="/app/organization/members?"], main form[action="/app/organization/members"]').first().locator('input');
  const form = Object.fromEntries(await inputs.evaluateAll((all) => all.map(({ name, value }) => [name, value])));
  return outcome(tab, '/app/organization/members', form);
}

async function newCodes(tab, { recoveryCodes }) {
  await tab.page.goto(tab.base + SECOND_FACTOR);
  return outcome(tab, `${SECOND_FACTOR}/recovery-codes`, { form_token: await formToken(tab.page), code: recoveryCodes.pop() });
}

async function reset(tab, { name }) {
  await tab.page.goto(`${tab.base}/app/organization`);
  const form = tab.page.locator('form', { has: tab.page.locator(`button[aria-label="Reset second factor of ${name}"]`) });
  return outcome(tab, await form.getAttribute('action'), { form_token: await formToken(tab.page), own_password: tab.person.password });
}

// The code of an authenticator app with a key, as RFC 6238 has it.
function codeOf(key) {
  const bits = [...key.replaceAll(' ', '')].map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'));
  const secret = Buffer.from(bits.join('').match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac('sha1', secret).update(step).digest();
  return String((hash.readUInt32BE(hash.at(-1) & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

// Begins to set up a second factor, unless that has begun.
async function setUp(page, { password }) {
  if (await page.locator('#key').count() > 0) return;
  await page.getByLabel('Current password', { exact: true }).fill(password);
  await press('Set up second factor')(page);
}

// A new member of the admin's organization, who turns on a second factor and is invited to the colleague's too.
export async function guard({ page, base }, admin, colleague) {
  const guarded = { name: 'Ines Moreau', email: 'ines@members.example', password: 'lantern orchard velvet' };
  const invite = async (tab) => {
    await tab.page.goto(`${base}/app/organization`);
    await fillInvitation(tab.page, guarded.email, tab.person);
    return new URL(await tab.page.locator('#link').inputValue()).pathname;
  };
  await page.goto(base + await invite(admin));
  await page.getByLabel('Your name', { exact: true }).fill(guarded.name);
  await page.getByLabel('New password', { exact: true }).fill(guarded.password);
  await press('Accept invitation')(page);
  await page.goto(base + SECOND_FACTOR);
  await setUp(page, guarded);
  await page.getByLabel('Code from your app', { exact: true }).fill(codeOf(await page.locator('#key').textContent()));
  await press('Turn on')(page);
  const recoveryCodes = (await page.locator('#codes').textContent()).trim().split('\n');
  return { ...guarded, recoveryCodes, invitation: await invite(colleague) };
}

// Adds endpoints until there is no room for another one.
async function fill({ page, context, base }, url) {
  await page.goto(`${base}/app/developers`);
  const form = { form_token: await page.locator('input[name=form_token]').first().inputValue(), url };
  for (let added = 0; added <= 20; added += 1) {
    const answer = await context.request.post(`${base}/app/developers`, { form, maxRedirects: 0 });
    if (answer.status() === 422) return;
    if (answer.status() !== 303) throw new Error(`adding an endpoint answered ${answer.status()}`);
  }
  throw new Error('there is room for ever more endpoints');
}

// At the pace of that stack two weeks are over soon.
async function completion(late) {
  for (const began = Date.now(); Date.now() - began < 2 * SOON_MS; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const found = await late.find('agreements', 'Notice of fees');
    if (found.lifecycle === 'completed') return found;
  }
  throw new Error('the notice does not come to its end');
}

export async function prepare(stack, late) {
  const draft = async (workspace, name) => stack.call('/api/v1/agreements', { workspace_id: workspace.id, name });
  const quay = await stack.call('/api/v1/workspaces', { name: 'Quayside lease' });
  const large = await stack.call('/api/v1/workspaces', { name: 'A workspace with a name that goes on and on, as names of matters do: Harbor Street, Quayside & Old Custom House acquisition' });
  const empty = await stack.call('/api/v1/workspaces', { name: 'Empty' });
  const lease = await draft(quay, 'Lease');
  const changed = await stack.propose('cancel_agreement', lease, 'The landlord has withdrawn.\nNothing was signed.');
  const grace = await stack.call('/api/v1/contacts', { display_name: 'Grace Adeyemi', kind: 'person', email: 'grace@adeyemi.example' });
  await stack.call(`/api/v1/agreements/${lease.id}/participants`, { contact_id: grace.id, roles: ['signer', 'approver'] });
  for (let n = 1; n <= 51; n += 1) {
    const matter = await stack.call('/api/v1/workspaces', { name: `Matter ${n}` });
    await stack.propose('cancel_agreement', await draft(matter, `Engagement ${n}`));
    await draft(large, `Schedule ${n}`);
  }
  const { data: [pending] } = await stack.call(`/api/v1/proposals?state=pending&agreement_id=${(await stack.find('agreements', 'Juniper')).id}`);
  return {
    quay,
    empty,
    large,
    lease,
    changed,
    pending,
    declined: await stack.propose('cancel_agreement', await draft(quay, 'Parking spaces'), 'Is this still needed?'),
    cancelled: await stack.propose('cancel_agreement', await draft(quay, 'Storage unit')),
    juniper: (await stack.call('/api/v1/contacts?search=deals%40juniper')).data[0],
    blocked: await stack.call(`/api/v1/agreements/${(await stack.find('agreements', 'Advisory')).id}`),
    safe: await stack.call(`/api/v1/agreements/${(await stack.find('agreements', 'Juniper')).id}`),
    letter: await stack.call(`/api/v1/agreements/${(await stack.find('agreements', 'Engagement letter')).id}`),
    notice: await stack.find('agreements', 'Notice of fees'),
    grant: await stack.call(`/api/v1/agreements/${(await stack.find('agreements', 'Grant agreement')).id}`),
    questionnaire: await stack.call(`/api/v1/agreements/${(await stack.find('agreements', 'Program questionnaire')).id}`),
    completed: await completion(late),
    confidential: await stack.call(`/api/v1/agreements/${(await stack.find('agreements', 'Confidentiality agreement')).id}`),
    ready: await late.find('agreements', 'Cobalt'),
    expired: (await late.call('/api/v1/proposals?state=expired')).data[0],
  };
}

// A draft with a payment and promises, set up in the app, and a copy of it that is active, whose promises are in force.
export async function owed({ page, base }, stack) {
  const field = (label) => page.getByLabel(label, { exact: true });
  const link = (name) => page.getByRole('link', { name, exact: true }).first().click();
  // Its own workspace: publishing activates it.
  const berths = await stack.call('/api/v1/workspaces', { name: 'Berths' });
  const lease = await stack.call('/api/v1/agreements', { workspace_id: berths.id, name: 'Berth lease' });
  const draft = `${base}/app/agreements/${lease.id}`;
  for (const name of [LANDLORD, TENANT]) {
    const contact = await stack.call('/api/v1/contacts', { display_name: name, kind: 'person', email: 'berth@quayside.example' });
    await stack.call(`/api/v1/agreements/${lease.id}/participants`, { contact_id: contact.id, roles: ['approver'] });
  }
  for (const [kind, name, fields] of [
    ['scheduled', 'Insurance certificate', [['Dates', '15/1/2026\n15/1/2030']]],
    ['triggered', 'Notice of a sale', [['Trigger 1', 'The tenant sells the boat'], ['Due after days, trigger 1', '30']]],
    ['standing', 'Moorings in repair', [['Verify every (days)', '90']]],
  ]) {
    await page.goto(`${draft}/promises?kind=${kind}`);
    await field('Name').fill(name);
    await page.getByRole('group', { name: 'Who owes it' }).getByLabel(TENANT, { exact: true }).check();
    await page.getByRole('group', { name: 'To whom' }).getByLabel(LANDLORD, { exact: true }).check();
    for (const [label, value] of fields) await field(label).fill(value);
    await press('Add obligation')(page);
    await page.getByText(`The obligation “${name}” was added`).waitFor();
  }
  for (const [step, condition] of [['Start', 'Waiting period'], ['End', 'Approval']]) {
    await page.goto(draft);
    await field('Step name').fill(step);
    await press('Add step')(page);
    const at = page.url();
    await link(condition);
    if (condition === 'Approval') await field(LANDLORD).check();
    else await field('Until').fill('2/1/2026');
    await press('Add condition')(page);
    await page.goto(at);
    if (step === 'Start') await field('Countersign records the obligations').check();
    await press('Save step')(page);
  }
  // A copy leaves open what has passed, so it is the draft, and the first is published.
  await page.goto(draft);
  await press('Duplicate')(page);
  const copy = page.url();
  const [id, live] = [copy.split('/').at(-1), lease.id];
  await page.goto(draft);
  await link('Review and publish');
  await publish(page);
  await page.goto(`${copy}/payments`);
  await field('Purpose').fill('Rent for the first year');
  await field('Amount').fill('12,500');
  await field('Payer').selectOption({ label: TENANT });
  await field('Payee').selectOption({ label: LANDLORD });
  await field('Due').fill('15/1/2030');
  await field('Reference').fill('Berth 17, year 1');
  await press('Add payment')(page);
  await page.goto(`${copy}/payments`);
  await field('Purpose').fill('Deposit');
  await press('Add payment')(page);
  await page.goto(`${draft}/template`);
  await field('Template name').fill('Berth lease');
  await press('Keep as a template')(page);
  await page.getByText('“Berth lease” was kept as a template').waitFor();
  const template = new URL(page.url()).pathname;
  const { data: payments } = await stack.call(`/api/v1/movements?agreement_id=${id}`);
  const { data: obligations } = await stack.call(`/api/v1/obligations?agreement_id=${live}`);
  const read = (id) => stack.call(`/api/v1/agreements/${id}`);
  return { berth: await read(id), berthLive: await read(live), berthPayments: payments, obligations, template };
}

// A participant's link, as a member's page shows it.
export async function participantLink({ page, base }, { id, participants }, name) {
  const { id: participant } = participants.find((found) => found.display_name === name);
  const access = `/app/agreements/${id}/participants/${participant}/access`;
  await page.goto(base + access);
  await press('Show link')(page);
  return { participant, access, link: new URL(await page.locator('#link').inputValue()).pathname };
}

// Opens a participant's session, and consents to electronic records where that has not been done.
export async function attend({ page, base }, { link }, consents) {
  await page.goto(base + link);
  await press('Continue')(page);
  await page.getByRole('heading', { level: 1 }).waitFor();
  if (consents && await page.getByRole('button', { name: 'I agree', exact: true }).count() > 0) await press('I agree')(page);
}

// Where a member records a participant's signature on paper in the first document.
const paperForm = ({ access }, { documents: [{ id }] }) => access.replace(/access$/, `paper/${id}`);

// Records a signature on paper, which another member is to confirm, unless that has been done.
async function recordPaper(_, { recorder: { page, base }, signer, grant }) {
  await page.goto(base + signer.access);
  if (await page.getByText('Download scan').count() > 0) return;
  await page.goto(base + paperForm(signer, grant));
  await fillPaper(page, Buffer.from('%PDF-1.7\n%%EOF'));
}

async function fillPaper(page, buffer) {
  await page.getByLabel('Scan', { exact: true }).setInputFiles({ name: 'Signed pages.pdf', mimeType: 'application/pdf', buffer });
  await page.getByLabel('Date signed', { exact: true }).fill('20/11/2026');
  await page.getByLabel('How it came', { exact: true }).fill('By post');
  await page.getByLabel('Note', { exact: true }).fill('Two pages.\nThe original is in the safe.');
  await press('Record paper signature')(page);
}

// An agreement of which both parties sign two documents, set up as a copy of one with one document. The first party has
// signed none of them, the second the first.
export async function twoDocuments({ page, context, base }, { confidential }) {
  const link = (name) => page.getByRole('link', { name, exact: true }).first().click();
  await page.goto(`${base}/app/agreements/${confidential.id}`);
  await press('Duplicate')(page);
  const draft = page.url();
  await page.getByText('Add a document', { exact: true }).click();
  const blank = await context.newPage();
  const buffer = await blank.pdf();
  await blank.close();
  await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'schedule.pdf', mimeType: 'application/pdf', buffer });
  await page.getByLabel('Document name', { exact: true }).fill('Schedule of contacts');
  await press('Upload document')(page);
  for (const { display_name: name } of confidential.participants) {
    await page.goto(draft);
    await link('Schedule of contacts');
    await page.getByLabel('Signer', { exact: true }).selectOption({ label: name });
    await press('Add signature block')(page);
  }
  await page.goto(draft);
  await link('Signing');
  await link('Signed document');
  await page.getByLabel('Document', { exact: true }).selectOption({ label: 'Schedule of contacts' });
  await press('Add condition')(page);
  await page.goto(draft);
  await link('Review and publish');
  await publish(page);
  return draft.split('/').at(-1);
}

// Signs the first document that waits for a participant, with a typed name.
export async function signFirst(tab, participant) {
  await attend(tab, participant, true);
  await tab.page.getByRole('link', { name: /^Review and sign/ }).first().click();
  await tab.page.getByLabel('Type your name', { exact: true }).fill('Priya Raman');
  await press('Sign')(tab.page);
  await tab.page.getByText('You signed “').first().waitFor();
}

// What the payments of an agreement are for, by what they are here for.
const PAYMENTS = {
  toAuthorize: 'Deposit', toVerify: 'First installment', changed: 'Second installment', ready: 'Third installment', claimed: 'Fourth installment', pending: 'Fifth installment', stated: 'Sixth installment',
  toReview: 'Closing payment', exception: 'Broker fee', returned: 'Survey fee', cancelled: 'Parking fee', confirmed: 'Reservation fee',
};

const ACCOUNTS = [
  { 'Account holder': 'Riverside Makers', Bank: 'First Bank of Albany', 'Routing number': '021000021', 'Account number': '000123456789' },
  { 'Account holder': 'Riverside Makers', Bank: 'Testbank', IBAN: 'DE89 3704 0044 0532 0130 00' },
];

// What the payee reads out of the first of them.
const READ_OUT = { 'Account number': '000123456789', 'Routing number': '021000021', 'Read out by': 'Nora West', 'Number called': '+1 212 555 0100' };

const movement = (id) => `/app/money/movements/${id}`;

// Opens a payment, and does something there: opens the act's disclosure if it has one, fills in its form, and sends it.
async function onPayment({ page, base }, id, label, typed = {}, { source, choice } = {}) {
  await page.goto(base + movement(id));
  const button = page.getByRole('button', { name: label, exact: true });
  if (!await button.isVisible()) await page.locator('summary').getByText(`${label}…`, { exact: true }).click();
  const form = page.locator('form', { has: button });
  if (source) await form.getByLabel(source, { exact: true }).check();
  for (const [name, option] of Object.entries(choice ?? {})) await form.getByLabel(name, { exact: true }).selectOption({ label: option });
  for (const [name, text] of Object.entries(typed)) await form.getByLabel(name, { exact: true }).fill(text);
  await button.click();
}

async function enterInstructions({ page, base }, id, kind, account) {
  await page.goto(`${base}${movement(id)}/instructions`);
  await page.getByRole('radio', { name: kind, exact: true }).check();
  for (const [name, text] of Object.entries(account)) await page.getByRole('textbox', { name, exact: true }).fill(text);
  await press('Enter instructions')(page);
}

const US = 'US account (ABA routing number)';
const claimIt = (tab, id) => onPayment(tab, id, "Record sender's claim", { 'Sent on': '14/3/2026', Reference: '20260314B1QGC08C000123' }, { choice: { 'Reference type': 'Fedwire IMAD' } });
const prove = (tab, id, source, amount, reference) => onPayment(tab, id, 'File evidence', { 'Amount received': amount, 'Value date': '16/3/2026', 'Bank reference': reference }, { source });

async function acceptFirst({ page, base }, id) {
  await page.goto(base + movement(id));
  await page.getByRole('link', { name: 'Review evidence', exact: true }).click();
  await press('Accept evidence')(page);
}

// An active agreement with payments in every state: the payments by what they are here for, set up as a copy of another
// agreement. Two members act in turn, as they have to.
export async function payments(admin, second, stack, { confidential }) {
  const { page, base } = admin;
  await page.goto(`${base}/app/agreements/${confidential.id}`);
  await press('Duplicate')(page);
  const draft = page.url();
  const [payer, payee] = confidential.participants.map((participant) => participant.display_name);
  for (const purpose of Object.values(PAYMENTS)) {
    await page.goto(`${draft}/payments`);
    for (const [name, text] of Object.entries({ Purpose: purpose, Amount: '250,000', Currency: 'USD', Due: 'Mar 20, 2027', Reference: purpose === PAYMENTS.stated ? 'INV-118' : 'INV-117' })) await page.getByLabel(name, { exact: true }).fill(text);
    await page.getByLabel('Payer', { exact: true }).selectOption({ label: payer });
    await page.getByLabel('Payee', { exact: true }).selectOption({ label: payee });
    await press('Add payment')(page);
  }
  await page.goto(`${draft}/publish`);
  await publish(page);
  const id = draft.split('/').at(-1);
  const { data } = await stack.call(`/api/v1/movements?agreement_id=${id}`);
  const made = { id, ...Object.fromEntries(Object.entries(PAYMENTS).map(([name, purpose]) => [name, data.find((found) => found.purpose === purpose).id])) };
  for (const name of Object.keys(PAYMENTS).filter((found) => found !== 'toAuthorize' && found !== 'cancelled')) await onPayment(admin, made[name], 'Authorize');
  for (const name of ['toVerify', 'changed', 'ready', 'claimed', 'pending', 'stated', 'toReview', 'exception', 'returned', 'confirmed']) await enterInstructions(admin, made[name], US, ACCOUNTS[0]);
  await enterInstructions(admin, made.changed, 'IBAN', ACCOUNTS[1]);
  for (const name of ['ready', 'claimed', 'pending', 'stated', 'toReview', 'exception', 'returned', 'confirmed']) {
    await onPayment(second, made[name], 'Verify instructions', READ_OUT, { choice: { Method: 'Call back to a known number', 'Where you have that number from': 'From earlier dealings' } });
    await onPayment(second, made[name], 'Release instructions');
    if (name !== 'ready') await claimIt(second, made[name]);
  }
  for (const name of ['pending', 'toReview', 'confirmed']) await onPayment(second, made[name], 'Ask for proof');
  await onPayment(admin, made.exception, 'Flag exception', { Note: 'The payee says that the caller was someone else.' }, { choice: { Reason: 'Suspected fraud' } });
  await onPayment(admin, made.returned, 'Record return', { Reason: 'The bank sent it back: account closed.' });
  await onPayment(admin, made.cancelled, 'Cancel payment', { Reason: 'No parking space is needed.' });
  await prove(admin, made.confirmed, 'The recipient’s own confirmation', '250,000.00', 'RC 1');
  await acceptFirst(second, made.confirmed);
  await prove(admin, made.toReview, 'The sender’s word', '250,000.00', 'SW 1');
  await prove(admin, made.toReview, 'The recipient’s own confirmation', '100,000.00', 'RC 2');
  await acceptFirst(second, made.toReview);
  await prove(admin, made.toReview, 'The recipient’s own confirmation', '150,000.00', 'RC 3');
  return made;
}

// An entry of a camt.053 file.
const statementEntry = ([amount, side, reference, text]) => `<Ntry><Amt Ccy="USD">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2027-03-18</Dt></BookgDt><AcctSvcrRef>${reference}</AcctSvcrRef><NtryDtls><TxDtls><RmtInf><Ustrd>${text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`;
const camt = (...entries) => `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>S-1</MsgId></GrpHdr><Stmt><Id>S-1</Id><Acct><Id><Othr><Id>000123456789</Id></Othr></Id></Acct>${entries.map(statementEntry).join('')}</Stmt></BkToCstmrStmt></Document>`;

async function uploadStatement({ page, base }, name, content) {
  await page.goto(`${base}/app/money`);
  await page.getByRole('link', { name: 'Upload a statement', exact: true }).click();
  await page.getByLabel('Statement', { exact: true }).setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });
  await press('Upload')(page);
  return new URL(page.url()).pathname;
}

// A statement of which one entry is filed, and a CSV file whose columns nobody has named.
export async function statements(admin) {
  const { page } = admin;
  const read = await uploadStatement(admin, 'March.xml', camt(
    ['250000.00', 'CRDT', 'BK-20270318-01', 'Sixth installment INV-118'],
    ['250000.00', 'CRDT', 'BK-20270318-02', 'Installment INV-117'],
    ['100000.00', 'CRDT', 'BK-20270318-03', 'First part of INV-117'],
    ['250000.00', 'DBIT', 'BK-20270318-04', 'Returned INV-117'],
    ['3.20', 'CRDT', 'BK-20270318-05', 'Interest'],
  ));
  await page.getByRole('group', { name: 'Entry 1:' }).getByLabel('Sixth installment, $250,000.00 USD', { exact: true }).check();
  await press('File as evidence')(page);
  await page.getByText('1 entry is filed as evidence').waitFor();
  return { read, columns: await uploadStatement(admin, 'Account.csv', 'Booking date,Sum,Payer,Details,Ref\n03/18/2027,"1,250.50",Ada Okafor,Deposit INV-117,BK-7\n03/19/2027,-12.00,First Bank,Fee,BK-8\n') };
}

// The trust of the demo, with an item in every phase.
export async function trustOf(stack) {
  const { data: [trust] } = await stack.call('/api/v1/trusts');
  const { data: items } = await stack.call('/api/v1/funding-items?limit=200');
  const id = (label) => items.find((item) => item.label === label).id;
  return {
    schedule: `/app/funding/${trust.workspace_id}`,
    trust: `/app/trusts/${trust.id}`,
    newTrust: `/app/trusts/new?workspace=${trust.workspace_id}`,
    item: (label) => `/app/funding/items/${id(label)}`,
    preview: (label) => `/app/papers/${trust.workspace_id}?items=${id(label)}`,
  };
}

// Opens a payment's evidence that waits for review.
const reviewIt = (page) => page.getByRole('link', { name: 'Review evidence', exact: true }).click();
const ofPayment = (name) => (made) => movement(made.payments[name]);
// Opens the disclosure of an act, and sends its form empty.
const sendEmpty = (label) => async (page) => {
  const button = page.getByRole('button', { name: label, exact: true });
  if (!await button.isVisible()) await page.locator('summary').getByText(`${label}…`, { exact: true }).click();
  await button.click();
};

// Opens the reason for a rejection, and sends it empty.
const rejectWithoutReason = async (page) => { await page.locator('summary', { hasText: 'Reject…' }).click(); await press('Reject')(page); };

// Confirms a signature on paper that another member recorded, unless that has been done.
async function confirmPaper(stack, made) {
  await recordPaper(stack, made);
  const { admin: { page, base }, signer } = made;
  await page.goto(base + signer.access);
  const confirm = page.getByRole('button', { name: /^Confirm paper signature/ });
  if (await confirm.count() === 0) return;
  await confirm.click();
  await page.getByText('Paper signature confirmed').waitFor();
}

// Has the organization ask participants for codes.
async function askForCodes(_, { admin: { page, base } }) {
  await page.goto(`${base}/app/organization`);
  await page.getByLabel('Ask participants for a code', { exact: true }).check();
  await page.locator('form[action="/app/organization"] button').click();
}

// Makes a code for a participant's link, which only the session that made it shows.
async function makeCode(_, { admin: { page, base }, household }) {
  await page.goto(base + household.access);
  await press('Create code')(page);
  await page.getByText('Read it out to The Ellery Household by phone').waitFor();
}

const SECOND_FACTOR = '/app/account/second-factor';
const [LANDLORD, TENANT] = ['Odile Renaud', 'Marco Bianchi'];
const review = (proposal) => `/app/proposals/${proposal.id}`;
const agreement = ({ id }) => `/app/agreements/${id}`;
const workspace = ({ id }) => `/app/workspaces/${id}`;
// Takes the document itself for its scan, only saved again.
const fillUnsigned = async (page, { grant }) => {
  const document = `${agreement(grant)}/documents/${grant.documents[0].id}/download`;
  const file = await (await page.request.get(new URL(document, page.url()).href)).body();
  await fillPaper(page, Buffer.concat([file, Buffer.from('\n% saved again\n%%EOF\n')]));
};

const press = (name) => (page) => page.getByRole('button', { name, exact: true }).click();

// Publishes, and says of all that is listed that it is meant.
const publish = async (page) => {
  for (const box of await page.locator('input[name^="although."]').all()) await box.check();
  await press('Publish')(page);
};

// Changes a hidden field, as a page that was open for too long has another than it should.
const send = (field, value, name) => async (page) => {
  await page.locator(`main input[name=${field}]`).first().evaluate((input, text) => { input.value = text; }, value);
  await press(name)(page);
};

// Sends a form that the page does not have, or no longer: the one for signing out, filled in otherwise.
const sendTo = (action, fields) => async (page, made) => {
  const filled = typeof fields === 'function' ? fields(made) : fields;
  const sent = page.waitForEvent('framenavigated');
  const to = typeof action === 'function' ? action(made) : action;
  await page.locator('form[action="/app/sign-out"]').evaluate((form, [to, values]) => {
    form.setAttribute('action', to);
    for (const [name, value] of Object.entries(values)) {
      form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
    }
    form.submit();
  }, [to, filled]);
  await sent;
  await page.waitForLoadState('load');
};

const invitation = ({ links }) => links.invitation;
const passwordLink = ({ links }) => links.password;

// Invites an address, on the page of the organization, with the admin's own password.
async function fillInvitation(page, email, { password }) {
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.locator('#invite-own_password').fill(password);
  await press('Invite member')(page);
}

// Accepts an invitation with the password of an account.
async function fillAcceptance(page, { password }) {
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press('Accept invitation')(page);
}

// Creates a link for the first member to set a new password, with the admin's own.
async function createPasswordLink(page, { password }) {
  await page.locator('summary', { hasText: 'Password link…' }).first().click();
  await page.locator('details[open] [name=own_password]').first().fill(password);
  await page.getByRole('button', { name: /^Create password link/ }).first().click();
}

// An invitation and a link to set a new password, to look at: their paths.
export async function links({ page, base, person }) {
  const path = async () => new URL(await page.locator('#link').inputValue()).pathname;
  await page.goto(`${base}/app/organization`);
  await fillInvitation(page, 'cleo@members.example', person);
  const made = { invitation: await path() };
  await createPasswordLink(page, person);
  made.password = await path();
  return made;
}

const YOU = '.badge:text-is("You")';
const REMOVE = 'details button:text-is("Remove")';

const part = (path) => ({ signer: { participant }, grant }) => `/app/parts/${participant}${typeof path === 'function' ? path(grant) : path}`;
const toSign = ({ documents: [{ id }] }) => `/documents/${id}`;
const toAnswer = ({ questionnaire: { stages: [{ gates: [{ id }] }] } }) => `/conditions/${id}`;
// Answers that are sent in vain are saved as a draft, in all views at once: whoever was overtaken sends them again.
const sendWrongAnswer = async (page) => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await page.getByLabel('When did you begin?', { exact: true }).fill('soon');
    await press('Send')(page);
    await page.waitForLoadState('load');
    if (await page.getByText('Your draft was saved in another window').count() === 0) return;
  }
};
const answersOf = (made, participant) => `${agreement(made)}${toAnswer({ questionnaire: made })}/answers/${participant}`;
const approved = ({ stages: [{ gates: [{ id }] }] }) => `/conditions/${id}`;
const ofTwo = (who) => (n) => (made) => `/app/parts/${made[who].participant}/documents/${made.two.documents[n].id}`;
const toUpload = ({ recipient: { participant }, grant: { stages } }) => `/app/parts/${participant}/conditions/${stages[2].gates[0].id}`;
// Draws a signature where there is a field for it, which the app's script shows.
const drawIt = async (page) => { if (await page.locator('[data-pad]').isVisible()) await drawTwice(page); };
const decline = async (page) => { await page.locator('summary', { hasText: 'Decline' }).click(); await press('Decline')(page); };

export const SCENES = [
  { name: 'Participant, link', as: 'nobody', path: ({ signer }) => signer.link, says: ['invites you to', 'Grant agreement: Riverside Makers', 'Priya Raman'], has: 'button:text-is("Continue")' },
  { name: 'Participant, link that does not work', as: 'nobody', path: '/app/links/nothing', status: 404, isFailedForm: true, says: 'This link no longer works' },
  { name: 'Participant, session ended', as: 'nobody', path: part(''), status: 401, says: 'Open your link again' },
  { name: 'Participant, consent', as: 'newcomer', path: ({ newcomer }) => `/app/parts/${newcomer.participant}`, says: ['Do you agree to act electronically?', 'You can withdraw your consent'], has: '.act-bar button:text-is("I agree")', reach: '.act-bar button' },
  { name: 'Participant, tasks', as: 'signer', path: part(''), says: ['What waits for you', 'Sign “Grant agreement”', 'Who else has to act', 'Riverside Makers Foundation', 'Withdraw consent…'], has: '.task .primary' },
  { name: 'Participant, document to sign', as: 'signer', path: part(toSign), says: ['Your signature', 'Who signs where', 'You sign here now'], has: ['img[alt^="Page 1 of"]', '#signature'], seen: 'img[alt^="Page 1 of"]', reach: ['#sign button.primary, .to-sign a', 'a[href$="/download"]'] },
  { name: 'Participant, signature drawn', as: 'signer', path: part(toSign), act: drawIt, has: '.pad path' },
  { name: 'Participant, signature refused', as: 'signer', path: part(toSign), act: press('Sign'), status: 422, has: '#signature[aria-invalid=true]' },
  { name: 'Participant, decline refused', as: 'signer', path: part(toSign), act: decline, status: 422, has: '#reason[aria-invalid=true]' },
  { name: 'Participant, receipt', as: 'signer', path: part(''), act: (page) => page.getByRole('link', { name: 'You agreed to electronic records' }).first().click(), says: ['Receipt', 'Next: Sign “Grant agreement”', 'SHA-256 of the text'] },
  { name: 'Participant, approved already', as: 'approver', path: ({ approver, grant }) => `/app/parts/${approver.participant}${approved(grant)}`, says: ['Nothing waits for you here', 'Back to the agreement'] },
  { name: 'Participant, nothing there', as: 'signer', path: part('/documents/none'), status: 404, says: 'Go to your agreement' },
  { name: 'Participant, to approve', as: 'household', path: ({ household, letter }) => `/app/parts/${household.participant}${approved(letter)}`, says: ['asks for your approval', 'Your approval'], has: '.act-bar button:text-is("Approve")', reach: '.act-bar button:text-is("Approve")' },
  { name: 'Participant, to answer', as: 'answerer', path: (made) => `/app/parts/${made.answerer.participant}${toAnswer(made)}`, says: ['asks for information', '0 of 10 answered', 'What is your full legal name?', 'Street and number', 'It is encrypted, and no page shows it again'], has: ['.act-bar button:text-is("Save draft")', '.act-bar button:text-is("Send")'], reach: '.act-bar button:text-is("Send")' },
  { name: 'Participant, answers refused', as: 'answerer', path: (made) => `/app/parts/${made.answerer.participant}${toAnswer(made)}`, act: sendWrongAnswer, status: 422, says: ['Some answers need another look', 'must be a date', 'Your answer is missing'], has: 'input[value=soon][aria-invalid=true]' },
  { name: 'Participant, answers declined without a reason', as: 'answerer', path: (made) => `/app/parts/${made.answerer.participant}${toAnswer(made)}`, act: decline, status: 422, has: '#reason[aria-invalid=true]' },
  { name: 'Participant, answers sent', as: 'answered', path: (made) => `/app/parts/${made.answered.participant}${toAnswer(made)}`, says: ['Nothing waits for you here', 'What you sent', 'Waiting to be read', 'Account ending in 6789'] },
  { name: 'Answers, to read', path: ({ questionnaire, answered: { participant } }) => answersOf(questionnaire, participant), says: ['Answers of Tomás Álvarez', 'To read', 'First Bank of Albany', 'Account ending in 6789', 'Return…'], has: '.act-bar button:text-is("Accept")' },
  { name: 'Answers, none yet', path: ({ questionnaire, answerer: { participant } }) => answersOf(questionnaire, participant), says: 'has not sent answers yet' },
  { name: 'Answers, returned without a reason', path: ({ questionnaire, answered: { participant } }) => answersOf(questionnaire, participant), act: async (page) => { await page.locator('summary', { hasText: 'Return…' }).click(); await press('Return')(page); }, status: 422, has: '#reason[aria-invalid=true]' },
  { name: 'Agreement, answers to read', path: ({ questionnaire }) => agreement(questionnaire), says: ['A member to read the answers of Tomás Álvarez', 'Read answers of Tomás Álvarez', 'What is your full legal name?'] },
  { name: 'Payment, to authorize', path: ofPayment('toAuthorize'), says: ['Deposit', 'Authorizing lets', 'No one has said that it was sent', 'Cancel payment…'], has: '.first button:text-is("Authorize")', reach: '.first button' },
  { name: 'Payment, instructions of one’s own', path: ofPayment('toVerify'), says: ['another member has to verify them', '…6789', 'Change instructions…'], lacks: 'button:text-is("Verify instructions")' },
  { name: 'Payment, instructions to verify', as: 'member', path: ofPayment('toVerify'), says: ['at a number that you knew before', 'Not verified'], has: '.first button:text-is("Verify instructions")' },
  { name: 'Payment, verified without numbers', as: 'member', path: ofPayment('toVerify'), act: press('Verify instructions'), status: 422, has: '#verify-number[aria-invalid=true]' },
  { name: 'Payment, instructions changed', as: 'member', path: ofPayment('changed'), says: ['The instructions were changed', 'Changed instructions are how deals are robbed', '…6789', '…3000'], has: '.old-new' },
  { name: 'Payment, instructions to enter', path: (made) => `${ofPayment('ready')(made)}/instructions`, says: ['Change instructions', 'for the account ending in …6789', 'takes them back from the payer'] },
  { name: 'Payment, instructions refused', path: (made) => `${ofPayment('ready')(made)}/instructions`, act: press('Enter instructions'), status: 422, says: 'Account numbers are never shown again', has: '#holder[aria-invalid=true]' },
  { name: 'Payment, waiting for the payer', path: ofPayment('ready'), says: ['can see the instructions', 'Verified by a second member', 'Flag exception…'] },
  { name: 'Payment, claim refused', path: ofPayment('ready'), act: sendEmpty("Record sender's claim"), status: 422, has: '#claim-sent_on[aria-invalid=true]' },
  { name: 'Payment, claimed', path: ofPayment('claimed'), says: ['says it was sent', '20260314B1QGC08C000123', 'It proves nothing about the arrival'], has: '.track.claim .badge.amber', lacks: '.track.claim .green' },
  { name: 'Payment, waiting for proof', path: ofPayment('pending'), says: ['Waiting for proof', 'A bank’s document counts only with its file'], has: '#evidence[open] button:text-is("File evidence")' },
  { name: 'Payment, evidence refused', path: ofPayment('pending'), act: sendEmpty('File evidence'), status: 422, says: 'Source must be chosen', has: '#evidence-amount[aria-invalid=true]' },
  { name: 'Payment, evidence to review', path: ofPayment('toReview'), says: ['Proof under review', 'Never proof', '$100,000.00 USD of $250,000.00 USD accepted', 'Not the reference that the sender gave'], has: ['.track.proof .badge.green', 'a:text-is("Review evidence")'], lacks: '.track.claim .green' },
  { name: 'Payment, evidence to accept', as: 'member', path: ofPayment('toReview'), act: reviewIt, says: ['If you accept', 'The full amount has arrived. The payment is confirmed received.', 'There is no file.'], has: 'button:text-is("Accept evidence")' },
  { name: 'Payment, rejected without a reason', path: ofPayment('toReview'), act: async (page) => { await page.locator('.track.proof summary', { hasText: 'Reject evidence…' }).click(); await page.locator('.track.proof button:text-is("Reject evidence")').click(); }, status: 422, has: 'textarea[aria-invalid=true]' },
  { name: 'Payment, confirmed', path: ofPayment('confirmed'), says: ['Confirmed received', 'Nothing is left to do', 'It rests on the recipient’s own confirmation'], has: '.track.proof li.accepted', lacks: '.track.claim .green' },
  { name: 'Payment, exception', path: ofPayment('exception'), says: ['Suspected fraud', 'unless you are sure that it is genuine', 'Resolve…', 'Record return…'], has: '.first button:text-is("Cancel payment")' },
  { name: 'Payment, resolved without a choice', path: ofPayment('exception'), act: sendEmpty('Resolve'), status: 422, says: 'What happens next must be chosen' },
  { name: 'Payment, returned', path: ofPayment('returned'), says: ['the money came back', 'account closed'] },
  { name: 'Payment, cancelled', path: ofPayment('cancelled'), says: ['this payment was cancelled', 'No parking space is needed.'] },
  { name: 'Payment, acted on too late', path: ofPayment('cancelled'), act: sendTo((made) => `${ofPayment('cancelled')(made)}/authorize`, {}), status: 409, says: 'Nothing was changed' },
  { name: 'Payment, of another organization', as: 'colleague', path: ofPayment('ready'), status: 404, says: 'There is nothing here' },
  { name: 'Payment, proof read from a statement', path: ofPayment('stated'), says: ['Read from the bank’s file', 'Statement March.xml, entry 1', 'BK-20270318-01'], has: 'a:text-is("Review evidence")' },
  { name: 'Money', lines: '.ledger tbody tr', path: '/app/money', says: ['Proven received', 'Waiting for', 'A member to authorize it', 'Export CSV'], has: ['.tabs a[aria-current]:has-text("Payments")', '.sort a:text-is("Due")'], lacks: '.ledger .claimed' },
  { name: 'Money, what is due first', lines: '.ledger tbody tr', path: '/app/money?sort=due&include_done=false', says: 'The totals are of the payments that match', has: '.sort span[aria-current]:text-is("Due")' },
  { name: 'Money, obligations', lines: '.ledger tbody tr', path: '/app/money?row_type=obligation', has: '.tabs a[aria-current]:has-text("Obligations")' },
  { name: 'Money, agreements', lines: '.ledger tbody tr', path: '/app/money?row_type=agreement', says: ['Counterparties', 'Amount'], has: '.ledger .proven' },
  { name: 'Money, nothing found', path: '/app/money?search=nothing+like+this', says: 'Nothing matches these filters', lacks: '.tabs' },
  { name: 'Money, none', as: 'colleague', path: '/app/money', says: 'Nothing is owed yet' },
  { name: 'Statements', path: '/app/money/statements', says: ['Nothing is accepted until a member accepts it', 'March.xml', '…6789', 'Needs its columns'], has: 'label:text-is("Statement")' },
  { name: 'Statements, nothing to upload', path: '/app/money/statements', act: press('Upload'), status: 422, has: '#statement[aria-invalid=true]' },
  { name: 'Statement, entries that fit', path: ({ statements: { read } }) => read, says: ['Filed as evidence', 'Never proof of an arrival', 'is a debit. It has the reference “INV-117”', 'Strong match', 'Same amount and currency', '$150,000.00 USD less than is due', 'Filing accepts nothing'], has: ['a:text-is("Review")', 'button:text-is("File as evidence")'], lacks: 'input[type=checkbox]:checked' },
  { name: 'Statement, nothing chosen', path: ({ statements: { read } }) => read, act: press('File as evidence'), status: 422, says: 'Choose at least one entry for a payment.' },
  { name: 'Statement, which column is which', path: ({ statements: { columns } }) => columns, says: ['Which column is which?', 'Booking date', '1,250.50'], has: ['label:text-is("Date")', 'label:text-is("Decimal mark")'] },
  { name: 'Statement, columns refused', path: ({ statements: { columns } }) => columns, act: async (page) => { await page.getByLabel('Date', { exact: true }).selectOption(''); await press('Read statement')(page); }, status: 422, has: '#date[aria-invalid=true]' },
  { name: 'Statement, of another organization', as: 'colleague', path: ({ statements: { read } }) => read, status: 404, says: 'There is nothing here' },
  { name: 'Funding, all workspaces', path: '/app/funding', says: ['Funding', 'Ellery family trust funding', 'Only claimed'] },
  { name: 'Funding', path: ({ funding }) => funding.schedule, says: ['2 of 9 items done', '1 only claimed', 'A claim is no proof', 'On hold: Counsel', 'Ready'], has: ['button:text-is("Paper selected")', 'button:text-is("Add item")'], lacks: '.claimed.green' },
  { name: 'Funding, nothing selected', path: ({ funding }) => funding.schedule, act: press('Paper selected'), status: 422, says: 'Choose at least one item below.' },
  { name: 'Funding, item without a label', path: ({ funding }) => funding.schedule, act: press('Add item'), status: 422, has: '#add-label[aria-invalid=true]' },
  { name: 'Funding, only claimed', path: ({ funding }) => `${funding.schedule}?phase=claimed`, says: ['Delivery van', 'Claimed'] },
  { name: 'Funding item, to sort', path: ({ funding }) => funding.item('Rental house on Pine Street'), says: ['Gathering facts', 'Legal description', 'These facts are needed.'], has: 'button:text-is("Save facts")' },
  { name: 'Funding item, claimed', path: ({ funding }) => funding.item('Delivery van'), says: ['The owner says it is done', 'Nothing shows that it has moved.', 'A claim is not proof'], has: ['.track.claim .badge.amber', 'button:text-is("File proof")'], lacks: '.track.claim .green' },
  { name: 'Funding item, proof refused', path: ({ funding }) => funding.item('Delivery van'), act: press('File proof'), status: 422, says: 'Source must be chosen', has: '#proof-dated[aria-invalid=true]' },
  { name: 'Funding item, funded', path: ({ funding }) => funding.item('Brokerage sweep'), says: ['Funded: the receiving side confirmed it.', 'Accepted by'], has: '.track.proof li.accepted' },
  { name: 'Funding item, closed', path: ({ funding }) => funding.item('Piano'), says: ['Closed: it was sold.', 'Reopen…'] },
  { name: 'Funding, agreement previewed', path: ({ funding }) => funding.preview('Savings at Harbor Bank'), says: ['Preview of the agreement', 'Change-of-title request', 'Counsel must review'], has: 'button:text-is("Paper selected")' },
  { name: 'Funding, agreement that can’t be papered', path: ({ funding }) => funding.preview('1967 wooden sloop'), says: ['It can’t be papered yet', 'is on hold'], lacks: 'button:text-is("Paper selected")' },
  { name: 'Funding, import', path: ({ funding }) => `${funding.schedule}/import`, says: ['Import items', 'nothing is added while a row has a problem'], has: 'label:text-is("CSV file")' },
  { name: 'Funding, import refused', path: ({ funding }) => `${funding.schedule}/import`, act: async (page) => { await page.getByLabel('Or paste it here', { exact: true }).fill('label,Value\nHouse,5\n'); await press('Preview')(page); }, status: 422, says: 'known ones are label, asset_kind, verb, trust, owners, external_reference' },
  { name: 'Funding, import previewed', path: ({ funding }) => `${funding.schedule}/import`, act: async (page) => { await page.getByLabel('Or paste it here', { exact: true }).fill('label,asset_kind,verb,institution,account_last4,amount,currency\nHouse,real_estate\nCertificate of deposit,bank_account,transfer,First National,3310,"12,500.00",USD\n'); await press('Preview')(page); }, says: ['Preview of the import', 'Nothing is added yet.', 'Real estate', '$12,500.00 USD', 'Gathering facts'], has: 'button:text-is("Add all items")' },
  { name: 'Funding, search', path: '/app/funding?search=bank', says: ['Savings at Harbor Bank'], lacks: 'progress' },
  { name: 'Trust, edit', path: ({ funding }) => `${funding.trust}/edit`, says: ['Edit trust', 'Settlors', 'Trustees', 'papered by a draft'], has: 'button:text-is("Save changes")' },
  { name: 'Trust, edit refused', path: ({ funding }) => `${funding.trust}/edit`, act: async (page) => { await page.getByLabel('Formal name', { exact: true }).fill(''); await press('Save changes')(page); }, status: 422, has: '#formal_name[aria-invalid=true]' },
  { name: 'Trusts', path: '/app/trusts', says: ['Trusts', 'The Ellery Family Trust, dated March 14, 2026'] },
  { name: 'Trust', path: ({ funding }) => funding.trust, says: ['Settlors', 'Trustees', 'The Ellery Household', 'Documents', 'Change-of-title request'] },
  { name: 'Trust, new', path: ({ funding }) => funding.newTrust, says: ['New trust', 'Settlors', 'Trustees'], has: 'button:text-is("Create trust")' },
  { name: 'Trust, new with its workspace', path: '/app/trusts/new', says: ['A new workspace', 'First person'], has: ['button:text-is("Create trust")', 'select[name=workspace]'] },
  { name: 'Trust, refused', path: ({ funding }) => funding.newTrust, act: press('Create trust'), status: 422, has: '#formal_name[aria-invalid=true]' },
  { name: 'Funding, of another organization', as: 'colleague', path: ({ funding }) => funding.schedule, status: 404, says: 'There is nothing here' },
  { name: 'Agreement, payments', path: ({ payments: { id } }) => agreement({ id }), says: ['Payments', 'Broker fee', 'Says it was sent on 14 Mar 2026', '1 to review'], has: ['.payment .track.claim', '.payment .track.proof.confirmed'] },
  { name: 'Home, payments', path: '/app', says: ['Instructions changed', 'Needs attention', 'Evidence to review', 'Suspected fraud'] },
  { name: 'Participant, two documents', as: 'beginner', path: ({ beginner }) => `/app/parts/${beginner.participant}`, says: ['Sign “Confidentiality agreement”', 'Sign “Schedule of contacts”'], reach: '.task .primary' },
  { name: 'Participant, first of two documents', as: 'beginner', path: ofTwo('beginner')(0), says: 'Document 1 of 2 to sign', seen: 'img[alt^="Page 1 of"]', reach: ['#sign button.primary, .to-sign a', 'a[href$="/download"]'] },
  { name: 'Participant, first of two documents signed', as: 'returner', path: ofTwo('returner')(0), says: ['You signed this document', 'Next: Sign “Schedule of contacts”'], lacks: '#sign' },
  { name: 'Participant, receipt of the first of two', as: 'returner', path: ({ returner }) => `/app/parts/${returner.participant}`, act: (page) => page.getByRole('link', { name: 'You signed “Confidentiality agreement”' }).first().click(), says: ['Receipt', 'Next: Sign “Schedule of contacts”'], reach: '.button.primary' },
  { name: 'Participant, second of two documents', as: 'returner', path: ofTwo('returner')(1), says: 'Document 2 of 2 to sign', seen: 'img[alt^="Page 1 of"]', reach: ['#sign button.primary, .to-sign a', 'a[href$="/download"]'] },
  { name: 'Participant, completed with evidence', as: 'finished', path: ({ finished }) => `/app/parts/${finished.participant}`, says: ['Finished documents', 'Certificate of completion', 'Signed by you'], has: 'a[href$="/certificate"]' },
  { name: 'Participant, for members', path: ({ signer }) => signer.access, says: ['Reissue link…', 'Last visit', 'Sign “Grant agreement”', 'anyone who has it can act there'], has: 'button:text-is("Show link")', lacks: '#link' },
  { name: 'Participant, for members, link shown', path: ({ signer }) => signer.access, act: press('Show link'), says: ['Personal link', 'This page shows it for two minutes'], has: 'a[href^="mailto:"]' },
  { name: 'Paper signature, to confirm', before: recordPaper, path: ({ signer }) => signer.access, says: ['Signatures on paper', 'Download scan', 'Confirming signs “Grant agreement” for Priya Raman', 'Reject…'], has: '.badge:text-is("To confirm")' },
  { name: 'Paper signature, of oneself', before: recordPaper, as: 'member', path: ({ signer }) => signer.access, says: ['You recorded it, so another member has to confirm it'], lacks: 'button:text-is("Confirm paper signature")' },
  { name: 'Paper signature, rejection refused', before: recordPaper, path: ({ signer }) => signer.access, act: rejectWithoutReason, status: 422, has: 'textarea[name=reason][aria-invalid=true]' },
  { name: 'Paper signature, form', before: recordPaper, path: ({ signer, grant }) => paperForm(signer, grant), says: ['signed by Priya Raman in this place', 'Date signed', 'another member confirms it'], has: 'button:text-is("Record paper signature")' },
  { name: 'Paper signature, refused', before: recordPaper, path: ({ signer, grant }) => paperForm(signer, grant), act: press('Record paper signature'), status: 422, says: 'How it came must', has: '#day[aria-invalid=true]' },
  { name: 'Paper signature, same pages', before: recordPaper, path: ({ signer, grant }) => paperForm(signer, grant), act: fillUnsigned, status: 422, says: 'It is signed, although its pages are those of the document', has: '#is_signed[aria-invalid=true]' },
  { name: 'Paper signature, on Home', before: recordPaper, path: '/app', says: ['Paper signature', 'Signature of Priya Raman on “Grant agreement”'] },
  { name: 'Paper signature, to be confirmed, to its participant', before: recordPaper, as: 'signer', path: part(''), says: ['“Grant agreement”, signed on paper', 'You can sign on screen instead', 'On paper, to be confirmed'], lacks: '.tasks .button.primary' },
  { name: 'Paper signature, to be confirmed, its document', before: recordPaper, as: 'signer', path: part(toSign), says: ['Your signature on paper', 'You can sign below instead', 'You · Signed on paper, to be confirmed'], has: '#signature' },
  { name: 'Paper signature, on the agreement', before: recordPaper, path: ({ grant }) => agreement(grant), says: 'Paper signature of Priya Raman needs confirmation' },
  { name: 'Participant, for members, done', path: ({ approver }) => approver.access, says: ['Approved “Budget”', 'Agreed to electronic records'] },
  { name: 'Agreement, half-way', tall: 1800, path: ({ grant }) => agreement(grant), says: ['Step 2 of 3', 'Last visit', 'Signed the document', 'Activity and link'], has: 'button[aria-label="Show link of Priya Raman"]' },
  { name: 'Sign in', as: 'nobody', path: '/app/sign-in', says: 'Read what is proposed, and decide.' },
  { name: 'Sign in, to come back', as: 'nobody', path: ({ pending }) => review(pending), says: 'you come back to the page' },
  { name: 'Sign in, session ended', as: 'nobody', path: '/app/sign-in?next=/app/proposals&ended=decision', says: ['Your session ended. Nothing was decided.', 'Your note is kept.'] },
  { name: 'Sign in, refused', as: 'nobody', path: '/app/sign-in', act: (page) => fillSignIn(page, { email: 'nobody@members.example', password: 'wrong' }), status: 422, says: 'Incorrect email or password' },
  { name: 'Sign in, expired form', as: 'nobody', path: '/app/sign-in', act: async (page) => { await page.context().clearCookies(); await fillSignIn(page, { email: 'nobody@members.example', password: 'wrong' }); }, status: 403, isFailedForm: true, says: 'Please sign in again' },
  { name: 'Sign in, code', as: 'nobody', path: '/app/sign-in', act: (page, { guarded }) => fillSignIn(page, guarded), says: ['Enter your code', 'Your password is correct.', 'Use a recovery code'], has: '#code:focus' },
  { name: 'Sign in, code refused', as: 'nobody', isCounted: true, path: '/app/sign-in', act: async (page, { guarded }) => { await fillSignIn(page, guarded); await page.getByLabel('Code', { exact: true }).fill('000000'); await press('Sign in')(page); }, status: 422, says: 'Code is incorrect or was used already', has: '#code[aria-invalid=true]' },
  { name: 'Sign in, recovery code refused', as: 'nobody', isCounted: true, path: '/app/sign-in', act: async (page, { guarded }) => { await fillSignIn(page, guarded); await fillRecoveryCode(page, 'aaaa-aaaa-aaaa-aaaa'); }, status: 422, says: 'Recovery code is incorrect or was used already', has: 'details[open] #recovery_code[aria-invalid=true]' },
  { name: 'Sign in, code too late', as: 'nobody', path: '/app/sign-in?ended=code', says: 'Enter your password again' },
  { name: 'Home, all decided', as: 'late', path: '/app', says: ['things need you.', 'Ready to publish', 'Recent activity'], lacks: '#decide' },
  { name: 'Home, a lot to decide', as: 'member', path: '/app', says: ['Needs you', 'Needs your decision', 'Waiting on others', 'Recent activity', 'Show all', 'Answers to read'] },
  { name: 'Home, an endpoint fails', path: '/app', says: ['Webhook endpoint', 'Failing'] },
  { name: 'Home, for a newcomer', as: 'colleague', path: '/app', says: 'Begin your first agreement', has: '.primary[href="/app/agreements/new"]' },
  { name: 'Search', path: '/app/search', says: 'Finds agreements', has: '#q:focus' },
  { name: 'Search, found', path: '/app/search?q=e', says: ['Agreements', 'Workspaces', 'Contacts', 'Proposals', 'Members', 'Show all'], has: '#q[value=e]' },
  { name: 'Search, for admins', path: '/app/search?q=a', says: ['Access tokens', 'Webhook endpoints'] },
  { name: 'Search, nothing found', as: 'member', path: '/app/search?q=no+such+name', says: 'Nothing matches' },
  { name: 'Search, from the rail', as: 'member', path: '/app', act: async (page) => { if (!await page.locator('.find input:visible').count()) await page.locator('.menu summary').click(); const field = page.locator('.find input:visible'); await field.fill('lease'); await field.press('Enter'); await page.waitForURL('**/app/search?q=lease'); }, says: ['Search everything', 'Lease'] },
  { name: 'Proposal, pending', path: ({ pending }) => review(pending), says: ['Your decision', 'No changes since proposed.', 'Decide by', 'Confirming publishes this agreement.'], has: ['.deal a[href$="/view"]', '.act-bar .primary[value=confirm]'] },
  { name: 'Proposal, changed since', path: ({ changed }) => review(changed), says: 'Grace Adeyemi was added as signer, approver.' },
  {
    name: 'Proposal, something in the way',
    path: ({ pending }) => review(pending),
    before: (stack, { juniper }) => stack.call(`/api/v1/contacts/${juniper.id}`, { email: null }, { method: 'PATCH' }),
    after: (stack, { juniper }) => stack.call(`/api/v1/contacts/${juniper.id}`, { email: juniper.email }, { method: 'PATCH' }),
    act: press('Confirm'),
    status: 422,
    says: 'It can’t be confirmed yet',
  },
  { name: 'Proposal, page too old', path: ({ changed }) => review(changed), act: send('version', '0-x', 'Confirm'), status: 409, says: 'The agreement has changed' },
  { name: 'Proposal, nothing chosen', path: ({ changed }) => review(changed), act: send('version', 'x', 'Decline'), status: 422, says: 'Nothing was decided' },
  { name: 'Proposal, forged form', path: ({ changed }) => review(changed), act: send('form_token', 'x', 'Confirm'), status: 403, isFailedForm: true, says: 'Your session ended. Nothing was decided.' },
  { name: 'Proposal, confirmed', path: ({ cancelled }) => review(cancelled), says: 'Confirmed by' },
  { name: 'Proposal, declined', path: ({ declined }) => review(declined), says: ['Declined by', 'Still needed.'] },
  { name: 'Proposal, expired', as: 'late', path: ({ expired }) => review(expired), says: 'No one decided by' },
  { name: 'Agreement, blocked draft', path: ({ blocked }) => agreement(blocked), says: ['Before you publish', 'Upload the file of “Advisory agreement”'], has: '.deal' },
  { name: 'Agreement, proposed', path: ({ safe }) => agreement(safe), says: 'Review the proposal' },
  { name: 'Agreement, ready', as: 'late', path: ({ ready }) => agreement(ready), says: ['Ready to publish', 'Discard draft…'], has: '.first a:text-is("Review and publish")' },
  { name: 'Agreement, evidence', path: ({ confidential }) => agreement(confidential), says: ['Completed', 'Anyone can verify it', 'Download certificate'], has: 'a.button[href$="/bundle"]' },
  { name: 'Agreement, evidence so far', path: ({ grant }) => agreement(grant), says: 'recorded so far', lacks: 'a[href$="/certificate"]' },
  { name: 'Evidence, no certificate yet', path: ({ grant }) => `/app/evidence/agreements/${grant.id}/certificate`, status: 409, isFailedForm: false, says: 'There is no certificate yet' },
  { name: 'Agreement, waiting for time', path: ({ notice }) => agreement(notice), says: ['Step 2 of 2', '14-day waiting period', 'Ends '] },
  { name: 'Agreement, completed', as: 'late', path: ({ completed }) => agreement(completed), says: ['Completed', '14-day waiting period'] },
  { name: 'Agreement, active', path: ({ letter }) => agreement(letter), says: 'Waiting for: ' },
  { name: 'Agreement, empty draft', path: ({ lease }) => agreement(lease), says: 'No steps yet.' },
  { name: 'New agreement, which workspace', path: '/app/agreements/new/workspace', says: 'Which deal or matter does it belong to?' },
  { name: 'New agreement, no workspace', as: 'colleague', path: '/app/agreements/new/workspace', says: 'An agreement can also begin in a new workspace' },
  { name: 'New agreement with its workspace and parties', path: '/app/agreements/new?template=safe', says: ['Company (issuer)', 'any other name creates one'] },
  { name: 'New agreement, templates', path: ({ quay }) => `/app/agreements/new?workspace=${quay.id}`, says: ['Two-party signature', 'SAFE', 'Engagement letter', 'Notice period', 'Blank agreement'] },
  { name: 'New agreement, form', path: ({ quay }) => `/app/agreements/new?workspace=${quay.id}&template=safe`, says: ['Company (issuer)', 'Choose later, or name them below'] },
  { name: 'New agreement, refused', path: ({ quay }) => `/app/agreements/new?workspace=${quay.id}&template=two-party-signature`, act: press('Create draft'), status: 422, has: '#name[aria-invalid=true]' },
  { name: 'New agreement, own templates', path: '/app/agreements/new', says: ['Your templates', 'Berth lease', 'Countersign templates', 'Two-party signature'], has: 'a[aria-label="Details of Berth lease"]' },
  { name: 'New agreement, no own template', as: 'colleague', path: '/app/agreements/new', says: 'Templates of your own appear here', lacks: '#own' },
  { name: 'New agreement, from an own template', path: ({ template }) => `/app/agreements/new?template=${template.split('/').at(-1)}`, says: ['A template of your organization', 'Approver 1', 'Approver 2', 'An obligation is left out while nobody owes it'] },
  { name: 'Template, to keep', path: ({ berthLive }) => `${agreement(berthLive)}/template`, says: ['Roles in place of people', `Role of ${TENANT}`, '1 obligation is not kept'], has: 'input[value="Approver 1"]' },
  { name: 'Template, not kept', path: ({ berthLive }) => `${agreement(berthLive)}/template`, act: press('Keep as a template'), status: 422, has: '#name[aria-invalid=true]' },
  { name: 'Template', path: ({ template }) => template, says: ['Berth lease', 'Approver 1', 'Notice of a sale', 'Waiting period', 'Delete template…'], has: '.button.primary[href^="/app/agreements/new?template="]' },
  { name: 'Template, delete opened', path: ({ template }) => template, act: (page) => page.locator('details.confirm summary').first().click(), has: 'details[open] button.danger' },
  { name: 'Template, renamed meanwhile', path: ({ template }) => template, act: async (page) => { await page.getByLabel('Template name', { exact: true }).fill('Mooring lease'); await send('seen', 'x', 'Rename')(page); }, status: 409, says: ['Another member renamed this template', 'It is now called “Berth lease”'] },
  { name: 'Template, gone', path: '/app/agreements/templates/00000000-0000-7000-8000-000000000000', status: 404, says: 'There is nothing here' },
  { name: 'Draft, payments and obligations', path: ({ berth }) => agreement(berth), says: ['Rent for the first year', '$12,500.00 USD', 'Marco Bianchi to Odile Renaud', 'Incomplete', 'Complete the payment “Deposit”: amount', 'They are in force once the step “Start” is done.'], has: ['a[href$="/payments#add"]', '.deal-amounts .amount'] },
  { name: 'Draft, new payment', path: ({ berth }) => `${agreement(berth)}/payments`, says: ['Countersign moves no money', 'No account numbers', 'Automatic'], has: ['label:text-is("Purpose")', 'label:text-is("Direction")', 'label:text-is("Method")'] },
  { name: 'Draft, payment with an account number', path: ({ berth }) => `${agreement(berth)}/payments`, act: async (page) => { await page.getByLabel('Purpose', { exact: true }).fill('To DE89 3704 0044 0532 0130 00'); await page.getByLabel('Amount', { exact: true }).fill('1.234'); await press('Add payment')(page); }, status: 422, says: ['must not contain an account or card number', 'must have at most 2 decimals'], has: ['#purpose[aria-invalid=true][value=""]', '#amount[aria-invalid=true]'] },
  { name: 'Draft, payment', path: ({ berth, berthPayments }) => `${agreement(berth)}/payments/${berthPayments[0].id}`, says: ['No step waits for this payment', 'Remove payment…'], has: '#due[value="15 Jan 2030"]' },
  { name: 'Draft, condition of a payment', path: ({ berth }) => `${agreement(berth)}/steps/${berth.stages[1].id}/conditions?type=movement_reconciled`, says: ['That the sender says so never meets it', 'Rent for the first year, $12,500.00 USD'] },
  { name: 'Draft, new scheduled obligation', path: ({ berth }) => `${agreement(berth)}/promises?kind=scheduled`, says: ['Who owes it', 'To whom', 'Or due again and again', 'Days are those of the time zone'] },
  { name: 'Draft, new triggered obligation', path: ({ berth }) => `${agreement(berth)}/promises?kind=triggered`, says: ['Due after days', 'Empty a row to remove its trigger'] },
  { name: 'Draft, obligation refused', path: ({ berth }) => `${agreement(berth)}/promises?kind=standing`, act: press('Add obligation'), status: 422, says: ['Who owes it must have one participant or more'], has: ['#name[aria-invalid=true]', '#days[aria-invalid=true]'] },
  { name: 'Draft, obligation', path: ({ berth }) => `${agreement(berth)}/promises/${berth.promises[1].id}`, says: ['Remove obligation…'], has: 'input[value="The tenant sells the boat"]' },
  { name: 'Draft, publication with payments', path: ({ berth }) => `${agreement(berth)}/publish`, says: ['Payments', '$12,500.00 USD', 'Obligations', 'Before you publish'] },
  { name: 'Obligations', path: '/app/obligations', says: ['Insurance certificate', 'Marco Bianchi to Odile Renaud', 'Nothing due'], has: ['.badge.red:text-is("Overdue")', '.badge:text-is("Waiting for a trigger")', 'nav a[href="/app/obligations"][aria-current=page]'] },
  { name: 'Obligations, none in a state', path: '/app/obligations?state=confirmed', says: ['No obligation matches', 'Show all obligations'] },
  { name: 'Obligation, overdue', path: ({ obligations: [{ id }] }) => `/app/obligations/${id}`, says: ['Overdue', 'Since', 'Claim: said to be done', 'Cancel obligation…'], has: 'button:text-is("Record satisfaction")', lacks: '.badge.green' },
  { name: 'Obligation, trigger', path: ({ obligations: [, { id }] }) => `/app/obligations/${id}`, says: ['Declaring a trigger says that it happened', 'Due within 30 days'], has: 'button:text-is("Declare trigger")' },
  { name: 'Obligation, standing', path: ({ obligations: [, , { id }] }) => `/app/obligations/${id}`, says: ['Not verified yet', 'Verifying says that the obligation is met now'], has: 'button:text-is("Verify")' },
  { name: 'Obligation, cancelled without a reason', path: ({ obligations: [, , { id }] }) => `/app/obligations/${id}`, act: async (page) => { await page.locator('summary', { hasText: 'Cancel obligation…' }).click(); await press('Cancel obligation')(page); }, status: 422, has: '#reason[aria-invalid=true]' },
  { name: 'Agreement, obligations', path: ({ berthLive }) => agreement(berthLive), says: ['Obligations', 'Insurance certificate', 'Overdue'] },
  { name: 'Home, overdue obligations', path: '/app', says: ['Overdue', 'Insurance certificate'] },
  { name: 'Participant, obligations', as: 'tenant', path: ({ tenant }) => `/app/parts/${tenant.participant}`, says: ['The obligations below wait for you', 'Insurance certificate'], has: '.task a.button:text-is("Record satisfaction")' },
  { name: 'Participant, obligation', as: 'tenant', path: ({ tenant, obligations: [{ id }] }) => `/app/parts/${tenant.participant}/obligations/${id}`, says: ['As Marco Bianchi, I say that “Insurance certificate”, due 15 Jan 2026, is done.'], has: 'button:text-is("Record satisfaction")', reach: 'button:text-is("Record satisfaction")' },
  { name: 'Draft, name and expiry', path: ({ blocked }) => `${agreement(blocked)}/details`, says: ['Save expiry', 'in the time zone'] },
  { name: 'Draft, name refused', path: ({ blocked }) => `${agreement(blocked)}/details`, act: async (page) => { await page.getByLabel('Agreement name', { exact: true }).fill(''); await press('Save name and kind')(page); }, status: 422, has: '#name[aria-invalid=true]' },
  { name: 'Draft, terms', path: ({ safe }) => `${agreement(safe)}/terms`, says: ['Saved terms', '$750,000.00 USD'] },
  { name: 'Draft, terms refused', path: ({ safe }) => `${agreement(safe)}/terms`, act: async (page) => { await page.getByLabel('Investment amount', { exact: true }).fill('1.234,56'); await press('Save terms')(page); }, status: 422, has: '#investment[aria-invalid=true][value="1.234,56"]' },
  { name: 'Draft, add a participant', path: ({ blocked }) => `${agreement(blocked)}/participants`, says: ['Takes part', 'Trustee'] },
  { name: 'Draft, participant refused', path: ({ blocked }) => `${agreement(blocked)}/participants`, act: press('Add participant'), status: 422, says: ['must be chosen from the list', 'at least one choice'] },
  { name: 'Draft, participant', path: ({ blocked }) => `${agreement(blocked)}/participants/${blocked.participants[0].id}`, says: ['Save roles', 'Remove participant…'] },
  { name: 'Draft, roles saved', path: ({ blocked }) => `${agreement(blocked)}/participants/${blocked.participants[0].id}`, act: press('Save roles'), says: ['The roles of', 'were saved'], has: 'section:has(> #participants) > #notice:focus' },
  { name: 'Draft, participant not removed', path: ({ blocked }) => `${agreement(blocked)}/participants/${blocked.participants[0].id}`, act: async (page) => { await page.locator('summary', { hasText: 'Remove participant…' }).click(); await press('Remove participant')(page); }, status: 422, says: 'Open “', has: '.notice a' },
  { name: 'Draft, expiry refused', path: ({ blocked }) => `${agreement(blocked)}/details`, act: async (page) => { await page.getByLabel('Expires', { exact: true }).fill('next spring'); await press('Save expiry')(page); }, status: 422, says: 'must be a date', has: '#expires_at[aria-invalid=true]:focus' },
  { name: 'Draft, document without a file', path: ({ blocked }) => `${agreement(blocked)}/documents/${blocked.documents[0].id}`, says: ['File missing', 'Add a signature block'] },
  { name: 'Draft, document refused', path: ({ blocked }) => `${agreement(blocked)}/documents/${blocked.documents[0].id}`, act: async (page) => { await page.locator('#file').setInputFiles({ name: 'a.pdf', mimeType: 'application/pdf', buffer: Buffer.from('no PDF') }); await press('Save document')(page); }, status: 422, says: 'is not a PDF' },
  { name: 'Draft, upload refused', path: ({ blocked }) => agreement(blocked), act: async (page) => { await page.locator('summary', { hasText: 'Add a document' }).click(); await press('Upload document')(page); }, status: 422, says: 'File must be chosen' },
  { name: 'Draft, step', path: ({ blocked }) => `${agreement(blocked)}/steps/${blocked.stages[0].id}`, says: ['Add a condition', 'Waiting period'] },
  { name: 'Draft, step without a name', path: ({ blocked }) => `${agreement(blocked)}/steps/${blocked.stages[0].id}`, act: async (page) => { await page.getByLabel('Step name', { exact: true }).fill(''); await press('Save step')(page); }, status: 422, has: '#name[aria-invalid=true]' },
  { name: 'Draft, condition', path: ({ blocked }) => `${agreement(blocked)}/conditions/${blocked.stages[0].gates[0].id}`, says: ['Who must act', 'Remove condition…'] },
  { name: 'Draft, new signatures', path: ({ blocked }) => `${agreement(blocked)}/steps/${blocked.stages[0].id}/conditions?type=signature_blocks`, says: 'Add condition' },
  { name: 'Draft, new waiting period', path: ({ blocked }) => `${agreement(blocked)}/steps/${blocked.stages[0].id}/conditions?type=countdown`, says: ['Duration', 'Instead of a duration'] },
  { name: 'Draft, waiting period refused', path: ({ blocked }) => `${agreement(blocked)}/steps/${blocked.stages[0].id}/conditions?type=countdown`, act: async (page) => { await page.getByLabel('Duration', { exact: true }).fill('soon'); await press('Add condition')(page); }, status: 422, has: '#wait[aria-invalid=true][value=soon]' },
  { name: 'Draft, questions', path: ({ safe }) => `${agreement(safe)}/conditions/${safe.stages[2].gates[0].id}`, says: ['Are you an accredited investor?', 'Add question'] },
  { name: 'Draft, question refused', path: ({ safe }) => `${agreement(safe)}/conditions/${safe.stages[2].gates[0].id}`, act: press('Add question'), status: 422, has: '#question[aria-invalid=true]' },
  { name: 'Draft, published meanwhile', path: ({ letter }) => agreement(letter), act: sendTo(({ letter }) => `${agreement(letter)}/details`, { name: 'A name that comes too late', kind: 'general', seen: 'x' }), status: 409, isFailedForm: true, says: ['published while you were typing', 'A name that comes too late'] },
  { name: 'Publish, review', as: 'late', path: ({ ready }) => `${agreement(ready)}/publish`, says: ['Publish “SAFE: Cobalt Angels”?', 'What happens'], has: 'button:text-is("Publish")' },
  { name: 'Publish, blocked', path: ({ blocked }) => `${agreement(blocked)}/publish`, says: 'Before you publish', lacks: 'button:text-is("Publish")' },
  { name: 'Publish, proposed already', path: ({ safe }) => `${agreement(safe)}/publish`, says: 'Review the proposal' },
  { name: 'Proposals', path: '/app/proposals', says: ['Parking spaces', '1 to 50 of'] },
  { name: 'Proposals, last page', path: '/app/proposals?offset=50', says: 'Previous' },
  { name: 'Proposals, declined', path: '/app/proposals?state=declined', says: 'Parking spaces' },
  { name: 'Proposals, filtered', path: '/app/proposals?action=cancel_agreement&state=pending', says: 'Show all proposals' },
  { name: 'Proposals, none', as: 'colleague', path: '/app/proposals', says: 'No proposals yet' },
  { name: 'Agreements', path: '/app/agreements', says: ['Schedule 51', 'Counterparties'] },
  { name: 'Agreements, active', path: '/app/agreements?lifecycle=active', says: 'Step ', lacks: '.state .badge.red' },
  { name: 'Agreements, nothing found', path: '/app/agreements?search=nothing+like+this', says: 'Nothing matches' },
  { name: 'Agreements, none', as: 'colleague', path: '/app/agreements', says: 'No agreements yet' },
  { name: 'Contacts', path: '/app/contacts', says: ['Juniper Seed Fund II, LP', 'Add a contact'], has: 'a:text-is("Import a CSV file")' },
  { name: 'Contacts, menu open', path: '/app/contacts', act: async (page) => { const menu = page.getByText('Menu', { exact: true }); if (await menu.isVisible()) await menu.click(); }, has: 'nav a[href="/app/contacts"][aria-current=page]' },
  { name: 'Contacts, nothing found', path: '/app/contacts?search=nothing+like+this', says: 'Nothing matches' },
  { name: 'Contacts, none', as: 'colleague', path: '/app/contacts', says: 'No contacts yet' },
  { name: 'Contacts, refused', path: '/app/contacts', act: sendTo('/app/contacts', { display_name: 'Ada', kind: 'ship', email: 'ada', external_reference: 'x'.repeat(201) }), status: 422, says: 'The email address must look like', has: ['[name=kind][aria-invalid=true]', '[name=email][aria-invalid=true][aria-describedby~=email-error]', '[name=external_reference][aria-invalid=true]', '[name=display_name][value=Ada]'] },
  { name: 'Contact', path: ({ juniper }) => `/app/contacts/${juniper.id}`, says: ['Your reference', 'SAFE: Juniper Seed Fund II', 'Northwind Robotics: seed round'], has: '[name=version]' },
  { name: 'Contact, changed meanwhile', path: ({ juniper }) => `/app/contacts/${juniper.id}`, act: send('version', 'x', 'Save changes'), status: 409, says: 'This contact has changed since you opened it' },
  { name: 'Contact, saved', path: ({ juniper }) => `/app/contacts/${juniper.id}`, act: press('Save changes'), says: 'Changes saved' },
  { name: 'Contact, merge', path: ({ juniper }) => `/app/contacts/${juniper.id}/merge`, says: ['Choose the contact that lists show in place of both', 'What happens', 'This contact'], has: 'button[aria-label^="Merge into "]' },
  { name: 'Contact, merge and archive offered', path: ({ juniper }) => `/app/contacts/${juniper.id}`, act: async (page) => { for (const more of await page.locator('main details.confirm').all()) await more.locator('summary').click(); }, has: ['#merge-search', 'button:text-is("Archive")'] },
  { name: 'Contacts, archived', path: '/app/contacts?show=archived', says: 'No contacts here' },
  { name: 'Contacts, import', path: '/app/imports/contacts', says: ['Import contacts', 'nothing is added while a row has a problem'], has: ['label:text-is("CSV file")', 'nav a[href="/app/contacts"][aria-current=page]'] },
  { name: 'Contacts, import refused', path: '/app/imports/contacts', act: async (page) => { await page.getByLabel('Or paste it here', { exact: true }).fill('name,kind,email\nAda,ship,nowhere\n'); await press('Preview')(page); }, status: 422, says: ['is none of: person', 'must look like name@example.com'] },
  { name: 'Contacts, import previewed', path: '/app/imports/contacts', act: async (page) => { await page.getByLabel('Or paste it here', { exact: true }).fill('name,kind,email,reference\nPetra Lindqvist,person,petra@lindqvist.example,crm-8\nPetra Lindqvist,,petra@lindqvist.example,\n"Pier 9 Holdings, LLC",LLC,,\n'); await press('Preview')(page); }, says: ['Preview of the import', 'Nothing is added yet.', '1 row is left out', 'Same as row 2'], has: ['button:text-is("Add 2 contacts")', 'button:text-is("Add all 3 anyway")'] },
  { name: 'Workspaces', path: '/app/workspaces', says: ['Matter 51', 'Create a workspace'] },
  { name: 'Workspaces, refused', path: '/app/workspaces', act: sendTo('/app/workspaces', { name: ' ' }), status: 422, says: 'The name is required.', has: '[name=name][aria-invalid=true][aria-describedby~=name-error]' },
  { name: 'Workspace, add people', path: ({ quay }) => `${workspace(quay)}/people`, says: 'Choose the contacts', has: 'button[aria-label^="Add "]' },
  { name: 'Workspace, add people, nothing found', path: ({ quay }) => `${workspace(quay)}/people?search=nothing+like+this`, says: 'Nothing matches', has: '#display_name[value="nothing like this"]' },
  { name: 'Workspace, one person added', path: ({ quay }) => `${workspace(quay)}/people`, act: async (page) => { await page.locator('button[aria-label^="Add "]').first().click(); }, says: 'Contact added' },
  { name: 'Workspace, new person refused', path: ({ quay }) => `${workspace(quay)}/people`, act: sendTo(({ quay }) => `${workspace(quay)}/people`, { contact_id: 'new', display_name: ' ', kind: 'ship', email: 'ada' }), status: 422, says: ['The name is required.', 'Add a new contact'], has: ['[name=display_name][aria-invalid=true]', '[name=kind][aria-invalid=true]', '[name=email][aria-invalid=true][value=ada]'] },
  { name: 'Workspace, new person added', path: ({ quay }) => `${workspace(quay)}/people`, act: async (page) => { await page.getByLabel('Name', { exact: true }).fill(`Lea ${crypto.randomUUID()}`); await press('Add new contact')(page); }, says: ['was added', 'They are part of the workspace now.'] },
  { name: 'Workspace, person removed', path: ({ quay }) => `${workspace(quay)}/people`, act: async (page, { quay }) => { const add = page.locator('button[aria-label^="Add "]').first(); if (await add.count()) { await add.click(); await page.waitForLoadState('load'); } await page.goto(new URL(workspace(quay), page.url()).href); await page.locator('button[aria-label^="Remove "]').first().click(); }, says: ['was removed', 'still among your contacts'] },
  { name: 'Workspace, person kept', path: ({ safe }) => workspace({ id: safe.workspace_id }), act: sendTo(({ safe, juniper }) => `${workspace({ id: safe.workspace_id })}/people/${juniper.id}/remove`, {}), status: 409, says: ['was not removed', 'SAFE: Juniper Seed Fund II'], has: '.notice.bad a[href^="/app/agreements/"]' },
  { name: 'Workspaces, last page', path: '/app/workspaces?offset=50', says: 'WS-000001' },
  { name: 'Workspaces, nothing found', path: '/app/workspaces?search=nothing+like+this', says: 'Nothing matches' },
  { name: 'Workspaces, none', as: 'colleague', path: '/app/workspaces', says: 'No workspace yet' },
  { name: 'Workspace, not activated', path: ({ quay }) => workspace(quay), says: 'Not activated yet' },
  { name: 'Workspace, activated', as: 'late', path: async (_, late) => workspace(await late.find('workspaces', 'Ellery')), says: 'Agreements of this workspace can be published.' },
  { name: 'Workspace, many agreements', path: ({ large }) => workspace(large), says: '1 to 50 of 51' },
  { name: 'Workspace, empty', path: ({ empty }) => workspace(empty), says: 'No agreement yet' },
  { name: 'Organization', path: '/app/organization', says: ['Devin Okafor', 'Invite a member', 'Harbor & Pine LLP, escrow'], has: [YOU, REMOVE, 'input#time_zone[list=zones]', 'datalist#zones option:nth-child(32)'] },
  { name: 'Organization, a member’s acts', path: '/app/organization', act: async (page) => { for (const more of await page.locator('main details.confirm').all()) await more.locator('summary').click(); }, has: [REMOVE, 'button:text-is("Create password link")'] },
  { name: 'Organization, for a member', as: 'member', path: '/app/organization', says: ['Maren Holt', 'Devin Okafor', 'Time zone'], has: YOU, lacks: [REMOVE, 'button:text-is("Invite member")'] },
  { name: 'Organization, only one', as: 'colleague', path: '/app/organization', says: 'No own contacts yet', has: YOU, lacks: REMOVE },
  { name: 'Organization, refused', path: '/app/organization', act: sendTo('/app/organization', { name: '', time_zone: 'Mars/Olympus' }), status: 422, says: 'The time zone must be a city that a time zone is named after', has: ['[name=name][aria-invalid=true]', '[name=time_zone][aria-invalid=true]'] },
  { name: 'Organization, invited', path: '/app/organization', act: (page, { admin }) => fillInvitation(page, `${crypto.randomUUID()}@members.example`, admin.person), says: ['Send this link to', 'Pending invitations'], has: '#link' },
  { name: 'Organization, not invited', path: '/app/organization', act: sendTo('/app/organization/invitations', { email: 'ada', role: 'member' }), status: 422, says: 'The email address must look like', has: '[name=email][aria-invalid=true][value=ada]' },
  { name: 'Organization, password link', path: '/app/organization', act: (page, { admin }) => createPasswordLink(page, admin.person), says: 'Send this link to', has: '#link' },
  { name: 'Own contacts', path: '/app/organization/contacts', says: ['Juniper Seed Fund II, LP', 'Add a new contact'] },
  { name: 'Own contacts, none', as: 'colleague', path: '/app/organization/contacts', says: ['No contacts yet', 'Add the first one here.'], has: 'button:text-is("Add new contact")' },
  { name: 'Invitation', as: 'nobody', path: invitation, says: ['You were invited. Choose a password', 'New password'] },
  { name: 'Invitation, refused', as: 'nobody', path: invitation, act: async (page) => { await page.getByLabel('Your name', { exact: true }).fill('Cleo Park'); await page.getByLabel('New password', { exact: true }).fill('password12345'); await press('Accept invitation')(page); }, status: 422, says: 'one of the most common ones', has: '[name=password][aria-invalid=true]' },
  { name: 'Invitation, code', as: 'nobody', path: ({ guarded }) => guarded.invitation, act: (page, { guarded }) => fillAcceptance(page, guarded), says: ['Join ', 'Your password is correct.'], has: '#code', lacks: '#password' },
  { name: 'Invitation, code refused', as: 'nobody', isCounted: true, path: ({ guarded }) => guarded.invitation, act: async (page, { guarded }) => { await fillAcceptance(page, guarded); await page.getByLabel('Code', { exact: true }).fill('000000'); await press('Accept invitation')(page); }, status: 422, says: 'Code is incorrect or was used already', has: '#code[aria-invalid=true]' },
  { name: 'Invitation, no longer works', as: 'nobody', path: `/app/invitations/${'0'.repeat(64)}`, status: 404, isFailedForm: true, says: 'This invitation no longer works' },
  { name: 'Password link', as: 'nobody', path: passwordLink, says: ['Set a new password', 'All your sessions end'] },
  { name: 'Password link, no longer works', as: 'nobody', path: `/app/password-links/${'0'.repeat(64)}`, status: 404, isFailedForm: true, says: 'This password link no longer works' },
  { name: 'Sign in, password saved', as: 'nobody', path: '/app/sign-in?password=saved', says: 'Sign in with the new password.' },
  { name: 'Organization, nothing to reset', path: '/app/organization', act: async (page, made) => { const action = await page.locator('main form[action*="/role"]').first().getAttribute('action'); await sendTo(action.replace('/role', '/second-factor'), { own_password: made.admin.person.password })(page, made); }, lacks: 'summary[aria-label="Reset second factor of Devin Okafor…"]', status: 422, isFailedForm: true, says: 'There is nothing to reset' },
  { name: 'Members, refused', as: 'member', path: '/app/organization', act: sendTo('/app/organization/members', { member: 'x' }), status: 403, isFailedForm: true, says: ['Only admins remove members', 'Ask an admin'], lacks: REMOVE },
  { name: 'Members, oneself', path: '/app/organization', act: sendTo('/app/organization/members', ({ maren }) => ({ member: maren })), status: 422, says: 'You can’t remove yourself', has: REMOVE },
  { name: 'Members, one removed', as: 'late', path: '/app/organization', before: async (_, made) => { made.removal = await remove(made.lateTab); }, act: show(({ removal }) => removal), says: 'Devin Okafor was removed', lacks: REMOVE },
  { name: 'Members, gone already', path: '/app/organization', act: async (page) => { await page.locator('main input[name=member]').first().evaluate((input) => { input.value = 'x'; }); await page.locator('summary', { hasText: 'Remove…' }).first().click(); await page.getByRole('button', { name: 'Remove Devin Okafor' }).click(); }, status: 404, isFailedForm: true, says: 'There is no such member' },
  { name: 'Audit', path: '/app/audit', says: ['Every call of the API', 'Export CSV', 'Success'], has: 'nav a[href="/app/audit"][aria-current=page]' },
  { name: 'Audit, of a contact', path: ({ juniper }) => `/app/audit?object=${juniper.id}`, says: ['These are the rows about', 'Remove the filters'] },
  { name: 'Audit, refusals', as: 'member', path: '/app/audit?outcome=refused', says: 'Refused' },
  { name: 'Audit, several operations', path: '/app/audit?operation=payment', says: 'operations have “payment”: show one', has: 'main table.log tbody tr' },
  { name: 'Audit, several objects', path: '/app/audit?object=a', says: ['Several names have', 'Choose the one to filter by'] },
  { name: 'Audit, no such name', path: '/app/audit?object=nothing+has+this', status: 422, says: 'Nothing has this in its name', has: '#object[aria-invalid=true][aria-describedby~=object-error]' },
  { name: 'Audit, nothing found', path: '/app/audit?operation=rotate_secret&from=2020-01-01&to=2020-01-02', says: ['No calls on these days', 'Week before'] },
  { name: 'Audit, refused', path: '/app/audit?from=yesterday&object=a%01b&outcome=fine', status: 422, says: 'There is no such choice', has: ['#from[aria-invalid=true]', '#object[aria-invalid=true][aria-describedby~=object-error]'] },
  { name: 'Developers, no endpoint', as: 'colleague', path: '/app/developers', says: 'No endpoint yet' },
  { name: 'Developers, endpoints', path: '/app/developers', says: ['Working', 'Failing', 'Paused'] },
  { name: 'Developers, address refused', path: '/app/developers', act: (page) => fillEndpoint(page, 'https://10.20.30.40/hooks', 'proposal.created'), status: 422, says: 'The URL can’t be used' },
  { name: 'Developers, for admins', as: 'member', path: '/app/developers', status: 403, says: 'This page is for admins' },
  { name: 'Tokens', path: '/app/developers/tokens', says: ['Valid tokens', 'Token name', 'Create token'] },
  { name: 'Tokens, refused', path: '/app/developers/tokens', act: sendTo('/app/developers/tokens', { name: ' ', scope: 'all' }), status: 422, has: ['[name=name][aria-invalid=true]', '[name=scope][aria-invalid=true]'] },
  { name: 'Tokens, just created', as: 'colleague', path: '/app/developers/tokens', act: async (page) => { await page.getByLabel('Token name', { exact: true }).fill('CRM sync'); await press('Create token')(page); }, says: ['Copy the token “CRM sync” now'], has: '#value[value^=cs_]' },
  { name: 'Tokens, revoke opened', as: 'colleague', path: '/app/developers/tokens', act: (page) => page.locator('details.confirm summary').first().click(), has: 'details[open] button.danger' },
  { name: 'Tokens, for admins', as: 'member', path: '/app/developers/tokens', status: 403, says: 'This page is for admins' },
  { name: 'Documentation', as: 'nobody', path: '/docs', isAlone: true, says: ['API documentation', 'Draft an agreement', 'idempotent-replayed', 'urllib.request', 'proposal.created'], has: '#search:not([hidden])' },
  { name: 'Documentation, searched', as: 'nobody', path: '/docs', isAlone: true, act: async (page) => { await page.keyboard.press('Control+k'); await page.keyboard.type('propose publication'); await page.keyboard.press('Enter'); }, says: /^[1-9]\d* results?$/, has: ['#create_proposal:not([hidden])', '#create_contact[hidden]'] },
  { name: 'Documentation, nothing found', as: 'nobody', path: '/docs', isAlone: true, act: (page) => page.getByLabel('Search', { exact: true }).fill('nothing-like-this'), says: '0 results', lacks: '.entry:not([hidden])' },
  { name: 'Endpoint, just added', as: 'colleague', path: '/app/developers', act: (page, { receiver }) => fillEndpoint(page, `${receiver.base}/ok`, 'proposal.created', 'agreement.published'), says: ['Copy the signing secret now', 'Nothing has been sent yet'] },
  { name: 'Developers, one deleted', as: 'colleague', path: '/app/developers', act: async (page, { receiver }) => { await fillEndpoint(page, `${receiver.base}/deleted`); await page.getByText('Delete endpoint…', { exact: true }).click(); await press('Delete')(page); }, says: ['Endpoint deleted', 'Nothing more is sent to'] },
  { name: 'Endpoint, working', path: ({ working }) => working, says: ['Delivered', 'Older'] },
  { name: 'Endpoint, last page', path: ({ working }) => `${working}?before=00000000-0000-7000-8000-000000000000`, says: 'Nothing older' },
  { name: 'Endpoint, busy', path: ({ busy }) => busy, says: ['Delivered', 'Retrying'] },
  { name: 'Endpoint, failing', path: ({ failing }) => failing, says: ['Failing', 'have not been delivered'] },
  { name: 'Endpoint, count since', path: ({ failing }) => `${failing}?since=yesterday`, says: 'must be a date, with a time of day if it matters' },
  { name: 'Endpoint, no event selected', path: ({ busy }) => `${busy}/edit`, act: async (page) => { for (const chosen = page.locator('.event-types input:checked'); await chosen.count() > 0;) await chosen.first().uncheck(); await press('Save')(page); }, status: 422, says: 'Select at least one event' },
  { name: 'Endpoint, replay refused', path: ({ failing }) => failing, act: sendTo('', { act: 'replay', since: 'yesterday' }), status: 422, says: ['Nothing was replayed', 'Since must be a date, with a time of day if it matters'], has: '#since[aria-invalid=true][aria-describedby~=since-error]' },
  { name: 'Endpoint, paused', path: ({ paused }) => paused, says: ['Paused', 'Held'] },
  { name: 'Endpoint, some given up', as: 'late', path: ({ given }) => given, says: ['Exhausted', 'Delivered'] },
  { name: 'Endpoint, nothing found', path: ({ working }) => `${working}?state=exhausted&type=agreement.published`, says: 'No such delivery' },
  { name: 'Endpoint, secret copied', as: 'late', path: ({ given }) => given, act: async (page) => { await page.getByLabel('Replace at once', { exact: true }).check(); await press('Rotate secret')(page); const copy = page.getByRole('button', { name: 'Copy', exact: true }); if (await copy.count() > 0) { await copy.click(); await page.getByRole('status').filter({ hasText: /Copied|Press Ctrl\+C/ }).waitFor({ state: 'attached' }); } }, says: 'Copy the signing secret now' },
  { name: 'Endpoint, secret rotated', as: 'late', isCounted: true, path: ({ given }) => given, act: press('Rotate secret'), says: ['Secret rotated', 'Copy the signing secret now', 'Previous secret valid until', 'Code that verifies a delivery'] },
  { name: 'Delivery, secret just rotated', as: 'late', path: ({ given }) => given, act: async (page) => { await page.getByLabel('Replace at once', { exact: true }).check(); await press('Rotate secret')(page); await page.getByText('Copy the signing secret now').waitFor(); await press('Send test event')(page); }, says: ['Copy the signing secret now', 'webhook.test'], has: 'input[readonly][value^=whsec_]' },
  { name: 'Endpoint, edit', path: ({ busy }) => `${busy}/edit`, says: 'Edit endpoint' },
  { name: 'Endpoint, edit refused', path: ({ busy }) => `${busy}/edit`, act: async (page) => { await page.getByLabel('Endpoint URL', { exact: true }).fill('https://10.20.30.40/hooks'); await press('Save')(page); }, status: 422, says: 'The URL can’t be used' },
  { name: 'Endpoint, not there', as: 'colleague', path: ({ working }) => working, status: 404, says: 'There is nothing here' },
  { name: 'Developers, full', as: 'colleague', path: '/app/developers', before: (_, { colleagueTab, receiver }) => fill(colleagueTab, `${receiver.base}/ok`), says: 'There is no room for another one', has: '.table', lacks: '[name=url]' },
  { name: 'Developers, full meanwhile', as: 'colleague', path: '/app/developers', before: (_, { colleagueTab, receiver }) => fill(colleagueTab, `${receiver.base}/ok`), act: sendTo('/app/developers', ({ receiver }) => ({ url: `${receiver.base}/typed`, 'event:proposal.created': 'on' })), status: 422, says: 'There is no room for another endpoint', has: ['[name=url][value$="/typed"]', '[name="event:proposal.created"][checked]'] },
  { name: 'Delivery, delivered', path: ({ delivered }) => delivered, says: 'The endpoint has acknowledged it.' },
  { name: 'Delivery, waiting', path: ({ waiting }) => waiting, says: ['of 5 attempts failed', 'Next attempt'] },
  { name: 'Delivery, exhausted', as: 'late', path: ({ exhausted }) => exhausted, says: 'All 5 attempts failed' },
  { name: 'Account', path: '/app/account', says: ['This device', 'Set up second factor'], has: ['[name=name]', '[name=current_password]', '[name=new_password]', 'form[action="/app/sign-out-everywhere"]'] },
  { name: 'Account, name refused', path: '/app/account', act: sendTo('/app/account/name', { name: 'x'.repeat(201) }), status: 422, says: 'Your name must have', has: '[name=name][aria-invalid=true][aria-describedby~=name-error]' },
  { name: 'Account, password refused', path: '/app/account', act: sendTo('/app/account/password', { current_password: 'x', new_password: 'short' }), status: 422, says: 'New password must have at least 12 characters', has: '[name=new_password][aria-invalid=true]' },
  { name: 'Second factor, off', as: 'colleague', path: SECOND_FACTOR, says: 'You need an authenticator app', has: 'button:text-is("Set up second factor")' },
  { name: 'Second factor, wrong password', as: 'colleague', path: SECOND_FACTOR, act: (page) => setUp(page, { password: 'wrong' }), status: 422, says: 'Current password is incorrect.', has: '#current_password[aria-invalid=true]' },
  { name: 'Second factor, being set up', as: 'colleague', path: SECOND_FACTOR, act: (page, { colleague }) => setUp(page, colleague), says: ['Scan this code', 'Code from your app'], has: ['svg.qr', '#key', 'button:text-is("Turn on")'] },
  { name: 'Second factor, code refused', as: 'colleague', path: SECOND_FACTOR, act: async (page, { colleague }) => { await setUp(page, colleague); await page.getByLabel('Code from your app', { exact: true }).fill('000000'); await press('Turn on')(page); }, status: 422, says: 'Code from your app is incorrect', has: ['#key', '#code[aria-invalid=true]'] },
  { name: 'Account, few recovery codes', as: 'guarded', path: '/app/account', says: ['Manage second factor', 'You have few recovery codes left.', '3 of 10'] },
  { name: 'Second factor, few recovery codes', as: 'guarded', path: SECOND_FACTOR, says: ['3 of 10', 'New recovery codes', 'Turn off…'] },
  { name: 'Second factor, no code', as: 'guarded', path: SECOND_FACTOR, act: async (page) => { await page.locator('#code').fill('1'); await press('New recovery codes')(page); }, status: 422, says: 'Code must have 6 digits, or be a recovery code.', has: '#code[aria-invalid=true]' },
  { name: 'Second factor, not turned off', as: 'guarded', path: SECOND_FACTOR, act: async (page) => { await page.getByText('Turn off…', { exact: true }).click(); await page.getByLabel('Current password', { exact: true }).fill('wrong'); await page.locator('#turn_off_code').fill('000000'); await press('Turn off')(page); }, status: 422, says: 'Current password is incorrect.', has: 'details[open] #current_password[aria-invalid=true]' },
  { name: 'Second factor, out of date', as: 'guarded', path: SECOND_FACTOR, act: sendTo(SECOND_FACTOR, ({ guarded }) => ({ current_password: guarded.password })), status: 422, says: 'This page was out of date' },
  { name: 'Second factor, new recovery codes', as: 'guarded', path: SECOND_FACTOR, before: async (_, made) => { made.codes = await newCodes(made.guardedTab, made.guarded); }, act: show(({ codes }) => codes), says: ['New recovery codes created', 'Save your recovery codes now', '10 of 10'], has: '#codes' },
  { name: 'Organization, second factor reset', path: '/app/organization', before: async (_, made) => { made.reset = await reset(made.admin, made.guarded); }, act: show(({ reset: cookies }) => cookies), says: 'Second factor reset' },
  { name: 'Not found', path: '/app/nowhere', status: 404, says: 'There is nothing here' },
  { name: 'Not found, a record', path: '/app/agreements/01980a52-90bd-7f6a-8e21-c4d2b7035a18', status: 404, says: 'There is nothing here' },
  { name: 'Not this way', path: '/app/sign-out', status: 405, says: 'This page can’t do that' },
  // What comes here changes what the scenes above show.
  { name: 'Paper signature, counts', before: confirmPaper, path: ({ signer }) => signer.access, says: ['Signed on paper', 'Confirmed by', 'Recorded by'], lacks: 'button:text-is("Confirm paper signature")' },
  { name: 'Paper signature, counts, on the agreement', path: ({ grant }) => agreement(grant), says: 'Priya Raman signed on paper on 20 Nov 2026' },
  { name: 'Paper signature, to its participant', before: confirmPaper, as: 'signer', path: part(''), says: ['Signed on paper', 'You signed “Grant agreement” on paper on 20 Nov 2026'] },
  { name: 'Paper signature, its document', before: confirmPaper, as: 'signer', path: part(toSign), says: ['You signed this document on paper', 'Download the scan'], lacks: '#signature' },
  { name: 'Participant, to upload', as: 'recipient', before: confirmPaper, path: toUpload, says: ['asks for a file', 'Your file', 'Decline…'], reach: 'button:text-is("Upload")' },
  { name: 'Participant, upload refused', as: 'recipient', before: confirmPaper, path: toUpload, act: press('Upload'), status: 422, has: '#file[aria-invalid=true]', reach: 'button:text-is("Upload")' },
  { name: 'Participant, upload declined without a reason', as: 'recipient', before: confirmPaper, path: toUpload, act: decline, status: 422, has: '#reason[aria-invalid=true]' },
  { name: 'Organization, codes asked for', before: askForCodes, path: '/app/organization', says: 'Ask participants for a code', has: '#asks_for_codes:checked' },
  { name: 'Code, none yet', path: ({ household }) => household.access, says: ['only with a code, which you read out by phone'], has: 'button.primary:text-is("Create code")' },
  { name: 'Code, made in another session', before: makeCode, path: ({ household }) => household.access, says: ['5 tries left', 'Creating a new code cancels the previous one'], lacks: '#code' },
  { name: 'Code, asked for', as: 'nobody', path: ({ household }) => household.link, says: ['invites you to', 'Six digits that a member of the organization reads out'], has: '#code' },
  { name: 'Code, wrong', as: 'nobody', path: ({ household }) => household.link, act: async (page) => { await page.locator('#code').fill('000 000'); await press('Continue')(page); }, status: 422, isCounted: true, says: 'is wrong, or no longer works', has: '#code[aria-invalid=true]' },
];
