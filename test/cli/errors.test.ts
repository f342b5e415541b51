// errand errors …

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { createSource } from '../support/sources/sources.ts';
import { until } from '../support/wait.ts';
import { openShell } from './command.ts';

const newErrand = shareErrand();
const THROWS = `export default ({ steps }) => {
  const { n } = steps.trigger.event.body;
  if (n !== 'good') throw Object.assign(new Error('no \\u001b[2J card ' + n), { code: 'NoCard' });
};`;

test('errors are listed as a table, and as JSON', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const none = await shell.run(['errors', 'list', ...named]);
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'no errors\n']);
  assert.deepEqual(await shell.json('errors', 'list'), []);
  const failing = await errand.workflow(THROWS, { name: 'Charge orders' });
  for (const n of [1, 2]) await errand.send(failing, { n });
  const records = await errand.errors(failing.id, 2);
  const { stdout } = await shell.run(['errors', 'list', '--of', 'charge', ...named]);
  const [head, newest, ...rest] = stdout.trimEnd().split('\n');
  assert.match(head ?? '', /^TIME +ID +OF +STEP +TOLD +CODE +MESSAGE$/);
  // What a workflow wrote cannot move the cursor of the terminal that lists it.
  assert.match(
    newest ?? '',
    new RegExp(`^20\\S+Z +${records[0].id} +Charge orders +step +\\w+ +NoCard +no \ufffd\\[2J card 2$`),
  );
  assert.equal(rest.length, 1);
  const listed = await shell.json('errors', 'list', '--code', 'NoCard', '--limit', '1');
  assert.deepEqual([listed.length, listed[0].id, listed[0].error.msg], [1, records[0].id, 'no \u001b[2J card 2']);
  assert.deepEqual(await shell.json('errors', 'list', '--code', 'Other'), []);
});

test('one error is shown with its stack and event', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const failing = await errand.workflow(THROWS, { name: 'Charge orders' });
  await errand.send(failing, '{"n": 1.50}');
  const [record] = await errand.errors(failing.id, 1);
  const { stdout, code } = await shell.run(['errors', 'show', 'last', ...named]);
  assert.equal(code, 0);
  for (const part of [record.id, 'NoCard', 'Charge orders', `no \ufffd[2J card 1.5`, 'step.ts:3'])
    assert.ok(stdout.includes(part), part);
  assert.equal((await shell.json('errors', 'show', record.id)).id, record.id);
  // As it arrived, to the zero behind the point.
  const event = await shell.run(['errors', 'show', record.id, '--event', ...named]);
  assert.match(event.stdout, /"body":\{"n": 1\.50\}/);
  const missing = await shell.run(['errors', 'show', '1782000000123-0', ...named]);
  assert.deepEqual([missing.code, missing.stderr], [3, 'errand: there is no error 1782000000123-0\n']);
});

test('who was told of an error is shown by name', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const failing = await errand.workflow(THROWS, { name: 'Charge orders' });
  const told = await errand.workflow('export default () => 1;', { name: 'Tell a person' });
  const gone = await errand.workflow('export default () => 1;', { name: 'Gone' });
  for (const { id } of [told, gone])
    await errand.client.post(`/v1/subscriptions?emitter_id=${failing.id}&event_name=$errors&listener_id=${id}`);
  await errand.send(failing, { n: 1 });
  const [record] = await errand.errors(failing.id, 1);
  await errand.client.delete(`/v1/workflows/${gone.id}`);
  const { stdout, stderr, code } = await shell.run(['errors', 'show', record.id, '--url', errand.client.url]);
  assert.equal(code, 0, stderr);
  const line = (id: string): string => stdout.split('\n').find((one) => one.includes(id) && /^run /.test(one)) ?? '';
  assert.match(stdout, /KIND +ID +LISTENER +NAME +STATE/);
  assert.match(line(told.id), / Tell a person /);
  assert.doesNotMatch(line(gone.id), /Gone/);
});

test('an error is replayed, also with another event', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const failing = await errand.workflow(THROWS, { name: 'Charge orders' });
  await errand.send(failing, { n: 1 });
  const [record] = await errand.errors(failing.id, 1);
  const again = await shell.json('errors', 'replay', record.id);
  assert.match(again.run_id, /^r_/);
  await errand.errors(failing.id, 2);
  const named = ['--url', errand.client.url];
  const twice = await shell.run(['errors', 'replay', record.id, ...named]);
  assert.equal(twice.code, 1);
  assert.match(
    twice.stderr,
    new RegExp(`run again already: run ${again.run_id} \\(failed\\); --again runs it once more`),
  );
  assert.equal(
    (await errand.client.get(`/v1/workflows/${failing.id}/runs`)).data.length,
    2,
    'nothing is charged twice',
  );
  assert.match((await shell.json('errors', 'replay', record.id, '--again')).run_id, /^r_/);
  const file = join(shell.home, 'event.json');
  await writeFile(file, '{"body": {"n": "good"}}');
  const edited = await shell.json('errors', 'replay', record.id, '--event', file);
  const run = await until('the run to end', async () => {
    const { data } = await errand.client.get(`/v1/runs/${edited.run_id}`);
    return data.state === 'succeeded' && data;
  });
  assert.equal(run.replay, true);
  await writeFile(file, '{');
  const broken = await shell.run(['errors', 'replay', record.id, '--event', file, ...named]);
  assert.equal(broken.code, 2);
  assert.match(broken.stderr, /event\.json is not valid JSON/);
});

test('errors are replayed from the step that failed, of one or of several', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const steps = (first: string, second: string) => [
    { namespace: 'charge', code: first },
    { namespace: 'ship', code: second },
  ];
  const failing = await errand.client.post('/v1/workflows', {
    name: 'Ship orders',
    triggers: [{ type: 'http' }],
    steps: steps('export default () => 7;', THROWS),
  });
  for (const n of [1, 2, 3]) await errand.send(failing, { n });
  const [record] = await errand.errors(failing.id, 3);
  const ships = 'export default ({ steps }) => steps.charge.$return_value;';
  const deployed = await errand.client.put(`/v1/workflows/${failing.id}`, { steps: steps(THROWS, ships) });
  const from = ['--from', 'failed_step'];
  const one = await shell.json('errors', 'replay', record.id, ...from, '--yes');
  assert.deepEqual([one.state, one.replay.from, one.replay.fixed], ['done', 'failed_step', 1]);
  const how = ['--canary', '0', '--ordered', '--stop-on-failures', '1', '--run-with', deployed.deployment_id];
  const { state, replay } = await shell.json('errors', 'replay', '--of', failing.id, ...from, ...how, '--yes');
  assert.deepEqual(
    [state, replay.fixed, replay.canary, replay.ordered, replay.stop_on_failures, replay.deployment],
    ['done', 2, 0, true, 1, deployed.deployment_id],
  );
  for (const wrong of [
    ['--from', 'charge'],
    [...from, '--event', '-'],
    ['--canary', '-1'],
    ['--stop-on-failures', '0'],
  ]) {
    assert.equal((await shell.run(['errors', 'replay', record.id, ...wrong, ...named])).code, 2, wrong.join(' '));
  }
});

test('several errors are replayed once that is wanted', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const failing = await errand.workflow(THROWS, { name: 'Charge orders' });
  for (const n of [1, 2]) await errand.send(failing, { n });
  await errand.errors(failing.id, 2);
  const dry = await shell.json('errors', 'replay', '--of', failing.id, '--dry-run');
  assert.equal(dry.count, 2);
  const asked = await shell.run(['errors', 'replay', '--of', failing.id, ...named]);
  assert.equal(asked.code, 2);
  assert.match(asked.stderr, /Run the events of 2 errors again on http.*--yes/);
  assert.equal((await errand.client.get(`/v1/workflows/${failing.id}/runs`)).data.length, 2);
  await errand.client.put(`/v1/workflows/${failing.id}`, {
    steps: [{ namespace: 'step', code: 'export default () => 1;' }],
  });
  const done = await shell.json('errors', 'replay', '--of', failing.id, '--yes');
  assert.deepEqual([done.state, done.replay.fixed], ['done', 2]);
  const after = await shell.run(['errors', 'replay', '--of', failing.id, '--dry-run', ...named]);
  assert.match(after.stdout, /errors +2\nto replay +0\npassed over +2\n/);
  assert.match(after.stdout, /2 +its event was run again, and succeeded/);
  const none = await shell.run(['errors', 'replay', '--of', failing.id, ...named]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /nothing is left to replay: 2: its event was run again, and succeeded/);
  for (const wrong of [[], ['--text', 'card'], ['1-1', '--code', 'x']]) {
    assert.equal((await shell.run(['errors', 'replay', ...wrong, ...named])).code, 2, wrong.join(' '));
  }
});

test('errors are replayed that the interface alone does not choose: by step, text, deployment, or of a source', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const failing = await errand.workflow(THROWS, { name: 'Charge orders' });
  for (const n of [1, 2, 3]) await errand.send(failing, { n });
  const records = await errand.errors(failing.id, 3);
  const replayed = async (...options: string[]) => {
    const dry = await shell.json('errors', 'replay', '--of', 'Charge orders', ...options, '--dry-run');
    return dry.sample.map(({ id }: Json) => id);
  };
  assert.deepEqual(await replayed('--text', 'card 2'), [records[1].id]);
  assert.equal((await replayed('--step', 'step', '--since', '1h')).length, 3);
  assert.equal((await replayed('--deployment', failing.deployment_id, '--code', 'NoCard')).length, 3);
  const none = ['errors', 'replay', '--of', failing.id, '--step', 'other', '--yes', '--url', errand.client.url];
  const { code, stderr } = await shell.run(none);
  assert.deepEqual([code, stderr], [1, 'errand: there are no such errors\n']);
  const by = ['--text', 'card 2', '--yes', '--json', '--url', errand.client.url];
  const failed = await shell.run(['errors', 'replay', '--of', failing.id, ...by]);
  const { replay } = JSON.parse(failed.stdout);
  assert.deepEqual(
    [failed.code, replay.error_ids, replay.failed_same],
    [1, 1, 1],
    'a script sees that nothing is mended',
  );
  const source = await createSource(
    errand,
    `export default {
    name: 'Orders feed', key: 'feed', version: '0.0.1', type: 'source',
    props: { http: '$.interface.http' },
    run() { throw new Error('no feed'); },
  };`,
  );
  await fetch(source.endpoint_url, { method: 'POST', body: '{}' });
  const [error] = await until('the error of the source', async () => {
    const { data } = await errand.client.get(`/v1/errors?emitter_id=${source.id}`);
    return data.length > 0 && data;
  });
  const dry = await shell.json('errors', 'replay', '--of', source.id, '--dry-run');
  assert.deepEqual(
    dry.sample.map(({ id }: Json) => id),
    [error.id],
  );
});

test('errors are followed as they come', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const failing = await errand.workflow(THROWS, { name: 'Charge orders' });
  await errand.send(failing, { n: 1 });
  const [record] = await errand.errors(failing.id, 1);
  const before = `${Number(record.id.split('-')[0]) - 1}-0`;
  const tail = shell.start('errors', 'tail', '--after', before);
  await until('the first error', () => tail.stdout().includes('NoCard no \ufffd[2J card 1'));
  await errand.send(failing, { n: 2 });
  await until('the next one', () => tail.stdout().includes('card 2'));
  assert.equal(tail.stdout().trimEnd().split('\n').length, 2);
  tail.interrupt();
  assert.equal((await tail.ended).stderr, '');
});

test('groups of errors are listed, muted and opened again', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const failing = await errand.workflow(THROWS);
  for (const n of [1, 2]) await errand.send(failing, { n });
  await errand.errors(failing.id, 2);
  const [group] = await shell.json('errors', 'groups', 'list', '--of', failing.id);
  assert.equal(group.count, 2);
  assert.equal((await shell.json('errors', 'list', '--group', group.id)).length, 2);
  const muted = await shell.json('errors', 'groups', 'mute', group.id, '--errors', '5', '--note', 'known');
  assert.deepEqual([muted.state, muted.muted_errors_left, muted.note], ['muted', 5, 'known']);
  const endless = await shell.run(['errors', 'groups', 'mute', group.id, '--url', errand.client.url]);
  assert.deepEqual([endless.code, endless.stderr.includes('muted_')], [2, false]);
  assert.match(endless.stderr, /--until, --errors or --next-deployment/);
  const later = await shell.json('errors', 'groups', 'mute', group.id, '--next-deployment');
  assert.equal(later.muted_until_next_deployment, true);
  assert.equal((await shell.json('errors', 'groups', 'reopen', group.id.slice(0, 9))).state, 'open');
  assert.equal((await shell.json('errors', 'groups', 'resolve', group.id)).state, 'resolved');
  assert.equal((await shell.json('errors', 'groups', 'show', group.id)).id, group.id);
  const edited = await shell.json('errors', 'groups', 'edit', group.id, '--assignee', 'ada@example.com');
  assert.deepEqual([edited.assignee, edited.note, edited.state], ['ada@example.com', 'known', 'resolved']);
  const of = async (assignee: string) => await shell.json('errors', 'groups', 'list', '--assignee', assignee);
  assert.deepEqual([(await of('ADA@example.com')).length, await of('none')], [1, []]);
  const none = await shell.json('errors', 'groups', 'edit', group.id, '--assignee', 'none', '--note', '');
  assert.deepEqual([none.assignee, none.note], [null, null]);
  const wrong = await shell.run([
    'errors',
    'groups',
    'edit',
    group.id,
    '--assignee',
    'ada',
    '--url',
    errand.client.url,
  ]);
  assert.match(wrong.stderr, /mail address/);
  assert.equal((await shell.run(['errors', 'groups', 'edit', group.id, '--url', errand.client.url])).code, 2);
});

test('it is shown how events of a group differ, and what was deployed before', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const reads = (what: string): string =>
    `export default ({ steps }) => {\n  const { card } = steps.trigger.event.body;\n  return ${what};\n};`;
  const failing = await errand.workflow(reads('7'), { name: 'Charge orders' });
  for (const id of ['a', 'b']) await errand.send(failing, { card: { id } });
  await errand.runs(failing.id, 2);
  await errand.client.put(`/v1/workflows/${failing.id}`, { steps: [{ namespace: 'step', code: reads('card.id') }] });
  await errand.send(failing, { card: null });
  await errand.errors(failing.id, 1);
  const [{ id }] = await shell.json('errors', 'groups', 'list', '--of', failing.id);
  const { stdout, code } = await shell.run(['errors', 'groups', 'differences', id, '--url', errand.client.url]);
  assert.equal(code, 0);
  assert.match(stdout, /^group +eg_\w+\nfailures +1\nsuccesses +\d\nlast good run +r_\w+\nfirst error +\d+-\d+\n/);
  assert.match(stdout, /^What differs\n`body\.card` is null in 1 of 1 failures, in 0 of \d successes$/m);
  assert.match(stdout, /^Code of step\n(?: .*\n)*- {2}return 7;\n\+ {2}return card\.id;\n/m);
  assert.match(stdout, /^FIELD +LAST GOOD +FIRST BAD\nbody\.card +object +null$/m);
  assert.equal((await shell.json('errors', 'groups', 'differences', id)).group_id, id);
});

test('an export is written into a new file', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const failing = await errand.workflow(THROWS);
  for (const n of [1, 2]) await errand.send(failing, { n });
  await errand.errors(failing.id, 2);
  const file = join(shell.home, 'errors.ndjson');
  const args = ['errors', 'export', '--out', file, '--url', errand.client.url];
  assert.equal((await shell.run(args)).code, 0);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).error.msg.slice(-1)),
    ['1', '2'],
  );
  // What is there already is kept.
  const again = await shell.run(args);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /errors\.ndjson is there already: name a new file$/m);
});
