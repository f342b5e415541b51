import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/server/config.ts';
import { type OwnPorts, ownServices, servicesOfNoEvents } from '../../../src/server/own-services.ts';

const NOWHERE: OwnPorts = { api: null, metrics: null };
const placesOf = (env: Record<string, string>, ports = NOWHERE) =>
  ownServices(readConfig(env), ports).map(({ host, port }) => [host, port]);

test('what the server uses and listens on is its own', () => {
  const env = {
    ERRAND_DATABASE_URL: 'postgres://me:secret@db-1:6432,db-2/errand',
    ERRAND_SMTP_URL: 'smtp://user:pass@mail.internal:2525',
  };
  assert.deepEqual(placesOf(env, { api: 4400, metrics: 9400 }), [
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

test('requests may go where events are taken', () => {
  const config = readConfig({ ERRAND_SMTP_URL: 'smtp://mail.internal' });
  const [forCode, forRequests] = [ownServices(config, { api: 4400, metrics: 9400 }), servicesOfNoEvents(config, 9400)];
  assert.deepEqual(
    forCode.filter((service) => !forRequests.some(({ port }) => port === service.port)).map(({ port }) => port),
    [4400],
  );
});
