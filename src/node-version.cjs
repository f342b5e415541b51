// Ends the process in one line on a Node.js that is too old. Written for such a Node.js: CommonJS, so that `npm start` can
// preload it (`node -r`) where it could not even read the file extension of what follows.
'use strict';

const needed = Number.parseInt(require('../package.json').engines.node.replace(/\D+/, ''), 10);

if (Number.parseInt(process.versions.node, 10) < needed) {
  process.stderr.write(
    `errand: Errand needs Node.js ${needed} or newer, and this is ${process.version} (${process.execPath}). Install one from https://nodejs.org/en/download or with "nvm install ${needed}"; in a checkout of Errand, "npm ci" without --omit=dev brings one along.\n`,
  );
  process.exit(1);
}
