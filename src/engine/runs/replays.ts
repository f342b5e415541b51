// Replaying many errors: what an owner may ask for, and the steps that replay them. The store knows how far each operation has
// come; here it is decided which errors can be replayed.

import { whyNotAgain, whyNothingRuns } from '../../domain/errors/replay.ts';
import { dealtWith, type ErrorSelection, EVERY, type ReplayOrder } from '../../domain/errors/replaying.ts';
import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { NewReplay, Operation } from '../../domain/operation.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Clock, Ids, Wake } from '../../ports.ts';
import type { DryRun, PassedOver, ReplayChoice, ReplayPreview } from '../../store/contract/operations.ts';
import type { Claims, Store } from '../../store/contract/store.ts';
import { bytesOf, type ChoiceStore, ReplayChoices } from './replay-choices.ts';

export interface ReplayStepDeps {
  readonly store: Pick<Store, 'nextReplays' | 'replayErrors'> & ChoiceStore;
}

/** Makes the next replays of one operation. `claims` null: there were none to make; `dueAtMs`: when there may be, if that is known. */
export async function stepReplays({
  store,
}: ReplayStepDeps): Promise<{ readonly claims: Claims | null; readonly dueAtMs: number | null }> {
  const work = await store.nextReplays();
  if (!('operation' in work)) return { claims: null, dueAtMs: work.dueAtMs };
  const { operation, after, through, candidates, isLast } = work;
  const { id: operationId, ownerId } = operation;
  const { replaying } = operation;
  if (!replaying) throw new Error(`operation ${operationId} replays nothing`);
  const choices: ReplayChoice[] = [];
  const replays = new ReplayChoices(store, ownerId, replaying.order);
  let bytes = 0;
  for (const candidate of candidates) {
    const choice = 'causeRun' in candidate ? candidate : await replays.of(candidate);
    choices.push(choice);
    bytes += bytesOf(choice);
    if (bytes > LIMITS.replayStepBytes) break;
  }
  const isAll = choices.length === candidates.length;
  const reached = isAll ? through : (choices.at(-1)?.entry ?? after);
  const step = { operationId, ownerId, after, through: reached, choices, isLast: isLast && isAll };
  const { claims } = await store.replayErrors(step);
  return { claims, dueAtMs: null };
}

export interface ReplayActionDeps {
  readonly store: Pick<Store, 'createReplay' | 'previewReplay' | 'getErrorGroup' | 'exists' | 'logEnd'> & ChoiceStore;
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
    const replays = new ReplayChoices(store, ownerId, order);
    const sample = [];
    for (const candidate of preview.sample) {
      const choice = await replays.of(candidate);
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
    const { groupId, emitterId } = selection;
    if (groupId !== null) {
      const found = await store.getErrorGroup(ownerId, groupId);
      if (!found) throw new Refusal('not_found', `there is no error group ${groupId}`);
      return found.group.emitterId;
    }
    if (emitterId === null) return null;
    if (await store.exists(ownerId, emitterId)) return emitterId;
    // Of a deleted one, errors are left: they are listed with the reason why they are not replayed.
    const every = { ...selection, ...EVERY };
    if ((await store.previewReplay(ownerId, { selection: every, isAgain: false })).count > 0) return emitterId;
    throw new Refusal(
      'not_found',
      `there is no ${emitterId.startsWith(PREFIX.source) ? 'source' : 'workflow'} ${emitterId}`,
    );
  }

  return { replayMany, previewReplays };
}
