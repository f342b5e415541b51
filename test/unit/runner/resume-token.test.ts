import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { isResumeToken, resumeKeyOf, resumeToken } from '../../../src/runner/resume-token.ts';

const MASTER = Buffer.alloc(32, 7);
const KEY = resumeKeyOf(MASTER, 'd_1');

test('a token is 22 characters for an address', () => {
  const token = resumeToken(KEY, 1_234_567, 3);
  assert.match(token, /^[\w-]{22}$/);
  const mac = createHmac('sha256', Buffer.from(KEY, 'hex')).update('1234567:3').digest('base64url');
  assert.equal(token, mac.slice(0, 22));
});

test('deployment, run and wait each change the token', () => {
  const tokens = [
    resumeToken(KEY, 12, 3),
    resumeToken(KEY, 1, 23),
    resumeToken(KEY, 12, 4),
    resumeToken(resumeKeyOf(MASTER, 'd_2'), 12, 3),
    resumeToken(resumeKeyOf(Buffer.alloc(32, 8), 'd_1'), 12, 3),
  ];
  assert.equal(new Set(tokens).size, tokens.length);
});

test('only the right token passes', () => {
  const right = resumeToken(KEY, 12, 3);
  assert.equal(isResumeToken(right, right), true);
  for (const wrong of ['', right.slice(1), `${right}A`, `é${right.slice(2)}`, resumeToken(KEY, 12, 4)]) {
    assert.equal(isResumeToken(wrong, right), false, wrong);
  }
});
