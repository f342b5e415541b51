// Schedule triggers: a tick when it is due, one for all that were missed, none while inactive.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';

const ECHO = 'export default ({ steps }) => steps.trigger.event';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function scheduled(errand: Errand, trigger: Json, code = ECHO): Promise<Json> {
  return errand.workflow(code, { triggers: [{ type: 'schedule', ...trigger }] });
}

/** Lets a time of the day come, a second after it. */
function startAt(errand: Errand, hours: number): void {
  errand.forward(DAY_MS - (Date.now() % DAY_MS) + hours * 60 * MINUTE_MS + 1000);
}

/** Lets a minute begin, which is not over before the test is: no tick of a cron comes in between. */
function startOfMinute(errand: Errand): void {
  errand.forward(MINUTE_MS - (Date.now() % MINUTE_MS) + 1000);
}

async function eventOf(errand: Errand, run: Json): Promise<Json> {
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  return data.event;
}

async function countRuns(errand: Errand, workflow: Json): Promise<number> {
  const { page_info } = await errand.client.get(`/v1/workflows/${workflow.id}/runs`);
  return page_info.total_count;
}

// What the clock's jump made due shows at the next poll: these wait for it side by side.
describe('schedules', { concurrency: 4 }, () => {
  it('an interval ticks when it is over', async () => {
    await using errand = await startErrand();
    const workflow = await scheduled(errand, { interval_seconds: 3600 });
    assert.deepEqual([workflow.triggers[0].type, workflow.triggers[0].interval_seconds], ['schedule', 3600]);
    assert.match(workflow.triggers[0].id, /^ti_\w+$/);
    for (const count of [1, 2]) {
      errand.forward(3600_000);
      const [run] = await errand.runs(workflow.id, count);
      const event = await eventOf(errand, run);
      assert.equal(event.interval_seconds, 3600);
      assert.ok(Number.isInteger(event.timestamp));
      assert.ok(Math.abs(event.timestamp - run.created_at_ms / 1000) < 60);
      assert.equal(run.emitter_id, workflow.triggers[0].id);
    }
  });

  it('a tick that fails says TIMER', async () => {
    await using errand = await startErrand();
    const workflow = await scheduled(
      errand,
      { interval_seconds: 60 },
      `export default () => { throw new Error('tick') }`,
    );
    errand.forward(MINUTE_MS);
    const [error] = await errand.errors(workflow.id, 1);
    const { original_context: context, original_event: event } = error.event;
    assert.deepEqual([context.source_type, context.emitter_id], ['TIMER', workflow.triggers[0].id]);
    assert.equal(event.interval_seconds, 60);
    errand.forward(MINUTE_MS);
    assert.equal((await errand.errors(workflow.id, 2)).length, 2);
  });

  it('a tick has its documented members only', async () => {
    await using errand = await startErrand();
    const interval = await scheduled(errand, { interval_seconds: 60 });
    const cron = await scheduled(errand, { cron: '* * * * *', timezone: 'Europe/Berlin' });
    errand.forward(MINUTE_MS);
    const [[everyMinute], [everyCron]] = [await errand.runs(interval.id, 1), await errand.runs(cron.id, 1)];
    assert.deepEqual(Object.keys(await eventOf(errand, everyMinute)), [
      'timestamp',
      'interval_seconds',
      'due_at_ms',
      'missed_ticks',
    ]);
    const members = ['timestamp', 'cron', 'timezone_configured', 'timezone_utc', 'due_at_ms', 'missed_ticks'];
    assert.deepEqual(Object.keys(await eventOf(errand, everyCron)), members);
  });

  it('a cron ticks at its local time', async () => {
    await using errand = await startErrand();
    startAt(errand, 5); // an hour after it ticked
    const workflow = await scheduled(errand, { cron: '30 9 * * *', timezone: 'Asia/Kolkata' });
    errand.forward(DAY_MS);
    const [run] = await errand.runs(workflow.id, 1);
    const event = await eventOf(errand, run);
    assert.equal(event.cron, '30 9 * * *');
    assert.match(JSON.stringify(event.timezone_configured), /Asia\/Kolkata/);
    assert.equal(await countRuns(errand, workflow), 1);
  });

  it('a cron without zone is UTC', async () => {
    await using errand = await startErrand();
    const hour = new Date(Date.now() + 2 * 60 * MINUTE_MS).getUTCHours();
    const workflow = await scheduled(errand, { cron: `0 ${hour} * * *` });
    const other = await scheduled(errand, { cron: `0 ${(hour + 12) % 24} * * *` });
    errand.forward(2 * 60 * MINUTE_MS);
    await errand.runs(workflow.id, 1);
    assert.equal(await countRuns(errand, other), 0);
  });

  it('ticks missed while stopped run once', async () => {
    await using errand = await startErrand();
    startOfMinute(errand);
    const interval = await scheduled(errand, { interval_seconds: 60 });
    const cron = await scheduled(errand, { cron: '* * * * *' });
    await errand.stop();
    errand.forward(DAY_MS);
    await errand.restart();
    await errand.runs(interval.id, 1);
    await errand.runs(cron.id, 1);
    errand.forward(MINUTE_MS);
    await errand.runs(interval.id, 2);
    await errand.runs(cron.id, 2);
    assert.deepEqual([await countRuns(errand, interval), await countRuns(errand, cron)], [2, 2]);
  });

  it('a jump of the clock ticks once', async () => {
    await using errand = await startErrand();
    const workflow = await scheduled(errand, { interval_seconds: 60 });
    errand.forward(DAY_MS);
    await errand.runs(workflow.id, 1);
    errand.forward(MINUTE_MS);
    await errand.runs(workflow.id, 2);
    assert.equal(await countRuns(errand, workflow), 2);
  });

  it('an inactive workflow does not tick', async () => {
    await using errand = await startErrand();
    const workflow = await scheduled(errand, { interval_seconds: 60 });
    const other = await scheduled(errand, { interval_seconds: 60 });
    await errand.client.put(`/v1/workflows/${workflow.id}`, { active: false });
    for (const count of [1, 2]) {
      errand.forward(MINUTE_MS);
      await errand.runs(other.id, count);
    }
    assert.equal(await countRuns(errand, workflow), 0);
    await errand.client.put(`/v1/workflows/${workflow.id}`, { active: true });
    errand.forward(MINUTE_MS);
    await errand.runs(workflow.id, 1);
    await errand.runs(other.id, 3);
    assert.equal(await countRuns(errand, workflow), 1);
  });

  it('a deleted workflow ticks no more', async () => {
    await using errand = await startErrand();
    const workflow = await scheduled(errand, { interval_seconds: 60 });
    const other = await scheduled(errand, { interval_seconds: 60 });
    errand.forward(MINUTE_MS);
    await errand.runs(workflow.id, 1);
    await errand.runs(other.id, 1);
    await errand.client.delete(`/v1/workflows/${workflow.id}`);
    errand.forward(MINUTE_MS);
    await errand.runs(other.id, 2);
    const { data } = await errand.client.get('/v1/ledger');
    assert.equal(data.emissions, 3);
  });

  it('an update keeps the rhythm or changes it', async () => {
    await using errand = await startErrand();
    const workflow = await scheduled(errand, { interval_seconds: 3600 });
    errand.forward(1800_000);
    await errand.client.put(`/v1/workflows/${workflow.id}`, { name: 'renamed' });
    errand.forward(1800_000);
    await errand.runs(workflow.id, 1);
    const triggers = [{ type: 'schedule', interval_seconds: 60 }];
    const changed = await errand.client.put(`/v1/workflows/${workflow.id}`, { triggers });
    assert.equal(changed.triggers[0].interval_seconds, 60);
    errand.forward(MINUTE_MS);
    await errand.runs(workflow.id, 2);
  });

  it('a schedule with other times and the same id ticks by these, and is heard as before', async () => {
    await using errand = await startErrand();
    const workflow = await scheduled(errand, { interval_seconds: 3600 });
    const [timer] = workflow.triggers;
    const listener = await errand.workflow(ECHO);
    await errand.client.post(`/v1/subscriptions?emitter_id=${timer.id}&listener_id=${listener.id}`);
    errand.forward(3600_000);
    await errand.runs(workflow.id, 1);
    const put = (trigger: Json): Promise<Json> =>
      errand.client.put(`/v1/workflows/${workflow.id}`, { triggers: [trigger] });
    await put({ ...timer, interval_seconds: 7200 });
    await errand.restart();
    errand.forward(3600_000);
    // The tick of the old schedule would be due; that of another workflow comes.
    const other = await scheduled(errand, { interval_seconds: 60 });
    errand.forward(MINUTE_MS);
    await errand.runs(other.id, 1);
    assert.equal(await countRuns(errand, workflow), 1);
    errand.forward(3600_000 - MINUTE_MS);
    const [run] = await errand.runs(workflow.id, 2);
    assert.equal(run.emitter_id, timer.id);
    assert.equal((await eventOf(errand, run)).interval_seconds, 7200);
    await put({ ...timer, interval_seconds: 60 });
    errand.forward(MINUTE_MS);
    await errand.runs(workflow.id, 3);
    await errand.runs(listener.id, 3);
  });

  it('several schedules of one workflow all tick', async () => {
    await using errand = await startErrand();
    const workflow = await errand.workflow(ECHO, {
      triggers: [
        { type: 'schedule', interval_seconds: 60 },
        { type: 'schedule', interval_seconds: 3600 },
        { type: 'http' },
      ],
    });
    errand.forward(3600_000);
    const runs = await errand.runs(workflow.id, 2);
    assert.deepEqual(
      runs.map((run) => run.emitter_id).toSorted(),
      workflow.triggers
        .slice(0, 2)
        .map((trigger: Json) => trigger.id)
        .toSorted(),
    );
  });
});
