// Workflow code, run with the event of an error, as a user's own test does.

import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { PLATFORM_CODES } from '../../../src/domain/refusal.ts';
import { Capture } from '../../../src/runner/child/capture.ts';
import type { ChildLimits } from '../../../src/runner/child/protocol.ts';
import { StackMapper } from '../../../src/runner/child/stack.ts';
import { eventTextOf, type Fixture, runFixture } from '../../../src/sdk/testing.ts';
import { defineWorkflow } from '../../../src/sdk/workflow.ts';
import { createFolder } from '../../support/folders/folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BODY = '{"body":{ "n" : 12345678901234567890 }}';

const FIXTURE: Fixture = {
  fixture: 1,
  id: '1782000000123-0',
  emitter_id: 'p_0Vj3aBc9dEfGhIjK',
  step: { namespace: 'charge', id: 'c_0Vj3aBc9dEfGhIjK' },
  error: { code: 'TypeError', msg: 'no', stack: '' },
  original_context: { id: 'e1', attempt: 1 },
  original_event_text: BODY,
};

test('steps run in order, and each sees what earlier ones left', async () => {
  const workflow = defineWorkflow({
    name: 'two',
    steps: (flow) =>
      flow
        .step('first', ({ steps, $ }) => {
          $.export('raw', steps.trigger.raw);
          return { at: new Date(0), none: undefined };
        })
        .step('second', {
          run: ({ steps, context }) => [steps.first.$return_value, context.id, context.replay],
        }),
  });
  const run = await runFixture(workflow, FIXTURE);
  deepEqual([run.state, run.step, run.error], ['succeeded', null, null]);
  deepEqual(run.steps, {
    first: { raw: BODY, $return_value: { at: '1970-01-01T00:00:00.000Z' } },
    second: { $return_value: [{ at: '1970-01-01T00:00:00.000Z' }, 'e1', true] },
  });
});

test('what a step throws is told with its step', async () => {
  const thrown = Object.assign(new Error('no card'), { code: 'CARD' });
  const code = ({ steps }: { steps: { trigger: { event: { body: { n: number } } } } }) => {
    if (steps.trigger.event.body.n > 1) throw thrown;
  };
  const run = await runFixture(code, FIXTURE);
  deepEqual([run.state, run.step, run.error], ['failed', 'charge', { code: 'CARD', msg: 'no card' }]);
  equal(run.thrown, thrown);
  const circular = await runFixture(() => {
    const self: Record<string, unknown> = {};
    self.self = self;
    return self;
  }, FIXTURE);
  equal(circular.error?.code, 'TypeError');
});

test('what is thrown is told as the service would list it', async () => {
  const capture = new Capture({ ...LIMITS, stackFrames: 5 } as ChildLimits, new StackMapper([], LIMITS as ChildLimits));
  const coded = (code: unknown, name = 'Error'): Error => Object.assign(new Error('said'), { code, name });
  const thrown: unknown[] = [
    ...PLATFORM_CODES.flatMap((code) => [coded(code), coded(undefined, code), coded(code, code), coded(code, 'Mine')]),
    ...[
      coded(''),
      coded(7),
      coded(7.5),
      new DOMException('said', 'AbortError'),
      coded(' Internal\0'),
      coded('Internal Error'),
      coded('C'.repeat(200)),
      new TypeError('x'.repeat(10_000)),
      new RangeError(''),
    ],
    ...['text', undefined, null, 7, { a: { b: [1] } }, Object.create(null), Symbol('s'), () => 1],
    new AggregateError([new Error('one\ntwo'), 'three'], 'both'),
    new AggregateError(Array.from({ length: 12 }, (_, n) => new Error(`e${n}`))),
    Object.assign(new Error(), { message: { not: 'text' } }),
  ];
  for (const value of thrown) {
    const run = await runFixture(() => Promise.reject(value), FIXTURE);
    const { code, msg } = capture.fault({ value, step: 0 });
    deepEqual(run.error, { code, msg });
  }
});

test('variables of the workflow are set, and those of the test before them', async () => {
  const workflow = defineWorkflow({
    name: 'variables',
    settings: { env: { ONE_OF_MINE: 'set', TWO_OF_MINE: 'set' } },
    steps: (flow) => flow.step('reads', () => [process.env.ONE_OF_MINE, process.env.TWO_OF_MINE]),
  });
  const run = await runFixture(workflow, FIXTURE, { env: { TWO_OF_MINE: 'here' } });
  deepEqual(run.steps.reads?.$return_value, ['set', 'here']);
  equal(process.env.ONE_OF_MINE, undefined);
});

test('what code asks for is listed, and nothing waits', async () => {
  const workflow = defineWorkflow({
    name: 'asks',
    steps: (flow) =>
      flow
        .step('asks', async ({ $ }) => {
          await $.respond({ status: 201 });
          $.send.email({ subject: 'hello' });
          $.flow.suspend(1000);
        })
        .step('again', ({ steps, $ }) => {
          if ($.context.run.runs < 3) $.flow.rerun(1000, $.context.run.runs);
          return [steps.asks.$resume_data, $.context.run.context];
        })
        .step('ends', ({ $ }) => $.flow.exit('enough'))
        .step('never', () => {
          throw new Error('not reached');
        }),
  });
  const run = await runFixture(workflow, FIXTURE, { resumed: { asks: { ok: true } } });
  equal(run.state, 'succeeded');
  deepEqual(run.steps.again?.$return_value, [{ ok: true }, 2]);
  deepEqual(
    run.asked.map(({ step, call }) => `${step} ${call}`),
    ['asks respond', 'asks send.email', 'asks flow.suspend', 'again flow.rerun', 'again flow.rerun', 'ends flow.exit'],
  );
});

test('a step is executed again so often, and then the next one', async () => {
  const workflow = defineWorkflow({
    name: 'asks',
    steps: (flow) =>
      flow
        .step('polls', ({ $ }) => {
          $.flow.rerun(1, null, 4);
          return $.context.run.runs;
        })
        .step('after', ({ steps }) => steps.polls.$return_value),
  });
  const run = await runFixture(workflow, FIXTURE);
  deepEqual([run.state, run.steps.after?.$return_value, run.asked.length], ['succeeded', 5, 5]);
});

test('variables are set for the time of the run alone', async () => {
  const run = await runFixture(() => process.env.ONE_OF_MINE, FIXTURE, { env: { ONE_OF_MINE: 'here' } });
  equal(run.steps.charge?.$return_value, 'here');
  equal(process.env.ONE_OF_MINE, undefined);
});

test('events come from text or from bytes', async () => {
  const { original_event_text: _, ...bare } = FIXTURE;
  equal(eventTextOf({ ...bare, original_event_base64: Buffer.from('{"é":1}').toString('base64') }), '{"é":1}');
  await rejects(
    runFixture(() => 1, bare),
    /has no event/,
  );
  for (const code of [undefined, null, 7, {}, { steps: [] }]) {
    await rejects(runFixture(code, FIXTURE), /takes what defineWorkflow returned/);
  }
});

test('the documented test fails until the file is corrected', async () => {
  await using folder = await createFolder();
  const at = (path: string): string => join(folder.path, path);
  // The sources in the place of the package: Node runs them as they are, since their real path is not under node_modules.
  await mkdir(at('node_modules/errand'), { recursive: true });
  const exports = { './workflow': './workflow.ts', './testing': './testing.ts' };
  await writeFile(at('node_modules/errand/package.json'), JSON.stringify({ name: 'errand', type: 'module', exports }));
  for (const name of ['workflow.ts', 'testing.ts'])
    await symlink(join(ROOT, 'src/sdk', name), at(`node_modules/errand/${name}`));
  await symlink(join(ROOT, 'node_modules/typebox'), at('node_modules/typebox'));
  await writeFile(at('package.json'), '{"type": "module"}');
  const example = (name: string) => readFile(join(ROOT, 'examples/workflow-files', name), 'utf8');
  const code = await example('order.ts');
  await writeFile(at('order.test.ts'), await example('order.test.ts'));
  const event = { body: { customer: 'Ada', lines: [] } };
  await writeFile(at('order-error.json'), JSON.stringify({ ...FIXTURE, original_event_text: JSON.stringify(event) }));
  const run = () => {
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
    return spawnSync(process.execPath, ['--test', 'order.test.ts'], { cwd: folder.path, env, encoding: 'utf8' });
  };
  await writeFile(at('order.ts'), code);
  const failing = run();
  equal(failing.status, 1, failing.stdout);
  match(failing.stdout, /Reduce of empty array/);
  await writeFile(at('order.ts'), code.replace('sum + price)', 'sum + price, 0)'));
  const corrected = run();
  equal(corrected.status, 0, corrected.stdout);
});
