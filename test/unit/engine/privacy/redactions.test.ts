// Which rules of an owner hold together.

import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REDACTION } from '../../../../src/domain/privacy/rules.ts';
import { RedactionRulesOf } from '../../../../src/engine/privacy/redactions.ts';

const rulesOf = (keys: Readonly<Record<string, string>>) => {
  const rules = new Map(Object.entries(keys).map(([id, key]) => [id, { ...NO_REDACTION, keys: [key] }]));
  const store = { redactionsOf: async () => rules };
  return new RedactionRulesOf({ store, clock: { nowMs: () => 0 } } as never).read('u_1');
};

test('what two workflows have in common is hidden by the rules of both', async () => {
  const own = await rulesOf({ p_a: 'pin', p_b: 'code' });
  const shown = (...ids: string[]) => own?.of(ids)?.text('pin=1&code=2');
  equal(shown('p_a'), 'pin=[redacted]&code=2');
  equal(shown('p_b', 'hi_1'), 'pin=1&code=[redacted]');
  equal(shown('p_a', 'p_b'), 'pin=[redacted]&code=[redacted]');
  equal(shown('p_c'), undefined);
});

test('the rules of an owner hold for every workflow', async () => {
  const own = await rulesOf({ u_1: 'pin', p_b: 'code' });
  equal(own?.of(['p_a'])?.text('pin=1&code=2'), 'pin=[redacted]&code=2');
  equal(own?.of(['p_b'])?.text('pin=1&code=2'), 'pin=[redacted]&code=[redacted]');
});
