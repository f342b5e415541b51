// The links of notices: who has one may look at a group of errors, mute or resolve it, and replay its newest error, without a
// key. A link is signed, names one group, and expires. Only POST acts: programs that scan mails, and chats that preview links,
// send GET.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ErrorGroup, GroupOrder } from '../../domain/errors/group.ts';
import { SECOND_MS } from '../../domain/limits.ts';
import { NOTICE_LIMITS } from '../../domain/notices/limits.ts';
import type { ShownError } from '../../domain/notices/notice.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { LinkAction, LinkAddress } from '../../domain/requests.ts';
import type { Clock } from '../../ports.ts';
import type { Appended, Store } from '../../store/contract/store.ts';
import { newestOf } from './newest.ts';

export interface LinkDeps {
  readonly store: Pick<Store, 'deriveKey' | 'getOwner'>;
  /** What the page of a link shows. */
  readonly shown: Pick<Store, 'getErrorGroup' | 'getEmission'>;
  readonly clock: Clock;
  readonly publicUrl: () => string;
}

interface LinkMaking extends Pick<LinkDeps, 'clock' | 'publicUrl'> {
  readonly store: Pick<Store, 'deriveKey'>;
}

interface LinkActs {
  readonly updateErrorGroup: (
    ownerId: string,
    id: string,
    change: { readonly status: GroupOrder },
  ) => Promise<ErrorGroup>;
  readonly replay: (
    ownerId: string,
    emitterId: string,
    entry: number,
    how: { readonly edited: null; readonly isOnce: true },
  ) => Promise<Appended>;
}

const MAC_BYTES = 18;

function macOf(key: Uint8Array, { ownerId, groupId, expiresS }: Omit<LinkAddress, 'mac'>): string {
  const signed = `notice link ${ownerId} ${groupId} ${expiresS}`;
  return createHmac('sha256', key).update(signed).digest().subarray(0, MAC_BYTES).toString('base64url');
}

/** Returns what makes the link of a group. */
export function createNoticeLinks({ store, clock, publicUrl }: LinkMaking) {
  let key: Uint8Array | undefined;
  return ({ ownerId, id }: Pick<ErrorGroup, 'ownerId' | 'id'>): string => {
    const expiresS = Math.floor((clock.nowMs() + NOTICE_LIMITS.noticeLinkMs) / SECOND_MS);
    key ??= store.deriveKey('notice link');
    const mac = macOf(key, { ownerId, groupId: id, expiresS });
    return `${publicUrl()}/n/${ownerId}/${id}/${expiresS}.${mac}`;
  };
}

export function createLinkActions({ store, shown, clock }: LinkDeps, acts: LinkActs) {
  /** Finds the group that a link is for. A group that is not there, a wrong signature and an expired link are refused alike. */
  async function findLinked(address: LinkAddress): Promise<ErrorGroup> {
    // As text: base64 may be spelled in several ways.
    const wanted = Buffer.from(macOf(store.deriveKey('notice link'), address));
    const given = Buffer.from(address.mac);
    const isSigned = given.length === wanted.length && timingSafeEqual(given, wanted);
    const isValid = isSigned && clock.nowMs() < address.expiresS * SECOND_MS;
    if (isValid && (await store.getOwner(address.ownerId))?.deletion) {
      throw new Refusal('owner_deleted', 'The owner of this link is being deleted');
    }
    const whole = isValid ? await shown.getErrorGroup(address.ownerId, address.groupId) : undefined;
    if (!whole) throw new Refusal('not_found', 'This link is wrong, or it has expired');
    return whole.group;
  }

  /** Does what was confirmed. */
  async function actByLink(address: LinkAddress, action: LinkAction): Promise<void> {
    const { ownerId, id, emitterId, lastEntry } = (await showLinked(address, action)).group;
    if (action === 'replay') {
      // A form is sent twice by a double click, and a link is opened by several readers of a mail.
      await acts.replay(ownerId, emitterId, lastEntry, { edited: null, isOnce: true });
    } else {
      await acts.updateErrorGroup(ownerId, id, { status: orderOf(action, clock.nowMs()) });
    }
  }

  /** Returns what a page shows; refuses an action that cannot be. */
  async function showLinked(
    address: LinkAddress,
    action: LinkAction | null,
  ): Promise<{ group: ErrorGroup; newest: ShownError }> {
    const group = await findLinked(address);
    const newest = await newestOf(shown, group);
    if (action === 'replay' && newest.whyNoReplay !== null)
      throw new Refusal('impossible', `The newest of these errors cannot be replayed: ${newest.whyNoReplay}`);
    return { group, newest };
  }

  return { findLinked, showLinked, actByLink };
}

function orderOf(action: 'mute' | 'resolve', nowMs: number): GroupOrder {
  if (action === 'resolve') return { state: 'resolved', inNextDeployment: false };
  const untilMs = nowMs + NOTICE_LIMITS.linkMuteMs;
  return { state: 'muted', untilMs, afterCount: null, untilNextDeployment: false };
}
