// What the address of the inbox holds.

import type { GroupFilter } from '../api/errors.ts';
import { everyOf } from '../api/states.ts';
import type { GroupState } from '../api/types.ts';

export interface ErrorSearch extends Omit<GroupFilter, 'state'> {
  /** Open when it is not given. */
  readonly state?: GroupState | 'all';
}

export const ERROR_STATES = everyOf<GroupState | 'all'>()(['open', 'muted', 'resolved', 'all']);

export function errorSearch(search: Record<string, unknown>): ErrorSearch {
  const { state, q, emitter, sort } = search;
  const known = ERROR_STATES.find((one) => one === state);
  return {
    ...(known === undefined || known === 'open' ? {} : { state: known }),
    ...(q === undefined || q === '' ? {} : { q: String(q) }),
    ...(typeof emitter === 'string' && emitter !== '' ? { emitter } : {}),
    ...(sort === 'count' ? { sort } : {}),
  };
}
