// Sends notices that are due: each becomes one emission for every channel that gets it.

import type { NewEmission } from '../../domain/emission.ts';
import type { ErrorGroup } from '../../domain/errors/group.ts';
import { msOf } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { channelsFor, insteadOf, OWNER_MAIL, opensIncidents, ownerMail } from '../../domain/notices/channel.ts';
import { NOTICE_LIMITS } from '../../domain/notices/limits.ts';
import { channelOfListener } from '../../domain/notices/listener.ts';
import { mailEmission } from '../../domain/notices/mail.ts';
import { type Closing, type Notice, noticeEmission, summaryKey, summaryOf } from '../../domain/notices/notice.ts';
import type { Owner, Settings } from '../../domain/resource.ts';
import type { Log } from '../../ports.ts';
import type { TakenNotice } from '../../store/contract/channels.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Emit } from '../accept/emit.ts';
import { type ClosingStore, closingOf } from './closings.ts';
import { newestOf } from './newest.ts';

export interface NoticesDeps {
  readonly store: Pick<
    Store,
    'takeNotices' | 'endNotice' | 'getOwner' | 'getWorkflow' | 'getChannel' | 'getEmission' | 'countReplayed'
  > &
    ClosingStore;
  readonly emit: Emit;
  readonly log: Log;
  /** Returns the link of a group. */
  readonly linkOf: (group: ErrorGroup) => string;
}

/** Of the global error workflow. */
const UNTOLD =
  'This is the global error workflow, which tells you of the errors of all others. While it fails, they are listed, and you are not told of them.';

/** Sends some of the notices that are due. Returns whether there may be more. */
export type SendNotices = () => Promise<boolean>;

export function createNotices({ store, emit, log, linkOf }: NoticesDeps): SendNotices {
  async function send(taken: TakenNotice): Promise<void> {
    const { group, sequence } = taken;
    const { ownerId } = group;
    const owner = await store.getOwner(ownerId);
    const workflow = isWorkflow(group) ? await store.getWorkflow(ownerId, group.emitterId) : undefined;
    const isGone = isWorkflow(group) && workflow === undefined;
    const channelIds = owner ? await channelsOf(owner, taken, isGone ? null : workflow?.settings) : [];
    const closed = taken.kind === 'recovered' ? await closingOf(store, group, workflow) : null;
    // A deletion is no news to the person who made it.
    const isMailed = owner !== undefined && taken.wasMailed && closed !== 'deleted';
    const closedIds = taken.summaries ? await withIncidents(ownerId, taken.summaries.listenerIds) : [];
    if (channelIds.length + closedIds.length > 0 || isMailed) {
      const { notice, lineage } = await noticeOf(taken, closed);
      const emitOnce = async (made: NewEmission, to: string, { of = group.id, n = sequence } = {}): Promise<void> => {
        await emit(made, { idempotency: { triggerId: of, key: `${n} ${to}`, requestHash: '' } });
      };
      await Promise.all(
        channelIds.map((channelId) => {
          const folded = taken.folded && { emitterId: group.emitterId, ids: taken.folded.ids };
          const to = { ownerId, channelId, groupId: group.id, sequence, lastEntry: group.lastEntry, folded, lineage };
          const told = channelId === OWNER_MAIL && notice.kind !== 'recovered' ? { ...notice, note: UNTOLD } : notice;
          return emitOnce(noticeEmission(told, to), channelId);
        }),
      );
      // Several groups of a summary may be the last one at the same time: what it opened is closed once.
      const once = { of: summaryKey(group.emitterId), n: taken.summaries?.newest ?? 0 };
      const closing = { ...notice, group_id: once.of };
      for (const channelId of closedIds) {
        const about = { sequence: once.n, lastEntry: group.lastEntry, folded: null, lineage };
        const to = { ownerId, channelId, groupId: null, ...about };
        await emitOnce(noticeEmission(closing, to), channelId, once);
      }
      if (isMailed) await emitOnce(mailEmission(notice, { ownerId, lineage }), 'mail');
    }
    await store.endNotice(taken, owner?.digestWindowMs ?? LIMITS.digestWindowMs);
  }

  /**
   * Returns the channels that get a notice. A recovery is told to those who were told of the error, and not to those for whom it
   * is withheld or was lost; what they opened is closed. A notice that is taken again when its workflow is deleted goes where it
   * went before: the settings that named its channels are gone, too.
   */
  async function channelsOf(
    owner: Owner,
    { kind, wasTold, told, group }: TakenNotice,
    settings: Settings | null | undefined,
  ): Promise<readonly string[]> {
    const heard = new Map(
      told.flatMap(({ listenerId, heard }) => {
        const id = channelOfListener(listenerId);
        return id === null || (kind === 'recovered' && !wasTold) ? [] : [[id, heard]];
      }),
    );
    const isToldBefore = kind === 'recovered' || settings === null;
    const ids = isToldBefore ? heard.keys() : channelsFor(owner, { emitterId: group.emitterId, settings });
    const found = await Promise.all(
      [...new Set(ids)].map((id) => (id === OWNER_MAIL ? ownerMail(owner) : store.getChannel(owner.id, id))),
    );
    const open = found.flatMap((channel) => (channel?.active ? [channel] : []));
    if (open.length === 0 && !isToldBefore) return insteadOf({ owner, emitterId: group.emitterId, settings });
    return open.flatMap((channel) => {
      // An attempt whose answer was lost may have opened an incident: closing one that is not open is no error.
      const isWanted = kind !== 'recovered' || opensIncidents(channel.kind) || heard.get(channel.id) === true;
      return isWanted ? [channel.id] : [];
    });
  }

  /** Returns the channels among listeners that keep open what a summary opened. */
  async function withIncidents(ownerId: string, listenerIds: readonly string[]): Promise<readonly string[]> {
    const ids = listenerIds.flatMap((listenerId) => channelOfListener(listenerId) ?? []);
    const found = await Promise.all(ids.map((id) => store.getChannel(ownerId, id)));
    return found.flatMap((channel) => (channel?.active && opensIncidents(channel.kind) ? [channel.id] : []));
  }

  async function noticeOf(
    taken: TakenNotice,
    closed: Closing | null,
  ): Promise<{ notice: Notice; lineage: readonly string[] }> {
    const { group, kind, more, folded } = taken;
    const { reopened } = group;
    const { name, message, step, line, cause, event, lineage, whyNoReplay } = await newestOf(store, group);
    const replays = kind === 'recovered' ? await store.countReplayed(group) : null;
    const one: Notice = {
      kind,
      group_id: group.id,
      emitter_id: group.emitterId,
      name,
      code: group.fingerprint.code,
      message,
      step,
      line,
      cause,
      count: group.count,
      more,
      groups: 1,
      reopened: kind === 'recovered' || reopened === null ? null : reopenedText(reopened),
      replayed: replays !== null && replays.succeeded > 0 ? replays : null,
      closed,
      first_seen: isoOf(group.firstEntry),
      last_seen: isoOf(group.lastEntry),
      replayable: whyNoReplay === null,
      event,
      link: linkOf(group),
    };
    const notice = folded ? summaryOf(one, { groups: folded.ids.length, errors: folded.errors }) : one;
    return { notice, lineage };
  }

  return async () => {
    const taken = await store.takeNotices(NOTICE_LIMITS.noticesPerStep);
    // Together, so that their writes share commits.
    await Promise.all(
      taken.map((one) =>
        // It is taken again: one that cannot be sent must not keep the others from being sent.
        send(one).catch((error: unknown) => {
          log.error({ err: error, group: one.group.id }, 'a notice could not be sent');
        }),
      ),
    );
    return taken.length > 0;
  };
}

function isWorkflow({ emitterId }: ErrorGroup): boolean {
  return emitterId.startsWith('p_');
}

function isoOf(entry: number): string {
  return new Date(msOf(entry)).toISOString();
}

function reopenedText({ from, by }: NonNullable<ErrorGroup['reopened']>): string {
  if (by === 'person') return `it was ${from}, and opened by a person`;
  return `it was ${from}, and opened by ${by === 'error' ? 'another error' : `its ${by}`}`;
}
