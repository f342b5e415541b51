import type { Delivery } from '../../../src/client/client.ts';
import { DELIVERY_STATES } from '../api/states.ts';

export interface NoticeSearch {
  /** Mails when it is not given. */
  readonly channel?: string | undefined;
  readonly state?: Delivery['state'] | undefined;
}

export function noticeSearch({ channel, state }: Record<string, unknown>): NoticeSearch {
  const known = DELIVERY_STATES.find((one) => one === state);
  return {
    ...(typeof channel === 'string' && channel.startsWith('ch_') ? { channel } : {}),
    ...(known === undefined ? {} : { state: known }),
  };
}
