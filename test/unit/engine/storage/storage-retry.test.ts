// What is tried until storage is back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryStorage } from '../../../../src/engine/storage-retry.ts';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';

const never = new AbortController().signal;

test('storage that is away is asked again', async () => {
  let asked = 0;
  const verb = async (): Promise<number> => {
    if (++asked < 3) throw new StoreUnavailable('away');
    return asked;
  };
  assert.equal(await retryStorage(verb, never), 3);
});

test('each failure of storage is told', async () => {
  const told: string[] = [];
  let asked = 0;
  const verb = async (): Promise<void> => {
    if (++asked < 3) throw new StoreUnavailable('away');
  };
  await retryStorage(verb, never, { failed: (error, part) => void told.push(`${part}: ${(error as Error).message}`) });
  assert.deepEqual(told, ['finishing writes: away', 'finishing writes: away']);
});

test('a bug is not tried again', async () => {
  let asked = 0;
  const ending = new AbortController();
  const verb = async (): Promise<number> => {
    if (++asked > 1) ending.abort();
    throw new TypeError('a bug');
  };
  await assert.rejects(retryStorage(verb, ending.signal), /a bug/);
  assert.equal(asked, 1);
});

test('an abort ends the wait for storage', async () => {
  const ending = new AbortController();
  const verb = async (): Promise<number> => {
    ending.abort();
    throw new StoreUnavailable('away');
  };
  assert.equal(await retryStorage(verb, ending.signal), undefined);
});
