// Where a person is in the inbox: what was opened is the chosen row again after the way back, and its neighbours are a key away.

import { useEffect, useState } from 'react';

interface Grouped {
  readonly id: string;
}

/** The row that keys act on. */
interface Chosen {
  readonly id: string;
  /** Where it was last. */
  readonly at: number;
}

let remembered: Chosen | null = null;
/** The groups that the inbox had last, in its order. */
let order: readonly string[] = [];

/** Returns where the chosen row is; of one that has left the list: the place that it had. -1: none is chosen. */
function placeOf(all: readonly Grouped[], chosen: Chosen | null): number {
  if (chosen === null) return -1;
  const at = all.findIndex(({ id }) => id === chosen.id);
  return at < 0 ? Math.min(chosen.at, all.length - 1) : at;
}

interface Place {
  /** The chosen row; -1: none. */
  readonly at: number;
  readonly move: (by: number) => void;
  /** Makes it the row to come back to. */
  readonly open: (id: string, at: number) => void;
}

/** Keeps the chosen row by its id: new errors come before it at any moment, and a key would act on another one. */
export function usePlace(all: readonly Grouped[]): Place {
  const [chosen, choose] = useState(() => (all.some(({ id }) => id === remembered?.id) ? remembered : null));
  const at = placeOf(all, chosen);
  // A row that was acted on may leave the list: the one in its place is chosen.
  const id = all[at]?.id;
  useEffect(() => {
    if (id !== undefined) choose({ id, at });
  }, [id, at]);
  useEffect(() => {
    order = all.map((one) => one.id);
  }, [all]);
  useEffect(() => {
    remembered = chosen;
  }, [chosen]);
  const move = (by: number): void => {
    choose((before) => {
      const to = Math.max(0, Math.min(all.length - 1, placeOf(all, before) + by));
      const group = all[to];
      return group ? { id: group.id, at: to } : null;
    });
  };
  return { at, move, open: (one, place) => choose({ id: one, at: place }) };
}

export interface Neighbours {
  /** From 1; of `of` groups. */
  readonly place: number;
  readonly of: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Returns which groups stood beside one in the inbox, as it was left; null: it did not have it. */
export function neighboursOf(groupId: string): Neighbours | null {
  const at = order.indexOf(groupId);
  return at < 0 ? null : { place: at + 1, of: order.length, before: order[at - 1], after: order[at + 1] };
}

/** Makes a group that was gone to from its neighbour the one to come back to. */
export function rememberOpened(groupId: string): void {
  const at = order.indexOf(groupId);
  if (at >= 0) remembered = { id: groupId, at };
}
