// Loads undici with the first request that needs it, since its hundred modules are a twentieth of a start. At once, not with a
// promise: neither the sender of a request nor what explains its failure can wait.

import { createRequire } from 'node:module';

type Undici = typeof import('undici');

const require = createRequire(import.meta.url);
// What is not installed stops the start, as an import would, and not the first delivery.
const PATH = require.resolve('undici');
let loaded: Undici | undefined;

export function undici(): Undici {
  loaded ??= require(PATH) as Undici;
  return loaded;
}
