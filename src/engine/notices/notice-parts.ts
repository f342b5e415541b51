// What tells of errors beside the global error workflow: notices to channels, and the links that they have.

import type { Urls } from '../../domain/endpoint.ts';
import type { Log, StoreClock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Emit } from '../accept/emit.ts';
import { type ChannelAttemptDeps, createChannelAttempts } from './channel-attempts.ts';
import { createNoticeLinks } from './links.ts';
import { createNotices } from './notices.ts';
import { unlessSettled } from './unless-settled.ts';

interface NoticeParts {
  readonly store: Store;
  readonly clock: StoreClock;
  readonly log: Log;
  readonly emit: Emit;
  readonly urls: Urls;
  readonly senders: Pick<ChannelAttemptDeps, 'post' | 'mail' | 'noticeFor'>;
}

export function buildNotices({ store, clock, log, emit, urls, senders }: NoticeParts) {
  const { post, sendTo } = createChannelAttempts({ store, clock, ...senders });
  const linkOf = createNoticeLinks({ store, clock, ...urls });
  return {
    linkOf,
    sendNotices: createNotices({ store, emit, log, linkOf }),
    sendTo,
    post: unlessSettled({ store, clock }, post),
    mail: unlessSettled({ store, clock }, senders.mail),
  };
}
