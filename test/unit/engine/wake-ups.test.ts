// Wake-ups, over a real store and without polls: each test hangs, and so fails, when its wake-up is missing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { RUN } from '../../../src/domain/emission.ts';
import { HOUR_MS } from '../../../src/domain/limits.ts';
import { type ClaimedRun, NO_OUTCOME, type RunOutcome } from '../../../src/domain/run/run.ts';
import type { RunEnd } from '../../../src/domain/run/run-end.ts';
import { Dispatch } from '../../../src/engine/accept/dispatch.ts';
import { createEmit } from '../../../src/engine/accept/emit.ts';
import { Waiters } from '../../../src/engine/accept/waiters.ts';
import { Slots } from '../../../src/engine/capacity/slots.ts';
import { propStoresOf } from '../../../src/engine/components/prop-stores.ts';
import { Deliveries } from '../../../src/engine/deliveries/deliveries.ts';
import { DeliveryLimiter } from '../../../src/engine/deliveries/delivery-limiter.ts';
import { createResends } from '../../../src/engine/deliveries/resends.ts';
import { ReadyRuns } from '../../../src/engine/runs/ready-runs.ts';
import { createResumes } from '../../../src/engine/runs/resumes.ts';
import { Runs } from '../../../src/engine/runs/runs.ts';
import { Scheduler } from '../../../src/engine/schedule/scheduler.ts';
import { createWatches } from '../../../src/engine/schedule/watches.ts';
import { WakeUps } from '../../../src/engine/wake-ups.ts';
import type { Clock } from '../../../src/ports.ts';
import { resumeKeyOf, resumeToken } from '../../../src/runner/resume-token.ts';
import type { RunRequest } from '../../../src/runner/runner.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { TestClock } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { startErrand } from '../../support/errand.ts';
import { createSource } from '../../support/sources/sources.ts';
import { MEMORY_FOLDER, openSqlite } from '../../support/sqlite/store.ts';
import { until } from '../../support/wait.ts';
import { answered, createLog, random, runnable } from './parts.ts';

const TIMEOUT = { timeout: 20_000 };
const SUCCEEDED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'succeeded' } };
const UNATTRIBUTED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'unattributed' } };
const waits = (kind: 'delay' | 'suspend', ms: number): RunOutcome => ({
  ...NO_OUTCOME,
  end: { kind: 'waiting', wait: { kind, ms, context: null } },
});

/** Goes on, and can be set forward. */
class SetClock implements Clock {
  #offsetMs = 0;

  nowMs(): number {
    return Date.now() + this.#offsetMs;
  }

  forward(ms: number): void {
    this.#offsetMs += ms;
  }
}

/** What runs come to, one after the other; and what happens once an attempt is in the store. */
interface Scene {
  readonly clock?: Clock;
  readonly outcomes?: (RunOutcome | Promise<RunOutcome>)[];
  readonly attempts?: Attempt[];
  readonly onRecorded?: () => void;
}

/** The loops of runs, deliveries and times, asleep behind their first ticks. */
async function open({ clock: machine = new SetClock(), outcomes = [], attempts = [], onRecorded }: Scene) {
  const opened = await openSqlite({ clock: machine, parent: MEMORY_FOLDER });
  const { clock } = opened.store;
  const stage = await Stage.on(opened.store, new TestClock());
  const ticked = { runs: 0, deliveries: 0, times: 0 };
  const store: Store = {
    ...opened.store,
    claimRuns: (...args) => opened.store.claimRuns(...args).finally(() => ticked.runs++),
    claimDeliveries: (...args) => opened.store.claimDeliveries(...args).finally(() => ticked.deliveries++),
    nextDueAtMs: () => opened.store.nextDueAtMs().finally(() => ticked.times++),
    recordAttempt: (...args) => opened.store.recordAttempt(...args).finally(() => onRecorded?.()),
  };
  const wake = new WakeUps();
  store.listen(wake);
  const limiter = new DeliveryLimiter();
  const slots = new Slots(limiter, { runs: true, deliveries: true });
  slots.open();
  const [dispatch, waiters] = [new Dispatch(wake), new Waiters()];
  const inc = { inc: () => undefined, observe: () => undefined };
  const metrics = {
    accepted: inc,
    runs: inc,
    runSeconds: inc,
    errors: inc,
    attempts: inc,
    attemptSeconds: inc,
    watchesJudged: { set: () => undefined },
  } as never;
  const answers = { watch: () => undefined };
  const shared = {
    store,
    slots,
    dispatch,
    metrics,
    tracing: null,
    clock,
    wake,
    waiters,
    random,
    log: createLog().log,
    isPolling: false,
  };
  const requests: RunRequest[] = [];
  const run = async (request: RunRequest): Promise<RunOutcome> => {
    requests.push(request);
    return outcomes.shift() ?? SUCCEEDED;
  };
  const propStores = propStoresOf(store, { usable: async () => undefined });
  const urls = { publicUrl: () => '', endpointUrl: () => '' };
  const readyRuns = new ReadyRuns({ run, runsBeside: () => null, cancel: () => false });
  const asStored = {
    eventFor: async ({ emission }: ClaimedRun) => emission.body,
    endFor: async (_run: ClaimedRun, end: RunEnd) => end,
  };
  const runs = new Runs({ ...shared, readyRuns, answers, ...urls, propStores, linkOf: () => '', ...asStored });
  const posted: ClaimedDelivery[] = [];
  const post = async (delivery: ClaimedDelivery): Promise<Attempt> => {
    posted.push(delivery);
    return attempts.shift() ?? answered(200);
  };
  const probe = () => Promise.reject(new Error('no tests here'));
  const deliveries = new Deliveries({ ...shared, limiter, post, mail: post, probe });
  const sendNotices = async () => false;
  const times = new Scheduler({ ...shared, watches: createWatches(shared), retentionDays: 30, sendNotices });
  dispatch.connect({
    run: (claimed: ClaimedRun) => runs.execute(claimed),
    delivery: (claimed) => deliveries.attempt(claimed),
  });
  const emit = createEmit({ ...shared, answers });
  const begin = async (): Promise<void> => {
    for (const loop of [runs, deliveries, times]) loop.start();
    await until('all loops sleep', () => Object.values(ticked).every((n) => n > 0));
    await new Promise((resolve) => setImmediate(resolve));
  };
  await begin();
  return {
    ...shared,
    stage,
    times,
    requests,
    posted,
    /** An event for that workflow alone. */
    send: (workflowId: string) => emit(stage.make.emission(stage.owner.id, { name: RUN, onlyListenerId: workflowId })),
    /** A source that a webhook hears. */
    heardSource: async () => {
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      await stage.subscribe(source.id, webhook.id);
      return source.id;
    },
    emitOf: (emitterId: string) => emit(stage.make.emission(emitterId)),
    [Symbol.asyncDispose]: async () => {
      slots.close();
      await times.stop();
      await runs.stop(0);
      await deliveries.stop(0);
      await opened[Symbol.asyncDispose]();
    },
  };
}

const begun = ({ requests }: { requests: readonly RunRequest[] }, count: number) =>
  until(`${count} segments`, () => requests.length >= count);
const sent = ({ posted }: { posted: readonly ClaimedDelivery[] }, count: number) =>
  until(`${count} attempts`, () => posted.length >= count);

test('a run that goes back to the queue is claimed again', TIMEOUT, async () => {
  await using engine = await open({ outcomes: [UNATTRIBUTED] });
  const { id } = await engine.stage.workflow();
  await engine.send(id);
  await begun(engine, 2);
});

test('deliveries that find no slot are claimed later', TIMEOUT, async () => {
  await using engine = await open({});
  const id = await engine.heardSource();
  engine.slots.close();
  await engine.emitOf(id);
  assert.equal(engine.posted.length, 0);
  engine.slots.open();
  await sent(engine, 1);
});

test('the end of a run frees a slot for another workflow', TIMEOUT, async () => {
  const { promise, resolve } = Promise.withResolvers<RunOutcome>();
  await using engine = await open({ outcomes: [promise] });
  const [first, second] = [await engine.stage.workflow(), await engine.stage.workflow()];
  await engine.send(first.id);
  await begun(engine, 1);
  for (let n = 0; engine.slots.takeRun({ ...runnable, id: `p_${n}`, ownerId: engine.stage.owner.id }); n++);
  const asked = Promise.withResolvers<void>();
  engine.wake.subscribe('runs', () => asked.resolve());
  await engine.send(second.id);
  await asked.promise;
  // The tick that finds no slot is over.
  await engine.store.logEnd();
  await new Promise((done) => setTimeout(done, 20));
  assert.equal(engine.requests.length, 1);
  resolve(SUCCEEDED);
  await begun(engine, 2);
});

test('a run that is resumed goes on', TIMEOUT, async () => {
  await using engine = await open({ outcomes: [waits('suspend', HOUR_MS)] });
  const { store } = engine;
  const { id } = await engine.stage.workflow();
  const { appended } = await engine.send(id);
  const run = appended.firstRun as number;
  const waiting = await until('it waits', async () => {
    const known = await store.waitingRun(run);
    return known?.state === 'waiting' && known;
  });
  const token = resumeToken(resumeKeyOf(store.deriveKey('resume'), waiting.deploymentId), run, 1);
  const { endWait } = createResumes(engine);
  await endWait({ run, waits: 1, token, order: 'resume', request: '{"body":1}' });
  await begun(engine, 2);
  assert.equal(engine.requests[1]?.earlier?.callback, '{"body":1}');
});

test('a delay ends when its time has come', TIMEOUT, async () => {
  await using engine = await open({ outcomes: [waits('delay', 50)] });
  const { id } = await engine.stage.workflow();
  await engine.send(id);
  await begun(engine, 2);
});

test('a wait that time has ended begins its run', TIMEOUT, async () => {
  const clock = new SetClock();
  await using engine = await open({ clock, outcomes: [waits('delay', HOUR_MS)] });
  const { id } = await engine.stage.workflow();
  const { appended } = await engine.send(id);
  await until(
    'it waits',
    async () => (await engine.store.waitingRun(appended.firstRun as number))?.state === 'waiting',
  );
  clock.forward(2 * HOUR_MS);
  await engine.times.tickDue();
  await begun(engine, 2);
});

test('a failed delivery is tried again in its time', TIMEOUT, async () => {
  const clock = new SetClock();
  const onRecorded = (): void => clock.forward(HOUR_MS);
  await using engine = await open({ clock, attempts: [answered(503)], onRecorded });
  await engine.emitOf(await engine.heardSource());
  await sent(engine, 2);
});

test('a delivery that is sent again goes out', TIMEOUT, async () => {
  const recorded = Promise.withResolvers<void>();
  await using engine = await open({ onRecorded: recorded.resolve });
  await engine.emitOf(await engine.heardSource());
  await recorded.promise;
  const [first] = engine.posted as [ClaimedDelivery];
  await createResends({ shown: engine.store, wake: engine.wake }).resendDelivery(engine.stage.owner.id, first.delivery);
  await sent(engine, 2);
});

const TICK = `export default { props: { timer: { type: '$.interface.timer' } }, run(event) { this.$emit(event); } };`;

test('the changed timer of a source ticks in time', TIMEOUT, async () => {
  await using errand = await startErrand({}, { isPolling: false });
  const slow = { configured_props: { timer: { intervalSeconds: 86_400 } } };
  const { id } = await createSource(errand, TICK, slow);
  const fast = { configured_props: { timer: { intervalSeconds: 1 } } };
  const other = await createSource(errand, TICK, fast);
  const emitted = (sourceId: string) =>
    until('a tick', async () => {
      const { data } = await errand.client.get(`/v1/sources/${sourceId}/event_summaries`);
      return data.length > 0;
    });
  await emitted(other.id);
  await errand.client.put(`/v1/sources/${other.id}`, { active: false });
  await errand.client.put(`/v1/sources/${id}`, fast);
  await emitted(id);
});
