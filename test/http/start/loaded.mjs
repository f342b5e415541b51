// Preloaded into a server: writes what it has loaded when it ends, as URLs of modules and names of Node's own.

import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const { LOADED_FILE } = process.env;
if (LOADED_FILE !== undefined && isMainThread) {
  const modules = [];
  registerHooks({
    load: (url, context, next) => {
      modules.push(url);
      return next(url, context);
    },
  });
  process.on('exit', () => {
    const own = process.moduleLoadList.map((entry) => entry.replace('NativeModule ', ''));
    writeFileSync(LOADED_FILE, JSON.stringify({ modules, own }));
  });
}
