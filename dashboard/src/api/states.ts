// Lists of what the interface gives one of, in the order in which they are shown.

import type { Delivery, Operation, Run } from '../../../src/client/client.ts';

/**
 * Returns `list`. It compiles only when it has every member of the union `T`, so that none that the interface gets later is
 * missing from a choice.
 */
export const everyOf =
  <T extends string>() =>
  <const L extends readonly T[]>(list: L & ([T] extends [L[number]] ? unknown : Exclude<T, L[number]>)): L =>
    list;

export const RUN_STATES = everyOf<Run['state']>()(['succeeded', 'failed', 'waiting', 'running', 'queued', 'cancelled']);

export const DELIVERY_STATES = everyOf<Delivery['state']>()([
  'delivered',
  'retrying',
  'exhausted',
  'pending',
  'sending',
  'held',
  'cancelled',
]);

/** Returns the state to show of what was sent: a delivery that was made says why only when it is a mail that reached no person. */
export function shownState(state: string, why: string | null | undefined): string {
  return state === 'delivered' && why ? 'kept' : state;
}

export type ResendableState = Operation['states'][number];

/** Of deliveries that can be sent again. */
export const RESENDABLE_STATES = everyOf<ResendableState>()(['exhausted', 'cancelled', 'retrying', 'delivered']);
