// Tables in terminals of any width, and elsewhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Column, createOutput, printTable, timeColumn } from '../../../src/cli/shell/output.ts';
import { createProgress } from '../../../src/cli/shell/progress.ts';
import { widthOf } from '../../../src/cli/shell/text.ts';

interface Row {
  readonly time: string;
  readonly id: string;
  readonly name: string;
  readonly says: string;
}

const ROWS: readonly Row[] = [
  {
    time: '2026-11-23T23:40:25Z',
    id: '1795477225324-0',
    name: '注文を請求する 👩‍👩‍👧 עברית of a shop',
    says: 'no card '.repeat(40),
  },
  { time: '2026-11-23T23:40:25Z', id: '1795477225324-1', name: 'b\u001b]0;x\u0007\n', says: 'e\u0301'.repeat(200) },
];
const COLUMNS: readonly Column<Row>[] = [
  { title: 'TIME', of: ({ time }) => time },
  { title: 'ID', of: ({ id }) => id },
  { title: 'OF', of: ({ name }) => name },
  { title: 'MESSAGE', of: ({ says }) => says, style: () => 'red' },
];

async function printed<T>(columns: number | null, rows: readonly T[], of: readonly Column<T>[]): Promise<string[]> {
  let text = '';
  const write = (part: string, done: () => void): boolean => {
    text += part;
    done();
    return true;
  };
  const stream = { isTTY: columns !== null, columns: columns ?? undefined, write, on: () => undefined };
  const out = createOutput(stream as unknown as NodeJS.WriteStream, stream as unknown as NodeJS.WriteStream);
  await printTable({ ...out, style: (_style, cell) => cell }, rows, of);
  return text.trimEnd().split('\n');
}

test('no line of a table is wider than the terminal', async () => {
  for (const columns of [80, 100, 120, 200]) {
    const lines = await printed(columns, ROWS, COLUMNS);
    assert.equal(lines.length, 3, `${columns}`);
    for (const line of lines) assert.ok(widthOf(line) <= columns, `${columns}: ${line}`);
    for (const { id, time } of ROWS) assert.ok(lines.some((line) => line.includes(id) && line.includes(time)));
  }
});

test('in a narrow terminal each record is lines of its own', async () => {
  for (const columns of [20, 40, 60]) {
    const lines = await printed(columns, ROWS, COLUMNS);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('ID')),
      ROWS.map(({ id }) => `ID       ${id}`),
    );
    for (const line of lines) assert.ok(widthOf(line) <= Math.max(29, columns) || line.startsWith('MESSAGE'), line);
    assert.ok(lines.includes(''), 'a line between records');
  }
});

test('times are ages where the terminal is narrow, and whole where it is wide', async () => {
  const at = Date.parse('2026-11-23T23:40:25Z');
  const rows = [
    { at: Date.now() - 3 * 3_600_000 - 60_000, says: 'no card' },
    { at, says: 'no card '.repeat(9) },
  ];
  const of: readonly Column<(typeof rows)[number]>[] = [
    timeColumn('TIME', ({ at }) => at),
    timeColumn('NEXT', () => Date.now() + 150_500),
    { title: 'ID', of: () => 'eg_0Vj3aBc9dEfGhIjK' },
    { title: 'OF', of: () => 'Charge orders' },
    { title: 'MESSAGE', of: ({ says }) => says },
  ];
  const [head = '', first = '', second = ''] = await printed(80, rows, of);
  assert.match(head, /^AGE +NEXT +ID +OF +MESSAGE$/);
  assert.match(first, /^3h +in 2m +eg_0Vj3aBc9dEfGhIjK +Charge orders +no card$/);
  assert.match(second, /^\d+d +in 2m /);
  const [wide = '', , last = ''] = await printed(120, rows, of);
  assert.match(wide, /^TIME +NEXT/);
  assert.match(last, /^2026-11-23T23:40:25Z +20\d\d-/);
  const [, piped = ''] = await printed(null, rows, of);
  assert.match(piped, /^20\d\d-/);
  const [record = ''] = await printed(40, rows, of);
  assert.match(record, /^TIME +20\d\d-/);
});

test('what says least is left out before a table falls apart', async () => {
  const row = {
    id: '1795477225324-0',
    name: 'Charge the orders',
    step: 'charge_all',
    told: 'under_way',
    code: 'TypeError',
  };
  const of: readonly Column<typeof row>[] = [
    timeColumn('TIME', () => Date.parse('2026-11-23T23:40:25Z')),
    { title: 'ID', of: ({ id }) => id },
    { title: 'OF', of: ({ name }) => name },
    { title: 'STEP', of: ({ step }) => step, goes: 1 },
    { title: 'TOLD', of: ({ told }) => told, goes: 2 },
    { title: 'REPLAY', of: () => 'succeeded' },
    { title: 'CODE', of: ({ code }) => code },
    { title: 'MESSAGE', of: () => 'no card '.repeat(9) },
  ];
  const heads: [number, RegExp][] = [
    [200, /^TIME +ID +OF +STEP +TOLD +REPLAY +CODE +MESSAGE$/],
    [108, /^AGE +ID +OF +STEP +TOLD +REPLAY +CODE +MESSAGE$/],
    [92, /^AGE +ID +OF +TOLD +REPLAY +CODE +MESSAGE$/],
    [80, /^AGE +ID +OF +REPLAY +CODE +MESSAGE$/],
  ];
  for (const [columns, expected] of heads) {
    const lines = await printed(columns, [row], of);
    assert.match(lines[0] ?? '', expected, `${columns}`);
    assert.equal(lines.length, 2);
    for (const line of lines) assert.ok(widthOf(line) <= columns, line);
  }
  assert.ok((await printed(40, [row], of)).includes('STEP     charge_all'), 'a record has all of it');
});

test('ids are whole, and long names of steps are cut like others', async () => {
  const rows = [
    { id: 'sub_0Vj3aBc9dEfGhIjK', step: 'charge_the_customers_of_the_last_month', says: 'no card '.repeat(9) },
  ];
  const [head = '', row = ''] = await printed(60, rows, [
    { title: 'ID', of: ({ id }) => id },
    { title: 'STEP', of: ({ step }) => step },
    { title: 'MESSAGE', of: ({ says }) => says },
  ]);
  assert.match(head, /^ID +STEP +MESSAGE$/);
  assert.match(row, /^sub_0Vj3aBc9dEfGhIjK {2}charge_\w+… +no card/);
});

test('a table of short cells stays a table', async () => {
  const lines = await printed(
    40,
    [{ n: 'deliveries.delivered', a: 1, b: 2 }],
    [
      { title: 'FACT', of: ({ n }) => n },
      { title: 'LEDGER', of: ({ a }) => a },
      { title: 'ROWS', of: ({ b }) => b },
    ],
  );
  assert.deepEqual(lines, ['FACT                  LEDGER  ROWS', 'deliveries.delivered  1       2']);
});

test('what is whole is never cut', async () => {
  const name = 'ERRAND_MAX_CONNECTIONS_PER_ADDRESS';
  const of: readonly Column<{ name: string; about: string }>[] = [
    { title: 'SETTING', of: (one) => one.name, isWhole: true },
    { title: 'WHAT', of: ({ about }) => about },
  ];
  for (const columns of [40, 60])
    assert.ok((await printed(columns, [{ name, about: 'x '.repeat(90) }], of)).some((line) => line.includes(name)));
});

test('outside of a terminal nothing is cut, and nothing controls one', async () => {
  const [, first = '', second = ''] = await printed(null, ROWS, COLUMNS);
  assert.ok(first.includes('no card '.repeat(40).trimEnd()));
  assert.match(second, /b\ufffd\]0;x\ufffd /);
});

test('a bar fits its line', () => {
  let text = '';
  const write = (part: string): boolean => {
    text += part;
    return true;
  };
  const stream = { isTTY: true, columns: 40, write } as unknown as Parameters<typeof createProgress>[0];
  const progress = createProgress(stream, () => 0);
  progress.show('copied, emissions: 12 of 1000000 rows, 12 rows/s', 0.5);
  progress.show('a text \u001b[2J', null);
  for (const line of text.split('\r')) assert.ok(widthOf(line) < 40, line);
  assert.ok(!text.includes('\u001b'));
});

test('a hint is for a person at a terminal alone', () => {
  for (const isTTY of [true, false]) {
    const written: string[] = [];
    const stderr = { isTTY, write: (part: string) => written.push(part), on: () => undefined };
    const stdout = { ...stderr, isTTY: false, write: () => assert.fail('it is no result') };
    const out = createOutput(stdout as unknown as NodeJS.WriteStream, stderr as unknown as NodeJS.WriteStream);
    out.hint('errors of here\u001b[2J, as they come');
    assert.equal(written.join(''), isTTY ? 'errors of here\ufffd[2J, as they come\n' : '');
  }
});
