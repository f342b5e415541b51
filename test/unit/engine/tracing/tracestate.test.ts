// The header tracestate: what the specification takes is passed on, all else is ignored as a whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextOf, keptContext, stateOf } from '../../../../src/engine/tracing/trace-context.ts';
import { readTracestate } from '../../../../src/engine/tracing/tracestate.ts';

test('members stay as they came, without the blanks between them', () => {
  const many = Array.from({ length: 32 }, (_, n) => `k${n}=v`).join(',');
  const cases = [
    ['a=1', 'a=1'],
    [' a=1 ,\tb=2,, ', 'a=1,b=2'],
    ['fw529a3039@dt=FfAAAA;x y', 'fw529a3039@dt=FfAAAA;x y'],
    ['0a@b=1', '0a@b=1'],
    [`${'a'.repeat(256)}=1`, `${'a'.repeat(256)}=1`],
    [`a=${'~'.repeat(256)}`, `a=${'~'.repeat(256)}`],
    [many, many],
  ] as const;
  for (const [header, kept] of cases) assert.equal(readTracestate(header), kept, header);
});

test('one wrong member makes all of them worth nothing', () => {
  const wrong = [
    '',
    ',',
    'a',
    'a=',
    '=1',
    'A=1',
    'a b=1',
    'a=1=2',
    'a=ü',
    'a=\u0001',
    'a=1,a=2',
    '0a=1',
    'a@0=1',
    '@a=1',
  ];
  const long = [`${'a'.repeat(257)}=1`, `a=${'x'.repeat(257)}`, `${'a'.repeat(242)}@b=1`, `a@${'b'.repeat(15)}=1`];
  const many = Array.from({ length: 33 }, (_, n) => `k${n}=v`).join(',');
  for (const header of [...wrong, ...long, many]) assert.equal(readTracestate(header), null, header);
  assert.equal(readTracestate('b=2,A=1'), null);
});

test('what is too long loses whole members, the long ones first', () => {
  const long = `long=${'x'.repeat(200)}`;
  const short = (n: number): string => `s${n}=${'y'.repeat(95)}`;
  assert.equal(
    readTracestate([long, short(1), short(2), short(3), short(4)].join(',')),
    [1, 2, 3, 4].map(short).join(','),
  );
  assert.equal(readTracestate([1, 2, 3, 4, 5, 6].map(short).join(',')), [1, 2, 3, 4, 5].map(short).join(','));
  assert.equal(readTracestate(`${'k'.repeat(256)}=${'x'.repeat(256)}`), null);
});

test('a state is kept behind its parent alone', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const kept = keptContext({ traceparent, tracestate: 'a=1 2' });
  assert.equal(kept, `${traceparent} a=1 2`);
  assert.deepEqual([contextOf(kept)?.spanId, stateOf(kept)], ['00f067aa0ba902b7', 'a=1 2']);
  assert.equal(keptContext({ traceparent, tracestate: 'A' }), traceparent);
  assert.deepEqual([stateOf(traceparent), stateOf(null), contextOf(null)], [null, null, null]);
  assert.equal(keptContext({ traceparent: 'x', tracestate: 'a=1' }), null);
  assert.equal(keptContext({ traceparent: undefined, tracestate: 'a=1' }), null);
});
