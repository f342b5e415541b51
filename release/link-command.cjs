// Makes `errand` a command of a checkout: npm links the commands of packages that it installs, but not that of the folder itself, and
// `npx errand` would look for another package of this name. `npm ci` runs this, as `prepare`.
'use strict';

const { chmodSync, existsSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const bin = join(__dirname, '../node_modules/.bin');

// By its own place, so that it works from any folder, and when the checkout was moved.
const COMMAND = `#!/bin/sh
root="$(cd "$(dirname "$0")/../.." && pwd)"
node="$root/node_modules/.bin/node"
[ -x "$node" ] || node=node
exec "$node" -r "$root/src/node-version.cjs" "$root/src/errand.ts" "$@"
`;

if (existsSync(bin) && process.platform !== 'win32') {
  writeFileSync(join(bin, 'errand'), COMMAND);
  chmodSync(join(bin, 'errand'), 0o755);
}
