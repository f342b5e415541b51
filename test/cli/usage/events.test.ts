// errand events …

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, ECHO_SOURCE, emissions, post } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';
import { openShell } from '../command.ts';

const newErrand = shareErrand();
/** More digits than a number of JavaScript has. */
const LONG = '12345678901234567890';
const EMITS = `export default ({ steps, $ }) => {
  $.send.emit({ n: steps.trigger.event.body.n }, 'charged');
  if (steps.trigger.event.body.fails) throw new Error('no card');
};`;

test('events are listed by the name of what emitted them, newest first', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const source = await createSource(errand, ECHO_SOURCE, { name: 'Orders feed' });
  for (const n of [1, 2, 3]) {
    await post(source, { n, says: '\u001b[31m\u202e' });
    await emissions(errand, source.id, n);
  }
  const run = (...args: string[]) => shell.run(['events', ...args, '--url', errand.url]);
  const [head, ...rows] = (await run('list', 'orders')).stdout.trimEnd().split('\n');
  assert.match(head ?? '', /^TIME +ID +EVENT$/);
  assert.equal(rows.length, 3);
  assert.match(rows[0] ?? '', /^20\S+Z +\d{13}-\d+ +\{"n":3,"says":"\\u001b\[31m\\u202e"\}$/);
  const first = await run('list', 'Orders feed', '--limit', '1');
  assert.match(first.stderr, /There are more/);
  const listed = await shell.json('events', 'list', source.id, '--limit', '0');
  assert.deepEqual(
    listed.map((record: { event: { n: number } }) => record.event.n),
    [3, 2, 1],
  );
  // Of a workflow, by the name of the event.
  const workflow = await errand.workflow(EMITS, { name: 'Charge orders' });
  await errand.send(workflow, { n: 7 });
  await errand.settled();
  assert.match(
    (await run('list', 'Charge orders', '--event', 'charged')).stdout,
    /NAME +EVENT\n.* charged +\{"n":7\}\n$/,
  );
  assert.equal((await run('list', 'Charge orders')).stderr, 'no events\n');
  const webhook = await errand.client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  const refused = await run('list', webhook.id);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, new RegExp(`errand errors list --of ${webhook.id}`));
  assert.equal((await run('list', 'nothing of the kind')).code, 3);
});

test('an event is shown byte for byte, with those that got it', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const workflow = await errand.workflow('export default () => 1;', { name: 'Orders' });
  const [{ endpoint_url: url }] = workflow.triggers;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: `{"total": ${LONG}, "ratio": 1e400}` });
  const { id: emission } = (await answer.json()) as { id: string };
  const run = (...args: string[]) => shell.run(['events', ...args, '--url', errand.url]);
  await errand.settled();
  const shown = await run('show', emission);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, new RegExp(`"total": ${LONG},\\n +"ratio": 1e400`));
  assert.match(shown.stdout, new RegExp(`run +r_\\w+ +${workflow.id} +succeeded`));
  const json = await run('show', emission, '--json');
  assert.match(json.stdout, new RegExp(`"total": ${LONG},`));
  const missing = await run('show', '1782000000123-0');
  assert.equal(missing.code, 3);
  assert.match(missing.stderr, /^errand: there is no event/);
});

test('events are followed as they come, of one or of all, without errors', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const source = await createSource(errand, ECHO_SOURCE, { name: 'Orders feed' });
  const workflow = await errand.workflow(EMITS, { name: 'Charge orders' });
  await post(source, { n: 0 });
  const [before] = await emissions(errand, source.id, 1);
  const all = shell.start('events', 'tail', '--json');
  const one = shell.start('events', 'tail', 'Orders feed', '--after', before.id);
  await until('both to hear', async () => {
    await post(source, { of: 'feed' });
    await errand.send(workflow, { n: 8, fails: true });
    return /"charged"/.test(all.stdout()) && /"feed"/.test(all.stdout()) && /"of":"feed"/.test(one.stdout());
  });
  for (const tail of [all, one]) tail.interrupt();
  const linesOf = async ({ ended }: typeof all) => (await ended).stdout.trim().split('\n').slice(0, -1);
  for (const line of await linesOf(all)) {
    const { event, metadata } = JSON.parse(line);
    assert.ok(event.of === 'feed' || (event.n === 8 && metadata.name === 'charged'), line);
  }
  for (const line of await linesOf(one))
    assert.match(line, new RegExp(`^20\\S+Z \\d+-\\d+ ${source.id} \\{"of":"feed"\\}$`));
});
