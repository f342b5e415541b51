// Versions of the code of workflows and sources. Same promises as store.ts.
//
// Code is stored once for each owner; deployments name it by its SHA-256 (deployment-rows.ts). Owners never share a row, so no
// owner can find out what another one has deployed. A deployment is written together with the code that it names, and deleted
// together with code that no other deployment names. A source's code is that of its active deployment.

import type { Deployment } from '../../domain/resource.ts';
import type { Page, PageQuery } from './records.ts';

/** The last deployment that a step of pruning looked at, in their order. */
export interface DeploymentPlace {
  readonly runnableId: string;
  readonly id: string;
}

export interface DeploymentStore {
  /** Lists the deployments of a workflow or source, newest first. */
  listDeployments(ownerId: string, runnableId: string, page: PageQuery): Promise<Page<Deployment>>;
  getDeployment(ownerId: string, id: string): Promise<Deployment | undefined>;
  /**
   * Deletes deployments that are not needed, with the code that only they have. Of each workflow and source it keeps the newest
   * LIMITS.deploymentsKept, the active one, and those with which an open run goes on. It skips workflows and sources that were
   * changed since `settledMs`, longer ago than a run may take: a run may have begun with any deployment, and a request may
   * just have read which one is active. Deployments of deleted workflows and sources go once they have no open run.
   *
   * Works in bounded steps: call again with `next` until it is null.
   */
  pruneDeployments(
    settledMs: number,
    after: DeploymentPlace | null,
  ): Promise<{ readonly deleted: number; readonly next: DeploymentPlace | null }>;
}
