// What one transaction on Postgres may write: a row that left its state twice would be counted twice, by the ledger and by the
// queue that it leaves.

import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../../src/store/postgres/connection/transaction-connection.ts';
import { type DeliveryChange, RowChanges } from '../../../src/store/postgres/log/row-changes.ts';

const NOW_MS = 1000;
const progress = { attemptsMade: 1, requestsMade: 1, tries: 1, dueBy: 'event' } as const;

const again = (run: number) => ({ run, attempt: 2, startedAtMs: null, alone: false, rescues: 1, fence: 2 });
const wait = (run: number) => ({ run }) as RowChanges['waits'][number];
const change = (delivery: number): DeliveryChange => ({
  delivery,
  state: 'retrying',
  progress,
  fence: 1,
  dueAtMs: NOW_MS,
});
const end = (delivery: number) => ({ delivery, state: 'delivered', progress });

/** Counts what is sent of it. */
function send(plan: RowChanges): number {
  let sent = 0;
  const query = (): Promise<[]> => {
    sent++;
    return Promise.resolve([]);
  };
  plan.send({ query } as unknown as Tx, NOW_MS);
  return sent;
}

const TWICE: Readonly<Record<string, (plan: RowChanges) => void>> = {
  'run 7 leaves': (plan) => plan.runsAgain.push(again(7), again(8), again(7)),
  'run 9 leaves': (plan) => plan.closedRuns.push(9, 9),
  'run 10 leaves': (plan) => {
    plan.runsAgain.push(again(10));
    plan.closedRuns.push(10);
  },
  'run 11 leaves': (plan) => {
    plan.closedRuns.push(11);
    plan.waits.push(wait(11));
  },
  'delivery 7 leaves': (plan) => plan.deliveryChanges.push(change(7), change(7)),
  'delivery 8 leaves': (plan) => plan.deliveryEnds.push(end(8), end(9), end(8)),
  'delivery 9 leaves': (plan) => {
    plan.deliveryChanges.push(change(9));
    plan.deliveryEnds.push(end(9));
  },
};

for (const [said, fill] of Object.entries(TWICE)) {
  test(`a transaction is refused in which ${said} twice`, () => {
    const plan = new RowChanges();
    fill(plan);
    let sent = 0;
    throws(() => {
      sent = send(plan);
    }, new RegExp(said));
    equal(sent, 0, 'nothing of it was sent');
  });
}

test('a run and a delivery of one number are two rows', () => {
  const plan = new RowChanges();
  plan.runsAgain.push(again(7));
  plan.closedRuns.push(8);
  plan.deliveryChanges.push(change(7));
  plan.deliveryEnds.push(end(8));
  deepEqual(send(plan), 4);
});
