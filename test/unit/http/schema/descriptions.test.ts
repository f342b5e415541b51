// Texts of the OpenAPI document: each operation, parameter and member says what it is, and each quantity its unit.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { ApiDocument, ApiOperation } from '../../../../src/http/openapi/document.ts';
import { buildDocument } from '../../../../src/http/openapi/openapi.ts';
import type { Json } from '../../../support/client.ts';

let document: ApiDocument;

before(async () => {
  document = await buildDocument();
});

const operations = (): [string, ApiOperation][] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, ApiOperation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );

interface Member {
  readonly place: string;
  readonly name: string;
  readonly schema: Json;
  readonly text: string;
}

/** Returns all members below a schema; what a reference names stands for itself. */
function membersOf(value: unknown, place: string): Member[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties } = value as { properties?: Record<string, Json> };
  const own = Object.entries(properties ?? {}).map(([name, schema]) => {
    return { place: `${place}.${name}`, name, schema, text: textOf(schema) };
  });
  const inner = Object.entries(value).flatMap(([name, part]) => {
    if (name === 'example' || name === 'examples') return [];
    if (name !== 'properties') return membersOf(part, place);
    return Object.entries(part as object).flatMap(([member, schema]) => membersOf(schema, `${place}.${member}`));
  });
  return [...own, ...inner];
}

/** Returns the description of a member, or of the schema that it names. */
function textOf(schema: Json): string {
  if (typeof schema.description === 'string') return schema.description;
  if (schema.$ref) return String(schemaAt(schema.$ref).description ?? '');
  const named = (schema.anyOf ?? []).map(textOf).find((text: string) => text !== '');
  return named ?? '';
}

function schemaAt(reference: string): Json {
  return (document.components.schemas as Json)[reference.replace('#/components/schemas/', '')];
}

function allMembers(): Member[] {
  const ofSchemas = Object.entries<Json>(document.components.schemas as Json).flatMap(([name, schema]) =>
    membersOf(schema, name),
  );
  const ofOperations = operations().flatMap(([, { operationId, requestBody, responses }]) => [
    ...membersOf(requestBody, `${operationId} takes `),
    ...membersOf(responses, `${operationId} answers `),
  ]);
  return [...ofSchemas, ...ofOperations];
}

test('each operation has a summary and a description', () => {
  for (const [name, { summary, description }] of operations()) {
    assert.match(summary, /^[A-Z].{3,60}[^.]$/, name);
    assert.match(description, /[.:`)]$/, name);
    assert.notEqual(description.replace(/\.$/, ''), summary, name);
  }
});

test('each parameter says what it is', () => {
  let seen = 0;
  for (const [name, { parameters = [] }] of operations()) {
    for (const parameter of parameters) {
      assert.ok((parameter.description ?? '') !== '', `${name}: ${parameter.in} ${parameter.name}`);
      seen += 1;
    }
  }
  assert.ok(seen > 600, `${seen} parameters`);
});

test('each member says what it is', () => {
  const members = allMembers();
  assert.ok(members.length > 1500, `${members.length} members`);
  const mute = members.filter(
    ({ text, name, place }) => text === '' && !(name === 'data' && place.includes('answers')),
  );
  assert.deepEqual(
    mute.map(({ place }) => place),
    [],
  );
});

/** How the end of a name tells the unit, and how a description does. */
const UNITS: readonly [RegExp, RegExp][] = [
  [/_ms$/, /millisecond/i],
  [/_(s|seconds)$/, /second/i],
  [/_at$/, /second|epoch/i],
  [/_bytes$/, /byte/i],
  [/_mb$/, /MiB/],
];
const NUMBER = /^(integer|number)$/;

test('each quantity says its unit', () => {
  const isNumber = (schema: Json): boolean => NUMBER.test(schema.type ?? '') || (schema.anyOf ?? []).some(isNumber);
  const silent = allMembers().filter(({ name, schema, text }) =>
    UNITS.some(
      ([ending, unit]) =>
        ending.test(name) &&
        !text.startsWith('Accepted and ignored') &&
        name !== 'looked_at' &&
        isNumber(schema) &&
        !unit.test(text),
    ),
  );
  assert.deepEqual([...new Set(silent.map(({ place, text }) => `${place}: ${text}`))], []);
});

test('what a PATCH says holds for a PATCH', () => {
  const patches = operations().filter(([name]) => name.startsWith('PATCH '));
  assert.ok(patches.length > 10, `${patches.length} patches`);
  for (const [name, { description }] of patches) {
    assert.match(description, /^A JSON merge patch \(RFC 7396\)/, name);
    assert.doesNotMatch(description, /Partial:|Whole:|^Replaces| Replaces your| Any of the members/, name);
  }
});
