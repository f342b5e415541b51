// What becomes of each error that is to be replayed: the run that it gets, or why it gets none.

import type { Emission } from '../../domain/emission.ts';
import { emissionOfReplay, NO_ERROR, OF_HOOK, whyNeverReplayed } from '../../domain/errors/replay.ts';
import type { ReplayOrder } from '../../domain/errors/replaying.ts';
import { numberedId, PREFIX } from '../../domain/ids.ts';
import type { Deployment } from '../../domain/resource.ts';
import { fromFailedStep } from '../../domain/run/failed-step.ts';
import type { GoingOn, ReplayCandidate, ReplayChoice } from '../../store/contract/operations.ts';
import type { Store } from '../../store/contract/store.ts';
import { hooksOf } from '../sources/hooks.ts';

export type ChoiceStore = Pick<Store, 'getRun' | 'getWorkflow' | 'getDeployment'>;

/** For one owner and one order. Remembers the deployments that it has read: for a step of an operation, not for longer. */
export class ReplayChoices {
  readonly #store: ChoiceStore;
  readonly #ownerId: string;
  readonly #order: Pick<ReplayOrder, 'deploymentId' | 'isFromFailedStep'>;
  readonly #deployments = new Map<string, Promise<Deployment | undefined>>();

  constructor(store: ChoiceStore, ownerId: string, order: Pick<ReplayOrder, 'deploymentId' | 'isFromFailedStep'>) {
    this.#store = store;
    this.#ownerId = ownerId;
    this.#order = order;
  }

  /**
   * Returns what a replay of an error runs with. Which deployments a workflow has is not judged here: a run with one of another
   * workflow could not begin.
   */
  async of({ entry, error }: ReplayCandidate): Promise<ReplayChoice> {
    const emitterId = error?.emitterId ?? null;
    const left = (reason: string): ReplayChoice => ({ entry, emitterId, reason });
    if (error === null) return left(NO_ERROR);
    const why = whyNeverReplayed(error) ?? (await this.#whyHook(error));
    if (why !== null) return left(why);
    const goesOn = await this.#goingOn(error);
    if (typeof goesOn === 'string') return left(goesOn);
    return {
      entry,
      emitterId: error.emitterId,
      emission: emissionOfReplay(error, null),
      groupId: error.groupId,
      goesOn,
    };
  }

  /** Returns why an error of hooks cannot be replayed. Only a source's runs are of hooks. */
  async #whyHook({ emitterId, causeRun }: Emission): Promise<string | null> {
    if (!emitterId.startsWith(PREFIX.source) || causeRun === null) return null;
    const failed = await this.#store.getRun(this.#ownerId, causeRun);
    if (!failed || hooksOf({ name: failed.eventName, body: failed.event }) === null) return null;
    return OF_HOOK;
  }

  /** Returns with what a replay begins at the step that failed; null: it runs all steps, and so does a source, which has one. */
  async #goingOn({ emitterId, causeRun }: Emission): Promise<GoingOn | string | null> {
    if (!this.#order.isFromFailedStep || causeRun === null || !emitterId.startsWith(PREFIX.workflow)) return null;
    const failed = await this.#store.getRun(this.#ownerId, causeRun);
    const id = numberedId(PREFIX.run, causeRun);
    if (!failed) return `${id} is no longer stored, nor what its steps gave: replay it from the first step`;
    if (failed.state !== 'failed') return `${id} has not failed for good (its state is "${failed.state}")`;
    const deployment = await this.#deploymentOf(emitterId);
    // That the workflow is gone is said where the replay would be made.
    if (!deployment) return null;
    const continuation = fromFailedStep(failed, deployment);
    return typeof continuation === 'string' ? continuation : { ...continuation, deploymentId: deployment.id };
  }

  #deploymentOf(workflowId: string): Promise<Deployment | undefined> {
    const found = this.#deployments.get(workflowId) ?? this.#readDeployment(workflowId);
    this.#deployments.set(workflowId, found);
    return found;
  }

  async #readDeployment(workflowId: string): Promise<Deployment | undefined> {
    const { deploymentId } = this.#order;
    const id = deploymentId ?? (await this.#store.getWorkflow(this.#ownerId, workflowId))?.deploymentId;
    return id === undefined ? undefined : await this.#store.getDeployment(this.#ownerId, id);
  }
}

/** Returns how much of the memory a choice takes that may be large. */
export function bytesOf(choice: ReplayChoice): number {
  return 'emission' in choice ? (choice.goesOn?.checkpoint.length ?? 0) : 0;
}
