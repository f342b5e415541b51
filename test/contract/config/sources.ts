// Event sources: what a run remembers commits with what it emits, or not at all.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS, RUN } from '../../../src/domain/emission.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { RunOutcome } from '../../../src/domain/run/run.ts';
import { SOURCE_STATE } from '../../../src/domain/run/source-state.ts';
import type { EmissionRecord } from '../../../src/store/contract/records.ts';
import type { Finished } from '../../../src/store/contract/store.ts';
import { all, emit, ended, failed, type Harness, only, succeeded, times } from '../fixtures.ts';
import { assertLedgerAddsUp, assertOneErrorPerFailure } from '../log/counting.ts';
import { Stage } from '../stage.ts';
import { wholeMemoryContract } from './source-memory.ts';

const item = (id: string | null) => emit('', { id }, { itemId: id });

async function run(stage: Stage, source: { id: string }, outcome: Partial<RunOutcome>): Promise<Finished> {
  return stage.end(await stage.started(source), succeeded(outcome), all());
}

async function emitted(stage: Stage, source: { id: string }, name = ''): Promise<readonly EmissionRecord[]> {
  const channel = { ownerId: stage.owner.id, emitterId: source.id, name };
  return (await stage.store.listEmissions(channel, { limit: 100 }, false)).items;
}

const idsOf = (records: readonly EmissionRecord[]): (string | null)[] => records.map((r) => r.itemId).reverse();

export function sourcesContract(harness: Harness): void {
  wholeMemoryContract(harness);
  describe('a new source', () => {
    it('is heard by its listeners, and is not made without one of them', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [workflow, webhook, foreign] = [await stage.workflow(), await stage.webhook(), await other.webhook()];
      const source = stage.make.source();
      const write = (ids: readonly string[]) => ({
        source,
        deployment: stage.make.deployment(source, source.componentCode),
        triggers: [],
        subscriptions: [],
        listeners: ids.map((to) => stage.make.subscription({ from: source.id, to })),
      });
      for (const missing of [foreign.id, 'p_0000000000009999']) {
        equal(await stage.store.createSource(write([workflow.id, missing])), missing);
        equal(await stage.store.getSource(stage.owner.id, source.id), undefined);
      }
      equal((await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 9 })).totalCount, 0);
      equal(await stage.store.createSource(write([workflow.id, webhook.id])), null);
      const { entry } = await stage.append(source.id);
      const receipts = await stage.store.receipts(stage.owner.id, entry);
      deepEqual(new Set(receipts.map(({ listenerId }) => listenerId)), new Set([workflow.id, webhook.id]));
    });
  });

  describe('the memory of a source', () => {
    it('is shown in the order of its names, as far as it is small', async () => {
      await using stage = await Stage.open(harness);
      const [source, stranger] = [await stage.source(), await stage.neighbour()];
      const stateOf = (id = source.id, skip = 0) => stage.store.sourceState(stage.owner.id, id, skip);
      deepEqual(await stateOf(), { count: 0, values: [] });
      const { nameChars, valueChars, values: most } = SOURCE_STATE;
      const [fits, large] = ['x', 'xx'].map((more) => JSON.stringify('y'.repeat(valueChars - 3) + more));
      const longName = 'z'.repeat(nameChars + 1);
      const dbWrites = { b: '12345678901234567890', a: String(large), B: String(fits), ä: '{}', [longName]: '1' };
      await run(stage, source, { dbWrites });
      await stage.reopen();
      const values = [
        { name: 'B', value: fits, chars: valueChars },
        { name: 'a', value: null, chars: valueChars + 1 },
        { name: 'b', value: '12345678901234567890', chars: 20 },
        { name: null, value: null, chars: 1 },
        { name: 'ä', value: '{}', chars: 2 },
      ];
      deepEqual(await stateOf(), { count: 5, values });
      const many = Object.fromEntries(times(most, (n) => [`n${n}`, String(n)]));
      await run(stage, source, { dbWrites: many });
      const read = [await stateOf(), await stateOf(source.id, most)].flatMap((it) => [it?.count, it?.values.length]);
      deepEqual(read, [most + 5, most, most + 5, 5]);
      equal(await stranger.store.sourceState(stranger.owner.id, source.id), undefined);
      equal(await stateOf((await stage.workflow()).id), undefined, 'not of a workflow');
    });

    it('keeps what a run wrote, as written', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      deepEqual(await stage.store.readSourceDb(source.id), {});
      await run(stage, source, { dbWrites: { cursor: '12345678901234567890', 'odd key ä': '{"a": [1e400]}' } });
      deepEqual(await stage.store.readSourceDb(source.id), {
        cursor: '12345678901234567890',
        'odd key ä': '{"a": [1e400]}',
      });
    });

    it('overwrites and clears by name', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await run(stage, source, { dbWrites: { a: '1', b: '2', c: '3' } });
      await run(stage, source, { dbWrites: { a: '10', b: null, d: 'null' } });
      deepEqual(await stage.store.readSourceDb(source.id), { a: '10', c: '3', d: 'null' });
    });

    it('belongs to one source alone', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = [await stage.source(), await stage.source()];
      await run(stage, a, { dbWrites: { cursor: '1' } });
      await run(stage, b, { dbWrites: { cursor: '2' } });
      deepEqual(await stage.store.readSourceDb(a.id), { cursor: '1' });
      deepEqual(await stage.store.readSourceDb(b.id), { cursor: '2' });
    });

    it('commits together with the emissions', async () => {
      await using stage = await Stage.open(harness);
      const [source, listener] = [await stage.source(), await stage.workflow()];
      await stage.subscribe(source.id, listener.id);
      const { claims } = await run(stage, source, { dbWrites: { cursor: '7' }, outgoing: [item('a'), item('b')] });
      equal(claims.runs.length, 2);
      await stage.reopen();
      deepEqual(await stage.store.readSourceDb(source.id), { cursor: '7' });
      deepEqual(idsOf(await emitted(stage, source)), ['a', 'b']);
      await assertLedgerAddsUp(stage);
    });

    it('is not written once the source is gone', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      const under = await stage.started(source);
      await stage.deleteSource(source);
      const { held } = await stage.end(under, succeeded({ dbWrites: { a: '1' }, outgoing: [item('a')] }), all());
      equal(held, true);
      deepEqual(await stage.store.readSourceDb(source.id), {});
      await assertLedgerAddsUp(stage);
    });

    it('takes nothing from a failed run', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      const outcome = { dbWrites: { cursor: '7' }, outgoing: [item('a')] };
      const { errorEntry } = await stage.end(await stage.started(source), failed('Boom', outcome));
      deepEqual(await stage.store.readSourceDb(source.id), {});
      deepEqual(await emitted(stage, source), []);
      equal(only(await emitted(stage, source, ERRORS)).entry, errorEntry);
      await run(stage, source, outcome);
      deepEqual(idsOf(await emitted(stage, source)), ['a']);
      deepEqual(await stage.store.readSourceDb(source.id), { cursor: '7' });
      await assertOneErrorPerFailure(stage);
    });

    it('is there for the steps of a workflow, until it is deleted', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, other] = [await stage.workflow(), await stage.workflow()];
      await run(stage, workflow, { dbWrites: { 'one.n': '1', 'two.n': '2' } });
      await run(stage, other, { dbWrites: { 'one.n': '7' } });
      await stage.end(await stage.started(workflow), failed('Boom', { dbWrites: { 'one.n': '3', 'two.n': null } }));
      await run(stage, workflow, { dbWrites: {} });
      deepEqual(await stage.store.readSourceDb(workflow.id), { 'one.n': '3' });
      const under = await stage.started(workflow);
      await stage.store.deleteWorkflow(workflow.ownerId, workflow.id);
      await stage.end(under, succeeded({ dbWrites: { 'one.n': '4' } }), all());
      deepEqual(await stage.store.readSourceDb(workflow.id), {});
      deepEqual(await stage.store.readSourceDb(other.id), { 'one.n': '7' });
    });

    it('takes nothing under a lost lease', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      const lost = await stage.started(source);
      await stage.end(lost, ended('returned'));
      const outcome = succeeded({ dbWrites: { cursor: '7' }, outgoing: [item('a')] });
      equal((await stage.tryEnd(lost, outcome)).held, false);
      deepEqual(await stage.store.readSourceDb(source.id), {});
      await stage.end(only(await stage.claim()), outcome);
      deepEqual(idsOf(await emitted(stage, source)), ['a']);
    });
  });

  describe('unique emissions', () => {
    it('pass once, within a run and across', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      await run(stage, source, { outgoing: [item('a'), item('b'), item('a')] });
      await run(stage, source, { outgoing: [item('b'), item('c'), item('c')] });
      deepEqual(idsOf(await emitted(stage, source)), ['a', 'b', 'c']);
      await assertLedgerAddsUp(stage);
    });

    it('pass once also after reopening', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      await run(stage, source, { outgoing: [item('a')] });
      await stage.reopen();
      await run(stage, source, { outgoing: [item('a'), item('b')] });
      deepEqual(idsOf(await emitted(stage, source)), ['a', 'b']);
    });

    it('always pass when they have no id', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      await run(stage, source, { outgoing: [item(null), item(null), item('a'), item('a')] });
      equal((await emitted(stage, source)).length, 3);
    });

    it('all pass where nothing is deduped', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await run(stage, source, { outgoing: [item('a'), item('a')] });
      equal((await emitted(stage, source)).length, 2);
    });

    it('are judged for each source apart', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = [await stage.source({ dedupe: 'unique' }), await stage.source({ dedupe: 'unique' })];
      await run(stage, a, { outgoing: [item('x')] });
      await run(stage, b, { outgoing: [item('x')] });
      equal((await emitted(stage, b)).length, 1);
    });

    it('are judged for each channel apart', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      const named = { ...item('a'), name: 'changed' };
      await run(stage, source, { outgoing: [named] });
      await stage.reopen();
      await run(stage, source, { outgoing: [item('a'), named] });
      equal((await emitted(stage, source)).length, 1);
      equal((await emitted(stage, source, 'changed')).length, 1);
      await assertLedgerAddsUp(stage);
    });

    it('are remembered for the last hundred ids', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      const ids = times(LIMITS.uniqueIds, (i) => `id-${i}`);
      await run(stage, source, { outgoing: ids.map(item) });
      const ledger = async () => (await stage.store.ledger(stage.owner.id)).emissions;
      const before = await ledger();
      await run(stage, source, { outgoing: ids.map(item) });
      equal(await ledger(), before + 1, 'only the emission that started the run');
      await run(stage, source, { outgoing: [item('one more')] });
      await run(stage, source, { outgoing: [item('id-0')] });
      deepEqual(idsOf(await emitted(stage, source)).slice(-2), ['one more', 'id-0']);
    });
  });

  describe('any text of user code', () => {
    it('is no reason for an end to fail', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      for (const text of ['a\u0000b', '\ud800', '\u0000', 'x'.repeat(100_000), "';--", '%s $1 ?', 'é😀\uffff']) {
        const outgoing = [emit(`n${text.length}`, { text }, { summary: text, itemId: text })];
        const outcome = { outgoing, summary: text, dbWrites: { [text]: JSON.stringify(text), __proto__x: '1' } };
        equal((await run(stage, source, outcome)).held, true);
        equal((await stage.end(await stage.started(source), failed(text, { summary: text }))).held, true);
      }
      equal((await stage.store.ledger(stage.owner.id)).errors, 7);
      equal((await stage.store.readSourceDb(source.id)).__proto__x, '1');
      await assertOneErrorPerFailure(stage);
    });

    it('is one id, whatever is in it', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique' });
      const long = 'x'.repeat(501);
      const ids = ['a\u0000b', 'a\u0000c', 'a', 'A', 'ä', 'a\u0308', ' a', '', long, `${long}x`];
      await run(stage, source, { outgoing: ids.map(item) });
      await run(stage, source, { outgoing: ids.map(item) });
      equal((await emitted(stage, source)).length, ids.length);
    });
  });

  describe('calls while hooks run', () => {
    /** Whether a call begins beside a run that is under way and one that waits. */
    async function begins(stage: Stage, source: { id: string }, call: { isAwaited: boolean }): Promise<boolean> {
      const emission = stage.make.emission(stage.owner.id, {
        name: RUN,
        onlyListenerId: source.id,
        sourceType: 'HTTP',
      });
      const { claims, entry } = await stage.store.append(emission, all(), call);
      stage.appended.add(entry);
      return claims.runs.length === 1;
    }

    async function busy(stage: Stage, inHooks: boolean): Promise<{ id: string }> {
      const source = await stage.source({ settings: { inHooks } });
      await stage.started(source);
      await stage.appendFor(source.id);
      return source;
    }

    it('begin at once when somebody waits', async () => {
      await using stage = await Stage.open(harness);
      const source = await busy(stage, true);
      equal(await begins(stage, source, { isAwaited: true }), true);
      equal(await begins(stage, source, { isAwaited: true }), true, 'a hook may register several addresses');
      equal(await begins(stage, source, { isAwaited: false }), false);
      await assertLedgerAddsUp(stage);
    });

    it('wait their turn when no hook runs', async () => {
      await using stage = await Stage.open(harness);
      const source = await busy(stage, false);
      equal(await begins(stage, source, { isAwaited: true }), false);
    });
  });

  describe('deleting events of a source', () => {
    it('forgets its events and keeps its errors', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await run(stage, source, { outgoing: [item('a'), item('b'), emit('named')] });
      await stage.failure(source);
      equal(await stage.store.deleteSourceEvents(stage.owner.id, source.id), 3);
      deepEqual(await emitted(stage, source), []);
      deepEqual(await emitted(stage, source, 'named'), []);
      equal((await emitted(stage, source, ERRORS)).length, 1);
      equal(await stage.store.deleteSourceEvents(stage.owner.id, source.id), 0);
    });

    it('leaves another source alone', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = [await stage.source(), await stage.source()];
      for (const source of [a, b]) await run(stage, source, { outgoing: [item('x')] });
      await stage.store.deleteSourceEvents(stage.owner.id, a.id);
      deepEqual(await emitted(stage, a), []);
      equal((await emitted(stage, b)).length, 1);
    });

    it('does not disturb the work it caused', async () => {
      await using stage = await Stage.open(harness);
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      await stage.subscribe(source.id, webhook.id);
      await stage.end(await stage.started(source), succeeded({ outgoing: [item('a')] }));
      const before = await stage.store.ledger(stage.owner.id);
      equal(await stage.store.deleteSourceEvents(stage.owner.id, source.id), 1);
      deepEqual(await stage.store.ledger(stage.owner.id), before);
      const delivery = only(await stage.deliveries());
      equal((await stage.delivered(delivery)).held, true);
    });

    it('starts the list afresh', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await run(stage, source, { outgoing: [item('old')] });
      await stage.store.deleteSourceEvents(stage.owner.id, source.id);
      await run(stage, source, { outgoing: [item('new')] });
      deepEqual(idsOf(await emitted(stage, source)), ['new']);
    });
  });
}
