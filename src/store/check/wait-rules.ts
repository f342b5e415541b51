// The checks of runs that wait, for both databases.

import { type Rule, showRun } from './checks.ts';

/** `openRuns`: the table that has them. */
export function waitRules(openRuns: string): readonly Rule[] {
  const of = { example: 'r.run', show: showRun };
  return [
    {
      check: 'run_waits_for_nothing',
      detail: 'runs that wait, with nothing to wait for or to go on with',
      broken: `${openRuns} AS r WHERE r.state = 'waiting'
        AND (r.wait_kind IS NULL OR r.due_at_ms IS NULL OR r.carried IS NULL OR r.waits = 0)`,
      ...of,
    },
    {
      check: 'run_waits_no_longer',
      detail: 'runs with an end of their wait that do not wait',
      broken: `${openRuns} AS r WHERE r.state <> 'waiting' AND (r.wait_kind IS NOT NULL OR r.due_at_ms IS NOT NULL)`,
      ...of,
    },
  ];
}
