// How components are written down: module kinds, types, files of one app, packages with versions.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createStep, runStep } from '../support/actions.ts';
import { startErrand } from '../support/errand.ts';
import { createComponents } from '../support/sources/components.ts';
import { createSource, emissions, post } from '../support/sources/sources.ts';

test('CommonJS components run', async () => {
  await using folder = await createComponents({
    'components/old/old.app.js': `const { axios } = require('@pipedream/platform');
      module.exports = {
        type: 'app', app: 'old',
        methods: { double(n) { return n * this._two(); }, _two() { return typeof axios === 'function' ? 2 : 0; } },
      };`,
    'components/old/sources/common.js': `const old = require('../old.app.js');
      module.exports = {
        props: { old, http: '$.interface.http' },
        methods: { emitEvent(n) { this.$emit({ n }, this.generateMeta(n)); } },
      };`,
    'components/old/sources/doubled.js': `const common = require('./common.js');
      const { createHash } = require('crypto');
      const { props, methods, ...rest } = common;
      module.exports = {
        ...rest,
        key: 'old-doubled', name: 'Doubled', version: '0.0.1', dedupe: 'unique',
        props: { ...props },
        methods: { ...methods, generateMeta(n) { return { id: createHash('md5').update(String(n)).digest('hex'), summary: '' + n }; } },
        async run({ body }) { body.map(this.old.double).forEach(this.emitEvent); },
      };`,
  });
  await using errand = await startErrand(folder.settings);
  const source = await errand.client.post('/v1/sources', { component_path: 'old/sources/doubled.js' });
  await post(source, [1, 2]);
  const records = await emissions(errand, source.id, 2);
  assert.deepEqual(records.map(({ event }) => event.n).sort(), [2, 4]);
});

test('TypeScript components run', async () => {
  await using folder = await createComponents({
    'components/typed/app/typed.app.ts': `import { defineApp } from '@pipedream/types';
      export interface Thing { id: string; tags?: string[] }
      export default defineApp({
        type: 'app', app: 'typed',
        methods: {
          async list(count: number): Promise<Thing[]> { return Array.from({ length: count }, (_, n) => ({ id: 'x' + n })); },
        },
      });`,
    'components/typed/sources/things/things.ts': `import { defineSource } from '@pipedream/types';
      import type { SourceHttpRunOptions } from '@pipedream/types';
      import typed from '../../app/typed.app';
      import type { Thing } from '../../app/typed.app';
      enum Kind { New = 'new' }
      export default defineSource({
        key: 'typed-things', name: 'Things', version: '0.0.1', type: 'source', dedupe: 'unique',
        props: { typed, http: '$.interface.http' },
        methods: {
          getSummary(thing: Thing): string { return \`\${Kind.New} \${thing.id}\`; },
        },
        async run({ body }: SourceHttpRunOptions) {
          const things: Thing[] = await this.typed.list(body!.count as number);
          for (const thing of things) this.$emit(thing, { id: thing.id, summary: this.getSummary(thing), ts: Date.now() });
        },
      });`,
  });
  await using errand = await startErrand(folder.settings);
  const source = await errand.client.post('/v1/sources', { component_path: 'typed/sources/things/things.ts' });
  await post(source, { count: 2 });
  const records = await emissions(errand, source.id, 2);
  assert.deepEqual(records.map(({ metadata }) => metadata.summary).sort(), ['new x0', 'new x1']);
});

test('JSON and shared files are imported', async () => {
  await using folder = await createComponents({
    'components/app/common/sizes.json': '{"large": 10}',
    'components/app/common/colors.mjs': `export const red = '#f00'; export default { red };`,
    'components/app/actions/size.mjs': `import sizes from '../common/sizes.json' with { type: 'json' };
      import plain from '../common/sizes.json';
      import colors, { red } from '../common/colors.mjs';
      export default {
        key: 'app-size', type: 'action', version: '0.0.1', props: {},
        run() { return [sizes.large, plain.large, colors.red, red]; },
      };`,
  });
  await using errand = await startErrand(folder.settings);
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'size',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'size', component_path: 'app/actions/size.mjs' }],
  });
  assert.deepEqual(await runStep(errand, workflow), [10, 10, '#f00', '#f00']);
});

test('specifiers may pin a version', async () => {
  await using folder = await createComponents({
    'packages/node_modules/tiny-lib/package.json': '{"name": "tiny-lib", "version": "1.2.3", "main": "index.js"}',
    'packages/node_modules/tiny-lib/index.js': `module.exports = (x) => 'tiny ' + x;`,
    'packages/node_modules/@scope/lib/package.json':
      '{"name": "@scope/lib", "version": "2.0.1", "type": "module", "exports": {".": "./a.js", "./sub": "./b.js"}}',
    'packages/node_modules/@scope/lib/a.js': `export const a = 'a';`,
    'packages/node_modules/@scope/lib/b.js': `export const b = 'b';`,
  });
  await using errand = await startErrand(folder.settings);
  const workflow = await createStep(
    errand,
    `import { axios } from '@pipedream/platform@1.5.1';
    import tiny from 'tiny-lib@1.2.3';
    import { a } from '@scope/lib@^2.0.0';
    import { b } from '@scope/lib@2.0.1/sub';
    export default { type: 'action', run() { return [typeof axios, tiny('x'), a, b]; } };`,
  );
  assert.deepEqual(await runStep(errand, workflow), ['function', 'tiny x', 'a', 'b']);
});

test('files of another app are named by its package, and the platform by its first name', async () => {
  await using folder = await createComponents({
    'components/sheets/sheets.app.mjs': `export default { type: 'app', app: 'sheets', methods: { name: () => 'sheets' } };`,
    'components/drive/actions/copy.mjs': `import sheets from '@pipedream/sheets/sheets.app.mjs';
      import { axios, cloneSafe } from '@pipedreamhq/platform';
      export default {
        type: 'action', props: { sheets },
        run() { return [this.sheets.name(), typeof axios, cloneSafe({ a: 1n }), process.env.PIPEDREAM_WORKFLOW_ID]; },
      };`,
    'components/drive/actions/lost.mjs': `import sheets from '@pipedream/sheets/gone.mjs'; export default { type: 'action', run() {} };`,
    'secret.mjs': 'export default 1;',
    'components/drive/actions/climbs.mjs': `import secret from '@pipedream/sheets/../../secret.mjs'; export default { type: 'action', run() { return secret; } };`,
  });
  await using errand = await startErrand(folder.settings);
  const deployed = (component_path: string) =>
    errand.client.request('POST', '/v1/workflows', {
      name: 'copy',
      triggers: [{ type: 'http' }],
      steps: [{ namespace: 'copy', component_path }],
    });
  const { data: workflow } = (await deployed('drive/actions/copy.mjs')).json;
  assert.deepEqual(await runStep(errand, workflow), ['sheets', 'function', { a: '1' }, workflow.id]);
  for (const path of ['drive/actions/lost.mjs', 'drive/actions/climbs.mjs']) {
    const refused = await deployed(path);
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.json.error, /@pipedream\/sheets|lies outside/);
  }
});

test('definers are there without a package', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `import { defineSource } from '@pipedream/types';
    import { DEFAULT_POLLING_SOURCE_TIMER_INTERVAL, ConfigurationError } from '@pipedream/platform';
    export default defineSource(defineComponent({
      props: { http: '$.interface.http' },
      run() {
        const error = new ConfigurationError('m');
        this.$emit({ s: DEFAULT_POLLING_SOURCE_TIMER_INTERVAL, name: error.name, is: error instanceof Error });
      },
    }));`,
  );
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, { s: 900, name: 'ConfigurationError', is: true });
});

test('a source knows its own id', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http', db: '$.service.db' },
      hooks: { async activate() { this.db.set('id', process.env.PD_COMPONENT); } },
      run() { this.$emit([this.db.get('id'), process.env.PD_COMPONENT]); },
    };`,
  );
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, [source.id, source.id]);
});

test('this is the same kind everywhere', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `const app = {
      type: 'app', app: 'x',
      methods: {
        name() { return this.$auth.name; },
        list(prefix) { return [1, 2].map(this.label).map((text) => prefix + text); },
        label(n) { const { name } = this; return name() + n; },
        async *pages() { yield this.name(); yield* [this.label(3)]; },
      },
    };
    export default {
      props: { http: '$.interface.http', app, db: '$.service.db', size: { type: 'integer', default: 4 } },
      hooks: {
        async deploy() { const { note } = this; note('deploy'); },
        async activate() { this.note('activate'); },
      },
      methods: {
        note(what) {
          const { db, size, http: { endpoint } } = this;
          db.set('notes', [...(db.get('notes') ?? []), [what, size, endpoint === process.env.UNSET, typeof endpoint]]);
        },
        async all(fn, ...args) { return fn(...args); },
      },
      async run() {
        const { all, app: { list, pages }, db } = this;
        const names = [];
        for await (const name of pages()) names.push(name);
        this.$emit({ listed: await all(list, '-'), names, notes: db.get('notes') });
      },
    };`,
    { configured_props: { app: { $auth: { name: 'n' } } } },
  );
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, {
    listed: ['-n1', '-n2'],
    names: ['n', 'n3'],
    notes: [
      ['deploy', 4, false, 'string'],
      ['activate', 4, false, 'string'],
    ],
  });
});

test('the package axios is there beside that of the platform', async () => {
  const target = await startTarget();
  await using folder = await createComponents({
    'components/app/actions/ask.mjs': `import { axios as platform } from '@pipedream/platform';
      import axios, { AxiosError } from 'axios';
      export default {
        key: 'app-ask', type: 'action', version: '0.0.1', props: { url: 'string' },
        async run({ $ }) {
          const { data } = await axios.post(this.url, { n: 1 });
          const gone = await axios.get(this.url + '/none').catch((error) => error);
          return [data, await platform($, { url: this.url }), gone instanceof AxiosError, gone.response?.status];
        },
      };`,
  });
  await using errand = await startErrand(folder.settings);
  const step = { namespace: 'ask', component_path: 'app/actions/ask.mjs', configured_props: { url: target.url } };
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'ask',
    triggers: [{ type: 'http' }],
    steps: [step],
  });
  assert.deepEqual(await runStep(errand, workflow), [['POST', '{"n":1}'], ['GET', ''], true, 404]);
  target.close();
});

/** Answers with the method and body that it got; below another path than `/` with 404. */
async function startTarget(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    response.statusCode = request.url === '/' ? 200 : 404;
    response.setHeader('connection', 'close').end(JSON.stringify([request.method, body]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
