// One server for the tests of a file, each with an owner of its own: a server takes a quarter of a second to start and stop.

import { after } from 'node:test';
import { type Errand, startErrand } from './errand.ts';
import { createOwner } from './owners.ts';

/** Returns what gives each test an owner on the file's server, which is started with the first of them. */
export function shareErrand(env: Record<string, string> = {}): () => Promise<Errand> {
  let shared: Promise<Errand> | undefined;
  let owners = 0;
  after(async () => (await shared)?.[Symbol.asyncDispose]());
  const refuse = (what: string) => (): never => {
    throw new Error(`a test does not ${what} the server that it shares`);
  };
  return async () => {
    shared ??= startErrand(env);
    const errand = await shared;
    const owner = await createOwner(errand, `owner-${++owners}`);
    return {
      ...errand,
      ...owner,
      forward: refuse('set the clock of'),
      restart: async () => refuse('restart')(),
      stop: async () => refuse('stop')(),
      [Symbol.asyncDispose]: async () => undefined,
    };
  };
}
