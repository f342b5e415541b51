// The sources `http` and `schedule`, and the list of our own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { assertProblem } from '../../support/problem.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createOwn, runNow, tryOwn } from '../../support/sources/own-sources.ts';
import { emissions } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

test('our own components are listed', async () => {
  await using errand = await newErrand();
  const { data } = await errand.client.get('/v1/components');
  const keys = data.map(({ key }: { key: string }) => key);
  for (const key of ['http', 'poll-json', 'rss', 'schedule']) assert.ok(keys.includes(key), key);
  assert.deepEqual(keys, keys.toSorted());
  for (const component of data) {
    const { data: one } = await errand.client.get(`/v1/components/${component.key}`);
    assert.deepEqual(one, component);
    assert.ok(component.name && component.description && /^\d+\.\d+\.\d+$/.test(component.version), component.key);
    for (const { name, type, description } of component.configurable_props) {
      if (!['$.interface.http', '$.service.db'].includes(type)) assert.ok(description, `${component.key} ${name}`);
    }
  }
  assertProblem(await errand.client.request('GET', '/v1/components/none'), 404);
  const none = await tryOwn(errand, 'feeds');
  assertProblem(none, 422);
  assert.match(none.json.detail, /component names "feeds", which is not a component; available: .*http/);
});

test('any request is an event', async () => {
  await using errand = await newErrand();
  const source = await createOwn(errand, 'http');
  const answer = await fetch(`${source.endpoint_url}/a/b?c=1`, { method: 'PUT', body: '{"n": 1.0}' });
  assert.deepEqual([answer.status, await answer.text()], [200, '']);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual([event.method, event.path, event.query], ['PUT', '/a/b', { c: '1' }]);
  const [record] = await emissions(errand, source.id, 1);
  assert.equal(record.metadata.summary, 'PUT /a/b');
});

test('a request is answered as configured', async () => {
  await using errand = await newErrand();
  const props = { status: 202, headers: { 'x-own': 'yes' }, body: 'thanks' };
  const source = await createOwn(errand, 'http', props);
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(source.endpoint_url, { method: 'POST', headers, body: '{"big": 12345678901234567890}' });
  assert.deepEqual([answer.status, answer.headers.get('x-own'), await answer.text()], [202, 'yes', 'thanks']);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.bodyRaw, '{"big": 12345678901234567890}');
  const { id } = source;
  await errand.client.put(`/v1/sources/${id}`, { configured_props: { status: 204, body: '' } });
  assert.equal((await fetch(source.endpoint_url)).status, 204);
  assertProblem(await tryOwn(errand, 'http', { status: 1000 }), 422);
});

test('headers that cannot be sent are refused', async () => {
  await using errand = await newErrand();
  for (const [headers, named] of [
    [{ 'bad header': 'z' }, /the name of the header "bad header"/],
    [{ '': 'z' }, /the name of the header ""/],
    [{ 'x-fine': 'a', 'x-bad': 'a\nb' }, /the value of the header "x-bad"/],
    [{ 'x-list': ['a', '€'] }, /the value of the header "x-list"/],
  ] as const) {
    const answer = await tryOwn(errand, 'http', { headers });
    assertProblem(answer, 422);
    assert.match(answer.json.detail, named);
  }
  const source = await createOwn(errand, 'http', { headers: { 'x-list': ['a', 1, null], 'x y': null } });
  const answer = await fetch(source.endpoint_url, { method: 'POST' });
  assert.deepEqual([answer.status, answer.headers.get('x-list')], [200, 'a, 1, ']);
  await emissions(errand, source.id, 1);
});

test('the clock is an event', async () => {
  await using errand = await startErrand();
  const source = await createOwn(errand, 'schedule', { timer: { intervalSeconds: 60 }, data: { region: 'eu' } });
  errand.forward(61_000);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual([event.interval_seconds, event.data], [60, { region: 'eu' }]);
  assert.equal(typeof event.timestamp, 'number');
  await runNow(errand, source);
  assert.equal((await emissions(errand, source.id, 2)).length, 2);
  assertProblem(await tryOwn(errand, 'schedule', { timer: { cron: 'never' } }), 422);
});
