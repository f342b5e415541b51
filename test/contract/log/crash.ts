// What a crash leaves: everything that was answered, and of the rest each fact whole or not at all.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../../src/store/contract/store.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { all, emit, failed, type Harness, none, sameMembers, TestClock, times } from '../fixtures.ts';
import { numbered, Stage } from '../stage.ts';
import { assertOneErrorPerFailure } from './counting.ts';

/** What the process that gets killed says: first who it is, then what was answered. */
type Said =
  | { readonly kind: 'ready'; readonly ownerId: string; readonly emitterId: string; readonly runnableIds: string[] }
  | { readonly kind: 'appended'; readonly entry: number }
  | { readonly kind: 'failed'; readonly run: number; readonly errorEntry: number };

/** Each emission of `emitter` makes a run for each workflow, and one delivery. */
async function fanOut(stage: Stage): Promise<{ emitterId: string; runnableIds: string[] }> {
  const [emitter, first, second] = [await stage.source(), await stage.workflow(), await stage.workflow()];
  for (const { id } of [first, second, await stage.webhook()]) await stage.subscribe(emitter.id, id);
  return { emitterId: emitter.id, runnableIds: [first.id, second.id] };
}

/** The crash tests' child process: appends and fails runs as fast as it can, and says what was answered. */
export async function writeUntilKilled(store: Store): Promise<void> {
  const stage = await Stage.on(store, new TestClock());
  const say = (said: Said): void => void process.send?.(said);
  const { emitterId, runnableIds } = await fanOut(stage);
  say({ kind: 'ready', ownerId: stage.owner.id, emitterId, runnableIds });
  const writer = async (): Promise<void> => {
    while (process.connected) {
      const { entry, claims } = await stage.append(emitterId, {}, all());
      say({ kind: 'appended', entry });
      for (const run of claims.runs) {
        const { errorEntry } = await stage.tryEnd(run, failed('Boom', { outgoing: [emit('paid')] }));
        if (errorEntry !== null) say({ kind: 'failed', run: run.run, errorEntry });
      }
    }
  };
  await Promise.all(times(8, writer));
}

/** Every emission of that emitter has its two runs and its delivery. Returns the entries, newest first. */
async function assertWhole(store: Store, who: { ownerId: string; emitterId: string }): Promise<number[]> {
  const { items } = await store.listEmissions({ ...who, name: '' }, { limit: 100 }, false);
  for (const { entry } of items) {
    const receipts = await store.receipts(who.ownerId, entry);
    sameMembers(
      receipts.map((r) => r.kind),
      ['delivery', 'run', 'run'],
    );
  }
  const { runs, deliveries } = await store.ledger(who.ownerId);
  ok(runs.queued + runs.running + runs.failed >= 2 * items.length);
  ok(deliveries.pending + deliveries.sending >= items.length);
  return items.map((e) => e.entry);
}

export function crashContract(harness: Harness): void {
  describe('after a reopening', () => {
    it('only what was not answered may lack', async () => {
      await using stage = await Stage.open(harness);
      const who = { ownerId: stage.owner.id, ...(await fanOut(stage)) };
      const answered = await Promise.all(times(30, () => stage.append(who.emitterId)));
      const unanswered = times(60, (i) => stage.append(who.emitterId, { body: numbered(i) }).catch(() => undefined));
      await stage.reopen();
      const entries = new Set(await assertWhole(stage.store, who));
      for (const { entry } of answered) ok(entries.has(entry));
      // An answer that was given counts, also when nobody waited for it.
      for (const late of unanswered) {
        const appended = await Promise.race([late, Promise.resolve(undefined)]);
        if (appended) ok(entries.has(appended.entry));
      }
    });

    it('a half-finished run has not ended', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await Promise.all(times(20, () => stage.started(workflow)));
      const ends = runs.map((run) => stage.tryEnd(run, failed('Boom', { outgoing: [emit('paid')] }), none()));
      const settled = Promise.allSettled(ends);
      await stage.reopen();
      await settled;
      await assertOneErrorPerFailure(stage);
      const { runs: states, emissions, errors } = await stage.store.ledger(stage.owner.id);
      equal(states.failed + states.running, 20);
      deepEqual([errors, emissions], [states.failed, 20 + 2 * states.failed]);
      equal((await stage.store.rescue(none())).runs, states.running);
    });

    it('work goes on where it was', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId } = await fanOut(stage);
      await stage.append(emitterId);
      await stage.reopen();
      await stage.append(emitterId, {}, none());
      equal((await stage.claim()).length, 4);
      equal((await stage.deliveries()).length, 2);
    });

    it('a closed store can be closed again', async () => {
      await using stage = await Stage.open(harness);
      equal(await stage.store.check(), true);
      const closing = [stage.store.close(), stage.store.close()];
      await Promise.all(closing);
      await stage.store.close();
    });

    it('a closed store is out of reach', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId } = await fanOut(stage);
      await stage.append(emitterId);
      await stage.store.close();
      equal(await stage.store.check(), false);
      await rejects(stage.append(emitterId), StoreUnavailable);
      await rejects(stage.store.claimRuns(1, all()), StoreUnavailable);
      await rejects(stage.store.getOwner(stage.owner.id), StoreUnavailable);
      await rejects(stage.store.ledger(stage.owner.id), StoreUnavailable);
      await stage.reopen();
      equal(await stage.store.check(), true);
      equal((await stage.store.ledger(stage.owner.id)).emissions, 1);
    });

    it('verbs under way at the closing are done', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId } = await fanOut(stage);
      const under = times(20, () => stage.append(emitterId));
      await stage.store.close();
      const entries = (await Promise.all(under)).map((a) => a.entry);
      await stage.reopen();
      const kept = await assertWhole(stage.store, { ownerId: stage.owner.id, emitterId });
      sameMembers(kept, entries);
    });
  });

  describe('after a SIGKILL', () => {
    it('all that was answered is there, whole', async () => {
      await using writer = await harness.startWriter();
      const said: Said[] = [];
      await writer.messages((message) => {
        said.push(message as Said);
        if (said.length === 300) writer.kill();
      });
      const ready = said[0];
      ok(ready?.kind === 'ready' && said.length >= 300);
      const store = await writer.open({ clock: new TestClock() });
      await assertWhole(store, ready);
      for (const fact of said) {
        if (fact.kind === 'appended') equal((await store.receipts(ready.ownerId, fact.entry)).length, 3);
        if (fact.kind === 'failed') {
          const run = await store.getRun(ready.ownerId, fact.run);
          deepEqual([run?.state, run?.errorEntry], ['failed', fact.errorEntry]);
          equal((await store.getEmission(ready.ownerId, fact.errorEntry))?.causeRun, fact.run);
        }
      }
      const { runs, emissions, errors } = await store.ledger(ready.ownerId);
      equal(errors, runs.failed);
      // Each failed run emitted `paid` and `$errors`; each `$errors` runs the global error workflow.
      const appended = emissions - 2 * runs.failed;
      equal(runs.queued + runs.running + runs.failed, 2 * appended + errors);
      ok(appended >= said.filter((s) => s.kind === 'appended').length);
      const rescued = await store.rescue(none());
      equal(rescued.runs, runs.running);
    });
  });
}
