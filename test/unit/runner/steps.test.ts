import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentOf, faultOf, kit, returned } from './kit.ts';

test('a function step returns its value', async (t) => {
  const outcome = await kit(t).run('export default ({ steps }) => ({ twice: steps.trigger.event.n * 2 })', {
    event: Buffer.from('{"n": 21}'),
  });
  assert.deepEqual(returned(outcome), { twice: 42 });
});

test('functions and components are given event and context', async (t) => {
  const of = (code: string) => kit(t).run(code, { event: Buffer.from('{"n": 21}') });
  const read =
    '({ event, context, steps }) => [event.n, event === steps.trigger.event, context === steps.trigger.context]';
  assert.deepEqual(returned(await of(`export default ${read}`)), [21, true, true]);
  assert.deepEqual(returned(await of(`export default defineComponent({ run: ${read} })`)), [21, true, true]);
});

test('a recorded step tells times and state', async (t) => {
  const before = Date.now();
  const { steps } = await kit(t).run('export default async () => 1');
  assert.equal(steps.length, 1);
  const [step] = steps;
  assert.deepEqual([step?.id, step?.namespace, step?.state, step?.returnValue], ['c_one', 'one', 'succeeded', '1']);
  assert.ok((step?.startedAtMs ?? 0) >= before && (step?.tookMs ?? -1) >= 0);
});

test('a component step runs with its own this', async (t) => {
  const outcome = await kit(t).run(
    `export default defineComponent({
    props: { greeting: { type: 'string', default: 'hello' }, db: '$.service.db' },
    methods: { greet(name) { return this.greeting + ' ' + name } },
    helper() { return 'inherited' },
    async run({ steps, $ }) { const { greet } = this; return [greet(steps.trigger.event.name), this.helper(), typeof $] },
  })`,
    { event: Buffer.from('{"name":"Ada"}') },
  );
  assert.deepEqual(returned(outcome), ['hello Ada', 'inherited', 'object']);
});

test('a CommonJS step runs like a module', async (t) => {
  const { run } = kit(t);
  assert.equal(returned(await run('const path = require("path"); module.exports = () => path.join("a", "b")')), 'a/b');
  assert.equal(returned(await run('exports.run = async () => "exported run"')), 'exported run');
  assert.equal(
    returned(await run('exports.__esModule = true; exports.default = () => "inner default"')),
    'inner default',
  );
});

test('a require made of parts still gets builtins only', async (t) => {
  const { run } = kit(t);
  assert.equal(
    returned(await run('export default () => { const n = "o" + "s"; return typeof require(n).cpus }')),
    'function',
  );
  assert.match(
    faultOf(await run('export default () => { const n = "esb" + "uild"; return require(n) }')).msg,
    /Only Node's own/,
  );
});

test('later steps see returns and exports of earlier ones', async (t) => {
  const outcome = await kit(t).run([
    'export default ({ $ }) => { $.export("answer", { n: 42 }); $.export("nothing", undefined); return [1] }',
    'export default ({ steps }) => ({ all: steps.one, same: steps.one.answer === steps.one.answer })',
    'export default ({ steps }) => [steps.two.$return_value.same, "three" in steps, steps.one.$return_value]',
  ]);
  assert.deepEqual(returned(outcome), [true, false, [1]]);
  assert.deepEqual(outcome.steps[0]?.exports, { answer: '{"n":42}' });
  assert.equal(outcome.steps[1]?.returnValue, '{"all":{"answer":{"n":42},"$return_value":[1]},"same":true}');
});

test('steps get copies of what earlier ones returned', async (t) => {
  const outcome = await kit(t).run([
    'export const kept = { at: new Date(0) }; export default () => kept',
    'export default ({ steps }) => typeof steps.one.$return_value.at',
  ]);
  assert.equal(returned(outcome), 'string');
});

test('the event is parsed once and kept', async (t) => {
  const outcome = await kit(t).run([
    'export default ({ steps }) => { steps.trigger.event.seen = true }',
    'export default ({ steps }) => [steps.trigger.event.seen, steps.trigger.event === steps.trigger.event]',
  ]);
  assert.deepEqual(returned(outcome), [true, true]);
});

test('raw is the exact text of the event', async (t) => {
  const text = '{ "n": 12345678901234567890, "a": 1, "a": 2, "e": 1e400, "z": "\\u0000", "ü": "☃" }';
  const outcome = await kit(t).run('export default ({ steps }) => steps.trigger.raw', { event: Buffer.from(text) });
  assert.equal(returned(outcome), text);
});

test('the context reaches steps.trigger and $.context', async (t) => {
  const outcome = await kit(t).run('export default ({ steps, $ }) => [steps.trigger.context, $.context]', {
    context: { id: 'emit_1', test: true, nested: { a: [1] } },
    attempt: 3,
    timeoutMs: 5000,
  });
  const [given, context] = returned(outcome) as Record<string, unknown>[];
  assert.deepEqual(given, { id: 'emit_1', test: true, nested: { a: [1] } });
  const { deadline, ...rest } = context as { deadline: number };
  assert.deepEqual(rest, { ...given, run: { runs: 1 }, attempt: 3 });
  assert.ok(Math.abs(deadline - Date.now() - 5000) < 5000);
});

test('flow.exit ends the run after the step', async (t) => {
  const outcome = await kit(t).run([
    'export default ({ $ }) => { $.flow.exit("enough"); return "rest of the step" }',
    'export default () => { throw new Error("never") }',
  ]);
  assert.deepEqual(outcome.end, { kind: 'succeeded', exitReason: 'enough' });
  assert.deepEqual(
    outcome.steps.map(({ state }) => state),
    ['exited'],
  );
  assert.equal(outcome.steps[0]?.returnValue, '"rest of the step"');
});

test('the $summary export becomes the summary', async (t) => {
  const outcome = await kit(t).run([
    'export default ({ $ }) => $.export("$summary", "first")',
    'export default ({ $ }) => $.export("$summary", "Sent \\ud800 mail")',
  ]);
  assert.equal(outcome.summary, 'Sent \ufffd mail');
});

test('names like __proto__ are ordinary exports', async (t) => {
  const outcome = await kit(t).run([
    'export default ({ $ }) => $.export("__proto__", { a: 1 })',
    'export default ({ steps }) => Object.getOwnPropertyNames(steps.one)',
  ]);
  assert.deepEqual(returned(outcome), ['__proto__']);
});

test('module state lasts between runs of a deployment', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf('let n = 0; export default () => ++n');
  const values = [await run(deployment), await run(deployment)].map(returned);
  assert.deepEqual(values, [1, 2]);
});
