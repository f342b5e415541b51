// Checks of targets look names up, too: how many threads those of one owner may occupy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTargetCheck } from '../../../../src/server/own-services.ts';
import type { ResolveName } from '../../../../src/webhook/names.ts';

const CONFIG = { databaseUrl: null, smtpUrl: null, allowTargets: [] };
const AT = () => ({ api: null, metrics: null });
const MAY = 8;

test('checks of one owner hold up no other', async () => {
  const held: PromiseWithResolvers<[]>[] = [];
  const lookup: ResolveName = (name) => {
    if (name === 'good.test') return Promise.resolve([{ address: '192.0.2.1', family: 4 }]);
    const answer = Promise.withResolvers<[]>();
    held.push(answer);
    return answer.promise;
  };
  const check = createTargetCheck(CONFIG, AT, lookup);
  const by = (ownerId: string) => ({ ownerId, namesAddresses: false });
  const dead = Array.from({ length: MAY }, (_, at) => check(`https://dead-${at}.test/`, by('u_1')));
  await assert.rejects(check('https://one-more.test/', by('u_1')), { code: 'rate_limited' });
  const { lines } = await check('https://good.test/', by('u_2'));
  assert.match(lines.at(-1) ?? '', /one forbidden address is enough/);
  assert.equal(held.length, 2);
  for (let at = 0; at < MAY; at++) {
    held[at]?.resolve([]);
    await new Promise(setImmediate);
  }
  for (const { isAllowed } of await Promise.all(dead)) assert.equal(isAllowed, false);
  assert.equal((await check('https://good.test/', by('u_1'))).isAllowed, false);
});
