// Subscriptions: which emitters and listeners may be linked.

import { isDeepStrictEqual } from 'node:util';
import { ERRORS, HEARD_BY_NAME } from '../../domain/emission.ts';
import { type EventFilter, readFilter } from '../../domain/filter/event-filter.ts';
import { FilterFault } from '../../domain/filter/filter-fault.ts';
import { PREFIX, prefixOf } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Subscription } from '../../domain/resource.ts';
import type { Clock, Ids } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';

export interface Triple {
  readonly emitterId: string;
  readonly listenerId: string;
  readonly eventName: string;
}

export interface FilterChange {
  readonly filter: EventFilter | null;
  /** Refuses a change of another filter than it is meant for. */
  readonly check: (before: EventFilter | null) => void;
}

const EMITTERS = ['p_', 'dc_', 'wh_', 'hb_', 'hi_', 'ti_', 'u_'];
const LISTENERS = ['p_', 'dc_', 'wh_'];
/** Emitters of subscriptions that stand for all of a kind. */
export const WILDCARDS = ['*', 'p_*', 'dc_*'];

export function createSubscriptions(deps: { store: Store; clock: Clock; ids: Ids }) {
  const { store } = deps;

  /** Subscribes. An undefined `filter`: any that the subscription has. */
  async function subscribe(ownerId: string, triple: Triple, filter?: EventFilter | null): Promise<Subscription> {
    const subscription = newSubscription(deps, ownerId, { ...triple, filter: filter ?? null });
    const { emitterId, listenerId } = subscription;
    const made = await store.createSubscription(subscription);
    if ('subscription' in made) return withFilter(made.subscription, filter);
    const isEmitter = made.missing === 'emitter_id';
    const message = `there is no ${isEmitter ? 'emitter' : 'listener'} ${isEmitter ? emitterId : listenerId}`;
    throw new Refusal('not_found', message, { errors: [{ parameter: made.missing, message }] });
  }

  async function unsubscribe(ownerId: string, which: { id: string } | Triple): Promise<Subscription> {
    const id = 'id' in which ? which.id : await idOf(ownerId, which);
    const deleted = id === undefined ? undefined : await store.deleteSubscription(ownerId, id);
    if (deleted) return deleted;
    const existing = id === undefined ? undefined : await store.getSubscription(ownerId, id);
    if (existing) throw ofTrigger(existing);
    throw new Refusal('not_found', 'id' in which ? `there is no subscription ${which.id}` : noSuch(which));
  }

  async function filterSubscription(
    ownerId: string,
    id: string,
    { filter, check }: FilterChange,
  ): Promise<Subscription> {
    checkFilter(filter);
    const changed = await store.filterSubscription(ownerId, id, (before) => {
      check(before.filter);
      return filter;
    });
    if (changed) return changed;
    const existing = await store.getSubscription(ownerId, id);
    throw existing ? ofTrigger(existing) : new Refusal('not_found', `there is no subscription ${id}`);
  }

  async function idOf(ownerId: string, triple: Triple): Promise<string | undefined> {
    const page = await store.listSubscriptions({ ownerId, ...triple, via: 'subscription' }, { limit: 1 });
    return page.items[0]?.id;
  }

  return { subscribe, unsubscribe, filterSubscription };
}

/** Returns a subscription that is not in the store yet. Throws `Refusal` when no such subscription can be. */
export function newSubscription(
  { clock, ids }: { clock: Clock; ids: Ids },
  ownerId: string,
  asked: Triple & { readonly filter: EventFilter | null },
): Subscription {
  checkShape(asked);
  checkFilter(asked.filter);
  const { emitterId, listenerId, eventName, filter } = asked;
  const triple = { emitterId, listenerId, eventName, filter };
  const id = ids.next(PREFIX.subscription);
  return { ...triple, id, ownerId, via: 'subscription', active: true, createdAtMs: clock.nowMs() };
}

function ofTrigger({ id, listenerId }: Subscription): Refusal {
  return new Refusal('conflict', `${id} stands for a trigger of ${listenerId}: change the workflow's triggers`);
}

/** Returns the subscription that stands, or refuses: with another filter, the caller would be sent what it has not asked for. */
function withFilter(existing: Subscription, filter: EventFilter | null | undefined): Subscription {
  if (filter === undefined || isDeepStrictEqual(existing.filter, filter)) return existing;
  const message = `${existing.id} stands for the same three with another filter: PUT /v1/subscriptions/${existing.id} changes it`;
  throw new Refusal('conflict', message, { errors: [{ parameter: 'filter', message }] });
}

function checkFilter(filter: EventFilter | null | undefined): void {
  try {
    if (filter) readFilter(filter);
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error;
    const { path: parameter, message } = error;
    throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
  }
}

function noSuch({ emitterId, listenerId, eventName }: Triple): string {
  return `there is no subscription of ${listenerId} to ${emitterId} with event_name "${eventName}"`;
}

function checkShape({ emitterId, listenerId, eventName }: Triple): void {
  const isEmitter = WILDCARDS.includes(emitterId) || EMITTERS.includes(prefixOf(emitterId));
  if (!isEmitter) {
    refuse(
      'emitter_id',
      `"${emitterId}" is not the id of an emitter: those begin with one of ${EMITTERS.join(' ')}, or is one of ${WILDCARDS.join(' ')}`,
    );
  }
  if (!LISTENERS.includes(prefixOf(listenerId))) {
    refuse(
      'listener_id',
      `"${listenerId}" is not the id of a listener: those begin with one of ${LISTENERS.join(' ')}`,
    );
  }
  if (eventName.length > LIMITS.eventNameChars) {
    refuse('event_name', `event_name has ${eventName.length} characters; at most ${LIMITS.eventNameChars} are allowed`);
  }
  checkEventName(eventName);
  if (emitterId === listenerId && eventName === ERRORS && listenerId.startsWith('p_')) {
    throw new Refusal('impossible', `workflow ${listenerId} cannot listen to its own ${ERRORS}`);
  }
}

/** Throws `Refusal`: a name that no emission can have would never match, without an error. */
export function checkEventName(eventName: string, parameter = 'event_name'): void {
  if (!eventName.isWellFormed()) {
    refuse(parameter, `${parameter} must be valid Unicode, but was ${JSON.stringify(eventName)}`);
  }
  if (!eventName.startsWith('$') || HEARD_BY_NAME.includes(eventName)) return;
  const message = `nothing is emitted with the name ${JSON.stringify(eventName)}: names that begin with $ are Errand’s own; for errors use ${ERRORS}`;
  throw new Refusal('impossible', message, { errors: [{ parameter, message }] });
}

function refuse(parameter: string, message: string): never {
  throw new Refusal('malformed', message, { errors: [{ parameter, message }] });
}
