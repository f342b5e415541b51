import { useQueries, useQuery } from '@tanstack/react-query';
import type { Channel, Delivery } from '../../../src/client/client.ts';
import { channelsQuery, newestNoticeQuery } from '../api/channels.ts';
import { shownState } from '../api/states.ts';
import { type Asked, together } from '../parts/state.tsx';

/** Returns whether a notice has failed: it is given up, or waits for another attempt. */
export function hasFailed(notice: Delivery | null | undefined): notice is Delivery {
  return notice != null && notice.state !== 'delivered';
}

interface ChannelNotice {
  readonly channel: Channel;
  /** The newest that was attempted. */
  readonly notice: Delivery | null;
}

interface ChannelNotices {
  readonly failing: readonly (ChannelNotice & { readonly notice: Delivery })[];
  /** Of active channels whose newest notice, if there is any, has reached them. */
  readonly working: readonly string[];
  readonly asked: Asked;
}

/** Tells which active channels get their notices. */
export function useChannelNotices(): ChannelNotices {
  const channels = useQuery(channelsQuery);
  const active = (channels.data ?? []).filter((one) => one.active);
  const newest = useQueries({ queries: active.map(({ id }) => newestNoticeQuery(id)) });
  const all = active.map((channel, at): ChannelNotice => ({ channel, notice: newest[at]?.data ?? null }));
  return {
    failing: all.flatMap(({ channel, notice }) => (hasFailed(notice) ? [{ channel, notice }] : [])),
    working: all
      .filter(({ notice }) => notice === null || shownState(notice.state, notice.why) === 'delivered')
      .map(({ channel }) => channel.id),
    asked: together([channels, ...newest]),
  };
}
