// What a start says of settings that are right one by one, and lead to something else than one would expect.

import { deepEqual, match } from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/server/config.ts';
import { warnOfNetworks, warnOfPublicUrl } from '../../../src/server/start-warnings.ts';

const URL_HERE = 'http://0.0.0.0:4400';

/** Returns the warnings of a start with these settings. */
function warnings(env: Record<string, string>): string[] {
  const said: string[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (_fields: object, name: string) => void said.push(name) };
  const config = readConfig(env);
  warnOfPublicUrl(config, log, URL_HERE);
  warnOfNetworks(config, log);
  return said;
}

test('a network of the other level is told to have no effect', () => {
  const forJails = warnings({ ERRAND_JAIL_NETWORK: 'public' });
  match(forJails.join(), /^ERRAND_JAIL_NETWORK has no effect, .* is process: .* by ERRAND_PROCESS_NETWORK$/);
  const forProcesses = warnings({ ERRAND_PROCESS_NETWORK: 'public', ERRAND_ISOLATION: 'jail' });
  match(forProcesses.join(), /^ERRAND_PROCESS_NETWORK has no effect, .* is jail: .* by ERRAND_JAIL_NETWORK$/);
});

test('a network of the level itself is not warned of', () => {
  deepEqual(warnings({ ERRAND_JAIL_NETWORK: 'public', ERRAND_ISOLATION: 'jail' }), []);
  deepEqual(warnings({ ERRAND_PROCESS_NETWORK: 'public' }), []);
  deepEqual(warnings({}), []);
});

test('addresses that no other machine can call are warned of', () => {
  for (const host of ['0.0.0.0', '::']) {
    match(warnings({ ERRAND_HOST: host }).join(), /^ERRAND_PUBLIC_URL is not set, and ERRAND_HOST is every address/);
    deepEqual(warnings({ ERRAND_HOST: host, ERRAND_PUBLIC_URL: 'https://errand.example.com' }), []);
  }
  match(warnings({ ERRAND_DATABASE_URL: 'postgres://db/errand' }).join(), /name this process alone$/);
  match(warnings({ ERRAND_PUBLIC_URL: 'https://example.com/errand' }).join(), /has a path/);
});
