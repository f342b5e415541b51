// What has waited longest: the oldest run that has not begun, and the delivery that is due first.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE_MS } from '../../../src/domain/limits.ts';
import { all, type Harness, only, START_MS } from '../fixtures.ts';
import { Stage } from '../stage.ts';

export function longestWaitingContract(harness: Harness): void {
  describe('what has waited longest', () => {
    it('is nothing while nothing waits', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await stage.started(workflow);
      deepEqual(await stage.store.longestWaiting(), { runMs: null, deliveryMs: null });
    });

    it('is the oldest run of any workflow until it begins', async () => {
      await using stage = await Stage.open(harness);
      const [one, two] = [await stage.workflow(), await stage.workflow()];
      await stage.appendFor(two.id);
      stage.clock.advance(MINUTE_MS);
      await stage.appendFor(one.id);
      equal((await stage.store.longestWaiting()).runMs, START_MS);
      const run = only(await stage.claim(1, two.id));
      equal((await stage.store.longestWaiting()).runMs, START_MS + MINUTE_MS);
      // A run that waits for its next attempt has begun.
      await stage.tryAgain(run, MINUTE_MS);
      await stage.pass(2 * MINUTE_MS);
      equal((await stage.store.longestWaiting()).runMs, START_MS + MINUTE_MS);
    });

    it('is the delivery of any listener that is due first', async () => {
      await using stage = await Stage.open(harness);
      const [one, two] = [await stage.webhook(), await stage.webhook()];
      const emitter = await stage.workflow();
      await stage.subscribe(emitter.id, one.id);
      await stage.append(emitter.id);
      stage.clock.advance(MINUTE_MS);
      await stage.subscribe(emitter.id, two.id);
      await stage.append(emitter.id);
      equal((await stage.store.longestWaiting()).deliveryMs, START_MS);
      const [first, ...others] = await stage.deliveries(9);
      for (const delivery of others) await stage.delivered(delivery, all());
      equal((await stage.store.longestWaiting()).deliveryMs, null);
      await stage.retrying(first as NonNullable<typeof first>, 10 * MINUTE_MS);
      equal((await stage.store.longestWaiting()).deliveryMs, START_MS + 11 * MINUTE_MS);
    });
  });
}
