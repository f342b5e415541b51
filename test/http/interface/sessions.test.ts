// Sessions of the dashboard over HTTP: what a page of another origin may do with one, and how all of them are ended, with the
// streams that they have open.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fill, operationsOf } from '../../support/belongings.ts';
import { OWN, sessionOf, withScopes } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { listen } from '../../support/stream.ts';

const newErrand = shareErrand();

const PATH = '/v1/errors/stream';

/** Streams are asked whether they may go on once in 54 seconds: sooner, only since they were told to ask. */
const AT_ONCE = { timeout: 30_000 };

test('signing out everywhere ends open streams at once', AT_ONCE, async () => {
  await using errand = await newErrand();
  await using other = await newErrand();
  const [mine, again, theirs] = [
    await sessionOf(errand.url, errand.client.key),
    await sessionOf(errand.url, errand.client.key),
    await sessionOf(errand.url, other.client.key),
  ];
  await using ofMine = await listen(errand, PATH, mine.headers);
  await using ofAgain = await listen(errand, PATH, again.headers);
  await using ofTheirs = await listen(errand, PATH, theirs.headers);
  await using ofKey = await listen(errand, PATH);
  assert.deepEqual([ofMine.status, ofAgain.status, ofTheirs.status, ofKey.status], [200, 200, 200, 200]);
  const ended = await fetch(`${errand.url}/v1/sessions`, { method: 'DELETE', headers: { ...mine.headers, ...OWN } });
  assert.equal(ended.status, 200);
  assert.deepEqual([await ofMine.ended, await ofAgain.ended], ['ended', 'ended']);
  assert.deepEqual([await mine.status(), await again.status(), await theirs.status()], [401, 401, 200]);
  const reading = await errand.workflow('export default () => { throw new Error("heard"); };');
  await errand.send(reading, {});
  await ofKey.count(1);
  assert.equal(ofTheirs.records().length, 0);
});

test('revoking a key ends its streams and sessions at once', AT_ONCE, async () => {
  await using errand = await newErrand();
  const { client, key } = await withScopes(errand.client, ['read']);
  const session = await sessionOf(errand.url, client.key);
  await using ofSession = await listen(errand, PATH, session.headers);
  await using ofKey = await listen({ client }, PATH);
  await using kept = await listen(errand, PATH);
  await errand.client.request('DELETE', `/v1/keys/${key.id}`);
  assert.deepEqual([await ofSession.ended, await ofKey.ended], ['ended', 'ended']);
  assert.equal(await session.status(), 401);
  const failing = await errand.workflow('export default () => { throw new Error("heard"); };');
  await errand.send(failing, {});
  await kept.count(1);
});

/** What browsers send with requests that a page of another origin causes, or that no page of the dashboard would. */
const FOREIGN: readonly Record<string, string>[] = [
  { ...OWN, 'sec-fetch-site': 'cross-site' },
  // Another port of this machine.
  { ...OWN, 'sec-fetch-site': 'same-site' },
  { ...OWN, 'sec-fetch-site': 'none' },
  { ...OWN, origin: 'null' },
  { ...OWN, origin: 'https://evil.example' },
  { ...OWN, origin: 'http://127.0.0.1:1' },
];
/** As a form sends it. */
const FORM = { 'content-type': 'text/plain', 'sec-fetch-site': 'same-origin' };

test('no operation takes the session of a foreign page', async () => {
  await using errand = await newErrand();
  const session = await sessionOf(errand.url, errand.client.key);
  const operations = (await operationsOf(errand.client, /./)).filter(({ scope }) => scope !== null);
  assert.ok(operations.length > 90, `${operations.length} operations`);
  for (const { method, path } of operations) {
    const target = fill(path, ['p_1', 'p_1', 'p_1']);
    const tried = method === 'GET' ? FOREIGN : [...FOREIGN, FORM];
    const answers = tried.map(async (headers) => {
      const init = { method, headers: { ...session.headers, ...headers }, ...(method === 'GET' ? {} : { body: '{}' }) };
      const answer = await fetch(errand.url + target, init);
      await answer.arrayBuffer();
      const what = `${method} ${path} ${JSON.stringify(headers)}`;
      assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [403, null], what);
    });
    await Promise.all(answers);
  }
  assert.equal(await session.status(), 200, 'it is good all the same');
});

test('a refusal to sign in does not repeat what was sent', async () => {
  await using errand = await newErrand();
  for (const name of ['api_key', 'link']) {
    for (const value of [`ek_SECRET${'x'.repeat(1000)}`, 4711]) {
      const refused = await errand.client.request('POST', '/v1/session', { [name]: value }, OWN);
      assert.equal(refused.status, 400);
      assert.match(refused.text, new RegExp(name));
      assert.doesNotMatch(refused.text, /SECRET|4711/);
    }
  }
});
