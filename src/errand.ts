#!/usr/bin/env node
// The command `errand`. The rest is loaded behind the check: an older Node.js would stop at the first module that it does not
// have, before a line of ours has run.

import './node-version.cjs';

const args = process.argv.slice(2);
// Without options, a start needs nothing of the command line.
await (args.length === 1 && args[0] === 'start' ? import('./main.ts') : import('./commands.ts'));
