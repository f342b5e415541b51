// A store on a database, opened as a node of its own.

import type { Clock, Log } from '../../../src/ports.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { openInspectable } from '../../../src/store/postgres/open.ts';
import { strongRandom } from '../../contract/fixtures.ts';

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let nodes = 0;

/** All that the stores of this process have sent by way of the batch and the claims. */
export const sentStatements = new Set<string>();

/** `clock` stands in for the database's, unless it is null. */
export async function openTestStore(options: { url: string; clock: Clock | null }): Promise<Store> {
  nodes++;
  const nodeName = `test-${process.pid}-${nodes}`;
  const all = { ...options, random: strongRandom, nodeName, version: 'test', log: silent };
  const { store, statements } = await openInspectable(all);
  return {
    ...store,
    close: () => {
      for (const sql of statements()) sentStatements.add(sql);
      return store.close();
    },
  };
}
