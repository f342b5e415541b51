// Groups of errors. Same promises as store.ts. Groups are made and counted by the verbs that capture errors, in the same
// transaction: a group's count is the number of its errors in the log since it began, also those that retention has deleted.

import type { ErrorGroup, GroupChange, GroupState } from '../../domain/errors/group.ts';
import type { Page } from './records.ts';

export interface GroupQuery {
  readonly ownerId: string;
  readonly emitterId?: string;
  readonly state?: GroupState;
  readonly code?: string;
  /** Last seen then or later. */
  readonly sinceMs?: number;
  /** The mail address of its assignee, its letters A to Z in upper or lower case; null: it has none. */
  readonly assignee?: string | null;
  readonly sort: 'last_seen' | 'count';
}

export interface GroupSearch extends GroupQuery {
  /** A part of the code, the template, the frame, the step or the rule's name, in upper or lower case. */
  readonly text: string;
  /** What is shown of a group: the text is looked for in that. */
  readonly shown?: (group: ErrorGroup) => ErrorGroup;
}

export interface GroupSearchPage {
  readonly items: readonly ErrorGroup[];
  /** Where the search goes on, in the direction of this page; null: it has come to the end. */
  readonly next: GroupPlace | null;
  /** Groups that this page looked at: LIMITS.searchedRecords at most. */
  readonly lookedAt: number;
}

/** Groups seen last, or with most errors, come first. Cursors are exclusive places in that order, not records: a group moves. */
export interface GroupPageQuery {
  readonly limit: number;
  readonly after?: GroupPlace;
  readonly before?: GroupPlace;
}

export interface GroupPlace {
  /** The last entry, or the count. */
  readonly value: number;
  readonly id: string;
}

export interface GroupWhole {
  readonly group: ErrorGroup;
  /** Of the last LIMITS.groupHours hours those that had errors, newest first. `hour`: since 1970. */
  readonly hours: readonly { readonly hour: number; readonly count: number }[];
  /** The newest LIMITS.groupDeployments that had errors, newest first. */
  readonly deployments: readonly GroupDeployment[];
  /** The newest LIMITS.groupSamples errors that are still in the log. */
  readonly entries: readonly number[];
}

export interface GroupDeployment {
  readonly deploymentId: string;
  readonly count: number;
  readonly firstEntry: number;
  readonly lastEntry: number;
}

/** A person whom groups are assigned to. */
export interface GroupAssignee {
  /** As it is written in one of the groups. */
  readonly assignee: string;
  /** Groups of theirs, of these the open ones. */
  readonly groups: number;
  readonly open: number;
}

export interface ErrorGroupStore {
  /** Returns groups as they stand now: a mute whose time is over has ended. */
  listErrorGroups(of: GroupQuery, page: GroupPageQuery): Promise<Page<ErrorGroup>>;
  getErrorGroup(ownerId: string, id: string): Promise<GroupWhole | undefined>;
  /** Returns the hours of those of the groups that the owner has, as `GroupWhole` has them. At most one page of groups. */
  groupHours(ownerId: string, ids: readonly string[]): Promise<ReadonlyMap<string, GroupWhole['hours']>>;
  /** Returns the assignees of the groups that were last seen, LIMITS.searchedRecords at most: those with most open groups first. */
  groupAssignees(ownerId: string): Promise<readonly GroupAssignee[]>;
  /**
   * Changes state, note or assignee. An error that is captured later is judged by the new state. `refused`: the group is to
   * wait for the next deployment, and its errors have none. Undefined: no such group. `check` is given the group before the
   * change, and throws to refuse it.
   */
  updateErrorGroup(
    ownerId: string,
    id: string,
    change: GroupChange,
    check?: (before: ErrorGroup) => void,
  ): Promise<{ readonly group: ErrorGroup; readonly refused: boolean } | undefined>;
}

export interface GroupSearchStore {
  /** Returns groups that have the text, in the order and as they stand in lists. */
  searchErrorGroups(search: GroupSearch, page: GroupPageQuery): Promise<GroupSearchPage>;
}
