import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { faultOf, kit } from '../kit.ts';

test('frames point into the code as written', async (t) => {
  const fault = faultOf(
    await kit(t).run(
      `interface Order { readonly id: number }

function check(order: Order): void {
  if (order.id > 1) throw new RangeError('no such order');
}

export default async function main({ steps }: { steps: { trigger: { event: Order } } }) {
  await null;
  check(steps.trigger.event);
}
`,
      { event: Buffer.from('{"id":2}') },
    ),
  );
  assert.equal(fault.stack, '    at check (one.ts:4:27)\n    at main (one.ts:9:3)');
});

test('frames are mapped without the JSON of the code', async (t) => {
  const { run } = kit(t);
  const fault = faultOf(
    await run('export default () => {\n  JSON.parse = () => ({});\n  throw new Error("no JSON");\n};'),
  );
  assert.equal(fault.stack, '    at one_default (one.ts:3:9)');
});

test('frames of Node and of ours are left out', async (t) => {
  const fault = faultOf(
    await kit(t).run(`import { readFileSync } from 'node:fs';
export default ({ steps }) => [1].map(() => readFileSync('missing'));`),
  );
  assert.equal(fault.code, 'ENOENT');
  assert.equal(fault.stack, '    at one.ts:2:45\n    at Array.map (<anonymous>)\n    at one_default (one.ts:2:35)');
});

test('a message cannot pass for frames', async (t) => {
  const fault = faultOf(
    await kit(t).run('export default () => { throw new Error("a\\n    at fake (one.ts:9:9)\\n    at fake2 (x)") }'),
  );
  assert.equal(fault.stack, '    at one_default (one.ts:1:30)');
});

test('frames of CommonJS code are mapped too', async (t) => {
  const fault = faultOf(
    await kit(t).run('const { strictEqual } = require("assert");\nmodule.exports = () => strictEqual(1, 2);'),
  );
  assert.equal(fault.code, 'ERR_ASSERTION');
  assert.equal(fault.stack, '    at module.exports (one.ts:2:24)');
});

test('a stack formatter of the code changes nothing', async (t) => {
  const fault = faultOf(
    await kit(t).run(
      'Error.prepareStackTrace = () => "    at lie (one.ts:1:1)";\nexport default () => { throw new Error("m") }',
    ),
  );
  assert.equal(fault.stack, '    at one_default (one.ts:2:30)');
});

test('a formatter still works for the code itself', async (t) => {
  const outcome = await kit(t).run(`export default () => {
    Error.prepareStackTrace = (error, sites) => sites.length;
    try { throw new Error('first') } catch (error) { if (typeof error.stack !== 'number') throw new Error('not used') }
    try { null.x } catch (error) { throw Object.assign(new Error('second'), { stack: 7 }) }
  }`);
  assert.deepEqual([faultOf(outcome).msg, faultOf(outcome).stack], ['second', '']);
});

test('deep stacks are cut to the limit', async (t) => {
  const fault = faultOf(
    await kit(t).run(
      'const deep = (n) => { if (n === 0) throw new Error("deep"); deep(n - 1) }; export default () => deep(500)',
    ),
  );
  const frames = fault.stack.split('\n');
  assert.ok(frames.length <= LIMITS.stackFrames && frames.length > LIMITS.stackFrames - 5);
});

test('long frames are cut to the limit', async (t) => {
  const fault = faultOf(
    await kit(t).run(`const name = 'é'.repeat(5000);
    export default () => { ({ [name]: () => { throw new Error('long') } })[name]() }`),
  );
  const [first = ''] = fault.stack.split('\n');
  assert.ok(Buffer.byteLength(first) <= LIMITS.frameBytes && first.startsWith('    at'), first.slice(0, 80));
});

test('an error without a stack has none', async (t) => {
  const { evaluate } = kit(t);
  for (const stack of ['undefined', '"no frames here"', '{}', '"Error: m"']) {
    assert.equal(faultOf(await evaluate(`throw Object.assign(new Error('m'), { stack: ${stack} })`)).stack, '');
  }
});

test('endless recursion is an ordinary error', async (t) => {
  const fault = faultOf(await kit(t).run('const f = () => f() + 1; export default () => f()'));
  assert.equal(fault.code, 'RangeError');
  assert.match(fault.stack, /^( {4}at f \(one\.ts:1:\d+\)\n){40}/);
});
