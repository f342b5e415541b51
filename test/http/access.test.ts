// Who gets in: every operation of the document that a running server gives, by every kind of key that is not enough, with
// every spelling of its path. Bytes over sockets, since a client would tidy them up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBelongings, fill, type Operation, operationsOf, readAll } from '../support/belongings.ts';
import type { Json } from '../support/client.ts';
import { brokenSpellings, escapesOf, otherSpellings } from '../support/data/spellings.ts';
import { timesOf } from '../support/data/thorough.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { createOwner, withScopes } from '../support/owners.ts';
import { type PipelinedAnswer, pipeline, type RawRequest } from '../support/pipeline.ts';

/** Of the spellings of an operation's path, one in so many is tried: other ones for each operation. */
const ONE_IN = timesOf(1, 8);

const REFUSED = [400, 401, 403, 404, 405];

interface Intruder {
  readonly name: string;
  readonly headers: readonly string[];
  /** What the plain path answers; null: this caller may do it. */
  refusalOf(operation: Operation): number | null;
}

const bearer = (key: string): string[] => [`authorization: Bearer ${key}`];

async function createIntruders(errand: Errand): Promise<Intruder[]> {
  const revoked = await withScopes(errand.client, ['read', 'write']);
  await errand.client.delete(`/v1/keys/${revoked.key.id}`);
  const other = await createOwner(errand);
  const short = async (scope: string): Promise<Intruder> => {
    const { key } = await withScopes(errand.client, [scope]);
    return {
      name: `a key with ${scope} alone`,
      headers: bearer(key.api_key),
      refusalOf: (operation) => (operation.scope === scope ? null : 403),
    };
  };
  const nobody = (name: string, headers: string[]): Intruder => ({ name, headers, refusalOf: () => 401 });
  return [
    nobody('no key', []),
    nobody('another scheme', ['authorization: Basic dXNlcjpwYXNz']),
    nobody('no token', ['authorization: Bearer']),
    nobody('two tokens', [`authorization: Bearer ${errand.client.key} x`]),
    nobody('an unknown key', bearer(`${errand.client.key}x`)),
    nobody('a revoked key', bearer(revoked.key.api_key)),
    await short('ingest'),
    await short('read'),
    await short('write'),
    {
      name: 'the key of another owner',
      headers: bearer(other.client.key),
      refusalOf: ({ scope, path }) => (scope === 'admin' ? 403 : path.includes('{') ? 404 : null),
    },
  ];
}

function requestOf({ method, example }: Operation, target: string, { headers }: Intruder): RawRequest {
  return { method, target, headers, ...(method === 'GET' ? {} : { body: JSON.stringify(example ?? {}) }) };
}

const share = (spellings: readonly string[], turn: number): string[] =>
  spellings.filter((_, n) => n % ONE_IN === turn % ONE_IN);

interface Tried {
  readonly request: RawRequest;
  readonly isPlain: boolean;
  readonly expected: number;
  readonly by: string;
}

function assertRefused({ request, isPlain, expected, by }: Tried, { status, body }: PipelinedAnswer): void {
  const what = `${request.method} ${JSON.stringify(request.target)} by ${by}: ${status} ${body}`;
  if (isPlain) assert.equal(status, expected, what);
  assert.ok(REFUSED.includes(status), what);
}

test('no spelling of a path gets past its key', async () => {
  await using errand = await startErrand();
  const belongings = await createBelongings(errand);
  const intruders = await createIntruders(errand);
  const all = await operationsOf(errand.client, /^\/(v1|sse)\//);
  const operations = all.filter(({ scope }) => scope !== null);
  assert.ok(operations.length > 90, `${operations.length} operations`);
  const before = await readAll(errand.client, all, belongings);

  const tried: Tried[] = [];
  for (const [turn, operation] of operations.entries()) {
    const path = fill(operation.path, belongings.holesOf(operation.path));
    const [plain, once, more] = [[path], share(escapesOf(path), turn), share(otherSpellings(path), turn)];
    const refused = intruders.filter((intruder) => intruder.refusalOf(operation) !== null);
    const keyed = refused.filter((intruder) => intruder.refusalOf(operation) !== 401);
    // Keys are judged behind the router, which does not see them: one of those that hold a good key tries each spelling, and
    // one without; all others the plain path.
    const speller = keyed[turn % keyed.length];
    for (const [at, intruder] of refused.entries()) {
      const targets = at === 0 ? [...plain, ...once, ...more] : intruder === speller ? [...plain, ...more] : plain;
      for (const target of targets) {
        const request = requestOf(operation, target, intruder);
        const expected = intruder.refusalOf(operation) as number;
        tried.push({ request, isPlain: target === path, expected, by: intruder.name });
      }
    }
  }
  const answers = await pipeline(
    errand.url,
    tried.map(({ request }) => request),
  );
  for (const [at, answer] of answers.entries()) assertRefused(tried[at] as Tried, answer);
  assert.ok(tried.length > timesOf(20_000, 4000), `${tried.length} requests`);
  assert.deepEqual(await readAll(errand.client, all, belongings), before, 'nothing was changed');
});

test('bytes that no address may have are refused', async () => {
  await using errand = await startErrand();
  const operations = await operationsOf(errand.client, /^\/(v1|sse)\//);
  const some = operations.filter(({ scope, path }) => scope !== null && !path.includes('{'));
  const nobody: Intruder = { name: 'no key', headers: [], refusalOf: () => 401 };
  const requests = some.flatMap((operation) =>
    brokenSpellings(operation.path).map((target) => requestOf(operation, target, nobody)),
  );
  for (const [at, answer] of (await pipeline(errand.url, requests)).entries()) {
    assertRefused({ request: requests[at] as RawRequest, isPlain: false, expected: 401, by: 'no key' }, answer);
  }
});

test('no method and no header stands in for a key', async () => {
  await using errand = await startErrand();
  const operations = await operationsOf(errand.client, /^\/(v1|sse)\//);
  const { key } = await withScopes(errand.client, ['read']);
  const keysOf = async () => (await errand.client.get('/v1/keys')).data.map(({ id }: Json) => id);
  const before = await keysOf();
  const keyed = operations.filter(({ scope }) => scope !== null);
  const requests: RawRequest[] = [];
  for (const { path } of keyed) {
    const target = fill(path, ['p_1', 'p_1', 'p_1']);
    for (const method of ['HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'PURGE', 'QUERY']) {
      requests.push({ method, target, headers: [] });
    }
  }
  for (const { method, path, example } of keyed.filter((operation) => operation.method !== 'GET')) {
    const target = fill(path, ['p_1', 'p_1', 'p_1']);
    const body = JSON.stringify({ ...example, _method: method });
    for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      requests.push({ method: 'GET', target: `${target}?_method=${method}`, headers: [`${header}: ${method}`], body });
      requests.push({ method, target, headers: [...bearer(key.api_key), `${header}: GET`], body });
      requests.push({ method: 'POST', target: '/healthz', headers: [`${header}: ${method}`], body });
    }
    for (const header of ['x-original-url', 'x-rewrite-url', 'x-forwarded-uri', 'x-forwarded-path']) {
      requests.push({ method, target: '/healthz', headers: [`${header}: ${target}`], body });
      requests.push({ method, target, headers: [`${header}: /healthz`], body });
    }
    for (const header of ['x-forwarded-for: 127.0.0.1', 'x-api-key: 1', 'x-forwarded-user: admin', 'cookie: a=b']) {
      requests.push({ method, target, headers: [header], body });
    }
  }
  for (const [at, answer] of (await pipeline(errand.url, requests)).entries()) {
    assertRefused({ request: requests[at] as RawRequest, isPlain: false, expected: 401, by: 'no key' }, answer);
  }
  assert.deepEqual(await keysOf(), before);
});
