// The life of a source: hooks, change, rest, deletion; listing, invocation and logs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, ECHO_SOURCE, emissions, eventsOf, post, trySource } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';

const newErrand = shareErrand();

const HOOKED = `export default {
  props: { http: '$.interface.http', db: '$.service.db', label: { type: 'string', default: 'a' } },
  methods: { note(hook) {
    const said = [...(this.db.get('said') ?? []), hook + ' ' + this.label];
    this.db.set('said', said);
  } },
  hooks: {
    async deploy() { this.note('deploy'); this.$emit({ past: this.http.endpoint }, { id: 'past' }); },
    async activate() { this.note('activate'); },
    async deactivate() { this.note('deactivate'); },
  },
  run() { this.$emit({ said: this.db.get('said') }); },
};`;

test('deploy runs once and then activate', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, HOOKED);
  const [{ event: past }] = await emissions(errand, source.id, 1);
  assert.equal(past.past, source.endpoint_url, 'the endpoint exists before the hooks, and hooks may emit');
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 2);
  assert.deepEqual(event.said, ['deploy a', 'activate a']);
});

test('an update keeps the id and endpoint', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, HOOKED);
  const path = `/v1/sources/${source.id}`;
  const changed = await errand.client.put(path, { name: 'renamed', configured_props: { label: 'b' } });
  assert.equal(changed.id, source.id);
  assert.equal(changed.name, 'renamed');
  assert.equal(changed.configured_props.label, 'b');
  assert.equal(changed.endpoint_url, source.endpoint_url);
  assert.ok(changed.updated_at >= source.updated_at);
  assert.equal(changed.created_at, source.created_at);
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 2);
  assert.deepEqual(event.said, ['deploy a', 'activate a', 'deactivate a', 'activate b']);
});

test('changed code runs at the same address', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  await post(source, { n: 1 });
  await emissions(errand, source.id, 1);
  const component_code = ECHO_SOURCE.replace('event.body', '{ second: event.body }');
  const changed = await errand.client.put(`/v1/sources/${source.id}`, { component_code });
  assert.equal(changed.endpoint_url, source.endpoint_url);
  await post(source, { n: 2 });
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 2)), [{ n: 1 }, { second: { n: 2 } }]);
});

test('resting calls deactivate and waking calls activate', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, HOOKED);
  const path = `/v1/sources/${source.id}`;
  assert.equal((await errand.client.put(path, { active: false })).active, false);
  const refused = await fetch(source.endpoint_url, { method: 'POST', body: 'x' });
  assert.equal(refused.status, 404);
  assert.equal((await errand.client.get(path)).data.active, false);
  assert.equal((await errand.client.put(path, { active: true })).active, true);
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 2);
  assert.deepEqual(event.said, ['deploy a', 'activate a', 'deactivate a', 'activate a']);
});

for (const hook of ['deploy', 'activate']) {
  test(`a throwing ${hook} hook leaves nothing behind`, async () => {
    await using errand = await startErrand();
    await using receiver = await startReceiver();
    await using listener = await startReceiver();
    const webhook = await errand.client.post('/v1/webhooks', { url: listener.url });
    await errand.subscribe('dc_*', webhook.id);
    const answer = await trySource(
      errand,
      `export default {
        props: { http: '$.interface.http', to: 'string' },
        hooks: {
          async deploy() { this.$emit({ half: 'made' }); await this.tell('deploy'); },
          async activate() { await this.tell('activate'); },
        },
        methods: { async tell(hook) {
          await fetch(this.to, { method: 'POST', body: this.http.endpoint });
          if (hook === '${hook}') throw new Error('the ${hook} hook fell over');
        } },
        run(event) { this.$emit(event); },
      };`,
      { configured_props: { to: receiver.url } },
    );
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.json.detail, new RegExp(`the ${hook} hook fell over`));
    assert.match(answer.text, /\bat \S*tell/, 'the stack is in the answer');
    assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
    const told = await receiver.wait(hook === 'deploy' ? 1 : 2);
    const gone = await fetch(String(told[0]?.body), { method: 'POST', body: '{}' });
    assert.equal(gone.status, 404, 'the endpoint is gone');
    await post(await createSource(errand, ECHO_SOURCE), 'alive');
    await listener.wait(1);
    await errand.settled();
    assert.deepEqual(
      listener.received.map((r) => String(r.body)),
      ['"alive"'],
      'nobody heard what the hooks emitted',
    );
  });
}

test('a failing update leaves the source as before', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE, { name: 'as it was' });
  const path = `/v1/sources/${source.id}`;
  const answer = await errand.client.request('PUT', path, {
    name: 'changed',
    component_code: `export default {
      props: { http: '$.interface.http' },
      hooks: { activate() { throw new Error('cannot register'); } },
      run() { this.$emit('new'); },
    };`,
  });
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.json.detail, /cannot register/);
  const kept = (await errand.client.get(path)).data;
  assert.equal(kept.name, 'as it was');
  assert.equal(kept.active, true);
  assert.equal(kept.endpoint_url, source.endpoint_url);
  await post(source, { still: 'the old code' });
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, { still: 'the old code' });
});

test('deleting calls deactivate and removes the rest', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http', to: 'string' },
      hooks: { async deactivate() { await fetch(this.to, { method: 'POST', body: 'bye' }); } },
    };`,
    { configured_props: { to: receiver.url } },
  );
  const workflow = await errand.workflow('export default () => 1', {});
  const [subscription] = await errand.subscribe(source.id, workflow.id);
  const path = `/v1/sources/${source.id}`;
  const deleted = await errand.client.delete(path);
  assert.equal(deleted.id, source.id);
  assert.equal(String((await receiver.wait(1))[0]?.body), 'bye');
  assert.equal((await errand.client.request('GET', path)).status, 404);
  assert.equal((await errand.client.request('DELETE', path)).status, 404);
  assert.equal((await errand.client.request('GET', `/v1/subscriptions/${subscription.id}`)).status, 404);
  assert.equal((await fetch(source.endpoint_url, { method: 'POST', body: '{}' })).status, 404);
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
});

test('deletion survives and tells a failing deactivate', async () => {
  await using errand = await startErrand();
  const me = (await errand.client.get('/v1/users/me')).data;
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http' },
      hooks: { deactivate() { throw new Error('cannot unregister'); } },
    };`,
  );
  assert.equal((await errand.client.delete(`/v1/sources/${source.id}`)).id, source.id);
  assert.equal((await errand.client.request('GET', `/v1/sources/${source.id}`)).status, 404);
  const [run] = await errand.runs(me.global_error_workflow_id, 1);
  const { event } = (await errand.client.get(`/v1/runs/${run.id}`)).data;
  assert.equal(event.error.msg, 'cannot unregister');
});

test('sources are listed newest first, also as mine', async () => {
  await using errand = await newErrand();
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) ids.unshift((await createSource(errand, ECHO_SOURCE, { name })).id);
  for (const path of ['/v1/sources', '/v1/users/me/sources']) {
    const page = await errand.client.get(path);
    assert.deepEqual(
      page.data.map((s: { id: string }) => s.id),
      ids,
    );
    assert.equal(page.page_info.total_count, 3);
    assert.equal(page.page_info.count, 3);
    assert.equal(page.page_info.start_cursor, page.data[0].id);
    const next = await errand.client.get(`${path}?limit=1&after=${ids[0]}`);
    assert.deepEqual(
      next.data.map((s: { name: string }) => s.name),
      ['two'],
    );
    const { component_code, ...one } = (await errand.client.get(`/v1/sources/${ids[0]}`)).data;
    assert.equal(component_code, ECHO_SOURCE);
    assert.deepEqual(page.data[0], one, 'as it is shown by itself, but for its code');
  }
});

test('deleting events empties the listing only', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  for (const n of [1, 2, 3]) await post(source, { n });
  await emissions(errand, source.id, 3);
  const answer = await errand.client.request('DELETE', `/v1/sources/${source.id}/events`);
  assert.deepEqual([answer.status, answer.json], [202, { data: { deleted: 3 } }]);
  assert.equal((await errand.client.request('DELETE', '/v1/sources/dc_none/events')).status, 404);
  await until('an empty listing', async () => {
    const page = await errand.client.get(`/v1/sources/${source.id}/event_summaries`);
    return page.data.length === 0;
  });
  await post(source, { n: 4 });
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1)), [{ n: 4 }]);
});

test('invoking runs a source now', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 86400 } } },
      run(event) { this.$emit({ ran: true, given: event }); },
    };`,
  );
  const started = await errand.client.post(`/v1/sources/${source.id}/invoke`, { event: { by: 'hand' } });
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, { ran: true, given: { by: 'hand' } });
  const run = (await errand.client.get(`/v1/runs/${started.run_id}`)).data;
  assert.equal(run.source_id, source.id);
  assert.equal(run.state, 'succeeded');
  await errand.client.post(`/v1/sources/${source.id}/invoke`);
  const [{ event: byTimer }] = await emissions(errand, source.id, 2);
  const { timestamp, due_at_ms: dueAtMs, ...rest } = byTimer.given;
  assert.deepEqual(rest, { interval_seconds: 86400, missed_ticks: 0 });
  assert.equal(timestamp, Math.floor(dueAtMs / 1000));
});

test('a source without a timer is invoked with an empty object', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, 'export default { run(event) { this.$emit({ given: event }); } };');
  await errand.client.post(`/v1/sources/${source.id}/invoke`);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, { given: {} });
});

test('logs hold what each run printed', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http' },
      async run(event) { console.log('got', event.body); console.error('and a warning ' + process.env.PD_COMPONENT); this.$emit(1); },
    };`,
  );
  await post(source, { a: 1 });
  await emissions(errand, source.id, 1);
  const { data } = await errand.client.get(`/v1/sources/${source.id}/logs`);
  const texts = data.map((line: { text: string }) => line.text).sort();
  assert.equal(texts.length, 2);
  assert.equal(texts[0], `and a warning ${source.id}`);
  assert.match(texts[1], /^got .*a.*1/);
  assert.ok(data.every((line: { ts_ms: number; run_id: string }) => line.ts_ms > 1e12 && /^r_/.test(line.run_id)));
});
