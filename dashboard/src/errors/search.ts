// What the address of the inbox holds.

import type { GroupFilter } from '../api/errors.ts';
import { everyOf } from '../api/states.ts';
import type { GroupState } from '../api/types.ts';
import { PERIODS } from '../parts/period.ts';

export interface ErrorSearch extends Omit<GroupFilter, 'state' | 'code'> {
  /** Open when it is not given. */
  readonly state?: GroupState | 'all';
}

export const ERROR_STATES = everyOf<GroupState | 'all'>()(['open', 'muted', 'resolved', 'all']);

export function errorSearch(search: Record<string, unknown>): ErrorSearch {
  const { state, q, emitter, within, assignee, sort } = search;
  const known = ERROR_STATES.find((one) => one === state);
  const period = PERIODS.find((one) => one === within);
  return {
    ...(known === undefined || known === 'open' ? {} : { state: known }),
    ...(q === undefined || q === '' ? {} : { q: String(q) }),
    ...(typeof emitter === 'string' && emitter !== '' ? { emitter } : {}),
    ...(typeof assignee === 'string' && assignee !== '' ? { assignee } : {}),
    ...(period === undefined ? {} : { within: period }),
    ...(sort === 'count' ? { sort } : {}),
  };
}
