// Each operation of the OpenAPI document is a method of the client, and makes the request that the document describes.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { clientOf } from '../../release/client/client.ts';
import { type ClientOperation, operationsOf } from '../../release/client/operations.ts';
import { Errand } from '../../src/client/client.ts';
import type { ApiDocument } from '../../src/http/openapi/document.ts';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';

const ROOT = join(import.meta.dirname, '../..');
const document = JSON.parse(await readFile(join(ROOT, 'docs/openapi.json'), 'utf8')) as ApiDocument;
const operations = operationsOf(document);

interface Made {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A value for each member: which one it is shows in the request. */
const inputOf = ({ members }: ClientOperation): Json =>
  Object.fromEntries(members.map(({ name }) => [name, `${name}/1 ü`]));

const EMPTY: Readonly<Record<string, [type: string, text: string]>> = {
  'text/event-stream': ['text/event-stream', ''],
  'application/x-ndjson': ['application/x-ndjson', '{"end":{"complete":true,"cursor":null,"count":0}}\n'],
};

/** Calls an operation as a caller would, by its kind; resolves when it is over. */
async function call(errand: Json, { id, kind }: ClientOperation, input: Json): Promise<void> {
  const options = kind === 'events' ? { reconnects: false, retries: 0 } : { retries: 0 };
  const called = errand[id](input, options);
  if (kind !== 'events' && kind !== 'lines') return await called;
  for await (const _ of called) return;
}

test('every operation is a method with its request', async () => {
  for (const operation of operations) {
    const made: Made[] = [];
    const errand = new Errand({
      url: 'http://errand.test/base/',
      key: 'k-1',
      fetch: async (input, init) => {
        const { method = '', headers, body } = init ?? {};
        made.push({
          method,
          url: new URL(String(input)),
          headers: new Headers(headers),
          body: body && JSON.parse(String(body)),
        });
        const kind = Object.keys(EMPTY).find((type) => type in (answersOf(operation.id) ?? {})) ?? '';
        const [type, text] = EMPTY[kind] ?? ['application/json', '{"page_info": {}, "data": []}'];
        return new Response(text, { headers: { 'content-type': type } });
      },
    });
    const input = inputOf(operation);
    // Of streams the id is a header.
    if (operation.kind === 'events') input.last_event_id = '1-1';
    await call(errand, operation, input);
    const [one] = made;
    assert.ok(one && made.length === 1, operation.id);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(input[name]));
    assert.equal(`${one.method} ${one.url.pathname}`, `${operation.method} /base${path}`);
    assert.equal(one.headers.get('authorization'), operation.isPublic ? null : 'Bearer k-1', operation.id);
    assert.equal(one.headers.get('idempotency-key') !== null, operation.takesIdempotencyKey, operation.id);
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const sent = { ...Object.fromEntries(one.url.searchParams), ...bodyOf(operation, one.body) };
    const wanted = Object.entries(input).filter(([name]) => !inPath.includes(name) && name !== 'last_event_id');
    assert.deepEqual(sent, Object.fromEntries(wanted), operation.id);
  }
});

const bodyOf = ({ body }: ClientOperation, sent: Json): Json => (body === 'whole' ? { body: sent } : sent);

function answersOf(id: string): object | undefined {
  const all = Object.values(document.paths).flatMap((item) => Object.values(item));
  return all.find(({ operationId }) => operationId === id)?.responses['200']?.content;
}

test('the client has no method that the document lacks', () => {
  const own = Object.getOwnPropertyNames(Errand.prototype).filter((name) => name !== 'constructor');
  assert.deepEqual(own.sort(), operations.map(({ id }) => id).sort());
  assert.ok(own.length > 100, `${own.length} operations`);
});

test('the generated files are what the document says', async () => {
  for (const [name, text] of clientOf(document)) {
    assert.equal(await readFile(join(ROOT, 'src/client/generated', name), 'utf8'), text, name);
  }
});

test('a real server knows every address that the client calls', async () => {
  await using errand = await startErrand();
  const addresses: string[] = [];
  const client = new Errand({
    url: errand.url,
    key: errand.client.key,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      addresses.push(`${init?.method} ${response.status} ${input}`);
      if (response.status === 404) {
        // Of an address that is none, the answer names the address.
        const { detail } = (await response.clone().json()) as { detail: string };
        assert.doesNotMatch(detail, /no (address|route|such path)|(GET|PUT|POST|DELETE) \//i, `${input}`);
      }
      assert.notEqual(response.status, 405, `${init?.method} ${input}`);
      if (!/event-stream/.test(response.headers.get('content-type') ?? '')) return response;
      // It would stay open.
      await response.body?.cancel();
      return new Response('', response);
    },
  });
  for (const operation of operations) {
    const input = Object.fromEntries(inputOf(operation) ? namesInPath(operation).map((name) => [name, 'x_1']) : []);
    await call(client, operation, input).catch((error: Error) => {
      assert.match(error.name, /^ProblemError$/, `${operation.id}: ${error.message}`);
    });
  }
  assert.equal(addresses.length, operations.length);
});

const namesInPath = ({ path }: ClientOperation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}`);

test('a document that the client cannot tell apart is refused', () => {
  const operation = {
    ...{ operationId: 'twice', tags: [], summary: '', description: '' },
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    requestBody: {
      required: false,
      content: { 'application/json': { schema: { type: 'object', properties: { id: { type: 'string' } } } } },
    },
    responses: { 200: { content: { 'application/json': { schema: {} } } } },
  };
  const broken = { ...document, paths: { '/x/{id}': { put: operation } } };
  assert.throws(() => clientOf(broken), /twice: "id" is in the path or query and in the body/);
});
