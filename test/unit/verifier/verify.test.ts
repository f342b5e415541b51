import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../../src/verifier/verify.ts';
import { ACCEPTED, EMPTY_SECRETS, headersOf, REJECTED, SIGNED, type Vector } from '../webhook/vectors.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

test('Published good requests are accepted', () => {
  assert.ok(ACCEPTED.length >= 6);
  for (const vector of ACCEPTED) assert.ok(verified(vector).ok, vector.name);
});

test('Published bad requests are rejected', () => {
  assert.ok(REJECTED.length >= 18);
  for (const vector of REJECTED) assert.equal(verified(vector).ok, false, vector.name);
});

test('Every published signature verifies, ed25519 too', () => {
  // The public key is published with the first vector of that private key.
  const publicKey = SIGNED.find(({ public_key }) => public_key)?.public_key ?? '';
  for (const vector of SIGNED) {
    const signed = { ...vector, webhook_signature: vector.expect, now: Number(vector.webhook_timestamp) };
    const keys = [...(vector.secrets ?? []), vector.secret, vector.private_key && publicKey].filter((key) => !!key);
    for (const secrets of keys as string[]) assert.ok(verified({ ...signed, secrets: [secrets] }).ok, vector.name);
  }
});

test('A signature under the name of another scheme is refused', () => {
  const publicKey = SIGNED.find(({ public_key }) => public_key)?.public_key ?? '';
  const renamed = SIGNED.flatMap((vector) =>
    vector.expect.split(' ').map((entry) => {
      const [version, signature] = entry.split(',');
      const secrets = [version === 'v1a' ? publicKey : (vector.secret ?? vector.secrets?.[0] ?? '')];
      const signed = { ...vector, secrets, secret: undefined, now: Number(vector.webhook_timestamp) };
      return { signed, version, signature };
    }),
  );
  assert.deepEqual([...new Set(renamed.map(({ version }) => version))].toSorted(), ['v1', 'v1a']);
  for (const { signed, version, signature } of renamed) {
    for (const other of [version === 'v1' ? 'v1a' : 'v1', 'v2', '', `${version} `]) {
      assert.equal(
        verified({ ...signed, webhook_signature: `${other},${signature}` }).ok,
        false,
        `${version} as ${other}`,
      );
    }
  }
});

test('An empty or malformed secret throws', () => {
  for (const secret of [...EMPTY_SECRETS, [], ['whsec_'], 'whpk_', 'whpk_AAAA']) {
    const options = { secrets: secret as string, headers: {}, body: '', nowMs: 0 };
    assert.throws(() => verifyWebhook(options), /secret|key/, String(secret));
  }
});

test("The sender's private key is refused, unquoted", () => {
  const secrets = SIGNED.find(({ private_key }) => private_key)?.private_key ?? '';
  const verify = () => verifyWebhook({ secrets, headers: {}, body: '' });
  assert.throws(verify, (error: Error) => /whpk_/.test(error.message) && !error.message.includes(secrets.slice(5, 20)));
});

test('A body that was parsed before throws', () => {
  const body = { a: 1 } as unknown as string;
  assert.throws(() => verifyWebhook({ secrets: SECRET, headers: {}, body }), /bytes as they came/);
});

test('Malformed requests are 400, unproven ones 401', () => {
  const signature = new Webhook(SECRET).sign('a', new Date(1000_000), '{}');
  const headers = { 'webhook-id': 'a', 'webhook-timestamp': '1000', 'webhook-signature': signature };
  const statusOf = (changed: Record<string, string | undefined>, nowMs = 1000_000): number => {
    const verified = verifyWebhook({ secrets: SECRET, headers: { ...headers, ...changed }, body: '{}', nowMs });
    return verified.ok ? 200 : verified.status;
  };
  assert.equal(statusOf({}), 200);
  assert.equal(statusOf({ 'webhook-id': undefined }), 400);
  assert.equal(statusOf({ 'webhook-id': 'a.b' }), 400);
  assert.equal(statusOf({ 'webhook-timestamp': '1e3' }), 400);
  assert.equal(statusOf({ 'webhook-signature': 'v1,AAAA' }), 401);
  assert.equal(statusOf({}, 2000_000), 401);
});

test('The present is the time by default', () => {
  const sent = (at: Date) => ({
    'webhook-id': 'a',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('a', at, '{}'),
  });
  assert.ok(verifyWebhook({ secrets: SECRET, headers: sent(new Date()), body: '{}' }).ok);
  assert.ok(!verifyWebhook({ secrets: SECRET, headers: sent(new Date(1000_000)), body: '{}' }).ok);
});

test('What the independent library signs is accepted', () => {
  fc.assert(
    fc.property(fc.json(), fc.boolean(), (body, asBytes) => {
      const nowMs = 1_700_000_000_500;
      const signature = new Webhook(SECRET).sign('emit1', new Date(nowMs), body);
      const headers = new Headers({
        'Webhook-Id': 'emit1',
        'Webhook-Timestamp': '1700000000',
        'Webhook-Signature': signature,
      });
      const given = { secrets: SECRET, headers, body: asBytes ? Buffer.from(body) : body, nowMs };
      assert.deepEqual(verifyWebhook(given), { ok: true, id: 'emit1', timestampS: 1_700_000_000 });
      assert.equal(verifyWebhook({ ...given, body: `${body} ` }).ok, false);
    }),
  );
});

test('Headers given twice are rejected', () => {
  const signature = new Webhook(SECRET).sign('a', new Date(1000_000), '{}');
  const headers = { 'webhook-id': 'a', 'webhook-timestamp': '1000', 'webhook-signature': [signature] };
  const given = { secrets: [SECRET], body: '{}', nowMs: 1000_000 };
  assert.ok(verifyWebhook({ ...given, headers }).ok);
  assert.equal(verifyWebhook({ ...given, headers: { ...headers, 'webhook-id': ['a', 'a'] } }).ok, false);
  assert.equal(verifyWebhook({ ...given, headers: { ...headers, 'Webhook-Id': 'a' } }).ok, false);
});

test('The tolerance can be narrowed', () => {
  const signature = new Webhook(SECRET).sign('a', new Date(1000_000), '{}');
  const headers = { 'webhook-id': 'a', 'webhook-timestamp': '1000', 'webhook-signature': signature };
  const given = { secrets: SECRET, headers, body: '{}', toleranceS: 10 };
  assert.ok(verifyWebhook({ ...given, nowMs: 1010_999 }).ok);
  assert.equal(verifyWebhook({ ...given, nowMs: 1011_000 }).ok, false);
});

function verified(vector: Vector) {
  const secrets = vector.secrets ?? [vector.public_key ?? vector.secret ?? ''];
  return verifyWebhook({ secrets, headers: headersOf(vector), body: vector.body, nowMs: Number(vector.now) * 1000 });
}
