// All errors of an owner, sent as they come.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner } from '../support/owners.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { createSource, post } from '../support/sources/sources.ts';
import { listen } from '../support/stream.ts';

const newErrand = shareErrand();

const PATH = '/v1/errors/stream';
const THROWS = `export default ({ steps }) => {
  throw Object.assign(new Error('no'), { code: steps.trigger.event.body.code });
};`;
const SOURCE_THROWS = `export default { props: { http: '$.interface.http' }, run() { throw new TypeError('no'); } };`;

const codesOf = (records: Json[]): string[] => records.map(({ event }) => event.error.code);

test('errors of all emitters come in one stream', async () => {
  await using errand = await newErrand();
  const before = await errand.workflow(THROWS);
  await using stream = await listen(errand, PATH);
  assert.equal(stream.status, 200);
  assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
  await errand.send(before, { code: 'First' });
  await stream.count(1);
  const after = await errand.workflow(THROWS);
  await errand.send(after, { code: 'Second' });
  await stream.count(2);
  const source = await createSource(errand, SOURCE_THROWS);
  await post(source, { n: 1 });
  const records = await stream.count(3);
  assert.deepEqual(codesOf(records), ['First', 'Second', 'TypeError']);
  assert.deepEqual(
    records.map(({ metadata }) => metadata.emitter_id),
    [before.id, after.id, source.id],
  );
  assert.ok(stream.heard.every(({ event, id }, n) => event === '$errors' && id === records[n].id));
  const [listed] = await errand.errors(before.id, 1);
  const { group_id, ...metadata } = records[0].metadata;
  assert.deepEqual({ ...records[0], metadata }, listed);
  assert.match(group_id, /^eg_/);
});

test('filters choose errors by emitter, code and step', async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const [a, b] = [await errand.workflow(THROWS), await errand.workflow(THROWS)];
  const steps = await client.post('/v1/workflows', {
    name: 'two steps',
    triggers: [{ type: 'http' }],
    steps: [
      { namespace: 'first', code: 'export default () => 1;' },
      { namespace: 'charge', code: THROWS },
    ],
  });
  await using ofA = await listen(errand, `${PATH}?emitter_id=${a.id}`);
  await using coded = await listen(errand, `${PATH}?code=Yes`);
  await using charged = await listen(errand, `${PATH}?step=charge`);
  await using deployed = await listen(errand, `${PATH}?deployment_id=${steps.deployment_id}&code=Yes&text=NO`);
  await using none = await listen(errand, `${PATH}?emitter_id=${a.id}&step=charge`);
  await using every = await listen(errand, PATH);
  const sent = [
    [a, 'No'],
    [b, 'Yes'],
    [steps, 'No'],
    [steps, 'Yes'],
    [a, 'Yes'],
  ] as const;
  for (const [n, [workflow, code]] of sent.entries()) {
    await errand.send(workflow, { code });
    await every.count(n + 1);
  }
  assert.deepEqual(codesOf(await ofA.count(2)), ['No', 'Yes']);
  assert.deepEqual(
    (await coded.count(3)).map(({ metadata }) => metadata.emitter_id),
    [b.id, steps.id, a.id],
  );
  assert.deepEqual(codesOf(await charged.count(2)), ['No', 'Yes']);
  assert.deepEqual(codesOf(await deployed.count(1)), ['Yes']);
  assert.equal(none.heard.length, 0);
});

test('a stream of a group has its errors alone', async () => {
  await using errand = await newErrand();
  const [a, b] = [await errand.workflow(THROWS), await errand.workflow(THROWS)];
  await errand.send(a, { code: 'One' });
  await errand.errors(a.id, 1);
  const [{ metadata }] = (await errand.client.get(`/v1/errors?emitter_id=${a.id}`)).data;
  await using ofGroup = await listen(errand, `${PATH}?group_id=${metadata.group_id}`);
  await using ofNone = await listen(errand, `${PATH}?group_id=${metadata.group_id}&emitter_id=${b.id}`);
  await using every = await listen(errand, PATH);
  const sent = [
    [b, 'One'],
    [a, 'Two'],
    [a, 'One'],
  ] as const;
  for (const [n, [workflow, code]] of sent.entries()) {
    await errand.send(workflow, { code });
    await every.count(n + 1);
  }
  const [own] = await ofGroup.count(1);
  assert.deepEqual([own.event.error.code, own.metadata.group_id], ['One', metadata.group_id]);
  assert.equal(own.metadata.emitter_id, a.id);
  assert.deepEqual([ofGroup.heard.length, ofNone.heard.length], [1, 0]);
});

test('a stream of errors goes on after a restart', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(THROWS);
  const before = await listen(errand, PATH);
  await errand.send(workflow, { code: 'One' });
  const [first] = await before.count(1);
  await errand.send(workflow, { code: 'Two' });
  await before.count(2);
  await errand.restart();
  assert.equal(await before.ended, 'ended');
  await using all = await listen(errand, PATH, { 'last-event-id': first.id });
  assert.deepEqual(codesOf(await all.count(1)), ['Two']);
  await using filtered = await listen(errand, `${PATH}?code=One&last_event_id=1-0`);
  assert.deepEqual(codesOf(await filtered.count(1)), ['One']);
});

test('each owner hears its own errors alone', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand, 'Bea');
  const [mine, theirs] = [await errand.workflow(THROWS), await other.workflow(THROWS)];
  await using stream = await listen(errand, PATH);
  await using another = await listen(other, PATH);
  await errand.send(mine, { code: 'Mine' });
  await other.send(theirs, { code: 'Theirs' });
  assert.deepEqual(codesOf(await another.count(1)), ['Theirs']);
  assert.deepEqual(codesOf(await stream.count(1)), ['Mine']);
  await errand.send(mine, { code: 'Mine' });
  await stream.count(2);
  assert.deepEqual([stream.heard.length, another.heard.length], [2, 1]);
  const foreign = await other.client.request('GET', `${PATH}?emitter_id=${mine.id}`);
  assert.equal(foreign.status, 404);
  await errand.errors(mine.id, 2);
  const [{ metadata }] = (await errand.client.get(`/v1/errors?emitter_id=${mine.id}`)).data;
  const { status, text } = await other.client.request('GET', `${PATH}?group_id=${metadata.group_id}`);
  assert.equal(status, 404);
  assert.match(text, new RegExp(metadata.group_id));
});

test('bad requests for a stream of errors say why', async () => {
  await using errand = await newErrand();
  const refused = async (query: string) => {
    const { status, json } = await errand.client.request('GET', `${PATH}?${query}`);
    return [status, json.error];
  };
  for (const id of ['x', 'hi_0Vj3aBc9dEfGhIjK', '*', 'p_0000000000000000']) {
    assert.equal((await refused(`emitter_id=${id}`))[0], 404, id);
  }
  assert.equal((await refused('group_id=eg_0000000000000000'))[0], 404);
  for (const query of ['group_id=', 'group_id=eg_%00', 'since=1', 'kode=TypeError', 'code=', 'step=%00']) {
    assert.equal((await refused(query))[0], 400, query);
  }
  assert.equal((await refused('last_event_id=yesterday'))[0], 400);
  assert.equal((await refused(`code=${'x'.repeat(300)}`))[0], 400);
  const bare = await fetch(errand.client.url + PATH);
  assert.equal(bare.status, 401);
  await bare.body?.cancel();
});
