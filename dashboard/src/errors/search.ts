// What the address of the inbox holds.

import type { GroupFilter } from '../api/errors.ts';
import type { GroupState } from '../api/types.ts';

export interface ErrorSearch extends Omit<GroupFilter, 'state'> {
  /** Open when it is not given. */
  readonly state?: GroupState | 'all';
}

const STATES: readonly string[] = ['muted', 'resolved', 'all'];

export function errorSearch(search: Record<string, unknown>): ErrorSearch {
  const { state, q, emitter, sort } = search;
  return {
    ...(STATES.includes(String(state)) ? { state: state as ErrorSearch['state'] } : {}),
    ...(q === undefined || q === '' ? {} : { q: String(q) }),
    ...(typeof emitter === 'string' && emitter !== '' ? { emitter } : {}),
    ...(sort === 'count' ? { sort } : {}),
  };
}
