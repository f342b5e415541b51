// Counters and their rows: what has gone wrong is put right, and what is right is never touched, whatever is under way.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Repair } from '../../../src/store/contract/counters.ts';
import { all, at, emit, failed, type Harness, none, shareOf, succeeded, times } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { assertLedgerAddsUp } from './counting.ts';

/** Whoever looked last. */
const EVER = Number.MAX_SAFE_INTEGER;

async function busy(stage: Stage) {
  const { workflow, trigger } = await stage.hooked();
  const webhook = await stage.webhook();
  await stage.subscribe(workflow.id, webhook.id, '*');
  await stage.subscribe(workflow.id, webhook.id, '$errors');
  return { workflow, trigger, webhook };
}

/** Runs and deliveries in every open state. */
async function open(stage: Stage) {
  const made = await busy(stage);
  for (let n = 0; n < 12; n++) await stage.append(made.trigger.id);
  for (const run of await stage.claim(9)) await stage.end(run, failed('Boom', { outgoing: [emit('paid')] }));
  await stage.claim(1);
  const sending = await stage.deliveries(8);
  await stage.retrying(at(sending, 0), 1000);
  await stage.delivered(at(sending, 1));
  return made;
}

const repair = async (stage: Stage): Promise<readonly Repair[]> => {
  const { isChecked, repairs } = await stage.store.repairCounters(EVER);
  equal(isChecked, true);
  return repairs;
};

export function countersContract(harness: Harness): void {
  describe('counters', () => {
    it('are left alone when they are right', async () => {
      await using stage = await Stage.open(harness);
      await open(stage);
      deepEqual(await repair(stage), []);
      await assertLedgerAddsUp(stage);
    });

    it('are right after a restart', async () => {
      await using stage = await Stage.open(harness);
      await open(stage);
      await stage.reopen();
      await stage.store.rescue(none());
      deepEqual(await repair(stage), []);
      await assertLedgerAddsUp(stage);
    });

    it('of the ledger are never told below zero, and put right', async () => {
      await using stage = await Stage.open(harness);
      await open(stage);
      const before = await stage.store.ledger(stage.owner.id);
      let told = 0;
      stage.store.listen({ notify: (topic) => void (topic === 'counters' && told++) });
      await stage.execute("UPDATE ledger SET n = n - 50 WHERE fact = 'deliveries.sending'");
      await stage.execute("UPDATE ledger SET n = n + 7 WHERE fact = 'runs.queued'");
      const damaged = await stage.store.ledger(stage.owner.id);
      equal(damaged.deliveries.sending, 0);
      ok(told > 0, 'a repair of counters is asked for');
      const repairs = await repair(stage);
      const found = repairs.map(({ kind, of, counted, found }) => [kind, of, found - counted]);
      deepEqual(found.sort(), [
        ['ledger', 'deliveries.sending', 50],
        ['ledger', 'runs.queued', -7],
      ]);
      deepEqual(await stage.store.ledger(stage.owner.id), before);
      deepEqual(await repair(stage), []);
    });

    it('of one owner are put right without those of another', async () => {
      await using stage = await Stage.open(harness);
      await open(stage);
      const other = await stage.neighbour();
      await open(other);
      const before = await other.store.ledger(other.owner.id);
      await stage.execute(
        `UPDATE ledger SET n = n + 3 WHERE fact = 'deliveries.pending' AND owner_id = '${stage.owner.id}'`,
      );
      const repairs = await repair(stage);
      deepEqual(
        repairs.map(({ ownerId, of }) => [ownerId, of]),
        [[stage.owner.id, 'deliveries.pending']],
      );
      deepEqual(await other.store.ledger(other.owner.id), before);
    });

    it('are never put right while they are right, whatever is written meanwhile', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await busy(stage);
      let isOver = false;
      const looks = (async () => {
        for (let n = 0; !isOver || n < 3; n++) deepEqual(await repair(stage), []);
      })();
      const outcomes = [succeeded({ outgoing: [emit('paid')] }), failed('Boom')];
      const work = times(shareOf(harness, 8), async (worker) => {
        for (let n = 0; n < 12; n++) {
          const { claims } = await stage.append(trigger.id, {}, worker % 2 === 0 ? all() : none());
          for (const run of claims.runs) {
            const { claims: more } = await stage.tryEnd(run, at(outcomes, n % 2), all());
            for (const delivery of more.deliveries) await stage.delivered(delivery);
          }
          for (const run of await stage.claim(2)) await stage.tryEnd(run, at(outcomes, n % 2), none());
          for (const delivery of await stage.deliveries(2)) await stage.retrying(delivery, 0);
        }
      });
      await Promise.all(work).finally(() => {
        isOver = true;
      });
      await looks;
      await assertLedgerAddsUp(stage);
    });
  });
}
