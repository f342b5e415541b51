// Deliveries of one webhook `wh_1` with a store, a receiver and a clock in the test's hands.

import assert from 'node:assert/strict';
import type { Attempt, ClaimedDelivery } from '../../../../src/domain/delivery/delivery.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { WebhookSettings } from '../../../../src/domain/resource.ts';
import { Slots } from '../../../../src/engine/capacity/slots.ts';
import { Deliveries } from '../../../../src/engine/deliveries/deliveries.ts';
import { DeliveryLimiter } from '../../../../src/engine/deliveries/delivery-limiter.ts';
import type { AttemptEnd, Attempted, Store } from '../../../../src/store/contract/store.ts';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { answered, claimedDelivery, createLog, createWake, NOTHING, random, webhook } from '../parts.ts';

export const MAX = LIMITS.inFlightPerWebhook;
export const OK = answered(200);
const CUT = answered(200, { outcome: 'timeout', status: null });
export const RECORDED: Attempted = { held: true, claims: NOTHING, errorEntry: null, isDisabled: false };

export interface Scene {
  readonly settings?: Partial<WebhookSettings>;
  readonly recordAttempt?: (end: AttemptEnd) => Promise<Attempted>;
  readonly claimDeliveries?: Store['claimDeliveries'];
  /** How often storage is away when something goes back. */
  readonly outages?: number;
  /** By so much the clock may be late. */
  readonly unsureMs?: number;
  /** A receiver that our stop does not cut off. */
  readonly isDeaf?: boolean;
}

export function create(scene: Scene = {}) {
  const { settings, recordAttempt = async () => RECORDED, claimDeliveries, unsureMs = 0, isDeaf = false } = scene;
  let { outages = 0 } = scene;
  let now = 0;
  const { wake, woken } = createWake();
  const recorded: AttemptEnd[] = [];
  const released: number[] = [];
  const posted: { delivery: number; answer: (made?: Attempt) => void }[] = [];
  const known = webhook(settings);
  const limiter = new DeliveryLimiter(() => now);
  const slots = new Slots(limiter, { runs: true, deliveries: true });
  slots.open();
  const store: Partial<Store> = {
    recordAttempt: (end) => {
      recorded.push(end);
      return recordAttempt(end);
    },
    releaseDeliveries: async (leases) => {
      if (outages-- > 0) throw new StoreUnavailable('away');
      released.push(...leases.map(({ delivery }) => delivery));
    },
    claimDeliveries: claimDeliveries ?? (async () => ({ ...NOTHING, nextDueAtMs: null })),
  };
  const inc = { inc: () => undefined, observe: () => undefined };
  const post = ({ delivery }: ClaimedDelivery, signal: AbortSignal): Promise<Attempt> =>
    new Promise((resolve) => {
      if (!isDeaf) signal.addEventListener('abort', () => resolve(CUT));
      posted.push({ delivery, answer: (made = OK) => resolve(made) });
    });
  const request = { method: 'POST', url: known.url, headers: [], body: Buffer.from('{}') };
  const deliveries = new Deliveries({
    store: store as Store,
    slots,
    limiter,
    dispatch: { take: () => undefined } as never,
    post,
    mail: () => Promise.reject(new Error('no mails here')),
    probe: async (delivery, signal) => ({ attempt: await post(delivery, signal), request }),
    wake,
    metrics: { attempts: inc, attemptSeconds: inc } as never,
    tracing: null,
    clock: { nowMs: () => now, latestMs: () => now + unsureMs },
    random,
    log: createLog().log,
  });
  /** As the store would: only what the slots take. */
  const take = (): boolean => slots.takeDelivery('wh_1', known);
  const come = (delivery: number, more: Partial<ClaimedDelivery> = {}): void =>
    deliveries.attempt(claimedDelivery(delivery, { webhook: known, ...more }));
  const claim = (delivery: number, more: Partial<ClaimedDelivery> = {}): boolean => {
    const isTaken = take();
    if (isTaken) come(delivery, more);
    return isTaken;
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  const told = { recorded, released, posted, woken };
  return { deliveries, slots, limiter, ...told, take, come, claim, pass };
}

export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export const numbersOf = (list: readonly { delivery: number }[]) => list.map(({ delivery }) => delivery);

/** Makes the webhook known as fast, then sends as much as may be on its way, and more that stands in line. */
export async function busy(inLine: number, scene: Scene = {}) {
  const made = create(scene);
  made.claim(0);
  made.posted.shift()?.answer();
  await settled();
  made.recorded.length = 0;
  for (let n = 1; n <= MAX + inLine; n++) made.claim(n);
  assert.equal(made.posted.length, MAX);
  assert.equal(made.slots.inFlight.deliveries, MAX + inLine);
  return made;
}
