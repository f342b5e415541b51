import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../src/server/log.ts';

function logged(err: unknown): { line: string; err: Record<string, unknown> } {
  const lines: string[] = [];
  createLog('info', { write: (line) => void lines.push(line) }).error({ err }, 'tick failed');
  equal(lines.length, 1);
  const line = lines[0] as string;
  return { line, err: JSON.parse(line).err };
}

/** As a database throws it that is set to tell the values of statements that fail. */
const databaseError = (): Error =>
  Object.assign(new Error('duplicate key value violates unique constraint "events_pkey"'), {
    code: '23505',
    severity: 'ERROR',
    constraint: 'events_pkey',
    detail: 'Key (body)=(secret-of-an-event) already exists.',
    where: `unnamed portal with parameters: $1 = 'secret-of-an-event'`,
    internalQuery: `SELECT 'secret-of-an-event'`,
    query: `INSERT 'secret-of-an-event'`,
    parameters: ['secret-of-an-event'],
  });

test('an error of the database is logged without values', () => {
  const { line, err } = logged(databaseError());
  ok(!line.includes('secret-of-an-event'), line);
  const { type, message, stack, ...others } = err;
  deepEqual([type, message], ['Error', 'duplicate key value violates unique constraint "events_pkey"']);
  match(String(stack), /log\.test\.ts/);
  deepEqual(others, { code: '23505', severity: 'ERROR', constraint: 'events_pkey' });
});

test('causes and parts of an error are logged in the same way', () => {
  const caused = logged(new Error('the batch failed', { cause: databaseError() }));
  ok(!caused.line.includes('secret-of-an-event'), caused.line);
  match(String(caused.err.message), /the batch failed: duplicate key/);
  match(String(caused.err.stack), /caused by: Error: duplicate key/);
  const both = logged(new AggregateError([databaseError(), new Error('second')], 'both failed'));
  ok(!both.line.includes('secret-of-an-event'), both.line);
  deepEqual(
    (both.err.errors as { message: string }[]).map(({ message }) => message),
    ['duplicate key value violates unique constraint "events_pkey"', 'second'],
  );
});

test('what is thrown and is no error is logged as text', () => {
  deepEqual(logged('plain').err, { type: 'string', message: 'plain' });
  const bare = Object.assign(Object.create(null), { body: 'secret-of-an-event' });
  deepEqual(logged(bare).err, { type: 'object', message: '[object Object]' });
});
