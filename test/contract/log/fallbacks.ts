// Errors of which the global error workflow hears only when no subscriber has taken them.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { DEFAULT_SETTINGS, type Workflow } from '../../../src/domain/resource.ts';
import { deleteOf, restore } from '../config/owner-deletions.ts';
import { all, defined, failed, type Harness, none, only, succeeded, times } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { assertLedgerAddsUp } from './counting.ts';

const FALLBACK = { settings: { ...DEFAULT_SETTINGS, globalErrors: 'fallback' as const } };

/** A failing workflow, and workflows that are subscribed to its errors. */
async function chain(stage: Stage, count: number): Promise<{ workflow: Workflow; subscribers: Workflow[] }> {
  const workflow = await stage.workflow(FALLBACK);
  const subscribers = await Promise.all(times(count, () => stage.workflow()));
  for (const { id } of subscribers) await stage.subscribe(workflow.id, id, ERRORS);
  return { workflow, subscribers };
}

/** The time of the next look comes. */
async function look(stage: Stage, ms = MINUTE_MS): Promise<void> {
  stage.clock.advance(ms);
  const slots = all();
  const { claims, isMore } = await stage.store.tellGlobal(slots);
  slots.assertAccountedFor(claims);
  equal(isMore, false);
  for (const run of claims.runs) await stage.end(run, succeeded());
  // The errors of subscribers go there, too, and may be first.
  for (const run of await stage.claim(9, stage.global.id)) await stage.end(run, succeeded());
}

async function told(stage: Stage, entry: number): Promise<string[]> {
  const receipts = await stage.store.receipts(stage.owner.id, entry);
  return receipts.filter(({ listenerId }) => listenerId === stage.global.id).map(({ state }) => state);
}

async function reasonFor(stage: Stage, entry: number): Promise<string> {
  const receipts = await stage.store.receipts(stage.owner.id, entry);
  return `${only(receipts.filter(({ listenerId }) => listenerId === stage.global.id)).reason}`;
}

export function fallbacksContract(harness: Harness): void {
  describe('the global workflow as a fallback', () => {
    it('gets an error once its last subscriber has failed', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, subscribers } = await chain(stage, 2);
      const entry = await stage.failure(workflow);
      deepEqual(await told(stage, entry), ['withheld']);
      equal(await stage.store.nextDueAtMs(), stage.clock.nowMs() + SECOND_MS);
      const [one, two] = await stage.claim(2, ...subscribers.map(({ id }) => id));
      await stage.end(defined(one), failed('Boom'));
      await look(stage, SECOND_MS);
      deepEqual(await told(stage, entry), ['withheld'], 'the other one may succeed');
      await stage.end(defined(two), failed('Boom'));
      await look(stage);
      deepEqual(await told(stage, entry), ['succeeded']);
      await look(stage);
      deepEqual(await told(stage, entry), ['succeeded']);
      await assertLedgerAddsUp(stage);
    });

    it('gets no error that a subscriber has taken', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, subscribers } = await chain(stage, 2);
      const entry = await stage.failure(workflow);
      const [one, two] = await stage.claim(2, ...subscribers.map(({ id }) => id));
      await stage.end(defined(one), failed('Boom'));
      await stage.end(defined(two), succeeded());
      await look(stage);
      deepEqual(await told(stage, entry), ['withheld']);
      match(await reasonFor(stage, entry), /has succeeded/);
      // The error of the subscriber itself goes to it, as ever.
      for (const run of await stage.claim()) await stage.end(run, succeeded());
      equal(await stage.store.nextDueAtMs(), null);
      await assertLedgerAddsUp(stage);
    });

    it('gets no error while the end of its subscriber is written together with the look', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, subscribers } = await chain(stage, 1);
      const entry = await stage.failure(workflow);
      const taking = only(await stage.claim(1, only(subscribers).id));
      stage.clock.advance(MINUTE_MS);
      await Promise.all([stage.end(taking, succeeded()), stage.store.tellGlobal(none())]);
      deepEqual(await told(stage, entry), ['withheld']);
      await look(stage);
      match(await reasonFor(stage, entry), /has succeeded/);
    });

    it('gets all errors without a subscriber', async () => {
      await using stage = await Stage.open(harness);
      const entry = await stage.failure(await stage.workflow(FALLBACK));
      deepEqual(await told(stage, entry), ['queued']);
    });

    it('gets what a webhook did not take', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(FALLBACK);
      const webhook = await stage.webhook();
      await stage.subscribe(workflow.id, webhook.id, ERRORS);
      const lost = await stage.failure(workflow);
      await stage.exhausted(only(await stage.deliveries()));
      await look(stage);
      deepEqual(await told(stage, lost), ['succeeded']);
      const taken = await stage.failure(workflow);
      await look(stage);
      deepEqual(await told(stage, taken), ['withheld'], 'it may be delivered yet');
      await stage.delivered(only(await stage.deliveries()));
      await look(stage);
      match(await reasonFor(stage, taken), /has succeeded/);
    });

    it('does not wait for a webhook that is disabled', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(FALLBACK);
      await stage.subscribe(workflow.id, (await stage.webhook({ active: false })).id, ERRORS);
      const entry = await stage.failure(workflow);
      await look(stage);
      deepEqual(await told(stage, entry), ['succeeded']);
    });

    it('gets an error once, though several processes look, also after a restart', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, subscribers } = await chain(stage, 1);
      const entry = await stage.failure(workflow);
      await stage.end(only(await stage.claim(1, defined(subscribers[0]).id)), failed('Boom'));
      await stage.reopen();
      stage.clock.advance(MINUTE_MS);
      await Promise.all(times(4, () => stage.store.tellGlobal(all())));
      deepEqual(await told(stage, entry), ['queued'], 'behind the error of its subscriber');
      await assertLedgerAddsUp(stage);
    });

    it('is asked less and less often about one error', async () => {
      await using stage = await Stage.open(harness);
      const { workflow } = await chain(stage, 1);
      await stage.failure(workflow);
      await look(stage, 10 * SECOND_MS);
      equal(await stage.store.nextDueAtMs(), stage.clock.nowMs() + 10 * SECOND_MS);
      await look(stage, DAY_MS);
      equal(await stage.store.nextDueAtMs(), stage.clock.nowMs() + MINUTE_MS);
    });

    it('goes by the settings of that time', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, subscribers } = await chain(stage, 1);
      const entry = await stage.failure(workflow);
      await stage.end(only(await stage.claim(1, defined(subscribers[0]).id)), failed('Boom'));
      const settings = { ...workflow.settings, notify: false };
      await stage.store.updateWorkflow({
        workflow: { ...workflow, settings },
        deployment: null,
        triggers: [],
        subscriptions: [],
      });
      await look(stage);
      match(await reasonFor(stage, entry), /notify is false/);
    });

    it('gets an error of a deleted owner once it is restored', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const { workflow, subscribers } = await chain(other, 1);
      const entry = await other.failure(workflow);
      await other.end(only(await other.claim(1, only(subscribers).id)), failed('Boom'));
      await deleteOf(other, DAY_MS);
      await look(other);
      deepEqual(await told(other, entry), ['withheld']);
      await restore(other);
      await look(other);
      deepEqual(await told(other, entry), ['succeeded']);
    });

    it('may lose an error to retention, and goes on', async () => {
      await using stage = await Stage.open(harness);
      const { workflow } = await chain(stage, 1);
      const entry = await stage.failure(workflow);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      await look(stage);
      deepEqual((await told(stage, entry)).length, 1);
    });
  });
}
