// What becomes of a source's schedule when its update fails.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_SETTINGS, type Source, type Trigger } from '../../../src/domain/resource.ts';
import { NO_OUTCOME, type RunOutcome } from '../../../src/domain/run/run.ts';
import { failedBefore } from '../../../src/engine/runs/runs.ts';
import { SourceChanges } from '../../../src/engine/sources/source-changes.ts';
import { createSources } from '../../../src/engine/sources/sources.ts';
import type { SourceWrite } from '../../../src/store/contract/resources.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { createWake, NO_PROP_STORES } from './parts.ts';

const CODE = 'export default {}';
const SOURCE: Source = {
  id: 'dc_1',
  ownerId: 'u_1',
  name: 'orders',
  active: true,
  deploymentId: 'd_1',
  settings: DEFAULT_SETTINGS,
  componentCode: CODE,
  configuredProps: { timer: { intervalSeconds: 60 } },
  dedupe: null,
  additionalProps: {},
  secretProps: [],
  createdAtMs: 0,
  updatedAtMs: 0,
};
const TICK: Trigger = {
  id: 'ti_1',
  ownerId: 'u_1',
  runnableId: 'dc_1',
  kind: 'schedule',
  createdAtMs: 0,
  key: null,
  customResponse: false,
  skippedTicks: 0,
  tokenHash: null,
  schedule: { cron: null, intervalMs: 60_000, timezone: 'UTC' },
  nextAtMs: 60_000,
};
const SUBSCRIPTION = { listenerId: 'dc_1', eventName: '', via: 'trigger' };
const clock = { nowMs: () => 60_500 };
const SUCCEEDED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'succeeded' } };

/** Updates the source, whose timer ticks while `$deactivate` runs. Returns what was written. `triggers`: those beside the timer. */
async function update(ends: { $deactivate: RunOutcome; $activate: RunOutcome }, triggers: readonly Trigger[] = []) {
  const written: SourceWrite[] = [];
  let trigger = TICK;
  const store: Partial<Store> = {
    getSource: async () => SOURCE,
    getDeployment: async () => ({ id: 'd_1', steps: [{ code: CODE }] }) as never,
    listTriggers: async () => [trigger, ...triggers],
    listTriggerSubscriptions: async () =>
      [TICK, ...triggers].map(({ id }) => ({ ...SUBSCRIPTION, id: `sub_${id}`, emitterId: id })) as never,
    updateSource: async (write) => written.push(write) > 0,
    beginSourceChange: async () => 'begun',
    endSourceChange: async () => false,
  };
  const shape = {
    type: 'source',
    name: 'orders',
    dedupe: null,
    hooks: ['activate', 'deactivate'],
    props: { timer: { type: '$.interface.timer' } },
  };
  const { wake } = createWake();
  const sources = createSources({
    store: store as Store,
    clock,
    ids: { next: (prefix) => `${prefix}1`, secret: () => '' },
    runner: { describe: async () => ({ ok: true, shape }), retire: () => undefined } as never,
    emit: (async ({ name }: { name: string }) => {
      if (name === '$deactivate') trigger = { ...TICK, nextAtMs: 120_000 };
      return { ended: Promise.resolve(ends[name as keyof typeof ends]) };
    }) as never,
    waiters: {} as never,
    propStores: NO_PROP_STORES,
    changes: new SourceChanges({ store: store as Store, wake }),
    lastHooks: { run: async () => false },
    warm: () => undefined,
    wake,
  });
  await assert.rejects(sources.updateSource('u_1', 'dc_1', { name: 'other' }), { code: 'impossible' });
  return written;
}

test('a tick that fired during an update stays fired', async () => {
  const written = await update({ $deactivate: SUCCEEDED, $activate: failedBefore('Error', 'no', clock) });
  assert.deepEqual(
    written.map(({ source, triggers }) => [source.name, triggers[0]?.nextAtMs]),
    [
      ['other', null],
      ['orders', null],
      ['orders', 120_000],
    ],
  );
});

test('a tick that fires as a source begins to leave, or stays, is not undone', async () => {
  const address: Trigger = { ...TICK, id: 'hi_1', kind: 'http', key: 'k', schedule: null, nextAtMs: null };
  const ends = { $deactivate: failedBefore('Error', 'no', clock), $activate: SUCCEEDED };
  const written = await update(ends, [address]);
  assert.deepEqual(
    written.map(({ source, keepsTriggers, goesOn }) => [source.name, source.settings.inHooks, keepsTriggers, goesOn]),
    [
      ['orders', 'leaving', true, true],
      ['orders', false, true, false],
    ],
  );
});
