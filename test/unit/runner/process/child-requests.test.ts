// What code asks the server while it runs: bounded, in order, answered only while the run is in flight.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { ChildReply, ChildRequest, RunRequest } from '../../../../src/runner/runner.ts';
import { noJail } from '../isolation/jail-kit.ts';
import {
  deploymentOf,
  faultOf,
  ISOLATION,
  kit as plainKit,
  requestOf as plainRequestOf,
  returned,
  signal,
  until,
} from '../kit.ts';

const DATA = `props: { data: { type: 'data_store' } }`;
const CONFIGURED = { stepProps: [{ configuredProps: { data: 'ds_1' } }] };
const NOTHING: ChildReply = { ok: true, json: 'null' };

/** A step whose \`this.data\` is a data store. */
const step = (body: string): string =>
  `import fs from 'node:fs'; export default { ${DATA}, async run({ steps, $ }) { const { data } = this; ${body} } }`;

const requestOf: typeof plainRequestOf = (deployment, given) => plainRequestOf(deployment, { ...CONFIGURED, ...given });

const kit: typeof plainKit = (...args) => {
  const whole = plainKit(...args);
  return { ...whole, run: (code, given) => whole.run(code, { ...CONFIGURED, ...given }) };
};

/** A data store in memory, with what it received. */
function memory(): {
  onChildRequest: NonNullable<RunRequest['onChildRequest']>;
  received: ChildRequest[];
  values: Map<unknown, string>;
} {
  const values = new Map<unknown, string>();
  const received: ChildRequest[] = [];
  const verbs: Record<string, (request: ChildRequest) => unknown> = {
    get: ({ args }) => (values.has(args.key) ? [JSON.parse(values.get(args.key) as string)] : []),
    has: ({ args }) => values.has(args.key),
    set: ({ args, value }) => void values.set(args.key, value as string),
    delete: ({ args }) => values.delete(args.key),
    setTtl: ({ args }) => values.has(args.key),
    clear: () => void values.clear(),
    size: () => values.size,
    keys: ({ args }) => keysAfter(args.after).slice(0, 2),
    entries: ({ args }) =>
      keysAfter(args.after)
        .slice(0, 2)
        .map((key) => [key, JSON.parse(values.get(key) as string)]),
  };
  const keysAfter = (after: unknown): string[] =>
    ([...values.keys()] as string[]).sort().filter((key) => after === null || key > (after as string));
  const onChildRequest = async (request: ChildRequest): Promise<ChildReply> => {
    received.push(request);
    return { ok: true, json: JSON.stringify(verbs[request.verb]?.(request) ?? null) };
  };
  return { onChildRequest, received, values };
}

test('a data store keeps what code sets', async (t) => {
  const { onChildRequest, received } = memory();
  const outcome = await kit(t).run(
    step(`
      const { set, get, has, size, setTtl } = data;
      await set('a', { n: [1, null, 'é\\ud800'] }, { ttl: 1.5 });
      await set(7, new Date(0));
      const before = [await get('a'), await get('7'), await get('none'), await has('a'), await has('b'), await size()];
      const changes = [await setTtl('a', 60), await setTtl('b', null), await data.delete('a'), await data.delete('a')];
      await data.clear();
      return { before, changes, undefined: (await get('a')) === undefined, size: await size() };
    `),
    { onChildRequest },
  );
  assert.deepEqual(returned(outcome), {
    before: [{ n: [1, null, 'é\ud800'] }, '1970-01-01T00:00:00.000Z', null, true, false, 2],
    changes: [true, false, true, false],
    undefined: true,
    size: 0,
  });
  const [first, second] = received;
  assert.deepEqual(first, {
    verb: 'set',
    args: { store: 'ds_1', key: 'a', ttlMs: 1500 },
    value: '{"n":[1,null,"é\\ud800"]}',
  });
  assert.equal(second?.args.ttlMs, null);
  assert.deepEqual(received.find(({ verb }) => verb === 'setTtl')?.args, { store: 'ds_1', key: 'a', ttlMs: 60_000 });
});

test('keys and entries come at once or one by one', async (t) => {
  const { onChildRequest } = memory();
  const outcome = await kit(t).run(
    step(`
      for (const key of ['e', 'd', 'c', 'b', 'a']) await data.set(key, key + key);
      const walked = [];
      for await (const [key, value] of data) walked.push(key + value);
      for await (const key of data.keys()) { walked.push(key); if (key === 'c') break; }
      const [keys] = await Promise.all([data.keys()]);
      const some = await data.keys().then((all) => all.length);
      return { walked, keys, entries: await data.entries(), some };
    `),
    { onChildRequest },
  );
  assert.deepEqual(returned(outcome), {
    walked: ['aaa', 'bbb', 'ccc', 'ddd', 'eee', 'a', 'b', 'c'],
    keys: ['a', 'b', 'c', 'd', 'e'],
    entries: ['a', 'b', 'c', 'd', 'e'].map((key) => [key, key + key]),
    some: 5,
  });
});

test('requests come in their order, few at once', async (t) => {
  const open: (() => void)[] = [];
  const received: unknown[] = [];
  let atOnce = 0;
  const onChildRequest = async ({ args }: ChildRequest): Promise<ChildReply> => {
    received.push(args.key);
    atOnce = Math.max(atOnce, open.length + 1);
    await new Promise<void>((resolve) => {
      open.push(resolve);
      setImmediate(() => open.shift()?.());
    });
    return { ok: true, json: '[1]' };
  };
  const outcome = await kit(t).run(
    step(`return (await Promise.all(Array.from({ length: 500 }, (_, n) => data.get('k' + n)))).length;`),
    { onChildRequest },
  );
  assert.equal(returned(outcome), 500);
  assert.deepEqual(
    received,
    Array.from({ length: 500 }, (_, n) => `k${n}`),
  );
  assert.ok(atOnce > 1 && atOnce <= LIMITS.openChildRequests, `${atOnce} at once`);
});

test('the largest values cross, many at once', async (t) => {
  const { onChildRequest, values } = memory();
  const outcome = await kit(t).run(
    step(`
      const value = 'x'.repeat(${LIMITS.recordBytes - 2});
      await Promise.all(Array.from({ length: 20 }, (_, n) => data.set('k' + n, value)));
      return (await Promise.all(Array.from({ length: 20 }, (_, n) => data.get('k' + n)))).every((v) => v === value);
    `),
    { onChildRequest },
  );
  assert.equal(returned(outcome), true);
  assert.equal(values.size, 20);
});

test('what is not awaited is done all the same', async (t) => {
  const { onChildRequest, values } = memory();
  const outcome = await kit(t).run(step(`for (let n = 0; n < 40; n++) data.set('k' + n, n);`), { onChildRequest });
  assert.equal(outcome.end.kind, 'succeeded');
  assert.equal(values.size, 40);
});

test('an answer may be an error', async (t) => {
  const onChildRequest = async ({ args }: ChildRequest): Promise<ChildReply> => ({
    ok: false,
    name: args.key === 'gone' ? 'ConfigurationError' : 'DataStoreError',
    message: `not ${args.key}`,
  });
  const { run } = kit(t);
  const fault = faultOf(await run(step(`await data.get('gone');`), { onChildRequest }));
  assert.deepEqual([fault.code, fault.msg], ['ConfigurationError', 'not gone']);
  const other = faultOf(await run(step(`await data.set('there', 1);`), { onChildRequest }));
  assert.deepEqual([other.code, other.msg], ['DataStoreError', 'not there']);
  const forgotten = faultOf(await run(step(`data.set('there', 1);`), { onChildRequest }));
  assert.equal(forgotten.code, 'DataStoreError', 'also when the code does not wait for it');
  const caught = step(`return await data.get('x').catch(({ name, message }) => [name, message]);`);
  assert.deepEqual(returned(await run(caught, { onChildRequest })), ['DataStoreError', 'not x']);
});

test('a bug in answering is an error too', async (t) => {
  const { run, logged } = kit(t);
  const onChildRequest = () => Promise.reject(new Error('secret detail'));
  const fault = faultOf(await run(step(`await data.get('x');`), { onChildRequest }));
  assert.match(fault.msg, /bug in the service/);
  assert.ok(logged.some(({ name, level }) => name === 'runner.ask_rejected' && level === 'error'));
  const none = faultOf(await run(step(`await data.get('x');`)));
  assert.match(none.msg, /answers no requests/);
});

test('wrong keys and values are refused at once', async (t) => {
  const { onChildRequest, received } = memory();
  const { run } = kit(t);
  const wrong: [string, string, RegExp][] = [
    [`data.get('')`, 'ConfigurationError', /1 to 255 characters/],
    [`data.set('x'.repeat(256), 1)`, 'ConfigurationError', /one of 256/],
    [`data.has('\\ud800')`, 'ConfigurationError', /valid Unicode, not '\\u[dD]800'/],
    [`data.delete({})`, 'ConfigurationError', /string/],
    [`data.get()`, 'ConfigurationError', /undefined/],
    [`data.set('a', undefined)`, 'TypeError', /JSON/],
    [`data.set('a', 1n)`, 'TypeError', /BigInt/],
    [`data.set('a', 'x'.repeat(${LIMITS.recordBytes}))`, 'PayloadTooLarge', /1048576 bytes/],
    [`data.set('a', 1, { ttl: 0 })`, 'ConfigurationError', /ttl/],
    [`data.set('a', 1, { ttl: '60' })`, 'ConfigurationError', /ttl/],
    [`data.setTtl('a', -1)`, 'ConfigurationError', /ttl/],
  ];
  for (const [code, name, message] of wrong) {
    const fault = faultOf(await run(step(`await ${code};`), { onChildRequest }));
    assert.equal(fault.code, name, code);
    assert.match(fault.msg, message, code);
  }
  assert.deepEqual(received, []);
});

test('after the end of a run no request is answered', async (t) => {
  const { runner } = kit(t);
  const deployment = await deploymentOf(
    step(`
      if (!steps.trigger.event.late) { setTimeout(() => data.set('late', 1), 5); throw new Error('over'); }
      await new Promise((resolve) => setTimeout(resolve, 20));
      return await data.get('x');
    `),
  );
  const first = memory();
  faultOf(await runner.run(requestOf(deployment, { onChildRequest: first.onChildRequest })));
  const second = memory();
  const outcome = await runner.run(
    requestOf(deployment, { onChildRequest: second.onChildRequest, event: Buffer.from('{"late":true}') }),
  );
  assert.equal(outcome.end.kind, 'succeeded');
  assert.deepEqual([first.received.length, second.received.map(({ verb }) => verb)], [0, ['get']]);
});

test('an answer that comes too late harms nothing', async (t) => {
  const { runner } = kit(t);
  const answered = Promise.withResolvers<ChildReply>();
  let isAsked = false;
  const onChildRequest = (): Promise<ChildReply> => {
    isAsked = true;
    return answered.promise;
  };
  const deployment = await deploymentOf(step(`if (steps.trigger.event.waits) await data.get('x'); return 1;`));
  const waiting = requestOf(deployment, { onChildRequest, event: Buffer.from('{"waits":true}') });
  const outcome = runner.run(waiting);
  await until(() => isAsked);
  runner.cancel(waiting.run);
  assert.equal((await outcome).end.kind, 'cancelled');
  answered.resolve(NOTHING);
  assert.equal(returned(await runner.run(requestOf(deployment))), 1);
});

test('a run that waits for an answer times out', async (t) => {
  const onChildRequest = (): Promise<ChildReply> => new Promise(() => {});
  const fault = faultOf(await kit(t).run(step(`await data.get('x');`), { onChildRequest, timeoutMs: 300 }));
  assert.equal(fault.code, 'Timeout');
});

const FORGE = `const frame = (messages, blob = '') => {
  const json = Buffer.from(JSON.stringify(messages)), bytes = Buffer.from(blob), head = Buffer.alloc(8);
  head.writeUInt32LE(json.length + bytes.length, 0); head.writeUInt32LE(json.length, 4);
  return Buffer.concat([head, json, bytes]);
};
const send = (data) => { for (let at = 0; at < data.length; ) try { at += fs.writeSync(3, data, at); } catch {} };
const request = { t: 'request', run: 900500, id: 1, verb: 'get', args: '{}', bytes: 0 };`;

test('forged requests cost only the process', async (t) => {
  const { run, runner } = kit(t);
  const forged = [
    `[{ ...request, verb: 7 }]`,
    `[{ ...request, args: {} }]`,
    `[{ ...request, args: '[]' }]`,
    `[{ ...request, args: '{' }]`,
    `[{ ...request, args: JSON.stringify('x'.repeat(9000)) }]`,
    `[{ ...request, id: 'x' }]`,
    `[{ ...request, bytes: 5 }]`,
    `[{ ...request, bytes: 3 }], '{"a'`,
    `Array.from({ length: ${LIMITS.openChildRequests + 1} }, () => request)`,
    `[{ ...request, bytes: ${LIMITS.openChildRequestBytes} }], '1'.repeat(${LIMITS.openChildRequestBytes})`,
  ];
  const onChildRequest = (): Promise<ChildReply> => new Promise(() => {});
  for (const message of forged) {
    const code = step(`${FORGE} send(frame(${message})); await new Promise(() => {});`);
    assert.equal(faultOf(await run(code, { run: 900_500, onChildRequest })).code, 'WorkerLost', message);
  }
  const known = step(`${FORGE} fs.writeSync(3, frame([{ ...request, run: 1 }])); return 'went on';`);
  assert.equal(
    returned(await run(known, { run: 900_500, onChildRequest })),
    'went on',
    'of a run that is not in flight here',
  );
  assert.equal(runner.stats().inFlight, 0);
});

test('who reads no answers gets no more', async (t) => {
  const { runner } = kit(t);
  const { came, onAnswer } = signal();
  const large = JSON.stringify('x'.repeat(1024 * 1024));
  let answered = 0;
  const onChildRequest = async (): Promise<ChildReply> => {
    answered++;
    return { ok: true, json: large };
  };
  // Sends requests on and on without reading: by hand, since honest code stops at the window.
  const code = step(`${FORGE}
    await $.respond({ immediate: true });
    for (let id = 1; ; id++) {
      try { fs.writeSync(3, frame([{ ...request, id }])); } catch { }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }`);
  const outcome = runner.run(
    requestOf(await deploymentOf(code), { run: 900_500, onChildRequest, onAnswer, timeoutMs: 5000 }),
  );
  await came;
  assert.equal(faultOf(await outcome).code, 'WorkerLost', 'more requests than there may be');
  assert.ok(answered < 64, `${answered} answers of a megabyte`);
});

test('requests cross the walls of a jail', { skip: await noJail() }, async (t) => {
  const { onChildRequest } = memory();
  const jailed = kit(t, { isolation: { ...ISOLATION, level: 'jail', network: 'none' } });
  const outcome = await jailed.run(step(`await data.set('a', [1]); return await data.entries();`), { onChildRequest });
  assert.deepEqual(returned(outcome), [['a', [1]]]);
});
