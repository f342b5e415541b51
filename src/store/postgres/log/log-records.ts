// What is read of the log: its lists, the ledger, and who was told of an emission.

import { EMAIL, HTTP } from '../../../domain/emission.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Via } from '../../../domain/resource.ts';
import type { Ledger, Receipt } from '../../contract/records.ts';
import type { LogStore } from '../../contract/store.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { toEmissionRecord, toLedger } from '../../rows/log-rows.ts';
import type { Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';
import { toEmission } from '../rows.ts';

/** What runs send, and nobody is subscribed to. */
const SENT = `('${EMAIL}', '${HTTP}')`;
const RECORD_COLUMNS = 'entry, emitter_id, name, summary, item_id, item_ts, code';

/**
 * Only the newest hundred are there to be walked: what is older is kept by luck, not by promise. The name as a range for
 * the same reason as in pages.ts.
 */
const NEWEST = `(SELECT * FROM emissions WHERE emitter_id = $1 AND name >= $2 AND name <= $2 AND listed
  ORDER BY name DESC, entry DESC LIMIT ${LIMITS.listedPerEmitterAndName}) AS newest`;

export function logReads(core: Core): Omit<LogStore, 'append'> {
  const { pool } = core;
  return {
    listEmissions: ({ ownerId, emitterId, name }, page, withBody) => {
      const listing = {
        from: NEWEST,
        columns: withBody ? `${RECORD_COLUMNS}, body` : RECORD_COLUMNS,
        key: 'entry',
        where: ['owner_id = $3'],
        values: [emitterId, name, ownerId],
        countUpTo: LIMITS.listedPerEmitterAndName,
      };
      return readPage(pool, listing, { page, map: (row) => toEmissionRecord(row, core) });
    },

    getEmission: async (ownerId, entry) => {
      const row = await pool.get('SELECT * FROM emissions WHERE entry = $1 AND owner_id = $2', entry, ownerId);
      return row && toEmission(row, core);
    },

    receipts: (ownerId, entry) => receiptsOf(core, ownerId, entry),
    ledger: (ownerId) => readLedger(core, ownerId),
  };
}

/** Every run, delivery and withheld listener of one emission; what its runs sent counts as its own. */
export async function receiptsOf(core: Core, ownerId: string, entry: number): Promise<Receipt[]> {
  const rows = await core.pool.all(
    receiptsSql('SELECT entry, NULL::text AS via FROM emissions WHERE entry = $1 AND owner_id = $2'),
    entry,
    ownerId,
  );
  return rows.map(toReceipt);
}

/** What the emissions of one run caused, of the first `limit` of them. */
export async function causesOf(core: Core, of: { ownerId: string; run: number }, limit: number): Promise<Receipt[]> {
  const rows = await core.pool.all(
    receiptsSql(`SELECT entry, CASE WHEN name IN ${SENT} THEN (SELECT via FROM all_runs WHERE run = $1) END AS via
      FROM emissions WHERE cause_run = $1 AND owner_id = $2 ORDER BY entry LIMIT $3`),
    of.run,
    of.ownerId,
    limit,
  );
  return rows.map(toReceipt);
}

/**
 * One statement, so that it sees one moment: a run that is just ending stands in one of the two tables, and never in both
 * or none. `heard` selects entries. A mail or a request among them has a `via`: it was sent by a run, so it
 * reached its receiver the way that the run was reached.
 */
function receiptsSql(heard: string): string {
  return `WITH heard AS (${heard}),
    sent AS (SELECT h.entry AS root, m.entry, r.via FROM heard AS h JOIN all_runs AS r ON r.entry = h.entry
      JOIN emissions AS m ON m.cause_run = r.run WHERE h.via IS NULL AND m.name IN ${SENT}),
    told AS (SELECT entry AS root, entry, via FROM heard UNION ALL SELECT root, entry, via FROM sent)
    SELECT * FROM (
      SELECT h.entry AS root, h.entry, 1 AS place, 'run' AS kind, r.run AS number, r.runnable_id AS listener_id,
        r.subscription_id, r.via, r.state, r.error_code AS reason
        FROM heard AS h JOIN all_runs AS r ON r.entry = h.entry WHERE h.via IS NULL
      UNION ALL SELECT t.root, t.entry, 2, CASE d.kind WHEN 'mail' THEN 'mail' ELSE 'delivery' END, d.delivery,
        d.listener_id, d.subscription_id, coalesce(t.via, d.via), d.state, NULL
        FROM told AS t JOIN all_deliveries AS d ON d.entry = t.entry
      UNION ALL SELECT t.root, t.entry, 3, 'withheld', NULL, w.listener_id, w.subscription_id, coalesce(t.via, w.via),
        'withheld', w.reason FROM told AS t JOIN withheld AS w ON w.entry = t.entry
    ) AS receipts ORDER BY root, entry, place, number, listener_id`;
}

function toReceipt(row: Row): Receipt {
  return {
    kind: text<Receipt['kind']>(row, 'kind'),
    number: numberOrNull(row, 'number'),
    listenerId: text(row, 'listener_id'),
    subscriptionId: textOrNull(row, 'subscription_id'),
    via: text<Via>(row, 'via'),
    state: text<Receipt['state']>(row, 'state'),
    reason: textOrNull(row, 'reason'),
  };
}

/** Each node counts in rows of its own; the sum is the figure. */
async function readLedger(core: Core, ownerId: string): Promise<Ledger> {
  const rows = await core.pool.all(
    'SELECT fact, sum(n)::bigint AS n FROM ledger WHERE owner_id = $1 GROUP BY fact',
    ownerId,
  );
  const facts = new Map(rows.map((row) => [text(row, 'fact'), number(row, 'n')]));
  if ([...facts.values()].some((n) => n < 0)) core.notices.suspectCounters();
  return toLedger(facts);
}
