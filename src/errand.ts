#!/usr/bin/env node
// The command `errand`. The rest is loaded behind the check: an older Node.js would stop at the first module that it does not
// have, before a line of ours has run.

import './node-version.cjs';

await import('./commands.ts');
