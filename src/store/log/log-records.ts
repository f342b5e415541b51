// Reads of the log, for both databases: its lists, the ledger, receipts, and what is due when.

import { type Attempt, MAIL } from '../../domain/delivery/delivery.ts';
import { RESOLVED_MAIL } from '../../domain/delivery/digest.ts';
import { whyKept } from '../../domain/delivery/kept-mail.ts';
import { ERRORS, NOTICE } from '../../domain/emission.ts';
import { msOf } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { channelOfListener } from '../../domain/notices/listener.ts';
import type { Via } from '../../domain/resource.ts';
import { readPage } from '../config/pages.ts';
import { differs, isAmongNumbers, isAmongRows, raw, type Sql, sql } from '../config/sql.ts';
import { all } from '../config/steps.ts';
import type { OwnerDeletionStore } from '../contract/owner-deletions.ts';
import type { Ledger, Receipt } from '../contract/records.ts';
import type { LaterStore } from '../contract/resources.ts';
import type { StatsStore } from '../contract/stats.ts';
import type { LogStore, TimeStore } from '../contract/store.ts';
import { anyOf, type StreamStore } from '../contract/streams.ts';
import { withinBytes } from '../rows/byte-limit.ts';
import { flag, json, number, numberOrNull, text, textOrNull } from '../rows/cells.ts';
import { toEmission, toEmissionRecord, toLedger } from '../rows/log-rows.ts';
import { toTrigger } from '../rows/resource-rows.ts';
import type { Row } from '../rows/rows.ts';
import { ledgerHourVerbs } from './ledger-hours.ts';
import { ALL_DELIVERIES, ALL_RUNS, LISTED, type LogReader, OF_LIVE_OWNER } from './log-tables.ts';
import { healthReads } from './run-health.ts';
import { digestedOf } from './search/digested.ts';
import { SENT } from './search/error-outcomes.ts';
import { FIRST_NOTICE, waitingNotices } from './search/noticed.ts';

const COLUMNS = 'entry, emitter_id, name, lineage, summary, item_id, item_ts, digest_key, group_id';
const LATER_COLUMNS = `entry, emitter_id, name, lineage, summary, item_id, item_ts, CAST(NULL AS TEXT) AS digest_key,
  CAST(NULL AS TEXT) AS group_id`;
/** Emissions that wait for their time and are deleted by one statement: a source may have any number of them. */
const LATER_PER_STEP = 10_000;
/** Emissions of all owners that one look at those of one owner reads, and about how many bytes of its own. */
const EMISSIONS_READ = 2000;
const EMISSION_BYTES_READ = 4 * 1024 * 1024;

type LogReads = Omit<LogStore, 'append' | 'replayErrors'> &
  LaterStore &
  StatsStore &
  Pick<StreamStore, 'emittersAfter'> &
  Pick<OwnerDeletionStore, 'readEmissions'> &
  Pick<TimeStore, 'dueTriggers' | 'nextDueAtMs' | 'longestWaiting'>;

export function logReads(log: LogReader): LogReads {
  const { database } = log;
  return {
    listEmissions: ({ ownerId, emitterId, name, itemId }, page, withBody) => {
      const channel = sql`emitter_id = ${emitterId} AND ${LISTED}`;
      // Lists show the newest hundred only; retention has not deleted older ones yet. One id is looked for further back.
      const depth = itemId === undefined ? LIMITS.listedPerEmitterAndName : LIMITS.searchedRecords;
      const oldest = sql`SELECT entry FROM emissions WHERE ${channel} AND name >= ${name} AND name <= ${name}
        ORDER BY name DESC, entry DESC LIMIT 1 OFFSET ${raw(String(depth - 1))}`;
      return readPage(database, {
        from: raw('emissions'),
        columns: raw(withBody ? `${COLUMNS}, code, body` : `${COLUMNS}, code`),
        key: raw('entry'),
        within: { column: raw('name'), value: name },
        where: [
          channel,
          sql`entry >= coalesce((${oldest}), 0)`,
          sql`owner_id = ${ownerId}`,
          ...(itemId === undefined ? [] : [sql`item_id = ${itemId}`]),
        ],
        countUpTo: LIMITS.listedPerEmitterAndName,
        page,
        map: (row) => toEmissionRecord(row, log),
      });
    },

    getEmission: async (ownerId, entry) => {
      const row = await database.get(sql`SELECT * FROM emissions WHERE entry = ${entry} AND owner_id = ${ownerId}`);
      return row && toEmission(row, log);
    },

    readEmissions: async (ownerId, after) => {
      const page = await database.all(sql`SELECT entry, owner_id = ${ownerId} AS is_theirs,
          CASE WHEN owner_id = ${ownerId} THEN length(body) ELSE 0 END AS bytes
        FROM emissions WHERE entry > ${after} ORDER BY entry LIMIT ${EMISSIONS_READ}`);
      const seen = withinBytes(page, EMISSION_BYTES_READ);
      const theirs = seen.filter((row) => flag(row, 'is_theirs')).map((row) => number(row, 'entry'));
      const rows =
        theirs.length === 0
          ? []
          : await database.all(sql`SELECT * FROM emissions WHERE entry ${isAmongNumbers(theirs)} ORDER BY entry`);
      const last = seen.at(-1);
      return { items: rows.map((row) => toEmission(row, log)), next: last ? number(last, 'entry') : null };
    },

    receipts: async (ownerId, entry) => {
      const receipts = await receiptsOf(
        log,
        ownerId,
        sql`SELECT entry, CAST(NULL AS TEXT) AS via FROM emissions WHERE entry = ${entry} AND owner_id = ${ownerId}`,
      );
      const noticed = receipts.filter(({ via }) => via === 'channel');
      const channelIds = noticed.map(({ listenerId }) => channelOfListener(listenerId));
      return [...receipts, ...(await waitingNotices(log, ownerId, { entry, channelIds }))];
    },

    ledger: (ownerId) => readLedger(log, ownerId),

    ...ledgerHourVerbs(log),
    ...healthReads(log),

    emittersAfter: async ({ after, upTo }) => {
      const rows = await database.planned(
        sql`SELECT DISTINCT emitter_id, owner_id, CASE WHEN name = ${ERRORS} THEN owner_id END AS failed_owner_id
          FROM emissions WHERE entry > ${after} AND entry <= ${upTo} AND ${LISTED}`,
      );
      const ids = rows.flatMap((row) => [
        text(row, 'emitter_id'),
        anyOf(text(row, 'owner_id')),
        textOrNull(row, 'failed_owner_id'),
      ]);
      return new Set(ids.filter((id) => id !== null));
    },

    listLater: (ownerId, sourceId, page, withBody) =>
      readPage(database, {
        from: raw('later_emissions'),
        columns: raw(`${LATER_COLUMNS}, due_at_ms, CAST(NULL AS TEXT) AS code${withBody ? ', body' : ''}`),
        key: raw('entry'),
        where: [sql`emitter_id = ${sourceId}`, sql`owner_id = ${ownerId}`],
        countUpTo: LIMITS.countedRecords,
        page,
        map: (row) => ({ ...toEmissionRecord(row, log), dueAtMs: number(row, 'due_at_ms') }),
      }),

    deleteLater: ({ ownerId, sourceId, from, to }) =>
      database.write(function* () {
        const next = sql`SELECT entry FROM later_emissions WHERE emitter_id = ${sourceId} AND owner_id = ${ownerId}
          AND entry >= ${from} AND entry <= ${to} ORDER BY entry LIMIT ${LATER_PER_STEP}`;
        for (let deleted = 0; ; ) {
          const gone = yield* all(sql`DELETE FROM later_emissions WHERE entry ${isAmongRows(next)} RETURNING entry`);
          deleted += gone.length;
          if (gone.length < LATER_PER_STEP) return deleted;
        }
      }),

    dueTriggers: async (limit) => {
      // The database's clock decides what is due: no tick comes early because this node's clock is fast.
      const rows = await database.all(sql`SELECT * FROM triggers WHERE next_at_ms <= (SELECT ${log.now()})
        AND ${OF_LIVE_OWNER} ORDER BY next_at_ms LIMIT ${limit}`);
      return rows.map(toTrigger);
    },

    longestWaiting: async () => {
      const row = await database.get(sql`SELECT (${OLDEST_RUN}) AS run, (${FIRST_DELIVERY}) AS due_at_ms`);
      const run = row ? numberOrNull(row, 'run') : null;
      return { runMs: run === null ? null : msOf(run), deliveryMs: row ? numberOrNull(row, 'due_at_ms') : null };
    },

    nextDueAtMs: async () => {
      const row = await database.get(NEXT_DUE);
      return row ? numberOrNull(row, 'at') : null;
    },
  };
}

/** For each runnable its first queued run: what waits behind that is not read. */
const OLDEST_RUN = sql`${differs({
  sqlite: `SELECT min((SELECT run FROM runs WHERE state = 'queued' AND runnable_id = runnables.id AND started_at_ms IS NULL
    ORDER BY run LIMIT 1)) FROM runnables`,
  postgres: `SELECT min((SELECT run FROM open_runs WHERE runnable_id = q.listener_id AND due_at_ms IS NULL
    AND state = 'queued' AND started_at_ms IS NULL ORDER BY runnable_id DESC, run LIMIT 1))
    FROM listener_queues AS q WHERE q.is_run AND q.ready_at_ms IS NOT NULL`,
})}`;
/** SQLite goes from listener to listener in the index of what is open. */
const FIRST_DELIVERY = sql`${differs({
  sqlite: `WITH RECURSIVE listeners(id) AS (
    SELECT min(listener_id) FROM deliveries INDEXED BY deliveries_head WHERE state IN ('pending', 'retrying')
    UNION ALL SELECT (SELECT min(listener_id) FROM deliveries INDEXED BY deliveries_head
      WHERE state IN ('pending', 'retrying') AND listener_id > listeners.id) FROM listeners WHERE id IS NOT NULL)
    SELECT min((SELECT min(at) FROM (
      SELECT min(due_at_ms) AS at FROM deliveries WHERE listener_id = listeners.id AND state = 'pending'
      UNION ALL SELECT min(due_at_ms) FROM deliveries WHERE listener_id = listeners.id AND state = 'retrying')))
    FROM listeners WHERE id IS NOT NULL`,
  postgres: 'SELECT min(ready_at_ms) FROM listener_queues WHERE NOT is_run AND ready_at_ms IS NOT NULL',
})}`;

const WAITING_RUNS = differs({
  sqlite: "runs INDEXED BY runs_due WHERE state = 'waiting'",
  postgres: 'open_runs WHERE due_at_ms IS NOT NULL',
});

const NEXT_DUE = sql`SELECT min(at) AS at FROM (
  SELECT min(next_at_ms) AS at FROM triggers WHERE next_at_ms IS NOT NULL AND ${OF_LIVE_OWNER}
  UNION ALL SELECT min(due_at_ms) FROM watches WHERE due_at_ms IS NOT NULL AND ${OF_LIVE_OWNER}
  UNION ALL SELECT min(closes_at_ms) FROM digests
  UNION ALL SELECT min(notice_due_ms) FROM error_groups WHERE notice_due_ms IS NOT NULL AND ${OF_LIVE_OWNER}
  UNION ALL SELECT min(due_at_ms) FROM withheld WHERE due_at_ms IS NOT NULL
  UNION ALL SELECT min(due_at_ms) FROM later_emissions WHERE ${OF_LIVE_OWNER}
  UNION ALL SELECT min(due_at_ms) FROM ${WAITING_RUNS}) AS due`;

/** Written out: partial indexes apply to words, not to parameters. */
const NAMES = { errors: raw(`'${ERRORS}'`), notice: raw(`'${NOTICE}'`) };

/** Returns the receipts of the first `limit` emissions of one run. */
export function causesOf(log: LogReader, of: { ownerId: string; run: number }, limit: number): Promise<Receipt[]> {
  return receiptsOf(
    log,
    of.ownerId,
    sql`SELECT entry, CASE WHEN name IN ${SENT} THEN (SELECT via FROM ${ALL_RUNS} AS runs WHERE run = ${of.run}) END AS via
      FROM emissions WHERE cause_run = ${of.run} AND owner_id = ${of.ownerId} ORDER BY entry LIMIT ${limit}`,
  );
}

/**
 * Joins in this order. SQLite, which does not know how few were heard, would look through all emissions, deliveries and notices
 * instead: 140 ms with 100,000 errors.
 */
const THEN = differs({ sqlite: 'CROSS JOIN', postgres: 'JOIN' });

/**
 * Returns every run, delivery and withheld listener of emissions, including the mails and requests that their runs sent, and of
 * an error the notices that tell of it.
 * `heard` selects entries; a mail or request that a run sent has the `via` of that run. One statement, so that it sees one
 * moment: on Postgres, a run that is just ending moves between two tables.
 */
async function receiptRows({ database }: LogReader, heard: Sql): Promise<readonly Row[]> {
  return await database.all(sql`WITH heard AS (${heard}),
    sent AS (SELECT heard.entry AS root, emissions.entry, runs.via
      FROM heard ${THEN} ${ALL_RUNS} AS runs ON runs.entry = heard.entry ${THEN} emissions ON emissions.cause_run = runs.run
      WHERE heard.via IS NULL AND emissions.name IN ${SENT}),
    noticed AS (SELECT failed.entry AS root, notices.entry, CAST(NULL AS TEXT) AS via
      FROM heard ${THEN} emissions AS failed ON failed.entry = heard.entry AND failed.name = ${NAMES.errors}
      ${THEN} emissions AS first ON first.entry = (${FIRST_NOTICE})
      ${THEN} emissions AS notices ON notices.digest_key = first.digest_key AND notices.name = ${NAMES.notice}
        AND notices.owner_id = failed.owner_id AND notices.item_id = first.item_id
      WHERE heard.via IS NULL),
    told AS (SELECT entry AS root, entry, via FROM heard UNION ALL SELECT root, entry, via FROM sent
      UNION ALL SELECT root, entry, via FROM noticed)
    SELECT * FROM (
      SELECT heard.entry AS root, heard.entry, 1 AS place, 'run' AS kind, runs.run AS number,
        runs.runnable_id AS listener_id, runs.subscription_id, runs.via, runs.state, runs.error_code AS reason, NULL AS attempts,
        CAST (NULL AS TEXT) AS digest_key
        FROM heard ${THEN} ${ALL_RUNS} AS runs ON runs.entry = heard.entry WHERE heard.via IS NULL
      UNION ALL SELECT told.root, told.entry, 2, CASE deliveries.kind WHEN 'mail' THEN 'mail' ELSE 'delivery' END,
        deliveries.delivery, deliveries.listener_id, deliveries.subscription_id, coalesce(told.via, deliveries.via),
        deliveries.state, CASE WHEN deliveries.state IN ('exhausted', 'retrying', 'cancelled')
          OR (deliveries.state = 'delivered' AND deliveries.kind <> 'webhook') THEN (SELECT attempts.made
          FROM attempts WHERE attempts.delivery = deliveries.delivery ORDER BY attempts.n DESC LIMIT 1) END,
        deliveries.attempts_made, NULL
        FROM told ${THEN} ${ALL_DELIVERIES} AS deliveries ON deliveries.entry = told.entry
      UNION ALL SELECT told.root, told.entry, 3, 'withheld', NULL, withheld.listener_id, withheld.subscription_id,
        coalesce(told.via, withheld.via), 'withheld', withheld.reason, NULL,
        (SELECT digest_key FROM emissions WHERE emissions.entry = told.entry)
        FROM told ${THEN} withheld ON withheld.entry = told.entry
    ) AS receipts ORDER BY root, entry, place, number, listener_id`);
}

/** Returns the receipts of emissions: of a mail that was counted, what became of the digest that tells of it. */
async function receiptsOf(log: LogReader, ownerId: string, heard: Sql): Promise<Receipt[]> {
  const rows = await receiptRows(log, heard);
  const mails = rows.filter(isWithheldMail).map((row) => ({
    entry: number(row, 'entry'),
    digestKey: textOrNull(row, 'digest_key'),
    reason: text(row, 'reason'),
  }));
  const digested = await digestedOf(log, ownerId, mails);
  const digests = mails.flatMap(({ entry }) => digested(entry)?.entry ?? []);
  const told =
    digests.length === 0
      ? []
      : await receiptRows(
          log,
          sql`SELECT entry, 'direct' AS via FROM emissions WHERE entry ${isAmongNumbers(digests)} AND owner_id = ${ownerId}`,
        );
  const ofDigest = new Map(told.filter((row) => text(row, 'listener_id') === MAIL).map((row) => [row.entry, row]));
  return rows.map((row) => {
    const digest = isWithheldMail(row) ? digested(number(row, 'entry')) : undefined;
    if (!digest) return toReceipt(row);
    if (digest.entry === null) return { ...toReceipt(row), reason: RESOLVED_MAIL };
    return toReceipt({ ...row, ...ofDigest.get(digest.entry), via: row.via as string });
  });
}

function isWithheldMail(row: Row): boolean {
  return text(row, 'kind') === 'withheld' && text(row, 'listener_id') === MAIL;
}

/**
 * Returns what is said beside a state: of a delivery that has failed, how often and what its last attempt came to; of a mail in the
 * outbox folder, that it was not sent.
 */
function reasonOf(row: Row): string | null {
  const [reason, attempts] = [textOrNull(row, 'reason'), numberOrNull(row, 'attempts')];
  if (reason === null || attempts === null) return reason;
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  // Not taken out by the database: Postgres refuses JSON with the letter U+0000 in it, as an answer may have it.
  const { detail, outcome } = json<Pick<Attempt, 'detail' | 'outcome'>>(row, 'reason');
  if (text(row, 'state') === 'delivered') return whyKept(detail);
  if (text(row, 'state') === 'cancelled') return outcome === 'withheld' ? detail : null;
  return text(row, 'state') === 'exhausted'
    ? `given up after ${times}: ${detail}`
    : `${times} failed so far: ${detail}`;
}

function toReceipt(row: Row): Receipt {
  return {
    kind: text<Receipt['kind']>(row, 'kind'),
    number: numberOrNull(row, 'number'),
    listenerId: text(row, 'listener_id'),
    subscriptionId: textOrNull(row, 'subscription_id'),
    via: text<Via>(row, 'via'),
    state: text<Receipt['state']>(row, 'state'),
    reason: reasonOf(row),
  };
}

/** Returns the sums of the ledger's rows: each process counts in rows of its own. */
async function readLedger({ database, suspectCounters }: LogReader, ownerId: string): Promise<Ledger> {
  const rows = await database.all(
    sql`SELECT fact, CAST(sum(n) AS BIGINT) AS n FROM ledger WHERE owner_id = ${ownerId} GROUP BY fact`,
  );
  const facts = new Map(rows.map((row) => [text(row, 'fact'), number(row, 'n')]));
  if ([...facts.values()].some((n) => n < 0)) suspectCounters();
  return toLedger(facts);
}
