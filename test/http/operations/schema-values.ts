// Values by a schema of the OpenAPI document: right ones, and ones that are wrong somewhere.

import fc, { type Arbitrary } from 'fast-check';
import type { Json } from '../../support/client.ts';

export interface Values {
  /** Values that the schema allows. */
  valid(schema: Json): Arbitrary<unknown>;
  /** The same, of which some members are of any kind. */
  mixed(schema: Json): Arbitrary<unknown>;
  /** Returns the example with what exists in the place of what it names. */
  example(given: unknown): unknown;
}

const MAX_DEPTH = 6;
const LONG = 'x'.repeat(20_000);

/** What parsers and databases stumble over. */
export const HOSTILE: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom<unknown>(
    ...[
      '',
      ' ',
      '\0',
      '\ud800',
      '%',
      '%00',
      '*',
      '__proto__',
      "'; DROP TABLE runs; --",
      '{{7*7}}',
      LONG,
      '1e999',
      '💥',
    ],
    ...[0, -1, 1.5, 2 ** 53, -(2 ** 63), 1e308, true, null, [], {}, [[]], [null], { a: { b: [1] } }],
  ),
);

/** `replace`: what is put in the place of an example, such as an id of something that exists. */
export function valuesOf(components: Json, replace: (example: unknown) => unknown): Values {
  const resolve = (schema: Json): Json => {
    if (typeof schema?.$ref !== 'string') return schema ?? {};
    return components.schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
  };

  function made(given: Json, isMixed: boolean, depth: number): Arbitrary<unknown> {
    const schema = resolve(given);
    const examples: unknown[] = schema.examples ?? [];
    const own = ofType(schema, isMixed, depth);
    const right =
      examples.length === 0 ? own : fc.oneof(own, { arbitrary: fc.constantFrom(...examples.map(replace)), weight: 3 });
    return isMixed ? fc.oneof({ arbitrary: right, weight: 8 }, { arbitrary: HOSTILE, weight: 1 }) : right;
  }

  function ofType(schema: Json, isMixed: boolean, depth: number): Arbitrary<unknown> {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one: Json) => made(one, isMixed, depth)));
    if (schema.type === 'object' && depth < MAX_DEPTH) return objectOf(schema, isMixed, depth + 1);
    if (schema.type === 'array') {
      const { minItems = 0, maxItems = 3 } = schema;
      const maxLength = Math.max(minItems, Math.min(maxItems, 3));
      return fc.array(made(schema.items, isMixed, depth + 1), { minLength: minItems, maxLength });
    }
    return scalarOf(schema);
  }

  function objectOf(schema: Json, isMixed: boolean, depth: number): Arbitrary<unknown> {
    const { properties = {}, required = [], additionalProperties } = schema;
    const members = Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, made(member, isMixed, depth)]),
    );
    const named = fc.record(members, { requiredKeys: required });
    if (typeof additionalProperties !== 'object') return named;
    const further = fc.dictionary(fc.string({ maxLength: 8 }), made(additionalProperties, isMixed, depth), {
      maxKeys: 2,
    });
    return fc.tuple(further, named).map(([more, own]) => ({ ...more, ...own }));
  }

  function example(given: unknown): unknown {
    if (Array.isArray(given)) return given.map(example);
    if (typeof given !== 'object' || given === null) return replace(given);
    return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, example(value)]));
  }

  return { example, valid: (schema) => made(schema, false, 0), mixed: (schema) => made(schema, true, 0) };
}

function scalarOf({ type, pattern, minLength = 0, maxLength = 40, minimum, maximum }: Json): Arbitrary<unknown> {
  switch (type) {
    case 'string':
      if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
      return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)), unit: 'grapheme' });
    case 'integer':
      return fc.integer({ min: minimum ?? -1000, max: maximum ?? 2 ** 31 - 1 });
    case 'number':
      return fc.double({ min: minimum ?? -1000, max: maximum ?? 1e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'object':
      return fc.constant({});
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}
