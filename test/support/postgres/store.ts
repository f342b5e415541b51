// A store on a database, opened as a node of its own.

import type { Clock, Log } from '../../../src/ports.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { strongRandom } from '../../contract/fixtures.ts';

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let nodes = 0;

/** `clock` stands in for the database's, unless it is null. */
export function openTestStore(options: { url: string; clock: Clock | null }): Promise<Store> {
  nodes++;
  const nodeName = `test-${process.pid}-${nodes}`;
  return openPostgresStore({ ...options, random: strongRandom, nodeName, version: 'test', log: silent });
}
