// A process that purges the owners whose purge is due: a step for each line on its standard input, until it is killed or nothing is left
// to do. It tells of each step. Arguments: the store, as a path or the URL of a database, and the time.

import { createInterface } from 'node:readline';
import { TestClock } from '../../../contract/fixtures.ts';
import { openTestStore } from '../../../support/postgres/store.ts';
import { openFull } from '../full-store.ts';
import { recordOf } from './purge-record.ts';

const [where = '', atMs] = process.argv.slice(2);
const clock = new TestClock();
clock.ms = Number(atMs);
const store = where.startsWith('postgres') ? await openTestStore({ url: where, clock }) : await openFull(where, clock);
for await (const _ of createInterface({ input: process.stdin })) {
  const { isMore } = await store.sweepOwners(recordOf);
  process.stdout.write(isMore ? 'step\n' : 'over\n');
}
