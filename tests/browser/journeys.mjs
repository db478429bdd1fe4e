// Four people's ways through the app, each from an empty organization: they read as what the app must let them do. Nobody
// types an address but that of the start page, and participants open the links that members show.
import { expect, screenshot } from './browser.mjs';
import { Person } from './person.mjs';
import { standsAtOnce } from './standing.mjs';

// The pages that an attorney loads from the start page to a published purchase. Decision: what follows is not counted, since
// its pages are those of other people.
const PURCHASE_LOADS_MAX = 25;

const DAY_MS = 24 * 3600 * 1000;

// A date as an organization in the zone UTC types it: the day first.
const inDays = (days) => new Date(Date.now() + days * DAY_MS).toLocaleDateString('en-GB', { timeZone: 'UTC' });
const today = () => inDays(0);

// A walk in one view: who is on it, and what is looked at on the way.
export class Journey {
  constructor(name, chrome, stack, view) {
    const [organization] = stack.organizations;
    Object.assign(this, { name, chrome, stack, view, organization, people: [], pages: [], stood: [] });
  }

  async person(name) {
    const person = await Person.open(this.chrome, name, this.view, this);
    this.people.push(person);
    return person;
  }

  // A member, signed in.
  async member(name, member = this.organization.members[0]) {
    const person = await this.person(name);
    await person.signsIn(this.stack.base, member);
    return person;
  }

  // A participant, with the link that a member shows on the page of the agreement.
  async participant(member, name) {
    await member.presses(`Show link of ${name}`);
    await member.sees('Link shown');
    const link = await member.field('Personal link').inputValue();
    await member.follows(this.deal);
    const person = await this.person(name);
    await person.opens(link);
    await person.presses('Continue');
    await person.presses('I agree');
    return person;
  }

  // Every page that somebody comes to.
  look(person, doing) {
    this.pages.push(`${person.name} ${doing}`);
    return screenshot(person.tab, { name: `${this.name} ${String(this.pages.length).padStart(2, '0')}` });
  }

  // A page of the table, which the person has before them.
  stands(person, page) {
    this.stood.push(page);
    return standsAtOnce(person, page);
  }

  // A PDF as the browser prints it.
  async pdf(person, name) {
    const blank = await person.tab.context.newPage();
    const buffer = await blank.pdf();
    await blank.close();
    return { name, mimeType: 'application/pdf', buffer };
  }

  close() {
    return Promise.all(this.people.map((person) => person.close()));
  }
}

// An attorney's purchase: two signers sign, then the buyer answers a question and wires the price.
export async function purchase(journey) {
  journey.deal = 'Purchase of 12 Harbor Street';
  const attorney = await journey.member('The attorney');
  await attorney.turnsTo('Agreements');
  await attorney.follows('New agreement');
  await attorney.follows('Two-party signature');
  await attorney.fills({ 'Agreement name': journey.deal, Workspace: '12 Harbor Street' });
  await attorney.fills({ Name: 'Nora West', Kind: 'Person', Email: 'nora@parties.example' }, attorney.group('First party'));
  await attorney.fills({ Name: 'Otto Lund', Kind: 'Person', Email: 'otto@parties.example' }, attorney.group('Second party'));
  await attorney.presses('Create draft');
  await attorney.follows('Edit name, kind and expiry');
  await attorney.fills({ Expires: inDays(90) });
  await attorney.presses('Save expiry');
  await attorney.follows('Agreement');
  // What is too large stays in the browser, and with it what was typed.
  const scans = { name: 'Scans.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(Math.floor(5.2 * 2 ** 20)) };
  await attorney.fills({ File: scans });
  await attorney.isHeldBack('Save document', 'File', 'This file is 5.2 MB. The limit is 4 MB.');
  await attorney.fills({ File: await journey.pdf(attorney, 'Purchase agreement.pdf') });
  await attorney.presses('Save document');
  await attorney.follows('Back to the draft');
  await attorney.follows('Add payment');
  await attorney.fills({ Purpose: 'Purchase price', Amount: '480,000', Payer: 'Nora West', Payee: 'Otto Lund', Method: 'Wire' });
  await attorney.presses('Add payment');
  await attorney.fills({ 'Step name': 'Closing' });
  await attorney.presses('Add step');
  await attorney.follows('Confirmed payment');
  await attorney.fills({ Payment: 'Purchase price, $480,000.00 USD' }, attorney.page.getByRole('main'));
  await attorney.presses('Add condition');
  await attorney.follows('Information request');
  await attorney.checks('Nora West');
  await attorney.presses('Add condition');
  await attorney.fills({ Question: 'Who will insure the house?' });
  await attorney.presses('Add question');
  await attorney.follows(journey.deal);
  await journey.stands(attorney, 'A draft');
  await attorney.follows('Review and publish');
  await attorney.presses('Publish');
  expect(attorney.loads <= PURCHASE_LOADS_MAX, `the attorney loads ${attorney.loads} pages to publish a purchase, of at most ${PURCHASE_LOADS_MAX}`);
  journey.loads = attorney.loads;
  await attorney.sees('Step 1 of 2: Signing');
  await journey.stands(attorney, 'An active agreement');

  // Signing.
  const buyer = await journey.participant(attorney, 'Nora West');
  await journey.stands(buyer, 'A participant’s page');
  await buyer.follows('Review and sign: Sign “Agreement”');
  await buyer.fills({ 'Type your name': 'Nora West' });
  await buyer.presses('Sign');
  await buyer.sees('You signed “Agreement”');
  const seller = await journey.participant(attorney, 'Otto Lund');
  await seller.follows('Review and sign: Sign “Agreement”');
  await seller.fills({ 'Type your name': 'Otto Lund' });
  await seller.presses('Sign');

  // Closing: the answer.
  await buyer.follows(journey.deal);
  await buyer.follows('Answer: Answer questions');
  await buyer.fills({ 'Who will insure the house?': 'Harbor Mutual' });
  await buyer.presses('Send');
  await attorney.turnsTo('Home');
  await journey.stands(attorney, 'Home');
  await attorney.follows(journey.deal);
  await attorney.follows('Read answers of Nora West');
  await attorney.sees('Harbor Mutual');
  await attorney.presses('Accept');

  // Closing: the wire.
  await attorney.follows('Back to the agreement');
  await attorney.follows('Purchase price');
  await attorney.presses('Authorize');
  await attorney.follows('Enter instructions');
  // In dollars, an account in the United States is chosen already.
  await attorney.fills({ 'Account holder': 'Otto Lund', Bank: 'First Bank of Albany', 'Routing number': '021000021', 'Account number': '000123456789' });
  await attorney.presses('Enter instructions');
  const colleague = await journey.member('The colleague', journey.organization.members[1]);
  await colleague.follows('Purchase price');
  await colleague.fills({
    'Account number': '000123456789',
    'Routing number': '021000021',
    'Read out by': 'Otto Lund',
    Method: 'Call back to a known number',
    'Number called': '+1 212 555 0100',
    'Where you have that number from': 'From earlier dealings',
  });
  await colleague.presses('Verify instructions');
  await colleague.presses('Release instructions');
  await colleague.turnsTo('Money');
  await journey.stands(colleague, 'Money');
  await colleague.follows('Purchase price');
  await journey.stands(colleague, 'A payment');
  await buyer.follows(journey.deal);
  await buyer.follows(/^View instructions: /);
  await buyer.sees('000123456789', '021000021');
  await journey.stands(buyer, 'A payer’s page');
  await buyer.fills({ 'Sent on': today(), 'Reference type': 'End-to-end ID', Reference: 'CLOSING-1' });
  await buyer.presses('I have sent it');
  await buyer.sees('It proves nothing');
  await seller.follows(journey.deal);
  await seller.follows(/^Check and report: /);
  await seller.fills({ 'Amount received': '480,000', Currency: 'USD', 'Value date': today() });
  await seller.presses('It has arrived');

  await colleague.turnsTo('Home');
  await colleague.follows('Purchase price');
  await colleague.follows('Review evidence');
  await colleague.sees('The full amount has arrived.');
  await colleague.presses('Accept evidence');
  await colleague.sees('Confirmed received');
  await attorney.turnsTo('Agreements');
  await attorney.follows(journey.deal);
  await attorney.sees('Completed');
}

// A founder's SAFE: begun with its workspace and parties, the terms and the document, and a colleague who decides; then the company
// approves, both sides sign, the investor answers what is asked, and the founder authorizes the investment.
export async function safe(journey) {
  journey.deal = 'SAFE: Juniper Ventures';
  const founder = await journey.member('The founder');
  await founder.turnsTo('Agreements');
  await founder.follows('New agreement');
  await founder.follows('SAFE');
  await founder.fills({ 'Agreement name': journey.deal, Workspace: 'Seed round' });
  const company = { Name: 'Northwind Robotics, Inc.', Kind: 'Corporation', Email: 'legal@northwind.example' };
  await founder.fills(company, founder.group('Company (issuer)'));
  await founder.fills({ Name: 'Juniper Ventures LLC', Kind: 'LLC', Email: 'deals@juniper.example' }, founder.group('Investor'));
  await founder.presses('Create draft');
  await founder.follows('Edit terms');
  await founder.fills({ 'Investment amount': '250k', Currency: 'USD', 'Valuation cap': '8m', Conversion: 'Post-money', 'Governing law': 'Delaware' });
  await founder.presses('Save terms');
  await founder.follows('Investment');
  // The form has the amount of the terms.
  await founder.presses('Save payment');
  await founder.sees('$250,000.00 USD');
  await founder.follows('Upload the file of “SAFE”');
  await founder.fills({ File: await journey.pdf(founder, 'SAFE.pdf') });
  await founder.presses('Save document');
  await founder.follows('Back to the draft');
  await founder.unfolds('Have another member decide');
  await founder.fills({ Note: 'As agreed on the phone.' });
  await founder.presses('Propose publication');
  await founder.turnsTo('Agreements');
  await founder.follows(journey.deal);
  await journey.stands(founder, 'A draft with a proposal');

  const colleague = await journey.member('The colleague', journey.organization.members[1]);
  await colleague.sees('One thing needs you.');
  await colleague.follows(/SAFE: Juniper Ventures/);
  await journey.stands(colleague, 'A proposal');
  await colleague.sees('As agreed on the phone.', 'What happens');
  await colleague.fills({ 'Decision note': 'Go ahead.' });
  await colleague.presses('Confirm');
  await colleague.sees('Confirmed by');

  await founder.turnsTo('Agreements');
  await journey.stands(founder, 'The list of agreements');
  await founder.follows(journey.deal);
  await founder.sees('Step 1 of 4: Terms');
  const issuer = await journey.participant(founder, 'Northwind Robotics, Inc.');
  await issuer.follows('Review and approve: Give your approval');
  await issuer.presses('Approve');
  const signs = async (person, name, title) => {
    await person.follows('Review and sign: Sign “SAFE”');
    await person.fills({ 'Your name': name, 'Your title': title, 'Type your name to sign': name });
    await person.presses('Sign');
    await person.sees('You signed “SAFE”');
  };
  await issuer.follows(journey.deal);
  await signs(issuer, 'Nora West', 'Chief Executive');
  const investor = await journey.participant(founder, 'Juniper Ventures LLC');
  await signs(investor, 'Iris Cole', 'Managing Member');
  await investor.follows('Next: Answer questions');
  await investor.checks('Yes');
  await investor.presses('Send', { status: 422 });
  await investor.sees('What you typed is saved as a draft. Nothing was sent.');
  await investor.fills({ 'Street and number': '12 Harbor Street', City: 'Portland', Country: 'United States' });
  await investor.presses('Send');
  await founder.turnsTo('Home');
  await founder.sees('Answers to read');
  await founder.follows(journey.deal);
  await founder.sees('Step 3 of 4: Closing');
  await founder.follows('Read answers of Juniper Ventures LLC');
  await founder.presses('Accept');
  await founder.follows('Back to the agreement');
  await founder.sees('Step 4 of 4: Funding');
  await founder.follows('Investment');
  await founder.presses('Authorize');
  await founder.sees('Authorized');
}

// A paralegal's trust of five items, four of them imported.
export async function trust(journey) {
  const paralegal = await journey.member('The paralegal');
  const named = 'The Castellan Trust';
  await paralegal.turnsTo('Funding');
  await paralegal.follows('New trust');
  await paralegal.fills({ 'Formal name': named, 'Name of the new workspace': 'Castellan trust funding' });
  const ruth = paralegal.group('First person');
  await paralegal.fills({ Name: 'Ruth Castellan', Kind: 'Person', Email: 'ruth@castellan.example' }, ruth);
  await paralegal.checks('Settlor', ruth);
  const amos = paralegal.group('Second person');
  await paralegal.fills({ Name: 'Amos Castellan', Kind: 'Person', Email: 'amos@castellan.example' }, amos);
  await paralegal.checks('Trustee', amos);
  await paralegal.presses('Create trust');
  await paralegal.follows('Add an item');
  await paralegal.fills({ Label: 'Grand piano', Kind: 'Personal property' });
  await paralegal.presses('Add item');

  // The first file says all that is wrong with it, and nothing is added.
  const columns = 'label,asset_kind,verb,trust,owners,institution,account_type,account_last4,current_title';
  const row = (...values) => values.join(',');
  await paralegal.turnsTo('Funding');
  await paralegal.follows('Castellan trust funding');
  await paralegal.follows('Import a CSV file');
  await paralegal.fills({ 'Or paste it here': [columns, row('Checking', 'bank_account', 'melt', 'The Castellan', 'Ruth', '', '', '000123456789', '')].join('\n') });
  await paralegal.presses('Preview', { status: 422 });
  await paralegal.sees('Problems');
  await paralegal.fills({
    'Or paste it here': [
      columns,
      row('Checking at First National', 'bank_account', 'retitle', named, 'Ruth Castellan', 'First National', 'Checking', '4411', 'Ruth Castellan'),
      row('Savings at First National', 'bank_account', 'change_beneficiary', named, 'Ruth Castellan', 'First National', '', '2290', ''),
      row('Sailing boat', 'personal_property', '', named, 'Ruth Castellan', '', '', '', ''),
      row('Patent', 'intellectual_property', '', named, '', '', '', '', ''),
    ].join('\n'),
  });
  await paralegal.presses('Preview');
  await paralegal.presses('Add all items');
  await paralegal.sees('0 of 5 items done');

  // One is papered, claimed and proven.
  await paralegal.checks('Select Checking at First National');
  await paralegal.presses('Paper selected');
  await paralegal.presses('Paper selected');
  await paralegal.follows('Review and publish');
  await paralegal.presses('Publish');
  await paralegal.turnsTo('Funding');
  await paralegal.follows('Castellan trust funding');
  await paralegal.follows('Checking at First National');
  await journey.stands(paralegal, 'An item');
  await paralegal.unfolds('Record a claim…');
  await paralegal.fills({ 'What the owner said': 'The bank has changed the title.' });
  await paralegal.presses('Record claim');
  await paralegal.sees('Not proof');
  await paralegal.checks('Institution’s confirmation');
  await paralegal.fills({ Dated: today(), Note: 'A letter, read by counsel.' });
  await paralegal.presses('File proof');
  await paralegal.presses(/^Accept proof: /);
  await paralegal.sees('Funded');
  await paralegal.turnsTo('Funding');
  await paralegal.sees(/1 of 5/);
  await paralegal.follows('Castellan trust funding');
  await journey.stands(paralegal, 'A funding schedule');

  // What another lacks is saved beside its next step, with a button that is outside the form.
  await paralegal.follows('Grand piano');
  await paralegal.fills({ Action: 'Assign' });
  await paralegal.presses('Save facts', { within: paralegal.section('Next step') });
  await paralegal.sees('Facts saved');
}

// An admin's month: a new colleague comes, gets another role and goes; a token is made, used and revoked; an endpoint is told
// of it; and the audit log has all of it.
export async function month(journey) {
  const admin = await journey.member('The admin');
  const [{ password: own }] = journey.organization.members;

  // Members.
  await admin.turnsTo('Organization');
  await admin.fills({ Email: 'ines@members.example', Role: 'Member', 'Your password': own }, admin.section('Invite a member'));
  await admin.presses('Invite member');
  const invitation = await admin.field('Invitation link').inputValue();
  const invited = await journey.person('The invited');
  await invited.opens(invitation);
  await invited.fills({ 'Your name': 'Ines Moreau', 'New password': 'lantern orchard velvet' });
  await invited.presses('Accept invitation');
  await invited.sees('You joined Harbor & Pine LLP');
  await admin.turnsTo('Organization');
  await admin.unfolds('Role of Ines Moreau…');
  await admin.fills({ 'Role of Ines Moreau': 'Admin', 'Your password, to change the role of Ines Moreau': own });
  await admin.presses('Save role of Ines Moreau');
  await invited.turnsTo('Home');
  await invited.turnsTo('Developers');
  await admin.unfolds('Remove Ines Moreau…');
  await admin.presses('Remove Ines Moreau, ines@members.example');
  await admin.sees('Ines Moreau was removed');

  // A token.
  await admin.turnsTo('Developers');
  await admin.follows('Access tokens');
  await admin.fills({ 'Token name': 'CRM sync', Scope: 'Read only' });
  await admin.presses('Create token');
  const token = await admin.field('Token value').inputValue();
  await journey.stack.call('/api/v1/me', undefined, { token });
  await admin.unfolds('Revoke CRM sync…');
  await admin.presses('Revoke CRM sync');
  await admin.sees('Token revoked');

  // An endpoint.
  await admin.follows('Webhook endpoints');
  await admin.fills({ 'Endpoint URL': `${journey.receiver}/ok` });
  await admin.presses('Add endpoint');
  await admin.sees('Copy the signing secret now');
  await admin.presses('Send test event');
  await admin.sees('Test event delivered');
  await admin.follows('Back to the endpoint');
  await admin.presses('Pause');
  await admin.presses('Resume');

  // What the audit log says of it, and of one person.
  await admin.turnsTo('Audit');
  await admin.sees('Sent a test event', 'Revoked an access token', 'Accepted an invitation', 'CRM sync (over the API)');
  await admin.fills({ Actor: 'Ines Moreau', Outcome: 'Success' });
  await admin.presses('Filter', { isAct: false });
  await admin.sees('Accepted an invitation');
}
