// What a source's interfaces bring: HTTP requests with and without an answer of its own, and the clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { startGate } from '../support/gate.ts';
import { createSource, emissions, trySource } from '../support/sources/sources.ts';
import { until } from '../support/wait.ts';
import { pass } from '../support/waits.ts';

const HOUR_MS = 3_600_000;

test('an HTTP event has all its parts', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`,
  );
  const raw = '{ "b": 1.50,\n"a": [1] }';
  const answer = await fetch(`${source.endpoint_url}/some/path?x=1&y=two`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'X-Mixed-Case': 'Kept' },
    body: raw,
  });
  assert.equal(answer.status, 200);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.method, 'PUT');
  assert.match(event.path, /\/some\/path$/);
  assert.deepEqual(event.query, { x: '1', y: 'two' });
  assert.equal(event.headers['x-mixed-case'], 'Kept');
  assert.equal(event.bodyRaw, raw);
  assert.deepEqual(event.body, { a: [1], b: 1.5 });
  assert.equal(event.client_ip, '127.0.0.1');
  assert.match(event.url, /^http.*\/some\/path\?x=1&y=two$/);
});

test('a body that is no JSON is a string', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run({ body, bodyRaw }) { this.$emit({ body, bodyRaw }); } };`,
  );
  await fetch(source.endpoint_url, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'half a {' });
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, { body: 'half a {', bodyRaw: 'half a {' });
});

test('a caller gets 200 before the run', async () => {
  await using errand = await startErrand();
  await using gate = await startGate();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http', gate: 'string' },
      async run() { await fetch(this.gate); this.$emit({ through: true }); },
    };`,
    { configured_props: { gate: gate.url } },
  );
  const answer = await fetch(source.endpoint_url, { method: 'POST', body: 'x' });
  assert.equal(answer.status, 200);
  await gate.wait(1);
  gate.open();
  await emissions(errand, source.id, 1);
});

test('respond takes the shapes that code uses', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: { type: '$.interface.http', customResponse: true } },
      async run({ query }) {
        const { respond } = this.http;
        if (query.as === 'challenge') return respond({ status: 200, headers: { 'content-type': 'text/plain' }, body: query.challenge });
        if (query.as === 'status') return this.http.respond({ status: '204' });
        if (query.as === 'buffer') return respond({ status: 200, body: Buffer.from('bytes') });
        if (query.as === 'late') {
          respond({ status: 201, body: { first: true } });
          throw new Error('after the answer');
        }
        await respond({ status: 418, body: [1] });
        respond({ status: 500, body: 'second' });
      },
    };`,
  );
  const ask = async (query: string): Promise<[number, string]> => {
    const answer = await fetch(`${source.endpoint_url}?${query}`, { method: 'POST' });
    return [answer.status, await answer.text()];
  };
  assert.deepEqual(await ask('as=challenge&challenge=abc'), [200, 'abc']);
  assert.deepEqual(await ask('as=status'), [204, '']);
  assert.deepEqual(await ask('as=buffer'), [200, 'bytes']);
  assert.deepEqual(await ask(''), [418, '[1]'], 'the first answer stands');
  assert.deepEqual(await ask('as=late'), [201, '{"first":true}']);
  await errand.errors(source.id, 1);
});

test('the answer comes before the run ends', async () => {
  await using errand = await startErrand();
  await using gate = await startGate();
  const source = await createSource(
    errand,
    `export default {
      props: { http: { type: '$.interface.http', customResponse: true }, gate: 'string' },
      async run() {
        this.http.respond({ status: 200, body: 'taken' });
        await fetch(this.gate);
        this.$emit({ through: true });
      },
    };`,
    { configured_props: { gate: gate.url } },
  );
  // Vendors give up after seconds: the answer must not wait for the slow rest of the run.
  const answer = await fetch(source.endpoint_url, { method: 'POST' });
  assert.deepEqual([answer.status, await answer.text()], [200, 'taken']);
  await gate.wait(1);
  gate.open();
  await emissions(errand, source.id, 1);
});

test('without run the event is emitted', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, `export default { props: { http: '$.interface.http' } };`);
  await fetch(source.endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"n":1}',
  });
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual([event.method, event.body], ['POST', { n: 1 }]);
});

/** Emits its ticks. */
const ticking = (timer: string): string =>
  `export default { props: { timer: ${timer} }, run(event) { this.$emit(event); } };`;

async function tick(errand: Errand, source: Json, ms: number, count = 1): Promise<Json> {
  await pass(errand, ms);
  const [record] = await emissions(errand, source.id, count);
  return record.event;
}

test('an interval ticks by the clock', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    ticking(`{ type: '$.interface.timer', default: { intervalSeconds: 60 * 15 } }`),
  );
  const first = await tick(errand, source, HOUR_MS / 4 + 1000);
  assert.equal(first.interval_seconds, 900);
  assert.ok(Number.isInteger(first.timestamp) && first.timestamp < 10_000_000_000, 'epoch seconds');
  await errand.restart();
  const second = await tick(errand, source, HOUR_MS / 4 + 1000, 2);
  assert.ok(second.timestamp - first.timestamp >= 899, `${second.timestamp} - ${first.timestamp}`);
});

test('a configured interval replaces the default', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    ticking(`{ type: '$.interface.timer', default: { intervalSeconds: 86400 } }`),
    { configured_props: { timer: { intervalSeconds: 60 } } },
  );
  assert.equal((await tick(errand, source, 61_000)).interval_seconds, 60);
});

test('a static timer needs no value', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, ticking(`{ type: '$.interface.timer', static: { intervalSeconds: 60 } }`));
  assert.equal((await tick(errand, source, 61_000)).interval_seconds, 60);
});

test('cron ticks in its timezone', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, ticking(`{ type: '$.interface.timer', default: { cron: '30 9 * * *' } }`), {
    configured_props: { timer: { cron: '30 9 * * *', timezone: 'Asia/Tokyo' } },
  });
  // Tokyo is nine hours ahead, all year.
  const nowMs = Date.now();
  const dueMs = Math.ceil((nowMs - HOUR_MS / 2) / (24 * HOUR_MS)) * 24 * HOUR_MS + HOUR_MS / 2;
  const event = await tick(errand, source, dueMs - nowMs + 1000);
  const time = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Tokyo', timeStyle: 'short' });
  assert.equal(time.format(event.timestamp * 1000), '09:30');
  assert.equal(event.cron, '30 9 * * *');
  assert.ok(event.timezone_configured, JSON.stringify(event));
  assert.ok(event.timezone_utc, JSON.stringify(event));
});

test('a timer without run emits its ticks', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default { props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 60 } } } };`,
  );
  assert.equal((await tick(errand, source, 61_000)).interval_seconds, 60);
});

test('a source may have both interfaces', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      props: {
        http: '$.interface.http',
        timer: { type: '$.interface.timer', default: { intervalSeconds: 60 * 30 } },
        db: '$.service.db',
      },
      methods: { renew() { this.db.set('renewed', (this.db.get('renewed') ?? 0) + 1); } },
      run(event) {
        const { interval_seconds: interval } = event;
        if (interval || !event.headers) return this.renew();
        this.$emit({ renewed: this.db.get('renewed') ?? 0 });
      },
    };`,
  );
  await fetch(source.endpoint_url, { method: 'POST' });
  await emissions(errand, source.id, 1);
  await pass(errand, HOUR_MS / 2 + 1000);
  const renewed = await until('a call after the renewal', async () => {
    await fetch(source.endpoint_url, { method: 'POST' });
    const records = await emissions(errand, source.id, 1);
    return records.find(({ event }) => event.renewed > 0);
  });
  assert.equal(renewed.event.renewed, 1);
});

test('a wrong timer is refused by name', async () => {
  await using errand = await startErrand();
  for (const timer of [
    { intervalSeconds: 'soon' },
    { cron: 'every day' },
    { cron: '0 9 * * *', timezone: 'Mars/Base' },
  ]) {
    const answer = await trySource(errand, ticking(`'$.interface.timer'`), { configured_props: { timer } });
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.text, /timer/);
  }
});
