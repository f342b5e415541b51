// A group of errors: its state, and what changes it. An error that comes reopens a group that was resolved, and one that was
// muted as soon as the mute is over. A mute always has an end: a time, a number of errors, or a deployment.

import type { Fingerprint } from './fingerprint.ts';

export const GROUP_STATES = ['open', 'resolved', 'muted'] as const;
export type GroupState = (typeof GROUP_STATES)[number];

export const GROUP_SORTS = ['last_seen', 'count'] as const;

/** What the state of a group depends on. */
export interface GroupStatus {
  readonly state: GroupState;
  /** Of a mute: epoch milliseconds of its end; null: it has another end. */
  readonly untilMs: number | null;
  /** Of a mute: the error with this number reopens the group. */
  readonly untilCount: number | null;
  /**
   * The state holds for errors of this deployment and older ones: one of a later deployment reopens the group. Of a mute: one of
   * its ends. Of a resolved group: null: any error reopens it. Ids of deployments sort by time.
   */
  readonly afterDeployment: string | null;
}

export const OPEN: GroupStatus = { state: 'open', untilMs: null, untilCount: null, afterDeployment: null };

/** One error of a group, as it comes. */
export interface GroupedError {
  readonly entry: number;
  readonly deploymentId: string | null;
}

/** Why a group is open again. */
export interface Reopened {
  readonly from: 'resolved' | 'muted';
  readonly by: 'error' | 'time' | 'count' | 'deployment' | 'person';
  readonly atMs: number;
  /** The error that reopened it; null: the mute's time was over, or a person opened it. */
  readonly entry: number | null;
  readonly deploymentId: string | null;
}

export interface ErrorGroup extends GroupStatus {
  /** `eg_…` */
  readonly id: string;
  readonly ownerId: string;
  /** The workflow, source or webhook whose errors they are. */
  readonly emitterId: string;
  /** Of its first error; of a group that a rule made, an example. */
  readonly fingerprint: Fingerprint;
  /** The name that a rule gave the group; null: the fingerprint makes it. */
  readonly rule: string | null;
  readonly count: number;
  readonly firstEntry: number;
  readonly lastEntry: number;
  readonly firstDeployment: string | null;
  readonly lastDeployment: string | null;
  readonly reopened: Reopened | null;
  readonly note: string | null;
  readonly assignee: string | null;
  readonly updatedAtMs: number;
}

/**
 * Returns what reopens the group among errors that have come, in their order; null: nothing does. `countBefore`: errors before
 * them.
 */
export function reopenedBy(
  status: GroupStatus,
  errors: readonly GroupedError[],
  { countBefore, nowMs }: { readonly countBefore: number; readonly nowMs: number },
): Reopened | null {
  const { state } = status;
  if (state === 'open') return null;
  for (const [i, { entry, deploymentId }] of errors.entries()) {
    const by = reasonOf(status, { count: countBefore + i + 1, deploymentId, nowMs });
    if (by !== null) return { from: state, by, atMs: nowMs, entry, deploymentId };
  }
  return null;
}

function reasonOf(
  { state, untilMs, untilCount, afterDeployment }: GroupStatus,
  error: { readonly count: number; readonly deploymentId: string | null; readonly nowMs: number },
): Reopened['by'] | null {
  if (state === 'resolved' && afterDeployment === null) return 'error';
  if (untilMs !== null && error.nowMs >= untilMs) return 'time';
  if (untilCount !== null && error.count >= untilCount) return 'count';
  if (afterDeployment === null || error.deploymentId === null) return null;
  return error.deploymentId > afterDeployment ? 'deployment' : null;
}

/** Returns the group as it stands now: a mute whose time is over has ended, whether an error has come or not. */
export function groupAt(group: ErrorGroup, nowMs: number): ErrorGroup {
  const { state, untilMs } = group;
  if (state !== 'muted' || untilMs === null || nowMs < untilMs) return group;
  const reopened: Reopened = { from: 'muted', by: 'time', atMs: untilMs, entry: null, deploymentId: null };
  return { ...group, ...OPEN, reopened };
}

/** Returns why a group is open that a person opens: of one that was open already, what opened that. */
export function openedByPerson({ state, reopened }: ErrorGroup, nowMs: number): Reopened | null {
  return state === 'open' ? reopened : { from: state, by: 'person', atMs: nowMs, entry: null, deploymentId: null };
}

/** What stands for no assignee in filters and commands: no mail address, since these have an @. */
export const UNASSIGNED = 'none';

/** Returns a mail address with its letters A to Z in lower case, as both databases write it. */
export function folded(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns whether a group is assigned to this mail address; null: to none. */
export function isAssigned({ assignee }: Pick<ErrorGroup, 'assignee'>, to: string | null): boolean {
  return assignee === null || to === null ? assignee === to : folded(assignee) === folded(to);
}

/** What an owner says about a group. Undefined: stays as it is. */
export interface GroupChange {
  readonly status?: GroupOrder;
  readonly note?: string | null;
  readonly assignee?: string | null;
}

export type GroupOrder =
  | { readonly state: 'open' }
  | { readonly state: 'resolved'; readonly inNextDeployment: boolean }
  | {
      readonly state: 'muted';
      readonly untilMs: number | null;
      /** After so many more errors. */
      readonly afterCount: number | null;
      readonly untilNextDeployment: boolean;
    };

/**
 * Returns the state that an order leads to. `deploymentId`: the active one, or when there is none the last that had the error;
 * null: the errors have none, and an order that waits for the next deployment is refused (undefined).
 */
export function ordered(
  order: GroupOrder,
  { count, deploymentId }: { readonly count: number; readonly deploymentId: string | null },
): GroupStatus | undefined {
  if (order.state === 'open') return OPEN;
  const isForDeployment = order.state === 'resolved' ? order.inNextDeployment : order.untilNextDeployment;
  if (isForDeployment && deploymentId === null) return undefined;
  const afterDeployment = isForDeployment ? deploymentId : null;
  if (order.state === 'resolved') return { ...OPEN, state: 'resolved', afterDeployment };
  const untilCount = order.afterCount === null ? null : count + order.afterCount;
  return { state: 'muted', untilMs: order.untilMs, untilCount, afterDeployment };
}
