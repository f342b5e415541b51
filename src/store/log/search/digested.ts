// What became of mails that were counted instead of being sent: the digest that tells of them has their window's key as its group, and is
// the first one after them. One that was given up leaves its count to the next one (domain/delivery/given-up.ts).

import { MAIL } from '../../../domain/delivery/delivery.ts';
import { countedBy, groupOfKey, MUTED_MAIL, RESOLVED_MAIL } from '../../../domain/delivery/digest.ts';
import { EMAIL } from '../../../domain/emission.ts';
import type { Telling } from '../../../domain/errors/told.ts';
import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { isAmong, isAmongNumbers, NO_KEY, raw, sql, tableOf } from '../../config/sql.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { IS_SETTLED } from '../groups/group-notices.ts';
import { ALL_DELIVERIES, type LogReader } from '../log-tables.ts';

/** A mail that was not sent. */
export interface WithheldMail {
  readonly entry: number;
  readonly digestKey: string | null;
  readonly reason: string;
}

/** `entry`: of the digest; null: there is none, and there will be none unless the group is opened again. */
export interface Digested {
  readonly entry: number | null;
  readonly state: Telling['state'];
}

/** Digests of one mail that are followed: each but the last was given up. */
const MOST_GIVEN_UP = 20;

/** Returns, by mail of one owner, what became of it; undefined: it was not counted, or is to be in a digest that is not there yet. */
export async function digestedOf(
  log: Pick<LogReader, 'database'>,
  ownerId: string,
  mails: readonly WithheldMail[],
): Promise<(entry: number) => Digested | undefined> {
  const counted = mails.flatMap(({ entry, digestKey, reason }) => {
    const key = digestKey === null ? null : countedBy(digestKey, reason);
    return key === null ? [] : [{ entry, key, group: groupOfKey(digestKey ?? '') }];
  });
  if (counted.length === 0) return () => undefined;
  const found = new Map<number, Digested & { readonly endedAtMs: number | null }>();
  let open: readonly { entry: number; key: string; after: number }[] = counted.map((one) => ({
    ...one,
    after: one.entry,
  }));
  for (let round = 0; open.length > 0 && round < MOST_GIVEN_UP; round++) {
    const digests = await firstAfter(log, ownerId, open);
    const next = open.flatMap((one) => {
      const digest = digests.get(one.entry);
      if (!digest) return [];
      found.set(one.entry, digest);
      const { state, endedAtMs } = digest;
      return state === 'exhausted' && endedAtMs !== null ? [{ ...one, after: endedAtMs * NUMBERS_PER_MS }] : [];
    });
    open = next;
  }
  const left = counted.filter(({ entry }) => !found.has(entry));
  const settled = await settledAmong(log, ownerId, [...new Set(left.map(({ group }) => group))]);
  const resolved = new Set(left.filter(({ group }) => settled.has(group)).map(({ entry }) => entry));
  return (entry) => found.get(entry) ?? (resolved.has(entry) ? { entry: null, state: 'resolved' } : undefined);
}

const SOUGHT = { entry: 'bigint', digest_key: 'text', behind: 'bigint' } as const;

/** Returns, by mail, the first digest of its window's key after a number, and what became of it. */
async function firstAfter(
  { database }: Pick<LogReader, 'database'>,
  ownerId: string,
  mails: readonly { readonly entry: number; readonly key: string; readonly after: number }[],
): Promise<ReadonlyMap<number, Digested & { readonly endedAtMs: number | null }>> {
  const sought = mails.map(({ entry, key, after }) => ({ entry, digest_key: key, behind: after }));
  const rows = await database.all(sql`SELECT mails.entry AS mail, (SELECT digests.entry FROM emissions AS digests
      WHERE digests.group_id IS NOT NULL AND digests.group_id >= mails.digest_key AND digests.group_id <= mails.digest_key
        AND digests.entry > mails.behind AND digests.owner_id = ${ownerId} AND digests.name = ${IS_EMAIL}
      ORDER BY digests.group_id, digests.entry LIMIT 1) AS digest
    FROM (SELECT entry, digest_key, behind FROM ${tableOf(SOUGHT, sought)} WHERE true) AS mails`);
  const digestOf = new Map(rows.map((row) => [number(row, 'mail'), numberOrNull(row, 'digest')]));
  const among = isAmongNumbers([...new Set([...digestOf.values()].filter((digest) => digest !== null))]);
  const states = await database.all(sql`SELECT entry, state, ended_at_ms, NULL AS reason
      FROM ${ALL_DELIVERIES} AS deliveries WHERE entry ${among} AND listener_id = ${MAIL}
    UNION ALL SELECT entry, NULL, NULL, reason FROM withheld WHERE entry ${among} AND listener_id = ${MAIL}`);
  const digests = new Map(
    states.map((row) => {
      const entry = number(row, 'entry');
      return [entry, { entry, state: stateOf(row), endedAtMs: numberOrNull(row, 'ended_at_ms') }];
    }),
  );
  return new Map(
    mails.flatMap(({ entry }) => {
      const digest = digests.get(digestOf.get(entry) ?? 0);
      return digest ? [[entry, digest]] : [];
    }),
  );
}

/** Written out: partial indexes apply to words, not to parameters. */
const IS_EMAIL = raw(`'${EMAIL}'`);

/** Returns what became of a digest. A mail is cancelled when a person has resolved what it tells of. */
function stateOf(row: Parameters<typeof text>[0]): Telling['state'] {
  const [state, reason] = [textOrNull<Telling['state']>(row, 'state'), textOrNull(row, 'reason')];
  if (state !== null) return state === 'cancelled' ? 'resolved' : state;
  return withheldState(reason ?? '');
}

/** Returns the state of a mail that was withheld for that reason. */
export function withheldState(reason: string): Telling['state'] {
  if (reason === MUTED_MAIL) return 'muted';
  return reason === RESOLVED_MAIL ? 'resolved' : 'withheld';
}

async function settledAmong(
  { database }: Pick<LogReader, 'database'>,
  ownerId: string,
  groups: readonly string[],
): Promise<ReadonlySet<string>> {
  if (groups.length === 0) return new Set();
  const rows = await database.all(sql`SELECT g.id FROM error_groups AS g
    WHERE g.id ${isAmong(groups)} AND ${NO_KEY}g.owner_id = ${ownerId} AND ${raw(IS_SETTLED)}`);
  return new Set(rows.map((row) => text(row, 'id')));
}
