import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Check } from 'typebox/value';
import { createUrls } from '../../../src/domain/endpoint.ts';
import { REFUSALS } from '../../../src/domain/refusal.ts';
import { buildDocument } from '../../../src/http/openapi/openapi.ts';
import { inlined, startServer } from './harness.ts';

const OPEN = { key: null } as const;

test('the committed document is what routes say', async () => {
  const committed = await readFile(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');
  assert.equal(committed, `${JSON.stringify(await buildDocument(), null, 2)}\n`, 'run `npm run generate`');
});

test('every operation is documented with true examples', async () => {
  const { paths, components, openapi } = await buildDocument();
  assert.equal(openapi, '3.1.0');
  const ids = new Set<string>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const where = `${method} ${path}`;
      assert.ok(operation.summary && operation.description && operation.tags.length === 1, where);
      assert.ok(!ids.has(operation.operationId), where);
      ids.add(operation.operationId);
      assert.ok(operation.responses.default, where);
      const good = Object.entries(operation.responses).filter(([status]) => /^2/.test(status));
      const media = [operation.requestBody, ...good.map(([, answer]) => answer)];
      for (const { schema, example } of media.flatMap((part) => Object.values(part?.content ?? {}))) {
        assert.notEqual(example, undefined, where);
        assert.ok(Check(inlined(schema, components.schemas as object) as never, example), where);
      }
      for (const { name, in: place } of operation.parameters ?? []) {
        if (place === 'path') assert.ok(path.includes(`{${name}}`), where);
      }
    }
  }
  assert.ok(ids.size > 50);
});

test('the document is public and names this server', async (t) => {
  const { call, port } = await startServer(t);
  const { status, json } = await call('GET', '/v1/openapi.json', OPEN);
  assert.equal(status, 200);
  assert.deepEqual(json.servers, [{ url: `http://127.0.0.1:${port}` }]);
});

test('every page is locked down', async (t) => {
  const { call } = await startServer(t);
  for (const path of ['/', '/docs', '/docs/errors', '/@u_1/orders-p_1/edit']) {
    const { status, headers, text } = await call('GET', path, OPEN);
    assert.equal(status, 200, path);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/);
    const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? '';
    assert.ok(policy.includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`), path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    const bare = text.replace(/<script type="module" src="\/assets\/docs-[\w-]+\.js"><\/script>/, '');
    assert.doesNotMatch(bare, /<script|style="|src=|@import|url\(/);
  }
});

test('the docs have the script of the build, and are whole without a build', async (t) => {
  const dashboard = { index: async () => null, asset: async () => null, docsScript: async () => '/assets/docs-1.js' };
  for (const [built, script] of [
    [dashboard, '<script type="module" src="/assets/docs-1.js"></script>'],
    [{ ...dashboard, docsScript: async () => null }, undefined],
    [null, undefined],
  ] as const) {
    const { call } = await startServer(t, { dashboard: built });
    for (const path of ['/docs', '/docs/errors', '/docs/concepts']) {
      const { text, headers } = await call('GET', path, OPEN);
      assert.equal(/<script.*?<\/script>/s.exec(text)?.[0], script, path);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /script-src 'self';.*trusted-types 'none'/);
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    }
  }
});

test('the docs are sent compressed, and again only when they have changed', async (t) => {
  const { call } = await startServer(t);
  for (const path of ['/docs', '/docs/concepts', '/docs/search.json', '/v1/openapi.json']) {
    const { headers } = await call('GET', path, { ...OPEN, headers: { 'accept-encoding': 'br' } });
    assert.equal(headers.get('content-encoding'), 'br', path);
    const etag = headers.get('etag') ?? '';
    const again = { 'accept-encoding': 'br', 'if-none-match': etag };
    assert.equal((await call('GET', path, { ...OPEN, headers: again })).status, 304, path);
  }
});

test('the docs show every operation and fault', async (t) => {
  const { call, port } = await startServer(t);
  const { text } = await call('GET', '/docs', OPEN);
  const { paths } = await buildDocument();
  for (const { operationId, summary } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    assert.ok(text.includes(`id="${operationId}"`), operationId);
    assert.ok(text.includes(`>${summary}<`) || text.includes(`>${summary.replaceAll('’', '&#39;')}<`), summary);
  }
  for (const code of Object.keys(REFUSALS)) assert.ok(text.includes(`<tr id="${code}">`), code);
  assert.ok(text.includes(`export URL=http://127.0.0.1:${port}`));
  for (const [, id] of text.matchAll(/href="#([^"]+)"/g)) assert.ok(text.includes(`id="${id}"`), `no place ${id}`);
});

test('the docs say which key each operation needs', async (t) => {
  const { call } = await startServer(t);
  const { text } = await call('GET', '/docs', OPEN);
  const { paths } = await buildDocument();
  for (const { operationId, security } of Object.values(paths).flatMap((item) => Object.values(item))) {
    const start = text.indexOf(`<div class="inside" id="${operationId}">`);
    const shown = text.slice(start, text.indexOf('<h3 class="part">Answer', start));
    const scope = security?.[0]?.key?.[0];
    assert.equal(shown.includes('Authorization: Bearer'), security?.length !== 0, operationId);
    assert.equal(shown.includes('process.env.KEY'), security?.length !== 0, operationId);
    assert.equal(shown.includes('os.environ['), security?.length !== 0, operationId);
    assert.equal(shown.includes(`the scope <code>${scope}</code>`), scope !== undefined, operationId);
  }
});

test('the docs say what may be wrong with each request', async (t) => {
  const { call } = await startServer(t);
  const { text } = await call('GET', '/docs', OPEN);
  const document = await buildDocument();
  const codesOf = (operationId: string): string[] => {
    const start = text.indexOf(`<div class="inside" id="${operationId}">`);
    const shown = text.slice(
      text.indexOf('<h3 class="part">Errors', start),
      text.indexOf('</details>', text.indexOf('<h3 class="part">Errors', start)),
    );
    return [...shown.matchAll(/href="\/docs\/errors#(\w+)"/g)].map(([, code]) => code as string);
  };
  const ofKey = ['unauthenticated', 'forbidden'];
  assert.deepEqual(codesOf('getHealth'), ['malformed']);
  assert.deepEqual(codesOf('listWorkflows'), ['malformed', ...ofKey, 'rate_limited']);
  assert.deepEqual(codesOf('getWorkflow'), ['malformed', ...ofKey, 'not_found', 'rate_limited']);
  const all = [
    'malformed',
    ...ofKey,
    'not_found',
    'precondition_failed',
    'too_large',
    'unsupported_media',
    'rate_limited',
  ];
  assert.deepEqual(codesOf('updateWorkflow'), all);
  const refusal = document.paths['/v1/workflows/{id}']?.put?.responses['4XX'] as { description?: string } | undefined;
  for (const code of all) assert.match(refusal?.description ?? '', new RegExp(`\\d{3} \`${code}\``));
});

test('the docs show what lists and objects hold', async (t) => {
  const { call } = await startServer(t);
  const { text } = await call('GET', '/docs', OPEN);
  const ofWorkflows = ['steps[].code', 'triggers[].cron', 'triggers[].auth.token', 'settings.queue_limit'];
  const ofSettings = ['settings.throttle.interval_ms', 'settings.retry.attempts', 'settings.grouping[].code'];
  for (const name of [...ofWorkflows, ...ofSettings, 'retry.delays_ms', 'rate_limit.interval_ms']) {
    assert.ok(text.includes(`<code>${name}</code>`), name);
  }
  assert.match(
    text,
    /<code>triggers\[\]\.type<\/code> <span class="must">required<\/span><\/td><td data-label="In">body<\/td><td data-label="Type">&quot;http&quot; \| &quot;errors&quot; \| &quot;schedule&quot;/,
  );
  assert.match(text, />data stores<\/h2>/);
});

test('the docs escape what they show', async (t) => {
  const urls = createUrls({ publicUrl: 'http://x/<b>"&', endpointHosts: null }, () => '');
  const { call } = await startServer(t, { urls });
  const { text } = await call('GET', '/docs', OPEN);
  assert.doesNotMatch(text, /<b>/);
  assert.ok(text.includes('http://x/&lt;b&gt;&quot;&amp;'));
});

test('the start page leads to the docs', async (t) => {
  const { call } = await startServer(t);
  for (const path of ['/', '/@u_1/orders-p_1/edit']) {
    assert.match((await call('GET', path, OPEN)).text, /href="\/docs"/);
  }
  assert.equal((await call('GET', '/u_1/orders-p_1/edit', OPEN)).status, 404);
});
