import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isResourceId, PREFIX } from '../../../src/domain/ids.ts';
import { createIds, random } from '../../../src/server/real-ports.ts';

test('ids made within a millisecond sort as made', () => {
  const ids = createIds({ nowMs: () => 1_790_000_000_000 }, random);
  const made = Array.from({ length: 200 }, () => ids.next(PREFIX.timerTrigger));
  assert.ok(made.every((id) => isResourceId(id, PREFIX.timerTrigger)));
  assert.deepEqual(made.toSorted(), made);
});

test('ids go on when the clock goes back', () => {
  let nowMs = 1_790_000_000_000;
  const ids = createIds({ nowMs: () => nowMs }, random);
  const before = ids.next(PREFIX.webhook);
  nowMs -= 60_000;
  assert.ok(ids.next(PREFIX.webhook) > before);
});
