// Versions of the code of workflows and sources. Same promises as store.ts.
//
// Code is stored once for each owner, however many deployments have it: they name it by its SHA-256 (deployment-rows.ts).
// Owners never share a row, so that no owner can find out what another one has deployed. A deployment is written together
// with the code that it names, and deleted together with the code that no deployment names any more.

import type { Deployment } from '../../domain/resource.ts';
import type { Page, PageQuery } from './records.ts';

/** In the order in which deployments are walked over. */
export interface DeploymentPlace {
  readonly runnableId: string;
  readonly id: string;
}

export interface DeploymentStore {
  /** Of a workflow or source, newest first. */
  listDeployments(ownerId: string, runnableId: string, page: PageQuery): Promise<Page<Deployment>>;
  getDeployment(ownerId: string, id: string): Promise<Deployment | undefined>;
  /**
   * Deletes deployments that are not needed, with the code that only they have: all but the newest LIMITS.deploymentsKept of
   * each workflow and source, the active one, and those with which a run goes on that is open. Spares those that were changed
   * since `settledMs`, a time longer ago than a run may take: before that, a run may have begun with any of its
   * deployments, and a request may be under way that has just read which is the active one. Of workflows and sources that
   * are gone, all go when no run of theirs is open any more.
   *
   * Works in bounded steps: call again with `next` until it is null.
   */
  pruneDeployments(
    settledMs: number,
    after: DeploymentPlace | null,
  ): Promise<{ readonly deleted: number; readonly next: DeploymentPlace | null }>;
}
