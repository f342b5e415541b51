// Whether the next delivery of a listener may be sent: every state of its queue, for both kinds of webhooks.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { maySend, maySendAtOnce, type QueueState } from '../../../src/domain/delivery/queue-state.ts';

const IDLE: QueueState = { waiting: 0, sending: 0, isSomeDue: false, isPaused: false };

/** Whether a new delivery goes at once: to an ordered webhook, and to another one. */
function atOnce(changes: Partial<QueueState>): [ordered: boolean, other: boolean] {
  const queue = { ...IDLE, ...changes };
  return [maySendAtOnce(queue, true), maySendAtOnce(queue, false)];
}

test('an idle listener gets a new delivery at once', () => {
  deepEqual(atOnce({}), [true, true]);
});

test('a new delivery overtakes none that is due', () => {
  deepEqual(atOnce({ waiting: 1, isSomeDue: true }), [false, false]);
});

test('only an ordered webhook waits for later retries', () => {
  deepEqual(atOnce({ waiting: 1 }), [false, true]);
});

test('only an ordered webhook waits for what is under way', () => {
  deepEqual(atOnce({ sending: 1 }), [false, true]);
  deepEqual(
    [maySend({ sending: 1, isPaused: false }, true), maySend({ sending: 1, isPaused: false }, false)],
    [false, true],
  );
});

test('a paused listener gets nothing', () => {
  deepEqual(atOnce({ isPaused: true }), [false, false]);
  equal(maySend({ sending: 0, isPaused: true }, false), false);
});
