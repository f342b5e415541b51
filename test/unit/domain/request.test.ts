import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { text, utf8 } from '../../../src/domain/bytes.ts';
import { hiddenBody, originOfListener, requestListener, titleOf } from '../../../src/domain/delivery/http-request.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { nextVersion } from '../../../src/domain/requests.ts';

test('each change makes a later version, whatever the clock says', () => {
  for (const [nowMs, version] of [
    [9, 9],
    [5, 6],
    [3, 6],
  ] as const) {
    equal(nextVersion({ updatedAtMs: 5 }, nowMs), version);
  }
});

const asked = (url: string, more: object = {}) => ({ method: 'POST', url, headers: {}, ...more });

test('a listener is one of owner and origin', () => {
  const origins: readonly (readonly [string, string])[] = [
    ['https://a.example/x?y', 'https://a.example:443'],
    ['http://a.example', 'http://a.example:80'],
    ['http://a.example:8080/', 'http://a.example:8080'],
    ['http://[::1]:81/', 'http://[::1]:81'],
  ];
  for (const [url, origin] of origins) {
    const listener = requestListener('u_1', asked(url));
    equal(listener, `http:u_1:${origin}`);
    equal(originOfListener(listener), origin);
    ok(requestListener('u_2', asked(url)) !== listener);
  }
  for (const other of ['mail', 'wh_1', 'p_1']) equal(originOfListener(other), null);
});

test('a listener is never longer than names are', () => {
  const url = `https://${'a.'.repeat(3000)}example/`;
  ok(requestListener('u_1', asked(url)).length < LIMITS.hostChars + 40);
  ok(titleOf(asked(url)).length < LIMITS.hostChars + 40);
});

test('what may be a credential is hidden', () => {
  const shown = (request: object): unknown => JSON.parse(text(hiddenBody(utf8(JSON.stringify(request)))));
  deepEqual(shown(asked('https://a.example/')), { method: 'POST', url: 'https://a.example/', headers: {} });
  deepEqual(shown(asked('https://a.example/?k=1', { body: '' })), {
    method: 'POST',
    url: 'https://a.example/(hidden)',
    headers: {},
    body: '(hidden)',
  });
  deepEqual(shown(asked('https://a.example/T0/B1', { headers: { cookie: 'a' }, body: { $base64: 'AA==' } })), {
    method: 'POST',
    url: 'https://a.example/(hidden)',
    headers: { cookie: '(hidden)' },
    body: '(hidden)',
  });
});
