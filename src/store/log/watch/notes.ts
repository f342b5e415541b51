// Notes of runs that ended, for the watches of their workflow: collected within a transaction, and written before it is
// committed, each watch once. A workflow that is not watched costs a look at its settings.

import { LIMITS } from '../../../domain/limits.ts';
import { partOf, type WatchKind } from '../../../domain/watch/watch.ts';
import { FOR_UPDATE, isAmong, sql, tableOf } from '../../config/sql.ts';
import { type Steps, send } from '../../config/steps.ts';
import type { LogWriter, NotedIn, RunNote } from '../port.ts';

interface RunNotes {
  readonly kinds: Set<WatchKind>;
  readonly part: number | null;
  succeeded: number;
  failed: number;
}

export class WatchNotes {
  readonly #byId = new Map<string, RunNotes>();

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  add(id: string, note: RunNote, { kinds, part }: NotedIn): void {
    const noted = this.#byId.get(id) ?? { kinds: new Set(), part, succeeded: 0, failed: 0 };
    this.#byId.set(id, noted);
    for (const kind of kinds) noted.kinds.add(kind);
    if (note === 'succeeded') noted.succeeded++;
    if (note === 'failed' || note === 'refused') noted.failed++;
  }

  ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  all(): readonly (readonly [id: string, noted: RunNotes])[] {
    return [...this.#byId].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** Notes a run's end for the watches of its workflow. */
export function noteRun(log: LogWriter, of: { ownerId: string; runnableId: string }, note: RunNote): void {
  const { ownerId, runnableId } = of;
  if (!runnableId.startsWith('p_')) return;
  const watch = log.runnable(ownerId, runnableId)?.settings.watch ?? null;
  if (watch === null) return;
  const kinds: WatchKind[] = [];
  if (watch.silentAfterMs !== null && note !== 'refused') kinds.push('silence');
  if (watch.succeededWithinMs !== null && note === 'succeeded') kinds.push('success');
  const isCounted = watch.errorRatio !== null && note !== 'ran';
  const part = isCounted ? partOf(watch.errorRatio, log.nowMs) : null;
  if (kinds.length > 0 || part !== null) log.noteForWatches(runnableId, note, { kinds, part });
}

/** Locks watches in the order of their keys, so that two nodes do not wait for each other. */
export function* lockWatches(ids: readonly string[]): Steps<void> {
  yield* send(sql`SELECT 1 FROM watches WHERE id ${isAmong(ids)} ORDER BY id, kind ${FOR_UPDATE}`);
}

/** Writes what was noted for watches. On Postgres they are locked before. */
export function* writeNotes(notes: WatchNotes, nowMs: number): Steps<void> {
  if (notes.isEmpty) return;
  const all = notes.all();
  const ids = isAmong(all.map(([id]) => id));
  const soon = nowMs + LIMITS.watchPauseMs;
  const dueSoon = sql`CASE WHEN due_at_ms < ${soon} THEN due_at_ms ELSE ${soon} END`;
  const heard = all.flatMap(([id, { kinds }]) => [...kinds].map((kind) => ({ heard_id: id, heard_kind: kind })));
  if (heard.length > 0) {
    yield* send(sql`UPDATE watches SET heard = heard + 1, last_at_ms = ${nowMs}, excused_ms = 0,
        due_at_ms = CASE WHEN open IS NULL THEN due_at_ms ELSE ${dueSoon} END
      FROM ${tableOf({ heard_id: 'text', heard_kind: 'text' }, heard)}
      WHERE watches.id = given.heard_id AND watches.kind = given.heard_kind AND watches.id ${ids}`);
  }
  const counted = all.flatMap(([id, { part, succeeded, failed }]) =>
    part === null || succeeded + failed === 0 ? [] : [{ id, part, succeeded, failed }],
  );
  if (counted.length === 0) return;
  yield* send(sql`INSERT INTO watch_counts (id, part, succeeded, failed)
    SELECT id, part, succeeded, failed
      FROM ${tableOf({ id: 'text', part: 'bigint', succeeded: 'bigint', failed: 'bigint' }, counted)}
      WHERE true ORDER BY id, part
    ON CONFLICT (id, part) DO UPDATE SET succeeded = watch_counts.succeeded + excluded.succeeded,
      failed = watch_counts.failed + excluded.failed`);
  // Runs that succeed change nothing of a workflow that is well.
  yield* send(sql`UPDATE watches SET heard = heard + 1, due_at_ms = ${dueSoon}
    WHERE kind = 'ratio' AND id ${ids} AND (open IS NOT NULL
      OR id ${isAmong(counted.flatMap(({ id, failed }) => (failed > 0 ? [id] : [])))})`);
}
