// What an operation of replays would do with the errors of a selection: a dry run. It judges as the operation does, in the same
// order (engine/runs/replays.ts, replay-errors.ts), without the events: of each error that may be replayed it reads the few bytes
// behind its event that say whether it can be.

import { ERRORS, HOOK_NAMES } from '../../../domain/emission.ts';
import {
  MARKS_BYTES,
  marksIn,
  NO_ERROR,
  OF_HOOK,
  REDACTED_BYTES,
  type Replay,
  whyNever,
  whyPassedOver,
} from '../../../domain/errors/replay.ts';
import { dealtWith, type ReplayOrder } from '../../../domain/errors/replaying.ts';
import { PREFIX } from '../../../domain/ids.ts';
import { KIB, LIMITS } from '../../../domain/limits.ts';
import { isAmongNumbers, raw, sql } from '../../config/sql.ts';
import type { OperationStore, PassedOver, PreviewedError } from '../../contract/operations.ts';
import { bytes, number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { ALL_RUNS, type LogReader } from '../log-tables.ts';
import { selectLastReplays, toLastReplays } from './last-replays.ts';
import { atOnce, candidatesOf, isByDetail, type SelectedError, selectedErrors, toSelected } from './replay-records.ts';

/** Bytes of errors with their events through which a dry run looks for what cannot be replayed. */
export const PREVIEW_BYTES = 64 * 1024 * KIB;

const HOOKS: ReadonlySet<string> = new Set(HOOK_NAMES);

/** The name of the event whose run failed: of a source alone. */
const EVENT_NAME = sql`CASE WHEN substr(emissions.emitter_id, 1, 3) = ${raw(`'${PREFIX.source}'`)} THEN
  (SELECT begun.name FROM ${ALL_RUNS} AS runs JOIN emissions AS begun ON begun.entry = runs.entry
    WHERE runs.run = emissions.cause_run) END AS event_name`;

export function replayPreviews(log: LogReader): Pick<OperationStore, 'previewReplay'> {
  const { database } = log;

  return {
    previewReplay: async (ownerId, { selection, isAgain }) => {
      const counts = new Counts();
      const sampled: PreviewedError[] = [];
      let [looked, after, bytesLeft, isAtLeast] = [0, -1, PREVIEW_BYTES, false];
      let detailsLeft = isByDetail(selection) ? PREVIEW_BYTES : Number.POSITIVE_INFINITY;
      for (let isMore = true; isMore; ) {
        const range = { ownerId, selection, after, lastEntry: LAST, limit: atOnce(selection) };
        const errors = toSelected(await database.planned(selectedErrors(range)), range);
        const meant = errors.filter(({ isMeant }) => isMeant);
        const latest = await lastOf(ownerId, meant);
        const judged = await judge(ownerId, meant, { latest, isAgain, bytesLeft });
        for (const error of meant) counts.add(error, judged.of.get(error.entry));
        isAtLeast ||= judged.of.size < meant.length;
        bytesLeft = judged.bytesLeft;
        const first = await candidatesOf(log, ownerId, meant.slice(0, LIMITS.replaySample - sampled.length));
        sampled.push(...first.map((one) => ({ ...one, before: latest.get(one.entry) ?? null })));
        looked += errors.length;
        after = errors.at(-1)?.entry ?? after;
        isMore = errors.length === range.limit;
        // A database reads of a large record all pages to come to its end.
        for (const error of errors) detailsLeft -= error.bytes;
        if (isMore && (looked >= LIMITS.countedRecords || detailsLeft <= 0)) [isAtLeast, isMore] = [true, false];
        // SQLite's reads are in the server's own thread: whatever came meanwhile goes first.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { ...counts.all(), isAtLeast, sample: sampled };
    },
  };

  async function lastOf(ownerId: string, errors: readonly SelectedError[]): Promise<ReadonlyMap<number, Replay>> {
    const ofRuns = errors.flatMap(({ entry, causeRun }) => (causeRun === null ? [] : { entry, causeRun }));
    if (ofRuns.length === 0) return new Map();
    return toLastReplays(await database.all(selectLastReplays(ownerId, ofRuns)), ofRuns);
  }

  /** Judges errors, of those that may be replayed only as many as can be read. */
  async function judge(
    ownerId: string,
    errors: readonly SelectedError[],
    { latest, isAgain, bytesLeft }: Judging,
  ): Promise<{ readonly of: ReadonlyMap<number, Judged>; readonly bytesLeft: number }> {
    const of = new Map<number, Judged>();
    const read: SelectedError[] = [];
    let left = bytesLeft;
    for (const error of errors) {
      const before = latest.get(error.entry);
      if (before && dealtWith(before, { isAgain }) === 'leave') {
        of.set(error.entry, { outcome: 'replayed_before', reason: whyPassedOver(before) });
      } else if (error.emitterId === null) of.set(error.entry, { outcome: 'not_replayed', reason: NO_ERROR });
      else if (error.bytes <= left) {
        left -= error.bytes;
        read.push(error);
      }
    }
    const never = await whyNeverOf(ownerId, read);
    for (const { entry } of read) {
      const reason = never.get(entry);
      const before = latest.get(entry);
      if (reason !== null) of.set(entry, { outcome: 'not_replayed', reason: reason ?? NO_ERROR });
      else if (before && dealtWith(before, { isAgain }) === 'follow')
        of.set(entry, { outcome: 'under_way', reason: whyPassedOver(before) });
      else of.set(entry, 'replay');
    }
    return { of, bytesLeft: left };
  }

  /** Returns, by entry, why errors can never be replayed; null: they can. */
  async function whyNeverOf(
    ownerId: string,
    errors: readonly SelectedError[],
  ): Promise<ReadonlyMap<number, string | null>> {
    if (errors.length === 0) return new Map();
    const rows = await database.all(sql`SELECT entry, emitter_id, name, code, original_start, cause_run, cause_delivery,
        substr(body, coalesce(original_start + original_length, 0) + 1,
          CASE WHEN cause_run IS NULL AND cause_delivery IS NULL THEN ${raw(String(MARKS_BYTES))}
            ELSE ${raw(String(REDACTED_BYTES))} END) AS head, ${EVENT_NAME}
      FROM emissions WHERE entry ${isAmongNumbers(errors.map(({ entry }) => entry))} AND owner_id = ${ownerId}
        AND name = ${ERRORS}`);
    return new Map(
      rows.map((row) => {
        const error = {
          emitterId: text(row, 'emitter_id'),
          name: text(row, 'name'),
          code: textOrNull(row, 'code'),
          originalStart: numberOrNull(row, 'original_start'),
          causeRun: numberOrNull(row, 'cause_run'),
          causeDelivery: numberOrNull(row, 'cause_delivery'),
          marks: () => marksIn(Buffer.from(bytes(row, 'head')).toString('latin1')),
        };
        const isOfHook = HOOKS.has(textOrNull(row, 'event_name') ?? '');
        return [number(row, 'entry'), whyNever(error) ?? (isOfHook ? OF_HOOK : null)];
      }),
    );
  }
}

/** None of the errors that there are now comes behind it. */
const LAST = Number.MAX_SAFE_INTEGER - 1;

interface Judging extends Pick<ReplayOrder, 'isAgain'> {
  readonly latest: ReadonlyMap<number, Replay>;
  readonly bytesLeft: number;
}

type Judged = 'replay' | Omit<PassedOver, 'count'>;

class Counts {
  #count = 0;
  readonly #byEmitter = new Map<string, number>();
  readonly #toReplay = new Map<string, number>();
  readonly #passedOver = new Map<string, PassedOver>();

  /** Counts an error. `judged` undefined: it is not known what becomes of it. */
  add({ emitterId }: SelectedError, judged: Judged | undefined): void {
    this.#count++;
    if (emitterId !== null) increment(this.#byEmitter, emitterId);
    if (judged === undefined) return;
    if (judged === 'replay') {
      increment(this.#toReplay, emitterId ?? '');
      return;
    }
    const count = (this.#passedOver.get(judged.reason)?.count ?? 0) + 1;
    this.#passedOver.set(judged.reason, { ...judged, count });
  }

  all() {
    return {
      count: this.#count,
      byEmitter: this.#byEmitter,
      toReplay: this.#toReplay,
      passedOver: [...this.#passedOver.values()],
    };
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
