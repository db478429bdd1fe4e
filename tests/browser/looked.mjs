// Which views a page is looked at in: all of them once something of what draws it has changed, and otherwise a desktop and
// a phone, for what the code wrote into it. `looked-at.txt` has the hash of what was looked at in all views last, and a run
// that does so without a finding writes it anew; whoever changes a template or a style sheet commits it with the change.
//
// Decision: CI never looks in all seven, which takes half an hour more on a slow machine, for faults of style sheets that
// hardly ever show in one of the others only: it looks in the two, and says that the others are behind. If they aren't, it
// looks at each scene once: on a phone, where space is tightest, or on a desktop if the scene checks `lines` or `tall`. The
// walks pass through many pages in both views.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { VIEWS } from './browser.mjs';

const root = path.join(import.meta.dirname, '..', '..');
const record = path.join(import.meta.dirname, 'looked-at.txt');
const drawn = /^(functions\/[^/]+\/templates|(shared\/pages|infra\/docs)\/(templates|assets))\//;

function hash() {
  const hash = createHash('sha256');
  for (const folder of ['functions', 'infra/docs', 'shared/pages']) {
    const files = fs.readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true });
    const names = files.filter((file) => file.isFile()).map((file) => path.relative(root, path.join(file.parentPath, file.name)));
    for (const name of names.filter((name) => drawn.test(name)).sort()) {
      hash.update(`${name}\0`).update(fs.readFileSync(path.join(root, name))).update('\0');
    }
  }
  return hash.digest('hex');
}

const looksLikeBefore = () => fs.existsSync(record) && fs.readFileSync(record, 'utf8').trim() === hash();

const isTold = (name) => !['', '0', 'false'].includes(process.env[name] ?? '');
const isDue = !looksLikeBefore();
if (isDue && isTold('CI')) console.log('Templates or style sheets have changed since a run looked in all views: FULL=1 does.');

const named = (...names) => VIEWS.filter(({ name }) => names.includes(name));
const [desktop] = named('1280 light'), [phone] = named('390 light');

const looksOnce = isTold('CI') && !isTold('FULL') && !isDue;

// FULL=1 looks at all.
export const LOOKED = isTold('FULL') || (isDue && !isTold('CI')) ? VIEWS : [desktop, phone];

// The views of one scene.
export function viewsOf(scene) {
  if (looksOnce) return [scene.lines || scene.tall ? desktop : phone];
  return LOOKED.filter(({ isSpare }) => !(scene.isCounted && isSpare));
}

export function note() {
  if (LOOKED === VIEWS) fs.writeFileSync(record, `${hash()}\n`);
}
