// What a person waits for at the command line, where its options may stand, and names in place of ids.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { openShell } from '../command.ts';

const newErrand = shareErrand();
const FAILS_WHEN_TOLD = `export default ({ steps }) => {
  if (steps.trigger.event.fails) throw new TypeError('no card');
  return 'charged';
};`;
const EMITS = `export default {
  props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 86400 } } },
  run() { this.$emit({ n: 1 }, { summary: 'one' }); },
};`;

test('--wait shows how a run ended, and its exit code says so', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const workflow = await errand.workflow(FAILS_WHEN_TOLD, { name: 'Charge orders' });
  const good = await shell.run(['workflows', 'run', 'Charge orders', '--data', '{"n": 1}', '--wait', ...named]);
  assert.equal(good.code, 0, good.stderr);
  assert.match(good.stdout, /^state +succeeded$/m);
  assert.match(good.stdout, /^step +succeeded +\S+ m?s +"charged"$/m);
  const bad = await shell.run(['workflows', 'run', workflow.id, '--data', '{"fails": true}', '--wait', ...named]);
  assert.equal(bad.code, 1, bad.stderr);
  assert.match(bad.stdout, /^TypeError: no card$/m);
  const [record] = await errand.errors(workflow.id, 1);
  const replayed = await shell.run(['errors', 'replay', record.id, '--wait', '--json', ...named]);
  assert.deepEqual([replayed.code, JSON.parse(replayed.stdout).state], [1, 'failed']);
  const mended = await shell.run(['errors', 'replay', record.id, '--event', '-', '--wait', ...named], { input: '{}' });
  assert.equal(mended.code, 0, mended.stderr);
  assert.match(mended.stdout, /^state +succeeded$/m);
  const failed = (await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=failed`)).data;
  const retried = await shell.run(['runs', 'retry', failed[0].id, '--again', '--wait', '--json', ...named]);
  assert.equal(retried.code, 1, retried.stderr);
  assert.equal(JSON.parse(retried.stdout).state, 'failed');
});

test('a source that is run and waited for shows what it did', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const source = await errand.client.post('/v1/sources', { name: 'Orders feed', component_code: EMITS });
  const run = await shell.json('sources', 'run', 'Orders feed', '--wait');
  assert.deepEqual([run.state, run.source_id], ['succeeded', source.id]);
});

test('a wait that is ended says that the run goes on', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const workflow = await errand.workflow('export default ({ $ }) => $.flow.delay(3600000);');
  const waiting = shell.start('workflows', 'run', workflow.id, '--wait');
  await until('the run to wait', async () => {
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=waiting`);
    return data.length > 0 && data;
  });
  // It may not have asked for the first time.
  await until('Ctrl-C to end it', async () => {
    waiting.interrupt();
    return (await Promise.race([waiting.ended, new Promise((resolve) => setTimeout(resolve, 200))])) && true;
  });
  const { code, stderr } = await waiting.ended;
  assert.equal(code, 130);
  assert.match(stderr, /the run goes on at the server: errand runs show r_\w+/);
});

test('options of the server stand in front of a command, too', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(null);
  const { url, key } = errand.client;
  const asked = await shell.run(['--url', url, `--key=${key}`, '--json', 'workflows', 'list']);
  assert.equal(asked.code, 0, asked.stderr);
  assert.equal(JSON.parse(asked.stdout)[0].name, 'Global error workflow');
  const none = await shell.run(['--profile', 'prod', 'errors', 'list']);
  assert.equal(none.code, 3, none.stderr);
  assert.match(none.stderr, /prod/);
  const refused = await shell.run(['--url', url, 'profiles', 'list']);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /unknown option '--url'/);
  assert.equal((await shell.run(['--url'])).code, 2);
  assert.match((await shell.run(['--url', url, 'help', 'errors'])).stdout, /Usage: errand errors/);
});

test('whoami tells which server and whose key', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const { url } = errand.client;
  const me = (await errand.client.get('/v1/users/me')).data;
  const told = await shell.run(['whoami', '--url', url]);
  assert.equal(told.code, 0, told.stderr);
  assert.match(told.stdout, new RegExp(`^server +${url} \\(of --url\\)$`, 'm'));
  assert.match(told.stdout, new RegExp(`^owner +.* \\(${me.id}\\)$`, 'm'));
  assert.match(told.stdout, /^key +that of ERRAND_API_KEY$/m);
  assert.ok(!told.stdout.includes(errand.client.key));
  assert.equal((await shell.json('whoami')).id, me.id);
});

test('a doctor of a server elsewhere leaves this machine out', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const { url, key } = errand.client;
  const env = { ERRAND_API_KEY: '', ERRAND_DATA_DIR: `${shell.home}/none` };
  const before = await shell.run(['doctor', '--json'], { env });
  const whats = (text: string): string[] => JSON.parse(text).map(({ what }: { what: string }) => what);
  assert.ok(whats(before.stdout).includes('data dir'), before.stdout);
  const login = await shell.run(['login', '--url', url, '--profile', 'prod'], { env, input: key });
  assert.equal(login.code, 0, login.stderr);
  const { stdout } = await shell.run(['doctor', '--json'], { env });
  assert.deepEqual(whats(stdout).slice(0, 4), ['this machine', 'server', 'clock', 'key']);
  assert.match(JSON.parse(stdout)[0].says, /profile prod/);
});

test('lists of subscriptions, deliveries and runs have names in place of ids', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const workflow = await errand.workflow('export default () => { throw new Error("no card"); };', {
    name: 'Charge orders',
  });
  const hook = await errand.client.post('/v1/webhooks', { url: 'http://127.0.0.1:1/', name: 'Errors to chat' });
  await errand.client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${hook.id}&event_name=$errors`);
  await errand.send(workflow, {});
  await until(
    'a delivery',
    async () => (await errand.client.get(`/v1/webhooks/${hook.id}/deliveries`)).data.length > 0,
  );
  const subscriptions = await shell.run(['subscriptions', 'list', ...named]);
  assert.match(subscriptions.stdout, /^sub_\w+ +Charge orders +Errors to chat +20\S+Z +\$errors$/m);
  const deliveries = await shell.run(['deliveries', 'list', ...named]);
  assert.match(deliveries.stdout, /^20\S+Z +dl_\w+ +Errors to chat +Charge orders +/m);
  const runs = await shell.run(['runs', 'list', '--of', 'Charge', ...named]);
  assert.match(runs.stdout, /^20\S+Z +r_\w+ +Charge orders +failed/m);
  const both = await shell.run(['runs', 'list', '--of', 'Charge', '--workflow', workflow.id, ...named]);
  assert.equal(both.code, 2);
  assert.equal((await shell.run(['runs', 'list', '--of', 'Nothing', ...named])).code, 3);
});
