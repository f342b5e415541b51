// How a run ends: one transaction with all that follows, and only under a lease that is still ours.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { text } from '../../../src/domain/bytes.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { HOUR_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { RunOutcome } from '../../../src/domain/run/run.ts';
import type { Finished } from '../../../src/store/contract/store.ts';
import {
  aFault,
  all,
  defined,
  emit,
  ended,
  failed,
  type Harness,
  json,
  none,
  only,
  parsed,
  START_MS,
  sameMembers,
  succeeded,
  upTo,
} from '../fixtures.ts';
import { assertLedgerAddsUp, assertOneErrorPerFailure, runsOf } from '../log/counting.ts';
import { STUBBORN, Stage } from '../stage.ts';

const STEP = {
  id: 'c_0000000000000009',
  namespace: 'code',
  state: 'succeeded',
  startedAtMs: START_MS,
  tookMs: 7,
  returnValue: '{"n": 12345678901234567890}',
  exports: { total: '1e400' },
} as const;

function assertLost(finished: Finished): void {
  equal(finished.held, false);
  equal(finished.errorEntry, null);
  deepEqual([finished.claims.runs, finished.claims.deliveries], [[], []]);
}

export function finishingContract(harness: Harness): void {
  describe('finishing a run', () => {
    it('writes success with times and detail', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const { claims, entry, emitId } = await stage.append(trigger.id, { body: STUBBORN }, all());
      const run = only(claims.runs);
      stage.clock.advance(SECOND_MS);
      const finished = await stage.end(run, succeeded({ steps: [STEP], summary: 'three orders' }));
      equal(finished.errorEntry, null);
      const whole = defined(await stage.store.getRun(stage.owner.id, run.run));
      const { event, detail, causes, ...record } = whole;
      deepEqual(record, {
        run: run.run,
        runnableId: workflow.id,
        deploymentId: workflow.deploymentId,
        state: 'succeeded',
        attempt: 1,
        replay: false,
        entry,
        emitId,
        emitterId: trigger.id,
        eventName: '',
        ledBy: [],
        startedAtMs: START_MS,
        endedAtMs: START_MS + SECOND_MS,
        summary: 'three orders',
        errorEntry: null,
        errorCode: null,
        waiting: null,
        errorMessage: null,
        retriedBy: null,
        errorBody: null,
        causedByRun: null,
        causeSummary: null,
      });
      deepEqual(new Uint8Array(event), STUBBORN);
      match(String(detail), /"return_value":\{"n": 12345678901234567890\},"exports":\{"total":1e400\}/);
      deepEqual(causes, []);
    });

    it('writes failure with exactly one error', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const run = only((await stage.append(trigger.id, {}, all())).claims.runs);
      const { errorEntry } = await stage.end(run, failed('Boom'));
      const error = defined(await stage.store.getEmission(stage.owner.id, defined(errorEntry)));
      equal(error.name, ERRORS);
      equal(error.emitterId, workflow.id);
      equal(error.code, 'Boom');
      equal(error.causeRun, run.run);
      equal(error.traceId, run.emission.traceId);
      deepEqual(error.lineage, [workflow.id]);
      equal(error.hops, 1);
      const record = only(await runsOf(stage, workflow.id));
      deepEqual([record.state, record.errorEntry, record.errorCode], ['failed', errorEntry, 'Boom']);
      await assertOneErrorPerFailure(stage);
      await assertLedgerAddsUp(stage);
    });

    it('splices the original bytes into the error', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow, { body: STUBBORN });
      const { errorEntry } = await stage.end(run, failed('Boom'));
      const error = defined(await stage.store.getEmission(stage.owner.id, defined(errorEntry)));
      const { originalStart, originalLength, body } = error;
      const original = body.subarray(defined(originalStart), defined(originalStart) + defined(originalLength));
      deepEqual(new Uint8Array(original), STUBBORN);
      ok(text(body).startsWith(`{"original_event":${text(STUBBORN)},"original_context":{`));
    });

    it('shows the error on its run', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow, { body: STUBBORN });
      await stage.end(run, failed('Boom'));
      const { errorBody } = defined(await stage.store.getRun(stage.owner.id, run.run));
      const { code, msg, cellId, namespace, stack } = aFault('Boom');
      const ts = new Date(START_MS).toISOString();
      deepEqual(parsed(errorBody), { code, msg, cellId, ts, stack, namespace });
    });

    it('refuses to finish the same run twice', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      await stage.end(run, failed('First'));
      const slots = all();
      assertLost(await stage.tryEnd(run, failed('Second', { outgoing: [emit('paid')] }), slots));
      slots.assertAccountedFor();
      const { items } = await errorsOf(stage, workflow.id);
      equal(only(items).code, 'First');
      await assertLedgerAddsUp(stage);
    });

    it('lets one of two ends at once hold', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      const ends = await Promise.all([stage.tryEnd(run, failed('A')), stage.tryEnd(run, failed('B'))]);
      sameMembers(
        ends.map((e) => String(e.held)),
        ['false', 'true'],
      );
      equal((await errorsOf(stage, workflow.id)).totalCount, 1);
      await assertOneErrorPerFailure(stage);
    });

    it('writes nothing under a lost lease', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, listener] = [await stage.workflow(), await stage.workflow()];
      await stage.subscribe(workflow.id, listener.id, 'paid');
      const lost = await stage.started(workflow);
      await stage.giveBack(lost);
      const held = only(await stage.claim());
      ok(held.fence > lost.fence);
      const slots = all();
      assertLost(await stage.tryEnd(lost, failed('Late', { outgoing: [emit('paid')] }), slots));
      slots.assertAccountedFor();
      equal((await stage.store.getRun(stage.owner.id, lost.run))?.state, 'running');
      equal((await errorsOf(stage, workflow.id)).totalCount, 0);
      const { claims } = await stage.end(held, succeeded({ outgoing: [emit('paid')] }), all());
      equal(only(claims.runs).runnable.id, listener.id);
      await assertLedgerAddsUp(stage);
    });

    it('refuses the end of a run never claimed', async () => {
      await using stage = await Stage.open(harness);
      const { firstRun } = await stage.appendFor((await stage.workflow()).id);
      const other = await stage.started(await stage.workflow());
      assertLost(await stage.tryEnd({ ...other, run: defined(firstRun), fence: 0 }, failed()));
      assertLost(await stage.tryEnd({ ...other, run: other.run + 1000 }, failed()));
      equal((await stage.store.getRun(stage.owner.id, defined(firstRun)))?.state, 'queued');
      await stage.end(other);
    });

    it('routes what the run emitted, in order', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, webhook] = [await stage.workflow(), await stage.webhook()];
      await stage.subscribe(workflow.id, webhook.id, '*');
      const run = await stage.started(workflow);
      const outgoing = ['a', 'b', 'c'].map((name, i) => emit(name, { i }, { summary: `#${i}` }));
      const slots = all();
      const { claims } = await stage.end(run, succeeded({ outgoing }), slots);
      slots.assertAccountedFor(claims);
      const sent = [...claims.deliveries].sort((x, y) => x.emission.entry - y.emission.entry);
      deepEqual(
        sent.map((d) => [d.emission.name, parsed(d.emission.body), d.emission.causeRun, d.emission.hops]),
        ['a', 'b', 'c'].map((name, i) => [name, { i }, run.run, 1]),
      );
      ok(sent.every((d) => d.emission.traceId === run.emission.traceId));
      await assertLedgerAddsUp(stage);
    });

    it('keeps what a workflow emitted before failing', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, webhook] = [await stage.workflow(), await stage.webhook()];
      await stage.subscribe(workflow.id, webhook.id, 'paid');
      const { claims, errorEntry } = await stage.end(
        await stage.started(workflow),
        failed('Boom', { outgoing: [emit('paid')] }),
        all(),
      );
      const { emission } = only(claims.deliveries);
      equal(emission.name, 'paid');
      ok(emission.entry < defined(errorEntry));
      equal(only(claims.runs).emission.entry, errorEntry);
    });

    it('tells causes and consequences of a run', async () => {
      await using stage = await Stage.open(harness);
      const [first, second] = [await stage.workflow(), await stage.workflow()];
      await stage.subscribe(first.id, second.id);
      const cause = await stage.started(first);
      const { claims } = await stage.end(cause, succeeded({ outgoing: [emit('')] }), all());
      const effect = only(claims.runs);
      const { causes } = defined(await stage.store.getRun(stage.owner.id, cause.run));
      deepEqual(
        causes.map((r) => [r.kind, r.number, r.listenerId, r.state]),
        [['run', effect.run, second.id, 'running']],
      );
      equal((await stage.store.getRun(stage.owner.id, effect.run))?.causedByRun, cause.run);
    });

    it('queues an unattributed run again, alone and counted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      await stage.end(run, ended('unattributed'));
      equal((await stage.store.getRun(stage.owner.id, run.run))?.state, 'queued');
      const again = only(await stage.claim());
      deepEqual([again.run, again.alone, again.attempt], [run.run, true, 2]);
      ok(again.fence > run.fence);
      assertLost(await stage.tryEnd(run));
      await stage.end(again);
      await assertLedgerAddsUp(stage);
    });

    it('queues a returned run again, not counted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      await stage.end(run, ended('returned'));
      const again = only(await stage.claim());
      deepEqual([again.run, again.alone, again.attempt], [run.run, false, 1]);
      assertLost(await stage.tryEnd(run));
      await stage.end(again);
      await assertLedgerAddsUp(stage);
    });

    it('ends a cancelled run without an error', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      const { errorEntry } = await stage.end(run, ended('cancelled'));
      equal(errorEntry, null);
      equal((await stage.store.getRun(stage.owner.id, run.run))?.state, 'cancelled');
      equal((await errorsOf(stage, workflow.id)).totalCount, 0);
      assertLost(await stage.tryEnd(run, failed()));
      await assertLedgerAddsUp(stage);
    });

    it('claims what an end causes, if slots allow', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [first, second] = [await stage.started(workflow), await stage.started(workflow)];
      const taken = await stage.end(first, failed(), all());
      equal(only(taken.claims.runs).runnable.id, stage.global.id);
      equal(taken.claims.runsWaiting, false);
      const left = await stage.end(second, failed(), none());
      deepEqual([left.claims.runs.length, left.claims.runsWaiting], [0, true]);
    });

    it('makes room for what is queued together with it', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { concurrency: 1, queueLimit: 2 } });
      const run = only((await stage.appendFor(workflow.id, {}, all())).claims.runs);
      for (const _ of [1, 2]) equal((await stage.appendFor(workflow.id)).firstRunRefused, false);
      // The run that takes the slot waits no longer.
      const [{ claims }, next] = await Promise.all([
        stage.end(run, succeeded(), upTo(1)),
        stage.appendFor(workflow.id),
      ]);
      deepEqual([claims.runs.length, next.firstRunRefused], [1, false]);
      equal((await stage.appendFor(workflow.id)).firstRunRefused, true);
      await assertLedgerAddsUp(stage);
    });

    it('keeps a detail of a megabyte', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      const outcome: RunOutcome = succeeded({ steps: [{ ...STEP, returnValue: `"${'x'.repeat(1024 * 1024)}"` }] });
      await stage.end(run, outcome);
      ok(String((await stage.store.getRun(stage.owner.id, run.run))?.detail).length > 1024 * 1024);
    });

    it('dates the end by the outcome', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { firstRun } = await stage.appendFor(workflow.id, { body: json(1) });
      const queued = defined(await stage.store.getRun(stage.owner.id, defined(firstRun)));
      deepEqual([queued.startedAtMs, queued.endedAtMs], [null, null]);
      stage.clock.advance(HOUR_MS);
      const run = only(await stage.claim());
      stage.clock.advance(HOUR_MS);
      await stage.end(run);
      const { startedAtMs, endedAtMs } = defined(await stage.store.getRun(stage.owner.id, run.run));
      deepEqual([startedAtMs, endedAtMs], [START_MS + HOUR_MS, START_MS + 2 * HOUR_MS]);
    });
  });
}

function errorsOf(stage: Stage, emitterId: string) {
  const channel = { ownerId: stage.owner.id, emitterId, name: ERRORS };
  return stage.store.listEmissions(channel, { limit: 100 }, false);
}
