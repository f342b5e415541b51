// What a run may ask of data stores, and in which order it is done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { answerData, answerReads, dataStoresIn } from '../../../src/engine/runs/data-requests.ts';
import type { ChildReply, ChildRequest } from '../../../src/runner/runner.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { createWake } from './parts.ts';

const ID = 'ds_0000000000000001';

interface Call {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly settle: (value: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** A store whose verbs are answered by hand. */
function byHand() {
  const calls: Call[] = [];
  const store = new Proxy({} as Store, {
    get:
      (_target, name) =>
      (...args: unknown[]) =>
        new Promise((settle, fail) => calls.push({ name: String(name), args, settle, fail })),
  });
  const { wake, woken } = createWake();
  const answer = answerData({ store, wake }, { ownerId: 'u_1', storeIds: () => new Set([ID]) });
  const ask = (verb: string, args: object = {}, value: string | null = null): Promise<ChildReply> =>
    answer({ verb, args: { store: ID, ...args }, value } as ChildRequest);
  const called = async (): Promise<string[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return calls.map(({ name }) => name);
  };
  return { ask, calls, called, store, woken };
}

test('reads wait for the writes before them', async () => {
  const { ask, calls, called } = byHand();
  void ask('get', { key: 'a' });
  void ask('has', { key: 'a' });
  void ask('set', { key: 'a', ttlMs: null }, '1');
  void ask('delete', { key: 'a' });
  void ask('get', { key: 'a' });
  assert.deepEqual(await called(), ['getRecord', 'hasRecord']);
  calls[0]?.settle({ record: null });
  assert.deepEqual(await called(), ['getRecord', 'hasRecord']);
  calls[1]?.fail(new StoreUnavailable('away'));
  assert.deepEqual((await called()).slice(2), ['setRecord', 'deleteRecord']);
  calls[3]?.settle({ record: null });
  calls[2]?.settle({ record: {} });
  assert.deepEqual((await called()).slice(4), ['getRecord']);
});

test('answers are what code shall get', async () => {
  const { ask, calls, called, woken } = byHand();
  const record = { key: 'é"', value: '{"n": 1e400}', updatedAtMs: 1, expiresAtMs: null };
  const table: [string, unknown, string][] = [
    ['get', { record }, '[{"n": 1e400}]'],
    ['get', { record: null }, '[]'],
    ['has', true, 'true'],
    ['size', { size: 3 }, '3'],
    ['keys', ['a', 'b'], '["a","b"]'],
    ['entries', { totalCount: 1, items: [record] }, '[["é\\"",{"n": 1e400}]]'],
    ['delete', { record }, 'true'],
    ['setTtl', { record: null }, 'false'],
    ['clear', true, 'null'],
  ];
  for (const [n, [verb, told, json]] of table.entries()) {
    const reply = ask(verb, {
      key: 'k',
      ttlMs: null,
      ...(verb === 'keys' || verb === 'entries' ? { after: null } : {}),
    });
    await called();
    calls[n]?.settle(told);
    assert.deepEqual(await reply, { ok: true, json }, verb);
  }
  assert.deepEqual(woken, ['deletions']);
});

test('what a data store cannot do is an error', async () => {
  const { ask, calls, called } = byHand();
  const table: [(call: Call) => void, string, RegExp][] = [
    [({ settle }) => settle(undefined), 'ConfigurationError', /not there any more/],
    [({ settle }) => settle({ full: 'records' }), 'DataStoreError', /full.*100000 records/],
    [({ settle }) => settle({ full: 'bytes' }), 'DataStoreError', /full.*1073741824 bytes/],
    [({ fail }) => fail(new StoreUnavailable('password=x')), 'DataStoreError', /^the data store .* nothing was/],
    [
      ({ fail }) => fail(Object.assign(new StoreUnavailable('x'), { mayBeWritten: true })),
      'DataStoreError',
      /whether it was written is not known/,
    ],
  ];
  for (const [n, [act, name, message]] of table.entries()) {
    const reply = ask('set', { key: 'k', ttlMs: null }, '1');
    await called();
    act(calls[n] as Call);
    const told = await reply;
    assert.ok(!told.ok && told.name === name, JSON.stringify(told));
    assert.match(told.message, message);
  }
  const bug = ask('has', { key: 'k' });
  await called();
  calls.at(-1)?.fail(new TypeError('a bug'));
  await assert.rejects(bug, /a bug/);
});

test('forged questions reach no store', async () => {
  const { ask, called } = byHand();
  const forged: [string, object, string | null][] = [
    ['drop', {}, null],
    ['constructor', {}, null],
    ['get', { store: 'ds_0000000000000002', key: 'k' }, null],
    ['get', { store: [ID], key: 'k' }, null],
    ['get', {}, null],
    ['get', { key: '' }, null],
    ['get', { key: 'x'.repeat(LIMITS.recordKeyChars + 1) }, null],
    ['get', { key: '\ud800' }, null],
    ['keys', { after: 7 }, null],
    ['set', { key: 'k' }, null],
    ['set', { key: 'k' }, `"${'x'.repeat(LIMITS.recordBytes)}"`],
    ['set', { key: 'k', ttlMs: -1 }, '1'],
    ['set', { key: 'k', ttlMs: 1.5 }, '1'],
    ['setTtl', { key: 'k', ttlMs: LIMITS.maxRecordTtlMs + 1 }, null],
  ];
  for (const [verb, args, value] of forged) {
    const reply = await ask(verb, args, value);
    assert.ok(!reply.ok && reply.name === 'ConfigurationError', `${verb} ${JSON.stringify(args)}`);
  }
  assert.deepEqual(await called(), []);
});

test('while a component is configured, requests only read', async () => {
  const { calls, called, store } = byHand();
  const answer = answerReads({ store }, { ownerId: 'u_1', storeIds: () => new Set([ID]) });
  const ask = (verb: string, args: object = {}, value: string | null = null): Promise<ChildReply> =>
    answer({ verb, args: { store: ID, ...args }, value });
  const writes: [string, object, string | null][] = [
    ['set', { key: 'k', ttlMs: null }, '1'],
    ['setTtl', { key: 'k', ttlMs: 1 }, null],
    ['delete', { key: 'k' }, null],
    ['clear', {}, null],
  ];
  for (const [verb, args, value] of writes) {
    const reply = await ask(verb, args, value);
    assert.ok(!reply.ok && reply.name === 'ConfigurationError', verb);
    assert.match(reply.message, /may read data stores, not write/);
  }
  const other = await ask('keys', { store: 'ds_0000000000000002', after: null });
  assert.ok(!other.ok && /no configured prop names/.test(other.message), JSON.stringify(other));
  assert.deepEqual(await called(), [], 'nothing has reached the store');
  const keys = ask('keys', { after: null });
  assert.deepEqual(await called(), ['listRecordKeys']);
  assert.deepEqual(calls[0]?.args[0], { ownerId: 'u_1', storeId: ID });
  calls[0]?.settle(['a']);
  assert.deepEqual(await keys, { ok: true, json: '["a"]' });
});

test('a run reaches the stores that props name', () => {
  const named = dataStoresIn([
    { data: ID, text: 'ds_', other: null, list: [ID] },
    { more: { id: 'ds_0000000000000002' }, number: 7 },
  ]);
  assert.deepEqual([...named], [ID, 'ds_0000000000000002']);
});
