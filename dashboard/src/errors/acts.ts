// What is done to groups: from the inbox, by key or button, and on a group's page.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ErrorGroup } from '../../../src/client/client.ts';
import { changeGroup, type GroupChange, replayError } from '../api/errors.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { toast, toastError } from '../parts/toast.tsx';

const DAY_MS = 86_400_000;

export interface GroupActs {
  change(group: ErrorGroup, change: GroupChange, said: string): Promise<void>;
  /** Resolves an open group, and opens another one again. */
  toggle(group: ErrorGroup): Promise<void>;
  mute(group: ErrorGroup, days?: number): Promise<void>;
  replay(group: Pick<ErrorGroup, 'emitter_id' | 'last_error_id'>): Promise<void>;
}

/** Errors of webhooks and heartbeats have no run that could begin again. */
export function isReplayable({ emitter_id: emitterId }: Pick<ErrorGroup, 'emitter_id'>): boolean {
  return /^(p|dc)_/.test(emitterId);
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
    for (const name of ['groups', 'group']) void client.invalidateQueries({ queryKey: [name] });
  };

  const change: GroupActs['change'] = async (group, wanted, said) => {
    if (isRefused()) return;
    try {
      await changeGroup(group.id, wanted);
      const undo = { label: T.errors.undo, run: () => void back(group) };
      // A mute has an end, which is not known here any more.
      toast(said, wanted.state === undefined || group.state === 'muted' ? undefined : undo);
    } catch (error) {
      toastError(error);
    }
    refresh();
  };

  const back = async ({ id, state }: ErrorGroup): Promise<void> => {
    try {
      await changeGroup(id, { state });
    } catch (error) {
      toastError(error);
    }
    refresh();
  };

  return {
    change,
    toggle: (group) =>
      group.state === 'open'
        ? change(group, { state: 'resolved' }, T.errors.resolved)
        : change(group, { state: 'open' }, T.errors.reopened),
    mute: (group, days = 1) => {
      const until = new Date(Date.now() + days * DAY_MS).toISOString();
      return change(group, { state: 'muted', muted_until: until }, T.errors.muted);
    },
    replay: async (group) => {
      if (isRefused()) return;
      if (!isReplayable(group)) return toast(T.errors.noReplay, undefined, true);
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
