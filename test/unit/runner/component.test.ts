// What a component's code has as `this`: in run, hooks, methods, options and additionalProps.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { ComponentQuery, PropsInput } from '../../../src/runner/runner.ts';
import { bodies, deploymentOf, faultOf, kit, returned } from './kit.ts';

const SHOP = `const shop = {
  type: 'app', app: 'shop',
  propDefinitions: {
    city: {
      type: 'string', label: 'City', default: 'osl',
      async options({ page, prevContext, query, country }) {
        const { list } = this;
        return { options: [await list(country), page, query ?? null], context: { next: (prevContext.next ?? 0) + 1 } };
      },
    },
    street: { type: 'string', options(opts) { return [this.$auth.token + ' ' + opts.city]; } },
  },
  methods: { list(country) { return this.$auth.token + ' ' + country; }, get self() { return this; } },
};
`;

const action = (body: string): string => `${SHOP}export default { type: 'action', ${body} };`;

function props(configuredProps: PropsInput['configuredProps'], more: Partial<PropsInput> = {}): PropsInput {
  return { configuredProps, ...more };
}

test('methods and callbacks stay bound to their component', async (t) => {
  const code = action(`props: { shop, n: 'integer' },
    methods: { plus(x) { return x + this.n; }, get twice() { return this.n * 2; }, all(list) { return list.map(this.plus); } },
    async run() {
      const { plus, all, shop: { list } } = this;
      return [plus(1), all([1, 2]), this.twice, ['no', 'se'].map(this.shop.list), list('dk'), this.shop.self === this.shop];
    }`);
  const input = props({ n: '10', shop: { $auth: { token: 't' } } });
  const outcome = await kit(t).run(code, { stepProps: [input] });
  assert.deepEqual(returned(outcome), [11, [11, 12], 20, ['t no', 't se'], 't dk', true]);
});

test('an account gives an app its fields', async (t) => {
  const code = action('props: { shop }, run() { return [this.shop.$auth, this.shop.list("no")]; }');
  const input = props({ shop: { authProvisionId: 'apn_1' } }, { accounts: { shop: { token: 'secret' } } });
  const { run } = kit(t);
  assert.deepEqual(returned(await run(code, { stepProps: [input] })), [{ token: 'secret' }, 'secret no']);
  const fault = faultOf(await run(code, { stepProps: [props({ shop: { authProvisionId: 'apn_1' } })] }));
  assert.deepEqual([fault.code, /"shop".*apn_1/.test(fault.msg)], ['ConfigurationError', true]);
});

test('one run leaves nothing on the next', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf(
    action(`props: { list: { type: 'string[]', default: ['a'] } }, run() {
      const before = this.left ?? null; this.left = 1; this.list.push('b'); this.shop = 0; return [before, this.list]; }`),
  );
  for (let n = 0; n < 2; n++) assert.deepEqual(returned(await run(deployment)), [null, ['a', 'b']]);
});

test('apps that apps define share their account', async (t) => {
  const code = `${SHOP}const mall = { type: 'app', app: 'mall', propDefinitions: { shop },
      methods: { name() { return this.shop.list('mall'); } } };
    export default { props: { mall, own: { ...shop } }, run() { return [this.mall.name(), this.mall.shop === this.own]; } };`;
  const input = props({ own: { $auth: { token: 't' } } });
  assert.deepEqual(returned(await kit(t).run(code, { stepProps: [input] })), ['t mall', true]);
});

test('additional props are there without being asked', async (t) => {
  const code = action(`props: { shop, kind: 'string' }, additionalProps() { throw new Error('asked'); },
    run() { return [this.kind, this.col_1, this.col_2, this.other.list('x')]; }`);
  const additionalProps = {
    col_1: { type: 'integer' },
    col_2: { type: 'string', default: 'd' },
    other: { type: 'app', app: 'shop' },
    kind: { type: 'string', hidden: true },
  };
  const configured = { kind: 'k', col_1: '4', shop: { $auth: { token: 's' } }, other: { $auth: { token: 'o' } } };
  const outcome = await kit(t).run(code, { stepProps: [props(configured, { additionalProps })] });
  assert.deepEqual(returned(outcome), ['k', 4, 'd', 'o x']);
});

test('sql gives query and parameters alike', async (t) => {
  const code = action(`props: { sql: 'sql' }, run() { return this.sql; }`);
  const { run } = kit(t);
  assert.deepEqual(returned(await run(code, { stepProps: [props({ sql: 'SELECT 1' })] })), {
    value: 'SELECT 1',
    query: 'SELECT 1',
    params: [],
    values: [],
  });
  const given = { value: 'SELECT {{x}}', query: 'SELECT $1', params: ['a'], usePreparedStatements: true };
  const whole = returned(await run(code, { stepProps: [props({ sql: given })] }));
  assert.deepEqual(whole, { ...given, values: ['a'] });
});

test('a dir goes with its run', async (t) => {
  const code = action(`props: { folder: { type: 'dir' }, note: { type: 'alert', content: 'Hi' } }, async run() {
    const fs = await import('node:fs/promises');
    await fs.writeFile(this.folder + '/a.txt', 'x');
    return [this.folder, await fs.readdir(this.folder), this.note ?? null, process.env.STASH_DIR.length > 0];
  }`);
  const [folder, files, note, hasStash] = returned(await kit(t).run(code)) as [string, string[], null, boolean];
  assert.deepEqual([files, note, hasStash], [['a.txt'], null, true]);
  assert.equal(existsSync(folder), false);
});

test('a dir of a file store opens no file', async (t) => {
  const code = (more: string) =>
    action(`props: { dir: { type: 'dir', accessMode: 'write', optional: true${more} } }, run() {
      return this.dir.open === undefined ? typeof this.dir : this.dir.open('a/b.txt').fromReadableStream(null);
    }`);
  const run = kit(t).run;
  const fault = faultOf(await run(code('')));
  assert.deepEqual(
    [fault.code, fault.msg],
    [
      'ConfigurationError',
      'Prop "dir": there is no file store here, so its open() is not available: no file can be kept or linked to',
    ],
  );
  assert.equal(returned(await run(code(', sync: true'))), 'string');
});

async function queried(t: Parameters<typeof kit>[0], code: string, query: Partial<ComponentQuery> & { prop?: string }) {
  const whole = { what: 'options', page: 0, prevContext: {}, props: props({}), ...query } as ComponentQuery;
  return await kit(t).runner.queryComponent(await deploymentOf(code), whole);
}

test('options run as the app that defines them', async (t) => {
  const code = action(`props: { shop, country: 'string',
    city: { propDefinition: [shop, 'city', (c) => ({ country: c.country })], label: 'Where' } }, run() {}`);
  const configured = props({ country: 'no', shop: { $auth: { token: 't' } } });
  const first = await queried(t, code, { prop: 'city', props: configured, query: 'q' });
  assert.deepEqual(first, { ok: true, answer: { options: ['t no', 0, 'q'], context: { next: 1 } } });
  const second = await queried(t, code, { prop: 'city', props: configured, page: 1, prevContext: { next: 1 } });
  assert.deepEqual(second, { ok: true, answer: { options: ['t no', 1, null], context: { next: 2 } } });
});

test('prop definitions lead through several apps', async (t) => {
  const code = `${SHOP}const mall = { type: 'app', app: 'mall', propDefinitions: {
      where: { propDefinition: [shop, 'street', ({ town }) => ({ city: town })], optional: true } } };
    export default { props: { mall, shop, place: { propDefinition: [mall, 'where', (c) => ({ town: c.name })] }, name: 'string' }, run() {} };`;
  const { runner } = kit(t);
  const described = await runner.describe(await deploymentOf(code));
  assert.ok(described.ok);
  assert.deepEqual(described.shape.props.place, { type: 'string', optional: true, remoteOptions: true });
  assert.deepEqual(
    [described.shape.props.mall, described.shape.props.shop],
    [
      { type: 'app', app: 'mall', usesAuth: true },
      { type: 'app', app: 'shop', usesAuth: true },
    ],
  );
  const configured = props({ name: 'Oslo', shop: { $auth: { token: 't' } } });
  assert.deepEqual(await queried(t, code, { prop: 'place', props: configured }), {
    ok: true,
    answer: { options: ['t Oslo'], context: null },
  });
});

test("a component's own options have its this", async (t) => {
  const code = action(`props: { shop, country: 'string', pick: { type: 'string', async options({ country, page }) {
      const { names } = this; return names(country, page); } } },
    methods: { names(country, page) { return [{ label: this.shop.list(country), value: page }, this.country]; } }, run() {}`);
  const configured = props({ country: 'se', shop: { $auth: { token: 't' } } });
  assert.deepEqual(await queried(t, code, { prop: 'pick', props: configured, page: 3 }), {
    ok: true,
    answer: { options: [{ label: 't se', value: 3 }, 'se'], context: null },
  });
});

test('options of an additional prop are found', async (t) => {
  const code = action(`props: { kind: { type: 'string', reloadProps: true } },
    async additionalProps(previous) { return { ...previous, extra: { type: 'string', options: () => [this.kind, Object.keys(previous).join()] } }; },
    run() {}`);
  const answer = await queried(t, code, { prop: 'extra', props: props({ kind: 'k' }) });
  assert.deepEqual(answer, { ok: true, answer: { options: ['k', 'kind'], context: null } });
});

test('options that cannot be told say why', async (t) => {
  const cases: [code: string, message: RegExp][] = [
    [`props: { p: { type: 'string', options() { throw new Error('no list'); } } }`, /^no list$/],
    [`props: { q: 'string' }`, /no prop "p"/],
    [`props: { p: { type: 'string', options() { process.exit(1); } } }`, /exit/],
    [
      `props: { p: { type: 'string', options() { setTimeout(() => { throw new Error('stray'); }); return new Promise(() => {}); } } }`,
      /^stray$/,
    ],
    [`props: { p: { type: 'string', options: () => [1n] } }`, /BigInt/],
  ];
  for (const [code, message] of cases) {
    const answer = await queried(t, action(`${code}, run() {}`), { prop: 'p' });
    assert.ok(!answer.ok && message.test(answer.message), JSON.stringify(answer));
  }
  const thrown = await queried(t, action(cases[0]?.[0] ?? ''), { prop: 'p' });
  assert.match(thrown.ok ? '' : thrown.stack, /at .*one\.ts:/);
});

test('additionalProps answers definitions, without functions', async (t) => {
  const code = action(`props: { shop, kind: 'string' }, async additionalProps(previous) {
      previous.kind.hidden = true;
      return { ...previous, city: { propDefinition: [shop, 'city'] }, [this.kind]: 'integer' };
    }, run() {}`);
  const answer = await queried(t, code, { what: 'props', props: props({ kind: 'rows' }) });
  assert.ok(answer.ok, JSON.stringify(answer));
  assert.deepEqual(answer.answer.props, {
    shop: { type: 'app', app: 'shop', usesAuth: true },
    kind: { type: 'string', hidden: true },
    city: { type: 'string', label: 'City', default: 'osl', remoteOptions: true },
    rows: { type: 'integer' },
  });
  const wrong = await queried(t, action(`additionalProps() { return [1]; }, run() {}`), { what: 'props' });
  assert.match(wrong.ok ? '' : wrong.message, /must return an object/);
});

test('additionalProps may change what it is shown', async (t) => {
  const code = action(`props: { shop, kind: 'string', name: { type: 'string', hidden: true }, same: 'string' },
    additionalProps(previous) {
      previous.name.hidden = this.kind !== 'named';
      previous.kind.description = 'of ' + this.kind;
      previous.none = { type: 'string' };
      return previous.rows === undefined ? { rows: { type: 'integer', default: 1, reloadProps: true } } : { rows: previous.rows };
    }, run() {}`);
  const rows = { type: 'integer', default: 1, reloadProps: true };
  const named = await queried(t, code, { what: 'props', props: props({ kind: 'named' }) });
  const kind = { type: 'string', description: 'of named' };
  assert.deepEqual(named.ok && named.answer.props, { kind, name: { type: 'string', hidden: false }, rows });
  const other = await queried(t, code, { what: 'props', props: props({ kind: 'x' }) });
  assert.deepEqual(other.ok && other.answer.props, { kind: { ...kind, description: 'of x' }, rows });
});

test('hooks of one run commit together', async (t) => {
  const code = `export default { props: { db: '$.service.db' }, hooks: {
    deploy() { this.mine = 1; this.db.set('a', 1); this.$emit('past'); },
    activate() { this.$emit([this.mine ?? null, this.db.get('a')]); if (this.db.get('fail')) throw new Error('no'); } } };`;
  const { source } = kit(t);
  const done = await source(code, { call: ['deploy', 'activate'] });
  assert.deepEqual([bodies(done), done.dbWrites], [['past', [null, 1]], { a: '1' }]);
  const failed = await source(code, { call: ['deploy', 'activate'], db: { fail: 'true' } });
  assert.deepEqual([faultOf(failed).msg, failed.dbWrites], ['no', {}]);
  assert.equal(failed.steps[0]?.exports.$hook, '"activate"');
});
