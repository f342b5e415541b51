// What becomes of a run that triggers workflows which are not there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { type ClaimedRun, NO_OUTCOME, type RunOutcome } from '../../../../src/domain/run/run.ts';
import { checkTargets } from '../../../../src/engine/runs/trigger-targets.ts';

const RUN = { runnable: { ownerId: 'u_1' } } as ClaimedRun;
const deps = { store: { exists: async () => false }, clock: { nowMs: () => 0 } };

function triggering(count: number): RunOutcome {
  const outgoing = Array.from({ length: count }, (_, at) => ({
    kind: 'trigger' as const,
    name: `p_${String(at).padStart(16, '0')}`,
    body: Buffer.from('{}'),
    summary: null,
    itemId: null,
    itemTs: null,
  }));
  return { ...NO_OUTCOME, end: { kind: 'succeeded' }, outgoing };
}

async function messageOf(count: number): Promise<string> {
  const { outcome } = await checkTargets(deps, RUN, triggering(count));
  assert.ok(outcome.end.kind === 'failed');
  assert.deepEqual([outcome.outgoing.length, outcome.logs.map(({ text }) => text)], [0, [outcome.end.fault.msg]]);
  return outcome.end.fault.msg;
}

test('each missing target is named', async () => {
  assert.match(await messageOf(2), /there is no workflow p_0000000000000000, p_0000000000000001$/);
});

test('the message stays short with ten thousand targets', async () => {
  const msg = await messageOf(LIMITS.emissionsPerRun);
  assert.ok(msg.length < LIMITS.messageBytes / 8, `${msg.length} characters`);
  assert.match(msg, /p_0000000000000009 and 9990 others$/);
});
