// The ledger's figures by hour: what charts are made of. They are noted from time to time, so that accepting and ending cost
// nothing more; rows that scans would have to count are deleted by retention, and counts of the last hours would differ.
//
// (Rejected: a counter for each hour, changed with the ledger in each transaction. It would double what each commit writes there. A
// note takes SQLite 2.4 ms a minute, which is 0.02 µs a run at 2,000 runs/s, where accepting and ending one take 103 µs.)

import { FIGURES, type Figures, figuresOf, type NotedHour } from '../../domain/ledger/hours.ts';
import { HOUR_MS } from '../../domain/limits.ts';
import { isAmong, type Sql, sql, tableOf } from '../config/sql.ts';
import { send } from '../config/steps.ts';
import type { StatsStore } from '../contract/stats.ts';
import { number, text } from '../rows/cells.ts';
import { toLedger } from '../rows/log-rows.ts';
import type { Row } from '../rows/rows.ts';
import type { LogReader } from './log-tables.ts';

const OWNERS_PER_STEP = 200;

const COLUMNS = {
  owner_id: 'text',
  hour: 'bigint',
  ...Object.fromEntries(FIGURES.map((one) => [one, 'bigint'])),
} as const;

export function ledgerHourVerbs({ database }: Pick<LogReader, 'database'>): Omit<StatsStore, 'runHealth'> {
  return {
    noteHours: async (after, beforeMs) => {
      const owners = await database.all(
        sql`SELECT id FROM owners WHERE id > ${after ?? ''} ORDER BY id LIMIT ${OWNERS_PER_STEP}`,
      );
      const ids = owners.map((row) => text(row, 'id'));
      const [counted, noted] = [await counts(ids), await lastNotes(ids)];
      const changed = [...counted].filter(([id, figures]) => {
        const before = noted.get(id);
        return FIGURES.some((one) => figures[one] !== (before?.[one] ?? 0));
      });
      const old = oldNotes(ids, Math.floor(beforeMs / HOUR_MS));
      const hasOld = (await database.get(sql`SELECT 1 AS one FROM ledger_hours WHERE ${old} LIMIT 1`)) !== undefined;
      // Mostly there is nothing to write, and then nothing is synced to the disk.
      const isDone = changed.length === 0 && !hasOld;
      if (!isDone)
        await database.write(function* (w) {
          const now = Math.floor(w.nowMs / HOUR_MS);
          const rows = changed.map(([id, figures]) => ({ owner_id: id, hour: now, ...figures }));
          if (rows.length > 0) {
            yield* send(sql`INSERT INTO ledger_hours (owner_id, hour, events, runs, errors, deliveries)
            SELECT owner_id, hour, events, runs, errors, deliveries FROM ${tableOf(COLUMNS, rows)} WHERE true
            ON CONFLICT (owner_id, hour) DO UPDATE SET events = excluded.events, runs = excluded.runs,
              errors = excluded.errors, deliveries = excluded.deliveries`);
          }
          yield* send(sql`DELETE FROM ledger_hours WHERE ${old}`);
        });
      return { next: ids.length < OWNERS_PER_STEP ? null : (ids.at(-1) ?? null) };
    },

    notedHours: async (ownerId, { fromHour, toHour }) => {
      const rows = await database.all(sql`SELECT * FROM ledger_hours WHERE owner_id = ${ownerId} AND hour < ${toHour}
          AND hour >= coalesce((SELECT max(l.hour) FROM ledger_hours AS l
            WHERE l.owner_id = ${ownerId} AND l.hour < ${fromHour}), 0) ORDER BY hour`);
      return rows.map(toNotedHour);
    },
  };

  async function counts(ids: readonly string[]): Promise<ReadonlyMap<string, Figures>> {
    const rows = await database.all(sql`SELECT owner_id, fact, CAST(sum(n) AS BIGINT) AS n FROM ledger
      WHERE owner_id ${isAmong(ids)} GROUP BY owner_id, fact`);
    const facts = new Map<string, Map<string, number>>();
    for (const row of rows) {
      const of = facts.get(text(row, 'owner_id')) ?? new Map<string, number>();
      facts.set(text(row, 'owner_id'), of.set(text(row, 'fact'), number(row, 'n')));
    }
    return new Map([...facts].map(([id, of]) => [id, figuresOf(toLedger(of))]));
  }

  async function lastNotes(ids: readonly string[]): Promise<ReadonlyMap<string, Figures>> {
    const rows = await database.all(sql`SELECT h.* FROM owners AS o JOIN ledger_hours AS h ON h.owner_id = o.id
        AND h.hour = (SELECT max(l.hour) FROM ledger_hours AS l WHERE l.owner_id = o.id)
      WHERE o.id ${isAmong(ids)}`);
    return new Map(rows.map((row) => [text(row, 'owner_id'), toNotedHour(row)]));
  }
}

/** Returns the condition of notes before an hour, but of each owner the last one of those. */
function oldNotes(ids: readonly string[], hour: number): Sql {
  return sql`owner_id ${isAmong(ids)} AND hour < ${hour} AND hour < (SELECT max(l.hour) FROM ledger_hours AS l
    WHERE l.owner_id = ledger_hours.owner_id AND l.hour < ${hour})`;
}

function toNotedHour(row: Row): NotedHour {
  return {
    hour: number(row, 'hour'),
    events: number(row, 'events'),
    runs: number(row, 'runs'),
    errors: number(row, 'errors'),
    deliveries: number(row, 'deliveries'),
  };
}
