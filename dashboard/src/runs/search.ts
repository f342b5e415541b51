// What the address of the list of all runs holds.

import type { AllRunsFilter } from '../api/runs.ts';
import { RUN_STATES } from '../api/states.ts';
import { PERIODS } from '../parts/period.ts';

export function runSearch({ state, q, emitter, code, within }: Record<string, unknown>): AllRunsFilter {
  const known = RUN_STATES.find((one) => one === state);
  const period = PERIODS.find((one) => one === within);
  return {
    ...(known === undefined ? {} : { state: known }),
    ...(q === undefined || q === '' ? {} : { q: String(q) }),
    ...(typeof emitter === 'string' && emitter !== '' ? { emitter } : {}),
    ...(code === undefined || code === '' ? {} : { code: String(code) }),
    ...(period === undefined ? {} : { within: period }),
  };
}
