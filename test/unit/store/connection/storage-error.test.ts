// Which errors of Postgres end a session, and are met by a new connection and another try.

import { equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { isConnectionError, storageError } from '../../../../src/store/postgres/connection/storage-error.ts';

/** Idle in a transaction, a transaction too long, idle, ended by an administrator, and a connection that broke. */
const ENDED = ['25P03', '25P04', '57P05', '57P01', '08006', 'ECONNRESET'];

for (const code of ENDED) {
  test(`${code} is an error of the connection, and of storage`, () => {
    const error = Object.assign(new Error('ended'), { code });
    ok(isConnectionError(error));
    ok(storageError(error) instanceof StoreUnavailable);
  });
}

/** A wrong password, an unknown database, schema and setting, a missing permission, and statements of another connection. */
const FOR_OPERATORS = ['28P01', '3D000', '3F000', '42704', '42501', '26000', '42P05'];

for (const code of FOR_OPERATORS) {
  test(`${code} is an error of storage, and not of the connection`, () => {
    const error = Object.assign(new Error('refused'), { code });
    ok(!isConnectionError(error));
    ok(storageError(error) instanceof StoreUnavailable);
  });
}

/** What the operator can do about it. */
const HINTS: readonly (readonly [code: string, hint: RegExp])[] = [
  ['42501', /GRANT USAGE, CREATE ON SCHEMA/],
  ['25006', /standby, or default_transaction_read_only/],
  ['3F000', /search_path in the address/],
  ['42704', /leave out what is no setting/],
  ['53300', /each process needs 11 connections/],
  ['26000', /pool_mode = session/],
  ['42P05', /pool_mode = session/],
];

for (const [code, hint] of HINTS) {
  test(`${code} says what to do`, () => {
    const error = storageError(Object.assign(new Error('refused'), { code }));
    match((error as Error).message, hint);
  });
}

test('an error of a statement is neither', () => {
  const error = Object.assign(new Error('duplicate key'), { code: '23505' });
  ok(!isConnectionError(error));
  equal(storageError(error), error);
});
