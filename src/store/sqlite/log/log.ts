// The log: accepting emissions, listing them, and telling who heard of one.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { EMAIL, HTTP } from '../../../domain/emission.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Via } from '../../../domain/resource.ts';
import type { RunState } from '../../../domain/run/run.ts';
import type { Ledger, Receipt } from '../../contract/records.ts';
import type { LogStore } from '../../contract/store.ts';
import { append } from '../../log/append.ts';
import { toEmissionRecord, toLedger } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { readPage } from '../pages.ts';
import { SqliteLogWriter } from './log-writer.ts';
import { toEmission } from './rows.ts';

const RECORD_COLUMNS = 'entry, emitter_id, name, summary, item_id, item_ts, code';

export function logVerbs(core: Core): LogStore {
  const { reader } = core;
  return {
    append: (emission, admission, options) =>
      core.batch.write(
        (tx) => append(new SqliteLogWriter(core, tx, admission), emission, options),
        emission.emitterId,
        emission.body.byteLength,
      ),

    listEmissions: async ({ ownerId, emitterId, name }, page, withBody) => {
      // Only the newest hundred are there to be walked: what is older is kept by luck, not by promise.
      const oldest = reader.get(
        `SELECT entry FROM emissions WHERE emitter_id = ? AND name = ? AND flags & 8
          ORDER BY entry DESC LIMIT 1 OFFSET ${LIMITS.listedPerEmitterAndName - 1}`,
        emitterId,
        name,
      );
      const listing = {
        from: 'emissions',
        columns: withBody ? `${RECORD_COLUMNS}, body` : RECORD_COLUMNS,
        key: 'entry',
        where: ['emitter_id = ?', 'name = ?', 'flags & 8', 'entry >= ?', 'owner_id = ?'],
        values: [emitterId, name, (oldest?.entry as number | undefined) ?? 0, ownerId],
        countUpTo: LIMITS.listedPerEmitterAndName,
      };
      return readPage(reader, listing, { page, map: (row) => toEmissionRecord(row, core) });
    },

    getEmission: async (ownerId, entry) => {
      const row = reader.get('SELECT * FROM emissions WHERE entry = ? AND owner_id = ?', entry, ownerId);
      return row && toEmission(row, core);
    },

    receipts: async (ownerId, entry) => {
      const row = reader.get('SELECT name FROM emissions WHERE entry = ? AND owner_id = ?', entry, ownerId);
      return row ? receiptsOf(core, entry) : [];
    },

    ledger: async (ownerId) => readLedger(core, ownerId),
  };
}

/** Every run, delivery and withheld listener of one emission; what its runs sent counts as its own. */
export function receiptsOf(core: Core, entry: number): Receipt[] {
  const runs = core.reader.all(
    'SELECT run, runnable_id, subscription_id, via, state, error_code FROM runs WHERE entry = ?',
    entry,
  );
  const receipts = [...runs.map(runReceipt), ...deliveryReceipts(core, entry), ...withheldReceipts(core, entry)];
  for (const row of runs) {
    const sent = core.reader.all(
      'SELECT entry FROM emissions WHERE cause_run = ? AND name IN (?, ?)',
      row.run as number,
      EMAIL,
      HTTP,
    );
    for (const { entry } of sent) receipts.push(...sentReceipts(core, entry as number, row.via as Via));
  }
  return receipts;
}

/** A mail or a request was sent by a run, so it reached its receiver the way that the run was reached. */
function sentReceipts(core: Core, entry: number, via: Via): Receipt[] {
  return [...deliveryReceipts(core, entry), ...withheldReceipts(core, entry)].map((r) => ({ ...r, via }));
}

/** What the emissions of one run caused. */
export function causesOf(core: Core, run: { run: number; via: Via }, limit: number): Receipt[] {
  const emitted = core.reader.all('SELECT entry, name FROM emissions WHERE cause_run = ? LIMIT ?', run.run, limit);
  return emitted.flatMap(({ entry, name }) =>
    name === EMAIL || name === HTTP ? sentReceipts(core, entry as number, run.via) : receiptsOf(core, entry as number),
  );
}

function runReceipt(row: Row): Receipt {
  return {
    kind: 'run',
    number: row.run as number,
    listenerId: row.runnable_id as string,
    subscriptionId: row.subscription_id as string | null,
    via: row.via as Via,
    state: row.state as RunState,
    reason: row.error_code as string | null,
  };
}

function deliveryReceipts(core: Core, entry: number): Receipt[] {
  const rows = core.reader.all(
    'SELECT delivery, kind, listener_id, subscription_id, via, state FROM deliveries WHERE entry = ?',
    entry,
  );
  return rows.map((row) => ({
    kind: row.kind === 'mail' ? 'mail' : 'delivery',
    number: row.delivery as number,
    listenerId: row.listener_id as string,
    subscriptionId: row.subscription_id as string | null,
    via: row.via as Via,
    state: row.state as DeliveryState,
    reason: null,
  }));
}

function withheldReceipts(core: Core, entry: number): Receipt[] {
  const rows = core.reader.all('SELECT listener_id, subscription_id, via, reason FROM withheld WHERE entry = ?', entry);
  return rows.map((row) => ({
    kind: 'withheld',
    number: null,
    listenerId: row.listener_id as string,
    subscriptionId: row.subscription_id as string | null,
    via: row.via as Via,
    state: 'withheld',
    reason: row.reason as string,
  }));
}

function readLedger(core: Core, ownerId: string): Ledger {
  const facts = new Map<string, number>();
  for (const row of core.reader.all('SELECT fact, n FROM ledger WHERE owner_id = ?', ownerId)) {
    facts.set(row.fact as string, row.n as number);
  }
  if ([...facts.values()].some((n) => n < 0)) core.suspectCounters();
  return toLedger(facts);
}
