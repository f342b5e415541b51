import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { utf8 } from '../../../src/domain/bytes.ts';
import { type Emission, ERRORS, type NewEmission, PLAIN_EMISSION } from '../../../src/domain/emission.ts';
import { emittedBy, failureOfRun } from '../../../src/domain/failure.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import {
  DEFAULT_SETTINGS,
  DEFAULT_WEBHOOK_SETTINGS,
  type Runnable,
  type Subscription,
  type Webhook,
} from '../../../src/domain/resource.ts';
import { coveringEmitters, hears, isWildcard, type RouteTable, route } from '../../../src/domain/route.ts';

const OWNER = 'u_o';
const LISTENERS = ['p_a', 'p_b', 'p_c', 'p_global', 'dc_a', 'wh_a', 'wh_off', 'p_off', 'p_gone'];
const NAMES = ['', 'orders', ERRORS, '$logs', 'x*'];
const EVENT_NAMES = [...NAMES, '*'];

const runnable = (id: string): Runnable => ({
  id,
  ownerId: OWNER,
  name: id,
  active: !id.endsWith('_off'),
  deploymentId: 'd_1',
  settings: DEFAULT_SETTINGS,
});
const webhook = (id: string): Webhook => ({
  id,
  ownerId: OWNER,
  url: 'https://example.com',
  name: null,
  description: null,
  active: id !== 'wh_off',
  settings: DEFAULT_WEBHOOK_SETTINGS,
  secrets: [],
  createdAtMs: 0,
  updatedAtMs: 0,
});

const emitters = fc.constantFrom('p_a', 'p_b', 'p_global', 'dc_a', 'wh_a', 'hi_a', 'ti_a');
const emissions: fc.Arbitrary<NewEmission> = fc
  .record({
    emitterId: emitters,
    name: fc.constantFrom(...NAMES),
    lineage: fc.uniqueArray(fc.constantFrom(...LISTENERS), { maxLength: 6 }),
    hops: fc.integer({ min: 0, max: LIMITS.errorHops + 2 }),
  })
  .map((some) => ({
    ...PLAIN_EMISSION,
    ...some,
    ownerId: OWNER,
    originId: some.emitterId,
    sourceType: 'SOURCE' as const,
    body: utf8('1'),
  }));

const wanted = fc.array(
  fc.record({
    emitterId: fc.constantFrom('p_a', 'p_b', 'dc_a', 'wh_a', 'hi_a', 'p_*', 'dc_*', '*', OWNER),
    listenerId: fc.constantFrom(...LISTENERS),
    eventName: fc.constantFrom(...EVENT_NAMES),
    via: fc.constantFrom('trigger' as const, 'subscription' as const),
  }),
  { maxLength: 14 },
);

/** The table that a store would read for this emitter. */
function tableFor(
  emission: NewEmission,
  all: readonly Omit<Subscription, 'id'>[],
  { notify, isFallback = false }: { notify: boolean; isFallback?: boolean },
): RouteTable {
  const subscriptions = coveringEmitters(emission.emitterId, OWNER).flatMap((covering) =>
    all.flatMap((s, i) => (s.emitterId === covering ? [{ ...s, id: `sub_${i}` }] : [])),
  );
  return {
    subscriptions,
    runnables: { get: (id) => (/^(p|dc)_/.test(id) && id !== 'p_gone' ? runnable(id) : undefined) },
    webhooks: { get: (id) => (id.startsWith('wh_') ? webhook(id) : undefined) },
    globalWorkflow: runnable('p_global'),
    notify,
    isFallback,
  };
}

const idOf = (target: ReturnType<typeof route>['targets'][number]): string =>
  target.kind === 'run' ? target.runnable.id : target.kind === 'webhook' ? target.webhook.id : 'mail';

const cases = fc
  .record({ emission: emissions, wanted, notify: fc.boolean(), isFallback: fc.boolean() })
  .map(({ emission, wanted: all, ...settings }) => {
    const made = all.map((s) => ({ ...s, ownerId: OWNER, active: true, createdAtMs: 0, filter: null }));
    const table = tableFor(emission, made, settings);
    return { emission, table, routed: route(emission, table) };
  });

test('each listener is reached at most once', () => {
  fc.assert(
    fc.property(cases, ({ routed }) => {
      const ids = routed.targets.map(idOf);
      assert.equal(new Set(ids).size, ids.length);
    }),
  );
});

test('whoever hears is told, or withheld with a reason', () => {
  fc.assert(
    fc.property(cases, ({ emission, table, routed }) => {
      const told = new Set([...routed.targets.map(idOf), ...routed.withheld.map((w) => w.listenerId)]);
      const hearing = table.subscriptions.filter((s) => hears(s.eventName, emission.name));
      const there = hearing.filter((s) => s.listenerId !== 'p_gone');
      for (const { listenerId } of there) assert.ok(told.has(listenerId), `${listenerId} was forgotten`);
      const allowed = new Set([...hearing.map((s) => s.listenerId), ...(emission.name === ERRORS ? ['p_global'] : [])]);
      for (const id of told) assert.ok(allowed.has(id), `${id} does not hear this`);
      for (const { reason } of routed.withheld) assert.ok(reason.length > 10);
    }),
  );
});

test('an error never returns to its own lineage', () => {
  fc.assert(
    fc.property(cases, ({ emission, routed }) => {
      if (emission.name !== ERRORS) return;
      for (const target of routed.targets) assert.ok(!emission.lineage.includes(idOf(target)));
      const isFar = emission.hops > LIMITS.errorHops;
      for (const target of routed.targets) assert.ok(!isFar || target.via === 'global');
    }),
  );
});

test('a wildcard never closes a circle', () => {
  fc.assert(
    fc.property(cases, ({ emission, table, routed }) => {
      for (const target of routed.targets) {
        const id = idOf(target);
        const own = table.subscriptions.filter((s) => s.listenerId === id && hears(s.eventName, emission.name));
        const isNamed = own.some((s) => !isWildcard(s.emitterId));
        if (!isNamed && target.via !== 'global') assert.ok(!emission.lineage.includes(id));
      }
    }),
  );
});

test('names with a dollar are heard by name alone', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (eventName, name) => {
      const expected = eventName === '*' ? !name.startsWith('$') : eventName === name;
      assert.equal(hears(eventName, name), expected);
      assert.equal(hears('*', `$${name}`), false);
      assert.equal(hears('', `$${name}`), false);
    }),
  );
});

test('lineage names each run on the way once, newest last', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('p_a', 'p_b', 'p_c', 'dc_a'), fc.boolean()), { maxLength: 40 }),
      (way) => {
        let emission: Emission = {
          ...PLAIN_EMISSION,
          ownerId: OWNER,
          emitterId: 'hi_a',
          originId: 'hi_a',
          sourceType: 'HTTP',
          body: utf8('{"n":1}'),
          entry: 1024,
          emitId: 'first',
          traceId: 'trace',
        };
        const fault = { code: 'X', msg: 'x', cellId: 'c_1', namespace: 's', tsMs: 0, stack: '' };
        way.forEach(([id, fails], i) => {
          const run = { emission, runnable: runnable(id), run: i, attempt: 1 };
          const made = fails ? failureOfRun(run, fault) : emittedBy(run, '', emission.body);
          assert.equal(made.hops, i + 1);
          assert.equal(made.traceId, 'trace');
          assert.equal(made.lineage.at(-1), id);
          assert.equal(new Set(made.lineage).size, made.lineage.length);
          emission = { ...made, body: utf8('{"n":1}'), entry: 1024 + i, emitId: `e${i}`, traceId: 'trace' };
        });
        assert.deepEqual(new Set(emission.lineage), new Set(way.map(([id]) => id)));
      },
    ),
  );
});

test('the owner’s own id is a wildcard to the loop guard', () => {
  const emission: NewEmission = {
    ...PLAIN_EMISSION,
    ownerId: OWNER,
    emitterId: 'p_a',
    originId: 'p_a',
    sourceType: 'SOURCE',
    body: utf8('1'),
    lineage: ['p_b'],
  };
  const heardBy = (emitterId: string) =>
    route(
      emission,
      tableFor(
        emission,
        [
          {
            emitterId,
            listenerId: 'p_b',
            eventName: '',
            via: 'subscription',
            ownerId: OWNER,
            filter: null,
            active: true,
            createdAtMs: 0,
          },
        ],
        { notify: false },
      ),
    );
  for (const wildcard of [OWNER, '*', 'p_*']) {
    const { targets, withheld } = heardBy(wildcard);
    assert.deepEqual(targets, [], wildcard);
    assert.match(withheld[0]?.reason ?? '', /^loop: /, wildcard);
  }
  assert.deepEqual(heardBy('p_a').targets.map(idOf), ['p_b'], 'by name it was asked for');
});

test('a lineage keeps the newest 64 listeners', () => {
  const before = Array.from({ length: 64 }, (_, i) => `p_${i}`);
  const emission: Emission = {
    ...PLAIN_EMISSION,
    ownerId: OWNER,
    emitterId: 'hi_a',
    originId: 'hi_a',
    sourceType: 'HTTP',
    body: utf8('1'),
    entry: 1024,
    emitId: 'first',
    traceId: 'trace',
    lineage: before,
  };
  const fault = { code: 'X', msg: 'x', cellId: 'c_1', namespace: 's', tsMs: 0, stack: '' };
  const run = { emission, runnable: runnable('p_new'), run: 1, attempt: 1 };
  const kept = [...before.slice(1), 'p_new'];
  assert.equal(kept.length, 64);
  assert.deepEqual(emittedBy(run, '', emission.body).lineage, kept);
  assert.deepEqual(failureOfRun(run, fault).lineage, kept);
});
