// errand runs …

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { openShell } from './command.ts';

const newErrand = shareErrand();
const PRINTS = `export default ({ steps }) => {
  console.log('got\\t\\u001b[31m\\u001b[2J', steps.trigger.event.body.n);
  if (steps.trigger.event.body.n === 1) throw new TypeError('one');
  return { n: steps.trigger.event.body.n };
};`;

test('runs are listed and shown by name, prefix or "last"', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const workflow = await errand.workflow(PRINTS, { name: 'Count' });
  await errand.send(workflow, { n: 1 });
  const [failed] = await errand.runs(workflow.id, 1);
  await errand.send(workflow, { n: 2 });
  const [succeeded] = await errand.runs(workflow.id, 2);
  const table = await shell.run(['runs', 'list', '--workflow', 'Count', '--state', 'failed', ...named]);
  const [, row, ...rest] = table.stdout.trimEnd().split('\n');
  assert.match(row ?? '', new RegExp(`^20\\S+Z +${failed.id} +Count +failed +\\S+ m?s +TypeError: one$`));
  assert.equal(rest.length, 0);
  const shown = await shell.run(['runs', 'show', succeeded.id.slice(0, -1), ...named]);
  // Its neighbours may begin with the same digits.
  if (shown.code === 0) assert.match(shown.stdout, new RegExp(`^run +${succeeded.id}$`, 'm'));
  else assert.match(shown.stderr, /fits more than one run/);
  const whole = await shell.run(['runs', 'show', failed.id, ...named]);
  assert.match(whole.stdout, /^step +failed/m);
  assert.match(whole.stdout, /got {4}\ufffd\[2J 1$/m);
  assert.match(whole.stdout, /^TypeError: one\n {2}at .*step\.ts:3/m);
  assert.equal((await shell.json('runs', 'show', succeeded.id)).steps[0].return_value.n, 2);
  assert.ok((await shell.json('runs', 'show', 'last')).id);
});

test('runs are retried and cancelled', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const workflow = await errand.workflow(PRINTS);
  await errand.send(workflow, { n: 1 });
  const [failed] = await errand.runs(workflow.id, 1);
  const retried = await shell.json('runs', 'retry', failed.id);
  assert.match(retried.run_id, /^r_/);
  await errand.runs(workflow.id, 2);
  const refused = await shell.run(['runs', 'retry', failed.id, ...named]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /--again/);
  assert.match((await shell.json('runs', 'retry', failed.id, '--again')).run_id, /^r_/);
  await errand.runs(workflow.id, 3);
  const waiting = await errand.workflow('export default ({ $ }) => $.flow.delay(3600000);');
  await errand.send(waiting, {});
  const [run] = await until('the run to wait', async () => {
    const { data } = await errand.client.get(`/v1/workflows/${waiting.id}/runs?state=waiting`);
    return data.length > 0 && data;
  });
  const cancelled = await shell.run(['runs', 'cancel', run.id, ...named]);
  assert.match(cancelled.stdout, /^state +cancelled$/m);
  const missing = await shell.run(['runs', 'cancel', 'r_0000000000', ...named]);
  assert.equal(missing.code, 3);
  // A run's id is a number: it is shown as it is written.
  assert.match(missing.stderr, /^errand: there is no run r_0$/m);
});

test('runs are followed as they end', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const workflow = await errand.workflow(PRINTS, { name: 'Count' });
  const tail = shell.start('runs', 'tail', '--workflow', 'Count', '--json');
  let n = 2;
  await until('the tail to begin', async () => {
    await errand.send(workflow, { n: n++ });
    await errand.runs(workflow.id, 1);
    return tail.stdout() !== '';
  });
  await errand.send(workflow, { n: 1 });
  await until('the failed run', () => tail.stdout().includes('"failed"'));
  tail.interrupt();
  const lines = (await tail.ended).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(new Set(lines.map(({ id }) => id)).size, lines.length);
  assert.ok(lines.every(({ state }) => state === 'succeeded' || state === 'failed'));
});
