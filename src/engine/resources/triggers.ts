// From the triggers of a request to the triggers and subscriptions in the store. A trigger that existed before and is
// requested again keeps its id and address, so that an update does not break callers.

import { createHash } from 'node:crypto';
import { ERRORS } from '../../domain/emission.ts';
import { NO_TOKEN, type TokenInput } from '../../domain/endpoint.ts';
import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ShownTrigger, TriggerInput } from '../../domain/requests.ts';
import type { Schedule, Subscription, Trigger } from '../../domain/resource.ts';
import type { Clock, Ids } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { checkSchedule, firstTickMs } from '../schedule/cron.ts';
import { checkEventName, WILDCARDS } from './subscriptions.ts';

export interface TriggerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The workflow or source that the triggers start, and whether it is enabled. */
export interface TriggerListener {
  readonly ownerId: string;
  readonly id: string;
  readonly active: boolean;
}

/** One requested trigger. `parameter`: its path in the request. */
interface RequestedTrigger<T = TriggerInput> {
  readonly input: T;
  readonly parameter: string;
}

/** Throws `Refusal` for a missing emitter or an invalid schedule. */
export async function planTriggers(
  deps: TriggerDeps,
  listener: TriggerListener,
  plan: { inputs: readonly TriggerInput[]; existing: readonly ShownTrigger[] },
): Promise<ShownTrigger[]> {
  const kept = keptTriggers(plan.inputs, plan.existing);
  const planned: ShownTrigger[] = [];
  for (const [i, input] of plan.inputs.entries()) {
    planned.push(await planOne(deps, listener, { input, parameter: `triggers[${i}]`, existing: kept.get(i) }));
  }
  return planned;
}

/** From the surest to the least sure sign that a requested trigger is an existing one of its kind. A schedule alone is none. */
const SIGNS: readonly ((shown: ShownTrigger, input: TriggerInput) => boolean)[] = [
  (shown, input) => input.id === shownId(shown),
  hasSameSettings,
  (_, input) => input.type !== 'schedule',
];

/**
 * Returns the existing trigger of each requested one, by its place. Each sign is looked for in all of them before the next
 * sign counts: by its kind alone, a trigger would take the address of one that is requested after it.
 */
function keptTriggers(inputs: readonly TriggerInput[], existing: readonly ShownTrigger[]): Map<number, ShownTrigger> {
  const left = new Set(existing);
  const kept = new Map<number, ShownTrigger>();
  for (const isIt of SIGNS) {
    for (const [i, input] of inputs.entries()) {
      if (kept.has(i)) continue;
      const found = [...left].find((shown) => isSame(shown, input) && isIt(shown, input));
      if (found === undefined) continue;
      left.delete(found);
      kept.set(i, found);
    }
  }
  return kept;
}

/** Returns the id that callers see. */
function shownId({ trigger, subscription }: ShownTrigger): string {
  return trigger?.id ?? subscription.id;
}

function hasSameSettings({ trigger }: ShownTrigger, input: TriggerInput): boolean {
  if (input.type === 'schedule') return isSameSchedule(trigger, input.schedule);
  if (input.type !== 'http' && input.type !== 'errors') return true;
  const customResponse = input.type === 'http' && input.customResponse;
  return trigger?.customResponse === customResponse && trigger.tokenHash === hashOf(input.token);
}

function hashOf(token: string | null): string | null {
  return token === null ? null : createHash('sha256').update(token).digest('hex');
}

/** Returns the hash of the token that callers must send. Only the trigger that is named by its id keeps one. */
function tokenHashOf(
  { id, token, keepsToken }: TokenInput & { readonly id?: string },
  { existing, parameter }: { readonly existing: Trigger | null; readonly parameter: string },
): string | null {
  if (keepsToken === undefined) return hashOf(token);
  const kept = existing?.id === id ? (existing?.tokenHash ?? null) : null;
  if (kept !== null || keepsToken === 'optional') return kept;
  const named = `${parameter}.auth.token`;
  throw new Refusal('malformed', `${named} ${NO_TOKEN}`, { errors: [{ parameter: named, message: NO_TOKEN }] });
}

/** Returns the triggers of a listener that was enabled or disabled: schedules sleep while it is disabled. */
export function reschedule(
  deps: TriggerDeps,
  listener: TriggerListener,
  existing: readonly ShownTrigger[],
): ShownTrigger[] {
  return existing.map(({ subscription, trigger }) => {
    if (!trigger?.schedule) return { subscription, trigger };
    return { subscription, trigger: { ...trigger, nextAtMs: nextFor(deps, listener, trigger) } };
  });
}

function nextFor(deps: TriggerDeps, listener: TriggerListener, trigger: Trigger): number | null {
  if (!listener.active || !trigger.schedule) return null;
  return trigger.nextAtMs ?? firstTickMs(trigger.schedule, deps.clock.nowMs());
}

/** Returns whether an existing trigger may be the requested one. The emitter of a subscription does not change. */
function isSame({ trigger, subscription }: ShownTrigger, input: TriggerInput): boolean {
  if (input.type !== 'source' && input.type !== 'emitter') return trigger?.kind === input.type;
  if (trigger) return false;
  const [emitterId, eventName] = emitterOf(input);
  return subscription.emitterId === emitterId && subscription.eventName === eventName;
}

function isSameSchedule(trigger: Trigger | null, schedule: Schedule): boolean {
  return JSON.stringify(trigger?.schedule) === JSON.stringify(schedule);
}

function emitterOf(input: Extract<TriggerInput, { type: 'source' | 'emitter' }>): [string, string] {
  return input.type === 'source' ? [input.sourceId, ''] : [input.emitterId, input.eventName];
}

async function planOne(
  deps: TriggerDeps,
  listener: TriggerListener,
  one: RequestedTrigger & { readonly existing: ShownTrigger | undefined },
): Promise<ShownTrigger> {
  const { input, parameter, existing } = one;
  if (input.type !== 'source' && input.type !== 'emitter') {
    const trigger = ownTrigger(deps, listener, { input, parameter, existing: existing?.trigger ?? null });
    return { trigger, subscription: existing?.subscription ?? subscriptionTo(deps, listener, [trigger.id, '']) };
  }
  await checkEmitter(deps.store, listener, { input, parameter });
  const [emitterId, eventName] = emitterOf(input);
  return {
    trigger: null,
    subscription: existing?.subscription ?? subscriptionTo(deps, listener, [emitterId, eventName]),
  };
}

async function checkEmitter(
  store: Store,
  listener: TriggerListener,
  { input, parameter }: RequestedTrigger<Extract<TriggerInput, { type: 'source' | 'emitter' }>>,
): Promise<void> {
  const [emitterId, eventName] = emitterOf(input);
  const named = `${parameter}.${input.type === 'source' ? 'source_id' : 'emitter_id'}`;
  if (emitterId === listener.id && eventName === ERRORS) {
    const message = `workflow ${listener.id} cannot listen to its own ${ERRORS}`;
    throw new Refusal('impossible', message, { errors: [{ parameter: named, message }] });
  }
  checkEventName(eventName, `${parameter}.event_name`);
  const isMade = emitterId === listener.id || WILDCARDS.includes(emitterId);
  if (isMade || (await store.exists(listener.ownerId, emitterId))) return;
  const message = `there is no emitter ${emitterId}`;
  throw new Refusal('not_found', message, { errors: [{ parameter: named, message }] });
}

function ownTrigger(
  deps: TriggerDeps,
  listener: TriggerListener,
  one: RequestedTrigger<Extract<TriggerInput, { type: 'http' | 'errors' | 'schedule' }>> & {
    readonly existing: Trigger | null;
  },
): Trigger {
  const { input, parameter, existing } = one;
  const nowMs = deps.clock.nowMs();
  const prefix = input.type === 'schedule' ? PREFIX.timerTrigger : PREFIX.httpTrigger;
  const base = {
    id: existing?.id ?? deps.ids.next(prefix),
    ownerId: listener.ownerId,
    runnableId: listener.id,
    kind: input.type,
    createdAtMs: existing?.createdAtMs ?? nowMs,
    skippedTicks: existing?.skippedTicks ?? 0,
  };
  if (input.type !== 'schedule') {
    const tokenHash = tokenHashOf(input, { existing, parameter });
    const key = existing?.key ?? deps.ids.secret();
    const customResponse = input.type === 'http' && input.customResponse;
    return { ...base, key, customResponse, tokenHash, schedule: null, nextAtMs: null };
  }
  checkSchedule(input.schedule, { nowMs, parameter });
  const { schedule } = input;
  const trigger: Trigger = {
    ...base,
    key: null,
    customResponse: false,
    tokenHash: null,
    schedule,
    // Another schedule begins now: what was due by the old one is not due any more.
    nextAtMs: isSameSchedule(existing, schedule) ? (existing?.nextAtMs ?? null) : null,
  };
  return { ...trigger, nextAtMs: nextFor(deps, listener, trigger) };
}

function subscriptionTo(
  deps: TriggerDeps,
  listener: TriggerListener,
  [emitterId, eventName]: [string, string],
): Subscription {
  return {
    id: deps.ids.next(PREFIX.subscription),
    ownerId: listener.ownerId,
    emitterId,
    listenerId: listener.id,
    eventName,
    filter: null,
    via: 'trigger',
    active: true,
    createdAtMs: deps.clock.nowMs(),
  };
}

/** Returns the current triggers of a workflow or source, in the order in which they were given. */
export async function listOwnTriggers(store: Store, ownerId: string, listenerId: string): Promise<ShownTrigger[]> {
  const [triggers, subscriptions] = await Promise.all([
    store.listTriggers(ownerId, listenerId),
    store.listTriggerSubscriptions(ownerId, listenerId),
  ]);
  const byId = new Map(triggers.map((trigger) => [trigger.id, trigger]));
  return subscriptions.map((subscription) => ({ subscription, trigger: byId.get(subscription.emitterId) ?? null }));
}

/** Splits triggers into the records that the store writes. */
export function partsOf(shown: readonly ShownTrigger[]): { triggers: Trigger[]; subscriptions: Subscription[] } {
  return {
    triggers: shown.flatMap(({ trigger }) => (trigger ? [trigger] : [])),
    subscriptions: shown.map(({ subscription }) => subscription),
  };
}
