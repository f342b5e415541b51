// What is done to groups: from the inbox, by key or button, and on a group's page.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ErrorGroup } from '../../../src/client/client.ts';
import { changeGroup, type GroupChange, replayError } from '../api/errors.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { toast, toastError } from '../parts/toast.tsx';

const DAY_MS = 86_400_000;
/** Changes that are sent at a time when many groups are changed. */
const AT_ONCE = 6;

export interface GroupActs {
  change(group: ErrorGroup, change: GroupChange, said: string): Promise<void>;
  /** Changes several groups in the same way. */
  changeAll(groups: readonly ErrorGroup[], change: GroupChange, said: string): Promise<void>;
  /** Resolves an open group, and opens another one again. */
  toggle(group: ErrorGroup): Promise<void>;
  /** Does the same to several: if any is open, those that are open are resolved. */
  toggleAll(groups: readonly ErrorGroup[]): Promise<void>;
  mute(group: ErrorGroup, days?: number): Promise<void>;
  /** Returns whether the newest error can be replayed, and says why not. */
  mayReplay(group: Pick<ErrorGroup, 'emitter_id'>): boolean;
  replay(group: Pick<ErrorGroup, 'emitter_id' | 'last_error_id'>): Promise<void>;
}

/** Errors of webhooks and heartbeats have no run that could begin again. */
export function isReplayable({ emitter_id: emitterId }: Pick<ErrorGroup, 'emitter_id'>): boolean {
  return /^(p|dc)_/.test(emitterId);
}

export function mutedFor(days: number): GroupChange {
  return { state: 'muted', muted_until: new Date(Date.now() + days * DAY_MS).toISOString() };
}

/** Returns those that were changed. Why others were not is said once. */
async function eachOf(
  groups: readonly ErrorGroup[],
  change: (group: ErrorGroup) => Promise<unknown>,
): Promise<ErrorGroup[]> {
  const changed: ErrorGroup[] = [];
  let failure: unknown;
  for (let at = 0; at < groups.length; at += AT_ONCE) {
    const some = groups.slice(at, at + AT_ONCE);
    const results = await Promise.allSettled(some.map(change));
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected') failure ??= result.reason;
      else changed.push(...some.slice(index, index + 1));
    }
  }
  if (failure !== undefined) toastError(failure);
  return changed;
}

/** Does nothing but say why when the key of this session may only read: keys are pressed that no button offers. */
export function useGroupActs(): GroupActs {
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  const isRefused = (): boolean => {
    if (!mayWrite) toast(T.errors.mayNot, undefined, true);
    return !mayWrite;
  };
  const refresh = (): void => {
    for (const name of ['groups', 'group', 'assignees']) void client.invalidateQueries({ queryKey: [name] });
  };

  const changeAll: GroupActs['changeAll'] = async (groups, wanted, said) => {
    if (isRefused()) return;
    const changed = await eachOf(groups, ({ id }) => changeGroup(id, wanted));
    const undo = { label: T.errors.undo, run: () => void back(changed, wanted) };
    // A mute has an end, which is not known here any more.
    const hasUndo =
      wanted.note === undefined && (wanted.state === undefined || changed.every(({ state }) => state !== 'muted'));
    const text = groups.length === 1 ? said : `${T.errors.groups(changed.length)}: ${said}`;
    if (changed.length > 0) toast(text, hasUndo ? undo : undefined);
    refresh();
  };

  const back = async (groups: readonly ErrorGroup[], wanted: GroupChange): Promise<void> => {
    await eachOf(groups, ({ id, state, assignee }) =>
      changeGroup(id, {
        ...(wanted.state === undefined ? {} : { state }),
        ...(wanted.assignee === undefined ? {} : { assignee }),
      }),
    );
    refresh();
  };

  const change: GroupActs['change'] = (group, wanted, said) => changeAll([group], wanted, said);
  const toggleAll: GroupActs['toggleAll'] = (groups) => {
    const open = groups.filter(({ state }) => state === 'open');
    return open.length > 0
      ? changeAll(open, { state: 'resolved' }, T.errors.resolved)
      : changeAll(groups, { state: 'open' }, T.errors.reopened);
  };

  const mayReplay: GroupActs['mayReplay'] = (group) => {
    if (isRefused()) return false;
    if (!isReplayable(group)) toast(T.errors.noReplay, undefined, true);
    return isReplayable(group);
  };

  return {
    change,
    changeAll,
    toggle: (group) => toggleAll([group]),
    toggleAll,
    mute: (group, days = 1) => change(group, mutedFor(days), T.errors.muted),
    mayReplay,
    replay: async (group) => {
      if (!mayReplay(group)) return;
      const { emitter_id: emitterId, last_error_id: errorId } = group;
      try {
        const { run_id: runId } = await replayError(emitterId, errorId, null);
        const show = (): void => void navigate({ to: '/runs/$runId', params: { runId } });
        toast(T.error.started, { label: T.error.showRun, run: show });
      } catch (error) {
        toastError(error);
      }
      void client.invalidateQueries({ queryKey: ['error', errorId] });
    },
  };
}
