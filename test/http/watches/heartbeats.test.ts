// Heartbeats over HTTP: made, pinged by a script's means, missed, ended, and nobody else's.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { beat, failedHeartbeat, pass } from '../../support/heartbeats.ts';
import { createOwner } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { until } from '../../support/wait.ts';

const shown = async (errand: Errand, { id }: Json): Promise<Json> =>
  (await errand.client.get(`/v1/heartbeats/${id}`)).data;

const errorsOf = async (errand: Errand, { id }: Json): Promise<Json[]> =>
  (await errand.client.get(`/v1/heartbeats/${id}/$errors/event_summaries?expand=event`)).data;

describe('heartbeats', { concurrency: 4 }, () => {
  it('say why their errors are not replayed', async () => {
    await using errand = await startErrand();
    const [id, recordId] = await failedHeartbeat(errand.client);
    const { client: other } = await createOwner(errand, 'other');
    for (const path of ['workflows', 'sources']) {
      const replay = (record: string) => `/v1/${path}/${id}/$errors/${record}/replay`;
      const refused = assertProblem(await errand.client.request('POST', replay(recordId), {}), 404, recordId);
      assert.match(refused.detail, /is not replayed: it is of a watch: no run failed/);
      assertProblem(await errand.client.request('POST', replay('1-0'), {}), 404, id);
      assertProblem(await other.request('POST', replay(recordId), {}), 404, id);
    }
  });

  it('are missed once, told by mail, and heard again', async () => {
    await using errand = await startErrand();
    const made = await beat(errand);
    assert.match(made.id, /^hb_\w{16}$/);
    assert.match(made.ping_url, /\/h\/[\w-]{22,}$/);
    assert.deepEqual([made.status, made.interval_seconds, made.grace_seconds, made.timezone], ['new', 10, 30, 'UTC']);
    const ping = await fetch(made.ping_url);
    assert.deepEqual([ping.status, await ping.text()], [200, 'OK\n']);
    assert.deepEqual([(await shown(errand, made)).status, (await shown(errand, made)).pings], ['up', 1]);
    await pass(errand);
    const late = await shown(errand, made);
    assert.deepEqual(
      [late.status, late.codes, late.down_since_ms],
      ['down', ['Silent'], late.next_expected_at_ms + 30_000],
    );
    const [error] = await errorsOf(errand, made);
    assert.deepEqual([error.event.error.code, error.metadata.emitter_id], ['Silent', made.id]);
    assert.equal(error.event.original_context.heartbeat_name, 'Backup');
    assert.equal(error.event.original_event.grace_ms, 30_000);
    const mail = await until('the mail', async () => (await errand.outbox()).find((text) => text.includes('Backup')));
    assert.match(mail, /Silent/);
    const { data: found } = await errand.client.get(`/v1/errors?emitter_id=${made.id}`);
    assert.equal(found.length, 1);
    await errand.restart();
    await fetch(made.ping_url.replace(/^.*\/h\//, `${errand.url}/h/`), { method: 'POST', body: 'done' });
    assert.deepEqual([(await shown(errand, made)).status, (await errorsOf(errand, made)).length], ['up', 1]);
    const recovered = `/v1/heartbeats/${made.id}/event_summaries?event_name=$recovered&expand=event`;
    const { data } = await errand.client.get(recovered);
    assert.deepEqual([data.length, data[0].event.code, data[0].event.since_ms], [1, 'Silent', late.down_since_ms]);
    const { data: groups } = await errand.client.get(`/v1/error_groups?emitter_id=${made.id}`);
    assert.deepEqual(
      groups.map(({ state }: Json) => state),
      ['resolved'],
    );
  });

  it('take what Healthchecks takes, and tell of failures', async () => {
    await using errand = await startErrand();
    const made = await beat(errand, { interval_seconds: undefined, cron: '0 3 * * *', timezone: 'Europe/Vienna' });
    assert.equal(made.cron, '0 3 * * *');
    const call = async (path: string, init: RequestInit = {}) => (await fetch(made.ping_url + path, init)).status;
    assert.equal(await call('', { method: 'HEAD' }), 200);
    assert.equal(await call('/start'), 200);
    assert.equal(typeof (await shown(errand, made)).started_at_ms, 'number');
    assert.equal(await call('/0?rid=1'), 200);
    const ended = await shown(errand, made);
    assert.deepEqual([ended.started_at_ms, ended.pings, typeof ended.last_duration_ms], [null, 3, 'number']);
    assert.deepEqual(await errorsOf(errand, made), []);
    const log = `${'x'.repeat(150_000)}`;
    assert.equal(await call('/17', { method: 'POST', body: log }), 200);
    const [error] = await errorsOf(errand, made);
    assert.deepEqual([error.event.error.code, error.event.original_event.exit_code], ['HeartbeatFailed', 17]);
    assert.equal(error.event.original_event.log.length, 100_000);
    assert.equal(await call('/fail', { method: 'POST', body: new Uint8Array([0, 0xff, 0x22]) }), 200);
    const [binary] = await errorsOf(errand, made);
    assert.equal(binary.event.original_event.log, '\u0000\ufffd"');
    assert.deepEqual((await shown(errand, made)).codes, ['HeartbeatFailed']);
    for (const [path, method, status] of [
      ['/256', 'GET', 404],
      ['/end', 'GET', 404],
      ['/start/more', 'GET', 404],
      ['', 'DELETE', 405],
      ['', 'PUT', 405],
    ] as const) {
      assert.equal(await call(path, { method }), status, `${method} ${path}`);
    }
    const refused = await fetch(made.ping_url, { method: 'OPTIONS' });
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, POST']);
    assert.equal((await fetch(`${errand.url}/h/${'a'.repeat(32)}`)).status, 404);
    assert.equal((await fetch(`${errand.url}/h/`)).status, 404);
    assert.equal((await shown(errand, made)).pings, 5);
  });

  it('count a ping whatever the size of its body', async () => {
    await using errand = await startErrand();
    const made = await beat(errand);
    const log = Buffer.alloc(600_000, 'log ');
    const call = async (path: string, body: Uint8Array | ReadableStream, headers: Record<string, string> = {}) => {
      const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
      const answer = await fetch(made.ping_url + path, init);
      return [answer.status, await answer.text()];
    };
    const OK = [200, 'OK\n'];
    assert.deepEqual(await call('', log), OK);
    assert.deepEqual(await call('/1', log), OK);
    assert.deepEqual(await call('/2', new Blob([log]).stream()), OK);
    assert.deepEqual(await call('/3', gzipSync(Buffer.alloc(20_000_000, 'log ')), { 'content-encoding': 'gzip' }), OK);
    const random = Buffer.from(randomBytes(450_000).toString('hex'));
    assert.deepEqual(await call('/4', gzipSync(random, { level: 0 }), { 'content-encoding': 'gzip' }), OK);
    assert.deepEqual(await call('/5', brotliCompressSync(log), { 'content-encoding': 'br' }), OK);
    const events = (await errorsOf(errand, made)).map(({ event }) => event.original_event).reverse();
    assert.deepEqual(
      events.map(({ exit_code: code }) => code),
      [1, 2, 3, 4, 5],
    );
    const begun = log.subarray(0, 100_000).toString();
    const logs = [begun, begun, begun, random.subarray(0, 100_000).toString(), begun];
    for (const [n, event] of events.entries()) assert.ok(event.log === logs[n], `the log of ${n + 1}`);
    const { pings, failures, status } = await shown(errand, made);
    assert.deepEqual([pings, failures, status], [6, 5, 'down']);
  });

  it('count a ping whose body does not end, and read it within bounds', async () => {
    await using errand = await startErrand();
    const made = await beat(errand);
    const { hostname, port, pathname } = new URL(made.ping_url);
    const socket = connect(Number(port), hostname);
    let [sent, answer] = [0, ''];
    socket.on('data', (data) => {
      answer += data;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // The server closes while this side still sends.
    socket.on('error', () => {});
    socket.write(`POST ${pathname}/7 HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n`);
    const piece = Buffer.alloc(65_536, 'x');
    const more = (): void => {
      while (!socket.destroyed) {
        sent += piece.length;
        if (!socket.write(piece)) break;
      }
    };
    socket.on('drain', more);
    more();
    await closed;
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /\r\nconnection: close\r\n/i);
    assert.ok(sent < 100_000_000, `${sent} bytes`);
    const [error] = await errorsOf(errand, made);
    assert.deepEqual([error.event.original_event.exit_code, error.event.original_event.log.length], [7, 100_000]);
  });

  it('are not pinged by what follows links, when told so', async () => {
    await using errand = await startErrand();
    const made = await beat(errand, { post_only: true });
    assert.equal(made.post_only, true);
    const call = (method: string, path = '') => fetch(made.ping_url + path, { method });
    for (const path of ['', '/start', '/fail', '/0', '/1']) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await call(method, path);
        assert.deepEqual([status, headers.get('allow')], [405, 'POST'], `${method} ${path}`);
      }
    }
    assert.deepEqual([(await shown(errand, made)).pings, await errorsOf(errand, made)], [0, []]);
    assert.equal((await call('POST')).status, 200);
    await errand.client.put(`/v1/heartbeats/${made.id}`, { post_only: false });
    assert.equal((await call('HEAD')).status, 200);
    const { pings, post_only, interval_seconds } = await shown(errand, made);
    assert.deepEqual([pings, post_only, interval_seconds], [2, false, 10]);
  });

  it('are found by their whole key alone', async () => {
    await using errand = await startErrand();
    const made = await beat(errand);
    const deleted = await beat(errand);
    await errand.client.delete(`/v1/heartbeats/${deleted.id}`);
    const key = made.ping_url.split('/h/')[1];
    const swapped = key === key.toLowerCase() ? key.toUpperCase() : key.toLowerCase();
    const others = [
      ...[key.slice(0, -1), `${key}x`, swapped, `${key}%00`, `${key};`, `.${key}`, `${key}//`],
      ...[deleted.ping_url.split('/h/')[1], made.id, "'%20OR%20''='", '%', '_'.repeat(22), '*', 'x'.repeat(10_000)],
    ];
    const answers = new Set<string>();
    for (const other of others) {
      const answer = await fetch(`${errand.url}/h/${other}`, { method: 'POST', body: 'x' });
      assert.equal(answer.status, 404, other.slice(0, 100));
      const { instance: _, request_id: __, ...problem } = (await answer.json()) as Json;
      answers.add(JSON.stringify([answer.status, problem]));
    }
    assert.equal(answers.size, 1, [...answers].join('\n'));
    assert.match([...answers][0] as string, /^\[404,/);
    assert.equal((await shown(errand, made)).pings, 0);
  });

  it('are counted, however many come at once', async () => {
    await using errand = await startErrand();
    const made = await beat(errand);
    const calls = Array.from({ length: 300 }, (_, n) => fetch(made.ping_url + (n === 150 ? '/fail' : '')));
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
    assert.equal((await shown(errand, made)).pings, 300);
    assert.equal((await errorsOf(errand, made)).length, 1);
  });

  it('are not missed for a time in which no server ran', async () => {
    await using errand = await startErrand();
    const made = await beat(errand);
    await fetch(made.ping_url);
    const settings = { watch: { silent_after_ms: 60_000 } };
    const workflow = await errand.workflow('export default () => 1', { settings });
    await pass(errand, 0);
    await errand.stop();
    errand.forward(3_600_000);
    await errand.restart();
    await pass(errand, 1);
    assert.deepEqual([(await shown(errand, made)).status, await errorsOf(errand, made)], ['up', []]);
    const watches = `/v1/workflows/${workflow.id}/watches`;
    assert.equal((await errand.client.get(watches)).data[0].status, 'up');
    await pass(errand, 4);
    assert.equal((await shown(errand, made)).status, 'down');
    assert.equal((await errand.client.get(watches)).data[0].status, 'down');
  });

  it('refuse what is no schedule, by the name of the parameter', async () => {
    await using errand = await startErrand();
    const made = await beat(errand);
    const bad: readonly (readonly [Json, number, string])[] = [
      [{ interval_seconds: undefined }, 400, 'cron'],
      [{ cron: '* * * * *' }, 400, 'cron'],
      [{ interval_seconds: undefined, cron: 'nonsense' }, 422, 'cron'],
      [{ interval_seconds: undefined, cron: '0 3 * * *', timezone: 'Mars/Olympus' }, 422, 'timezone'],
      [{ interval_seconds: 9 }, 400, 'interval_seconds'],
      [{ grace_seconds: 29 }, 400, 'grace_seconds'],
      [{ grace_seconds: 1e12 }, 400, 'grace_seconds'],
      [{ name: '' }, 400, 'name'],
      [{ key: 'mine' }, 400, 'key'],
    ];
    for (const [more, status, parameter] of bad) {
      const { json, ...answer } = await errand.client.request('POST', '/v1/heartbeats', {
        name: 'Bad',
        interval_seconds: 10,
        ...more,
      });
      assert.deepEqual([answer.status, json.errors?.[0]?.parameter], [status, parameter], JSON.stringify(more));
    }
    const { status } = await errand.client.request('PUT', `/v1/heartbeats/${made.id}`, { interval_seconds: 1 });
    assert.equal(status, 400);
    assert.equal((await errand.client.get('/v1/heartbeats')).page_info.total_count, 1);
  });

  it('are their owner’s alone, audited, and heard by subscription', async () => {
    await using errand = await startErrand();
    const made = await beat(errand);
    const listener = await errand.workflow('export default ({ steps }) => steps.trigger.event.error.code');
    await errand.client.post(`/v1/subscriptions?emitter_id=${made.id}&listener_id=${listener.id}&event_name=$errors`);
    const { client } = await createOwner(errand, 'other');
    const paths = [`/v1/heartbeats/${made.id}`, `/v1/heartbeats/${made.id}/$errors/event_summaries`];
    for (const path of paths) assert.equal((await client.request('GET', path)).status, 404);
    assert.equal((await client.request('PUT', `/v1/heartbeats/${made.id}`, { active: false })).status, 404);
    assert.equal((await client.request('DELETE', `/v1/heartbeats/${made.id}`)).status, 404);
    assert.equal((await client.get('/v1/heartbeats')).page_info.total_count, 0);
    await fetch(`${made.ping_url}/fail`);
    const [run] = await errand.runs(listener.id, 1);
    assert.equal(run.event_name, '$errors');
    const paused = await errand.client.put(`/v1/heartbeats/${made.id}`, { active: false });
    assert.deepEqual([paused.status, paused.codes], ['paused', []]);
    await pass(errand);
    assert.equal((await errorsOf(errand, made)).length, 1);
    await errand.client.delete(`/v1/heartbeats/${made.id}`);
    assert.equal((await fetch(made.ping_url)).status, 404);
    const { data: audit } = await errand.client.get('/v1/audit');
    const operations = audit.map(({ operation }: Json) => operation);
    for (const operation of ['createHeartbeat', 'updateHeartbeat', 'deleteHeartbeat']) {
      assert.ok(operations.includes(operation), operation);
    }
    const metrics = await (
      await fetch(`${errand.url}/metrics`, { headers: { authorization: `Bearer ${errand.client.key}` } })
    ).text();
    assert.match(metrics, /errand_heartbeat_pings_total\{kind="fail"\} 1/);
    assert.match(metrics, /errand_watch_errors_total\{code="HeartbeatFailed"\} 1/);
  });
});

describe('a workflow that is watched', { concurrency: 4 }, () => {
  it('is an error when it is silent, until it runs', async () => {
    await using errand = await startErrand();
    const settings = { watch: { silent_after_ms: 60_000 } };
    const workflow = await errand.workflow('export default () => 1', { settings });
    assert.deepEqual(workflow.settings.watch, {
      silent_after_ms: 60_000,
      succeeded_within_ms: null,
      error_ratio: null,
    });
    const watch = async () => (await errand.client.get(`/v1/workflows/${workflow.id}/watches`)).data[0];
    assert.equal((await watch()).status, 'up');
    for (let n = 0; n < 3; n++) await pass(errand);
    const down = await until('silence', async () => ((await watch()).status === 'down' ? watch() : null));
    assert.deepEqual([down.setting, down.last_at_ms], ['silent_after_ms', null]);
    const [error] = (await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`)).data;
    assert.deepEqual([error.event.error.code, error.event.original_event.limit_ms], ['Silent', 60_000]);
    await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: {} });
    await until('the recovery', async () => (await watch()).status === 'up');
    const { data: errors } = await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries`);
    assert.equal(errors.length, 1);
    await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { watch: null } });
    assert.deepEqual((await errand.client.get(`/v1/workflows/${workflow.id}/watches`)).data, []);
  });

  it('is an error when too many of its runs fail', async () => {
    await using errand = await startErrand();
    const error_ratio = { over: 0.5, of_at_least: 2, window_ms: 60_000 };
    const settings = { watch: { error_ratio } };
    const workflow = await errand.workflow(`export default () => { throw new Error('no') }`, { settings });
    for (let n = 0; n < 2; n++) await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: {} });
    const path = `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`;
    const unhealthy = await until('Unhealthy', async () =>
      (await errand.client.get(path)).data.find(({ event }: Json) => event.error.code === 'Unhealthy'),
    );
    assert.match(unhealthy.event.error.msg, /2 of 2 runs failed within 1 min, more than 50 %/);
    for (const [watch, parameter] of [
      [{ silent_after_ms: 1 }, 'settings.watch.silent_after_ms'],
      [{ error_ratio: { ...error_ratio, over: 1 } }, 'settings.watch.error_ratio.over'],
      [{ error_ratio: { over: 0.5 } }, 'settings.watch.error_ratio.of_at_least'],
      [{ never: 1 }, 'settings.watch.never'],
    ] as const) {
      const refused = await errand.client.request('PUT', `/v1/workflows/${workflow.id}`, { settings: { watch } });
      assert.deepEqual([refused.status, refused.json.errors?.[0]?.parameter], [400, parameter]);
    }
  });
});
