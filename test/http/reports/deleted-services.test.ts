// The workflow of a service that was deleted, and what its keys report then.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { type OwnerOn, sharedErrand } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { dsnFor, envelope, errorsOf, eventOf, send } from './envelope.ts';

const newOwner = sharedErrand();

const event = () => ({ type: 'event' });
const body = envelope(...[1, 2].map((n) => [event(), eventOf({ event_id: undefined, message: `${n}` })] as const));

const auditOf = async ({ client }: Pick<OwnerOn, 'client'>, target: string): Promise<Json[]> =>
  (await client.get(`/v1/audit?target=${target}`)).data.reverse();

test('a key of a service makes its deleted workflow again', async () => {
  const errand = await newOwner();
  const { key, workflowId, ...dsn } = await dsnFor(errand, 'till');
  const client = createClient(errand.client.url, key);
  await client.post('/v1/errors', { message: 'before' });
  await errand.client.put(`/v1/workflows/${workflowId}`, { name: 'renamed' });
  await errand.client.delete(`/v1/workflows/${workflowId}`);
  equal((await client.post('/v1/errors', { message: 'after' })).workflow_id, workflowId);
  const made = (await errand.client.get(`/v1/workflows/${workflowId}`)).data;
  deepEqual([made.name, made.active], ['till', true]);
  await errand.client.delete(`/v1/workflows/${workflowId}`);
  const all = await Promise.all(Array.from({ length: 4 }, () => send({ ...dsn, key, workflowId }, body)));
  deepEqual(
    all.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  equal((await errand.client.get('/v1/workflows?name=till')).data.length, 1);
  equal((await errorsOf(errand, { ...dsn, key, workflowId })).length, 10, 'with those from before');
  const records = await auditOf(errand, workflowId);
  const made2 = records.filter(({ operation }) => operation === 'sendEnvelope');
  ok(made2.length >= 1 && made2.length <= 4, 'each request that may have made it');
  deepEqual(new Set(made2.map(({ status, count }) => `${status} ${count}`)), new Set(['200 1']));
});

test('a key of a workflow that a person made does not make it again', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default () => 1;');
  const bound = { label: 'shop', scopes: ['ingest'], workflow_id: workflow.id };
  const made = await errand.client.post('/v1/keys', bound);
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  const client = createClient(errand.client.url, made.api_key);
  assertProblem(await client.request('POST', '/v1/errors', { message: 'x' }), 404, workflow.id);
  const project = new URL(made.dsn).pathname.slice(1);
  const dsn = { origin: errand.client.url, key: made.api_key, project, workflowId: workflow.id };
  equal((await send(dsn, body)).status, 404);
});

test('a service comes back after a restart, too', async () => {
  await using errand = await startErrand();
  const dsn = await dsnFor(errand, 'till');
  await errand.client.delete(`/v1/workflows/${dsn.workflowId}`);
  await errand.restart();
  equal((await send({ ...dsn, origin: errand.url }, body)).status, 200);
  equal((await errorsOf(errand, dsn)).length, 2);
});
