// What becomes of emissions and errors: put off, streamed, listed, forwarded, counted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { startReceiver } from '../support/receiver.ts';
import { createSource, emissions, post, trySource } from '../support/sources/sources.ts';
import { listen, streamPath } from '../support/stream.ts';
import { until } from '../support/wait.ts';
import { pass } from '../support/waits.ts';

const MINUTE_MS = 60_000;

/** Emits each of what it is called with, `in_ms` from now. */
const REMINDERS = `export default {
  dedupe: 'unique',
  props: { http: '$.interface.http' },
  methods: {
    emitLater(event) {
      const { id, in_ms: inMs, now } = event;
      this.$emit(event, { id, summary: 'Reminder ' + id, ...(inMs === undefined ? {} : { delivery_ts: now + inMs }) });
    },
  },
  run({ body }) { body.forEach(this.emitLater); },
};`;

test('an emission waits for its time', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, REMINDERS);
  const now = Date.now();
  await post(source, [{ id: 'later', in_ms: 10 * MINUTE_MS, now }, { id: 'now' }, { id: 'past', in_ms: -1000, now }]);
  const early = await emissions(errand, source.id, 2);
  assert.deepEqual(early.map(({ metadata }) => metadata.id).sort(), ['now', 'past']);
  const [waiting] = await emissions(errand, source.id, 1, '$in');
  assert.equal(waiting.event.id, 'later');
  await errand.restart();
  await using stream = await listen(errand, streamPath(source.id));
  await pass(errand, 11 * MINUTE_MS);
  const [heard] = await stream.count(1);
  assert.equal(heard.event.id, 'later');
  assert.equal((await emissions(errand, source.id, 3)).length, 3);
  const { data } = await errand.client.get(`/v1/sources/${source.id}/event_summaries?event_name=$in`);
  assert.deepEqual(data, []);
});

test('what waits can be deleted', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, REMINDERS);
  const now = Date.now();
  await post(source, [
    { id: 'a', in_ms: 5 * MINUTE_MS, now },
    { id: 'b', in_ms: 5 * MINUTE_MS, now },
  ]);
  const waiting = await emissions(errand, source.id, 2, '$in');
  const { id } = waiting.find(({ event }) => event.id === 'a');
  await errand.client.delete(`/v1/sources/${source.id}/event_summaries/${id}`);
  await pass(errand, 6 * MINUTE_MS);
  const [record] = await emissions(errand, source.id, 1);
  assert.equal(record.event.id, 'b');
  await errand.settled();
  assert.equal((await emissions(errand, source.id, 1)).length, 1);
});

test('streams bring what is emitted', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http' },
      run({ body }) {
        this.$emit(body, { id: body.id, summary: 'S' + body.id, ts: 1700000000000 });
        this.$emit({ side: body.id }, { name: 'side' });
      },
    };`,
  );
  await using emitter = await listen(errand, streamPath(source.id));
  await using sse = await listen(errand, `/sse/dc/${source.id}/emits`);
  await using side = await listen(errand, streamPath(source.id, '?event_name=side'));
  await post(source, { id: 1 });
  await post(source, { id: 2 });
  for (const stream of [emitter, sse]) {
    const records = await stream.count(2);
    assert.deepEqual(
      records.map(({ event }) => event.id),
      [1, 2],
    );
    const { metadata } = records[0];
    assert.deepEqual(
      [metadata.id, metadata.summary, metadata.ts, metadata.emitter_id],
      ['1', 'S1', 1700000000000, source.id],
    );
  }
  assert.deepEqual(
    (await side.count(2)).map(({ event }) => event),
    [{ side: 1 }, { side: 2 }],
  );
  const [first] = emitter.heard;
  await errand.restart();
  await using again = await listen(errand, streamPath(source.id), { 'last-event-id': first?.id ?? '' });
  assert.deepEqual(
    (await again.count(1)).map(({ event }) => event.id),
    [2],
  );
});

test('errors of run are listed and forwarded', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http' },
      methods: { fail(id) { const error = new RangeError('no room for ' + id); error.code = 'NO_ROOM'; throw error; } },
      async run({ body }) { await this.fail(body.id); },
    };`,
  );
  const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
  await errand.subscribe(source.id, webhook.id, '$errors');
  await post(source, { id: 7 });
  const [error] = await errand.errors(source.id, 1);
  assert.deepEqual([error.event.error.code, error.event.error.msg], ['NO_ROOM', 'no room for 7']);
  assert.match(error.event.error.stack, /fail/);
  assert.equal(error.event.original_event.body.id, 7);
  assert.equal(error.metadata.name, '$errors');
  const [request] = await receiver.wait(1);
  assert.equal(JSON.parse(String(request?.body)).error.msg, 'no room for 7');
  const { data: run } = await errand.client.get('/v1/ledger');
  assert.equal(run.errors.captured, 1);
});

test('a refused hook shows message and stack', async () => {
  await using errand = await startErrand();
  const code = `export default {
    props: { http: '$.interface.http', db: '$.service.db' },
    methods: { register() { throw new TypeError('cannot register'); } },
    hooks: { async activate() { this.$emit({ half: 'made' }); this.db.set('x', 1); await this.register(); } },
    run() {},
  };`;
  const answer = await trySource(errand, code);
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.text, /cannot register/);
  assert.match(answer.text, /register/);
  assert.match(answer.text, /\bat \S+/, 'a frame of the stack');
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
});

test('lines of run and hooks are logged', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http' },
      hooks: { deploy() { console.log('deploys', { of: [1, { b: 2 }] }); }, activate() { console.warn('activates'); } },
      run({ body }) { console.log('takes %s', body.id); console.error(new Error('only logged')); },
    };`,
  );
  await post(source, { id: 'x' });
  const lines = await until('the lines of the run', async () => {
    const { data } = await errand.client.get(`/v1/sources/${source.id}/logs`);
    return data.some(({ text }: Json) => text.includes('only logged')) && data;
  });
  const texts = lines.map(({ text }: Json) => text).join('\n');
  for (const expected of ['takes x', 'activates', 'deploys', 'b: 2']) assert.ok(texts.includes(expected), texts);
});

test('deleted events are listed no more', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, REMINDERS);
  await post(source, [{ id: 'a' }, { id: 'b' }]);
  await emissions(errand, source.id, 2);
  const answer = await errand.client.request('DELETE', `/v1/sources/${source.id}/events`);
  assert.equal(answer.status, 202);
  await until('an empty list', async () => {
    const { data } = await errand.client.get(`/v1/sources/${source.id}/event_summaries`);
    return data.length === 0;
  });
  await post(source, [{ id: 'a' }, { id: 'c' }]);
  const records = await emissions(errand, source.id, 1);
  assert.deepEqual(
    records.map(({ metadata }) => metadata.id),
    ['c'],
    'dedupe remembers what is listed no more',
  );
});
