// Which failures are tried again, and after how long.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS, type RetrySettings } from '../../../src/domain/resource.ts';
import { retryInMs } from '../../../src/domain/run/retry.ts';
import { runnable } from '../engine/parts.ts';

const RETRY: RetrySettings = { attempts: 4, baseMs: 1000, maxMs: 3000, also: [], reportFirst: false };

interface Asked {
  readonly code?: string;
  readonly id?: string;
  readonly retry?: RetrySettings | null;
  readonly retries?: number;
  readonly jitter?: number;
}

function inMs({ code = 'TypeError', id = 'p_1', retry = RETRY, retries = 0, jitter = 0.5 }: Asked): number | null {
  const settings = { ...DEFAULT_SETTINGS, retry };
  return retryInMs({ runnable: { ...runnable, id, settings } }, { code }, { retries, jitter });
}

test('each wait is twice the last, up to the longest', () => {
  const waits = [0, 1, 2, 3].map((retries) => inMs({ retries }));
  assert.deepEqual(waits, [1000, 2000, 3000, null]);
});

test('jitter is a tenth, and never beyond the longest', () => {
  assert.deepEqual([inMs({ jitter: 0 }), inMs({ jitter: 0.999_999 })], [900, 1100]);
  assert.deepEqual([inMs({ retries: 2, jitter: 0 }), inMs({ retries: 2, jitter: 0.999_999 })], [2700, 3000]);
});

test('no wait at all is a wait of nothing', () => {
  assert.equal(inMs({ retry: { ...RETRY, baseMs: 0, maxMs: 0 } }), 0);
});

test('one attempt is the only one', () => {
  assert.equal(inMs({ retry: { ...RETRY, attempts: 1 } }), null);
  assert.equal(inMs({ retry: null }), null);
});

test('what costs much is tried again by name', () => {
  for (const code of ['Timeout', 'OutOfMemory']) {
    assert.equal(inMs({ code }), null);
    assert.equal(inMs({ code, retry: { ...RETRY, also: [code] } }), 1000);
  }
  assert.equal(inMs({ code: 'Timeout', retry: { ...RETRY, also: ['OutOfMemory'] } }), null);
  assert.equal(inMs({ code: 'QueueFull', retry: { ...RETRY, also: ['QueueFull'] } }), null);
  assert.equal(inMs({ code: 'WorkerLost' }), 1000);
});

test('a source is never tried again', () => {
  assert.equal(inMs({ id: 'dc_1' }), null);
});
