// Which errors a filter means.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ErrorFilter, matchOf } from '../../../src/domain/error-filter.ts';
import type { ErrorDetail } from '../../../src/domain/failure.ts';
import { containing } from '../../../src/domain/literal-text.ts';

const HEAD = { emitterId: 'p_1', code: 'TypeError', groupId: 'eg_1' };
const DETAIL: ErrorDetail = {
  context: { deployment_id: 'd_1', workflow_name: 'Orders' },
  error: { code: 'TypeError', msg: 'No total of 100% in "a_b"', cellId: 'c_1', ts: '', namespace: 'charge' },
};

function matches(filter: ErrorFilter): boolean {
  const { byHead, byDetail } = matchOf(filter);
  return byHead(HEAD) && (byDetail?.(DETAIL) ?? true);
}

test('each condition of a filter excludes alone', () => {
  const right = {
    emitterId: 'p_1',
    code: 'TypeError',
    groupId: 'eg_1',
    step: 'charge',
    text: 'total',
    deploymentId: 'd_1',
  };
  equal(matches({}), true);
  equal(matches(right), true);
  for (const name of Object.keys(right)) equal(matches({ ...right, [name]: 'another' }), false, name);
});

test('a text is found in any case, and never as a pattern', () => {
  const found = ['TOTAL', '100%', '"A_B"', 'o', DETAIL.error.msg];
  const others = ['100_', '1%0', 'a.b', '.*', 'total  ', '^No', '[a-z]', '\\w'];
  deepEqual(
    found.map((text) => matches({ text })),
    found.map(() => true),
  );
  deepEqual(
    others.map((text) => matches({ text })),
    others.map(() => false),
  );
});

test('a text is found in the cause of an error, as it is shown', () => {
  const stack =
    'at pay (pay.ts:3:1)\n    at [cause: ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1]\n    at f (b.ts:1:1)';
  const detail = { ...DETAIL, error: { ...DETAIL.error, stack } };
  const finds = (filter: ErrorFilter) => matchOf(filter).byDetail?.(detail);
  const found = ['econnrefused', '127.0.0.1:1', 'total'].map((text) => finds({ text }));
  deepEqual(found, [true, true, true]);
  deepEqual(
    ['pay.ts', 'b.ts', '[cause'].map((text) => finds({ text })),
    [false, false, false],
  );
  const shown = (whole: string) => whole.replaceAll('127.0.0.1', '[redacted]');
  deepEqual(
    ['127.0.0.1', 'refused [redacted]'].map((text) => finds({ text, shown })),
    [false, true],
  );
});

test('every part of a text is found in it', () => {
  const part = fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', minLength: 1 }), fc.string());
  fc.assert(
    fc.property(part, ([before, wanted, behind]) => containing(wanted)(before + wanted + behind)),
    { examples: [[['', 'ΟΔΟΣ', 'Α']], [['x', 'İ', 'x']], [['', '\u{1f600}', '']], [['a', '\0', 'b']]] },
  );
});

test('letters have one size, whatever stands around them', () => {
  equal(containing('É')('café'), true);
  equal(containing('ΟΔΟΣ')('οδος, οδοσ'), true);
  equal(containing('İ')('i'), true);
  equal(containing('ss')('ß'), false);
});
