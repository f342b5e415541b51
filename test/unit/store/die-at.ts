// Loaded into a server (NODE_OPTIONS): kills it before the call numbered DIE_AT of those that put the key's file in place.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

type Call = (...args: never[]) => unknown;

const calls = fs as unknown as Record<string, Call>;
let left = Number(process.env.DIE_AT);
let isMaking = false;
let isInPlace = false;

for (const name of ['rmSync', 'writeFileSync', 'linkSync', 'fsyncSync']) {
  const real = calls[name] as Call;
  calls[name] = (...args) => {
    isMaking ||= !isInPlace && String(args[0]).includes('secret-key');
    if (isMaking && --left === 0) process.kill(process.pid, 'SIGKILL');
    isInPlace ||= name === 'linkSync';
    const made = real(...args);
    // The folder was the last.
    if (isInPlace && name === 'fsyncSync') isMaking = false;
    return made;
  };
}
syncBuiltinESMExports();
