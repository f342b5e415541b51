// Steps that ask for their run to wait: what they are given at once, and what their run ends with.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunOutcome } from '../../../src/domain/run/run.ts';
import type { WaitAsked } from '../../../src/domain/run/wait.ts';
import { resumeKeyOf, resumeToken } from '../../../src/runner/resume-token.ts';
import { bodies, bodyText, deploymentOf, earlier, faultOf, type Kit, kit, returned } from './kit.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const KEY = resumeKeyOf(Buffer.alloc(32, 1), 'd_1');

function waitOf({ end }: RunOutcome): WaitAsked {
  assert.ok(end.kind === 'waiting', JSON.stringify(end));
  return end.wait;
}

/** What a step that does this asks for. */
async function asked({ evaluate }: Kit, body: string): Promise<WaitAsked> {
  return waitOf(await evaluate(body));
}

test('each way to wait asks for its own', async (t) => {
  const given = kit(t);
  assert.deepEqual(await asked(given, '$.flow.delay(1500)'), { kind: 'delay', ms: 1500, context: null });
  assert.deepEqual(await asked(given, '$.flow.suspend()'), { kind: 'suspend', ms: DAY_MS, context: null });
  assert.deepEqual(await asked(given, '$.flow.suspend(null)'), { kind: 'suspend', ms: DAY_MS, context: null });
  assert.deepEqual(await asked(given, '$.flow.suspend(5)'), { kind: 'suspend', ms: 5, context: null });
  assert.deepEqual(await asked(given, '$.flow.rerun(5)'), { kind: 'rerun', ms: 5, context: null });
  assert.deepEqual(await asked(given, '$.flow.rerun(5, { n: [1] })'), { kind: 'rerun', ms: 5, context: '{"n":[1]}' });
  assert.deepEqual(await asked(given, 'const { delay } = $.flow; delay(7)'), { kind: 'delay', ms: 7, context: null });
});

test('times are numbers or their text, within bounds', async (t) => {
  const given = kit(t);
  const cases = [
    ['0', 0],
    ['"0"', 0],
    ['" 250 "', 250],
    ['1.2', 2],
    ['1e3', 1000],
    [String(366 * DAY_MS), 366 * DAY_MS],
  ];
  for (const [ms, is] of cases) assert.equal((await asked(given, `$.flow.delay(${ms})`)).ms, is, String(ms));
  for (const ms of [
    '',
    'null',
    '""',
    '" "',
    '"soon"',
    '-1',
    'NaN',
    'Infinity',
    '{}',
    '[5]',
    '5n',
    'true',
    '31622400001',
  ]) {
    for (const way of ['delay', 'rerun']) {
      const fault = faultOf(await given.evaluate(`$.flow.${way}(${ms})`));
      assert.equal(fault.code, 'ConfigurationError', ms);
      assert.match(
        fault.msg,
        new RegExp(`^\\$\\.flow\\.${way} takes milliseconds, from 0 to 31622400000 \\(366 days\\), not`),
      );
    }
  }
  assert.match(faultOf(await given.evaluate('$.flow.suspend("soon")')).msg, /^\$\.flow\.suspend .* not "soon"$/);
});

test('addresses are there at once, and the same', async (t) => {
  const { evaluate } = kit(t);
  const body = '$.export("a", [$.flow.delay(1), $.flow.suspend(2), $.flow.rerun(3)])';
  const context = { public_url: 'https://errand.example/base/' };
  const first = await evaluate(body, { run: 1_900_000_000_000_000, context, resumeKey: KEY });
  const base = `https://errand.example/base/r/r_${(1_900_000_000_000_000).toString(36)}`;
  const address = `${base}/1.${resumeToken(KEY, 1_900_000_000_000_000, 1)}`;
  const both = { resume_url: `${address}/resume`, cancel_url: `${address}/cancel` };
  assert.deepEqual(JSON.parse(first.steps[0]?.exports.a as string), [both, both, both]);
  assert.deepEqual(waitOf(first), { kind: 'rerun', ms: 3, context: null });
  const deployment = await deploymentOf(['export default () => 1', 'export default ({ $ }) => $.flow.delay(1)']);
  const later = await kit(t).run(deployment, {
    run: 1_900_000_000_000_000,
    context,
    resumeKey: KEY,
    earlier: earlier({ one: {} }, { waits: 4 }),
  });
  const fifth = `${base}/5.${resumeToken(KEY, 1_900_000_000_000_000, 5)}`;
  assert.equal(JSON.parse(later.steps[0]?.returnValue as string).resume_url, `${fifth}/resume`);
});

test('a run waits at the end of the step', async (t) => {
  const outcome = await kit(t).run([
    'export default ({ $ }) => { $.send.emit("first"); console.log("one") }',
    `export default async ({ $ }) => {
      $.flow.suspend(9);
      await null;
      console.log('two');
      $.send.email({ subject: 'please', text: 'resume' });
      $.respond({ body: (async function* () { await null; yield 'later' })() });
      $.export('$summary', 'waits');
      return 'the rest';
    }`,
    'export default () => { throw new Error("not yet") }',
  ]);
  assert.deepEqual(waitOf(outcome), { kind: 'suspend', ms: 9, context: null });
  assert.deepEqual(
    outcome.steps.map(({ namespace, state, returnValue }) => [namespace, state, returnValue]),
    [
      ['one', 'succeeded', undefined],
      ['two', 'succeeded', '"the rest"'],
    ],
  );
  assert.deepEqual(bodies(outcome), ['first', { subject: 'please', text: 'resume' }]);
  assert.equal(outcome.outgoingOfDone, 2);
  assert.deepEqual(
    outcome.logs.map(({ namespace, text }) => [namespace, text]),
    [
      ['one', 'one'],
      ['two', 'two'],
    ],
  );
  assert.deepEqual([bodyText(outcome.answer), outcome.summary], ['later', 'waits']);
});

test('an exit wins over a wait, whichever came first', async (t) => {
  const { evaluate } = kit(t);
  for (const body of ['$.flow.exit("enough"); $.flow.delay(5)', '$.flow.delay(5); $.flow.exit("enough")']) {
    const { end, steps } = await evaluate(body);
    assert.deepEqual([end, steps[0]?.state], [{ kind: 'succeeded', exitReason: 'enough' }, 'exited']);
  }
});

test('a step that fails after asking has failed', async (t) => {
  const { evaluate } = kit(t);
  for (const body of [
    '$.flow.delay(5); throw new Error("after")',
    '$.flow.rerun(5); return 1n',
    '$.flow.suspend(5); $.respond({ status: 1 })',
    '$.flow.delay(5); process.exit(1)',
  ]) {
    assert.equal((await evaluate(body)).end.kind, 'failed', body);
  }
});

test('the last step may wait too', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf('export default ({ $ }) => $.flow.delay(5)');
  assert.equal(waitOf(await run(deployment)).kind, 'delay');
  const after = await run(deployment, { earlier: earlier({ one: {} }) });
  assert.deepEqual([after.end, after.steps], [{ kind: 'succeeded' }, []]);
});

test('asked too late, a wait does not happen', async (t) => {
  const { run } = kit(t);
  const outcome = await run([
    'export default ({ $ }) => { globalThis.late = $.flow }',
    'export default () => { globalThis.late.delay(5); globalThis.late.exit("late") }',
    'export default () => 3',
  ]);
  assert.equal(returned(outcome), 3);
});

test('a step is executed again with what it passed on', async (t) => {
  const deployment = await deploymentOf([
    'export default ({ $ }) => { const { runs, context } = $.context.run; if (runs < 3) $.flow.rerun(1, { seen: [runs, context] }); return runs }',
    'export default ({ steps, $ }) => [steps.one.$return_value, $.context.run.runs, $.context.run.context]',
  ]);
  const { run } = kit(t);
  const first = waitOf(await run(deployment));
  assert.equal(first.context, '{"seen":[1,null]}');
  const again = (runs: number, context: string | null) => earlier({}, { reruns: { runs, context } });
  const second = waitOf(await run(deployment, { earlier: again(1, first.context) }));
  assert.equal(second.context, '{"seen":[2,{"seen":[1,null]}]}');
  assert.deepEqual(returned(await run(deployment, { earlier: again(2, second.context) })), [3, 1, null]);
});

test('a step is executed again so often, and then the next one', async (t) => {
  const { evaluate, run } = kit(t);
  const after = (runs: number) => ({ earlier: earlier({}, { reruns: { runs, context: null } }) });
  assert.equal(waitOf(await evaluate('$.flow.rerun(1)', after(9))).kind, 'rerun');
  assert.equal(waitOf(await evaluate('$.flow.rerun(1, null, "11")', after(10))).kind, 'rerun');
  const over = await evaluate('return Object.keys($.flow.rerun(1))', after(10));
  assert.deepEqual([over.end.kind, returned(over)], ['succeeded', ['resume_url', 'cancel_url']]);
  assert.deepEqual(
    over.logs.map(({ level, namespace, text }) => [level, namespace, text]),
    [['warn', 'one', '$.flow.rerun: the step was executed again 10 times, its maximum: the run goes on']],
  );
  const [line] = (await evaluate('$.flow.rerun(1, null, 1)', after(1))).logs;
  assert.match(line?.text ?? '', /executed again once, its maximum/);
  assert.equal((await evaluate('$.flow.rerun(1, null, 0)')).end.kind, 'succeeded');
  const deployment = await deploymentOf([
    'export default ({ $ }) => { try { throw new Error("503") } catch { $.flow.rerun(1, null, 3) } }',
    'export default ({ steps, $ }) => [steps.one, $.context.run.runs]',
  ]);
  assert.deepEqual(returned(await run(deployment, after(3))), [{}, 1]);
  for (const max of ['-1', '1.5', '"many"', 'Infinity', '{}']) {
    const refused = faultOf(await evaluate(`$.flow.rerun(1, null, ${max})`));
    assert.equal(refused.code, 'ConfigurationError');
    assert.match(refused.msg, /takes as its maximum a whole number from 0 to 1000000, not/);
  }
});

test('what is passed on has the limits of results', async (t) => {
  const given = kit(t);
  const { evaluate } = given;
  const codes: [string, string][] = [
    ['"x".repeat(7 << 20)', 'PayloadTooLarge'],
    ['{ n: 1n }', 'TypeError'],
    ['() => 1', 'TypeError'],
    ['JSON.parse("[".repeat(300) + "]".repeat(300))', 'PayloadTooLarge'],
  ];
  for (const [context, code] of codes) {
    assert.equal(faultOf(await evaluate(`$.flow.rerun(1, ${context})`)).code, code, context);
  }
  const together = '$.flow.rerun(1, "x".repeat(4 << 20)); return "x".repeat(3 << 20)';
  assert.equal(faultOf(await evaluate(together)).code, 'PayloadTooLarge');
  const twice = 'for (let i = 0; i < 3; i++) $.flow.rerun(1, "x".repeat(4 << 20))';
  assert.equal((await asked(given, twice)).context?.length, (4 << 20) + 2);
});

test('sources have no flow to wait in', async (t) => {
  const outcome = await kit(t).source('export default { run() { return this.$flow ?? this.flow } }');
  assert.deepEqual(outcome.end, { kind: 'succeeded' });
});
