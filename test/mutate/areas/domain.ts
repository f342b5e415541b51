// Mutations of the rules.

import { type Mutation, of } from '../mutation.ts';

const DOMAIN = 'src/domain';
const UNIT = 'test/unit/domain';

export const DOMAIN_MUTATIONS: readonly Mutation[] = [
  ...of(`${DOMAIN}/endpoint.ts`, [`${UNIT}/endpoint.test.ts`], {
    'endpoint: a key has several labels': ['count < DIGIT_BITS && bits === 0 ?', 'count < DIGIT_BITS ?'],
    'endpoint: a label may be longer': ['count < DIGIT_BITS && bits', 'bits'],
    'endpoint: what is no digit is one': ['if (digit < 0) return null;', ''],
    'endpoint: the last bits of a key are lost': ['count === 0 ? label :', 'count !== 0 ? label :'],
    'endpoint: the port is left out': ['${suffix}${port}`', '${suffix}`'],
  }),
  ...of(`${DOMAIN}/route.ts`, [`${UNIT}/route.test.ts`, `${UNIT}/route-cases.test.ts`], {
    'route: sources are not covered by *': ["[emitterId, 'dc_*', '*', ownerId]", "[emitterId, 'dc_*', ownerId]"],
    'route: webhooks are not covered by the owner': [
      "[emitterId, '*', ownerId];\n  return",
      "[emitterId, '*'];\n  return",
    ],
    "route: the owner's own id is no wildcard": [" || subscriptionEmitterId.startsWith('u_')", ''],
    'route: * hears $errors': ["return !name.startsWith('$')", 'return true'],
    'route: a listener is told twice': [' || seen.has(listenerId)) continue', ') continue'],
    'route: the loop guard of wildcards': ['emission.lineage.includes(subscription.listenerId)) {', 'false) {'],
    'route: the loop guard of errors': ['return emission.lineage.includes(listenerId) ?', 'return false ?'],
    'route: one hop more': ['emission.hops <= LIMITS.errorHops', 'emission.hops <= LIMITS.errorHops + 1'],
    'route: a cut lineage is trusted': ['emission.lineage.length < LIMITS.lineageIds', 'true'],
    'route: errors of the global workflow to itself': [
      'if (emission.emitterId === workflow.id) return',
      'if (false) return',
    ],
    'route: notify is ignored': ["if (!notify) return 'notify", "if (false) return 'notify"],
    'route: an inactive global workflow runs': ['if (!workflow.active) return', 'if (false) return'],
    'route: an inactive listener runs': ['return runnable.active ?', 'return true ?'],
  }),
  ...of(`${DOMAIN}/delivery/delivery.ts`, [`${UNIT}/delivery.test.ts`], {
    'delivery: 300 is delivered': ['made.status < 300', 'made.status <= 300'],
    'delivery: 199 is delivered': ['made.status >= 200', 'made.status >= 199'],
    'delivery: 410 is tried again': ['made.status === 410', 'made.status === 411'],
    'delivery: 410 of a request disables': ["kind === 'http' ? 'DeliveryExhausted' : 'WebhookGone'", "'WebhookGone'"],
    'delivery: a permanent refusal is tried again': ['if (made.permanent)', 'if (false)'],
    'delivery: a refused address is tried again': ["if (made.outcome === 'forbidden')", 'if (false)'],
    'delivery: Retry-After is ignored': ['if (askedMs > 0 &&', 'if (askedMs > 1e12 &&'],
    'delivery: the schedule is off by one': ['LIMITS.retryDelaysMs)[tries]', 'LIMITS.retryDelaysMs)[tries + 1]'],
    'delivery: no jitter': ['(2 * jitter - 1)', '0'],
    'delivery: requests are put off for ever': ["kind !== 'http' ||", 'true ||'],
  }),
  ...of(`${DOMAIN}/delivery/queue-state.ts`, [`${UNIT}/queue-state.test.ts`], {
    'turn: a paused listener gets some': ['return !isPaused && !(', 'return !('],
    'turn: an ordered webhook gets two at a time': ['!(isOrdered && sending > 0)', 'true'],
    'turn: what is due is overtaken': ['&& !queue.isSomeDue', ''],
    'turn: a retry of an ordered webhook is overtaken': [' && !(isOrdered && queue.waiting > 0)', ''],
  }),
  ...of(`${DOMAIN}/delivery/health.ts`, [`${UNIT}/health.test.ts`], {
    'health: a retry counts as exhausted': ["state === 'exhausted' ? 1 : 0", '1'],
    'health: one more in a row': ['exhaustedInRow >= LIMITS.exhaustedInRow', 'exhaustedInRow > LIMITS.exhaustedInRow'],
    'health: failing a moment later': [
      'nowMs - failingSinceMs >= LIMITS.failingMs',
      'nowMs - failingSinceMs > LIMITS.failingMs',
    ],
    'health: disabled without a notice': ['if (wasNoticed &&', 'if ('],
    'health: told with every attempt': ['isFailing && before.noticedAtMs === null', 'isFailing'],
    'health: a success forgets nothing': ['isWell ? before : { ...HEALTHY, pausedUntilMs }', 'before'],
  }),
  ...of(`${DOMAIN}/dedupe.ts`, [`${UNIT}/dedupe.test.ts`], {
    'dedupe: equal is greater': ['number > greatest', 'number >= greatest'],
    'dedupe: the oldest ids are kept': ['.slice(-LIMITS.uniqueIds)', '.slice(0, LIMITS.uniqueIds)'],
    'dedupe: last begins at the newest itself': ['emissions.slice(at + 1)', 'emissions.slice(at)'],
    'dedupe: last looks for the first': ['emissions.findLastIndex(', 'emissions.findIndex('],
  }),
  ...of(`${DOMAIN}/run/throttle.ts`, [`${UNIT}/throttle.test.ts`], {
    'throttle: one more': ['throttle.limit - (known', 'throttle.limit + 1 - (known'],
    'throttle: a millisecond early': ['oldest + throttle.intervalMs)', 'oldest + throttle.intervalMs - 1)'],
    'throttle: the last millisecond counts': ['> nowMs - intervalMs', '>= nowMs - intervalMs'],
    'throttle: a clock set back blocks': ['newest === undefined || newest <= nowMs', 'true'],
    'throttle: starts are not forgotten': ['.slice(-throttle.limit);\n}', ';\n}'],
  }),
  ...of(`${DOMAIN}/run/retry.ts`, [`${UNIT}/retry.test.ts`], {
    'retry: one attempt more': ['retries + 1 >= retry.attempts', 'retries >= retry.attempts'],
    'retry: sources too': ["!runnable.id.startsWith('p_') ||", ''],
    'retry: a full queue is tried again': ['if (hadNoRoom(fault.code)) return null;', ''],
    'retry: Timeout without its name': ['&& !retry.also.includes(fault.code)', '&& false'],
    'retry: the delay does not double': ['retry.baseMs * 2 ** retries', 'retry.baseMs'],
    'retry: beyond the longest delay': ['(2 * jitter - 1)), retry.maxMs)', '(2 * jitter - 1)), Infinity)'],
  }),
  ...of(`${DOMAIN}/failure.ts`, [`${UNIT}/route-cases.test.ts`], {
    'failure: a lineage forgets its newest': ['.slice(-LIMITS.lineageIds)', '.slice(0, LIMITS.lineageIds)'],
    'failure: an error is no hop': [
      '    lineage: extended(emission.lineage, emitterId),\n    hops: emission.hops + 1,',
      '    lineage: extended(emission.lineage, emitterId),\n    hops: emission.hops,',
    ],
  }),
  ...of(`${DOMAIN}/errors/replaying.ts`, [`${UNIT}/errors/replaying.test.ts`], {
    'replays: one more under way': [
      'mostUnderWay(order) - counts.under_way;',
      'mostUnderWay(order) + 1 - counts.under_way;',
    ],
    'replays: the canary does not go ahead': ['isCanaryOver ? beside : Math.min(', 'true ? beside : Math.min('],
    'replays: a failed canary is no reason to pause': ['if (bad > 0) {', 'if (bad > 1) {'],
    'replays: a cancelled canary is a good one': [
      'failed + counts.cancelled + counts.unknown',
      'failed + counts.unknown',
    ],
    'replays: one failure more before it pauses': ['failed >= stopAt', 'failed > stopAt'],
    'replays: done while one is under way': ['if (isThrough && counts.under_way === 0)', 'if (isThrough)'],
    'replays: not all fixed is all fixed': ['others.some((one) => counts[one] > 0)', 'false'],
    'replays: an error without a group failed the same': [
      'group !== null && group === failedGroup',
      'group === failedGroup',
    ],
    'replays: an event runs twice at a time': ["if (!isOver(before.state)) return 'follow';", ''],
    'replays: again means not again': ["isAgain ? 'replay' : 'leave'", "isAgain ? 'leave' : 'replay'"],
    'replays: a rate is no bound': ['if (order.rate === null) return room;', 'return room;'],
  }),
  ...of('src/domain/steps/step-changes.ts', ['test/unit/domain/steps/step-changes.test.ts'], {
    'steps: one of two with the same code is the renamed one': [
      'same.length === 1 && others.length === 1',
      'same.length > 0',
    ],
    'steps: all behind one that was moved are moved': ['inOrder.has(places[i] as number)', 'places[i] === i'],
  }),
  ...of('src/domain/steps/step-name.ts', ['test/unit/domain/steps/step-changes.test.ts'], {
    'steps: one may be called as the event': ['name !== EVENT && ', ''],
  }),
];
