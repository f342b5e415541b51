import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nullable } from '../../../../src/http/openapi/schema.ts';
import { Type } from '../../../../src/http/schema/type.ts';
import { validatorOf } from '../../../../src/http/validation.ts';

const SCHEMA = Type.Object({
  rate: Type.Optional(nullable(Type.Object({ limit: Type.Integer({ minimum: 1 }) }))),
  names: Type.Optional(nullable(Type.Array(Type.String(), { maxItems: 2 }))),
  headers: Type.Optional(Type.Record(Type.String(), Type.String(), { maxProperties: 2 })),
});

test('what is missing may be any value', () => {
  const refusal = validatorOf(Type.Object({ value: Type.Unknown() }))({});
  assert.equal(refusal?.message, 'value is missing; it must be any JSON value');
});

const faultsOf = (value: unknown): string[] =>
  (validatorOf(SCHEMA)(value)?.errors ?? []).map(({ parameter, message }) => `${parameter} ${message}`);

test('what may be null is explained in its parts', () => {
  assert.deepEqual(faultsOf({ rate: { limit: 0 }, names: ['a', 5] }), [
    'rate.limit must be a whole number of at least 1, but was 0',
    'names[1] must be a string, but was 5',
  ]);
  assert.deepEqual(faultsOf({ rate: 5 }), ['rate must be an object or null, but was 5']);
  assert.deepEqual(faultsOf({ rate: null, names: null, headers: {} }), []);
});

test('items that repeat are told as such', () => {
  const scopes = Type.Array(Type.String(), { minItems: 1, maxItems: 6, uniqueItems: true });
  const refusal = validatorOf(Type.Object({ scopes }))({ scopes: ['read', 'read'] });
  assert.equal(refusal?.message, 'scopes must be an array of 1 to 6 different items, but was an array of 2');
});

test('shapes of the same kind are told once', () => {
  const shapes = Type.Union([Type.Object({ a: Type.Integer() }), Type.Object({ b: Type.Integer() })]);
  const refusal = validatorOf(Type.Object({ shape: shapes }))({ shape: null });
  assert.equal(refusal?.message, 'shape must be an object, but was null');
});

test('what is too long is said without a walk', () => {
  let reads = 0;
  const spied = new Proxy(Array(1_000_000).fill('a'), {
    get: (target, name, receiver) => {
      if (typeof name === 'string' && /^\d/.test(name)) reads += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  const first = validatorOf(Type.Object({ a: Type.Integer(), names: Type.Array(Type.String(), { maxItems: 2 }) }));
  assert.deepEqual(
    first({ a: 'x', names: spied })?.errors.map(({ parameter }) => parameter),
    ['a', 'names'],
  );
  assert.equal(reads, 0);
  assert.deepEqual(faultsOf({ names: ['a', 'b', 'c'] }), [
    'names must be an array of at most 2 items or null, but was an array of 3',
  ]);
  assert.deepEqual(faultsOf({ headers: { a: '', b: '', c: '' } }), [
    'headers must be an object of at most 2 members, but was an object of 3 members',
  ]);
});

test('not more than twenty faults are told', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`x${n}`, n]));
  const refusal = validatorOf(Type.Object({ env: Type.Record(Type.String(), Type.String()) }))({ env: many });
  assert.equal(refusal?.errors.length, 20);
});
