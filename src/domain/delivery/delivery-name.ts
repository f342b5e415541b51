// What a delivery is called in its error.

import { NOTICE } from '../emission.ts';
import { OWNER_MAIL } from '../notices/channel.ts';
import { channelOfListener } from '../notices/listener.ts';
import type { ClaimedDelivery } from './delivery.ts';
import { readRequest, titleOf } from './http-request.ts';

/** The names of what has to do with a delivery; null: it has none, or it was deleted. */
export interface DeliveryNames {
  /** The workflow that sent it. */
  readonly emitter: string | null;
  /** The owner, of what the service sends by itself. */
  readonly owner: string | null;
  readonly channel: string | null;
}

/** Returns a text such as `Notice to "Team chat" (ch_…)`. */
export function nameOfDelivery({ kind, emission }: ClaimedDelivery, channelName: string | null): string {
  if (emission.name === NOTICE) {
    const id = channelOfListener(emission.onlyListenerId);
    if (id === OWNER_MAIL) return 'Mail about the global error workflow';
    return channelName === null ? `Notice to ${id}` : `Notice to ${JSON.stringify(channelName)} (${id})`;
  }
  if (kind === 'http') return `Request ${titleOf(readRequest(emission.body))} (${emission.emitId})`;
  return kind === 'mail' ? 'Mail' : 'Webhook';
}
