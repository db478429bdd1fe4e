// Bundles to check on the page /verify: one of the stack, intact, and what becomes of it.
import zlib from 'node:zlib';
import { VIEWS, expect, faults, open, screenshot } from './browser.mjs';

const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});
const crc32 = (bytes) => ~bytes.reduce((crc, byte) => CRCS[(crc ^ byte) & 0xff] ^ (crc >>> 8), ~0) >>> 0;

// The files of a zip without compression, as a bundle is.
function unzip(zip) {
  const files = [];
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50;) {
    const [size, name, extra] = [zip.readUInt32LE(at + 18), zip.readUInt16LE(at + 26), zip.readUInt16LE(at + 28)];
    const start = at + 30 + name + extra;
    files.push([zip.toString('utf8', at + 30, at + 30 + name), zip.subarray(start, start + size)]);
    at = start + size;
  }
  return files;
}

// Packs files as another program does: compressed, with today's date.
function pack(files) {
  const [parts, directory] = [[], []];
  let offset = 0;
  for (const [path, content] of files) {
    const [name, packed] = [Buffer.from(path), zlib.deflateRawSync(content)];
    const common = Buffer.alloc(26);
    [20, 0x800, 8, 0x6000, 0x5b7c].forEach((value, at) => common.writeUInt16LE(value, at * 2));
    [crc32(content), packed.length, content.length].forEach((value, at) => common.writeUInt32LE(value, 10 + at * 4));
    common.writeUInt16LE(name.length, 22);
    const central = Buffer.alloc(14);
    central.writeUInt32LE(0o100644 * 0x10000, 6);
    central.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, packed]);
    parts.push(local);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, central, name]));
    offset += local.length;
  }
  const all = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  [files.length, files.length].forEach((value, at) => end.writeUInt16LE(value, 8 + at * 2));
  [all.length, offset].forEach((value, at) => end.writeUInt32LE(value, 12 + at * 4));
  return Buffer.concat([...parts, all, end]);
}

// A bundle of the stack's completed agreement, and others made from it.
export async function bundles({ context, base }, stack) {
  const { data: [{ id }] } = await stack.call('/api/v1/agreements?lifecycle=completed');
  const answer = await context.request.get(`${base}/app/evidence/agreements/${id}/bundle`);
  expect(answer.ok(), `the bundle answers ${answer.status()}`);
  const whole = await answer.body();
  const files = unzip(whole);
  const document = files.find(([path]) => path.startsWith('documents/'));
  const changed = Buffer.from(whole);
  changed[whole.indexOf(document[1]) + (document[1].length >> 1)] ^= 1;
  return {
    document: document[0],
    count: files.length - 2,
    whole,
    changed,
    repacked: pack(files),
    repackedFolder: pack([['Evidence/', Buffer.alloc(0)], ...files.map(([path, content]) => [`Evidence/${path}`, content])]),
    added: pack([...files, ['.DS_Store', Buffer.from('Mac')]]),
    twice: pack([...files, document]),
    missing: pack(files.filter((file) => file !== document)),
    text: Buffer.from('This is no bundle.'),
  };
}

// Chooses a file on the page.
export async function choose(page, buffer, name = 'Lease evidence.zip') {
  await page.getByLabel('Bundle', { exact: true }).setInputFiles({ name, mimeType: 'application/zip', buffer });
  await page.locator('#result h2', { hasText: name }).waitFor();
}

// Drops a file on the page, beside the field.
async function drop(page, buffer, name) {
  const files = await page.evaluateHandle(([text, name]) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name));
    return dropped;
  }, [buffer.toString('base64'), name]);
  await page.dispatchEvent('h1', 'drop', { dataTransfer: files });
  await page.locator('#result h2', { hasText: name }).waitFor();
}

// Checks each of them on the page, and looks at it without JavaScript too.
export async function verifyBundles(chrome, base, made, found) {
  const tab = await open(chrome, { javaScriptEnabled: true });
  const { page } = tab;
  const sent = [];
  page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.goto(`${base}/verify`);
  const says = async (what, title, ...texts) => {
    const said = await page.locator('#result').innerText();
    const heading = await page.locator('#result .notice-title').innerText();
    const missing = texts.filter((text) => !said.includes(text));
    if (heading !== title || missing.length > 0) found(`a bundle ${what}: ${said}`);
  };
  const count = `${made.count} files`;
  await choose(page, made.whole);
  await says('that is intact', 'Verified', `${count}, signed by ${base} with the key`, `${count} as signed`);
  await choose(page, made.changed, 'changed.zip');
  await says('with a changed byte', 'Not verified: 1 problem', `${made.document}: changed.`);
  await choose(page, made.added, 'added.zip');
  await says('with another file', 'Not verified: 1 problem', '.DS_Store: added.');
  await choose(page, made.twice, 'twice.zip');
  await says('with a file twice', 'Not verified: 1 problem', `${made.document}: not a bundle.`, 'it is in the zip twice');
  await choose(page, made.missing, 'missing.zip');
  await says('without a file', 'Not verified: 1 problem', `${made.document}: missing.`);
  await choose(page, made.text, 'text.zip');
  await says('that is none', 'Not verified: 1 problem', 'The whole file: not a bundle.');
  const whole = ['Contents whole, container repacked', `${count}, signed by ${base}`, 'packed again'];
  await choose(page, made.repacked, 'repacked.zip');
  await says('that was packed again', ...whole);
  await drop(page, made.repackedFolder, 'folder.zip');
  await says('whose folder was packed again', ...whole);
  await drop(page, made.whole, 'dropped.zip');
  await says('that is dropped', 'Verified');
  const other = sent.filter((request) => !/^GET \/(verify|app\/(evidence-keys\.json|app\.js|verify\.js|style\.css|fonts\/\w+\.woff2))$/.test(request));
  if (other.length > 0) found(`the page sends ${other.join(', ')}`);
  for (const complaint of tab.complaints) found(`the page /verify: ${complaint}`);
  await tab.context.close();

  const plain = await open(chrome);
  await plain.page.goto(`${base}/verify`);
  expect(await plain.page.getByLabel('Bundle', { exact: true }).isHidden(), 'without JavaScript there is nothing to choose');
  expect(await plain.page.getByText('needs JavaScript').isVisible(), 'the page says that it needs JavaScript');
  expect(await plain.page.getByText('python3 verify_bundle.py').isVisible(), 'and which command does the same');
  await plain.context.close();
}

// Looks at the page in its states.
export async function lookAtVerdicts(chrome, base, made, found) {
  const states = { none: null, whole: made.whole, repacked: made.repacked, changed: made.changed };
  for (const view of VIEWS.filter(({ hasScript }) => hasScript)) {
    const tab = await open(chrome, { view, javaScriptEnabled: true });
    for (const [name, bundle] of Object.entries(states)) {
      await tab.page.goto(`${base}/verify`);
      if (bundle) await choose(tab.page, bundle);
      for (const fault of await faults(tab, { says: 'Verify an evidence bundle' })) found(`Verify, ${name}, ${view.name}: ${fault}`);
      await screenshot(tab, { name: `Verify ${name}` });
    }
    await tab.context.close();
  }
}
