// Cells of a row, read by the type of their column.

import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, flag, json, number, numberOrNull, text, textOrNull } from '../../../../src/store/rows/cells.ts';

const ROW = { t: 'x', n: 3, yes: true, one: 1, no: false, zero: 0, nil: null, b: Uint8Array.of(1), j: '{"a":[1]}' };

test('a cell of its type is given back', () => {
  equal(text(ROW, 't'), 'x');
  equal(number(ROW, 'n'), 3);
  deepEqual(bytes(ROW, 'b'), Uint8Array.of(1));
  deepEqual(json(ROW, 'j'), { a: [1] });
  deepEqual([textOrNull(ROW, 'nil'), numberOrNull(ROW, 'nil')], [null, null]);
});

test('a flag is a boolean in both databases', () => {
  deepEqual(
    ['yes', 'one', 'no', 'zero'].map((column) => flag(ROW, column)),
    [true, true, false, false],
  );
});

test('a cell of another type names its column', () => {
  throws(() => text(ROW, 'n'), /column n is not a text: number/);
  throws(() => text(ROW, 'nil'), /column nil is not a text: null/);
  throws(() => number(ROW, 't'), /column t is not a number: string/);
  throws(() => number(ROW, 'absent'), /column absent is not a number: undefined/);
  throws(() => numberOrNull(ROW, 'absent'), /column absent/);
  throws(() => flag(ROW, 'n'), /column n is not a boolean/);
  throws(() => bytes(ROW, 't'), /column t is not bytes/);
});
