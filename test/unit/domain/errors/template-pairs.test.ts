// Messages as libraries write them: of one fault one template, and of two faults two.

import { equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { templateOf } from '../../../../src/domain/errors/template.ts';

const ONE: readonly (readonly string[])[] = [
  ['Session V1StGXR8_Z5jdHi6B-myT not found', 'Session Uakgb_J5m9g-0JDMbcJqL not found'],
  ['user cl9ebqhxk00008eqf1xq2x3yz missing', 'user tz4a98xxat96iws9zmbrgj3a missing'],
  ['job 01ARZ3NDEKTSV4RRFFQ69G5FAV failed', 'job 0ujtsYcgvSTl8PAuAdqWYSMnLOv failed'],
  ['bad token dGhpcyBp+yBhIHRlc3Q', 'bad token YWJjZGVm+2hpamts+/YWJj'],
  ['charged $12.50', 'charged $1,200.00', 'charged $7'],
  ['took 3m12s', 'took 12s', 'took 1h3m12s', 'took 1.5s', 'took 2m0.25s'],
  ['Key (id)=(123) already exists.', 'Key (id)=(abc) already exists.', 'Key (id)=(ada@x.org) already exists.'],
  ['DETAIL: Key (id)=(1)', 'DETAIL: Key (id)=(x y)'],
  ["Duplicate entry 'ada@x.org' for key 'users.email'", "Duplicate entry '12-3' for key 'users.email'"],
  ['x', '<', '}', ',', "'", '"'].map((token) => `Unexpected token ${token} in JSON at position 7`),
  [
    `Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
    `Unexpected token 'H', "Hello" is not valid JSON`,
    `Unexpected token ''', "{'a':1}" is not valid JSON`,
    `Unexpected token 'a', ..."{"b":abc"... is not valid JSON`,
  ],
  ['GET /users/12?x=1&q=foo failed', 'GET /users/13?x=2&q=bar failed', 'GET /users/13?page failed'],
  ['order SO1234 failed', 'order SO99 failed'],
];

const TWO: readonly (readonly [string, string])[] = [
  ['Key (id)=(1) already exists.', 'Key (email)=(1) already exists.'],
  ["'NoneType' object has no attribute 'total'", "'NoneType' object has no attribute 'email'"],
  ["No module named 'foo'", "No module named 'bar'"],
  ["Duplicate entry '1' for key 'users.email'", "Duplicate entry '1' for key 'users.name'"],
  ["Table 'shop.a' doesn't exist", "Table 'shop.b' doesn't exist"],
  ['Unique constraint failed on the fields: (`email`)', 'Unique constraint failed on the fields: (`name`)'],
  ['Argument `a` is missing.', 'Argument `b` is missing.'],
  ['errorCode=P2002', 'errorCode=P2025'],
  ['ORA-00942: no such table', 'ORA-00001: no such table'],
  ['error TS2304: no', 'error TS2345: no'],
  ['GET /orders?x=1 failed', 'GET /users?x=1 failed'],
];

for (const messages of ONE) {
  test(`one fault: ${messages[0]}`, () => {
    for (const message of messages) equal(templateOf(message), templateOf(messages[0] as string), message);
  });
}

for (const [one, other] of TWO) {
  test(`two faults: ${one}, and ${other}`, () => notEqual(templateOf(one), templateOf(other)));
}

test('a prefix stays before an id', () => equal(templateOf('cus_Nf7frUfNV2Hib is gone'), 'cus_{id} is gone'));
