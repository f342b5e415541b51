// Emissions that a source makes for a later time.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { RunOutcome } from '../../../src/domain/run/run.ts';
import type { EmissionRecord } from '../../../src/store/contract/records.ts';
import type { LaterRecord } from '../../../src/store/contract/resources.ts';
import { all, at, emit, failed, type Harness, only, parsed, START_MS, succeeded, times } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { assertLedgerAddsUp } from './counting.ts';

const MINUTE_MS = 60_000;
const later = (id: string, inMs: number, name = '') =>
  emit(name, { id }, { itemId: id, summary: `the ${id}`, itemTs: 7, deliverAtMs: START_MS + inMs });

async function run(stage: Stage, source: { id: string }, outcome: Partial<RunOutcome>): Promise<void> {
  await stage.end(await stage.started(source), succeeded(outcome), all());
}

async function waiting(stage: Stage, source: { id: string }): Promise<readonly LaterRecord[]> {
  return (await stage.store.listLater(stage.owner.id, source.id, { limit: 100 }, true)).items;
}

async function emitted(stage: Stage, source: { id: string }, name = ''): Promise<readonly EmissionRecord[]> {
  const channel = { ownerId: stage.owner.id, emitterId: source.id, name };
  return (await stage.store.listEmissions(channel, { limit: 100 }, true)).items.toReversed();
}

const idsOf = (records: readonly EmissionRecord[]): (string | null)[] => records.map(({ itemId }) => itemId);
const oldestFirst = (records: readonly EmissionRecord[]): (string | null)[] => idsOf(records.toReversed());

export function laterContract(harness: Harness): void {
  describe('an emission for later', () => {
    it('waits, and is not in the log', async () => {
      await using stage = await Stage.open(harness);
      const [source, listener] = [await stage.source(), await stage.workflow()];
      await stage.subscribe(source.id, listener.id);
      const before = (await stage.store.ledger(stage.owner.id)).emissions;
      await run(stage, source, { outgoing: [later('a', MINUTE_MS, 'paid'), later('b', -1), emit('', { id: 'c' })] });
      const record = only(await waiting(stage, source));
      const { name, itemId, summary, itemTs, dueAtMs, body } = record;
      deepEqual(
        { name, itemId, summary, itemTs, dueAtMs, body: parsed(body) },
        { name: 'paid', itemId: 'a', summary: 'the a', itemTs: 7, dueAtMs: START_MS + MINUTE_MS, body: { id: 'a' } },
      );
      equal((await emitted(stage, source)).length, 2);
      deepEqual(await emitted(stage, source, 'paid'), []);
      equal((await stage.store.ledger(stage.owner.id)).emissions, before + 3);
      equal(await stage.store.nextDueAtMs(), START_MS + MINUTE_MS);
      await assertLedgerAddsUp(stage);
    });

    it('becomes an ordinary one when its time comes', async () => {
      await using stage = await Stage.open(harness);
      const [source, listener] = [await stage.source(), await stage.workflow()];
      await run(stage, source, { outgoing: [later('a', MINUTE_MS, 'paid')] });
      // Who is subscribed then hears it.
      await stage.subscribe(source.id, listener.id, 'paid');
      stage.clock.advance(MINUTE_MS - 1);
      deepEqual((await stage.store.releaseLater(all())).claims.runs, []);
      stage.clock.advance(1);
      const { claims, isMore } = await stage.store.releaseLater(all());
      equal(isMore, false);
      const heard = only(claims.runs);
      equal(heard.runnable.id, listener.id);
      deepEqual(parsed(heard.emission.body), { id: 'a' });
      const record = only(await emitted(stage, source, 'paid'));
      const { itemId, summary, itemTs, entry } = record;
      deepEqual({ itemId, summary, itemTs }, { itemId: 'a', summary: 'the a', itemTs: 7 });
      ok(entry >= (START_MS + MINUTE_MS) * 1024);
      deepEqual(await waiting(stage, source), []);
      equal(await stage.store.nextDueAtMs(), null);
      await stage.end(heard);
      await assertLedgerAddsUp(stage);
    });

    it('outlives a restart, and comes once', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await run(stage, source, { outgoing: [later('a', MINUTE_MS)] });
      await stage.reopen();
      stage.clock.advance(MINUTE_MS);
      await Promise.all([stage.store.releaseLater(all()), stage.store.releaseLater(all())]);
      await stage.store.releaseLater(all());
      deepEqual(idsOf(await emitted(stage, source)), ['a']);
      await stage.reopen();
      await stage.store.releaseLater(all());
      deepEqual(idsOf(await emitted(stage, source)), ['a']);
    });

    it('comes in the order of time', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await run(stage, source, { outgoing: [later('c', 3), later('a', 1), later('b', 2), later('a2', 1)] });
      stage.clock.advance(10);
      await stage.store.releaseLater(all());
      deepEqual(idsOf(await emitted(stage, source)), ['a', 'a2', 'b', 'c']);
    });

    it('comes in bounded steps', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await run(stage, source, { outgoing: times(LIMITS.laterStep + 1, (n) => later(`${n}`, 1)) });
      stage.clock.advance(1);
      deepEqual(
        [(await stage.store.releaseLater(all())).isMore, (await stage.store.releaseLater(all())).isMore],
        [true, false],
      );
      equal((await waiting(stage, source)).length, 0);
    });

    it('is judged by dedupe when it is made', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      await run(stage, source, { outgoing: [later('a', MINUTE_MS), later('a', 2 * MINUTE_MS)] });
      await run(stage, source, { outgoing: [emit('', {}, { itemId: 'a' })] });
      deepEqual(idsOf(await waiting(stage, source)), ['a']);
      stage.clock.advance(5 * MINUTE_MS);
      await stage.store.releaseLater(all());
      deepEqual(idsOf(await emitted(stage, source)), ['a']);
    });

    it('is not made by a run that fails', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await stage.end(await stage.started(source), failed('Boom', { outgoing: [later('a', MINUTE_MS)] }));
      deepEqual(await waiting(stage, source), []);
    });

    it('is left alone by retention', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const dayMs = 24 * 60 * MINUTE_MS;
      await run(stage, source, { outgoing: [later('a', 60 * dayMs)] });
      stage.clock.advance(59 * dayMs);
      await stage.store.prune(stage.clock.nowMs() - 30 * dayMs, 0);
      deepEqual(idsOf(await waiting(stage, source)), ['a']);
      await stage.reopen();
      stage.clock.advance(dayMs);
      await stage.store.releaseLater(all());
      deepEqual(idsOf(await emitted(stage, source)), ['a']);
    });

    it('goes with its source', async () => {
      await using stage = await Stage.open(harness);
      const [gone, kept] = [await stage.source(), await stage.source()];
      for (const source of [gone, kept]) await run(stage, source, { outgoing: [later('a', 1)] });
      const running = await stage.started(gone);
      await stage.deleteSource(gone);
      await stage.end(running, succeeded({ outgoing: [later('b', 1)] }));
      deepEqual(await waiting(stage, gone), []);
      stage.clock.advance(1);
      await stage.store.releaseLater(all());
      deepEqual(await emitted(stage, gone), []);
      deepEqual(idsOf(await emitted(stage, kept)), ['a']);
    });

    it('is deleted alone, or with all others', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const source = await stage.source();
      const of = { ownerId: stage.owner.id, sourceId: source.id, from: 0, to: Number.MAX_SAFE_INTEGER };
      await run(stage, source, { outgoing: ['a', 'b', 'c'].map((id) => later(id, 1)) });
      equal((await other.store.listLater(other.owner.id, source.id, { limit: 10 }, true)).totalCount, 0);
      equal(await stage.store.deleteLater({ ...of, ownerId: other.owner.id }), 0);
      const { entry } = at(await waiting(stage, source), 1);
      equal(await stage.store.deleteLater({ ...of, from: entry, to: entry }), 1);
      deepEqual(oldestFirst(await waiting(stage, source)), ['a', 'c']);
      equal(await stage.store.deleteSourceEvents(stage.owner.id, source.id), 0);
      equal(await stage.store.deleteLater(of), 2);
      stage.clock.advance(1);
      await stage.store.releaseLater(all());
      deepEqual(await emitted(stage, source), []);
    });

    it('is listed page by page', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await run(stage, source, { outgoing: times(5, (n) => later(`${n}`, MINUTE_MS)) });
      const list = (page: object) =>
        stage.store.listLater(stage.owner.id, source.id, { limit: 2, ...page } as { limit: number }, false);
      const first = await list({});
      deepEqual([idsOf(first.items), first.totalCount], [['4', '3'], 5]);
      const next = await list({ after: at(first.items, -1).entry });
      deepEqual([idsOf(next.items), next.totalCount], [['2', '1'], 5]);
    });
  });

  describe('deleting some events of a source', () => {
    it('takes those from one to another', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const outgoing = times(5, (n) => emit(n === 3 ? 'named' : '', {}, { itemId: `${n}` }));
      await run(stage, source, { outgoing });
      const [, from, to] = (await emitted(stage, source)).map(({ entry }) => entry) as [number, number, number];
      const { id: ownerId } = stage.owner;
      equal(await stage.store.deleteSourceEvents(ownerId, source.id, { from, to, name: null }), 2);
      deepEqual(idsOf(await emitted(stage, source)), ['0', '4']);
      equal(await stage.store.deleteSourceEvents(ownerId, source.id, { from, to: 2 * to, name: 'named' }), 1);
      deepEqual(await emitted(stage, source, 'named'), []);
      equal(await stage.store.deleteSourceEvents(ownerId, source.id, { from: 0, to: 2 * to, name: '' }), 2);
    });
  });
}
