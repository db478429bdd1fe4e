// Four people's ways through the app, each from an empty organization: they read as what the app must let them do. Nobody
// types an address but that of the start page, and participants open the links that members show.
import { expect } from './browser.mjs';
import { Person } from './person.mjs';
import { standsAtOnce } from './standing.mjs';

// The pages that an attorney loads from the start page to a published purchase.
const PURCHASE_LOADS_MAX = 27;

// A walk in one view: who is on it, and what is looked at on the way.
export class Journey {
  constructor(chrome, stack, view, organization = stack.organizations[0]) {
    Object.assign(this, { chrome, stack, view, organization, people: [], pages: [], stood: [] });
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
  const parties = { 'Nora West': 'Funder', 'Otto Lund': 'Receiver' };

  await attorney.turnsTo('Workspaces');
  await attorney.fills({ Name: '12 Harbor Street' });
  await attorney.presses('Create workspace');
  await attorney.follows('New agreement');
  await attorney.follows('Two-party signature');
  await attorney.fills({ 'Agreement name': journey.deal });
  await attorney.presses('Create draft');
  for (const [name, role] of Object.entries(parties)) {
    await attorney.follows('Add participant');
    await attorney.checks('A new contact');
    await attorney.fills({ Name: name, Kind: 'Person', Email: `${name.split(' ')[0]}@parties.example` });
    await attorney.checks('Signer');
    await attorney.checks(role);
    await attorney.presses('Add participant');
  }
  await attorney.follows('Agreement');
  await attorney.fills({ File: await journey.pdf(attorney, 'Purchase agreement.pdf') });
  await attorney.presses('Save document');
  for (const name of Object.keys(parties)) {
    await attorney.fills({ Signer: name });
    await attorney.presses('Add signature block');
  }
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
  await attorney.follows('Publish');
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
  await attorney.checks('IBAN');
  await attorney.fills({ 'Account holder': 'Otto Lund', Bank: 'Testbank', 'IBAN or account number': 'DE89 3704 0044 0532 0130 00' });
  await attorney.presses('Enter instructions');
  const colleague = await journey.member('The colleague', journey.organization.members[1]);
  await colleague.follows('Purchase price');
  await colleague.fills({
    IBAN: 'DE89 3704 0044 0532 0130 00',
    'Read out by': 'Otto Lund',
    Method: 'Call back to a known number',
    'Number called': '+1 212 555 0100',
    'Where you have that number from': 'From earlier dealings',
  });
  await colleague.presses('Verify instructions');
  await colleague.presses('Release instructions');
  await journey.stands(colleague, 'A payment');
  const today = new Date().toLocaleDateString('en-US', { timeZone: 'UTC' });
  await buyer.follows(journey.deal);
  await buyer.follows(/^View instructions: /);
  await buyer.sees('DE89370400440532013000');
  await journey.stands(buyer, 'A payer’s page');
  await buyer.fills({ 'Sent on': today, 'Reference type': 'End-to-end ID', Reference: 'CLOSING-1' });
  await buyer.presses('I have sent it');
  await buyer.sees('It proves nothing');
  await seller.follows(journey.deal);
  await seller.follows(/^Check and report: /);
  await seller.fills({ 'Amount received': '480,000', Currency: 'USD', 'Value date': today });
  await seller.presses('It has arrived');

  await colleague.turnsTo('Home');
  await colleague.follows('Purchase price');
  await colleague.follows('Review evidence');
  await colleague.sees('The full amount has arrived.');
  await colleague.presses('Accept evidence');
  await colleague.sees('Confirmed received');
  await attorney.turnsTo('Agreements');
  await journey.stands(attorney, 'The list of agreements');
  await attorney.follows(journey.deal);
  await attorney.sees('Completed');
}
