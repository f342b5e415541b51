import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../../../src/webhook/cidr.ts';
import { CARRIERS, FORBIDDEN, METADATA, METADATA_NAMES, PUBLIC_IPV6 } from '../../../src/webhook/ranges.ts';
import published from '../../data/ssrf-ranges.json' with { type: 'json' };

test('The table holds every published range', () => {
  const ours = new Set(FORBIDDEN.map(({ cidr, why }) => `${cidr} ${why}`));
  assert.deepEqual(
    published.ranges.filter(({ cidr, why }) => !ours.has(`${cidr} ${why}`)),
    [],
  );
});

test('The table holds nothing but published ranges', () => {
  const theirs = new Set(published.ranges.map(({ cidr, why }) => `${cidr} ${why}`));
  assert.deepEqual(
    FORBIDDEN.filter(({ cidr, why }) => !theirs.has(`${cidr} ${why}`)),
    [],
  );
  assert.equal(FORBIDDEN.length, published.ranges.length);
});

test('The metadata services are those that are published', () => {
  assert.deepEqual(METADATA, published.metadata);
  assert.deepEqual([...METADATA_NAMES.keys()], published.metadata_names);
});

test('Every range and carrier is a CIDR', () => {
  for (const cidr of [...FORBIDDEN, ...CARRIERS].map((row) => row.cidr)) parseCidr(cidr);
  parseCidr(PUBLIC_IPV6);
});
