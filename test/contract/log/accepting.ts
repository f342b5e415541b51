// What an append keeps, numbers and hands out.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { utf8 } from '../../../src/domain/bytes.ts';
import type { Emission, NewEmission } from '../../../src/domain/emission.ts';
import { entryOf, msOf, NUMBERS_PER_MS, recordId } from '../../../src/domain/ids.ts';
import { HOUR_MS } from '../../../src/domain/limits.ts';
import {
  all,
  CountedSlots,
  defined,
  type Harness,
  none,
  only,
  shareOf,
  times,
  timesInTurn,
  upTo,
} from '../fixtures.ts';
import { numbered, STUBBORN, Stage } from '../stage.ts';

const FULL: Partial<NewEmission> = {
  name: 'paid',
  body: STUBBORN,
  originId: 'dc_0000000000000077',
  verified: true,
  replay: true,
  test: true,
  traceId: 'trace-1',
  lineage: ['p_0000000000000071', 'wh_0000000000000072'],
  hops: 3,
  summary: 'An order — “paid”',
  itemId: 'item 1',
  itemTs: 1_700_000_000_123,
  code: 'Boom',
  originalStart: 4,
  originalLength: 9,
  digestKey: 'some key',
};

export function acceptingContract(harness: Harness): void {
  describe('accepting', () => {
    it('gives an emission back as it came', async () => {
      await using stage = await Stage.open(harness);
      const { workflow } = await stage.hooked();
      const made = stage.make.emission(workflow.id, FULL);
      const { entry, emitId } = await stage.store.append(made, none());
      const kept = defined(await stage.store.getEmission(stage.owner.id, entry));
      const expected: Emission = { ...made, entry, emitId, traceId: 'trace-1' };
      deepEqual(plain(kept), plain(expected));
    });

    it('hands a claimed run the same emission', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked({ settings: { env: { KEY: 'välue' }, concurrency: 3 } });
      const { entry, claims, firstRun } = await stage.append(trigger.id, { ...FULL, name: '' }, all());
      const run = only(claims.runs);
      equal(run.run, firstRun);
      equal(run.attempt, 1);
      equal(run.alone, false);
      equal(run.via, 'trigger');
      deepEqual(plain(run.emission), plain(defined(await stage.store.getEmission(stage.owner.id, entry))));
      const { id, ownerId, name, active, deploymentId, settings } = workflow;
      const runnable = { id, ownerId, name, active, deploymentId, settings };
      deepEqual({ ...runnable, ...run.runnable }, { ...run.runnable, ...runnable });
    });

    it('keeps any body byte for byte', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const bodies = fc.array(fc.oneof(fc.json().map(utf8), fc.constant(STUBBORN), fc.constant(utf8('null'))), {
        minLength: 1,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(bodies, async (list) => {
          const appended = await Promise.all(list.map((body) => stage.append(trigger.id, { body }, all())));
          for (const [i, { entry, claims }] of appended.entries()) {
            deepEqual(new Uint8Array(only(claims.runs).emission.body), list[i]);
            deepEqual(new Uint8Array(defined(await stage.store.getEmission(stage.owner.id, entry)).body), list[i]);
          }
        }),
        { numRuns: shareOf(harness, 15) },
      );
    });

    it('keeps a body of half a megabyte', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const body = utf8(JSON.stringify('é'.repeat(256 * 1024)));
      const { entry, claims } = await stage.append(trigger.id, { body }, all());
      ok(Buffer.from(body).equals(only(claims.runs).emission.body));
      ok(Buffer.from(body).equals(defined(await stage.store.getEmission(stage.owner.id, entry)).body));
    });

    it('numbers entries by the clock, as record ids', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const first = await stage.append(trigger.id);
      equal(msOf(first.entry), stage.clock.nowMs());
      stage.clock.advance(HOUR_MS);
      const second = await stage.append(trigger.id);
      equal(msOf(second.entry), stage.clock.nowMs());
      equal(entryOf(recordId(second.entry)), second.entry);
    });

    it('numbers on when the clock goes back', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const entries = await timesInTurn(10, async (i) => {
        stage.clock.advance(i % 3 === 0 ? 5 : -HOUR_MS);
        const { entry, firstRun } = await stage.append(trigger.id);
        return { entry, run: defined(firstRun) };
      });
      assertGrowing(entries.map((e) => e.entry));
      assertGrowing(entries.map((e) => e.run));
    });

    it('numbers on after reopening with an older clock', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const before = await stage.append(trigger.id);
      stage.clock.advance(-HOUR_MS);
      await stage.reopen();
      const after = await stage.append(trigger.id);
      assertGrowing([before.entry, after.entry]);
      assertGrowing([defined(before.firstRun), defined(after.firstRun)]);
    });

    it('gives no number again after a prune', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const before = await timesInTurn(3, async () => {
        const appended = await stage.append(trigger.id, {}, all());
        await stage.end(only(appended.claims.runs));
        return appended;
      });
      stage.clock.advance(HOUR_MS);
      await stage.store.prune(stage.clock.nowMs(), 0);
      stage.clock.advance(-2 * HOUR_MS);
      await stage.reopen();
      const after = await stage.append(trigger.id);
      assertGrowing([...before, after].map((a) => a.entry));
      assertGrowing([...before, after].map((a) => defined(a.firstRun)));
    });

    it('numbers more than a millisecond can hold', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow();
      const appended = await Promise.all(times(NUMBERS_PER_MS + 100, () => stage.append(emitter.id)));
      equal(new Set(appended.map((a) => a.entry)).size, appended.length);
      equal(new Set(appended.map((a) => a.emitId)).size, appended.length);
      const next = await stage.append(emitter.id);
      ok(appended.every((a) => a.entry < next.entry));
    });

    it('makes no emit id twice across reopening', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const before = await timesInTurn(5, () => stage.append(trigger.id));
      await stage.reopen();
      const after = await timesInTurn(5, () => stage.append(trigger.id));
      const ids = [...before, ...after].map((a) => a.emitId);
      equal(new Set(ids).size, 10);
      ok(
        ids.every((id) => /^[0-9A-Za-z_-]+$/.test(id)),
        ids.join(),
      );
    });

    it('begins a trace with the emit id', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const { emitId, entry, claims } = await stage.append(trigger.id, {}, all());
      equal(only(claims.runs).emission.traceId, emitId);
      equal((await stage.store.getEmission(stage.owner.id, entry))?.traceId, emitId);
    });

    it('claims at once what slots are free for', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const webhook = await stage.webhook();
      await stage.subscribe(trigger.id, webhook.id);
      const slots = all();
      const { claims, entry } = await stage.append(trigger.id, {}, slots);
      equal(only(claims.runs).runnable.id, workflow.id);
      equal(only(claims.deliveries).webhook?.id, webhook.id);
      equal(claims.runsWaiting, false);
      equal(claims.deliveriesWaiting, false);
      slots.assertAccountedFor(claims);
      const states = (await stage.store.receipts(stage.owner.id, entry)).map((r) => `${r.kind} ${r.state}`);
      deepEqual(states.sort(), ['delivery sending', 'run running']);
      deepEqual(await stage.claim(), []);
      deepEqual(await stage.deliveries(), []);
    });

    it('leaves waiting what no hand takes', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      await stage.subscribe(trigger.id, (await stage.webhook()).id);
      const { claims } = await stage.append(trigger.id, {}, none());
      deepEqual(claims, { runs: [], deliveries: [], runsWaiting: true, deliveriesWaiting: true });
      equal((await stage.claim()).length, 1);
      equal((await stage.deliveries()).length, 1);
    });

    it('takes no more than slots are free for', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.source();
      for (const _ of times(5, () => 0)) {
        await stage.subscribe(emitter.id, (await stage.workflow()).id);
        await stage.subscribe(emitter.id, (await stage.webhook()).id);
      }
      const slots = upTo(2);
      const { claims } = await stage.append(emitter.id, {}, slots);
      equal(claims.runs.length, 2);
      equal(claims.deliveries.length, 2);
      ok(claims.runsWaiting && claims.deliveriesWaiting);
      slots.assertAccountedFor(claims);
      const { runs, deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.running, runs.queued, deliveries.sending, deliveries.pending], [2, 3, 2, 3]);
    });

    it('asks slots for each listener apart', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.source();
      const [busy, free] = [await stage.workflow(), await stage.workflow()];
      await stage.subscribe(emitter.id, busy.id);
      await stage.subscribe(emitter.id, free.id);
      const slots = new CountedSlots(9, (id) => id !== busy.id);
      const { claims } = await stage.append(emitter.id, {}, slots);
      equal(only(claims.runs).runnable.id, free.id);
      equal(claims.runsWaiting, true);
      slots.assertAccountedFor(claims);
    });

    it('counts slots right among many appends', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      await stage.subscribe(trigger.id, (await stage.webhook()).id);
      const slots = upTo(7);
      const appended = await Promise.all(times(40, (i) => stage.append(trigger.id, { body: numbered(i) }, slots)));
      slots.assertAccountedFor(...appended.map((a) => a.claims));
      const { runs, deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.running, runs.queued, deliveries.sending, deliveries.pending], [7, 33, 7, 33]);
    });
  });
}

/** Bytes as an array of one kind, so that a Buffer equals a Uint8Array. */
function plain(emission: Emission): Emission {
  return { ...emission, lineage: [...emission.lineage], body: new Uint8Array(emission.body) };
}

function assertGrowing(numbers: readonly number[]): void {
  ok(
    numbers.every((n, i) => i === 0 || n > (numbers[i - 1] as number)),
    `not growing: ${numbers.join()}`,
  );
}
