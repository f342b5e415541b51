// Times: the name of a member tells its unit, everywhere in the document and in answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newOwner = shareErrand();

/** Seconds and milliseconds since 1970 of any time in a hundred years: the two ranges do not meet. */
const isSeconds = (value: number): boolean => value > 1e9 && value < 5e9;
const isMilliseconds = (value: number): boolean => value > 1e12 && value < 5e12;

interface Named {
  readonly name: string;
  readonly schema: Json;
}

function membersOf(value: unknown): Named[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties } = value as { properties?: Record<string, Json> };
  const own = properties && !Array.isArray(properties) ? Object.entries(properties) : [];
  const named = own.flatMap(([name, schema]) => (typeof schema === 'object' ? [{ name, schema }] : []));
  return [...named, ...Object.values(value).flatMap(membersOf)];
}

function kindsOf({ type, anyOf = [] }: Json): string[] {
  return [type, ...anyOf.flatMap(kindsOf)].flat().filter((kind) => kind !== undefined && kind !== 'null');
}

test('each member named as a time is documented as one', async () => {
  const { client } = await newOwner();
  const members = membersOf(await client.get('/v1/openapi.json'));
  const times = members.filter(({ name }) => /_(at|ms|s|seconds)$/.test(name) && name !== 'looked_at');
  assert.ok(times.length > 150, `${times.length} are times`);
  for (const { name, schema } of times) {
    // A parameter may be ISO 8601, too; delays are a list of times.
    const kinds = kindsOf(schema).filter((kind) => kind !== 'array');
    assert.ok(
      kinds.every((kind) => kind === 'integer' || kind === 'number'),
      `${name}: ${kinds}`,
    );
    const examples = [schema.examples ?? []].flat().filter((example) => typeof example === 'number');
    for (const example of examples) {
      if (name.endsWith('_at')) assert.ok(isSeconds(example), `${name}: ${example}`);
      if (name.endsWith('_at_ms')) assert.ok(isMilliseconds(example), `${name}: ${example}`);
    }
  }
});

function timesIn(value: unknown): [name: string, value: number][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): [string, number][] => {
    const own: [string, number][] = typeof inner === 'number' && /_at(_ms)?$/.test(name) ? [[name, inner]] : [];
    return [...own, ...timesIn(inner)];
  });
}

test('what is answered has the unit that its name says', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const workflow = await errand.workflow(`export default () => { throw new Error('no'); }`);
  const webhook = await client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  await errand.subscribe(workflow.id, webhook.id, '$errors');
  await client.post('/v1/heartbeats', { name: 'x', interval_seconds: 600 });
  await client.post('/v1/data_stores', { name: 'x' });
  await errand.send(workflow, {});
  await errand.errors(workflow.id, 1);
  const lists = [
    ...['workflows', 'webhooks', 'subscriptions', 'heartbeats', 'data_stores', 'keys', 'runs', 'deliveries'],
    ...['error_groups', 'errors', 'audit'],
  ];
  for (const list of lists) {
    const { data } = await client.get(`/v1/${list}`);
    const times = timesIn(data);
    assert.ok(data.length > 0, `${list} has something`);
    for (const [name, value] of times) {
      assert.ok(name.endsWith('_ms') ? isMilliseconds(value) : isSeconds(value), `${list}: ${name} ${value}`);
    }
  }
});

test('every record that names its owner does so as owner_id', async () => {
  const { client } = await newOwner();
  const document = await client.get('/v1/openapi.json');
  const owned = JSON.stringify(document).match(/"user_id":/g) ?? [];
  assert.ok(owned.length > 0, 'webhooks have it, as their callers know');
  for (const [title, schema] of Object.entries<Json>(document.components.schemas ?? {})) {
    const names = membersOf({ properties: { of: schema } }).map(({ name }) => name);
    if (names.includes('user_id')) assert.ok(names.includes('owner_id'), title);
  }
  const webhook = await client.post('/v1/webhooks', { url: 'https://example.com/' });
  assert.equal(webhook.owner_id, webhook.user_id);
});
