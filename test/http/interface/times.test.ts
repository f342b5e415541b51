// Times: the name of a member tells its unit, everywhere in the document and in answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, ECHO_SOURCE } from '../../support/sources/sources.ts';

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

/** Where the interface fixes the members, and lines of streams and exports that are such records. */
const NUMBERS_ALONE = ['ErrorRecord', 'EventRecord', 'StreamedError', 'ExportedError'];

/** Names of durations: every other number whose name ends with `_ms` is a time. */
const DURATIONS =
  /^(took|timeout|retry_after|interval|window|digest_window|base|max|dns|connect|first_byte|last_duration|p95|silent_after|succeeded_within)_ms$/;

/** Returns all objects of answers, with their members. */
function answersIn(value: unknown): { title: string; properties: Record<string, Json>; required: string[] }[] {
  if (typeof value !== 'object' || value === null) return [];
  const { title = '', properties, required = [] } = value as Json;
  const own = properties && !Array.isArray(properties) ? [{ title, properties, required }] : [];
  // What callers send may have one form alone.
  const inner = Object.entries(value).filter(([name]) => name !== 'requestBody' && name !== 'parameters');
  return [...own, ...inner.flatMap(([, member]) => answersIn(member))];
}

const isNumber = (schema: Json): boolean => kindsOf(schema).some((kind) => kind === 'integer' || kind === 'number');
const isoNameOf = (name: string): string => `${name.replace(/_ms$/, '')}_iso`;

test('each time of an answer has a text beside it', async () => {
  const { client } = await newOwner();
  let times = 0;
  for (const { title, properties, required } of answersIn(await client.get('/v1/openapi.json'))) {
    if (NUMBERS_ALONE.includes(title)) continue;
    for (const [name, schema] of Object.entries(properties)) {
      const isDuration = DURATIONS.test(name) || name === 'looked_at' || !/_(ms|at)$/.test(name);
      if (isDuration || !isNumber(schema)) continue;
      times += 1;
      const text = properties[isoNameOf(name)];
      assert.deepEqual(kindsOf(text ?? {}), ['string'], `${title} ${name}`);
      assert.equal(JSON.stringify(text).includes('"null"'), JSON.stringify(schema).includes('"null"'), name);
      assert.equal(required.includes(isoNameOf(name)), required.includes(name), name);
    }
    for (const name of Object.keys(properties).filter((one) => one.endsWith('_iso'))) {
      const isOfNumber = Object.keys(properties).some((one) => isoNameOf(one) === name && one !== name);
      assert.ok(isOfNumber, `${title} ${name}`);
    }
  }
  assert.ok(times > 60, `${times} times`);
});

interface Time {
  readonly name: string;
  readonly value: number | null;
  readonly iso: unknown;
}

/** Returns the times of an answer; what callers and their code gave is theirs. */
function timesIn(value: unknown): Time[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (['event', 'value', 'return_value', 'exports', 'configured_props'].includes(name)) return [];
    const isTime = /_at$|(^|_)(at|ts|from|since|until|seen)_ms$/.test(name) && name !== 'looked_at';
    const iso = (value as Json)[isoNameOf(name)];
    if (isTime && (typeof inner === 'number' || inner === null)) return [{ name, value: inner, iso }];
    return timesIn(inner);
  });
}

function assertTimes(answer: unknown, where: string): void {
  const times = timesIn(answer);
  assert.ok(times.length > 0, `${where} has times`);
  for (const { name, value, iso } of times) {
    const isMs = name.endsWith('_ms');
    if (value === null) {
      assert.equal(iso, null, `${where}: ${name}`);
      continue;
    }
    assert.ok(isMs ? isMilliseconds(value) : isSeconds(value), `${where}: ${name} ${value}`);
    assert.equal(iso, new Date(isMs ? value : value * 1000).toISOString(), `${where}: ${name}`);
  }
}

test('what is answered has the unit that its name says, and the same as text', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const code = `export default async () => {
    console.log('a');
    console.log('b');
    throw new Error('no');
  }`;
  const workflow = await errand.workflow(code, {
    triggers: [{ type: 'http' }, { type: 'schedule', cron: '0 9 * * 1' }],
  });
  const webhook = await client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  await errand.subscribe(workflow.id, webhook.id, '$errors');
  const heartbeat = await client.post('/v1/heartbeats', { name: 'x', interval_seconds: 600 });
  const store = await client.post('/v1/data_stores', { name: 'x' });
  await client.put(`/v1/data_stores/${store.id}/records/a`, { value: { created_at: 5 }, ttl: 60 });
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  const [run] = await errand.runs(workflow.id, 1);
  const lists = [
    ...['workflows', 'webhooks', 'subscriptions', 'heartbeats', 'data_stores', 'keys', 'runs', 'deliveries'],
    ...['error_groups', 'errors', 'audit', `workflows/${workflow.id}/deployments`, `data_stores/${store.id}/records`],
  ];
  for (const list of lists) {
    const { data } = await client.get(`/v1/${list}`);
    assert.ok(data.length > 0, `${list} has something`);
    for (const record of data) assertTimes(record, list);
  }
  const ones = [`workflows/${workflow.id}`, `webhooks/${webhook.id}`, `heartbeats/${heartbeat.id}`, `runs/${run.id}`];
  for (const one of [...ones, `workflows/${workflow.id}/$errors/event_summaries/${error.id}`, 'users/me', 'session']) {
    assertTimes((await client.get(`/v1/${one}`)).data, one);
  }
  const { data: whole } = await client.get(`/v1/runs/${run.id}`);
  assert.equal(timesIn(whole.logs).length, 2, 'each line of the log');
  assert.equal(timesIn(whole.steps).length, 1, 'each step');
});

test('nothing is added within what callers and their code gave', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const given = '{"started_at_ms":1,"created_at":2.50,"deep":[{"ts_ms":12345678901234567890}]}';
  const code = `export default ({ $, steps }) => {
    $.export('at', { started_at_ms: 7 });
    return steps.trigger.event;
  }`;
  const workflow = await errand.workflow(code, { triggers: [] });
  const path = `/v1/workflows/${workflow.id}/runs`;
  const answer = await client.request('POST', path, `{"event":${given}}`);
  const { run_id: id } = answer.json.data;
  await errand.runs(workflow.id, 1);
  const { text } = await client.request('GET', `/v1/runs/${id}`);
  assert.ok(text.includes(`"event":${given}`), text);
  assert.ok(text.includes('"exports":{"at":{"started_at_ms":7}}'), text);
  const [step] = JSON.parse(text).data.steps;
  assert.deepEqual(Object.keys(step.return_value), ['started_at_ms', 'created_at', 'deep']);
  assert.equal(step.started_at_iso, new Date(step.started_at_ms).toISOString());

  const store = await client.post('/v1/data_stores', { name: 'x' });
  await client.put(`/v1/data_stores/${store.id}/records/a`, { value: { created_at: 5 } });
  const { data: record } = await client.get(`/v1/data_stores/${store.id}/records/a`);
  assert.deepEqual(record.value, { created_at: 5 });
});

test('a record of the listing has the members of the interface alone', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(`export default () => { throw new Error('no'); }`);
  await errand.send(workflow, {});
  const [record] = await errand.errors(workflow.id, 1);
  assert.deepEqual(Object.keys(record), ['id', 'indexed_at_ms', 'event', 'metadata']);
});

test('what was read can be sent back', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const workflow = await errand.workflow('export default () => {}', {
    triggers: [{ type: 'schedule', cron: '0 9 * * 1' }],
  });
  const { triggers } = (await client.get(`/v1/workflows/${workflow.id}`)).data;
  assert.match(triggers[0].next_at_iso, /^20\d\d-\d\d-\d\dT09:00:00\.000Z$/);
  const after = await client.put(`/v1/workflows/${workflow.id}`, { triggers });
  assert.equal(after.triggers[0].next_at_iso, triggers[0].next_at_iso);
});

test('every record of an owner names it as owner_id', async () => {
  const { client } = await newOwner();
  const document = await client.get('/v1/openapi.json');
  let owned = 0;
  for (const [title, { properties = {} }] of Object.entries<Json>(document.components.schemas)) {
    const isMade = 'id' in properties && 'created_at' in properties && !title.endsWith('Owner');
    if (!isMade && !('user_id' in properties)) continue;
    assert.ok('owner_id' in properties, title);
    owned += 1;
  }
  assert.ok(owned >= 13, `${owned} records`);
});

test('the owner of each record is who made it', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const { id } = (await client.get('/v1/users/me')).data;
  const webhook = await client.post('/v1/webhooks', { url: 'https://example.com/' });
  assert.equal(webhook.user_id, id, 'as its callers know');
  const workflow = await errand.workflow('export default () => {}');
  await errand.subscribe(workflow.id, webhook.id);
  await createSource(errand, ECHO_SOURCE);
  await client.post('/v1/heartbeats', { name: 'x', interval_seconds: 600 });
  await client.post('/v1/data_stores', { name: 'x' });
  await client.post('/v1/accounts', { app: 'slack', name: 'x' });
  await client.post('/v1/channels', { kind: 'mail', config: { to: 'a@example.com' } });
  const nouns = ['workflows', 'sources', 'webhooks', 'subscriptions', 'heartbeats', 'data_stores', 'accounts'];
  for (const list of [...nouns, 'channels', 'keys', `workflows/${workflow.id}/deployments`]) {
    const { data } = await client.get(`/v1/${list}`);
    assert.ok(data.length > 0, list);
    for (const record of data) assert.equal(record.owner_id, id, list);
  }
});
