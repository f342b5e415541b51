// How a statement of the configuration becomes the text and the values of one database.

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Dialect,
  differs,
  isAmong,
  isAmongRows,
  joined,
  raw,
  render,
  sql,
  tableOf,
} from '../../../../src/store/config/sql.ts';

const DIALECT: Dialect<unknown> = {
  kind: 'postgres',
  placeholder: (n) => `$${n}`,
  value: (cell) => cell,
  list: (texts) => texts,
  rows: ({ columns, rows }, put) => `(${columns.map(([name], i) => `${name} ${put(rows.map((row) => row[i]))}`)})`,
};

test('values become parameters in their order', () => {
  deepEqual(render(sql`SELECT ${1} WHERE a = ${null} AND b = ${'x'}`, DIALECT), {
    text: 'SELECT $1 WHERE a = $2 AND b = $3',
    values: [1, null, 'x'],
  });
});

test('SQL in SQL keeps the order of all values', () => {
  const inner = sql`b = ${2} OR ${raw('c')} = ${3}`;
  deepEqual(render(sql`${raw('a')} = ${1} AND (${inner}) AND d = ${4}`, DIALECT), {
    text: 'a = $1 AND (b = $2 OR c = $3) AND d = $4',
    values: [1, 2, 3, 4],
  });
});

test('conditions are joined, and none is no text', () => {
  const all = [sql`a = ${1}`, sql`b = ${2}`, raw('c')];
  deepEqual(render(sql`WHERE ${joined(all, ' AND ')}${joined([], ' AND ')};`, DIALECT), {
    text: 'WHERE a = $1 AND b = $2 AND c;',
    values: [1, 2],
  });
});

test('a list is one value, whatever its length', () => {
  deepEqual(render(sql`id ${isAmong(['a', 'b'])} AND x = ${1}`, DIALECT), {
    text: 'id = ANY ($1::text[]) AND x = $2',
    values: [['a', 'b'], 1],
  });
});

test('each database gets its own text', () => {
  const statement = sql`a ${isAmongRows(sql`SELECT b WHERE c = ${1}`)} ${differs({ sqlite: 'S', postgres: 'P' })}`;
  deepEqual(render(statement, DIALECT), { text: 'a = ANY (ARRAY(SELECT b WHERE c = $1)) P', values: [1] });
  deepEqual(render(statement, { ...DIALECT, kind: 'sqlite' }), { text: 'a IN (SELECT b WHERE c = $1) S', values: [1] });
});

test('rows give their cells by column, whatever their order', () => {
  const rows = [
    { a: 'x', b: 1 },
    { b: null, a: 'y' },
  ];
  deepEqual(render(sql`FROM ${tableOf({ a: 'text', b: 'bigint' }, rows)} WHERE ${2}`, DIALECT), {
    text: 'FROM (a $1,b $2) WHERE $3',
    values: [['x', 'y'], [1, null], 2],
  });
});
