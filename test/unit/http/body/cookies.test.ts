// Cookies: what an endpoint's event shows of those that a browser sends, and for what those of an answer are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundToEndpoint, cookiePathOf } from '../../../../src/http/ingress/set-cookie.ts';
import { withoutSessions } from '../../../../src/http/session/session-cookie.ts';

test('sessions are taken out of the cookies', () => {
  const cases = [
    ['a=1; b=2', 'a=1; b=2'],
    ['errand-session-4400=x', undefined],
    ['__Host-errand-session=x', undefined],
    ['a=1; errand-session-4400=x; b="2;3', 'a=1; b="2;3'],
    ['errand-session-1=x;a=1;  errand-session-2=y;__Host-errand-session=z', 'a=1'],
    ['errand-session-4400', undefined],
    [' errand-session-4400 = x', undefined],
    [
      'my-errand-session=1; errand-session=2; errand-session-x=3',
      'my-errand-session=1; errand-session=2; errand-session-x=3',
    ],
    ['a=errand-session-4400', 'a=errand-session-4400'],
  ] as const;
  for (const [given, left] of cases) assert.equal(withoutSessions(given), left, given);
});

test('a cookie is for the endpoint that sets it', () => {
  const cases = [
    ['a=1', 'a=1; Path=/e/key'],
    ['a=1; Path=/', 'a=1; Path=/e/key'],
    ['a=1; Path=/cart; HttpOnly', 'a=1; HttpOnly; Path=/e/key/cart'],
    ['a=1; Path=/e/key', 'a=1; Path=/e/key'],
    ['a=1; path = /e/key/cart', 'a=1; Path=/e/key/cart'],
    ['a=1; Path=/e/key2', 'a=1; Path=/e/key/e/key2'],
    ['a=1; Path=relative', 'a=1; Path=/e/key'],
    ['a=1; Path', 'a=1; Path=/e/key'],
    ['a=1; PATH=/e/key/b; Path=/v1; Domain=example.com; domain=.com', 'a=1; Path=/e/key/v1'],
    ['a="x, y"; Expires=Wed, 21 Oct 2037 07:28:00 GMT', 'a="x, y"; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/e/key'],
  ] as const;
  for (const [given, sent] of cases) assert.equal(boundToEndpoint(given, '/e/key'), sent, given);
});

test('on a host of its own a cookie keeps its path', () => {
  assert.equal(boundToEndpoint('a=1', ''), 'a=1');
  assert.equal(boundToEndpoint('a=1; Path=/cart; Domain=hooks.example.com', ''), 'a=1; Path=/cart');
});

test('the path of an endpoint is that of its address', () => {
  const place = { key: 'key', pathStart: 6, baseUrl: 'https://example.com' };
  assert.equal(cookiePathOf('/e/key/cart?a=/', place), '/e/key');
  assert.equal(cookiePathOf('/e/key', { ...place, baseUrl: 'https://example.com/errand' }), '/errand/e/key');
  assert.equal(cookiePathOf('/cart', { ...place, pathStart: 0 }), '');
});
