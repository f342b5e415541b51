import type { Delivery } from '../../../src/client/client.ts';

export interface NoticeSearch {
  /** Mails when it is not given. */
  readonly channel?: string | undefined;
  readonly state?: Delivery['state'] | undefined;
}

export const NOTICE_STATES = [
  'pending',
  'sending',
  'retrying',
  'held',
  'delivered',
  'exhausted',
  'cancelled',
] as const satisfies readonly Delivery['state'][];

export function noticeSearch({ channel, state }: Record<string, unknown>): NoticeSearch {
  const known = NOTICE_STATES.find((one) => one === state);
  return {
    ...(typeof channel === 'string' && channel.startsWith('ch_') ? { channel } : {}),
    ...(known === undefined ? {} : { state: known }),
  };
}
