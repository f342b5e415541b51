// What an emitter emits, sent to whoever listens, as it comes.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { createOwner } from '../support/owners.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { createSource, ECHO_SOURCE, emissions, post } from '../support/sources/sources.ts';
import { type Listener, listen, Parser, streamPath } from '../support/stream.ts';
import { until } from '../support/wait.ts';

const newErrand = shareErrand();

/** Passes on what comes to its address, byte for byte. */
const VERBATIM = `export default { props: { http: '$.interface.http' } };`;

/** Emits each of an array on the channel that it names. */
const NAMED = `export default {
  props: { http: '$.interface.http' },
  run({ body }) { for (const { name, ...event } of body) this.$emit(event, { name }); },
};`;

const numbersOf = (records: Json[]): number[] => records.map(({ event }) => event.n);

async function postMany(source: Json, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) await post(source, { n });
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

test('a stream begins with what comes now', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  await post(source, { n: 0 });
  await emissions(errand, source.id, 1);
  // Of this very millisecond nothing can be told.
  await post(source, { n: 0 });
  await emissions(errand, source.id, 2);
  await using stream = await listen(errand, streamPath(source.id));
  assert.equal(stream.status, 200);
  await postMany(source, 1, 4);
  const records = await stream.count(3);
  assert.deepEqual(numbersOf(records), [1, 2, 3]);
  const listed = await emissions(errand, source.id, 5);
  assert.deepEqual(records, listed.slice(0, 3).reverse());
  assert.deepEqual(
    stream.heard.map(({ id }) => id),
    records.map(({ id }) => id),
  );
  assert.ok(stream.heard.every(({ event }) => event === undefined));
});

test('its headers keep proxies from holding it back', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  await using stream = await listen(errand, streamPath(source.id));
  assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
  assert.match(stream.headers.get('cache-control') ?? '', /no-store.*no-transform/);
  assert.equal(stream.headers.get('x-accel-buffering'), 'no');
  assert.ok(stream.headers.get('x-request-id'));
  await until('the hint', async () => stream.retryMs !== undefined);
});

test('an event arrives byte for byte', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, VERBATIM);
  await using stream = await listen(errand, streamPath(source.id));
  const body = '{ "b":12345678901234567890,\n\n  "a" : 1e400,"a":-0.0,\n "z":"\\u0000é\\n" }';
  await post(source, body);
  await stream.count(1);
  const data = stream.heard[0]?.data ?? '';
  assert.ok(data.includes(body), data);
});

test('a wildcard has what all of its kind emit, now and later', async () => {
  await using errand = await newErrand();
  await using stranger = await newErrand();
  const source = await createSource(errand, NAMED);
  const { id: ownId } = await errand.client.get('/v1/users/me').then(({ data }) => data);
  const { id: theirId } = await stranger.client.get('/v1/users/me').then(({ data }) => data);
  await using all = await listen(errand, streamPath('*', '?event_name=*'));
  await using own = await listen(errand, streamPath(ownId, '?event_name=*'));
  await using sources = await listen(errand, streamPath('dc_*'));
  await using workflows = await listen(errand, streamPath('p_*', '?event_name=paid'));
  await using failures = await listen(errand, streamPath('p_*', '?event_name=$errors'));
  await using others = await listen(stranger, streamPath('*', '?event_name=*'));
  const workflow = await errand.workflow(
    `export default ({ steps, $ }) => { $.send.emit(steps.trigger.event.body, 'paid'); throw new Error('no'); }`,
  );
  await post(source, [{ n: 1 }, { n: 2, name: 'paid' }]);
  await emissions(errand, source.id, 1);
  await errand.send(workflow, { n: 3 });
  const later = await createSource(errand, ECHO_SOURCE);
  await workflows.count(1);
  await post(later, { n: 4 });
  assert.deepEqual(numbersOf(await all.count(4)), [1, 2, 3, 4]);
  assert.deepEqual(numbersOf(await own.count(4)), [1, 2, 3, 4]);
  assert.deepEqual(numbersOf(await sources.count(2)), [1, 4]);
  assert.deepEqual(numbersOf(await workflows.count(1)), [3]);
  assert.equal((await failures.count(1))[0]?.event.error.msg, 'no');
  const theirs = await createSource(stranger, ECHO_SOURCE);
  await post(theirs, { n: 9 });
  assert.deepEqual(numbersOf(await others.count(1)), [9]);
  assert.deepEqual([all.heard.length, failures.heard.length], [4, 1]);
  await using again = await listen(errand, streamPath('*', `?event_name=*&last_event_id=${all.heard[0]?.id}`));
  assert.deepEqual(numbersOf(await again.count(3)), [2, 3, 4]);
  for (const id of [theirId, 'wh_*', 'x', '**', 'p_']) {
    assert.equal((await errand.client.request('GET', streamPath(id))).status, 404, id);
  }
});

test('a stream hears its channel alone', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, NAMED);
  await using plain = await listen(errand, streamPath(source.id));
  await using paid = await listen(errand, streamPath(source.id, '?event_name=paid'));
  await using every = await listen(errand, streamPath(source.id, '?event_name=*'));
  await using errors = await listen(errand, streamPath(source.id, '?event_name=$errors'));
  await post(source, { no: 'array' });
  await post(source, [{ n: 1 }, { n: 2, name: 'paid' }, { n: 3, name: 'sent' }, { n: 4 }]);
  assert.deepEqual(numbersOf(await every.count(4)), [1, 2, 3, 4]);
  assert.deepEqual(
    every.heard.map(({ event }) => event),
    [undefined, 'paid', 'sent', undefined],
  );
  assert.deepEqual(numbersOf(await plain.count(2)), [1, 4]);
  assert.deepEqual(numbersOf(await paid.count(1)), [2]);
  const [error] = await errors.count(1);
  assert.equal(error.event.error.code, 'TypeError');
  assert.equal(errors.heard[0]?.event, '$errors');
  assert.equal(plain.heard.length + paid.heard.length + errors.heard.length, 4);
});

test('a workflow and a webhook are heard too', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(
    `export default ({ steps, $ }) => { $.send.emit(steps.trigger.event.body, 'out'); };`,
  );
  await using stream = await listen(errand, streamPath(workflow.id, '?event_name=out'));
  await errand.send(workflow, { n: 1 });
  assert.deepEqual(numbersOf(await stream.count(1)), [1]);
  const webhook = await errand.client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  await using failures = await listen(errand, streamPath(webhook.id, '?event_name=$errors'));
  assert.equal(failures.status, 200);
});

test('a stream goes on where it was broken off', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const heard: Json[] = [];
  let lastId: string | undefined;
  const count = 40;
  const posting = postMany(source, 0, count);
  await using _first = await listen(errand, streamPath(source.id));
  // Each reader takes a few and leaves: what is emitted meanwhile is the next one's.
  let from: string | undefined;
  while (heard.length < count) {
    const headers: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId };
    const query = lastId === undefined ? '?last_event_id=1-0' : '';
    await using stream = await listen(errand, streamPath(source.id, query), headers);
    const records = await stream.count(Math.min(5, count - heard.length));
    heard.push(...records);
    lastId = records.at(-1)?.id;
    from ??= records[0]?.id;
  }
  await posting;
  assert.deepEqual(numbersOf(heard), range(0, count));
  const byQuery = await listen(errand, streamPath(source.id, `?last_event_id=${from}`));
  assert.deepEqual(numbersOf(await byQuery.count(count - 1)), range(1, count));
  await byQuery[Symbol.asyncDispose]();
});

test('a stop ends streams, and a restart goes on', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const before = await listen(errand, streamPath(source.id));
  await post(source, { n: 1 });
  const [first] = await before.count(1);
  await errand.restart();
  assert.equal(await before.ended, 'ended');
  const moved = { ...source, endpoint_url: errand.client.url + new URL(source.endpoint_url).pathname };
  await post(moved, { n: 2 });
  await using after = await listen(errand, streamPath(source.id), { 'last-event-id': first.id });
  await after.count(1);
  await post(moved, { n: 3 });
  assert.deepEqual(numbersOf(await after.count(2)), [2, 3]);
});

test('a reader that does not read gets it all later', async () => {
  await using errand = await newErrand();
  const code = `export default {
    props: { http: '$.interface.http' },
    run({ body }) { for (let n = 0; n < 5; n++) this.$emit({ n: body.n * 5 + n, large: 'x'.repeat(1_000_000) }); },
  };`;
  const source = await createSource(errand, code);
  const { hostname, port } = new URL(errand.client.url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  socket.write(
    `GET ${streamPath(source.id)} HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer ${errand.client.key}\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  await using other = await listen(errand, streamPath(source.id));
  for (let n = 0; n < 6; n++) await post(source, { n });
  // All of it has gone to one who reads, and one who does not holds nobody up.
  await other.count(30);
  const parser = new Parser();
  const takes = (chunk: Buffer): void => parser.take(chunk.toString('latin1'));
  takes(head.subarray(head.indexOf('\r\n\r\n') + 4));
  socket.on('data', takes);
  socket.resume();
  await until('all events', async () => parser.heard.length >= 30);
  assert.deepEqual(
    parser.heard.map(({ data }) => JSON.parse(data).event.n),
    range(0, 30),
  );
  socket.destroy();
});

test('the address of sources is known as well', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  await using stream = await listen(errand, `/sse/dc/${source.id}/emits`);
  await post(source, { n: 1 });
  assert.deepEqual(numbersOf(await stream.count(1)), [1]);
  const workflow = await errand.workflow('export default () => 1;');
  assert.equal((await errand.client.request('GET', `/sse/dc/${workflow.id}/emits`)).status, 404);
  const bare = await fetch(`${errand.client.url}/sse/dc/${source.id}/emits`);
  assert.equal(bare.status, 401);
  await bare.body?.cancel();
});

test('bad requests for a stream say why', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const refused = async (path: string, headers: Record<string, string> = {}) => {
    const { status, json } = await errand.client.request('GET', path, undefined, headers);
    return [status, json.error];
  };
  for (const id of ['yesterday', '12', '1782000000123-4096', '-1-0']) {
    const [status, error] = await refused(streamPath(source.id), { 'last-event-id': id });
    assert.equal(status, 400);
    assert.match(error, /^Last-Event-ID must be the id of a record/);
  }
  const [never, why] = await refused(streamPath(source.id, '?last_event_id=8000000000000-0'));
  assert.equal(never, 400);
  assert.match(why, /no record that was given so far/);
  assert.equal((await refused(streamPath(source.id, '?event_name=$in')))[0], 422);
  assert.equal((await refused(streamPath(source.id, `?event_name=${'x'.repeat(200)}`)))[0], 400);
  assert.equal((await refused(streamPath('dc_0000000000000000')))[0], 404);
  const workflow = await errand.workflow('export default () => 1;');
  assert.equal((await refused(streamPath(workflow.triggers[0].id)))[0], 404);
});

test('a stream is its owner’s alone', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const other = await createOwner(errand, 'Bea');
  assert.equal((await other.client.request('GET', streamPath(source.id))).status, 404);
  const inQuery = await fetch(`${errand.client.url}${streamPath(source.id, `?key=${errand.client.key}`)}`);
  assert.equal(inQuery.status, 401);
  await inQuery.body?.cancel();
});

test('open streams are counted', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const streams = await Promise.all(range(0, 3).map(() => listen(errand, streamPath(source.id))));
  assert.equal(await openStreams(errand), 3);
  for (const stream of streams) await stream[Symbol.asyncDispose]();
  await until('no stream', async () => (await openStreams(errand)) === 0);
});

async function openStreams(errand: Errand): Promise<number> {
  const { text } = await errand.client.request('GET', '/metrics');
  return Number(/^errand_streams_open (\d+)$/m.exec(text)?.[1]);
}

test('many readers of one source all hear it', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const streams: Listener[] = await Promise.all(range(0, 50).map(() => listen(errand, streamPath(source.id))));
  await postMany(source, 0, 20);
  for (const stream of streams) assert.deepEqual(numbersOf(await stream.count(20)), range(0, 20));
  await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()));
});
