// Runs that wait belong to no node: whichever looks first ends a wait, whichever is asked resumes it, and whichever has
// slots free goes on with it.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { ClaimedRun, RunOutcome } from '../../../src/domain/run/run.ts';
import { endOf } from '../../../src/domain/run/run-end.ts';
import type { Finished, FreeSlots, Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import {
  all,
  aStep,
  at,
  defined,
  none,
  only,
  sameMembers,
  succeeded,
  times,
  timesInTurn,
  waits,
} from '../../contract/fixtures.ts';
import { assertLedgerAddsUp } from '../../contract/log/counting.ts';
import { until } from '../../support/wait.ts';
import { type Stores, storesOn } from './stores.ts';

const REQUEST = '{"method":"POST","body":{"approved":true}}';

/** A run of that workflow at that node. */
async function startedAt({ stage }: Stores, node: Store, workflowId: string): Promise<ClaimedRun> {
  const event = stage.make.emission(stage.owner.id, { name: '$run', onlyListenerId: workflowId });
  const appended = await node.append(event, all());
  stage.appended.add(appended.entry);
  return only(appended.claims.runs);
}

function endAt({ clock }: Stores, node: Store, of: { run: ClaimedRun; outcome: RunOutcome; slots?: FreeSlots }) {
  return node.finishRun(endOf(of.run, of.outcome, clock.nowMs()), of.slots ?? none());
}

async function waitingAt(nodes: Stores, node: Store, workflowId: string, kind: 'delay' | 'suspend' = 'delay') {
  const run = await startedAt(nodes, node, workflowId);
  equal((await endAt(nodes, node, { run, outcome: waits({ kind }) })).held, true);
  return run;
}

const resume = (node: Store, { run }: { run: number }, n = 1) => node.resumeRun({ run, waits: n }, 'resume', REQUEST);

const stateOf = async ({ stage }: Stores, node: Store, { run }: { run: number }): Promise<unknown> =>
  (await node.getRun(stage.owner.id, run))?.state;

async function assertSound(nodes: Stores): Promise<void> {
  await assertLedgerAddsUp(nodes.stage);
  deepEqual((await checkPostgres(nodes.url)).findings, []);
}

/** How often that node was told of each by the others, from now on. */
async function heardBy(node: Store): Promise<{ runs: number; answers: number }> {
  const heard = { runs: 0, answers: 0 };
  node.listen({
    notify: (topic) => {
      if (topic === 'runs' || topic === 'answers') heard[topic]++;
    },
  });
  // With the beginning it is told of everything, of answers last.
  await until('it listens', () => heard.answers > 0);
  Object.assign(heard, { runs: 0, answers: 0 });
  return heard;
}

test('each wait ends once at many nodes', async () => {
  await using nodes = await storesOn(3);
  const { stage, stores, clock } = nodes;
  const workflows = await timesInTurn(4, () => stage.workflow());
  const runs = await timesInTurn(24, (i) =>
    waitingAt(nodes, at(stores, i % 3), at(workflows, i % 4).id, i % 6 === 5 ? 'suspend' : 'delay'),
  );
  clock.advance(MINUTE_MS);
  const ended: Awaited<ReturnType<Store['endWaits']>>[] = [];
  const work = async (node: Store): Promise<void> => {
    for (let isMore = true; isMore; ) {
      const step = await node.endWaits(5);
      ended.push(step);
      isMore = step.isMore;
    }
  };
  await Promise.all(stores.map(work));
  equal(
    ended.reduce((sum, { queued }) => sum + queued, 0),
    20,
  );
  sameMembers(
    ended.flatMap(({ cancelled }) => cancelled),
    runs.filter((_, i) => i % 6 === 5).map(({ run }) => run),
  );
  await assertSound(nodes);
  const claimed = await Promise.all(stores.map((node) => node.claimRuns(100, all())));
  const rest = await at(stores, 0).claimRuns(100, all());
  sameMembers(
    [...claimed, rest].flatMap((claims) => claims.runs.map(({ run }) => run)),
    runs.filter((_, i) => i % 6 !== 5).map(({ run }) => run),
  );
  await assertSound(nodes);
});

test('an order given elsewhere holds when the wait begins', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { id } = await stage.workflow();
  const [resumed, cancelled] = [await startedAt(nodes, b, id), await startedAt(nodes, b, id)];
  deepEqual([await resume(a, resumed), await resume(a, resumed)], ['taken', 'over']);
  equal(await a.resumeRun({ run: cancelled.run, waits: 1 }, 'cancel', null), 'taken');
  const { claims } = await endAt(nodes, b, { run: resumed, outcome: waits(), slots: all() });
  const again = only(claims.runs);
  deepEqual([again.run, again.resumed, again.fence], [resumed.run, REQUEST, resumed.fence + 1]);
  equal((await endAt(nodes, b, { run: cancelled, outcome: waits() })).isCancelled, true);
  equal(await stateOf(nodes, a, cancelled), 'cancelled');
  await endAt(nodes, b, { run: again, outcome: succeeded() });
  await assertSound(nodes);
});

test('other nodes hear of runs that go on', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores, clock } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { id } = await stage.workflow();
  const heard = await heardBy(a);
  const claimedAtA = async (): Promise<ClaimedRun> => {
    await until('it is told', () => heard.runs > 0);
    heard.runs = 0;
    return only((await a.claimRuns(9, all())).runs);
  };
  const due = await waitingAt(nodes, b, id);
  clock.advance(MINUTE_MS);
  equal((await b.endWaits(9)).queued, 1);
  equal((await claimedAtA()).run, due.run);
  const resumed = await waitingAt(nodes, b, id);
  equal(await resume(b, resumed), 'taken');
  equal((await claimedAtA()).run, resumed.run);
  const early = await startedAt(nodes, b, id);
  equal(await resume(b, early), 'taken');
  equal((await endAt(nodes, b, { run: early, outcome: waits() })).claims.runsWaiting, true);
  equal((await claimedAtA()).run, early.run);
  await assertSound(nodes);
});

test('a caller elsewhere hears of waits and ends', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores, clock } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { id } = await stage.workflow();
  const heard = await heardBy(a);
  const told = async (run: number) => {
    await until('it is told', () => heard.answers > 0);
    heard.answers = 0;
    const { waiting, ended } = only(await a.awaited([run]));
    return [waiting?.kind ?? null, ended?.state ?? null];
  };
  const asked = async (): Promise<ClaimedRun> => {
    const event = stage.make.emission(stage.owner.id, { name: '$run', onlyListenerId: id });
    await a.append(event, none(), { isAwaited: true });
    const run = only((await b.claimRuns(9, all())).runs);
    equal(run.isAwaitedElsewhere, true);
    return run;
  };
  const first = await asked();
  await endAt(nodes, b, { run: first, outcome: waits() });
  deepEqual(await told(first.run), ['delay', null]);
  clock.advance(MINUTE_MS);
  await b.endWaits(9);
  const again = only((await b.claimRuns(9, all())).runs);
  equal(again.isAwaitedElsewhere, true);
  deepEqual(await a.awaited([first.run]), []);
  await endAt(nodes, b, { run: again, outcome: succeeded() });
  deepEqual(await told(first.run), [null, 'succeeded']);
  const suspended = await asked();
  await endAt(nodes, b, { run: suspended, outcome: waits({ kind: 'suspend' }) });
  deepEqual(await told(suspended.run), ['suspend', null]);
  clock.advance(MINUTE_MS);
  deepEqual((await b.endWaits(9)).cancelled, [suspended.run]);
  deepEqual(await told(suspended.run), [null, 'cancelled']);
  const ordered = await asked();
  await endAt(nodes, b, { run: ordered, outcome: waits() });
  deepEqual(await told(ordered.run), ['delay', null]);
  equal(await b.resumeRun({ run: ordered.run, waits: 1 }, 'cancel', null), 'taken');
  deepEqual(await told(ordered.run), [null, 'cancelled']);
});

test('a cancel elsewhere meets the wait', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { id } = await stage.workflow();
  const run = await startedAt(nodes, b, id);
  equal(await a.cancelRun(stage.owner.id, run.run), 'running');
  equal((await endAt(nodes, b, { run, outcome: waits({}, { steps: [aStep('one')] }) })).isCancelled, true);
  const { state, detail } = defined(await a.getRun(stage.owner.id, run.run));
  deepEqual([state, (JSON.parse(defined(detail)) as { steps: unknown[] }).steps.length], ['cancelled', 1]);
  const waiting = await waitingAt(nodes, b, id);
  equal(await a.cancelRun(stage.owner.id, waiting.run), 'cancelled');
  equal(await resume(b, waiting), 'over');
  await assertSound(nodes);
});

test('a delete elsewhere meets the wait', async () => {
  await using nodes = await storesOn(3);
  const { stage, stores } = nodes;
  const [a, b, c] = [at(stores, 0), at(stores, 1), at(stores, 2)];
  for (let round = 0; round < 6; round++) {
    const { id } = await stage.workflow();
    const runs = await timesInTurn(4, () => startedAt(nodes, b, id));
    const waiting = await waitingAt(nodes, c, id);
    await Promise.all([
      ...runs.map((run) => endAt(nodes, b, { run, outcome: waits() })),
      a.deleteWorkflow(stage.owner.id, id),
      resume(c, waiting),
    ]);
    for (const run of [...runs, waiting]) {
      const state = await stateOf(nodes, c, run);
      ok(state === 'cancelled', `round ${round}: ${state}`);
    }
  }
  const { runs } = await a.ledger(stage.owner.id);
  deepEqual([runs.cancelled, runs.waiting, runs.queued, runs.running], [30, 0, 0, 0]);
  deepEqual((await checkPostgres(nodes.url)).findings, []);
});

test('whoever meets at a wait, one ends it', async () => {
  await using nodes = await storesOn(3);
  const { stage, stores, clock } = nodes;
  const { id } = await stage.workflow();
  const runs = await timesInTurn(30, (i) => waitingAt(nodes, at(stores, i % 3), id, i % 2 ? 'suspend' : 'delay'));
  clock.advance(MINUTE_MS);
  const [answers, ended] = await Promise.all([
    Promise.all(
      runs.map(({ run }, i) =>
        at(stores, i % 3).resumeRun({ run, waits: 1 }, i % 5 === 0 ? 'cancel' : 'resume', REQUEST),
      ),
    ),
    Promise.all(stores.map((node) => node.endWaits(30))),
    Promise.all(runs.slice(20).map(({ run }, i) => at(stores, (i + 1) % 3).cancelRun(stage.owner.id, run))),
  ]);
  await assertSound(nodes);
  const claimed = (await at(stores, 0).claimRuns(100, all())).runs;
  const resumed = runs.filter((_, i) => answers[i] === 'taken' && i % 5 !== 0).map(({ run }) => run);
  const claimedRuns = new Set(claimed.map(({ run }) => run));
  // A run that was resumed may have been cancelled by its owner behind that.
  for (const run of claimed) equal(run.resumed !== null, resumed.includes(run.run));
  const cancelled = ended.flatMap((step) => step.cancelled);
  equal(new Set(cancelled).size, cancelled.length);
  for (const run of cancelled) ok(!claimedRuns.has(run) && !resumed.includes(run));
  const { runs: states } = await at(stores, 1).ledger(stage.owner.id);
  deepEqual([states.waiting, states.queued, states.running + states.cancelled], [0, 0, 30]);
});

test('a lost segment goes on at another node', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores, clock } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { id } = await stage.workflow();
  const { run } = await waitingAt(nodes, b, id);
  equal(await resume(a, { run }), 'taken');
  const segment = only((await b.claimRuns(9, all())).runs);
  // Of the wait that it is about to begin.
  equal(await resume(a, { run }, 2), 'taken');
  clock.advance(LIMITS.nodeLeaseMs + SECOND_MS);
  await a.beat();
  equal((await a.rescue(none())).runs, 1);
  const again = only((await a.claimRuns(9, all())).runs);
  deepEqual(
    [again.run, again.attempt, again.checkpoint, again.resumed],
    [run, segment.attempt + 1, segment.checkpoint, segment.resumed],
  );
  equal((await endAt(nodes, b, { run: segment, outcome: waits() })).held, false);
  const { claims } = await endAt(nodes, a, { run: again, outcome: waits(), slots: all() });
  equal((JSON.parse(defined(only(claims.runs).checkpoint)) as { waits: number }).waits, 2);
  await assertSound(nodes);
});

test('of several ends of a segment one holds', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { id } = await stage.workflow();
  for (let round = 0; round < 8; round++) {
    const run = await startedAt(nodes, b, id);
    const outcomes = [waits(), succeeded(), waits({ kind: 'suspend' })];
    const ends = await Promise.all([
      ...outcomes.map((outcome) => endAt(nodes, b, { run, outcome })),
      ...times(2, () => endAt(nodes, a, { run, outcome: waits() })),
    ]);
    equal(ends.filter(({ held }: Finished) => held).length, 1);
  }
  await assertSound(nodes);
});
