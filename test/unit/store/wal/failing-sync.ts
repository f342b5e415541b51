// Loaded into a server (NODE_OPTIONS): from the moment on that the file FAIL_SYNCS is there, fdatasync fails.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const real = fs.fdatasync;
const flag = process.env.FAIL_SYNCS ?? '';

const failing = (descriptor: number, done: fs.NoParamCallback): void => {
  if (fs.existsSync(flag)) setImmediate(() => done(new Error('EIO: i/o error, fdatasync')));
  else real(descriptor, done);
};
fs.fdatasync = failing as typeof fs.fdatasync;
syncBuiltinESMExports();
