// Sources that run by the clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createSource, emissions, eventsOf } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';

const TICK = `export default {
  props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } } },
  async run(event) { this.$emit(event); },
};`;
const MINUTE_MS = 60_000;

/** Lets time pass. A new timer wakes what waits for the next one to be due; without it the poll would, seconds later. */
async function pass(errand: Errand, ms: number): Promise<void> {
  errand.forward(ms);
  await createSource(errand, TICK, { configured_props: { timer: { intervalSeconds: 86_400 } } });
}

test('an interval timer runs when it is due', async () => {
  await using errand = await startErrand();
  const before = Math.floor(Date.now() / 1000);
  const source = await createSource(errand, TICK, { configured_props: { timer: { intervalSeconds: 60 } } });
  await pass(errand, MINUTE_MS);
  const [first] = await emissions(errand, source.id, 1);
  assert.equal(first.event.interval_seconds, 60);
  assert.ok(Number.isInteger(first.event.timestamp), 'epoch seconds');
  await errand.settled();
  const count = (await emissions(errand, source.id, 1)).length;
  await pass(errand, MINUTE_MS);
  const records = await emissions(errand, source.id, count + 1);
  assert.ok(records[0].event.timestamp >= before + 60, 'the clock that was set forward');
  assert.ok(records[0].event.timestamp > first.event.timestamp || records[0].id > first.id);
});

test('a timer takes its interval from the default', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, TICK);
  await pass(errand, 15 * MINUTE_MS);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.interval_seconds, 900);
});

test('a cron timer tells its time zone', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, TICK, { configured_props: { timer: { cron: '0 * * * *' } } });
  await pass(errand, 60 * MINUTE_MS);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.cron, '0 * * * *');
  assert.ok(Number.isInteger(event.timestamp));
  assert.ok('timezone_configured' in event, JSON.stringify(event));
  assert.ok('timezone_utc' in event, JSON.stringify(event));
});

test('a timer goes on after a restart', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, TICK, { configured_props: { timer: { intervalSeconds: 60 } } });
  await pass(errand, MINUTE_MS);
  const { length } = await emissions(errand, source.id, 1);
  await errand.settled();
  await errand.restart();
  await pass(errand, MINUTE_MS);
  const records = await emissions(errand, source.id, length + 1);
  assert.equal(records[0].event.interval_seconds, 60);
});

test('a changed interval holds from then on', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, TICK, { configured_props: { timer: { intervalSeconds: 86_400 } } });
  await errand.client.put(`/v1/sources/${source.id}`, { configured_props: { timer: { intervalSeconds: 30 } } });
  await pass(errand, MINUTE_MS);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.interval_seconds, 30);
});

test('a tick that finds the last one running is skipped', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const source = await createSource(
    errand,
    `export default {
      props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 3 } }, to: 'string' },
      async run(event) {
        while ((await fetch(this.to)).status !== 204);
        this.$emit(event.timestamp);
      },
    };`,
    { configured_props: { to: receiver.url } },
  );
  // In steps that a node survives: for longer it must not be silent, by the clock of a database.
  const step = (): Promise<void> => pass(errand, 3000);
  const skipped = async (): Promise<number> => (await errand.client.get(`/v1/sources/${source.id}`)).data.skipped_ticks;
  await step();
  await receiver.wait(1);
  await until('two skipped ticks', async () => {
    await step();
    return (await skipped()) >= 2;
  });
  const before = await skipped();
  assert.deepEqual((await errand.client.get(`/v1/sources/${source.id}/event_summaries`)).data, []);
  receiver.answer(204);
  await emissions(errand, source.id, 1);
  await errand.restart();
  assert.ok((await skipped()) >= before);
  await step();
  await emissions(errand, source.id, 2);
});

test('an inactive timer rests until active again', async () => {
  await using errand = await startErrand();
  const timer = { configured_props: { timer: { intervalSeconds: 60 } } };
  const [resting, going] = [await createSource(errand, TICK, timer), await createSource(errand, TICK, timer)];
  const paused = await errand.client.put(`/v1/sources/${resting.id}`, { active: false });
  assert.equal(paused.active, false);
  await pass(errand, 10 * MINUTE_MS);
  await emissions(errand, going.id, 1);
  await errand.settled();
  assert.deepEqual((await errand.client.get(`/v1/sources/${resting.id}/event_summaries`)).data, []);
  await errand.client.put(`/v1/sources/${resting.id}`, { active: true });
  await pass(errand, MINUTE_MS);
  await emissions(errand, resting.id, 1);
});

test('a timer without a schedule is refused', async () => {
  await using errand = await startErrand();
  const code = `export default { props: { timer: '$.interface.timer' }, run(event) { this.$emit(event); } };`;
  const refused = [
    {},
    { timer: {} },
    { timer: { cron: 'every day' } },
    { timer: { intervalSeconds: 0 } },
    { timer: { intervalSeconds: 'x' } },
  ];
  for (const configured_props of refused) {
    const answer = await errand.client.request('POST', '/v1/sources', { component_code: code, configured_props });
    assert.equal(answer.status, 422, `${JSON.stringify(configured_props)}: ${answer.text}`);
    assert.equal(answer.json.errors?.[0]?.parameter.split('.').at(-1), 'timer', `names the prop: ${answer.text}`);
  }
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
});

test('a polling source remembers what it saw', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      dedupe: 'unique',
      props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 60 } }, db: '$.service.db' },
      async run() {
        const page = (this.db.get('page') ?? 0) + 1;
        this.db.set('page', page);
        for (const id of [page, page + 1]) this.$emit({ id, page }, { id, summary: 'item ' + id, ts: id });
      },
    };`,
  );
  await pass(errand, MINUTE_MS);
  await emissions(errand, source.id, 2);
  await errand.settled();
  await errand.restart();
  await pass(errand, MINUTE_MS);
  const events = eventsOf(await emissions(errand, source.id, 3));
  assert.deepEqual(events.slice(0, 3), [
    { id: 1, page: 1 },
    { id: 2, page: 1 },
    { id: 3, page: 2 },
  ]);
});
