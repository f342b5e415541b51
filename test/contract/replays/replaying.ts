// The moves of the tests about replays of many errors: a workflow with errors, an operation, and steps until nothing is left.

import { equal } from 'node:assert/strict';
import { emissionOfReplay } from '../../../src/domain/errors/replay.ts';
import type { ErrorSelection, ReplayOrder } from '../../../src/domain/errors/replaying.ts';
import { PREFIX } from '../../../src/domain/ids.ts';
import type { Operation } from '../../../src/domain/operation.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import type { ReplayChoice, ReplayResult, ReplayStep, ReplayWork } from '../../../src/store/contract/operations.ts';
import { defined, type Harness, json, timesInTurn } from '../fixtures.ts';
import { failing, whole } from '../log/grouping.ts';
import { Stage } from '../stage.ts';

export interface Failed extends Stage {
  readonly flow: Workflow;
  /** Of its errors, oldest first. */
  readonly entries: number[];
  readonly groupId: string;
}

export const event = (n: number): Uint8Array => json({ n });

/** A workflow with so many errors of one group, each of an event of its own. */
export async function failedOnes(harness: Harness, count: number): Promise<Failed> {
  const stage = await Stage.open(harness);
  const flow = await stage.workflow({ settings: { notify: false } });
  const entries = await fail(stage, flow, count);
  const error = defined(await stage.store.getEmission(stage.owner.id, defined(entries[0])));
  return Object.assign(stage, { flow, entries, groupId: defined(error.groupId) });
}

export async function fail(stage: Stage, workflow: Workflow, count: number, code = 'Lost'): Promise<number[]> {
  let n = 0;
  return timesInTurn(count, async () => {
    const run = await stage.started(workflow, { body: event(n++) });
    return defined((await stage.end(run, failing({ code }))).errorEntry);
  });
}

export const NONE: ErrorSelection = {
  groupId: null,
  emitterId: null,
  step: null,
  deploymentId: null,
  code: null,
  sinceMs: null,
  untilMs: null,
  entries: null,
};

export const selection = (of: Partial<ErrorSelection>): ErrorSelection => ({ ...NONE, ...of });

/** Returns what a dry run is asked for. */
export const asked = (of: Partial<ErrorSelection>, isAgain = false) => ({ selection: selection(of), isAgain });

export const PLAIN_ORDER: Omit<ReplayOrder, 'selection'> = {
  deploymentId: null,
  rate: null,
  canary: 0,
  stopOnFailures: null,
  isFromFailedStep: false,
  isOrdered: false,
  isAgain: false,
};

export function start(
  stage: Stage,
  of: Partial<ErrorSelection>,
  changes: Partial<ReplayOrder> = {},
): Promise<Operation> {
  const order = { ...PLAIN_ORDER, ...changes, selection: selection(of) };
  const { ids, clock, owner, store } = stage;
  const id = ids.next(PREFIX.operation);
  // With a clock that stands, errors of this millisecond are behind the end of the log.
  const logEnd = Number.MAX_SAFE_INTEGER;
  return store.createReplay({ id, ownerId: owner.id, kind: 'replay', order, logEnd, createdAtMs: clock.nowMs() });
}

/** The errors that come next, as they would be replayed. */
export async function next(stage: Pick<Stage, 'store'>): Promise<ReplayStep | null> {
  const work = await stage.store.nextReplays();
  return 'operation' in work ? stepOf(work) : null;
}

function stepOf({ operation, after, through, candidates, isLast }: ReplayWork): ReplayStep {
  const choices = candidates.map((candidate): ReplayChoice => {
    if ('causeRun' in candidate) return candidate;
    const { entry, error } = candidate;
    if (!error) return { entry, emitterId: null, reason: 'it is gone' };
    const { emitterId, groupId } = error;
    return { entry, emitterId, emission: emissionOfReplay(error, null), groupId, goesOn: null };
  });
  return { operationId: operation.id, ownerId: operation.ownerId, after, through, choices, isLast };
}

/** Steps until there is nothing to do at once. Returns how many replays were made. */
export async function stepOn(stage: Stage): Promise<number> {
  let made = 0;
  for (let steps = 0; steps < 500; steps++) {
    const { isMore } = await stage.store.stepOperation();
    const step = await next(stage);
    if (step) made += (await stage.store.replayErrors(step)).made;
    if (!isMore && !step) return made;
  }
  throw new Error('it steps for ever');
}

/** Ends all replays that are queued. Returns their events' numbers, in the order of their claims. */
export async function endAll(stage: Stage, outcome?: Parameters<Stage['end']>[1]): Promise<number[]> {
  const ended: number[] = [];
  for (;;) {
    const runs = await stage.claim(100);
    if (runs.length === 0) return ended;
    for (const run of runs) {
      ended.push((JSON.parse(Buffer.from(run.emission.body).toString()) as { n: number }).n);
      await stage.end(run, outcome);
    }
  }
}

/** Steps and ends in turn until nothing is left. Returns how many were under way each time. */
export async function carryOut(stage: Stage, outcome?: Parameters<Stage['end']>[1]): Promise<number[]> {
  const rounds: number[] = [];
  for (;;) {
    await stepOn(stage);
    const ended = await endAll(stage, outcome);
    if (ended.length === 0) return rounds;
    rounds.push(ended.length);
  }
}

export const shown = async (stage: Stage, { id }: { id: string }): Promise<Operation> =>
  defined(await stage.store.getOperation(stage.owner.id, id));

export const order = async (stage: Stage, { id }: { id: string }, word: 'pause' | 'resume' | 'cancel') => {
  const ordered = defined(await stage.store.orderOperation(stage.owner.id, id, word));
  equal(ordered.refused, false);
  return ordered.operation;
};

/** Oldest error first. */
export async function results(stage: Stage, { id }: { id: string }): Promise<readonly ReplayResult[]> {
  const all: ReplayResult[] = [];
  for (;;) {
    const after = all.at(-1)?.entry;
    const of = { ownerId: stage.owner.id, operationId: id };
    const { items } = await stage.store.listReplayResults(of, {
      limit: 100,
      ...(after === undefined ? {} : { after }),
    });
    if (items.length === 0) return all.reverse();
    all.push(...items);
  }
}

/** What an operation counts that is not zero. */
export async function counts(stage: Stage, of: { id: string }): Promise<Record<string, number>> {
  const all = Object.entries(defined((await shown(stage, of)).replaying).counts);
  return Object.fromEntries(all.filter(([, count]) => count > 0));
}

/** The same error as that of `failedOnes`. */
export const LOST = failing({ code: 'Lost' });

export async function groupState(stage: Failed): Promise<string> {
  return (await whole(stage, { id: stage.groupId })).group.state;
}
