// The channels that are chosen for the errors of emitters, and why one of them gets no notices.

import { channelsFor, insteadOf, OWNER_MAIL } from '../../../domain/notices/channel.ts';
import { isAmong, sql } from '../../config/sql.ts';
import { flag, json, text, textOrNull } from '../../rows/cells.ts';
import { toSettings } from '../../rows/runnable-rows.ts';
import type { LogReader } from '../log-tables.ts';

interface ChosenChannel {
  readonly id: string;
  /** Null: it gets notices. */
  readonly whyNot: string | null;
}

/** Returns the channels by emitter, as the settings are now. */
export async function chosenChannels(
  { database, seal }: LogReader,
  ownerId: string,
  emitterIds: readonly string[],
): Promise<(emitterId: string) => readonly ChosenChannel[]> {
  if (emitterIds.length === 0) return () => [];
  const [owner, runnables, channels] = await Promise.all([
    database.get(sql`SELECT channel_ids, global_error_workflow_id FROM owners WHERE id = ${ownerId}`),
    database.all(sql`SELECT id, settings FROM runnables WHERE id ${isAmong(emitterIds)} AND owner_id = ${ownerId}`),
    database.all(sql`SELECT id, active FROM channels WHERE owner_id = ${ownerId}`),
  ]);
  const owned = owner && {
    channelIds: json<string[]>(owner, 'channel_ids'),
    globalErrorWorkflowId: textOrNull(owner, 'global_error_workflow_id'),
  };
  const settings = new Map(runnables.map((row) => [text(row, 'id'), toSettings(row, seal)]));
  const active = new Map(channels.map((row) => [text(row, 'id'), flag(row, 'active')]));
  const whyNot = (id: string): string | null => {
    if (active.get(id) === true || id === OWNER_MAIL) return null;
    return active.has(id) ? 'the channel is not active' : 'the channel was deleted';
  };
  return (emitterId) => {
    const of = { emitterId, settings: settings.get(emitterId) };
    const chosen = channelsFor(owned, of).map((id) => ({ id, whyNot: whyNot(id) }));
    const instead = chosen.some((one) => one.whyNot === null) ? [] : insteadOf({ owner: owned, ...of });
    return [...chosen, ...instead.map((id) => ({ id, whyNot: null }))];
  };
}
