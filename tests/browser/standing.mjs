// What stands at once on twelve pages of the app: within the first 600 px of a wide window, and on the first screen of a phone.
// Texts as the walks make them, each whole and in sight; with `on` what only a phone, or only a desktop, shows that high up,
// with `px` how large the letters are, and with `isName` what is a link by its place in a list.
export const PAGES = {
  'Home': [
    { what: 'how much there is to do', text: '2 things need you.' },
    { what: 'the most urgent of it', link: /^Purchase/ },
    { what: 'its amount', text: /\$480,000\.00 USD/ },
    { what: 'what it asks for', text: 'To authorize' },
    { what: 'what waits next, and for whom', text: /A member to read the answers of Nora West/ },
    { what: 'since when', text: /since today/ },
  ],
  'A draft': [
    { what: 'the deal', heading: 'Purchase of 12 Harbor Street' },
    { what: 'its state', text: 'Draft' },
    { what: 'its amount', text: '$480,000.00 USD', px: 20 },
    { what: 'between whom: the buyer', text: /^Nora West Signer/ },
    { what: 'between whom: the seller', text: /^Otto Lund Signer/ },
    { what: 'the deadline', text: /^Agreement expires \d/ },
    { what: 'the document to read', link: 'View Agreement' },
    { what: 'the act that is next', link: 'Review and publish' },
  ],
  'An active agreement': [
    { what: 'the deal', heading: 'Purchase of 12 Harbor Street' },
    { what: 'the step', text: 'Step 1 of 2: Signing' },
    { what: 'its amount, which is also owed', text: '$480,000.00 USD', px: 20 },
    { what: 'what is claimed', text: 'Claimed, not proven' },
    { what: 'what is proven', text: 'Proven received' },
    { what: 'whom it waits for', text: /^Nora West and Otto Lund to sign/ },
    { what: 'the act that is next', button: 'Show link of Nora West' },
    { what: 'between whom: the buyer', text: /^Nora West Signer/ },
    { what: 'between whom: the seller', text: /^Otto Lund Signer/ },
    { what: 'the deadline', text: /^Agreement expires \d/ },
  ],
  'A participant’s page': [
    { what: 'who asks', text: /Agreement of/ },
    { what: 'the deal', heading: 'Purchase of 12 Harbor Street' },
    { what: 'the step', text: 'Step 1 of 2: Signing' },
    { what: 'what waits for them', text: /^Sign “Agreement”/ },
    { what: 'the act that is next', link: 'Review and sign: Sign “Agreement”' },
    { what: 'what they pay, and to whom', text: 'You pay $480,000.00 USD to Otto Lund' },
  ],
  'A proposal': [
    { what: 'what is asked', heading: 'Publish “SAFE: Juniper Ventures”?' },
    { what: 'that it waits for a decision', text: 'Needs your decision' },
    { what: 'the amount', text: '$250,000.00 USD' },
    { what: 'between whom: the company', text: /^Northwind Robotics, Inc\. Signer/ },
    { what: 'between whom: the investor', text: /^Juniper Ventures LLC Signer/ },
    { what: 'a key term', text: /Valuation cap \$8,000,000\.00 USD/ },
    { what: 'the deadline', text: /^Decide by/ },
    { what: 'the document to read', link: 'View SAFE' },
    { what: 'the act that is next', button: 'Confirm', on: 'a phone' },
  ],
  'A draft with a proposal': [
    { what: 'the deal', heading: 'SAFE: Juniper Ventures' },
    { what: 'its state', text: 'Draft' },
    { what: 'its amount', text: '$250,000.00 USD', px: 20 },
    { what: 'whom it waits for', text: 'A member to decide about the proposal' },
    { what: 'the act that is next', link: 'Review the proposal' },
    { what: 'between whom: the company', text: /^Northwind Robotics, Inc\. Signer/ },
    { what: 'between whom: the investor', text: /^Juniper Ventures LLC Signer/ },
  ],
  'A payment': [
    { what: 'the payment', heading: 'Purchase price' },
    { what: 'its state', text: 'Instructions available to the sender' },
    { what: 'its deal', link: 'Purchase of 12 Harbor Street' },
    { what: 'its amount', text: '$480,000.00 USD' },
    { what: 'from whom', text: /^Nora West Payer/ },
    { what: 'to whom', text: /^Otto Lund Payee/ },
    { what: 'what is next, and whom it waits for', text: /^Nora West can see the instructions/ },
  ],
  'Money': [
    { what: 'who owes whom in all', text: 'Between others' },
    { what: 'how much is owed', text: '$480,000.00 USD' },
    { what: 'the first payment', link: 'Purchase price', isName: true },
    { what: 'its deal', link: 'Purchase of 12 Harbor Street', on: 'a desktop' },
    { what: 'who owes it', link: 'Nora West', on: 'a desktop' },
    { what: 'its state', text: 'Instructions available to the sender', on: 'a desktop' },
  ],
  'A payer’s page': [
    { what: 'what is paid', heading: 'Purchase price' },
    { what: 'its deal', link: 'Purchase of 12 Harbor Street' },
    { what: 'how much', text: '$480,000.00 USD' },
    { what: 'to whom', text: 'Otto Lund' },
    { what: 'that it can be paid', text: 'You can pay now' },
    { what: 'what to do before that', text: 'Call Otto Lund before you pay' },
  ],
  'A funding schedule': [
    { what: 'how far it is', text: '1 of 5 items done' },
    { what: 'on what grounds', text: '1 funded' },
    { what: 'of which trust', link: 'The Castellan Trust' },
    { what: 'what is next', text: /^Next: / },
  ],
  'An item': [
    { what: 'the asset', heading: 'Checking at First National' },
    { what: 'its state', text: 'In progress' },
    { what: 'what is done with it', text: 'Retitle' },
    { what: 'its trust', link: 'The Castellan Trust' },
    { what: 'its owner', text: 'Ruth Castellan' },
    { what: 'its agreement', link: 'Funding of The Castellan Trust' },
    { what: 'what is next', heading: 'Next step' },
  ],
  'The list of agreements': [
    { what: 'the agreement', link: 'SAFE: Juniper Ventures', isName: true },
    { what: 'between whom', text: 'Northwind Robotics, Inc., Juniper Ventures LLC' },
    { what: 'its amount', text: '$250,000.00 USD' },
    { what: 'whom it waits for', text: 'Northwind Robotics, Inc. to approve' },
    { what: 'its step', text: 'Step 1 of 4: Terms' },
    { what: 'how to begin another', link: 'New agreement' },
  ],
};

const WIDE_PX = 600;
const NARROW_PX = 390;

function locate(page, { heading, link, button, text }) {
  const main = page.getByRole('main');
  const exact = true;
  if (heading) return main.getByRole('heading', { name: heading, exact });
  if (link) return main.getByRole('link', { name: link, exact });
  if (button) return main.getByRole('button', { name: button, exact });
  return main.getByText(text, { exact });
}

// What of a page is not whole and in sight before anybody scrolls, with where it stands instead.
export async function hidden(page, width, wanted) {
  const bottom = width > NARROW_PX ? WIDE_PX : page.viewportSize().height;
  await page.evaluate(() => scrollTo(0, 0));
  const missing = [];
  for (const part of wanted.filter(({ on }) => !on || on === (width > NARROW_PX ? 'a desktop' : 'a phone'))) {
    const boxes = await locate(page, part).filter({ visible: true }).evaluateAll((all) => all.map((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return { left, right, top, bottom, px: parseFloat(getComputedStyle(element).fontSize) };
    }));
    const seen = boxes.filter((box) => box.top >= 0 && box.bottom <= bottom && box.left >= 0 && box.right <= width);
    if (seen.length === 0) missing.push(`${part.what} ${boxes.length === 0 ? 'is nowhere' : `ends at ${Math.round(Math.min(...boxes.map((box) => box.bottom)))} px of ${bottom}`}`);
    else if (part.px && !seen.some(({ px }) => px === part.px)) missing.push(`${part.what} has letters of ${seen[0].px} px, not ${part.px}`);
  }
  return missing;
}

// How the name in a list is underlined: before it is pointed at, and then.
async function underlines(page, part) {
  const name = locate(page, part).filter({ visible: true }).first();
  const line = () => name.evaluate((element) => getComputedStyle(element).textDecorationLine);
  await page.mouse.move(0, 0);
  const before = await line();
  await name.hover();
  return `${before}, then ${await line()}`;
}

export async function standsAtOnce(person, name) {
  const missing = await hidden(person.page, person.tab.view.width, PAGES[name]);
  person.doing = 'looks at the first screen';
  if (missing.length > 0) person.fail(`${name} does not show at once: ${missing.join('; ')}`);
  for (const part of PAGES[name].filter(({ isName }) => isName)) {
    const lines = await underlines(person.page, part);
    if (lines !== 'none, then underline') person.fail(`${name} underlines ${part.what}: ${lines}`);
  }
}
