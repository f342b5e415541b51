// A run that waits: it holds nobody up, what it has sent takes effect, and it goes on where it was.

import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import {
  all,
  aStep,
  defined,
  emit,
  failed,
  type Harness,
  mail,
  none,
  only,
  START_MS,
  succeeded,
  timesInTurn,
  upTo,
  waits,
} from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { numbered, Stage } from '../stage.ts';

export function waitsContract(harness: Harness): void {
  describe('a run that waits', () => {
    it('is not claimed, and says until when', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { run } = await stage.waiting(workflow, { kind: 'suspend', ms: MINUTE_MS });
      deepEqual(await stage.claim(), []);
      const record = defined(await stage.store.getRun(stage.owner.id, run));
      deepEqual([record.state, record.endedAtMs], ['waiting', null]);
      deepEqual(record.waiting, { kind: 'suspend', dueAtMs: START_MS + MINUTE_MS });
      const of = { ownerId: stage.owner.id, runnableId: workflow.id };
      const listed = await stage.store.listRuns({ ...of, state: 'waiting' }, { limit: 10 });
      deepEqual(only(listed.items).waiting, record.waiting);
      equal((await stage.store.ledger(stage.owner.id)).runs.waiting, 1);
      await assertLedgerAddsUp(stage);
    });

    it('goes on with what it has kept', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow(), { body: numbered(7) });
      const [steps, logs] = [[aStep('fetch', { returnValue: '{"a":1e400}' })], [aLine('hé\u0000llo')]];
      await stage.end(run, waits({ kind: 'rerun', context: '{"page":2}' }, { steps, logs, summary: 'half' }));
      equal((await stage.pass(MINUTE_MS)).queued, 1);
      const again = only(await stage.claim());
      deepEqual([again.run, again.attempt, again.resumed], [run.run, 1, null]);
      ok(again.fence > run.fence);
      deepEqual(new Uint8Array(again.emission.body), numbered(7));
      const checkpoint = JSON.parse(defined(again.checkpoint)) as object;
      deepEqual(checkpoint, {
        waits: 1,
        kind: 'rerun',
        steps: [],
        logs,
        logBytesDropped: 0,
        summary: 'half',
        retries: 0,
        reruns: { runs: 1, context: '{"page":2}' },
        callback: null,
      });
    });

    it('shows what it has done so far', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await stage.end(run, waits({}, { steps: [aStep('fetch')], logs: [aLine('so far')], summary: 'half' }));
      const shown = async (): Promise<unknown[]> => {
        const { state, detail, summary, waiting } = defined(await stage.store.getRun(stage.owner.id, run.run));
        const { steps, logs } = JSON.parse(defined(detail)) as { steps: unknown[]; logs: unknown[] };
        return [state, steps.length, logs.length, summary, waiting?.kind];
      };
      deepEqual(await shown(), ['waiting', 1, 1, 'half', 'delay']);
      await stage.pass(MINUTE_MS);
      deepEqual(await shown(), ['queued', 1, 1, 'half', undefined]);
      const again = only(await stage.claim());
      deepEqual(await shown(), ['running', 1, 1, 'half', undefined]);
      await stage.end(again, succeeded({ steps: [aStep('store')], summary: 'whole' }));
      deepEqual(await shown(), ['succeeded', 2, 1, 'whole', undefined]);
      await assertLedgerAddsUp(stage);
    });

    it('has sent what it sent before', async () => {
      await using stage = await Stage.open(harness);
      const [emitter, listener] = [await stage.workflow(), await stage.workflow()];
      await stage.subscribe(emitter.id, listener.id, 'paid');
      const run = await stage.started(emitter);
      const { claims } = await stage.end(run, waits({}, { outgoing: [emit('paid'), mail('approve')] }), all());
      equal(only(claims.runs).runnable.id, listener.id);
      equal(only(claims.deliveries).kind, 'mail');
      const { causes } = defined(await stage.store.getRun(stage.owner.id, run.run));
      equal(causes.length, 2);
      await assertLedgerAddsUp(stage);
    });

    it('has given the answer that it gave', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const idempotency = { triggerId: trigger.id, key: 'once', requestHash: 'hash' };
      const event = stage.make.emission(trigger.id);
      const { claims } = await stage.store.append(event, all(), { idempotency });
      const answer = { status: 202, headers: {}, body: numbered(1) };
      await stage.end(only(claims.runs), waits({}, { answer }));
      const { repeated } = await stage.store.append(event, none(), { idempotency });
      equal(repeated?.answer?.status, 202);
    });

    it('frees its hand for the next', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      const next = await stage.appendFor(workflow.id);
      const slots = upTo(1);
      const finished = await stage.end(run, waits(), slots);
      equal(only(finished.claims.runs).run, next.firstRun);
      slots.assertAccountedFor(finished.claims);
    });

    it('keeps the deployment that it began with', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, write } = await stage.hooked();
      const old = await stage.waiting(workflow);
      const changed = { ...workflow, deploymentId: stage.ids.next('d_') };
      await stage.store.updateWorkflow({ ...write, workflow: changed, deployment: stage.make.deployment(changed) });
      const young = await stage.started(workflow);
      await stage.pass(MINUTE_MS);
      const again = only(await stage.claim());
      deepEqual([old, again, young].map(deploymentOf), [
        workflow.deploymentId,
        workflow.deploymentId,
        changed.deploymentId,
      ]);
      equal((await stage.store.getRun(stage.owner.id, old.run))?.deploymentId, workflow.deploymentId);
    });

    it('keeps the time when it was started', async () => {
      await using stage = await Stage.open(harness);
      const { run } = await stage.waiting(await stage.workflow());
      await stage.pass(MINUTE_MS);
      const started = async (): Promise<unknown> => (await stage.store.getRun(stage.owner.id, run))?.startedAtMs;
      equal(await started(), START_MS);
      const again = only(await stage.claim());
      equal(await started(), START_MS);
      await stage.giveBack(again);
      await stage.claim();
      equal(await started(), START_MS);
    });

    it('waits on after a restart', async () => {
      await using stage = await Stage.open(harness);
      const { run } = await stage.waiting(await stage.workflow());
      await stage.reopen();
      equal((await stage.store.rescue(none())).runs, 0);
      deepEqual(await stage.pass(MINUTE_MS - 1), { queued: 0, cancelled: [], isMore: false });
      deepEqual(await stage.pass(1), { queued: 1, cancelled: [], isMore: false });
      await stage.reopen();
      equal(only(await stage.claim()).run, run);
      await assertLedgerAddsUp(stage);
    });

    it('needs the lease to begin its wait', async () => {
      await using stage = await Stage.open(harness);
      const lost = await stage.started(await stage.workflow());
      await stage.giveBack(lost);
      const held = only(await stage.claim());
      const { held: isHeld, claims } = await stage.tryEnd(lost, waits({}, { outgoing: [emit('')] }), all());
      deepEqual([isHeld, claims.runs], [false, []]);
      equal((await stage.store.getRun(stage.owner.id, held.run))?.state, 'running');
      equal((await stage.end(held)).held, true);
      await assertLedgerAddsUp(stage);
    });

    it('may wait any number of times', async () => {
      await using stage = await Stage.open(harness);
      let run = await stage.started(await stage.workflow());
      for (let n = 1; n <= 4; n++) {
        await stage.end(run, waits({ ms: n * SECOND_MS }));
        await stage.pass(n * SECOND_MS);
        run = only(await stage.claim());
        equal((JSON.parse(defined(run.checkpoint)) as { waits: number }).waits, n);
      }
      await stage.end(run);
      const { state, endedAtMs } = defined(await stage.store.getRun(stage.owner.id, run.run));
      deepEqual([state, endedAtMs], ['succeeded', START_MS + 10 * SECOND_MS]);
      await assertLedgerAddsUp(stage);
    });

    it('is its owner’s alone', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const { run } = await stage.waiting(await stage.workflow());
      equal(await stage.store.getRun(other.owner.id, run), undefined);
      equal(await stage.store.cancelRun(other.owner.id, run), undefined);
      equal((await stage.store.getRun(stage.owner.id, run))?.state, 'waiting');
      equal((await stage.store.ledger(other.owner.id)).runs.waiting, 0);
    });
  });

  describe('an attempt that is tried again', () => {
    it('counts, and leaves no fault', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      const { errorEntry } = await stage.tryAgain(run, SECOND_MS);
      equal(errorEntry, null);
      const record = defined(await stage.store.getRun(stage.owner.id, run.run));
      deepEqual([record.state, record.attempt, record.errorCode, record.errorEntry], ['waiting', 2, null, null]);
      deepEqual(record.waiting, { kind: 'retry', dueAtMs: START_MS + SECOND_MS });
      await stage.pass(SECOND_MS);
      const again = only(await stage.claim());
      deepEqual([again.run, again.attempt], [run.run, 2]);
      await stage.end(again);
      equal((await stage.store.ledger(stage.owner.id)).errors, 0);
      await assertLedgerAddsUp(stage);
    });

    it('tells one error, with the last', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      await stage.tryAgain(run, SECOND_MS);
      await stage.pass(SECOND_MS);
      const { errorEntry } = await stage.end(only(await stage.claim()), failed('Last'));
      const record = defined(await stage.store.getRun(stage.owner.id, run.run));
      deepEqual([record.state, record.attempt, record.errorCode], ['failed', 2, 'Last']);
      equal(record.errorEntry, errorEntry);
      const channel = { ownerId: stage.owner.id, emitterId: workflow.id, name: ERRORS };
      equal((await stage.store.listEmissions(channel, { limit: 10 }, false)).totalCount, 1);
      await assertLedgerAddsUp(stage);
    });

    it('may tell its error, and end well', async () => {
      await using stage = await Stage.open(harness);
      const retry = { attempts: 3, baseMs: 1, maxMs: 1, also: [], reportFirst: true };
      const workflow = await stage.workflow({ settings: { retry } });
      const [well, ill] = await timesInTurn(2, () => stage.started(workflow));
      const entries = [await stage.tryAgain(defined(well), 1), await stage.tryAgain(defined(ill), 1)];
      await stage.pass(1);
      const [first, second] = await stage.claim(2, workflow.id);
      await stage.end(defined(first));
      await stage.end(defined(second), failed());
      const errors = entries.map(({ errorEntry }) => defined(errorEntry));
      notEqual(errors[0], errors[1]);
      const records = await timesInTurn(2, async (i) => {
        const { run } = defined([well, ill][i]);
        return defined(await stage.store.getRun(stage.owner.id, run));
      });
      deepEqual(
        records.map(({ state, errorCode }) => [state, errorCode]),
        [
          ['succeeded', null],
          ['failed', 'TypeError'],
        ],
      );
      deepEqual(only(await stage.claim(1, stage.global.id)).emission.entry, errors[0]);
      equal((await stage.store.ledger(stage.owner.id)).errors, 3);
      await assertLedgerAddsUp(stage);
    });
  });
}

const deploymentOf = (run: { runnable: { deploymentId: string } }): string => run.runnable.deploymentId;

const aLine = (line: string) => ({ tsMs: START_MS, level: 'info', namespace: 'fetch', text: line }) as const;
