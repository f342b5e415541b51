// Requests that code asks for, on several nodes: each place is one node's at a time, and is forgotten when nothing waits.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../../src/domain/limits.ts';
import { putOff, record } from '../../contract/deliveries/sending.ts';
import { all, anAttempt, at, defined, http, none, only, succeeded } from '../../contract/fixtures.ts';
import type { Stage } from '../../contract/stage.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { storesOn } from './stores.ts';

async function asked(stage: Stage, ...urls: string[]): Promise<void> {
  const run = await stage.started(await stage.workflow());
  await stage.end(run, succeeded({ outgoing: urls.map((url) => http(url)) }), none());
}

test('a place is forgotten when nothing waits there', async () => {
  await using nodes = await storesOn(1);
  const { stage, clock, url } = nodes;
  const places = async (): Promise<unknown[]> =>
    (
      await queryOn(url, "SELECT listener_id AS id FROM listener_queues WHERE listener_id LIKE 'http:%' ORDER BY 1")
    ).map(({ id }) => id);
  const of = (host: string): string => `http:${stage.owner.id}:https://${host}.example:443`;
  await asked(stage, 'https://a.example/', 'https://b.example/', 'https://c.example/');
  const [a, b] = await stage.deliveries(2);
  await stage.delivered(defined(a));
  await record(stage, defined(b), putOff(HOUR_MS));
  equal((await places()).length, 3);
  await stage.store.prune(0, 0);
  deepEqual(await places(), [of('b'), of('c')]);
  clock.advance(HOUR_MS);
  for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
  await stage.store.prune(0, 0);
  deepEqual(await places(), []);
});

test('one node at a time sends to one place', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores } = nodes;
  const [one, two] = [at(stores, 0), at(stores, 1)];
  await asked(stage, 'https://a.example/1', 'https://a.example/2');
  const mine = only((await one.claimDeliveries(1, all())).deliveries);
  deepEqual((await two.claimDeliveries(9, all())).deliveries, []);
  const rest = { made: anAttempt(), nextAttemptAtMs: null, pauseUntilMs: null, error: null, disableWebhook: false };
  equal((await one.recordAttempt({ ...rest, delivery: mine, state: 'delivered' }, none())).held, true);
  equal(only((await two.claimDeliveries(9, all())).deliveries).kind, 'http');
});
