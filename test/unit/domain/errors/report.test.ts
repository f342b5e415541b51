// Reports of other programs: what is kept of a stack and of texts, and the numbers of projects.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dsnOf, projectOf, workflowOfProject } from '../../../../src/domain/errors/dsn.ts';
import { cut, faultOf, framesIn, type Report } from '../../../../src/domain/errors/report.ts';
import { PREFIX, resourceId } from '../../../../src/domain/ids.ts';

const REPORT: Report = {
  message: 'm',
  code: 'C',
  stack: '',
  step: '',
  tsMs: null,
  context: null,
  originalEvent: null,
};

test('a project is its workflow and no other one', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 40), fc.uint8Array({ minLength: 9, maxLength: 9 }), (ms, random) => {
      const id = resourceId(PREFIX.workflow, ms, random);
      equal(workflowOfProject(projectOf(id) as string), id);
    }),
  );
  for (const id of ['p_0000000000000000', 'p_zzzzzzzzzzzzzzzz']) equal(workflowOfProject(projectOf(id) as string), id);
  for (const id of ['p_1', 'dc_0000000000000000', 'p_000000000000000-']) equal(projectOf(id), null);
  const over = String(BigInt(projectOf('p_zzzzzzzzzzzzzzzz') as string) + 1n);
  for (const project of [over, '', '-1', '1e3', ' 1', '9'.repeat(1000)]) equal(workflowOfProject(project), null);
});

test('a DSN has the key and the public address', () => {
  equal(dsnOf('https://errand.example.com', 'ek_1', 'p_0000000000000001'), 'https://ek_1@errand.example.com/1');
  equal(dsnOf('http://[::1]:4400/below', 'ek_1', 'p_000000000000000A'), 'http://ek_1@[::1]:4400/below/10');
});

test('the frames of a stack are kept without its message', () => {
  deepEqual(framesIn('Error: a\nb\n    at f (x.js:1:1)\r\n\n    at g (y.js:2:2)\n'), [
    '    at f (x.js:1:1)',
    '    at g (y.js:2:2)',
  ]);
  deepEqual(framesIn('Traceback:\n  File "x.py", line 3, in f\n'), ['Traceback:', '  File "x.py", line 3, in f']);
  deepEqual(framesIn(''), []);
  equal(framesIn('x\n'.repeat(1_000_000)).length, 50);
});

test('every report has a fault within the bounds', () => {
  const text = fc.string({ unit: 'binary', maxLength: 3000 });
  fc.assert(
    fc.property(text, text, text, fc.oneof(fc.constant(null), fc.double()), (message, code, stack, tsMs) => {
      const fault = faultOf({ ...REPORT, message, code, stack, step: code, tsMs }, 1000);
      ok(Buffer.byteLength(fault.msg) <= 8192 && fault.msg.isWellFormed());
      ok(fault.code.length >= 1 && fault.code.length <= 128 && fault.code.isWellFormed());
      ok(fault.namespace.length <= 64 && !fault.namespace.includes('\u0000'));
      ok(!Number.isNaN(new Date(fault.tsMs).getTime()));
    }),
  );
  deepEqual([faultOf({ ...REPORT, code: '' }, 7).code, faultOf(REPORT, 7).tsMs], ['Error', 7]);
});

test('a text is cut between characters', () => {
  equal(cut('aüb', 2), 'a');
  equal(cut('aüb', 3), 'aü');
  equal(cut('\ud83d\ude00', 3), '');
  equal(cut('x\ud83d', 10), 'x\ufffd');
});
