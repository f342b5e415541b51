// Deliveries: claiming what is due, recording attempts, handing back, listing.

import type { DeliveryLease } from '../../domain/delivery.ts';
import { type Attempt, type ClaimedDelivery, MAIL } from '../../domain/delivery.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Via } from '../../domain/resource.ts';
import type { AttemptEnd, AttemptRecord, Claims, DeliveryStore, Finished } from '../store.ts';
import type { Core } from './core.ts';
import type { Row, Value } from './database.ts';
import { readPage } from './pages.ts';
import { OPEN_DELIVERY } from './partial.ts';
import { stateToReturnTo } from './rescue.ts';
import { toDeliveryRecord, toEmission } from './rows.ts';
import type { Transaction } from './transaction.ts';
import { holdDeliveries } from './webhooks.ts';
import { claimsOf, takeDelivery, type Writing, writeEmission, writing } from './write.ts';

const DELIVERY_COLUMNS = `delivery, deliveries.kind, listener_id, subscription_id, entry, emitter_id, emissions.name, state,
  attempts_made, due_at_ms, ended_at_ms`;

/** Due rows read for one webhook in one claim: more than it may have in flight, far less than may be due. */
const MAX_DUE_PER_LISTENER = 64;

/** Two, so that a queue shrinks also while new hands are free. */
const HANDED_OVER = 2;

export function deliveryVerbs(core: Core): DeliveryStore {
  return {
    claimDeliveries: (limit, admission) =>
      core.batch.write((tx) => claimDeliveries(core, writing(tx, admission), limit)),
    recordAttempt: (end, admission) => core.batch.write((tx) => recordAttempt(core, writing(tx, admission), end)),
    releaseDeliveries: (leases) => core.batch.write((tx) => releaseDeliveries(core, tx, leases)),

    listDeliveries: async ({ ownerId, listenerId, state }, page) => {
      const where = ['deliveries.owner_id = ?'];
      const values: Value[] = [ownerId];
      if (listenerId !== undefined) {
        where.push('listener_id = ?');
        values.push(listenerId);
      }
      if (state !== undefined) {
        where.push('state = ?');
        values.push(state);
      }
      const listing = {
        from: 'deliveries JOIN emissions USING (entry)',
        countFrom: 'deliveries',
        columns: DELIVERY_COLUMNS,
        key: 'delivery',
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(core.reader, listing, { page, map: (row) => toDeliveryRecord(row, core.storeTag) });
    },

    getDelivery: async (ownerId, delivery) => {
      const row = core.reader.get(
        `SELECT ${DELIVERY_COLUMNS} FROM deliveries JOIN emissions USING (entry)
          WHERE delivery = ? AND deliveries.owner_id = ?`,
        delivery,
        ownerId,
      );
      if (!row) return undefined;
      const attempts = core.reader.all('SELECT n, trigger, made FROM attempts WHERE delivery = ? ORDER BY n', delivery);
      return { record: toDeliveryRecord(row, core.storeTag), attempts: attempts.map(toAttempt) };
    },
  };
}

function toAttempt(row: Row): AttemptRecord {
  return { ...(JSON.parse(row.made as string) as Attempt), n: row.n as number, trigger: row.trigger as string };
}

function claimDeliveries(core: Core, w: Writing, limit: number): Claims & { nextDueAtMs: number | null } {
  const granted = grantInTurn(core, w, limit);
  for (const [listenerId, rows] of granted) {
    for (const row of rows) w.deliveries.push(claimDelivery(core, w, { row, listenerId }));
  }
  const next = core.writer.get(
    "SELECT min(due_at_ms) AS at FROM deliveries WHERE state IN ('pending', 'retrying') AND due_at_ms > ?",
    w.tx.nowMs,
  );
  return { ...claimsOf(w), nextDueAtMs: (next?.at as number | null | undefined) ?? null };
}

/**
 * Due deliveries by webhook, one each in turn until nobody may take more or the limit is reached. First attempts of all
 * come before retries of any, so that failures do not starve new events. Who was served goes to the end of the line.
 */
function grantInTurn(core: Core, w: Writing, limit: number): Map<string, Row[]> {
  const granted = new Map<string, Row[]>();
  let rest = limit;
  for (const state of ['pending', 'retrying'] as const) {
    let candidates = [...core.open.deliveries.keys()].map((id) => ({
      id,
      due: dueRows(core, w, { id, state, limit: MAX_DUE_PER_LISTENER }),
    }));
    if (candidates.some(({ due }) => due.length === MAX_DUE_PER_LISTENER)) w.deliveriesWaiting = true;
    while (candidates.length > 0) {
      candidates = candidates.filter(({ id, due }) => {
        const row = due[0];
        if (!row) return false;
        if (rest === 0 || !takeDelivery(w, id)) {
          w.deliveriesWaiting = true;
          return false;
        }
        due.shift();
        granted.set(id, [...(granted.get(id) ?? []), row]);
        rest--;
        return true;
      });
    }
  }
  for (const id of granted.keys()) core.open.toTheEnd('deliveries', id);
  return granted;
}

interface Due {
  readonly id: string;
  readonly state: 'pending' | 'retrying';
  readonly limit: number;
}

function dueRows(core: Core, w: Writing, of: Due): Row[] {
  return core.writer.all(
    `SELECT delivery, owner_id, subscription_id, via, entry, kind, state, attempts_made, fence FROM deliveries
      WHERE listener_id = ? AND state = '${of.state}' AND ${OPEN_DELIVERY} AND due_at_ms <= ? ORDER BY due_at_ms, delivery LIMIT ?`,
    of.id,
    w.tx.nowMs,
    of.limit,
  );
}

/** The hands that an attempt's end freed take the next due delivery of the same listener, without a tick between. */
function handOver(core: Core, w: Writing, listenerId: string): void {
  if (w.tx.waiting('deliveries', listenerId) === 0) return;
  for (const state of ['pending', 'retrying'] as const) {
    for (const row of dueRows(core, w, { id: listenerId, state, limit: HANDED_OVER })) {
      if (!takeDelivery(w, listenerId)) return;
      w.deliveries.push(claimDelivery(core, w, { row, listenerId }));
    }
  }
}

function claimDelivery(core: Core, w: Writing, found: { row: Row; listenerId: string }): ClaimedDelivery {
  const { row, listenerId } = found;
  const delivery = row.delivery as number;
  const ownerId = row.owner_id as string;
  const fence = (row.fence as number) + 1;
  core.writer.run(
    "UPDATE deliveries SET state = 'sending', fence = ?, boot = ? WHERE delivery = ?",
    fence,
    core.boot,
    delivery,
  );
  w.tx.moved(ownerId, 'deliveries', { from: row.state as string, to: 'sending' });
  w.tx.opened('deliveries', listenerId, -1);
  const emission = core.writer.get('SELECT * FROM emissions WHERE entry = ?', row.entry as number) as Row;
  const isMail = listenerId === MAIL;
  return {
    delivery,
    fence,
    kind: isMail ? 'mail' : 'webhook',
    emission: toEmission(emission, core.storeTag),
    subscriptionId: row.subscription_id as string | null,
    via: row.via as Via,
    webhook: isMail ? null : (core.routes.webhook(listenerId) ?? null),
    mailTo: isMail ? (core.routes.owner(ownerId)?.email ?? null) : null,
    attempt: (row.attempts_made as number) + 1,
    trigger: row.attempts_made === 0 ? 'event' : 'retry',
  };
}

function recordAttempt(core: Core, w: Writing, end: AttemptEnd): Finished {
  const { delivery, fence } = end.delivery;
  const row = core.writer.get(
    `SELECT owner_id, listener_id, attempts_made FROM deliveries
      WHERE delivery = ? AND fence = ? AND boot = ? AND state = 'sending'`,
    delivery,
    fence,
    core.boot,
  );
  if (!row) return { held: false, claims: claimsOf(w), errorEntry: null };
  const ownerId = row.owner_id as string;
  const listenerId = row.listener_id as string;
  const n = (row.attempts_made as number) + 1;
  if (end.disableWebhook) disableWebhook(core, w, listenerId);
  const state = end.state === 'retrying' ? stateToReturnTo(core, listenerId, n) : end.state;
  const isOpen = state === 'retrying';
  core.writer.run(
    'UPDATE deliveries SET state = ?, attempts_made = ?, due_at_ms = ?, ended_at_ms = ? WHERE delivery = ?',
    state,
    n,
    isOpen ? end.nextAttemptAtMs : null,
    isOpen || state === 'held' ? null : w.tx.nowMs,
    delivery,
  );
  core.writer.run(
    'INSERT INTO attempts (delivery, n, trigger, made) VALUES (?,?,?,?)',
    delivery,
    n,
    end.delivery.trigger,
    JSON.stringify(end.made),
  );
  w.tx.moved(ownerId, 'deliveries', { from: 'sending', to: state });
  if (isOpen) w.tx.opened('deliveries', listenerId, 1);
  const errorEntry = end.error ? writeEmission(core, w, end.error).emission.entry : null;
  handOver(core, w, listenerId);
  return { held: true, claims: claimsOf(w), errorEntry };
}

function disableWebhook(core: Core, w: Writing, webhookId: string): void {
  core.writer.run('UPDATE webhooks SET active = 0, updated_at_ms = ? WHERE id = ?', w.tx.nowMs, webhookId);
  core.routes.forget();
  w.tx.onRollback(() => core.routes.forget());
  holdDeliveries(core, w.tx, webhookId);
}

function releaseDeliveries(core: Core, tx: Transaction, leases: readonly DeliveryLease[]): void {
  for (const { delivery, fence } of leases) {
    const row = core.writer.get(
      `SELECT owner_id, listener_id, attempts_made FROM deliveries
        WHERE delivery = ? AND fence = ? AND boot = ? AND state = 'sending'`,
      delivery,
      fence,
      core.boot,
    );
    if (!row) continue;
    const listenerId = row.listener_id as string;
    const state = stateToReturnTo(core, listenerId, row.attempts_made as number);
    const isOpen = state === 'pending' || state === 'retrying';
    core.writer.run(
      'UPDATE deliveries SET state = ?, due_at_ms = ?, ended_at_ms = ? WHERE delivery = ?',
      state,
      isOpen ? tx.nowMs : null,
      state === 'cancelled' ? tx.nowMs : null,
      delivery,
    );
    tx.moved(row.owner_id as string, 'deliveries', { from: 'sending', to: state });
    if (isOpen) tx.opened('deliveries', listenerId, 1);
  }
}
