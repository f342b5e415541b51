// Sources of our own, and packages, where code is kept in jails.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { newDatabaseOn } from '../../support/postgres/fresh.ts';
import { otherPostgres } from '../../support/postgres/other.ts';
import { assertProblem } from '../../support/problem.ts';
import { createComponents } from '../../support/sources/components.ts';
import { createOwn, emitted, startAsked, tryOwn } from '../../support/sources/own-sources.ts';
import { emissions } from '../../support/sources/sources.ts';
import { noJail } from '../../unit/runner/isolation/jail-kit.ts';

const skip = await noJail();
const FEED = '<rss version="2.0"><channel><item><guid>1</guid></item></channel></rss>';

test('without a network a poll is refused clearly', { skip }, async () => {
  await using feed = await startAsked('/feed');
  await using errand = await startErrand({ ERRAND_ISOLATION: 'jail' });
  feed.says({ body: FEED });
  for (const component of ['rss', 'poll-json']) {
    const refused = await tryOwn(errand, component, { url: feed.url });
    assertProblem(refused, 422);
    assert.match(refused.json.detail, /\/feed cannot be reached: .*(ECONNREFUSED|ENETUNREACH|EAI_AGAIN)/);
  }
  const source = await createOwn(errand, 'http');
  assert.equal((await fetch(source.endpoint_url)).status, 200);
  // It answers once the request is on disk, and emits behind that.
  assert.equal((await emissions(errand, source.id, 1)).length, 1);
  assert.equal(feed.requests.length, 0);
});

test('with a network a feed is read in a jail', { skip }, async () => {
  await using feed = await startAsked('/feed');
  await using errand = await startErrand({ ERRAND_ISOLATION: 'jail', ERRAND_JAIL_NETWORK: 'full' });
  feed.says({ body: FEED });
  const source = await createOwn(errand, 'rss', { url: feed.url });
  assert.equal((await emitted(errand, source))[0].id, '1');
});

test('with a network Postgres is read in a jail', { skip }, async () => {
  const { url, drop } = await newDatabaseOn(await otherPostgres(), { isBlank: true });
  try {
    await using errand = await startErrand({ ERRAND_ISOLATION: 'jail', ERRAND_JAIL_NETWORK: 'full' });
    const source = await createOwn(errand, 'postgres-rows', { url, query: 'SELECT 1 AS id', column: 'id' });
    assert.deepEqual(await emitted(errand, source), [{ id: 1 }]);
  } finally {
    await drop();
  }
});

test('a component by path runs in a jail', { skip }, async () => {
  await using folder = await createComponents({
    'components/a.mjs': `import own from 'own'; import fs from 'node:fs'; import base from './base.mjs';
      export default { ...base, run() {
        const seen = [];
        for (const path of base.paths) { try { seen.push(fs.readdirSync(path).length) } catch (error) { seen.push(error.code) } }
        this.$emit({ own, seen });
      } };`,
    'components/base.mjs': `export default { props: { http: '$.interface.http' }, paths: [] };`,
    'packages/node_modules/own/index.js': 'module.exports = __dirname;',
  });
  const { ERRAND_COMPONENTS_DIR: components, ERRAND_PACKAGES_DIR: packages } = folder.settings;
  await folder.write({
    'components/base.mjs': `export default { props: { http: '$.interface.http' }, paths: ${JSON.stringify([components, packages])} };`,
  });
  await using errand = await startErrand({ ERRAND_ISOLATION: 'jail', ...folder.settings });
  const source = await errand.client.post('/v1/sources', { component_path: 'a.mjs' });
  assert.equal((await fetch(source.endpoint_url)).status, 200);
  await errand.settled();
  const [event] = await emitted(errand, source);
  assert.match(event.own, /^\/errand\//);
  assert.ok(
    event.seen.every((one: unknown) => typeof one === 'string'),
    JSON.stringify(event.seen),
  );
});
