// Which listeners get an emission. Pure: the store reads the table in its transaction, `route` decides, the store writes.

import { MAIL } from './delivery/delivery.ts';
import { EMAIL, ERRORS, HTTP, type NewEmission, NOTICE } from './emission.ts';
import { FilteredEvent } from './filter/event-filter.ts';
import { LIMITS } from './limits.ts';
import type { Runnable, Subscription, Via, Webhook } from './resource.ts';

/** Records by id: a `Map`, or rows that the store reads on demand. */
export interface ById<T> {
  get(id: string): T | undefined;
}

/** What routing needs for one emitter's emissions. */
export interface RouteTable {
  /** Active subscriptions to this emitter or to a wildcard that covers it; most specific first (see `coveringEmitters`). */
  readonly subscriptions: readonly Subscription[];
  readonly runnables: ById<Runnable>;
  readonly webhooks: ById<Webhook>;
  /** The owner's global error workflow. */
  readonly globalWorkflow: Runnable | null;
  /** The emitter's own `notify` setting. */
  readonly notify: boolean;
  /** The emitter's own subscribers go before the global error workflow. */
  readonly isFallback: boolean;
}

export type RouteTarget =
  | { readonly kind: 'run'; readonly runnable: Runnable; readonly via: Via; readonly subscriptionId: string | null }
  | { readonly kind: 'webhook'; readonly webhook: Webhook; readonly via: Via; readonly subscriptionId: string | null }
  | { readonly kind: 'mail'; readonly via: Via }
  | { readonly kind: 'http'; readonly listenerId: string; readonly via: Via };

/** Returns the listener id of a delivery's target. */
export function listenerOfTarget(target: Exclude<RouteTarget, { kind: 'run' }>): string {
  if (target.kind === 'mail') return MAIL;
  return target.kind === 'http' ? target.listenerId : target.webhook.id;
}

export interface Withheld {
  readonly listenerId: string;
  readonly subscriptionId: string | null;
  readonly via: Via;
  readonly reason: string;
  /** The global error workflow, which gets the error if no other listener takes it. */
  readonly isFallback?: boolean;
}

export interface Routed {
  readonly targets: readonly RouteTarget[];
  readonly withheld: readonly Withheld[];
}

/** Returns what becomes of targets whose owner is being deleted: the emission is kept, and nothing begins. */
export function withheldFromAll({ targets, withheld }: Routed): Routed {
  const all = targets.map((target) => ({
    listenerId: target.kind === 'run' ? target.runnable.id : listenerOfTarget(target),
    subscriptionId: 'subscriptionId' in target ? target.subscriptionId : null,
    via: target.via,
    reason: 'the owner is being deleted',
  }));
  return { targets: [], withheld: [...all, ...withheld] };
}

/**
 * Returns the subscription emitters that cover an emitter, most specific first. Wildcards (and the owner's own id, which
 * means the same as `*`) cover workflows, sources, webhooks and heartbeats. Triggers (`hi_`, `ti_`) are inputs, covered only by their
 * own id.
 */
export function coveringEmitters(emitterId: string, ownerId: string): readonly string[] {
  if (emitterId.startsWith('p_')) return [emitterId, 'p_*', '*', ownerId];
  if (emitterId.startsWith('dc_')) return [emitterId, 'dc_*', '*', ownerId];
  if (/^(wh|hb)_/.test(emitterId)) return [emitterId, '*', ownerId];
  return [emitterId];
}

/** Returns whether a subscription's emitter is a wildcard. */
export function isWildcard(subscriptionEmitterId: string): boolean {
  return subscriptionEmitterId.endsWith('*') || subscriptionEmitterId.startsWith('u_');
}

/** Returns whether a subscription to `eventName` matches an emission called `name`. */
export function hears(eventName: string, name: string): boolean {
  if (eventName === '*') return !name.startsWith('$');
  return eventName === name;
}

/** Returns the targets of an emission, each listener at most once, and the suppressed ones with the reason. */
export function route(emission: NewEmission, table: RouteTable): Routed {
  if (emission.name === EMAIL) return { targets: [{ kind: 'mail', via: 'direct' }], withheld: [] };
  if (emission.name === HTTP) return routeRequest(emission.onlyListenerId, 'direct');
  if (emission.name === NOTICE) return routeRequest(emission.onlyListenerId, 'channel');
  if (emission.onlyListenerId !== null) return routeDirect(emission.onlyListenerId, table);
  const targets: RouteTarget[] = [];
  const withheld: Withheld[] = [];
  const seen = new Set<string>();
  const filters = filtersFor(emission);
  const filtered: Withheld[] = [];
  const isLast = emission.name === ERRORS && table.isFallback;
  if (emission.name === ERRORS && !isLast) addGlobal(emission, table, { targets, withheld, seen });
  for (const subscription of table.subscriptions) {
    const { listenerId, via, id } = subscription;
    if (!hears(subscription.eventName, emission.name) || seen.has(listenerId)) continue;
    const against = subscription.filter && filters.reasonAgainst(subscription.filter);
    if (against !== null) {
      filtered.push({ listenerId, subscriptionId: id, via, reason: against });
      continue;
    }
    seen.add(listenerId);
    const reason = reasonToWithhold(emission, subscription);
    const target = reason === null ? targetOf(subscription, table) : undefined;
    if (target === 'inactive')
      withheld.push({ listenerId, subscriptionId: id, via, reason: 'the listener is not active' });
    else if (target) targets.push(target);
    else if (reason !== null) withheld.push({ listenerId, subscriptionId: id, via, reason });
  }
  if (isLast && !seen.has(table.globalWorkflow?.id ?? '')) addGlobal(emission, table, { targets, withheld, seen });
  // A listener that another subscription leads to as well has not missed the event.
  for (const one of filtered) {
    if (!seen.has(one.listenerId)) withheld.push(one);
    seen.add(one.listenerId);
  }
  return { targets, withheld };
}

/** Judges filters of an event, which is read for the first of them, once for all. */
function filtersFor({ body }: NewEmission): Pick<FilteredEvent, 'reasonAgainst'> {
  let event: FilteredEvent | undefined;
  return {
    reasonAgainst: (filter) => {
      event ??= new FilteredEvent(body);
      return event.reasonAgainst(filter);
    },
  };
}

export const FALLBACK = 'the subscribers to this error go first';

function routeRequest(listenerId: string | null, via: Via): Routed {
  return { targets: listenerId === null ? [] : [{ kind: 'http', listenerId, via }], withheld: [] };
}

function routeDirect(listenerId: string, table: RouteTable): Routed {
  const runnable = table.runnables.get(listenerId);
  const targets: RouteTarget[] = runnable ? [{ kind: 'run', runnable, via: 'direct', subscriptionId: null }] : [];
  return { targets, withheld: [] };
}

interface RouteBuilder {
  readonly targets: RouteTarget[];
  readonly withheld: Withheld[];
  readonly seen: Set<string>;
}

function addGlobal(emission: NewEmission, table: RouteTable, into: RouteBuilder): void {
  const workflow = table.globalWorkflow;
  if (!workflow) return;
  const reason = reasonAgainstGlobal(emission, workflow, table.notify);
  if (reason === null && table.isFallback && into.targets.length > 0) {
    const of = { listenerId: workflow.id, subscriptionId: null, via: 'global' } as const;
    into.withheld.push({ ...of, reason: FALLBACK, isFallback: true });
  } else if (reason === null) {
    into.seen.add(workflow.id);
    into.targets.push({ kind: 'run', runnable: workflow, via: 'global', subscriptionId: null });
  } else {
    into.withheld.push({ listenerId: workflow.id, subscriptionId: null, via: 'global', reason });
  }
}

/** Returns why the global error workflow does not get an error. */
export function reasonAgainstGlobal(emission: NewEmission, workflow: Runnable, notify: boolean): string | null {
  if (emission.emitterId === workflow.id) return 'errors of the global error workflow are never sent to itself';
  if (!notify) return 'notify is false on the workflow';
  if (emission.isAnswered) return 'the request was refused with this error: its caller knows';
  if (!workflow.active) return 'the global error workflow is not active';
  // Of a notice or mail that was given up: no other listener may have got what it told. What the workflow throws at that is told
  // once for each of its groups, so it goes round no faster than those.
  if (emission.emitterId === emission.ownerId) return null;
  // At any hop: a workflow that emits to itself page by page may fail at the twentieth, and a person is told of that, too. The
  // lineage alone ends circles, as long as it has room for all that led here.
  const isWhole = emission.lineage.length < LIMITS.lineageIds;
  return isWhole ? lineageReason(emission, workflow.id) : loopReason(emission, workflow.id);
}

function reasonToWithhold(emission: NewEmission, subscription: Subscription): string | null {
  if (emission.name === ERRORS) return loopReason(emission, subscription.listenerId);
  if (isWildcard(subscription.emitterId) && emission.lineage.includes(subscription.listenerId)) {
    return 'loop: the listener is in the lineage of this emission, and hears it by a wildcard only';
  }
  return null;
}

function loopReason(emission: NewEmission, listenerId: string): string | null {
  const reason = lineageReason(emission, listenerId);
  if (reason !== null || emission.hops <= LIMITS.errorHops) return reason;
  return `loop: more than ${LIMITS.errorHops} hops from the original event`;
}

function lineageReason(emission: NewEmission, listenerId: string): string | null {
  return emission.lineage.includes(listenerId) ? `loop: ${listenerId} is already in the lineage of this error` : null;
}

function targetOf(subscription: Subscription, table: RouteTable): RouteTarget | 'inactive' | undefined {
  const { listenerId, via, id: subscriptionId } = subscription;
  const webhook = table.webhooks.get(listenerId);
  // A disabled webhook gets its delivery, too, in state `held` until the webhook is enabled.
  if (webhook) return { kind: 'webhook', webhook, via, subscriptionId };
  const runnable = table.runnables.get(listenerId);
  if (!runnable) return undefined;
  return runnable.active ? { kind: 'run', runnable, via, subscriptionId } : 'inactive';
}
