// What a run's record tells of emissions that dedupe dropped.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withSuppressed } from '../../../src/domain/run/run-end.ts';

const LINE = { ts_ms: 5, level: 'info', namespace: '', text: 'dedupe suppressed 2 duplicates' };
const told = (detail: string | null): unknown => JSON.parse(withSuppressed({ detail, endedAtMs: 5 }, 2));

test('a line is added to those that there are', () => {
  const steps = [{ return_value: '"logs":[ü]', exports: { logs: ['x'] } }];
  const line = { ts_ms: 1, level: 'warn', namespace: 'a', text: 'first ☃' };
  for (const known of [
    { steps },
    { steps, logs: [] },
    { steps, logs: [line] },
    { logs: [line, line], steps, exit_reason: ']}' },
  ]) {
    const { logs = [] } = known as { logs?: object[] };
    assert.deepEqual(told(JSON.stringify(known)), { ...known, logs: [...logs, LINE], suppressed: 2 });
  }
  assert.deepEqual(told(null), { steps: [], logs: [LINE], suppressed: 2 });
});

test('results beside it stay byte for byte', () => {
  const detail = '{"steps":[{"return_value":1.50e1,"exports":{"a":1,"a":2}}]}';
  assert.ok(withSuppressed({ detail, endedAtMs: 5 }, 2).startsWith(detail.slice(0, -1)));
});
