// Which errors are one group: templates of messages, own frames, rules.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import {
  captured,
  explained,
  type FaultText,
  keyOf,
  matches,
  ruleFor,
} from '../../../../src/domain/errors/fingerprint.ts';
import { TEMPLATE_CHARS, templateOf } from '../../../../src/domain/errors/template.ts';

const TEMPLATES: readonly (readonly [message: string, template: string])[] = [
  ['order 4711 has no "email"', 'order {n} has no "{}"'],
  ['order 12 has no `total`', 'order {n} has no `{}`'],
  ["Cannot read properties of undefined (reading 'total')", "Cannot read properties of undefined (reading 'total')"],
  ["Cannot find module 'left-pad'", "Cannot find module 'left-pad'"],
  ["can't find user's file '/tmp/x_12/a.txt'", "can't find user's file '{}'"],
  ['Unexpected token \'<\', "<!DOCTYPE "... is not valid JSON', 'Unexpected token \'{}\', "{}"... is not valid JSON'],
  ['user cus_Nf7frUfNV2Hib not found', 'user cus_{id} not found'],
  ['p_0Vj3aBc9dEfGhIjK is gone', 'p_{id} is gone'],
  ['3f2504e0-4f89-11d3-9a0c-0305e82c3301 twice', '{id} twice'],
  ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '{id}'],
  ['sha 9f86d081884c7d659a2feaa0c55ad015', 'sha {id}'],
  ['at 0x7ffdeadbeef', 'at {id}'],
  ['token eyJhbGciOi.eyJzdWIi.SflKxwRJ expired', 'token {id} expired'],
  ['connect ECONNREFUSED 10.0.0.7:5432', 'connect ECONNREFUSED {ip}'],
  ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED {ip}'],
  ['connect ECONNREFUSED localhost:5432', 'connect ECONNREFUSED localhost:{n}'],
  ['getaddrinfo ENOTFOUND api.example.com', 'getaddrinfo ENOTFOUND api.example.com'],
  ['mail to ada.l+x@example.org bounced', 'mail to {email} bounced'],
  ['Request failed with status code 404', 'Request failed with status code 404'],
  ['answered 503', 'answered 503'],
  ['timeout of 30000ms exceeded', 'timeout of {n}ms exceeded'],
  ['-5 is less than +3.5', '{n} is less than {n}'],
  ['balance is 1,234.56 EUR', 'balance is {n} EUR'],
  ['missing ids [1, 2, 3]', 'missing ids [{n}]'],
  ['missing ids [1]', 'missing ids [{n}]'],
  ['Invalid date 2026-01-02T03:04:05.123Z', 'Invalid date {time}'],
  ['closed at 12:30:45', 'closed at {time}'],
  [
    'GET https://user:secret@api.x.com/v1/orders/123/items?key=secret failed',
    'GET https://api.x.com/v1/orders/{id}/items?… failed',
  ],
  ['{"a":1,"b":"x"}', '{"{}":{n},"{}"}'],
  ['注文 123 が見つかりません', '注文 {n} が見つかりません'],
  ['  several\n\tlines  ', 'several lines'],
  ['a\u0000b\u202ec', 'a b c'],
  ['half \ud800', 'half \ufffd'],
  ['Timeout \u001b[31m30000ms\u001b[39m \u001b[2mwaiting\u001b[22m', 'Timeout {n}ms waiting'],
  ['order_3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone', 'order_{id} is gone'],
  ['/orders/3F2504E0-4F89-11D3-9A0C-0305E82C3301/items', '/orders/{id}/items'],
  ['commit 9f86d08, or abcdef0', 'commit {id}, or {id}'],
  ['at 0x1F', 'at {id}'],
  ['注文 ٤٧١１ は', '注文 {n} は'],
  ['mailto:jörg@müller.example bounced', 'mailto:{email} bounced'],
  ['left-pad@1.3.0 has no main', 'left-pad@{n} has no main'],
  ['a@b.example@c.example', '{email}'],
  ['due on Friday, 1 May 2026 at 4:31:49 PM', 'due on {time}, {n} {time} {n} at {time}'],
  ['due 26-Nov-26 04:31 UTC', 'due {n}-{time}-{n} {time}'],
  ['March is a word, and may be one', '{time} is a word, and may be one'],
  ['1e5 is more than 2.5e-7', '{n} is more than {n}'],
  ['„Ada“, »Bob«, ‹Eve›, 「Mallory」', '„{}“, »{}«, ‹{}›, 「{}」'],
  ['no "a", "b", "c"', 'no "{}"'],
  ['status=404, statusCode: 503', 'status=404, statusCode: 503'],
  ['HTTP/1.1 404', 'HTTP/{n} 404'],
  ['null value in column "email" of relation "users"', 'null value in column "email" of relation "users"'],
  ['Missing required parameter: "amount"', 'Missing required parameter: "amount"'],
  ["Cannot find module '../lib/total.js'", "Cannot find module '../lib/total.js'"],
  ['a trailing blank ', 'a trailing blank'],
  ['', ''],
];

for (const [message, template] of TEMPLATES) {
  test(`the template of ${JSON.stringify(message).slice(0, 60)}`, () => equal(templateOf(message), template));
}

test('templates of ids of any shape are the same', () => {
  const ids = ['a1b2c3d4e5f6', 'k3x9qg4w9zl7uo0', 'V1StGXR8Z5jdHi6B', '507f1f77bcf86cd799439011', 'deadbeefcafebabe'];
  deepEqual(new Set(ids.map((id) => templateOf(`item ${id} is locked`))), new Set(['item {id} is locked']));
});

test('short ids of letters and digits are one id, and words with numbers are words', () => {
  const ids = ['7F3K2', '7AQ9Y', 'A1B2', '0QX4', 'K3X9Q', '9ABCD', '4b2c', 'a1f3e'];
  deepEqual(
    new Set(ids.map((id) => templateOf(`order ORD-${id} has no currency`))),
    new Set(['order ORD-{id} has no currency']),
  );
  for (const before of ['#', 'order_', '']) equal(templateOf(`no ${before}7F3K2, sorry`), `no ${before}{id}, sorry`);
  const lower = 'sha256 utf8 base64 ipv4 http2 oauth2 x86_64 s3 ec2 h264 mp4 i18n k8s log4j p256 a11y d3d11';
  const words = [
    ...lower.split(' '),
    'SHA256',
    'IPV4',
    'HTTP2',
    'EC2',
    'H264',
    'I18N',
    'K8S',
    'LOG4J',
    '3DES',
    '2FA',
    '10MB',
  ];
  for (const word of words) equal(templateOf(word), word.replace(/\d+(?:_\d+)?/g, '{n}'));
});

test('templates of times that JavaScript writes are the same', () => {
  const times = ['2026-01-02T03:04:05Z', '2026-11-26T14:31:49.123Z'].map((iso) => new Date(iso));
  for (const write of [String, (at: Date) => at.toUTCString(), (at: Date) => at.toLocaleString('en-US')]) {
    equal(new Set(times.map((at) => templateOf(`closed on ${write(at)}.`))).size, 1, write(times[0] as Date));
  }
  const zones = ['GMT+0100 (Central European Standard Time)', 'GMT-0700 (Mountain Standard Time)', 'GMT+0000 (UTC)'];
  deepEqual(new Set(zones.map((zone) => templateOf(`at 04:31:49 ${zone}!`))), new Set(['at {time}!']));
});

test('random ids with dashes in them are one id', () => {
  const ids = ['V1StGXR8_Z5jdHi6B-myT', '5akgb_J5m9g-0JDMbcJqL', 'k8x-2Q_aBcdeF9ghIjKlm', 'a1b2c3d4-e5f6-7a8b'];
  deepEqual(new Set(ids.map((id) => templateOf(`no session ${id}`))), new Set(['no session {id}']));
});

test('a template is bounded, and its time too', () => {
  const words = 'a@ a@a. 0- a-9 a1b2c3- „ ٤ 00000000-0000- GMT+0100('.split(' ');
  words.push("Unexpected token 'a', \"", ')=(', '/?', '1m', 'A+');
  const hostile = ['"', "'a", 'a', '1', ':', '@a.', 'http://', '{n}', '{', ' ', '\u0000', '\ud83d', '9a', 'é', '0.'];
  for (const part of [...words, ...hostile]) {
    const began = process.cpuUsage();
    for (let n = 0; n < 20; n++) ok(templateOf(part.repeat(1_000_000)).length <= TEMPLATE_CHARS, part);
    // Linear work on the message's beginning takes milliseconds for all twenty; looking at all of it, or twice at each
    // character, takes minutes.
    ok(process.cpuUsage(began).user < 5_000_000, part);
  }
});

const FAULT: FaultText = {
  namespace: 'charge',
  code: 'TypeError',
  msg: 'order 7 has no "total"',
  stack: 'at Object.parse (node_modules/x/y.js:1:2)\nat async Order.total (charge.ts:14:8)\nat run (charge.ts:3:1)',
};

const keyFor = (fault: Partial<FaultText>): string => keyOf(captured({ ...FAULT, ...fault }, null), null);

test('the frame is the first own one without lines', () => {
  equal(captured(FAULT, null).fingerprint.frame, 'Order.total (charge.ts)');
  for (const [stack, frame] of [
    ['', ''],
    ['at charge.ts:4:18', 'charge.ts'],
    ['    at new Order (charge.ts:4:18)', 'Order (charge.ts)'],
    ['at node:internal/timers:1:1\nat JSON.parse (<anonymous>)\nat f (a.ts:1:1)', 'f (a.ts)'],
    ['at f (node_modules/x.js:1:1)', ''],
    ['at f (node_modules/x.js:1:1)\n    at async Promise.all (index 3)\nat async g (a.ts:1:1)', 'g (a.ts)'],
    ['at f (node_modules/x.js:1:1)\n    at [cause: Error: order 4711]\nat g (a.ts:1:1)', 'g (a.ts)'],
    ['at eval (eval at f (a.ts:3:5), <anonymous>:1:7)', 'eval (eval at f (a.ts), <anonymous>)'],
    ['at t.a (https://shop.example/app.3f2a9c1d.js?v=12:1:20345)', 't.a (https://shop.example/app.{id}.js)'],
    ['at t (https://shop.example/assets/index-BhK3_x9Z.js:1:9)', 't (https://shop.example/assets/index-{id}.js)'],
    ['at t (dist/chunk-7QVFXW2D.mjs:1:9)', 't (dist/chunk-{id}.mjs)'],
    ['at total (order-handlers.ts:1:9)', 'total (order-handlers.ts)'],
    ['File "/srv/shop.py", line 12, in charge', 'File "/srv/shop.py", in charge'],
    ['#0 /srv/shop.php(12): charge()', '#0 /srv/shop.php: charge()'],
    ["/srv/shop.rb:12:in 'charge'", "/srv/shop.rb:in 'charge'"],
  ] as const) {
    equal(captured({ ...FAULT, stack }, null).fingerprint.frame, frame);
  }
});

test('edited lines and other numbers keep the group', () => {
  const same: Partial<FaultText>[] = [
    { msg: 'order 8 has no "email"' },
    { stack: FAULT.stack?.replaceAll(':14:8', ':15:9') ?? '' },
  ];
  for (const fault of same) equal(keyFor(fault), keyFor({}));
});

test('step, code, message and frame make another group', () => {
  for (const fault of [{ namespace: 'x' }, { code: 'X' }, { msg: 'x' }, { stack: 'at other (charge.ts:14:8)' }]) {
    notEqual(keyFor(fault), keyFor({}));
  }
});

const fetchFailed = (...causes: readonly string[]): FaultText => {
  const lines = causes.map((cause) => `    at [cause: ${cause}]\n    at connect (node:net:1:1)`);
  return { code: 'TypeError', msg: 'fetch failed', stack: ['at pay (pay.ts:3:1)', ...lines].join('\n') };
};

test('the codes of causes tell groups apart', () => {
  const key = (...causes: readonly string[]) => keyOf(captured(fetchFailed(...causes), null), null);
  const refused = 'ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1';
  equal(
    new Set(
      [[], [refused], ['ENOTFOUND: getaddrinfo ENOTFOUND bank'], ['RangeError: x', refused]].map((of) => key(...of)),
    ).size,
    4,
  );
  equal(key(refused), key('ECONNREFUSED: connect ECONNREFUSED [::1]:5432'));
  for (const unnamed of ['order 7 is gone', 'Error: bad port']) equal(key(unnamed), key());
  equal(key('Error: x', refused), key(refused));
  const { fingerprint } = captured(fetchFailed('RangeError: x', refused), null);
  equal(fingerprint.template, 'fetch failed [cause: RangeError] [cause: ECONNREFUSED]');
  match(explained(fingerprint, null), /message template `fetch failed \[cause: RangeError\] \[cause: ECONNREFUSED\]`/);
  equal(captured({ ...fetchFailed(refused), msg: '' }, null).fingerprint.template, '[cause: ECONNREFUSED]');
});

test('many and long causes leave a short template', () => {
  const long = captured({ ...fetchFailed(...Array(50).fill(`${'E'.repeat(900)}: x`)), msg: 'a'.repeat(9000) }, null);
  ok(long.fingerprint.template.length < 2 * TEMPLATE_CHARS + 100);
});

test('the first rule that matches decides', () => {
  const rules = [
    { group: 'a', code: 'TypeError', step: 'other' },
    { group: 'b', message: 'order * has no *' },
    { group: 'c', step: 'charge' },
  ];
  const fault = captured(FAULT, null);
  equal(ruleFor(fault, rules)?.group, 'b');
  equal(ruleFor(captured({ ...FAULT, msg: 'else' }, null), rules)?.group, 'c');
  equal(ruleFor(captured({ code: 'X', msg: 'else' }, null), rules), null);
  equal(keyOf(fault, rules[1] ?? null), keyOf(captured({ code: 'X', msg: '' }, null), rules[1] ?? null));
});

test('a pattern matches the whole text', () => {
  for (const [pattern, text, isMatch] of [
    ['card * declined', 'card 12 declined', true],
    ['card * declined', 'a card 12 declined', false],
    ['*declined*', 'a card is declined.', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*', '', true],
    ['', '', true],
    ['a.c', 'abc', false],
    ['*a*b*', 'ba', false],
    [`${'*a'.repeat(200)}*b`, 'a'.repeat(8000), false],
  ] as const) {
    equal(matches(pattern, text), isMatch, `${pattern.slice(0, 20)} on ${text.slice(0, 20)}`);
  }
});

test('a group says why in words', () => {
  const { fingerprint } = captured(FAULT, null);
  const why =
    'same step `charge`, same code `TypeError`, message template `order {n} has no "{}"`, thrown from `Order.total (charge.ts)`';
  equal(explained(fingerprint, null), why);
  equal(explained(fingerprint, 'cards'), "put together by the workflow's rule for the group `cards`");
});
