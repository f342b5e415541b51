import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { before, test } from 'node:test';
import type { TSchema } from 'typebox';
import { Type as TypeBox } from 'typebox';
import { Compile } from 'typebox/compile';
import { AuditLog } from '../../../../src/http/access/audit-log.ts';
import { createApp } from '../../../../src/http/app.ts';
import { createBodyMemory } from '../../../../src/http/body/body-memory.ts';
import type { HttpDeps } from '../../../../src/http/deps.ts';
import { exampleOf } from '../../../../src/http/openapi/example.ts';
import { checkOf } from '../../../../src/http/schema/check.ts';
import { Type } from '../../../../src/http/schema/type.ts';

/** Of the bodies, queries and paths of all routes. */
const schemas: TSchema[] = [];

before(async () => {
  const deps = {} as HttpDeps;
  const app = await createApp(deps, {
    serverFactory: (handler) => createServer(handler),
    clientErrorHandler: () => {},
    nextRequestId: () => '',
    bodyMemory: createBodyMemory({ maxBytes: 0, maxOwnerBytes: 0 }),
    auditLog: new AuditLog(deps),
    buildDocument: () => Promise.reject(new Error('nobody asks for it')),
  });
  app.setValidatorCompiler<TSchema>(({ schema }) => {
    schemas.push(schema);
    return () => true;
  });
  await app.ready();
  await app.close();
});

/** The same numbers from 0 to 1 in each run of the test. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
}

/** Values right at each bound of the schema, and one beyond. */
function atBounds(schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties, ...rest } = schema as Bounds;
  const isSmall = (bound: number | undefined): bound is number => bound !== undefined && bound < 50_000;
  const around = (bounds: (number | undefined)[]): number[] =>
    bounds.filter(isSmall).flatMap((bound) => [bound - 1, bound, bound + 1]);
  const lengths = (bounds: (number | undefined)[]): number[] => around(bounds).filter((length) => length >= 0);
  return [
    ...[minimum, maximum].filter((bound) => bound !== undefined).flatMap((n) => [n - 1, n, n + 1, n + 0.5]),
    ...lengths([minLength, maxLength]).flatMap((n) => [
      'a'.repeat(n),
      '\u{1F600}'.repeat(n),
      `${'é'.repeat(n)}\u{1F600}`,
    ]),
    ...lengths([minItems, maxItems]).flatMap((n) => [Array(n).fill('a'), Array.from({ length: n }, (_, i) => i)]),
    ...lengths([maxProperties]).map((n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 'v']))),
    ...(rest.enum ?? []),
    rest.const,
    ...Object.values(schema).flatMap((inner) => (typeof inner === 'object' ? atBounds(inner) : [])),
  ];
}

const ODD = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  NaN,
  '',
  ' ',
  '\n',
  'a\nb',
  'a',
  '\u{1F600}',
  '\ud800',
  [],
  [[]],
  ['a', 'a'],
  {},
];
const NAMES = ['__proto__', 'constructor', 'a\nb', '', 'x', 'type', 'id', 'A_1', 'x-team'];

/** Replaces, adds or removes one part of a value; `roll` picks which. */
function mutated(value: unknown, pool: readonly unknown[], roll: () => number): unknown {
  const any = () => pool[Math.floor(roll() * pool.length)];
  if (typeof value !== 'object' || value === null || roll() < 0.15) return any();
  if (Array.isArray(value)) {
    if (value.length === 0 || roll() < 0.3) return [...value, any()];
    const at = Math.floor(roll() * value.length);
    return value.map((item, i) => (i === at ? mutated(item, pool, roll) : item));
  }
  const entries = Object.entries(value);
  const names = [...NAMES, ...entries.map(([name]) => name)];
  const name = names[Math.floor(roll() * names.length)] as string;
  if (roll() < 0.3) return Object.fromEntries(entries.filter(([other]) => other !== name));
  const known = entries.find(([other]) => other === name);
  return Object.fromEntries([...entries.filter((entry) => entry !== known), [name, mutated(known?.[1], pool, roll)]]);
}

test('all routes accept what TypeBox accepts', () => {
  assert.ok(schemas.length > 150, `${schemas.length} schemas`);
  const seen = { accepted: 0, refused: 0 };
  for (const [n, schema] of schemas.entries()) {
    const [check, theirs, roll] = [checkOf(schema), Compile(schema), numbers(n + 1)];
    const pool = [...ODD, ...atBounds(schema)];
    const start = exampleOf(schema);
    assert.ok(check(start), `example of ${JSON.stringify(schema)}`);
    let value: unknown = start;
    for (let i = 0; i < 300; i++) {
      value = mutated(i % 4 === 0 ? start : value, pool, roll);
      const expected = theirs.Check(value);
      seen[expected ? 'accepted' : 'refused']++;
      assert.equal(check(value), expected, `${JSON.stringify(value)} against ${JSON.stringify(schema)}`);
    }
  }
  assert.ok(seen.accepted > 2000 && seen.refused > 2000, JSON.stringify(seen));
});

test('an absent and an undefined member are alike', () => {
  const schema = Type.Object({ a: Type.Optional(Type.Integer()), b: Type.Integer() }, { additionalProperties: false });
  for (const value of [{ a: undefined, b: 1 }, { a: 1, b: undefined }, { b: 1, c: undefined }, { a: undefined }]) {
    assert.equal(checkOf(schema)(value), Compile(schema).Check(value), Object.keys(value).join());
  }
});

test('keywords that are not checked are refused', () => {
  for (const schema of [
    { type: 'string', format: 'email' },
    { type: 'array', items: { allOf: [{}] } },
    { type: 'file' },
    { type: 'object', properties: { a: { multipleOf: 2 } } },
    { type: 'array', uniqueItems: true, items: { type: 'object' } },
  ]) {
    assert.throws(() => checkOf(schema as TSchema), /checked|check of|uniqueItems/, JSON.stringify(schema));
  }
});

test('items that are equal are refused where asked', () => {
  const check = checkOf(Type.Array(Type.String(), { uniqueItems: true }));
  assert.deepEqual([check(['a', 'b']), check(['a', 'b', 'a']), check([])], [true, false, true]);
});

test('schemas are those that TypeBox builds', () => {
  const built = (builder: typeof Type): TSchema[] => [
    builder.Array(builder.String({ minLength: 1 }), { maxItems: 2 }),
    builder.Array(builder.Null()),
    builder.Boolean({ examples: [true] }),
    builder.Integer({ minimum: 1 }),
    builder.Literal('a', { description: 'd' }),
    builder.Literal(5),
    builder.Number(),
    builder.Object({}),
    builder.Object({ a: builder.Optional(builder.Null()) }),
    builder.Object({ a: builder.String(), b: builder.Optional(builder.Integer()) }, { additionalProperties: false }),
    builder.Partial(builder.Object({ a: builder.String(), b: builder.Optional(builder.Integer()) })),
    builder.Record(builder.String(), builder.Unknown(), { maxProperties: 3 }),
    builder.Record(builder.String({ pattern: '^a' }), builder.String({ maxLength: 1 })),
    builder.Union([builder.Integer(), builder.Null()], { description: 'd' }),
    builder.Unknown({ title: 't' }),
    builder.Unsafe<'a'>({ type: 'string', enum: ['a'] }),
  ];
  const theirs = built(TypeBox);
  for (const [n, ours] of built(Type).entries()) assert.equal(JSON.stringify(ours), JSON.stringify(theirs[n]));
});
