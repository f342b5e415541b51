// A server that no test's store is on: sources of our own may not connect to the one that it is on. It ends with its process.

import type { Databases } from './databases.ts';
import { startPostgres } from './server.ts';

let other: Promise<Databases> | undefined;

export function otherPostgres(): Promise<Databases> {
  other ??= startPostgres().then(({ databases }) => databases);
  return other;
}
