// An attempt at a notice. The log has the notice alone; its channel is read for every attempt, so that a changed address or key
// holds from the next one on, and no secret is stored a second time.

import { utf8 } from '../../domain/bytes.ts';
import type { Attempt, ClaimedDelivery } from '../../domain/delivery/delivery.ts';
import type { Emission } from '../../domain/emission.ts';
import { type Channel, OWNER_MAIL, ownerMail } from '../../domain/notices/channel.ts';
import { requestOf } from '../../domain/notices/formats.ts';
import { channelOfListener } from '../../domain/notices/listener.ts';
import { mailOf } from '../../domain/notices/mail.ts';
import { type Notice, readNotice } from '../../domain/notices/notice.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Attempter } from '../deliveries/deliveries.ts';

export interface ChannelAttemptDeps {
  readonly store: Pick<Store, 'getChannel' | 'getOwner'>;
  readonly clock: Clock;
  readonly post: Attempter;
  readonly mail: Attempter;
  /** Returns a notice as it is shown now: rules may have been set since it was made. */
  readonly noticeFor: (emission: Pick<Emission, 'ownerId' | 'lineage'>, notice: Notice) => Promise<Notice>;
}

/** Sends what a channel's delivery is made into. */
export type SendTo = (channel: Channel, delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Attempt>;

/** Returns `post` for all deliveries, with those to channels among them. */
export function createChannelAttempts(deps: ChannelAttemptDeps): { post: Attempter; sendTo: SendTo } {
  const { store, clock, mail } = deps;

  const sendTo: SendTo = async (channel, delivery, signal) => {
    const { emission } = delivery;
    const notice = await deps.noticeFor(emission, readNotice(emission.body));
    const request = requestOf(channel, notice);
    const body = utf8(JSON.stringify(request ?? mailOf(notice)));
    const made = { ...delivery, emission: { ...emission, body } };
    if (request) return deps.post(made, signal);
    return mail({ ...made, kind: 'mail', mailTo: channel.config.to ?? null }, signal);
  };

  const post: Attempter = async (delivery, signal) => {
    const { onlyListenerId, ownerId } = delivery.emission;
    const id = channelOfListener(onlyListenerId);
    if (id === null) return deps.post(delivery, signal);
    const refused = (detail: string, permanent: boolean): Attempt => unsent(clock.nowMs(), { detail, permanent });
    try {
      const channel = await (id === OWNER_MAIL ? ofOwner(ownerId) : store.getChannel(ownerId, id));
      if (!channel) return refused('The channel was deleted.', true);
      if (!channel.active) return refused('The channel is not active.', true);
      return await sendTo(channel, delivery, signal);
    } catch {
      return refused('The channel could not be read.', false);
    }
  };

  async function ofOwner(ownerId: string): Promise<Channel | undefined> {
    const owner = await store.getOwner(ownerId);
    return owner && ownerMail(owner);
  }

  return { post, sendTo };
}

/** Returns an attempt of which nothing was sent. */
export function unsent(startedAtMs: number, said: { readonly detail: string; readonly permanent: boolean }): Attempt {
  return {
    startedAtMs,
    tookMs: 0,
    timing: { dnsMs: null, connectMs: null, firstByteMs: null },
    outcome: 'refused',
    status: null,
    responseHeaders: {},
    responseBody: '',
    ...said,
  };
}
