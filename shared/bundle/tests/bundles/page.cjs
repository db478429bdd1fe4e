// Runs the script of the page /verify outside a browser: prints what it finds in each bundle.
//
//   node page.cjs SCRIPT KEYS BUNDLE…
'use strict';
const fs = require('node:fs');
const vm = require('node:vm');

const [script, keys, ...bundles] = process.argv.slice(2);
vm.runInThisContext(fs.readFileSync(script, 'utf8'));

(async () => {
  for (const path of bundles) {
    const found = await globalThis.verify(new Uint8Array(fs.readFileSync(path)), globalThis.readKeys(fs.readFileSync(keys, 'utf8')));
    console.log(`${path}:\n${globalThis.report(found)}`);
  }
})();
