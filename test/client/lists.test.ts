// Lists, streams and exports of a real server, read with the client.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Errand, ProblemError, type StreamErrorsItem, type StreamEvent } from '../../src/client/client.ts';
import { type Errand as Server, startErrand } from '../support/errand.ts';
import { freePort } from '../support/port.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { sendJson, startScripted } from './server.ts';

const newErrand = shareErrand();
const THROWS = `export default ({ steps }) => { throw new TypeError('no ' + steps.trigger.event.body.n); };`;

const clientOf = ({ client: { url, key } }: Pick<Server, 'client'>): Errand => new Errand({ url, key });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('a list goes on until its last page', async () => {
  await using errand = await newErrand();
  const client = clientOf(errand);
  for (const n of [1, 2, 3, 4, 5]) await client.createDataStore({ name: `store ${n}` });
  const page = await client.listDataStores({ limit: 2 });
  assert.deepEqual([page.data.length, page.page_info.total_count], [2, 5]);
  const pages = await all(client.listDataStores({ limit: 2 }).pages());
  assert.deepEqual(
    pages.map(({ data }) => data.length),
    [2, 2, 1, 0],
  );
  const listed = await all(client.listDataStores({ limit: 2 }));
  const names = ['store 5', 'store 4', 'store 3', 'store 2', 'store 1'];
  assert.deepEqual(
    listed.map(({ name }) => name),
    names,
  );
  // Behind a record, and before one: from there to the newest.
  const [, , third] = listed;
  const older = await all(client.listDataStores({ limit: 1, after: third?.id }));
  assert.deepEqual(
    older.map(({ name }) => name),
    names.slice(3),
  );
  const newer = await all(client.listDataStores({ limit: 1, before: third?.id }));
  assert.deepEqual(
    newer.map(({ name }) => name),
    ['store 4', 'store 5'],
  );
});

test('what fits on the first page is asked for once', async () => {
  await using errand = await newErrand();
  const paths: string[] = [];
  const counting = new Errand({
    ...errand.client,
    fetch: (input, init) => {
      paths.push(String(input));
      return fetch(input, init);
    },
  });
  await counting.createDataStore({ name: 'one' });
  assert.equal((await all(counting.listDataStores())).length, 1);
  assert.equal((await all(counting.listWebhooks())).length, 0);
  assert.equal(paths.length, 3);
});

test('a search goes on behind a page that is empty', async () => {
  const pages = [
    { page_info: { count: 0, total_count: null, end_cursor: null, next_cursor: '5-0' }, data: [] },
    { page_info: { count: 1, total_count: null, end_cursor: 'r_1', next_cursor: '3-0' }, data: [{ id: 'r_1' }] },
    { page_info: { count: 1, total_count: null, end_cursor: 'r_2', next_cursor: null }, data: [{ id: 'r_2' }] },
  ];
  await using server = await startScripted((response, _asked, n) => sendJson(response, 200, pages[n]));
  const runs = await all(new Errand({ url: server.url, key: 'k' }).searchRuns({ state: 'failed' }));
  assert.deepEqual(
    runs.map(({ id }) => id),
    ['r_1', 'r_2'],
  );
  assert.deepEqual(
    server.asked.map(({ path }) => path),
    ['/v1/runs?state=failed', '/v1/runs?state=failed&after=5-0', '/v1/runs?state=failed&after=3-0'],
  );
});

test('another owner is refused what is not theirs', async () => {
  await using one = await newErrand();
  await using other = await newErrand();
  const { data } = await clientOf(one).createDataStore({ name: 'mine' });
  const asked = clientOf(other).getDataStore({ id: data.id });
  await assert.rejects(asked, (error) => error instanceof ProblemError && error.code === 'not_found');
  assert.deepEqual(await all(clientOf(other).listDataStores()), []);
});

test('an export is every error, also when it is cut off', async () => {
  await using errand = await newErrand();
  const failing = await errand.workflow(THROWS);
  for (const n of [1, 2, 3]) await errand.send(failing, { n });
  await errand.errors(failing.id, 3);
  let opened = 0;
  const client = new Errand({
    ...errand.client,
    // The first answer ends within its second line.
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (opened++ > 0) return response;
      const text = await response.text();
      return new Response(text.slice(0, text.indexOf('\n') + 20), { headers: response.headers });
    },
  });
  const errors = await all(client.exportErrors({ code: 'TypeError' }));
  assert.deepEqual(
    errors.map(({ error }) => error.msg),
    ['no 1', 'no 2', 'no 3'],
  );
  assert.match(errors[0]?.original_event_text ?? '', /"body":\{"n":1\}/);
  assert.equal(opened, 2);
});

test('a stream goes on where it was when its server has restarted', async () => {
  const port = String(await freePort());
  await using errand = await startErrand({ ERRAND_PORT: port });
  const failing = await errand.workflow(THROWS);
  const ended = new AbortController();
  const heard: StreamEvent<StreamErrorsItem>[] = [];
  const lost: unknown[] = [];
  const connected: number[] = [];
  const listening = (async () => {
    const stream = clientOf(errand).streamErrors(
      { code: 'TypeError' },
      {
        signal: ended.signal,
        onConnect: () => connected.push(lost.length),
        onDisconnect: (error) => lost.push(error),
      },
    );
    for await (const event of stream) heard.push(event);
  })();
  const messages = (): string[] => heard.map((event) => (event.kind === 'event' ? event.data.event.error.msg : 'gap'));
  let n = 0;
  await until('the stream to listen', async () => {
    await errand.send(failing, { n: n++ });
    await errand.errors(failing.id, n);
    return heard.length > 0;
  });
  await errand.restart();
  // Before the stream is back.
  await errand.send(failing, { n: 'during' });
  await until('the error that came meanwhile', () => messages().includes('no during'));
  await errand.send(failing, { n: 'after' });
  await until('the error that came behind', () => messages().includes('no after'));
  assert.equal(new Set(messages()).size, heard.length);
  // Once at first, and once behind what was lost; attempts meanwhile were not open.
  assert.deepEqual(connected, [0, lost.length]);
  assert.ok(lost.length > 0 && heard.every((event) => event.kind === 'event' && event.id === event.data.id));
  ended.abort();
  await assert.rejects(listening, { name: 'AbortError' });
});

test('a stream that is left closes its connection', async () => {
  await using errand = await startErrand();
  const open = async (): Promise<string | undefined> =>
    /^errand_streams_open (\d+)/m.exec(await clientOf(errand).getMetrics())?.[1];
  const failing = await errand.workflow(THROWS);
  const { data } = await clientOf(errand).runWorkflow({ id: failing.id, event: { body: { n: 1 } } });
  assert.ok(data.run_id);
  const [error] = await errand.errors(failing.id, 1);
  const before = `${Number(error.id.split('-')[0]) - 1}-0`;
  for await (const event of clientOf(errand).streamErrors({}, { lastEventId: before })) {
    assert.equal(event.kind === 'event' && event.id, error.id);
    assert.equal(await open(), '1');
    break;
  }
  await until('no stream open', async () => (await open()) === '0');
});

test('a stream that is refused says so', async () => {
  await using errand = await newErrand();
  const stream = clientOf(errand).streamErrors({ emitter_id: 'p_nothing' });
  await assert.rejects(all(stream), { name: 'ProblemError', code: 'not_found' });
  const revoked = new Errand({ url: errand.url, key: 'no-key-of-any-owner-at-all' });
  await assert.rejects(all(revoked.streamErrors()), { code: 'unauthenticated' });
});

test('a gap in a stream is told as one', async () => {
  await using server = await startScripted((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('retry: 1\n\nevent: $gap\ndata: {"after":"5-0","message":"may be gone"}\n\n');
  });
  const client = new Errand({ url: server.url, key: 'k' });
  const events = await all(client.streamErrors({}, { lastEventId: '5-0', reconnects: false }));
  assert.deepEqual(events, [{ kind: 'gap', after: '5-0', message: 'may be gone' }]);
  assert.equal(server.asked[0]?.headers['last-event-id'], '5-0');
});

test('a stream that falls silent is connected again', async () => {
  const ended = new AbortController();
  await using server = await startScripted((response, _asked, n) => {
    if (n === 2) return ended.abort();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(n === 0 ? 'retry: 1\nid: 7-0\n\n' : ':\n\n');
  });
  const client = new Errand({ url: server.url, key: 'k' });
  await assert.rejects(all(client.streamErrors({}, { idleTimeoutMs: 30, signal: ended.signal })), {
    name: 'AbortError',
  });
  assert.deepEqual(
    server.asked.map(({ headers }) => headers['last-event-id']),
    [undefined, '7-0', '7-0'],
  );
});
