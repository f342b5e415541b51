import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DAY_MS, LIMITS } from '../../../src/domain/limits.ts';
import { retryAfterMs } from '../../../src/webhook/retry-after.ts';
import { deliveryTo, NOW_MS, posterFor, rawReceiver } from './receivers.ts';

// 2023-11-14T22:13:20.999Z, a Tuesday.
const at = (value: string | string[], status = 503, nowMs = NOW_MS) =>
  retryAfterMs({ status, headers: { 'retry-after': value } }, nowMs);

const WAITS: [value: string, ms: number | null][] = [
  ['7', 7000],
  ['007', 7000],
  ['86400', DAY_MS],
  ['86401', DAY_MS],
  ['999999999999', DAY_MS],
  ['Tue, 14 Nov 2023 22:13:27 GMT', 6001],
  ['Tuesday, 14-Nov-23 22:13:27 GMT', 6001],
  ['Tue Nov 14 22:13:27 2023', 6001],
  ['Fri Dec  1 00:00:00 2023', DAY_MS],
  ['Tue, 14 Nov 2023 22:13:21 GMT', 1],
  ['Tue, 14 Nov 2023 22:13:60 GMT', 39_001],
  ['Wed, 15 Nov 2023 22:13:20 GMT', DAY_MS - 999],
  ['Fri, 31 Dec 9999 23:59:59 GMT', DAY_MS],
  // Two digits mean the year that lies at most 50 years ahead: 2073 here, and 1974.
  ['Tuesday, 14-Nov-73 22:13:27 GMT', DAY_MS],
  ['Thursday, 14-Nov-74 22:13:27 GMT', null],
  ['Tue, 14 Nov 2023 22:13:20 GMT', null],
  ['Sun, 06 Nov 1994 08:49:37 GMT', null],
  ['Thu, 14 Nov 0023 22:13:27 GMT', null],
  ['0', null],
  ['00', null],
  ['-1', null],
  ['+5', null],
  ['1.5', null],
  ['1e3', null],
  ['0x10', null],
  ['9'.repeat(400), null],
  ['9007199254740993', null],
  ['', null],
  [' ', null],
  ['soon', null],
  ['5s', null],
  ['5, 10', null],
  ['5 10', null],
  ['٣', null],
  ['Infinity', null],
  ['NaN', null],
  ['2023-11-14T22:13:27Z', null],
  ['Tue, 14 Nov 2023 22:13:27 +0100', null],
  ['Tue, 14 Nov 2023 22:13:27 UTC', null],
  ['Tue, 14 Nov 2023 22:13:27', null],
  ['14 Nov 2023 22:13:27 GMT', null],
  ['Tue, 14 nov 2023 22:13:27 GMT', null],
  ['Thu, 30 Nov 2023 24:00:00 GMT', null],
  ['Fri, 31 Nov 2023 22:13:27 GMT', null],
  ['Thu, 29 Feb 2024 00:00:00 GMT', DAY_MS],
  ['Fri, 29 Feb 2026 00:00:00 GMT', null],
  ['Tue, 00 Dec 2023 00:00:00 GMT', null],
];

test('Seconds and dates become a wait, nothing else', () => {
  for (const [value, ms] of WAITS) assert.equal(at(value), ms, JSON.stringify(value));
});

test('Only 429 and 503 can ask for it', () => {
  for (const status of [429, 503]) assert.equal(at('7', status), 7000);
  for (const status of [200, 202, 301, 400, 404, 408, 413, 428, 430, 500, 502, 504, 999]) {
    assert.equal(at('7', status), null, String(status));
  }
  assert.equal(retryAfterMs({ status: null, headers: { 'retry-after': '7' } }, NOW_MS), null);
  assert.equal(retryAfterMs({ status: 503, headers: {} }, NOW_MS), null);
});

test('Parts of a millisecond are rounded up', () => {
  assert.equal(at('Tue, 14 Nov 2023 22:13:27 GMT', 503, NOW_MS + 0.25), 6001);
});

test('Two values ask for nothing', () => {
  for (const values of [['5', '10'], ['5', '5'], ['5']]) assert.equal(at(values), null, String(values));
});

test('Any date in any form waits until then', () => {
  const inMs = fc.integer({ min: 1, max: LIMITS.retryAfterMs });
  fc.assert(
    fc.property(
      fc.date({ min: new Date('1971-01-01'), max: new Date('2150-01-01'), noInvalidDate: true }),
      inMs,
      (date, ms) => {
        const then = new Date(date.getTime() + ms);
        const wholeMs = Math.floor(then.getTime() / 1000) * 1000;
        const expected = wholeMs > date.getTime() ? wholeMs - date.getTime() : null;
        for (const text of formsOf(then)) assert.equal(at(text, 429, date.getTime()), expected, text);
      },
    ),
  );
});

test('Any text is a wait within limits or none', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.integer().map(String), fc.double().map(String)), (text) => {
      const ms = at(text);
      assert.ok(ms === null || (Number.isInteger(ms) && ms > 0 && ms <= LIMITS.retryAfterMs), text);
    }),
  );
});

const OVER_THE_WIRE: [name: string, head: string, ms: number | null][] = [
  ['seconds on a 429', '429 Slow\r\nretry-after: 7\r\n', 7000],
  ['seconds on a 503', '503 Busy\r\nRETRY-AFTER:   30  \r\n', 30_000],
  ['a date on a 503', '503 Busy\r\nretry-after: Tue, 14 Nov 2023 22:13:27 GMT\r\n', 6001],
  ['a week on a 429', '429 Slow\r\nretry-after: 604800\r\n', DAY_MS],
  ['two lines', '503 Busy\r\nretry-after: 5\r\nretry-after: 7\r\n', null],
  ['a past date', '429 Slow\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n', null],
  ['zero', '429 Slow\r\nretry-after: 0\r\n', null],
  ['nothing', '429 Slow\r\n', null],
  ['seconds on a 500', '500 Oops\r\nretry-after: 7\r\n', null],
  ['seconds on a 200', '200 OK\r\nretry-after: 7\r\n', null],
  ['seconds on a 301', '301 Moved\r\nretry-after: 7\r\nlocation: /\r\n', null],
  ['early hints that ask', '103 Early Hints\r\nretry-after: 7\r\n\r\nHTTP/1.1 503 Busy\r\n', null],
];

for (const [name, head, ms] of OVER_THE_WIRE) {
  test(`An attempt says how long to wait: ${name}`, async () => {
    await using receiver = await rawReceiver((socket) => socket.write(`HTTP/1.1 ${head}content-length: 0\r\n\r\n`));
    await using poster = posterFor();
    const attempt = await poster.post(deliveryTo(receiver.url));
    assert.deepEqual([attempt.outcome, attempt.retryAfterMs], ['answered', ms]);
    assert.equal(attempt.detail.includes('asked to be left alone for'), ms !== null);
  });
}

test('What breaks off after the headers still asked', async () => {
  const head = 'HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 9\r\n\r\nabc';
  await using receiver = await rawReceiver((socket) => socket.end(head));
  await using poster = posterFor();
  const { outcome, status, retryAfterMs: ms } = await poster.post(deliveryTo(receiver.url));
  assert.deepEqual([outcome, status, ms], ['reset', 503, 7000]);
});

test('A date counts from when the answer came', async () => {
  let nowMs = NOW_MS;
  await using receiver = await rawReceiver((socket) => {
    nowMs += 5000;
    socket.write('HTTP/1.1 503 Busy\r\nretry-after: Tue, 14 Nov 2023 22:13:27 GMT\r\ncontent-length: 0\r\n\r\n');
  });
  await using poster = posterFor({ clock: { nowMs: () => nowMs } });
  assert.equal((await poster.post(deliveryTo(receiver.url))).retryAfterMs, 1001);
});

function formsOf(date: Date): string[] {
  const imf = date.toUTCString();
  const [short = '', day = '', month, year = '', time] = imf.split(/,? /);
  const long = { Tue: 'Tuesday', Wed: 'Wednesday', Thu: 'Thursday', Sat: 'Saturday' }[short] ?? `${short}day`;
  return [
    imf,
    `${long}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
    `${short} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`,
  ];
}
