// What a run does and shows: values, sends, logs, its surroundings.

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { startGate } from '../support/gate.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';

const newErrand = shareErrand();

async function ran(errand: Errand, workflow: Json, event: unknown = {}): Promise<Json> {
  await errand.send(workflow, event);
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  return data;
}

const steps = (...codes: string[]) => codes.map((code, n) => ({ namespace: `step_${n + 1}`, code }));

test('a run shows what its steps gave', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow('', {
    steps: steps(
      `export default ({ $ }) => { $.export('list', [1, { a: null }]); $.export('$summary', 'two things'); return 'é'; }`,
      `export default ({ steps }) => ({ value: steps.step_1.$return_value, list: steps.step_1.list })`,
      `export default () => undefined`,
    ),
  });
  const run = await ran(errand, workflow);
  assert.match(run.id, /^r_\w+$/);
  assert.deepEqual(
    [run.workflow_id, run.deployment_id, run.state, run.attempt, run.replay, run.error_id],
    [workflow.id, workflow.deployment_id, 'succeeded', 1, false, null],
  );
  assert.deepEqual([run.emitter_id, run.event_name], [workflow.triggers[0].id, '']);
  const shown = run.steps.map((step: Json) => [step.id, step.namespace, step.state, step.return_value, step.exports]);
  const last = run.steps[2].return_value;
  const ids = workflow.steps.map((step: Json) => step.id);
  assert.deepEqual(shown, [
    [ids[0], 'step_1', 'succeeded', 'é', { list: [1, { a: null }], $summary: 'two things' }],
    [ids[1], 'step_2', 'succeeded', { value: 'é', list: [1, { a: null }] }, {}],
    [ids[2], 'step_3', 'succeeded', last, {}],
  ]);
  assert.ok((last ?? null) === null, 'nothing was returned');
  for (const step of run.steps) assert.ok(step.started_at_ms >= run.started_at_ms && step.took_ms >= 0);
});

test('the times of a run are in order', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow('export default () => 1');
  for (let n = 1; n <= 20; n++) await errand.send(workflow, {});
  for (const run of await errand.runs(workflow.id, 20)) {
    const { created_at_ms: created, started_at_ms: started, ended_at_ms: ended } = run;
    assert.ok(created <= started && started <= ended, `created ${created}, started ${started}, ended ${ended}`);
  }
});

test('the trigger has event and context', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(`export default ({ steps, $ }) => ({
    event: steps.trigger.event.body, context: steps.trigger.context, own: $.context,
  })`);
  const run = await ran(errand, workflow, { a: [1] });
  const { event, context, own } = run.steps[0].return_value;
  assert.deepEqual(event, { a: [1] });
  assert.deepEqual(
    [context.workflow_id, context.deployment_id, context.owner_id, context.source_type, context.verified],
    [workflow.id, workflow.deployment_id, workflow.owner_id, 'HTTP', false],
  );
  assert.deepEqual([own.attempt, own.test, own.workflow_id], [1, false, workflow.id]);
  assert.ok(own.deadline !== undefined && own.run !== undefined, JSON.stringify(own));
});

test('an exit ends the run as succeeded', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  gate.open();
  const workflow = await errand.workflow('', {
    steps: steps(
      `export default async ({ $ }) => { $.flow.exit('enough'); await fetch(process.env.GATE + '/same-step'); return 1; }`,
      `export default async () => { await fetch(process.env.GATE + '/next-step'); }`,
    ),
    settings: { env: { GATE: gate.url } },
  });
  const run = await ran(errand, workflow);
  assert.deepEqual([run.state, run.error_id], ['succeeded', null]);
  assert.equal(gate.asked.includes('/next-step'), false);
  assert.equal((await errand.client.get(`/v1/runs/${run.id}`)).data.exit_reason, 'enough');
});

test('a mail goes out when the run ends', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(`export default ({ $ }) =>
    $.send.email({ subject: 'Hello from a step', text: 'Plain words', html: '<b>Bold words</b>' })`);
  await ran(errand, workflow);
  const [mail = ''] = await until('one mail', async () => {
    const mails = await errand.outbox();
    return mails.length >= 1 && mails;
  });
  for (const part of ['Hello from a step', 'Plain words', 'Bold words', 'owner@example.com']) {
    assert.ok(mail.includes(part), mail);
  }
});

test('steps see their own environment only', async () => {
  process.env.SECRET_OF_THE_SERVER = 'not-for-user-code';
  await using errand = await newErrand();
  const workflow = await errand.workflow(`export default () => ({ ...process.env })`, {
    settings: { env: { GREETING: 'hello', PATH: '/own/path' } },
  });
  const env = (await ran(errand, workflow)).steps[0].return_value;
  delete process.env.SECRET_OF_THE_SERVER;
  assert.deepEqual([env.GREETING, env.PATH], ['hello', '/own/path']);
  // TZ says nothing about the server, and may be the same by chance.
  const own = ['GREETING', 'PATH', 'TZ'];
  const shared = Object.keys(env).filter((name) => !own.includes(name) && env[name] === process.env[name]);
  assert.deepEqual(shared, []);
  assert.deepEqual(
    Object.keys(env).filter((name) => name.startsWith('ERRAND_') || name === 'SECRET_OF_THE_SERVER'),
    [],
  );
});

test('one workflow cannot change another one', async () => {
  await using errand = await newErrand();
  const rude = await errand.workflow(`export default () => {
    Object.prototype.polluted = 'yes'; globalThis.left = 'behind'; process.env.LEFT = 'behind';
    JSON.parse = () => 'mine'; return 1;
  }`);
  await ran(errand, rude);
  const polite = await errand.workflow(
    `export default () => [({}).polluted ?? null, globalThis.left ?? null, process.env.LEFT ?? null, JSON.parse('1')]`,
  );
  assert.deepEqual((await ran(errand, polite)).steps[0].return_value, [null, null, null, 1]);
});

test('console lines belong to their run', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await errand.workflow(
    `export default async ({ steps }) => {
      const { n } = steps.trigger.event.body;
      console.log('start', n, { n });
      await (await fetch(process.env.GATE + '/' + n)).text();
      setTimeout(() => console.error('timer of', n), 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
      console.warn('end of', n);
    }`,
    { settings: { env: { GATE: gate.url } } },
  );
  for (const n of [1, 2, 3]) await errand.send(workflow, { n });
  await gate.wait(3);
  gate.open();
  for (const run of await errand.runs(workflow.id, 3)) {
    const { data } = await errand.client.get(`/v1/runs/${run.id}`);
    const n = data.event.body.n;
    const logs = data.logs.map((line: Json) => [line.level, line.namespace, line.text]);
    const levels = logs.map(([level]: [string]) => level);
    assert.deepEqual([levels.length, levels[1], levels[2]], [3, 'error', 'warn']);
    assert.ok(['info', 'log'].includes(levels[0]), levels[0]);
    assert.deepEqual(
      logs.map(([, namespace, text]: string[]) => [namespace, text]),
      [
        ['step', `start ${n} { n: ${n} }`],
        ['step', `timer of ${n}`],
        ['step', `end of ${n}`],
      ],
    );
    for (const line of data.logs) assert.ok(line.ts_ms >= data.started_at_ms);
  }
});

test('user code cannot reach the data', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(`import fs from 'node:fs';
    import { join } from 'node:path';
    export default async ({ steps }) => {
      const { dir } = steps.trigger.event.body;
      const attempts = {
        list: () => fs.readdirSync(dir),
        listLater: () => fs.promises.readdir(dir),
        write: () => fs.writeFileSync(join(dir, 'evil'), 'x'),
        remove: () => fs.rmSync(dir, { recursive: true }),
        passwords: () => fs.readFileSync('/etc/passwd'),
        up: () => fs.readdirSync(join('/proc/self/cwd', '..')),
        environ: () => fs.readFileSync('/proc/' + process.ppid + '/environ'),
        link: () => { fs.symlinkSync(dir, join(process.cwd(), 'l')); return fs.readdirSync(join(process.cwd(), 'l')); },
        shell: async () => (await import('node:child_process')).execFileSync('/bin/ls', [dir]),
        thread: async () => new (await import('node:worker_threads')).Worker('1', { eval: true }),
        inspector: async () => (await import('node:inspector')).open(0),
        parent: () => process.kill(process.ppid, 'SIGKILL'),
        heap: async () => (await import('node:v8')).writeHeapSnapshot(join(dir, 'heap')),
        report: () => { process.report.writeReport('report'); fs.readFileSync(join(dir, 'report')); },
        environment: () => process.loadEnvFile('/etc/os-release'),
      };
      const done = [];
      for (const [name, attempt] of Object.entries(attempts)) {
        try { await attempt(); done.push(name); } catch {}
      }
      return done;
    };`);
  const run = await ran(errand, workflow, { dir: errand.dataDir });
  assert.deepEqual(run.steps[0].return_value, []);
});

test('user code cannot open the store', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(`export default async ({ steps }) => {
      const opened = [];
      const { DatabaseSync } = await import('node:sqlite').catch(() => ({}));
      for (const path of steps.trigger.event.body.paths) {
        try {
          opened.push([path, new DatabaseSync(path).prepare('SELECT count(*) AS n FROM sqlite_master').get().n]);
        } catch {}
        try {
          new DatabaseSync(':memory:').exec("ATTACH '" + path + "' AS store");
          opened.push([path, 'attached']);
        } catch {}
      }
      return opened;
    };`);
  const paths = (await readdir(errand.dataDir)).map((name) => join(errand.dataDir, name));
  const run = await ran(errand, workflow, { paths: [...paths, join(errand.dataDir, 'new.db')] });
  assert.deepEqual(run.steps[0].return_value, []);
});

test('a run can be started through the API', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(
    `export default ({ steps }) => { if (steps.trigger.event.fail) throw new Error('API'); return steps.trigger.event; }`,
    { triggers: [] },
  );
  const event = '{ "n":12345678901234567890, "n":2,\n"u":"\\ud800" }';
  const answer = await errand.client.request('POST', `/v1/workflows/${workflow.id}/runs`, `{"event": ${event} }`);
  assert.equal(answer.status, 200, answer.text);
  const [run] = await errand.runs(workflow.id, 1);
  const { text } = await errand.client.request('GET', `/v1/runs/${run.id}`);
  assert.ok(text.includes(`"event":${event}`), text);
  await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: { fail: true } });
  const [error] = await errand.errors(workflow.id, 1);
  assert.deepEqual(error.event.original_event, { fail: true });
  assert.equal(error.event.original_context.source_type, 'API');
});

test('runs are listed by state', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(
    `export default ({ steps }) => { if (steps.trigger.event.body.fail) throw new Error('x') }`,
  );
  await errand.send(workflow, { fail: true });
  await errand.runs(workflow.id, 1);
  await errand.send(workflow, {});
  const [good, bad] = await errand.runs(workflow.id, 2);
  assert.deepEqual([good.state, bad.state], ['succeeded', 'failed']);
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(bad.error_id, error.id);
  const idsOf = async (state: string) => {
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=${state}`);
    return data.map((run: Json) => run.id);
  };
  assert.deepEqual(await idsOf('failed'), [bad.id]);
  assert.deepEqual(await idsOf('succeeded'), [good.id]);
  assert.deepEqual(await idsOf('queued'), []);
  const answer = await errand.client.request('GET', `/v1/workflows/${workflow.id}/runs?state=tired`);
  assert.equal(answer.status, 400);
  assert.match(answer.json.error, /state must be one of "queued", "running".* but was "tired"/);
  const { data: failed } = await errand.client.get(`/v1/runs/${bad.id}`);
  assert.deepEqual([failed.error.code, failed.error.msg], ['Error', 'x']);
});
