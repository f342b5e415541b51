// What the addresses of the lists of webhooks and of deliveries hold.

import type { Delivery } from '../../../src/client/client.ts';
import { DELIVERY_STATES, everyOf } from '../api/states.ts';

export interface WebhookSearch {
  /** The dialog for a new one is open: it is to hear this workflow or source. */
  readonly hears?: string;
}

export function webhookSearch({ hears }: Record<string, unknown>): WebhookSearch {
  return typeof hears === 'string' && /^(p|dc)_\w{1,32}$/.test(hears) ? { hears } : {};
}

export type DeliveryKind = 'webhook' | 'mail' | 'http';

export const KINDS = everyOf<DeliveryKind>()(['webhook', 'mail', 'http']);

export interface DeliverySearch {
  /** A kind of receivers, a webhook or a channel. */
  readonly to?: string;
  readonly state?: Delivery['state'];
}

export function isKind(to: string): to is DeliveryKind {
  return KINDS.some((one) => one === to);
}

export function deliverySearch({ to, state }: Record<string, unknown>): DeliverySearch {
  const known = DELIVERY_STATES.find((one) => one === state);
  return {
    ...(typeof to === 'string' && (isKind(to) || /^(wh|ch)_\w{1,32}$/.test(to)) ? { to } : {}),
    ...(known === undefined ? {} : { state: known }),
  };
}
