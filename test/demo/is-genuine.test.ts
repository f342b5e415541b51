import assert from 'node:assert/strict';
import test from 'node:test';
import { Webhook } from 'standardwebhooks';
import { isGenuine } from '../../examples/is-genuine.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = Buffer.from('{"number": 12345678901234567890}');
const MINUTES_MS = 60_000;

function signed(atMs = Date.now()): Record<string, string> {
  const timestamp = new Date(atMs);
  return {
    'webhook-id': 'abc',
    'webhook-timestamp': String(Math.floor(atMs / 1000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} ${new Webhook(SECRET).sign('abc', timestamp, BODY)}`,
  };
}

test('the verifier takes what standardwebhooks has signed', () => {
  assert.ok(isGenuine(SECRET, signed(), BODY));
});

test('the verifier refuses anything else', () => {
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  assert.ok(!isGenuine(other, signed(), BODY));
  assert.ok(!isGenuine(SECRET, signed(), Buffer.from('{}')));
  assert.ok(!isGenuine(SECRET, { ...signed(), 'webhook-id': 'abd' }, BODY));
  assert.ok(!isGenuine(SECRET, signed(Date.now() - 6 * MINUTES_MS), BODY));
  assert.ok(!isGenuine(SECRET, signed(Date.now() + 6 * MINUTES_MS), BODY));
  assert.ok(!isGenuine(SECRET, {}, BODY));
});
