// Who hears an emission, case by case: what is expected stands here as it is, and not as the code works it out.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { utf8 } from '../../../src/domain/bytes.ts';
import { ERRORS, type NewEmission, PLAIN_EMISSION } from '../../../src/domain/emission.ts';
import { emittedBy, failureOfRun } from '../../../src/domain/failure.ts';
import type { EventFilter } from '../../../src/domain/filter/event-filter.ts';
import { DEFAULT_SETTINGS, type Runnable, type Subscription } from '../../../src/domain/resource.ts';
import { coveringEmitters, isWildcard, route } from '../../../src/domain/route.ts';

const OWNER = 'u_o';
const GLOBAL = 'p_global';

function runnable(id: string, active = true): Runnable {
  return { id, ownerId: OWNER, name: id, active, deploymentId: 'd_1', settings: DEFAULT_SETTINGS };
}

const emission = (more: Partial<NewEmission>): NewEmission => ({
  ...PLAIN_EMISSION,
  ownerId: OWNER,
  emitterId: 'p_a',
  originId: 'p_a',
  sourceType: 'HTTP',
  body: utf8('1'),
  ...more,
});

interface Of {
  /** Emitter and listener of each subscription; all to `event`. */
  readonly subscribed?: readonly (readonly [emitterId: string, listenerId: string, filter?: EventFilter])[];
  readonly event?: string;
  readonly inactive?: readonly string[];
  readonly notify?: boolean;
  readonly isFallback?: boolean;
}

/** Listeners that get it, and those that it is held back from. */
function heard(of: NewEmission, { subscribed = [], event = '', inactive = [], notify = true, isFallback = false }: Of) {
  const subscriptions = subscribed.map(
    ([emitterId, listenerId, filter = null], i): Subscription => ({
      id: `sub_${i}`,
      ownerId: OWNER,
      emitterId,
      listenerId,
      eventName: event,
      filter,
      via: 'subscription',
      active: true,
      createdAtMs: 0,
    }),
  );
  const { targets, withheld } = route(of, {
    subscriptions,
    runnables: { get: (id) => runnable(id, !inactive.includes(id)) },
    webhooks: { get: () => undefined },
    globalWorkflow: runnable(GLOBAL, !inactive.includes(GLOBAL)),
    notify,
    isFallback,
  });
  return {
    runs: targets.map((target) => (target.kind === 'run' ? target.runnable.id : target.kind)),
    withheld: withheld.map(({ listenerId }) => listenerId),
  };
}

describe('emitters that cover another', () => {
  it('are its kind, all, and the owner', () => {
    deepEqual(coveringEmitters('p_a', OWNER), ['p_a', 'p_*', '*', OWNER]);
    deepEqual(coveringEmitters('dc_a', OWNER), ['dc_a', 'dc_*', '*', OWNER]);
    deepEqual(coveringEmitters('wh_a', OWNER), ['wh_a', '*', OWNER]);
  });

  it('of a trigger are itself alone', () => {
    deepEqual(coveringEmitters('hi_a', OWNER), ['hi_a']);
    deepEqual(coveringEmitters('ti_a', OWNER), ['ti_a']);
  });

  it('are wildcards but for the emitter itself', () => {
    deepEqual(['p_a', 'p_*', 'dc_*', '*', OWNER].map(isWildcard), [false, true, true, true, true]);
  });
});

describe('a listener', () => {
  it('hears once by several subscriptions', () => {
    const subscribed = [
      ['p_a', 'p_b'],
      ['p_*', 'p_b'],
      [OWNER, 'p_b'],
    ] as const;
    deepEqual(heard(emission({}), { subscribed }), { runs: ['p_b'], withheld: [] });
  });

  it('has missed nothing that one of two filters lets through', () => {
    const [fits, misses] = [{ id: [7] }, { id: [8] }];
    const by = (...filters: EventFilter[]) =>
      heard(emission({ body: utf8('{"id":7}') }), { subscribed: filters.map((filter) => ['p_a', 'p_b', filter]) });
    deepEqual(by(misses, fits), { runs: ['p_b'], withheld: [] });
    deepEqual(by(fits, misses), { runs: ['p_b'], withheld: [] });
    deepEqual(by(misses, misses), { runs: [], withheld: ['p_b'] }, 'once');
  });

  it('that is not active is held back', () => {
    const of = { subscribed: [['p_a', 'p_b']] as const, inactive: ['p_b'] };
    deepEqual(heard(emission({}), of), { runs: [], withheld: ['p_b'] });
  });

  for (const wildcard of ['p_*', '*', OWNER]) {
    it(`in the lineage does not hear by ${wildcard}`, () => {
      const of = emission({ lineage: ['p_b'] });
      deepEqual(heard(of, { subscribed: [[wildcard, 'p_b']] }), { runs: [], withheld: ['p_b'] });
      deepEqual(heard(of, { subscribed: [['p_a', 'p_b']] }), { runs: ['p_b'], withheld: [] });
    });
  }
});

describe('an error', () => {
  const error = (more: Partial<NewEmission> = {}) => emission({ name: ERRORS, ...more });

  it('goes to the global workflow', () => {
    deepEqual(heard(error(), {}), { runs: [GLOBAL], withheld: [] });
  });

  it('does not, of that workflow itself', () => {
    deepEqual(heard(error({ emitterId: GLOBAL }), {}), { runs: [], withheld: [GLOBAL] });
  });

  it('does not, where notify is off', () => {
    deepEqual(heard(error(), { notify: false }), { runs: [], withheld: [GLOBAL] });
  });

  it('does not, when that workflow is not active', () => {
    deepEqual(heard(error(), { inactive: [GLOBAL] }), { runs: [], withheld: [GLOBAL] });
  });

  it('goes to its subscribers for sixteen hops, and to the global workflow at any hop', () => {
    const of = { subscribed: [['p_a', 'p_b']] as const, event: ERRORS };
    deepEqual(heard(error({ hops: 16 }), of), { runs: [GLOBAL, 'p_b'], withheld: [] });
    deepEqual(heard(error({ hops: 17 }), of), { runs: [GLOBAL], withheld: ['p_b'] });
  });

  it('goes sixteen hops to the global workflow, too, when its lineage has lost ids', () => {
    const lineage = Array.from({ length: 64 }, (_, i) => `p_${i}`);
    const wasHeard = (of: Parameters<typeof error>[0]): unknown => heard(error(of), { event: ERRORS }).runs;
    deepEqual(wasHeard({ hops: 99, lineage: lineage.slice(1) }), [GLOBAL]);
    deepEqual(wasHeard({ hops: 99, lineage }), []);
    deepEqual(wasHeard({ hops: 99, lineage: [GLOBAL] }), []);
  });

  it('goes to its own subscribers first, where the global workflow is a fallback', () => {
    const of = { event: ERRORS, isFallback: true };
    const subscribed = [['p_a', 'p_b']] as const;
    deepEqual(heard(error(), { ...of, subscribed }), { runs: ['p_b'], withheld: [GLOBAL] });
    deepEqual(heard(error(), of), { runs: [GLOBAL], withheld: [] });
    deepEqual(heard(error(), { ...of, subscribed, inactive: ['p_b'] }), { runs: [GLOBAL], withheld: ['p_b'] });
    deepEqual(heard(error({ lineage: ['p_b'] }), { ...of, subscribed }), { runs: [GLOBAL], withheld: ['p_b'] });
    const itself = [['p_a', GLOBAL]] as const;
    deepEqual(heard(error(), { ...of, subscribed: itself }), { runs: [GLOBAL], withheld: [] });
    deepEqual(heard(error(), { ...of, subscribed, notify: false }), { runs: ['p_b'], withheld: [GLOBAL] });
  });

  it('does not return to its lineage', () => {
    const of = { subscribed: [['p_a', 'p_b']] as const, event: ERRORS };
    deepEqual(heard(error({ lineage: ['p_b'] }), of), { runs: [GLOBAL], withheld: ['p_b'] });
  });
});

describe('a lineage', () => {
  const fault = { code: 'X', msg: 'x', cellId: 'c_1', namespace: 's', tsMs: 0, stack: '' };
  const cause = {
    ...emission({ lineage: Array.from({ length: 64 }, (_, i) => `p_${i}`), hops: 3 }),
    entry: 1024,
    emitId: 'e',
    traceId: 't',
  };
  const run = { emission: cause, runnable: runnable('p_new'), run: 1, attempt: 1 };

  it('keeps its newest 64', () => {
    for (const { lineage } of [emittedBy(run, '', utf8('1')), failureOfRun(run, fault)]) {
      equal(lineage.length, 64);
      deepEqual([lineage[0], lineage.at(-1)], ['p_1', 'p_new']);
    }
  });

  it('is one hop longer with each emission', () => {
    equal(emittedBy(run, '', utf8('1')).hops, 4);
    equal(failureOfRun(run, fault).hops, 4);
  });
});
