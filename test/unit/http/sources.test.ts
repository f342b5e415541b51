import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WholeSource } from '../../../src/domain/requests.ts';
import type { ClaimedRun } from '../../../src/domain/run/run.ts';
import { succeeded } from '../../contract/fixtures.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';
import { appended, startServer } from './harness.ts';
import { idOf, OWNER_ID, source, T0_MS, trigger } from './records.ts';

const DC1 = idOf('dc_', 1);

const SOURCE = source(1, {
  configuredProps: { timer: { intervalSeconds: 9 }, token: 'hunter2' },
  secretProps: ['token'],
});

function whole(): WholeSource {
  const subscription = {
    id: idOf('sub_', 1),
    ownerId: OWNER_ID,
    emitterId: idOf('hi_', 1),
    listenerId: DC1,
    eventName: '',
    filter: null,
    via: 'trigger',
    active: true,
    createdAtMs: T0_MS,
  } as const;
  return { source: SOURCE, triggers: [{ subscription, trigger: trigger(1, { runnableId: DC1 }) }] };
}

const ACTIONS = { createSource: whole, updateSource: whole, getSource: whole, deleteSource: whole };

test('a new source is answered as agreed', async (t) => {
  const { call, calls, port } = await startServer(t, { actions: ACTIONS });
  const input = { name: 'n', component_code: 'export default {}', configured_props: { timer: { cron: '* * * * *' } } };
  const { json } = await call('POST', '/v1/sources', { json: input });
  assert.deepEqual(calls[0]?.args[1], {
    name: 'n',
    active: undefined,
    componentCode: 'export default {}',
    configuredProps: { timer: { cron: '* * * * *' } },
    listeners: [],
  });
  assert.deepEqual(withoutIso(json.data), {
    id: DC1,
    owner_id: OWNER_ID,
    name: 'New Orders',
    name_slug: 'new-orders',
    active: true,
    configured_props: { timer: { intervalSeconds: 9 } },
    created_at: 1_782_000_000,
    updated_at: 1_782_000_000,
    endpoint_url: `http://127.0.0.1:${port}/e/key1`,
  });
});

test('props may come as JSON in the query', async (t) => {
  const { call, calls } = await startServer(t, { actions: ACTIONS });
  const props = encodeURIComponent('{"a":[1]}');
  assert.equal((await call('PUT', `/v1/sources/${DC1}?configured_props=${props}&active=false`)).status, 200);
  const { name: _name, ...asked } = { name: '', ...(calls[0]?.args[2] as object) };
  assert.deepEqual(asked, { componentCode: undefined, configuredProps: { a: [1] }, active: false });
});

test('one source comes with its code', async (t) => {
  const { call } = await startServer(t, { actions: ACTIONS });
  assert.equal((await call('GET', `/v1/sources/${DC1}`)).json.data.component_code, 'export default {}');
  assert.equal((await call('DELETE', `/v1/sources/${DC1}`)).json.data.id, DC1);
});

test('a source is invoked with exact bytes', async (t) => {
  const { call, calls } = await startServer(t, { actions: { invokeSource: () => appended(1) } });
  const headers = { 'content-type': 'application/json' };
  await call('POST', `/v1/sources/${DC1}/invoke`, { headers, body: '{"event":{"n":1.0}}' });
  const { json } = await call('POST', `/v1/sources/${DC1}/invoke`);
  const [sent, none] = calls.map(({ args }) => args[2]);
  assert.equal(Buffer.from(sent as Uint8Array).toString(), '{"n":1.0}');
  assert.equal(none, null);
  assert.equal(json.data.emit_id, 'tag421');
});

test('the log is that of its runs', async (t) => {
  const { call, seed, stage } = await startServer(t);
  await seed.source(SOURCE);
  const line = (text: string) => ({ tsMs: T0_MS, level: 'info', namespace: 'run', text }) as const;
  const runs: ClaimedRun[] = [];
  for (const logs of [[line('a'), line('b')], [], [line('c')]]) {
    const run = await stage.started(SOURCE);
    await stage.end(run, succeeded({ logs }));
    runs.push(run);
  }
  const { json } = await call('GET', `/v1/sources/${DC1}/logs`);
  assert.deepEqual(
    json.data.map(({ text }: { text: string }) => text),
    ['c', 'a', 'b'],
  );
  assert.equal(json.data[0].run_id, `r_${runs[2]?.run.toString(36)}`);
  const idOf = ({ run }: ClaimedRun) => `r_${run.toString(36)}`;
  const [first, , third] = runs as [ClaimedRun, ClaimedRun, ClaimedRun];
  const ids = [`${idOf(third)}-0`, `${idOf(first)}-0`, `${idOf(first)}-1`];
  const page_info = { total_count: 3, count: 3, start_cursor: ids[0], end_cursor: ids[2] };
  assert.deepEqual(json.page_info, page_info);
  const page = async (query: string) => {
    const answer = (await call('GET', `/v1/sources/${DC1}/logs?${query}`)).json;
    assert.deepEqual([answer.page_info.count, answer.page_info.total_count], [answer.data.length, 3], query);
    return answer.data.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await page('limit=1'), [ids[0]]);
  assert.deepEqual(await page(`limit=2&after=${ids[0]}`), [ids[1], ids[2]]);
  assert.deepEqual(await page(`limit=1&after=${ids[1]}`), [ids[2]]);
  assert.deepEqual(await page(`limit=1&before=${ids[2]}`), [ids[1]]);
  assert.deepEqual(await page(`before=${ids[1]}`), [ids[0]]);
  assert.deepEqual(await page(`after=${ids[2]}`), []);
  assert.equal((await call('GET', `/v1/sources/${DC1}/logs?after=${idOf(third)}`)).status, 400);
});
