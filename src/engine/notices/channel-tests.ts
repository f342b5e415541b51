// A test of a channel: one notice now, of which nothing is kept.

import { type Attempt, type AttemptDecision, type ClaimedDelivery, decide } from '../../domain/delivery/delivery.ts';
import { NUMBERS_PER_MS } from '../../domain/ids.ts';
import { type Channel, hintOf } from '../../domain/notices/channel.ts';
import { type Notice, noticeEmission } from '../../domain/notices/notice.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Clock, Ids } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { TestPlaces } from '../capacity/test-places.ts';
import { noChannel } from './channels.ts';

export interface ChannelTestDeps {
  readonly store: Pick<Store, 'getChannel'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: () => string;
  /** Undefined: it was cut off, because this process stops. */
  readonly probeChannel: (channel: Channel, delivery: ClaimedDelivery) => Promise<Attempt | undefined>;
}

export interface ChannelProbe {
  readonly attempt: Attempt;
  readonly state: AttemptDecision['state'];
}

/** In the place of an emit id: a test is no emission of the log. */
const TEST_PREFIX = 'test_';

export function createChannelTests({ store, clock, ids, publicUrl, probeChannel }: ChannelTestDeps) {
  const places = new TestPlaces('channels');

  async function testChannel(ownerId: string, id: string): Promise<ChannelProbe> {
    const channel = await store.getChannel(ownerId, id);
    if (!channel) throw noChannel(id);
    return places.run(ownerId, () => made(channel));
  }

  async function made(channel: Channel): Promise<ChannelProbe> {
    const delivery = deliveryOf(channel);
    const attempt = await probeChannel(channel, delivery);
    if (!attempt) throw new Refusal('unavailable', 'This process is stopping; try again');
    const hint = hintOf(channel);
    const shown = hint === null ? attempt : { ...attempt, detail: `${attempt.detail} ${hint}` };
    // Without jitter: only the state is shown.
    return { attempt: shown, state: decide(delivery, attempt, 0.5).state };
  }

  /** Returns the delivery of a test. It has no row: its number and fence say nothing. */
  function deliveryOf({ id, ownerId, kind }: Channel): ClaimedDelivery {
    const entry = clock.nowMs() * NUMBERS_PER_MS;
    const emitId = ids.next(TEST_PREFIX);
    const to = { ownerId, channelId: id, groupId: null, sequence: 0, lastEntry: entry, folded: null };
    const made = noticeEmission(testNotice(emitId, clock.nowMs(), publicUrl()), to);
    return {
      delivery: entry,
      fence: 0,
      kind: kind === 'mail' ? 'mail' : 'http',
      emission: { ...made, test: true, entry, emitId, traceId: emitId },
      subscriptionId: null,
      via: 'channel',
      webhook: null,
      mailTo: null,
      attempt: 1,
      tries: 0,
      trigger: 'test',
    };
  }

  return { testChannel };
}

function testNotice(id: string, nowMs: number, publicUrl: string): Notice {
  const now = new Date(nowMs).toISOString();
  return {
    kind: 'test',
    group_id: id,
    emitter_id: '',
    name: 'Errand',
    code: 'Test',
    message: 'This is a test: notices of errors arrive here.',
    step: '',
    line: '',
    cause: '',
    count: 0,
    more: 0,
    groups: 1,
    reopened: null,
    replayed: null,
    closed: null,
    first_seen: now,
    last_seen: now,
    replayable: false,
    event: '',
    link: publicUrl,
  };
}
