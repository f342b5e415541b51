import assert from 'node:assert/strict';
import { test } from 'node:test';
import { similarNames } from '../../../src/engine/components/suggestions.ts';

test('the likest names come first', () => {
  const names = [
    'shop/sources/new-order.mjs',
    'shop/shop.app.mjs',
    'mail/sources/new-mail.mjs',
    'a.mjs',
    'b.mjs',
    'c.mjs',
  ];
  assert.equal(similarNames(names, 'shop/source/new-orders.mjs')[0], 'shop/sources/new-order.mjs');
  assert.equal(similarNames(names, 'new-mail.mjs')[0], 'mail/sources/new-mail.mjs');
  assert.equal(similarNames(names, 'x').length, 5);
  assert.deepEqual(similarNames([], 'x'), []);
});

test('of very many the right one is found', () => {
  const many = Array.from({ length: 50_000 }, (_, i) => `app${i}/sources/other/other.mjs`);
  assert.equal(
    similarNames([...many, 'app7/sources/new/new.mjs'], 'app7/sources/new/nwe.mjs')[0],
    'app7/sources/new/new.mjs',
  );
});
