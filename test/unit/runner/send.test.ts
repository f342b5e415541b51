import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodies, deploymentOf, faultOf, kit } from './kit.ts';

test('emit sends to the default or named channel', async (t) => {
  const outcome = await kit(t).evaluate('$.send.emit({ a: 1 }); const { emit } = $.send; emit("text", "orders")');
  assert.deepEqual(bodies(outcome), [{ a: 1 }, 'text']);
  assert.deepEqual(
    outcome.outgoing.map(({ kind, name }) => [kind, name]),
    [
      ['emit', ''],
      ['emit', 'orders'],
    ],
  );
});

test('channels of the service are refused', async (t) => {
  const { evaluate } = kit(t);
  for (const channel of ['"$errors"', '"$x"', '5', '"x".repeat(129)', '"\\ud800"']) {
    const outcome = await evaluate(`$.send.emit({}, ${channel})`);
    assert.equal(faultOf(outcome).code, 'ConfigurationError');
    assert.deepEqual(outcome.outgoing, []);
  }
});

test('an event without JSON is refused', async (t) => {
  const { evaluate } = kit(t);
  assert.equal(faultOf(await evaluate('$.send.emit(undefined)')).code, 'TypeError');
  assert.equal(faultOf(await evaluate('$.send.emit({ n: 1n })')).code, 'TypeError');
});

test('a mail is sent with its three parts', async (t) => {
  const outcome = await kit(t).evaluate(
    '$.send.email({ subject: "s", text: "t", html: "<b>", to: "nobody" }); $.send.email({ subject: "only" })',
  );
  assert.deepEqual(bodies(outcome), [
    { subject: 's', text: 't', html: '<b>' },
    { subject: 'only', text: '' },
  ]);
  assert.deepEqual(
    outcome.outgoing.map(({ kind, name }) => [kind, name]),
    [
      ['email', ''],
      ['email', ''],
    ],
  );
});

test('a mail without a subject is refused', async (t) => {
  const { evaluate } = kit(t);
  for (const mail of ['', '{ text: "t" }', '{ subject: "s", html: 5 }', '{ subject: "s", text: {} }']) {
    assert.equal(faultOf(await evaluate(`$.send.email(${mail})`)).code, 'ConfigurationError', mail);
  }
});

test('sends made before a failure count', async (t) => {
  const outcome = await kit(t).evaluate('$.send.emit(1); throw new Error("later")');
  assert.equal(faultOf(outcome).msg, 'later');
  assert.deepEqual(bodies(outcome), [1]);
});

test('sends of a run have a limit', async (t) => {
  const { evaluate } = kit(t);
  const full = await evaluate('for (let i = 0; i < 10000; i++) $.send.emit(i)');
  assert.equal(full.outgoing.length, 10_000);
  const over = await evaluate('for (let i = 0; i < 10001; i++) $.send.emit(i)');
  assert.equal(faultOf(over).code, 'PayloadTooLarge');
  assert.equal(over.outgoing.length, 10_000);
  assert.equal(
    faultOf(await evaluate('for (let i = 0; i < 7; i++) $.send.emit("x".repeat(1 << 20))')).code,
    'PayloadTooLarge',
  );
});

test('what an ended run still does has no effect', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf(`import { AsyncResource } from 'node:async_hooks';
    let left;
    export default ({ $ }) => {
      left?.();
      left = AsyncResource.bind(() => {
        $.send.emit('late'); $.send.email({ subject: 'late' }); $.export('late', 1); $.flow.exit(); console.log('late');
        $.send.http({ url: 'http://late.example/' }); $.flow.trigger('p_0123456789abcdEF'); $.flow.delay(1);
      });
    }`);
  await run(deployment);
  const { end, outgoing, steps, logs } = await run(deployment);
  assert.deepEqual(end, { kind: 'succeeded' });
  assert.deepEqual([outgoing, steps[0]?.exports, logs], [[], {}, []]);
});
