import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOfHeader, faultOfHeaders } from '../../../src/domain/delivery/webhook-headers.ts';
import { LIMITS } from '../../../src/domain/limits.ts';

test('ordinary headers of any owner are fine', () => {
  const fine: [string, string][] = [
    ['Authorization', 'Bearer abc.def=='],
    ['x-team', 'orders and  returns'],
    ['X_1', ''],
    ["!#$%&'*+-.^_`|~", '"\\,;=()'],
    ['x-name', 'Zoë ÷ \u00a0 ÿ'],
    ['cookie', 'a=b; c=d'],
    ['n'.repeat(LIMITS.headerNameChars), 'v'.repeat(LIMITS.headerValueChars)],
  ];
  for (const [name, value] of fine) assert.equal(faultOfHeader(name, value), null, name);
});

test('names that are no tokens are refused', () => {
  for (const name of [
    '',
    ' ',
    'a b',
    'a:',
    ':path',
    'a\r\nb',
    'a\nb',
    'a\0',
    'ä',
    'a(b)',
    'a/b',
    'a@',
    'a,b',
    '"a"',
    '\t',
  ]) {
    assert.match(faultOfHeader(name, 'v') ?? '', /is no header name/, JSON.stringify(name));
  }
  assert.match(faultOfHeader('n'.repeat(LIMITS.headerNameChars + 1), 'v') ?? '', /129 characters.*at most 128/);
});

test('names of ours and of the connection are refused', () => {
  const taken = [
    'webhook-id',
    'Webhook-Signature',
    'WEBHOOK-anything',
    'errand-attempt',
    'Errand-New',
    'content-type',
    'Content-Length',
    'content-encoding',
    'Host',
    'User-Agent',
    'accept-encoding',
    'Connection',
    'keep-alive',
    'Transfer-Encoding',
    'TE',
    'trailer',
    'upgrade',
    'Expect',
    'proxy-authorization',
    'Proxy-Connection',
    'http2-settings',
  ];
  for (const name of taken) assert.match(faultOfHeader(name, 'v') ?? '', /cannot be set/, name);
  for (const name of ['webhooks', 'x-webhook-id', 'errand', 'content-language']) {
    assert.equal(faultOfHeader(name, 'v'), null, name);
  }
});

test('control characters in values are named, never repeated', () => {
  const bad: [string, string][] = [
    ['a\r\nx: y', 'U+000D'],
    ['a\nb', 'U+000A'],
    ['a\0b', 'U+0000'],
    ['a\tb', 'U+0009'],
    ['a\x7f', 'U+007F'],
    ['a\x85', 'U+0085'],
    ['secret-Ā', 'U+0100'],
    ['secret-😀', 'U+1F600'],
    ['secret-\ud800', 'U+D800'],
  ];
  for (const [value, named] of bad) {
    const fault = faultOfHeader('x', value) ?? '';
    assert.ok(fault.includes(named), `${JSON.stringify(value)}: ${fault}`);
    assert.doesNotMatch(fault, /secret/);
  }
  for (const value of [' a', 'a ', ' ', '\u00a0a']) assert.match(faultOfHeader('x', value) ?? '', /white space/);
  assert.match(faultOfHeader('x', 'v'.repeat(LIMITS.headerValueChars + 1)) ?? '', /4097 characters.*at most 4096/);
  for (const value of [5, null, undefined, ['a'], {}]) assert.match(faultOfHeader('x', value) ?? '', /a string/);
});

test('too many headers or one twice are refused', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'v']));
  assert.equal(faultOfHeaders(many(LIMITS.headersPerWebhook)), null);
  assert.deepEqual(faultOfHeaders(many(LIMITS.headersPerWebhook + 1)), {
    name: null,
    fault: 'are 33, but at most 32 are taken',
  });
  assert.equal(faultOfHeaders({ 'X-A': '1', 'x-a': '2' })?.name, 'x-a');
  assert.deepEqual(faultOfHeaders(JSON.parse('{"__proto__": "a\\nb"}'))?.name, '__proto__');
  assert.equal(faultOfHeaders({}), null);
});
