import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodies, bodyText, deploymentOf, faultOf, kit, requestOf, until } from '../kit.ts';

const HTTP_EVENT =
  '{"method":"POST","path":"/","headers":{"content-type":"application/json"},"query":{},"body": {"n": 1.0, "n":12345678901234567890, "s":"a,}\\"b"} ,"client_ip":"::1"}';

test('emissions carry id, summary, time and channel', async (t) => {
  const outcome = await kit(t).source(`export default {
    run() {
      this.$emit({ a: 1 }, { id: 7, summary: 'seven', ts: 1700000000000.7 });
      this.$emit('b', { id: 'x', name: 'updates' });
      this.$emit(null);
    },
  }`);
  assert.deepEqual(bodies(outcome), [{ a: 1 }, 'b', null]);
  assert.deepEqual(
    outcome.outgoing.map(({ kind, name, summary, itemId, itemTs }) => [kind, name, summary, itemId, itemTs]),
    [
      ['emit', '', 'seven', '7', 1700000000000],
      ['emit', 'updates', null, 'x', null],
      ['emit', '', null, null, null],
    ],
  );
});

test('timed emissions are sorted, others keep their place', async (t) => {
  const outcome = await kit(t).source(`export default { run() {
    const emit = this.$emit;
    emit('c', { ts: new Date(3) }); emit('plain'); emit('a1', { ts: 1 }); emit('a2', { ts: 1 });
    emit('b', { ts: '1970-01-01T00:00:00.002Z' });
  } }`);
  assert.deepEqual(bodies(outcome), ['a1', 'plain', 'a2', 'b', 'c']);
});

test('the db is synchronous and clears with undefined', async (t) => {
  const outcome = await kit(t).source(
    `export default {
    props: { db: '$.service.db' },
    run() {
      const { db } = this;
      const before = [db.get('n'), db.get('gone'), db.get('never') === undefined, db.get('toString') === undefined];
      const value = { list: [1] };
      db.set('n', value);
      value.list.push(2);
      db.get('n').list.push(3);
      db.set('gone', undefined);
      this.$emit([before, db.get('n'), db.get('gone') === undefined]);
    },
  }`,
    { db: { n: '41', gone: '"x"', kept: 'true' } },
  );
  assert.deepEqual(bodies(outcome), [[[41, 'x', true, true], { list: [1] }, true]]);
  assert.deepEqual(outcome.dbWrites, { n: '{"list":[1]}', gone: null });
});

test('an emission after the end is told of', async (t) => {
  const { source, logged } = kit(t);
  const outcome = await source(`export default { run() {
    this.$emit('in time');
    ['late', 'later'].forEach(async (item) => { await new Promise(setImmediate); this.$emit(item); });
  } }`);
  assert.deepEqual(bodies(outcome), ['in time']);
  await until(() => logged.some(({ name }) => name === 'runner.stray_exception'));
  const [entry] = logged.filter(({ name }) => name === 'runner.stray_exception');
  assert.match(String(entry?.fields.thrown), /\$emit was called after its run had ended.*must await/);
});

test('a failed run writes nothing to the db', async (t) => {
  const outcome = await kit(t).source(
    'export default { props: { db: "$.service.db" }, run() { this.db.set("a", 1); throw new Error("x") } }',
  );
  assert.equal(faultOf(outcome).msg, 'x');
  assert.deepEqual(outcome.dbWrites, {});
});

test('db values that are no JSON are refused', async (t) => {
  const outcome = await kit(t).source(
    'export default { props: { db: "$.service.db" }, run() { this.db.set("a", 1n) } }',
  );
  assert.equal(faultOf(outcome).code, 'TypeError');
});

test('props have configured values, else defaults', async (t) => {
  const code = `const list = [1]; export default {
    props: {
      plain: 'string', withDefault: { type: 'string', default: 'd' }, list: { type: 'integer[]', default: list },
      zero: { type: 'integer', default: 5 }, timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },
      app: { type: 'app', app: 'thing', methods: { token() { return this.$auth.token }, twice() { return this.token() + this.token() } } },
      shared: { propDefinition: [{ type: 'app', propDefinitions: { shared: { type: 'string', default: 'from app' } } }, 'shared'] },
    },
    run() {
      this.list.push(2);
      const { twice } = this.app;
      this.$emit([this.plain, this.withDefault, this.list, list, this.zero, this.timer, twice(), this.shared]);
    },
  }`;
  const outcome = await kit(t).source(code, {
    configuredProps: { plain: 'p', zero: 0, app: { $auth: { token: 'k' } } },
  });
  const timer = { type: '$.interface.timer', intervalSeconds: 900 };
  assert.deepEqual(bodies(outcome), [['p', 'd', [1, 2], [1], 0, timer, 'kk', 'from app']]);
});

test('methods and hooks share one this', async (t) => {
  const code = `export default {
    props: { http: '$.interface.http', db: '$.service.db' },
    methods: { endpoint() { return this.http.endpoint }, note(k) { this.db.set(k, this.endpoint()) } },
    hooks: { async deploy() { const { note } = this; note('deploy') }, async activate() { this.note('activate'); this.$emit('past') },
      async deactivate() { throw new Error('cannot') } },
    run() {},
  }`;
  const { source } = kit(t);
  const endpoints = { http: 'http://here/e/k' };
  assert.deepEqual((await source(code, { call: ['deploy'], endpoints })).dbWrites, { deploy: '"http://here/e/k"' });
  const activated = await source(code, { call: ['activate'], endpoints });
  assert.deepEqual([activated.dbWrites, bodies(activated)], [{ activate: '"http://here/e/k"' }, ['past']]);
  assert.equal(faultOf(await source(code, { call: ['deactivate'], endpoints })).msg, 'cannot');
});

test('a hook that does not exist succeeds', async (t) => {
  assert.equal((await kit(t).source('export default { run() {} }', { call: ['deploy'] })).end.kind, 'succeeded');
});

test('an HTTP source answers its caller', async (t) => {
  const { answer } = await kit(t).source(
    `export default {
    props: { http: { type: '$.interface.http', customResponse: true } },
    run() { this.http.respond({ status: '202', body: { ok: true } }) },
  }`,
    {},
    HTTP_EVENT,
  );
  assert.deepEqual([answer?.status, bodyText(answer)], [202, '{"ok":true}']);
});

test('an HTTP event carries its raw body', async (t) => {
  const { source } = kit(t);
  const code =
    'export default { props: { http: "$.interface.http" }, run(event) { this.$emit([event.bodyRaw, event.body.s]) } }';
  assert.deepEqual(bodies(await source(code, {}, HTTP_EVENT)), [
    ['{"n": 1.0, "n":12345678901234567890, "s":"a,}\\"b"}', 'a,}"b'],
  ]);
  const given = HTTP_EVENT.replace('{"method"', '{"bodyRaw":"given","method"');
  assert.deepEqual(bodies(await source(code, {}, given)), [['given', 'a,}"b']]);
});

test('other events get no raw body', async (t) => {
  const { source } = kit(t);
  const code = 'export default { props: { timer: "$.interface.timer" }, run(event) { this.$emit(event) } }';
  assert.deepEqual(bodies(await source(code, {}, '{"timestamp":5,"interval_seconds":60}')), [
    { timestamp: 5, interval_seconds: 60 },
  ]);
});

test('a source without run passes its events on', async (t) => {
  const { outgoing } = await kit(t).source('export default { props: { http: "$.interface.http" } }', {}, HTTP_EVENT);
  assert.equal(Buffer.from(outgoing[0]?.body ?? []).toString(), HTTP_EVENT);
});

test('a source knows its own id', async (t) => {
  const outcome = await kit(t).source('export default { run() { this.$emit(process.env.PD_COMPONENT) } }');
  assert.deepEqual(bodies(outcome), ['dc_1']);
});

test('what a source leaves on this is gone', async (t) => {
  const { runner } = kit(t);
  const deployment = await deploymentOf(
    'export default Object.freeze({ props: { a: "string" }, run() { this.$emit(this.seen ?? null); this.seen = 1 } })',
    'dc_1',
  );
  const source = { sourceId: 'dc_1', call: 'run', configuredProps: {}, endpoints: {}, db: {} } as const;
  for (let i = 0; i < 2; i++) assert.deepEqual(bodies(await runner.run(requestOf(deployment, { source }))), [null]);
});

test('a result of a source is not kept', async (t) => {
  const outcome = await kit(t).source('export default { run() { return { n: 1n } } }');
  assert.equal(outcome.end.kind, 'succeeded');
  assert.equal(outcome.steps[0]?.returnValue, undefined);
});

test('a function is no source', async (t) => {
  assert.equal(faultOf(await kit(t).source('export default () => 1')).code, 'StartFailed');
});
