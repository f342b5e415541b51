// The label of an endpoint's host: a name in DNS from which the key comes back.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createUrls, keyOfLabel, labelOfKey } from '../../../src/domain/endpoint.ts';
import { createIds } from '../../../src/server/real-ports.ts';

const LABEL = /^[a-z2-7]{29}$/;
const ids = createIds({ nowMs: () => 0 }, { bytes: (count) => randomBytes(count), fraction: () => 0 });

test('a key comes back from its label', () => {
  const labels = new Set<string>();
  for (let n = 0; n < 10_000; n++) {
    const key = ids.secret();
    const label = labelOfKey(key);
    assert.match(label, LABEL);
    assert.equal(keyOfLabel(label), key);
    labels.add(label);
  }
  assert.equal(labels.size, 10_000);
});

test('keys that differ in case alone differ', () => {
  const key = 'aAbBcCdDeEfFgGhHiIjJkKlL';
  const others = [key.toLowerCase(), key.toUpperCase(), `A${key.slice(1)}`];
  assert.equal(new Set([key, ...others].map(labelOfKey)).size, 4);
});

test('labels are those of RFC 4648', () => {
  // Its examples (section 10), in lower case and without padding.
  const examples = { f: 'my', fo: 'mzxq', foo: 'mzxw6', foob: 'mzxw6yq', fooba: 'mzxw6ytb', foobar: 'mzxw6ytboi' };
  for (const [bytes, label] of Object.entries(examples)) {
    const key = Buffer.from(bytes).toString('base64url');
    assert.equal(labelOfKey(key), label);
    assert.equal(keyOfLabel(label), key);
  }
});

test('a key has one label alone', () => {
  const label = labelOfKey(ids.secret());
  const last = 'abcdefghijklmnopqrstuvwxyz234567';
  const kept = [...last].filter((char) => keyOfLabel(label.slice(0, -1) + char) !== null);
  assert.equal(kept.length, 16, 'the last digit holds four bits of the key, and a zero');
});

test('what is no label has no key', () => {
  const label = labelOfKey(ids.secret());
  const wrong = ['', label.toUpperCase(), `${label}=`, `${label}a`, `-${label.slice(1)}`, 'a.b', 'ä'];
  for (const text of [...wrong, `1${label.slice(1)}`, 'a', 'abc', 'abcdef', 'a'.repeat(64), 'a'.repeat(100_000)]) {
    assert.equal(keyOfLabel(text), null, JSON.stringify(text.slice(0, 50)));
  }
});

test('addresses have a path or a host', () => {
  const key = createHash('sha256').update('a key').digest().subarray(0, 18).toString('base64url');
  const listensAt = (): string => 'http://127.0.0.1:4400';
  const plain = createUrls({ publicUrl: null, endpointHosts: null }, listensAt);
  assert.equal(plain.endpointUrl(key), `http://127.0.0.1:4400/e/${key}`);
  const behind = createUrls({ publicUrl: 'https://example.com/errand', endpointHosts: null }, listensAt);
  assert.equal(behind.endpointUrl(key), `https://example.com/errand/e/${key}`);
  const endpointHosts = { protocol: 'https:', suffix: '.hooks.example.com', port: ':8443' };
  const hosts = createUrls({ publicUrl: 'https://example.com', endpointHosts }, listensAt);
  assert.equal(hosts.endpointUrl(key), `https://${labelOfKey(key)}.hooks.example.com:8443`);
  assert.equal(new URL(hosts.endpointUrl(key)).href, `${hosts.endpointUrl(key)}/`, 'as a URL is spelled');
  assert.equal(hosts.publicUrl(), 'https://example.com');
});
