// errand import: a project of the hosted original, as files.

import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { until } from '../../support/wait.ts';
import { openShell } from '../command.ts';
import { writeFiles } from './files.ts';

const PROJECT = {
  // As its synchronisation with a repository writes it.
  'shop/orders-p_abc123/workflow.yaml': `
schema: workflow/2022.04
name: Orders of the shop
settings:
  error_notification: false
  lambda_timeout: 45
triggers:
- id: hi_ABpHKz
- id: ti_gvT7eEX
- id: ei_wrT2Kl
- id: dc_abc123
steps:
- namespace: check
  notes: What the order costs.
  runtime: nodejs20.x
  uses: "./check/entry.js"
- namespace: off
  disabled: true
  runtime: nodejs20.x
  uses: "./off/entry.js"
- namespace: charge
  runtime: nodejs20.x
  uses: "./code/charge.mjs"
  _props_cursor: dyp_m0URm6V
  props:
    __configurableProps:
    - name: currency
      type: string
    currency:
      __lv:
        label: Euro
        value: EUR
    account:
      authProvisionId: apn_abc123
    cache:
      storeId: ds_l6ujg2
`,
  'shop/orders-p_abc123/.workflow.state': 'id: p_abc123',
  'shop/orders-p_abc123/check/entry.js':
    'export default defineComponent({ async run({ steps, $ }) { return steps.trigger.event.body.total; } });',
  'shop/orders-p_abc123/code/charge.mjs': `export default defineComponent({
  props: { currency: { type: 'string' } },
  async run({ steps, $ }) { await $.respond({ body: steps.check.$return_value + ' ' + this.currency }); },
});`,
  // As the hosted interface answers to GET /v1/workflows/{id}.
  'mirror-p_def456/workflow.json': JSON.stringify({
    triggers: [
      { id: 'hi_1', key: 'e1', endpoint_url: 'http://e1.m.d.example.net', custom_response: false },
      { id: 'ti_1', interval_seconds: 3600, cron: null, timezone: 'America/New_York' },
      { id: 'ti_2', interval_seconds: null, cron: '0 7 * * *', timezone: 'Europe/Berlin' },
    ],
    steps: [
      { id: 'c_1', namespace: 'code', disabled: false, lang: 'nodejs20.x', configured_props_json: '{}' },
      {
        ...{ id: 'c_2', namespace: 'saved', disabled: false, lang: 'nodejs20.x', component_key: null },
        savedComponent: { id: 'sc_1', code: 'export default { props: { n: "integer" }, run() { return this.n; } };' },
        configured_props_json: '{"n":5}',
      },
    ],
  }),
  'mirror-p_def456/code/entry.js': 'export default defineComponent({ async run() { return 1; } });',
  'python-p_1/workflow.yaml': 'steps: [{ namespace: learn, lang: python3.12 }]',
  'broken-p_2/workflow.yaml': 'steps: [{ namespace: ]',
  'wrong-p_3/workflow.yaml': 'steps: [{ namespace: wrong }]\ntriggers: [{ id: hi_2 }]',
  'wrong-p_3/wrong/entry.js': 'export default oops(;',
  'out-p_4/workflow.yaml': 'steps: [{ namespace: out, uses: ../../../secret.mjs }, { namespace: linked }]',
  '../secret.mjs': 'export default () => "secret";',
  'inactive-p_6/workflow.yaml':
    'schema: workflow/2031.01\nname: Asleep\ninactive: true\nsteps: [{ namespace: a, uses: ./a/entry.js }]',
  'inactive-p_6/a/entry.js': 'export default () => 1;',
  'registry-p_5/workflow.yaml': 'steps: [{ namespace: say, uses: slack-send-message@1.2.0, props: { text: hi } }]',
} as const;

async function writeProject(root: string): Promise<void> {
  await writeFiles(root, PROJECT);
  await mkdir(join(root, 'out-p_4/linked'));
  await symlink(join(root, '../secret.mjs'), join(root, 'out-p_4/linked/entry.js'));
}

test('a project becomes workflows that run, each once, and says what is left to do', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const root = join(shell.home, 'project/of-mine');
  await mkdir(root, { recursive: true });
  await writeProject(root);
  const run = async (...args: string[]) => {
    const ran = await shell.run(['import', root, '--url', errand.url, '--json', ...args]);
    return { ...ran, results: JSON.parse(ran.stdout) as Json[] };
  };
  const dry = await run('--dry-run');
  assert.equal(dry.code, 1);
  const before = (await errand.client.get('/v1/workflows')).data.length;
  assert.deepEqual(
    dry.results.filter(({ result }) => result === 'would be created').map(({ name }) => name),
    ['Asleep', 'mirror', 'Orders of the shop'],
  );
  const told = (name: string): string => dry.results.find((one) => one.name === name)?.notes.join('\n');
  const wouldFail = dry.results.filter(({ result }) => result === 'would fail').map(({ name }) => name);
  assert.deepEqual(wouldFail, ['registry', 'wrong']);
  assert.match(told('wrong'), /the step wrong: \d+:\d+: Unexpected ";"/);
  assert.match(
    told('registry'),
    /the step say: component_path names a file, and this server has no folder of components/,
  );

  const { code, results } = await run();
  assert.equal(code, 1, 'what failed shows in the exit code');
  const byName = new Map(results.map((one) => [one.name, one]));
  const orders = byName.get('Orders of the shop') as Json;
  assert.equal(orders.result, 'created');
  assert.match(orders.notes.join('\n'), /the step off is switched off/);
  assert.match(orders.notes.join('\n'), /the step charge needs an account .* prop "account"/);
  assert.match(orders.notes.join('\n'), /the step charge needs an account or another resource as its prop "cache"/);
  assert.match(orders.notes.join('\n'), /the trigger dc_abc123 is a source/);
  assert.match(orders.notes.join('\n'), /the trigger ti_gvT7eEX is a schedule, and the file does not say when/);
  assert.match(orders.notes.join('\n'), /the trigger ei_wrT2Kl is an address of mail/);
  const { data } = await errand.client.get(`/v1/workflows/${orders.workflow_id}`);
  assert.equal(data.active, false, 'it still runs there');
  assert.deepEqual(
    data.steps.map(({ namespace }: Json) => namespace),
    ['check', 'charge'],
  );
  assert.deepEqual(
    data.triggers.map(({ type, custom_response: answers }: Json) => [type, answers]),
    [['http', true]],
    'its code answers',
  );
  assert.deepEqual(data.steps[1].configured_props, { currency: 'EUR' });
  assert.deepEqual([data.settings.timeout_ms, data.settings.notify], [45_000, false]);
  const mirror = (await errand.client.get(`/v1/workflows/${byName.get('mirror')?.workflow_id}`)).data;
  assert.deepEqual(
    mirror.triggers.map(({ type, cron, interval_seconds: seconds, timezone }: Json) => [type, cron, seconds, timezone]),
    [
      ['http', undefined, undefined, undefined],
      ['schedule', undefined, 3600, 'America/New_York'],
      ['schedule', '0 7 * * *', undefined, 'Europe/Berlin'],
    ],
  );
  assert.equal(mirror.triggers[0].custom_response ?? false, false);
  assert.deepEqual(mirror.steps[1].configured_props, { n: 5 });
  assert.match(
    byName.get('Asleep')?.notes.join('\n'),
    /written in workflow\/2031\.01.*\n.*switched off there, and stays so/,
  );
  for (const [name, why] of [
    ['python', /learn is written in python3\.12/],
    ['broken', /workflow\.yaml: /],
    ['wrong', /Unexpected ";"/],
    ['out', /the step out has neither code/],
    ['registry', /slack\/actions\/send-message\/send-message\.mjs/],
  ] as const) {
    const one = byName.get(name) as Json;
    assert.equal(one.result, 'failed', name);
    assert.match(one.notes.join('\n'), why);
  }
  assert.doesNotMatch(JSON.stringify(results), /"secret"/);
  const after = (await errand.client.get('/v1/workflows')).data.length;
  assert.equal(after, before + 3, 'nothing is left of what failed');

  await shell.run(['workflows', 'enable', orders.workflow_id, '--url', errand.url]);
  const answer = await until('it answers', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(orders.endpoint_url, { method: 'POST', headers, body: '{"total": 7}' });
    return response.ok && (await response.text());
  });
  assert.equal(answer, '7 EUR');

  const again = await run('--activate');
  assert.equal(again.results.find(({ name }) => name === 'mirror')?.result, 'is there already');
  assert.equal((await errand.client.get('/v1/workflows')).data.length, after);
});

/** Names with capital letters, and what a step requires of what only exists there. */
const AS_THERE = {
  'cats-p_1/workflow.yaml': `
schema: workflow/2022.04
name: Cats
triggers: [{ id: hi_1 }]
steps:
- { namespace: getCatUrl, runtime: nodejs20.x, uses: ./getCatUrl/entry.js, props: { google: { authProvisionId: apn_z8h1AD }, cache: { storeId: ds_n5uXlr } } }
- { namespace: say_it, runtime: nodejs20.x, uses: acme-say-it@0.0.1, props: { text: "{{steps.getCatUrl.$return_value}}!" } }
- { namespace: postToot, runtime: nodejs20.x, uses: ./postToot/entry.js }
`,
  'cats-p_1/getCatUrl/entry.js': `export default defineComponent({
  props: { google: { type: 'app', app: 'google_photos' }, cache: { type: 'data_store' } },
  async run({ steps }) {
    await this.cache.set('seen', 1);
    return 'cat of ' + this.google.$auth.token + ' ' + (await this.cache.size());
  },
});`,
  'cats-p_1/postToot/entry.js': `export default defineComponent({
  async run({ steps, $ }) {
    const { getCatUrl, say_it: said } = steps;
    await $.respond({ body: [getCatUrl.$return_value, steps['say_it'].$return_value, said.$return_value].join() });
  },
});`,
  'more-p_2/workflow.yaml': `
name: More cats
steps:
- { namespace: a, uses: ./a/entry.js, props: { cache: { storeId: ds_n5uXlr } } }
- { namespace: b, uses: acme-not-there@0.0.1 }
`,
  'more-p_2/a/entry.js': `export default { props: { cache: { type: 'data_store' } }, run() {} };`,
};

test('names with capitals, accounts, data stores and components in TypeScript are imported', async () => {
  await using folder = await createFolder();
  await using errand = await startErrand({ ERRAND_COMPONENTS_DIR: folder.path });
  await using shell = await openShell(errand.client);
  await writeFiles(folder.path, {
    'acme/actions/say-it/say-it.ts':
      "export default { type: 'action', props: { text: 'string' }, run() { const text: string = this.text; return text; } };",
  });
  const root = join(shell.home, 'cats');
  await writeFiles(root, AS_THERE);
  const ran = await shell.run(['import', root, '--url', errand.url, '--json', '--activate']);
  const [cats, more] = JSON.parse(ran.stdout) as Json[];
  assert.equal(cats.result, 'created', JSON.stringify(cats));
  const notes = cats.notes.join('\n');
  assert.match(notes, /the step getCatUrl is get_cat_url here/);
  assert.match(notes, /references in the props of the step say_it were changed: text/);
  assert.match(notes, /references in the code of the step post_toot were changed in line 3/);
  assert.match(notes, /the step get_cat_url has no account yet: configure its prop "google"/);
  assert.match(
    notes,
    /the step get_cat_url has a new, empty data store as its prop "cache": ds_\w+, in place of ds_n5uXlr/,
  );
  const response = await fetch(cats.endpoint_url, { method: 'POST' });
  assert.equal(await response.text(), 'cat of undefined 1,cat of undefined 1!,cat of undefined 1!');
  assert.equal(more.result, 'failed');
  assert.match(more.notes.join('\n'), /names "acme\/actions\/not-there\/not-there\.mjs", and there is no such file/);
  const { data } = await errand.client.get('/v1/data_stores');
  assert.deepEqual(
    data.map(({ name }: Json) => name),
    ['Imported ds_n5uXlr'],
  );
});

test('a dry run says which packages and accounts are missing', async () => {
  await using packages = await createFolder();
  await mkdir(join(packages.path, 'node_modules'));
  await using errand = await startErrand({ ERRAND_PACKAGES_DIR: packages.path });
  await using shell = await openShell(errand.client);
  await writeFiles(shell.home, {
    'p/tax-p_1/workflow.yaml': `
name: Tax
steps:
- { namespace: count, uses: ./count/entry.js }
- { namespace: store, uses: ./store/entry.js, props: { google: { authProvisionId: apn_z8h1AD } } }
`,
    'p/tax-p_1/count/entry.js':
      'import { DateTime } from "luxon"; import x from "left-pad"; export default () => DateTime.now() + x;',
    'p/tax-p_1/store/entry.js':
      "export default defineComponent({ props: { google: { type: 'app', app: 'google_drive' } }, async run() { return this.google.$auth.token; } });",
  });
  const before = (await errand.client.get('/v1/workflows')).data.length;
  const dry = await shell.run(['import', 'p', '--dry-run', '--json', '--url', errand.url]);
  assert.equal(dry.code, 1);
  const [{ result, notes }] = JSON.parse(dry.stdout);
  assert.equal(result, 'would fail');
  const text = notes.join('\n');
  assert.match(
    text,
    /the step count needs packages that the server does not have, left-pad, luxon: npm install --prefix /,
  );
  assert.match(text, /the step store needs an account of google_drive/);
  assert.equal((await errand.client.get('/v1/workflows')).data.length, before);
  const { api_key: reads } = await errand.client.post('/v1/keys', { label: 'reads', scopes: ['read'] });
  const few = await shell.run(['import', 'p', '--dry-run', '--json', '--url', errand.url, '--key', reads]);
  assert.match(few.stdout, /its code was not checked: that takes the scope write/);
});

test('what other products have exported is told by name', async () => {
  await using shell = await openShell({ url: 'http://127.0.0.1:9', key: 'k' });
  const n8n = { name: 'Orders', nodes: [{ name: 'Webhook', type: 'n8n-nodes-base.webhook' }], connections: {} };
  await writeFiles(shell.home, {
    'n8n/orders.json': JSON.stringify(n8n),
    'several/all.json': JSON.stringify([n8n, n8n]),
    'windmill/f/shop/orders.flow/flow.yaml': 'summary: Orders\nvalue: { modules: [] }',
  });
  for (const [place, why] of [
    [
      'n8n',
      /^errand: no folder in n8n has a workflow\.yaml or workflow\.json; \S*orders\.json is an export of n8n, which is not/,
    ],
    ['several', /all\.json is an export of n8n/],
    [
      'n8n/orders.json',
      /^errand: n8n\/orders\.json is no folder: .*; \S*orders\.json is an export of n8n, which is not imported/,
    ],
    ['windmill', /flow\.yaml is a flow of Windmill, which is not imported/],
  ] as const) {
    const { code, stderr } = await shell.run(['import', place]);
    assert.equal(code, 3, place);
    assert.match(stderr, why);
  }
});

test('a folder without a project says so', async () => {
  await using shell = await openShell({ url: 'http://127.0.0.1:9', key: 'k' });
  const { code, stderr } = await shell.run(['import', '.', '--url', 'http://127.0.0.1:9']);
  assert.equal(code, 3);
  assert.match(stderr, /no folder in \. has a workflow\.yaml or workflow\.json/);
  assert.equal((await shell.run(['import', 'nowhere', '--url', 'http://127.0.0.1:9'])).code, 3);
});
