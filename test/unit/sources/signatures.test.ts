// The signatures that sources of ours check, with what their makers publish.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ACCEPTED, EMPTY_SECRETS, headersOf, REJECTED, SIGNED, type Vector } from '../webhook/vectors.ts';

// Under names that the compiler does not look into: sources are JavaScript.
const OURS = '../../../sources';
const { faultOf: githubFault } = await import(`${OURS}/github-webhook/signature.mjs`);
const { faultOf: stripeFault } = await import(`${OURS}/stripe-webhook/signature.mjs`);
const { faultOf: standardFault, keysOf } = await import(`${OURS}/standard-webhook/signature.mjs`);
const { isWanted } = await import(`${OURS}/common/signed.mjs`);
const { parseExact } = await import(`${OURS}/common/exact-json.mjs`);

const file = new URL('../../data/webhook-signature-vectors.json', import.meta.url);
const { github, stripe } = JSON.parse(readFileSync(file, 'utf8'));

test('the signature that GitHub publishes is right', () => {
  const { secret, body, x_hub_signature_256: header } = github;
  const given = { bytes: Buffer.from(body), header, secret };
  assert.equal(githubFault(given), null);
  assert.equal(githubFault({ ...given, header: header.toUpperCase().replace('SHA', 'sha') }), null);
  const sha1 = `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`;
  const wrong = [
    undefined,
    '',
    'sha256=',
    header.slice(7),
    header.slice(0, -1),
    header.slice(0, -2),
    `${header}00`,
    sha1,
  ];
  for (const each of wrong) assert.equal(typeof githubFault({ ...given, header: each }), 'string', each);
  assert.match(githubFault({ ...given, secret: `${secret}.` }), /does not match/);
  assert.match(githubFault({ ...given, bytes: Buffer.from(`${body}\n`) }), /does not match/);
});

test('the signature that Stripe publishes is right', () => {
  const { secret, body, timestamp, stripe_signature: header, malformed } = stripe;
  const given = { bytes: Buffer.from(body), header, secret, arrivedMs: timestamp * 1000 };
  assert.equal(stripeFault(given), null);
  const [, v1 = ''] = header.split(',');
  const others = `t=${timestamp},v1=${'0'.repeat(64)}, ${v1},v1=zz`;
  assert.equal(stripeFault({ ...given, header: others }), null);
  for (const each of [-300, 300]) assert.equal(stripeFault({ ...given, arrivedMs: (timestamp + each) * 1000 }), null);
  for (const each of [-301, 301]) {
    assert.match(stripeFault({ ...given, arrivedMs: (timestamp + each) * 1000 }), /300 seconds/);
  }
  const wrong = [undefined, header.replace('v1=', 'v2='), `${header},t=1`, `t=${timestamp}`, ...malformed];
  for (const each of wrong) assert.equal(typeof stripeFault({ ...given, header: each }), 'string', each);
  assert.match(stripeFault({ ...given, header: header.replace('t=1', 't=2') }), /no signature/);
  assert.match(stripeFault({ ...given, bytes: Buffer.from(body.trimEnd()) }), /no signature/);
});

test('what Standard Webhooks publish is judged right', () => {
  for (const vector of ACCEPTED) assert.equal(standard(vector), null, vector.name);
  for (const vector of REJECTED) assert.ok(standard(vector), vector.name);
  const publicKey = SIGNED.find(({ public_key: key }) => key)?.public_key ?? '';
  for (const vector of SIGNED) {
    const signed = { ...vector, webhook_signature: vector.expect, now: Number(vector.webhook_timestamp) };
    const keys = [...(vector.secrets ?? []), vector.secret, vector.private_key && publicKey].filter((key) => !!key);
    for (const key of keys as string[]) assert.equal(standard({ ...signed, secrets: [key] }), null, vector.name);
    const all = ['whsec_AAAA', ...(keys as string[]), publicKey];
    assert.equal(standard({ ...signed, secrets: all }), null, vector.name);
  }
  const privateKey = SIGNED.find(({ private_key: key }) => key)?.private_key ?? '';
  for (const secret of [...EMPTY_SECRETS.map((each) => each ?? ''), 'whsec_', 'whpk_AAAA', 'not base64!', privateKey]) {
    assert.throws(
      () => keysOf([secret]),
      ({ message }: Error) => secret.length < 8 || !message.includes(secret),
    );
  }
});

test('numbers are passed on as they came', () => {
  const text = '{"id":12345678901234567890,"price":1.0,"n":7,"list":[1e3,"1.0"],"__proto__":1}';
  assert.equal(JSON.stringify(parseExact(text)), text);
  for (const none of ['', 'x', '{"a":}']) assert.equal(parseExact(none), undefined);
});

test('types are wanted by name or beginning', () => {
  for (const all of [undefined, []]) assert.ok(isWanted('invoice.paid', all));
  for (const some of [['invoice.paid'], ['x', 'invoice.*'], ['*']]) assert.ok(isWanted('invoice.paid', some));
  for (const none of [['invoice'], ['invoice.p'], ['customer.*']]) assert.ok(!isWanted('invoice.paid', none));
  assert.ok(!isWanted(undefined, ['a']));
});

function standard(vector: Vector) {
  const keys = keysOf(vector.secrets ?? [vector.public_key ?? vector.secret ?? '']);
  const named = Object.entries(headersOf(vector)).map(([name, value]) => [name.toLowerCase(), value]);
  const headers = Object.fromEntries(named);
  return standardFault({ bytes: Buffer.from(vector.body), headers, keys, arrivedMs: Number(vector.now) * 1000 });
}

test('an id with a dot is refused, though it was signed so', () => {
  const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const signed = (id: string) => {
    const [timestamp, body] = ['1700000000', '{"type":"a"}'];
    const mac = createHmac('sha256', Buffer.alloc(24, 1)).update(`${id}.${timestamp}.${body}`).digest('base64');
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
    return standardFault({ bytes: Buffer.from(body), headers, keys: keysOf([secret]), arrivedMs: 1_700_000_000_000 });
  };
  assert.equal(signed('msg_1'), null);
  assert.deepEqual(signed('msg.1'), { status: 400, reason: 'the webhook-id contains a dot' });
});
