// Replaying many errors: what an owner may ask for, and the steps that replay them. The store knows how far each operation has
// come; here it is decided which errors can be replayed.

import {
  emissionOfReplay,
  NO_ERROR,
  OF_HOOK,
  whyNeverReplayed,
  whyNotAgain,
  whyNothingRuns,
} from '../../domain/errors/replay.ts';
import { dealtWith, type ErrorSelection, type ReplayOrder } from '../../domain/errors/replaying.ts';
import { PREFIX } from '../../domain/ids.ts';
import type { NewReplay, Operation } from '../../domain/operation.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Clock, Ids, Wake } from '../../ports.ts';
import type {
  DryRun,
  PassedOver,
  ReplayCandidate,
  ReplayChoice,
  ReplayPreview,
} from '../../store/contract/operations.ts';
import type { Claims, Store } from '../../store/contract/store.ts';
import { hooksOf } from '../sources/hooks.ts';

export interface ReplayStepDeps {
  readonly store: Pick<Store, 'nextReplays' | 'replayErrors' | 'getRun'>;
}

/** Makes the next replays of one operation. `claims` null: there were none to make; `dueAtMs`: when there may be, if that is known. */
export async function stepReplays({
  store,
}: ReplayStepDeps): Promise<{ readonly claims: Claims | null; readonly dueAtMs: number | null }> {
  const work = await store.nextReplays();
  if (!('operation' in work)) return { claims: null, dueAtMs: work.dueAtMs };
  const { operation, after, through, candidates, isLast } = work;
  const { id: operationId, ownerId } = operation;
  const choices: ReplayChoice[] = [];
  for (const candidate of candidates) {
    choices.push('causeRun' in candidate ? candidate : await choiceOf(store, candidate, ownerId));
  }
  const step = { operationId, ownerId, after, through, choices, isLast };
  const { claims } = await store.replayErrors(step);
  return { claims, dueAtMs: null };
}

/**
 * Returns what a replay of an error runs with. Which deployments a workflow has is not judged here: a run with one of another
 * workflow could not begin.
 */
async function choiceOf(
  store: Pick<Store, 'getRun'>,
  { entry, error }: ReplayCandidate,
  ownerId: string,
): Promise<ReplayChoice> {
  const emitterId = error?.emitterId ?? null;
  const left = (reason: string): ReplayChoice => ({ entry, emitterId, reason });
  if (error === null) return left(NO_ERROR);
  const why = whyNeverReplayed(error) ?? (await whyHook(store, ownerId, error));
  if (why !== null) return left(why);
  return { entry, emitterId: error.emitterId, emission: emissionOfReplay(error, null), groupId: error.groupId };
}

/** Returns why an error of hooks cannot be replayed. Only a source's runs are of hooks. */
async function whyHook(
  store: Pick<Store, 'getRun'>,
  ownerId: string,
  { emitterId, causeRun }: { readonly emitterId: string; readonly causeRun: number | null },
): Promise<string | null> {
  if (!emitterId.startsWith(PREFIX.source) || causeRun === null) return null;
  const failed = await store.getRun(ownerId, causeRun);
  if (!failed || hooksOf({ name: failed.eventName, body: failed.event }) === null) return null;
  return OF_HOOK;
}

export interface ReplayActionDeps {
  readonly store: Pick<
    Store,
    'createReplay' | 'previewReplay' | 'getErrorGroup' | 'exists' | 'getDeployment' | 'getRun' | 'logEnd'
  >;
  /** What the sample of a dry run shows. */
  readonly shown: Pick<Store, 'previewReplay'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly wake: Wake;
}

export function createReplays({ store, shown, clock, ids, wake }: ReplayActionDeps) {
  async function replayMany(ownerId: string, order: ReplayOrder): Promise<Operation> {
    await check(ownerId, order);
    const replay: NewReplay = {
      id: ids.next(PREFIX.operation),
      ownerId,
      kind: 'replay',
      order,
      logEnd: await store.logEnd(),
      createdAtMs: clock.nowMs(),
    };
    const operation = await store.createReplay(replay);
    wake.notify('operations');
    return operation;
  }

  async function previewReplays(ownerId: string, order: ReplayOrder): Promise<DryRun> {
    await check(ownerId, order);
    const preview = await shown.previewReplay(ownerId, order);
    const sample = [];
    for (const candidate of preview.sample) {
      const choice = await choiceOf(store, candidate, ownerId);
      const { before } = candidate;
      const whyLeft = before && dealtWith(before, order) !== 'replay' ? whyNotAgain(before) : null;
      const why = 'reason' in choice ? choice.reason : whyLeft;
      sample.push({ ...candidate, reason: why ?? (await whyGone(ownerId, choice.emitterId)) });
    }
    const { toReplay, passedOver } = await alsoGone(ownerId, preview);
    return { ...preview, sample, toReplay, passedOver };
  }

  /** Passes over also what has nothing left that could run it. */
  async function alsoGone(
    ownerId: string,
    { toReplay, passedOver }: ReplayPreview,
  ): Promise<Pick<DryRun, 'toReplay' | 'passedOver'>> {
    const gone: PassedOver[] = [];
    let count = 0;
    for (const [emitterId, of] of toReplay) {
      const reason = await whyGone(ownerId, emitterId);
      if (reason === null) count += of;
      else gone.push({ outcome: 'not_replayed', reason, count: of });
    }
    const most = [...passedOver, ...gone].sort((one, other) => other.count - one.count);
    return { toReplay: count, passedOver: most };
  }

  async function whyGone(ownerId: string, emitterId: string | null): Promise<string | null> {
    return (await store.exists(ownerId, emitterId ?? '')) ? null : whyNothingRuns(emitterId);
  }

  async function check(ownerId: string, { selection, deploymentId }: ReplayOrder): Promise<void> {
    const emitterId = await emitterOf(ownerId, selection);
    if (deploymentId === null) return;
    const deployment = await store.getDeployment(ownerId, deploymentId);
    if (!deployment) throw new Refusal('not_found', `there is no deployment ${deploymentId}`);
    const { runnableId } = deployment;
    const others = emitterId === null ? await othersThan(ownerId, selection, runnableId) : [emitterId];
    const other = others.find((one) => one !== runnableId);
    if (other === undefined) return;
    throw new Refusal(
      'impossible',
      `${deploymentId} is a deployment of ${runnableId}, and errors of ${other} are meant`,
    );
  }

  /** Returns the workflows, other than `id`, that the selected errors are of. Named errors may be of several workflows. */
  async function othersThan(ownerId: string, selection: ErrorSelection, id: string): Promise<readonly string[]> {
    const { byEmitter } = await store.previewReplay(ownerId, { selection, isAgain: false });
    return [...byEmitter.keys()].filter((emitterId) => emitterId !== id);
  }

  /** Returns what all errors are of; null: that is not known yet. */
  async function emitterOf(ownerId: string, selection: ErrorSelection): Promise<string | null> {
    const { groupId, workflowId } = selection;
    if (groupId !== null) {
      const found = await store.getErrorGroup(ownerId, groupId);
      if (!found) throw new Refusal('not_found', `there is no error group ${groupId}`);
      return found.group.emitterId;
    }
    if (workflowId === null) return null;
    if (workflowId.startsWith(PREFIX.workflow)) {
      if (await store.exists(ownerId, workflowId)) return workflowId;
      // Of a deleted one, errors are left: they are listed with the reason why they are not replayed.
      const every = { ...selection, code: null, sinceMs: null, untilMs: null };
      if ((await store.previewReplay(ownerId, { selection: every, isAgain: false })).count > 0) return workflowId;
    }
    throw new Refusal('not_found', `there is no workflow ${workflowId}`);
  }

  return { replayMany, previewReplays };
}
