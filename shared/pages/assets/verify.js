// Verifies evidence bundles in the browser: nothing is sent anywhere. The rules are those of events/verify/README.md, and
// the tests compare what this finds with what the service's own verifier finds. The page's part stands at the end.
'use strict';

const BUNDLE_BYTES_MAX = 300 * 1024 * 1024;
const FILES_MAX = 10_000;
const MANIFEST_BYTES_MAX = 8 * 1024 * 1024;
const SIGNATURE_BYTES_MAX = 1024;
const SIGNATURE_PREFIX = 'countersign-evidence-bundle-v1\n';
const OPENING = '{\n  "format_version": 1,\n';
const MANIFEST = 'manifest.json';
const SIGNATURE = 'manifest.sig';
// Characters that no path may have: controls, those that Windows refuses, and those that hide or turn what is written.
const FORBIDDEN = /[\x00-\x1f\x7f-\x9f"*:<>?\\|\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;

const encoder = new TextEncoder();
const text = (bytes) => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const unhex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const isSame = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);
const startsWith = (bytes, at, start) => at + start.length <= bytes.length && start.every((byte, n) => bytes[at + n] === byte);
const numbers = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
// In the order of the bytes of UTF-8, which is that of the code points.
const isBefore = (one, other) => {
  const [a, b] = [Array.from(one), Array.from(other)];
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    if (a[at] !== b[at]) return a[at].codePointAt(0) < b[at].codePointAt(0);
  }
  return a.length < b.length;
};
const inOrder = (names) => names.sort((one, other) => (isBefore(one, other) ? -1 : 1));

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});
const crc32 = (bytes) => {
  let crc = ~0;
  for (let at = 0; at < bytes.length; at += 1) crc = CRC_TABLE[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
};
const hasItsCrc = ({ content, crc }) => content !== null && crc32(content) === crc;

// The zip. A bundle has one form only: what stands around its files follows from them, is made anew here, and compared.

const LOCAL = [0x50, 0x4b, 3, 4];
const CENTRAL = [0x50, 0x4b, 1, 2];
const END = [0x50, 0x4b, 5, 6];
const FIXED = [20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
const u16 = (number) => [number & 0xff, number >>> 8 & 0xff];
const u32 = (number) => [...u16(number & 0xffff), ...u16(number >>> 16)];

// The entries from the first byte on, and where they end.
function readEntries(zip) {
  const [entries, view] = [[], numbers(zip)];
  let start = 0;
  while (entries.length < FILES_MAX + 2 && start + 30 <= zip.length && startsWith(zip, start, LOCAL)) {
    const [crc, size] = [view.getUint32(start + 14, true), view.getUint32(start + 18, true)];
    const nameEnd = start + 30 + view.getUint16(start + 26, true);
    const from = nameEnd + view.getUint16(start + 28, true);
    const name = from + size <= zip.length ? text(zip.subarray(start + 30, nameEnd)) : null;
    if (name === null) break;
    entries.push({ name, crc, header: zip.subarray(start, from), content: zip.subarray(from, from + size) });
    start = from + size;
  }
  return { entries, end: start };
}

function checkZip(zip, entries, end) {
  const problems = [];
  const [directory, place] = [[], ({ name }) => [name !== MANIFEST, name !== SIGNATURE]];
  let offset = 0;
  for (const { name, crc, content, header } of entries) {
    const [path, size] = [encoder.encode(name), u32(content.length)];
    const common = [...FIXED, ...u32(crc), ...size, ...size, ...u16(path.length)];
    if (!isSame(header, [...LOCAL, ...common, 0, 0, ...path])) problems.push(['not a bundle', name, "its header in the zip is not a bundle's"]);
    directory.push(...CENTRAL, 20, 3, ...common, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xa4, 0x81, ...u32(offset));
    for (const byte of path) directory.push(byte);
    offset += 30 + path.length + content.length;
  }
  for (const [at, entry] of entries.entries()) {
    if (at === 0) continue;
    const [[a, b], [c, d]] = [place(entries[at - 1]), place(entry)];
    const isInPlace = a !== c ? c : b !== d ? d : isBefore(entries[at - 1].name, entry.name);
    if (!isInPlace) problems.push(['not a bundle', entry.name, 'it is in the zip twice or in the wrong place']);
  }
  const count = u16(entries.length);
  const rest = [...END, 0, 0, 0, 0, ...count, ...count, ...u32(directory.length), ...u32(offset), 0, 0];
  if (!isSame(zip.subarray(end), directory.concat(rest))) {
    problems.push(['not a bundle', null, 'the zip is not complete, or has more in it than its files']);
  }
  return problems;
}

// A zip that another program packed: stored or deflated, in any order, perhaps in one folder. Only what programs agree on is
// read: the directory and the local headers say the same, and nothing stands between or around the entries.

const DEFLATED = 8;
const FOLLOWED = 1 << 3;
const HARMLESS = FOLLOWED | 1 << 1 | 1 << 2 | 1 << 11;

// The files, without folders; null if it is no such zip or has no manifest. Nothing is unpacked beyond the sizes that the
// manifest says: a file that has another size, or does not unpack, has the content null.
async function readRepacked(zip) {
  const packed = withoutFolder(readDirectory(zip));
  const json = packed?.find(({ name }) => name === MANIFEST);
  const content = json ? await unpacked(json, MANIFEST_BYTES_MAX) : null;
  if (content === null) return null;
  const sizes = new Map(readManifest(content)?.files.map((file) => [file.path, file.size_bytes]));
  if ([...sizes.values()].reduce((sum, size) => sum + size, 0) > BUNDLE_BYTES_MAX) return null;
  sizes.set(MANIFEST, content.length);
  const signature = packed.find(({ name }) => name === SIGNATURE);
  if (signature) sizes.set(SIGNATURE, Math.min(signature.size, SIGNATURE_BYTES_MAX));
  const files = [];
  for (const entry of packed) {
    // The first of two with one name counts: no file is unpacked twice.
    const size = sizes.get(entry.name);
    sizes.delete(entry.name);
    files.push({ name: entry.name, crc: entry.crc, content: size === entry.size ? await unpacked(entry, size) : null });
  }
  return files;
}

// The entries that the directory names, if all of the zip agrees with it.
function readDirectory(zip) {
  const [end, view] = [zip.length - 22, numbers(zip)];
  if (end < 0 || !startsWith(zip, end, END)) return null;
  const count = view.getUint16(end + 10, true);
  const start = view.getUint32(end + 16, true);
  const isOne = view.getUint32(end + 4, true) === 0 && view.getUint16(end + 8, true) === count && view.getUint16(end + 20, true) === 0;
  if (!isOne || start + view.getUint32(end + 12, true) !== end) return null;
  const entries = [];
  let [at, offset] = [start, 0];
  for (let n = 0; n < count; n += 1) {
    if (at + 46 > end || !startsWith(zip, at, CENTRAL)) return null;
    const [nameSize, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true));
    const next = at + 46 + nameSize + extra + comment;
    if (next > end || view.getUint32(at + 42, true) !== offset) return null;
    const found = readLocal(zip.subarray(0, start), offset, zip.subarray(at + 46, at + 46 + nameSize), new DataView(zip.buffer, zip.byteOffset + at, 46));
    if (!found) return null;
    entries.push(found.entry);
    [at, offset] = [next, found.end];
  }
  // What the directory does not name would be hidden.
  return at === end && offset === start ? entries : null;
}

// The entry at an offset, if its local header says what the directory says, and where what follows it begins.
function readLocal(before, at, path, said) {
  if (at + 30 > before.length || !startsWith(before, at, LOCAL)) return null;
  const view = numbers(before);
  const [flags, method] = [said.getUint16(8, true), said.getUint16(10, true)];
  const [crc, packed, size] = [16, 20, 24].map((field) => said.getUint32(field, true));
  const sums = [...u32(crc), ...u32(packed), ...u32(size)];
  const isFollowed = (flags & FOLLOWED) !== 0;
  const nameEnd = at + 30 + view.getUint16(at + 26, true);
  const from = nameEnd + view.getUint16(at + 28, true);
  const end = from + packed;
  const isSaid = view.getUint16(at + 6, true) === flags && view.getUint16(at + 8, true) === method
    && (isFollowed || startsWith(before, at + 14, sums)) && isSame(before.subarray(at + 30, nameEnd), path);
  const isRead = (flags & ~HARMLESS) === 0 && (method === DEFLATED || (method === 0 && packed === size));
  const name = text(path);
  if (!isSaid || !isRead || end > before.length || name === null) return null;
  const entry = { name, isDeflated: method === DEFLATED, bytes: before.subarray(from, end), size, crc };
  if (!isFollowed) return { entry, end };
  const descriptor = [[0x50, 0x4b, 7, 8, ...sums], sums].find((bytes) => startsWith(before, end, bytes));
  return descriptor ? { entry, end: end + descriptor.length } : null;
}

// If another program packed the folder of a bundle, the names in it are those of the bundle.
function withoutFolder(entries) {
  const files = entries?.filter(({ name, size }) => !(name.endsWith('/') && size === 0)) ?? null;
  const folder = files?.find(({ name }) => /^[^/]*\/manifest\.json$/.test(name))?.name.slice(0, -MANIFEST.length);
  if (folder === undefined || files.some(({ name }) => name === MANIFEST)) return files;
  return files.map((entry) => ({ ...entry, name: entry.name.startsWith(folder) ? entry.name.slice(folder.length) : entry.name }));
}

// The content; null if it is larger than this, or is not what the directory says.
async function unpacked({ isDeflated, bytes, size }, bytesMax) {
  if (size > bytesMax) return null;
  if (!isDeflated) return bytes;
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const content = new Uint8Array(size);
  let at = 0;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (at + read.value.length > size) {
        reader.cancel().catch(() => {});
        return null;
      }
      content.set(read.value, at);
      at += read.value.length;
    }
  } catch {
    return null;
  }
  return at === size ? content : null;
}

// The manifest.

// Half a character is no text.
const isText = (value) => typeof value === 'string' && !/\p{Cs}/u.test(value);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const hasMembers = (value, names) => isObject(value) && Object.keys(value).join() === names.join();
const isKey = (key) => isText(key.id) && /^[0-9A-Za-z._-]{1,64}$/.test(key.id) && isText(key.public_key) && /^[0-9a-f]{64}$/.test(key.public_key);
const isSafePath = (path) => encoder.encode(path).length <= 255 && !FORBIDDEN.test(path)
  && path.split('/').every((name) => name !== '' && !name.startsWith(' ') && !/[ .]$/.test(name));
const isFile = (file) => hasMembers(file, ['path', 'sha256', 'size_bytes']) && isText(file.path) && isSafePath(file.path)
  && isText(file.sha256) && /^[0-9a-f]{64}$/.test(file.sha256)
  && Number.isInteger(file.size_bytes) && file.size_bytes >= 0 && file.size_bytes <= BUNDLE_BYTES_MAX;

// The manifest, if it is one, spelled as the service spells it.
function readManifest(content) {
  const json = text(content);
  let manifest;
  try {
    manifest = JSON.parse(json);
    if (`${JSON.stringify(manifest, null, 2)}\n` !== json) return null;
  } catch {
    return null;
  }
  const isManifest = hasMembers(manifest, ['format_version', 'service', 'organization_id', 'agreement_id', 'created_at', 'signing_key', 'files'])
    && [manifest.service, manifest.organization_id, manifest.agreement_id, manifest.created_at].every(isText)
    && hasMembers(manifest.signing_key, ['id', 'public_key']) && isKey(manifest.signing_key)
    && Array.isArray(manifest.files) && manifest.files.length <= FILES_MAX && manifest.files.every(isFile)
    && areApart(manifest.files.map(({ path }) => path));
  return isManifest ? manifest : null;
}

// Whether paths are in order, and none is that of another file or its folder, whatever the case of ASCII letters.
function areApart(paths) {
  const lower = paths.map((path) => path.replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
  const files = new Set([MANIFEST, SIGNATURE, ...lower]);
  const isBelowFile = (path) => path.split('/').some((_, at, names) => at > 0 && files.has(names.slice(0, at).join('/')));
  return paths.every((path, at) => at === 0 || isBefore(paths[at - 1], path)) && files.size === paths.length + 2 && !lower.some(isBelowFile);
}

async function checkManifest(entry, signature, keys) {
  const problem = (kind, detail) => [kind, MANIFEST, detail];
  if (!text(entry.content)?.startsWith(OPENING)) {
    // A manifest of this format that is not UTF-8 was changed.
    const isOfFormat = startsWith(entry.content ?? [], 0, [...encoder.encode(OPENING)]);
    return { problems: [isOfFormat ? problem('manifest changed', 'it is not as the service writes it') : problem('not a bundle', 'it is no manifest of format version 1')] };
  }
  const manifest = readManifest(entry.content);
  if (!manifest) return { problems: [problem('manifest changed', 'it is not as the service writes it')] };
  const problems = [];
  const known = keys.get(manifest.signing_key.id);
  const isKnown = known?.public_key === manifest.signing_key.public_key;
  if (!isKnown) problems.push(problem('unknown key', 'the key document does not have the key that it names'));
  else if (known.since) problems.push(problem('compromised key', `others may have had the key that it names since ${known.since}, and could have made this bundle`));
  if (!signature) return { manifest, problems: [...problems, ['missing', SIGNATURE, '']] };
  const isWhole = hasItsCrc(entry) && hasItsCrc(signature);
  if (!isWhole || (isKnown && !await isSigned(entry.content, text(signature.content), known.public_key))) {
    problems.push(problem('manifest changed', 'manifest.sig is not its signature'));
  }
  return { manifest, problems };
}

async function isSigned(manifest, signature, publicKey) {
  if (signature === null || !/^[0-9a-f]{128}$/.test(signature)) return false;
  const prefix = encoder.encode(SIGNATURE_PREFIX);
  const signed = new Uint8Array(prefix.length + manifest.length);
  signed.set(prefix);
  signed.set(manifest, prefix.length);
  const key = await crypto.subtle.importKey('raw', unhex(publicKey), 'Ed25519', false, ['verify']);
  return crypto.subtle.verify('Ed25519', key, unhex(signature), signed);
}

// The files.

async function checkFiles(files, byName) {
  const [matching, problems, named] = [[], [], new Map(files.map((file) => [file.path, file]))];
  for (const path of inOrder([...new Set([...named.keys(), ...byName.keys()])])) {
    if (path === MANIFEST || path === SIGNATURE) continue;
    if (!byName.has(path)) problems.push(['missing', path, '']);
    else if (!named.has(path)) problems.push(['added', path, '']);
    else if (!await isUnchanged(byName.get(path), named.get(path))) problems.push(['changed', path, '']);
    else matching.push(path);
  }
  return { matching, problems };
}

async function isUnchanged(entry, file) {
  if (entry.content?.length !== file.size_bytes || !hasItsCrc(entry)) return false;
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', entry.content))) === file.sha256;
}

// The payments: what the service signed says the same of them everywhere.

const PROOFS = ['recipient_confirmed', 'bank_documented', 'bank_verified'];
// Amounts are integers of 64 bits, more than a number of JavaScript holds: they are read as text.
const MINOR = /^#-?(0|[1-9][0-9]*)$/;
const isMinor = (value) => isObject(value) && isText(value.amount_minor) && MINOR.test(value.amount_minor)
  && BigInt.asIntN(64, minor(value)) === minor(value);
const minor = ({ amount_minor: digits }) => BigInt(digits.slice(1));
const isAmount = (value) => isMinor(value) && isText(value.currency);
const isNone = (value) => value === undefined || value === null;
const isPayment = (record) => isText(record.movement_id) && isText(record.state) && typeof record.reconciled === 'boolean'
  && (isNone(record.amount) || isAmount(record.amount)) && (isNone(record.surplus) || isMinor(record.surplus));
const isEvidence = (record) => [record.movement_id, record.side, record.assurance, record.state].every(isText)
  && [record.file_sha256, record.path].every((value) => isNone(value) || isText(value)) && isAmount(record.amount)
  && (isNone(record.account) || (isObject(record.account) && isText(record.account.standing)));

function checkPayments(files, byName) {
  if (!byName.has('movements.jsonl')) return [];
  const problems = [];
  const inconsistent = (path, detail) => problems.push(['inconsistent', path, detail]);
  const read = (path, isRecord) => {
    const { records, line } = readRecords(byName.get(path)?.content ?? new Uint8Array(), isRecord);
    if (!records) inconsistent(path, `line ${line} is no record`);
    return records;
  };
  const payments = read('movements.jsonl', isPayment);
  if (!payments) return problems;
  const [known, accepted] = [new Set(payments.map((payment) => payment.movement_id)), []];
  for (const side of ['sender', 'receiver']) {
    const path = `${side}_evidence.jsonl`;
    const evidence = read(path, isEvidence);
    if (!evidence) continue;
    const documents = new Map(files.filter((file) => file.path.startsWith(`${side}_evidence/`)).map((file) => [file.path, file.sha256]));
    const named = new Set();
    for (const [at, record] of evidence.entries()) {
      const wrong = wrongWithEvidence(record, side, known, documents, named);
      if (wrong) inconsistent(path, `line ${at + 1} ${wrong}`);
      if (record.state === 'accepted') accepted.push(record);
    }
    for (const document of documents.keys()) if (!named.has(document)) inconsistent(document, `no line of ${path} names it`);
  }
  for (const [at, payment] of payments.entries()) {
    const wrong = wrongWithPayment(payment, accepted.filter((record) => record.movement_id === payment.movement_id));
    if (wrong) inconsistent('movements.jsonl', `line ${at + 1} ${wrong}`);
  }
  return problems;
}

function wrongWithEvidence(record, side, known, documents, named) {
  const isThere = !isNone(record.path) && documents.has(record.path) && documents.get(record.path) === record.file_sha256 && !named.has(record.path);
  if (isThere) named.add(record.path);
  if (record.side !== side) return 'is of the other side';
  if (!known.has(record.movement_id)) return 'is of no payment in movements.jsonl';
  if (side === 'sender' && record.state === 'accepted') return 'is accepted, and evidence of this side never is';
  if (record.assurance === 'bank_verified' && !isNone(record.account) && !['instructed', 'own'].includes(record.account.standing)) {
    return "is of an account that is not known to be the payee's, and never more than a document of the bank";
  }
  return isNone(record.path) || isThere ? null : 'names no document that is as it says';
}

function wrongWithPayment(payment, accepted) {
  const parts = [payment.confirmed_at, payment.confirmed_by, payment.confirmation_basis].map((part) => !isNone(part));
  if (payment.reconciled !== (payment.state === 'reconciled')) return 'says reconciled and another state';
  if (!payment.reconciled) return parts.includes(true) ? 'has a confirmation and is not reconciled' : null;
  if (parts.includes(false)) return 'is reconciled and has no confirmation';
  const { amount, surplus: settled } = payment;
  const proves = ({ side, assurance, amount: { currency } }) => side === 'receiver' && PROOFS.includes(assurance) && currency === amount.currency;
  if (!isNone(amount) && accepted.every(proves)) {
    const surplus = accepted.reduce((sum, record) => sum + minor(record.amount), -minor(amount));
    if (surplus === 0n || (surplus > 0n && !isNone(settled) && minor(settled) === surplus)) return null;
  }
  return 'is reconciled, and the accepted evidence of the receiving side does not make its amount';
}

// The records of a file with one in each line, or the number of the line that is none.
function readRecords(content, isRecord) {
  const lines = [];
  for (let from = 0; from < content.length && !isSame(content, [10]);) {
    const at = content.indexOf(10, from);
    const end = at < 0 ? content.length : at;
    lines.push(content.subarray(from, end));
    from = end + 1;
  }
  const records = [];
  for (const [at, line] of lines.entries()) {
    let record = null;
    try {
      record = JSON.parse(text(line).replace(/("amount_minor"\s*:\s*)(-?[0-9]+)(?=\s*[,}])/g, '$1"#$2"'));
    } catch {
      // Not JSON, or not UTF-8.
    }
    if (!isObject(record) || !isRecord(record)) return { line: at + 1 };
    records.push(record);
  }
  return { records };
}

// All of it.

// What becomes of the bytes of a bundle, with the keys that `readKeys` reads: the manifest if it is proven, the paths of the
// files that are as it says, all problems, each as kind, path (null for the whole bundle) and detail, and whether another
// program packed the zip.
async function verify(bundle, keys) {
  const no = (detail) => ({ manifest: null, matching: [], problems: [['not a bundle', null, detail]], isRepacked: false });
  if (bundle.length > BUNDLE_BYTES_MAX) return no('it is larger than any bundle');
  const walked = readEntries(bundle);
  let { entries } = walked;
  let problems = checkZip(bundle, entries, walked.end);
  const hasManifest = entries.some(({ name }) => name === MANIFEST);
  const repacked = problems.length > 0 || !hasManifest ? await readRepacked(bundle) : null;
  if (repacked) {
    const seen = new Set();
    problems = repacked.filter(({ name }) => seen.has(name) || !seen.add(name)).map(({ name }) => ['not a bundle', name, 'it is in the zip twice']);
    entries = repacked;
  } else if (!hasManifest) {
    return no('it is no zip file, or has no manifest.json');
  }
  const byName = new Map([...entries].reverse().map((entry) => [entry.name, entry]));
  const checked = await checkManifest(byName.get(MANIFEST), byName.get(SIGNATURE), keys);
  problems.push(...checked.problems);
  let matching = [];
  if (checked.manifest) {
    const files = await checkFiles(checked.manifest.files, byName);
    matching = files.matching;
    problems.push(...files.problems);
    if (problems.length === 0) problems = checkPayments(checked.manifest.files, byName);
  }
  const isProven = checked.manifest && checked.problems.length === 0;
  return { manifest: isProven ? checked.manifest : null, matching, problems, isRepacked: repacked !== null };
}

// The service's keys by their ids, with the time `since` when others may have had one. Throws if it is no key document.
function readKeys(json) {
  const { keys, compromised_keys: compromised = [] } = JSON.parse(json);
  const all = new Map();
  for (const key of [...keys.map((key) => ({ ...key, since: null })), ...compromised]) {
    const isTime = key.since === null || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(key.since);
    if (!isKey(key) || !isTime || all.has(key.id)) throw new Error('not a key');
    all.set(key.id, key);
  }
  return all;
}

const counted = (number, what) => `${number} ${what}${number === 1 ? '' : 's'}`;
// Whoever changed the bundle chose the path: what would be invisible in it is shown.
const visible = (path) => Array.from(path, (letter) => (FORBIDDEN.test(letter) ? `\\u{${letter.codePointAt(0).toString(16)}}` : letter)).join('');

// A line for each file, then the verdict, as the commands print them.
function report({ manifest, matching, problems, isRepacked }) {
  const line = (kind, rest) => `${kind.padEnd(16)}  ${rest}`;
  const lines = matching.map((path) => line(manifest ? 'ok' : 'not proven', visible(path)));
  lines.push(...problems.map(([kind, path, detail]) => line(kind, `${path === null ? '(the whole file)' : visible(path)}${detail && ': '}${detail}`)));
  if (!manifest || problems.length > 0) return [...lines, `NOT VERIFIED: ${counted(problems.length, 'problem')}`].join('\n');
  const verdict = isRepacked ? 'CONTENTS WHOLE, CONTAINER REPACKED' : 'VERIFIED';
  lines.push(`${verdict}: ${counted(manifest.files.length, 'file')}, signed by ${manifest.service} with the key ${manifest.signing_key.id}`);
  lines.push(`Organization ${manifest.organization_id}, agreement ${manifest.agreement_id}, as of ${manifest.created_at}`);
  return lines.join('\n');
}

// The page.

const MEANINGS = {
  changed: 'This file is not the one that was signed.',
  added: 'This file was not in the bundle when it was signed.',
  missing: 'This file was in the bundle when it was signed.',
  'manifest changed': 'The list of files is not the one that was signed.',
  'unknown key': 'Countersign does not know the key that signed this bundle.',
  'compromised key': 'Someone else may have made this bundle.',
  'not a bundle': 'This is not an evidence bundle as Countersign writes it.',
  inconsistent: 'The records contradict each other. Ask the organization about it.',
};

function element(name, { className, children = [] }) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function notice(kind, title, lines) {
  const children = [['notice-title', title], ...lines.map((line) => ['', line])].map(([className, line]) => element('p', { className, children: [line] }));
  return element('div', { className: `notice ${kind}`, children });
}

function verdict({ manifest, problems, isRepacked }) {
  if (!manifest || problems.length > 0) {
    const lines = ['Don\u2019t rely on this bundle. Ask whoever gave it to you for the zip as it was exported.'];
    return notice('bad', `Not verified: ${counted(problems.length, 'problem')}`, lines);
  }
  const about = [
    `${counted(manifest.files.length, 'file')}, signed by ${manifest.service} with the key ${manifest.signing_key.id}.`,
    `Agreement ${manifest.agreement_id} of organization ${manifest.organization_id}, as of ${manifest.created_at}.`,
  ];
  if (!isRepacked) return notice('good', 'Verified', ['Byte for byte what Countersign signed.', ...about]);
  const repacked = 'Each file is what Countersign signed, none is missing, and there are no others. The zip was unpacked and packed again.';
  return notice('good', 'Contents whole, container repacked', [repacked, ...about]);
}

function details({ manifest, matching, problems }) {
  const parts = [];
  if (problems.length > 0) {
    const rows = problems.map(([kind, path, detail]) => element('li', { children: [
      element('strong', { children: [path === null ? 'The whole file' : visible(path)] }), `: ${kind}. ${MEANINGS[kind]}${detail && ` (${detail})`}`,
    ] }));
    parts.push(element('ul', { className: 'problems', children: rows }));
  }
  if (matching.length > 0) {
    const title = manifest ? `${counted(matching.length, 'file')} as signed` : `${counted(matching.length, 'file')} as listed, which proves nothing`;
    const rows = matching.map((path) => element('li', { children: [visible(path)] }));
    parts.push(element('details', { children: [element('summary', { children: [title] }), element('ul', { children: rows })] }));
  }
  return parts;
}

async function check(file) {
  if (file.size > BUNDLE_BYTES_MAX) return [notice('bad', 'Not verified: larger than any bundle', ['A bundle has up to 300 MB.'])];
  const keys = await fetch('/app/evidence-keys.json').then((answer) => (answer.ok ? answer.text() : null)).then(readKeys).catch(() => null);
  if (!keys) return [notice('bad', 'Not checked', ['The public keys can\u2019t be read at the moment. Try again in a minute.'])];
  try {
    const result = await verify(new Uint8Array(await file.arrayBuffer()), keys);
    return [verdict(result), ...details(result)];
  } catch (error) {
    const isOld = error.name === 'NotSupportedError' || error instanceof ReferenceError;
    const line = isOld ? 'This browser can\u2019t check Ed25519 signatures. Use a newer one, or the command below.' : 'The file can\u2019t be read. Choose it again.';
    return [notice('bad', 'Not checked', [line])];
  }
}

function showPage() {
  const [card, result] = ['verify', 'result'].map((id) => document.getElementById(id));
  const field = card.querySelector('input');
  const show = (children) => {
    result.replaceChildren(...children);
    result.scrollIntoView({ block: 'nearest' });
  };
  let last = 0;
  const take = async (file) => {
    if (!file) return;
    last += 1;
    const own = last;
    show([notice('plain', `Checking ${visible(file.name)}`, [])]);
    const children = await check(file);
    // A file that was chosen since is shown instead.
    if (own === last) show([element('h2', { children: [visible(file.name)] }), ...children]);
  };
  field.addEventListener('change', () => take(field.files[0]));
  // Next to the field too: the browser would open the file instead of the page.
  for (const type of ['dragover', 'drop']) {
    document.addEventListener(type, (event) => {
      event.preventDefault();
      card.classList.toggle('over', type === 'dragover');
      if (type === 'drop') take(event.dataTransfer.files[0]);
    });
  }
  document.addEventListener('dragleave', () => card.classList.remove('over'));
  card.hidden = false;
  document.getElementById('without').hidden = true;
}

if (typeof document !== 'undefined') showPage();
