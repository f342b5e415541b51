// Every guide is a page: reachable from every other one, without a dead link, a stray comment or a raw tag.

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { KIB } from '../../../src/domain/limits.ts';
import { errorsPage } from '../../../src/http/docs/errors-page.ts';
import { guideGroups, guidePage, guides } from '../../../src/http/docs/guides.ts';
import { referencePage } from '../../../src/http/docs/page.ts';
import { searchIndexOf } from '../../../src/http/docs/search-index.ts';
import { buildDocument } from '../../../src/http/openapi/openapi.ts';
import { startServer } from './harness.ts';

const pages = new Map<string, string>();
before(async () => {
  const contents = { groups: await guideGroups(), script: null };
  for (const name of (await guides()).keys()) pages.set(`/docs/${name}`, (await guidePage(name, contents)) as string);
  pages.set('/docs', referencePage(await buildDocument(), contents));
  pages.set('/docs/errors', errorsPage(contents));
});

test('every document of docs/ is a guide', async () => {
  const files = await readdir(new URL('../../../docs', import.meta.url));
  const expected = files.filter((file) => file.endsWith('.md') && file !== 'errors.md');
  assert.ok(expected.length > 10);
  for (const file of expected) assert.ok(pages.has(`/docs/${file.slice(0, -3)}`), file);
  for (const name of ['quick-start', 'security', 'deploy', 'changelog']) assert.ok(pages.has(`/docs/${name}`), name);
});

test('the navigation of every page has every guide once, and names the one that is read', () => {
  for (const [path, page] of pages) {
    const navigation = /<nav .*?<\/nav>/s.exec(page)?.[0] ?? '';
    for (const other of pages.keys()) {
      assert.equal(navigation.split(`href="${other}"`).length - 1, 1, `${path} → ${other}`);
    }
    const current = [...navigation.matchAll(/href="([^"]*)" aria-current="page"/g)].map(([, href]) => href);
    assert.deepEqual(current, [path]);
  }
});

test('no link of a guide is dead', () => {
  const ids = new Map(
    [...pages].map(([path, page]) => [path, new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  let checked = 0;
  for (const [path, page] of pages) {
    for (const [, href = ''] of page.matchAll(/ href="([^"]*)"/g)) {
      if (/^(https?|data):/.test(href)) continue;
      const [target = '', id] = href.split('#');
      const to = target === '' ? path : target;
      checked++;
      if (to === '/' || to === '/v1/openapi.json') continue;
      assert.ok(ids.has(to), `${path} leads to ${href}`);
      if (id !== undefined) assert.ok(ids.get(to)?.has(id), `${path} leads to ${href}`);
    }
  }
  assert.ok(checked > 500, `${checked} links`);
});

test('a guide has no comment and no tag of its document', () => {
  for (const [path, page] of pages) {
    assert.ok(!page.includes('<!--'), path);
    assert.ok(
      !/<(script|iframe|form|style|img(?! src="\/docs\/pictures\/[\w-]+\.svg" alt="[^"]+">))/.test(
        page.slice(page.indexOf('<body>')),
      ),
      path,
    );
    assert.ok(!/ on\w+=| style=/.test(page.replaceAll(/<pre>.*?<\/pre>|<code>.*?<\/code>/gs, '')), path);
  }
});

test('headings of one name have ids of their own, as on GitHub', () => {
  for (const [path, page] of pages) {
    const ids = [...page.matchAll(/<h\d id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length, path);
  }
  assert.ok(pages.get('/docs/operations')?.includes('id="stopping-and-what-happens-after-a-crash"'));
});

test('the search finds what pages have', async () => {
  const index = await searchIndexOf(await buildDocument());
  const ids = new Map(
    [...pages].map(([path, page]) => [path, new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  for (const [href, heading] of index.entries) {
    const [path = '', id] = href.split('#');
    assert.ok(ids.has(path) && index.pages[path], href);
    assert.ok(id === undefined || ids.get(path)?.has(id), href);
    assert.ok(heading !== '' && !/[`*<]/.test(heading), heading);
  }
  const hrefs = new Set(index.entries.map(([href]) => href));
  assert.equal(hrefs.size, index.entries.length);
  for (const path of pages.keys())
    assert.ok(
      [...hrefs].some((href) => href.startsWith(path)),
      path,
    );
  for (const [href, word] of [
    ['/docs/webhooks#rotation', 'overlap_s'],
    ['/docs#createWebhook', 'rate_limit'],
    ['/docs/errors#key_reused', 'hours'],
  ]) {
    const [, , words = ''] = index.entries.find(([at]) => at === href) ?? [];
    assert.ok(words.split(' ').includes(word as string), `${href}: ${words}`);
  }
  assert.ok(gzipSync(JSON.stringify(index)).length < 120 * KIB, 'it is small');
});

test('guides need no key, are locked down, and others do not exist', async (t) => {
  const { call } = await startServer(t);
  const { status, headers, text } = await call('GET', '/docs/webhooks', { key: null });
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal(text.replace(/\n<script [^>]*><\/script>/, ''), pages.get('/docs/webhooks'));
  for (const name of [
    'nothing',
    '..%2Fpackage',
    '..%2F..%2Fetc%2Fpasswd',
    'webhooks.md',
    '__proto__',
    'constructor',
    'pictures',
    'pictures/..%2Fopenapi.json',
    'pictures/nothing.svg',
  ]) {
    assert.equal((await call('GET', `/docs/${name}`, { key: null })).status, 404, name);
  }
});
