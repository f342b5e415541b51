// Every operation of the OpenAPI document, with random requests, right and wrong: no answer is a failure of the server, and each
// is one that the document names, of its type and schema. What fails prints its seed: FUZZ_SEED=… runs it again, FUZZ_RUNS=…
// makes more requests for each operation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import { Errors } from 'typebox/schema';
import type { Json } from '../../support/client.ts';
import { timesOf } from '../../support/data/thorough.ts';
import { API_KEY, startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createBelongings } from './belongings.ts';
import { HOSTILE, type Values, valuesOf } from './schema-values.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? timesOf(40, 6));
const SEED = process.env.FUZZ_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.FUZZ_SEED);
const SEED_STEP = 1_000_003;
/** What deletes comes last. */
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const TIMEOUT_MS = 60_000;

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly spec: Json;
}

interface Sent {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

interface Answered {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

function operationsOf({ paths }: Json): Operation[] {
  const all = Object.entries<Json>(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => ({ method, path, spec: item[method] })),
  );
  return all.sort((a, b) => METHODS.indexOf(a.method) - METHODS.indexOf(b.method));
}

/** Returns requests for an operation. `idsFor`: of things that exist. */
function requestsOf(
  { path, spec }: Operation,
  values: Values,
  idsFor: (hole: string) => readonly string[],
): Arbitrary<Sent> {
  const parameters: Json[] = spec.parameters ?? [];
  const texts = HOSTILE.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  // An empty segment or dots would make the path of another operation.
  const segments = texts.map((given) =>
    given
      .toWellFormed()
      .replace(/^\.{0,2}$/, 'x')
      .slice(0, 300),
  );
  const holes = [...path.matchAll(/\{([^}]+)\}/g)].map(([, hole = '']) =>
    fc.oneof({ arbitrary: fc.constantFrom(...idsFor(hole)), weight: 5 }, segments).map((id) => [hole, id] as const),
  );
  const queries = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => {
      const right = values.valid(schema).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
      const value = fc.oneof({ arbitrary: right, weight: 4 }, texts);
      return fc.oneof(
        { arbitrary: fc.constant(null), weight: 4 },
        value.map((text) => [name, text.toWellFormed()] as const),
      );
    });
  const unknown = fc.oneof({ arbitrary: fc.constant(null), weight: 30 }, fc.constant(['stat', 'x'] as const));
  const [[type, media] = []] = Object.entries<Json>(spec.requestBody?.content ?? {});
  const json = (of: Arbitrary<unknown>): Arbitrary<string | undefined> => of.map((value) => JSON.stringify(value));
  const body: Arbitrary<string | undefined> =
    media === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          { arbitrary: fc.constant(JSON.stringify(values.example(media.example))), weight: 6 },
          { arbitrary: json(values.valid(media.schema)), weight: 6 },
          { arbitrary: json(values.mixed(media.schema)), weight: 8 },
          { arbitrary: fc.constantFrom('', '{', '[]', 'null', '"x"', '{"a":1,}', '\0', '{"__proto__":{}}'), weight: 1 },
          { arbitrary: json(HOSTILE), weight: 1 },
        );
  const key = fc.oneof(
    { arbitrary: fc.constant(`Bearer ${API_KEY}`), weight: 20 },
    fc.constantFrom('', 'Bearer x', 'Basic eDp5'),
  );
  const contentType = fc.oneof(
    { arbitrary: fc.constant(type ?? 'application/json'), weight: 20 },
    fc.constant('text/plain'),
  );
  const ifMatch = fc.oneof({ arbitrary: fc.constant(null), weight: 6 }, fc.constantFrom('*', '"x"', 'W/"1"', 'x'));
  const ifNoneMatch = ifMatch;
  const conditionOf = (name: string, value: string | null) =>
    value !== null && parameters.some((parameter) => parameter.name === name) ? { [name]: value } : {};
  return fc
    .record({
      holes: fc.tuple(...holes),
      query: fc.oneof(fc.constant(null), fc.tuple(unknown, ...queries)),
      ...{ body, key, contentType, ifMatch, ifNoneMatch },
    })
    .map((given) => {
      const filled = given.holes.reduce(
        (to, [hole, id]) => to.replace(`{${hole}}`, () => encodeURIComponent(id)),
        path,
      );
      const pairs = (given.query ?? []).flatMap((pair) => (pair === null ? [] : [[...pair]]));
      const query = new URLSearchParams(pairs);
      return {
        path: filled + (query.size === 0 ? '' : `?${query}`),
        headers: {
          ...(given.key === '' ? {} : { authorization: given.key }),
          ...(given.body === undefined ? {} : { 'content-type': given.contentType }),
          ...conditionOf('if-match', given.ifMatch),
          ...conditionOf('if-none-match', given.ifNoneMatch),
        },
        body: given.body,
      };
    });
}

async function ask(url: string, method: string, { path, headers, body }: Sent): Promise<Answered> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const init = { method: method.toUpperCase(), headers, signal, ...(body === undefined ? {} : { body }) };
  const response = await fetch(url + path, { ...init, redirect: 'manual' });
  const { status } = response;
  const type = response.headers.get('content-type')?.replace(/;.*/, '') ?? '';
  if (type !== 'text/event-stream') return { status, type, text: await response.text() };
  await response.body?.cancel();
  return { status, type, text: '' };
}

/** The schema without what it requires: `include` and `exclude` leave members out. */
function partial(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(partial);
  const entries = Object.entries<Json>(schema).filter(([name, value]) => name !== 'required' || !Array.isArray(value));
  return Object.fromEntries(entries.map(([name, value]) => [name, partial(value)]));
}

function check(document: Json, { spec }: Operation, { sent, answered }: { sent: Sent; answered: Answered }): void {
  const { status, type, text } = answered;
  const isPartial = status < 300 && /[?&](in|ex)clude=/.test(sent.path);
  const shown = (schema: Json): Json => (isPartial ? partial(schema) : schema);
  assert.ok(status < 500, `${status}: ${text.slice(0, 500)}`);
  const declared = spec.responses[status] ?? (status >= 400 ? spec.responses['4XX'] : undefined);
  assert.ok(declared, `${status} is not named: ${text.slice(0, 500)}`);
  const media = declared.content?.[type];
  assert.ok(media, `${status} is ${JSON.stringify(type)}: ${text.slice(0, 300)}`);
  const lines = type === 'application/x-ndjson' ? text.split('\n').filter((line) => line !== '') : [];
  const isJson = type === 'application/json' || type === 'application/problem+json';
  const parts: [Json, string][] = isJson ? [[media.schema, text]] : lines.map((line) => [media['x-itemSchema'], line]);
  for (const [schema, part] of parts) {
    // The last line of an export tells where it ended.
    if (type === 'application/x-ndjson' && /^\{"end":/.test(part)) continue;
    const whole = { ...shown(schema), components: shown(document.components) };
    const [ok, errors] = Errors(whole, JSON.parse(part));
    assert.ok(ok, `${status}: ${JSON.stringify(errors).slice(0, 1000)} in ${part.slice(0, 1000)}`);
  }
}

test('every operation answers as documented, whatever it is asked', async (t) => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { json: document } = await errand.client.request('GET', '/v1/openapi.json');
  const { idsFor, instead } = await createBelongings(errand, receiver);
  const values = valuesOf(document.components, instead);
  const succeeded = new Set<string>();
  const all = operationsOf(document);
  const failures: string[] = [];
  for (const [n, operation] of all.entries()) {
    const name = `${operation.method} ${operation.path}`;
    const requests = requestsOf(operation, values, (hole) => idsFor(operation.path, hole));
    const property = fc.asyncProperty(requests, async (sent) => {
      const answered = await ask(errand.url, operation.method, sent);
      if (answered.status < 300) succeeded.add(name);
      check(document, operation, { sent, answered });
    });
    // One seed for all of them would be an unlucky one for all.
    const seed = (SEED + n * SEED_STEP) | 0;
    await fc.assert(property, { numRuns: RUNS, seed, endOnFailure: true }).catch((error: Error) => {
      failures.push(`${name}: ${error.message}\n${String((error as { cause?: unknown }).cause)}`);
    });
  }
  const never = all.map(({ method, path }) => `${method} ${path}`).filter((name) => !succeeded.has(name));
  t.diagnostic(
    `seed ${SEED}; ${all.length} operations, ${RUNS} requests each; never answered 2xx: ${never.join(', ')}`,
  );
  assert.deepEqual(failures, [], `FUZZ_SEED=${SEED} makes the same requests again`);
  assert.ok(never.length < all.length / 3, `most operations succeed with something: not ${never.join(', ')}`);
});
