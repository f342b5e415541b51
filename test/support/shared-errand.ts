// One server for the tests of a file, each with an owner of its own: a server takes a quarter of a second to start and stop. Files
// that share a process (test/parts.ts) share those of the same settings.

import { after } from 'node:test';
import { type Errand, startErrand } from './errand.ts';
import { createOwner } from './owners.ts';

const servers = new Map<string, Promise<Errand>>();
let owners = 0;
after(async () => {
  for (const server of servers.values()) await (await server)[Symbol.asyncDispose]();
});

/** Returns what gives each test an owner on the server, which is started with the first of them. */
export function shareErrand(env: Record<string, string> = {}): () => Promise<Errand> {
  const refuse = (what: string) => (): never => {
    throw new Error(`a test does not ${what} the server that it shares`);
  };
  return async () => {
    const key = JSON.stringify(env);
    const server = servers.get(key) ?? startErrand(env);
    servers.set(key, server);
    const errand = await server;
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
