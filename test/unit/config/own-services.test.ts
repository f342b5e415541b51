import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/config.ts';
import { ownServices } from '../../../src/own-services.ts';

const placesOf = (env: Record<string, string>, ports: number[] = []) =>
  ownServices(readConfig(env), ports).map(({ host, port }) => [host, port]);

test('what the server uses and listens on is its own', () => {
  const env = {
    ERRAND_DATABASE_URL: 'postgres://me:secret@db-1:6432,db-2/errand',
    ERRAND_SMTP_URL: 'smtp://user:pass@mail.internal:2525',
  };
  assert.deepEqual(placesOf(env, [4400, 9400]), [
    [null, 4400],
    [null, 9400],
    ['db-1', 6432],
    ['db-2', 5432],
    ['mail.internal', 2525],
  ]);
});

test('a mail server has a port that goes without saying', () => {
  assert.deepEqual(placesOf({ ERRAND_SMTP_URL: 'smtp://mail.internal' }), [['mail.internal', 587]]);
  assert.deepEqual(placesOf({ ERRAND_SMTP_URL: 'smtps://[::1]' }), [['::1', 465]]);
  assert.deepEqual(placesOf({}), []);
});
