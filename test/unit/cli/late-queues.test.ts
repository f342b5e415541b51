// What errand doctor says of work that waits.

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { lateQueues } from '../../../src/cli/shell/late-queues.ts';

const metrics = (run: string, delivery: string): string =>
  `# TYPE errand_queue_lag_seconds gauge
errand_queue_lag_seconds{kind="run"} ${run}
errand_queue_lag_seconds{kind="delivery"} ${delivery}
`;

test('work that waits for long is told with its reasons', () => {
  deepEqual(lateQueues(metrics('754.4', '61')), [
    'a run has waited for 754 s: its workflow has reached a limit (concurrency, throttle), processes with the role run have too much to do, or none runs',
    'a delivery has been due for 61 s: its receiver is slow, processes with the role deliver have too much to do, or none runs',
  ]);
});

test('short waits and missing metrics are not told', () => {
  for (const text of [metrics('0', '59.9'), metrics('NaN', 'NaN'), '']) deepEqual(lateQueues(text), []);
});
