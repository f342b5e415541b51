// Claims due deliveries, as store/log/round-robin.ts grants them, row by row from the file. A claim costs a few statements for
// each delivery that it takes, and almost nothing for the others; see listener-queues.ts. A served queue goes to the end.

import { type ClaimedDelivery, isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import type { WaitingState } from '../../../domain/delivery/progress.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { Claims } from '../../contract/store.ts';
import type { NextClaim } from '../../log/delivery-port.ts';
import { type ClaimSource, grantRound, retriesOf } from '../../log/round-robin.ts';
import { number, numberOrNull, present, text } from '../../rows/cells.ts';
import { OPEN_DELIVERY, PROGRESS_COLUMNS, toClaimedDelivery } from '../../rows/delivery-rows.ts';
import { toEmission } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Connection, Row } from '../database.ts';
import type { SqliteLogWriter } from '../log/log-writer.ts';
import {
  type CountedState,
  type ListenerQueue,
  ListenerQueues,
  noCounts,
  type QueueCounts,
} from './listener-queues.ts';

const ONE_FIRST = { pending: 1, retrying: 0 };
const ONE_RETRY = { pending: 0, retrying: 1 };
const COLUMNS = `delivery, owner_id, subscription_id, via, entry, state, due_at_ms, fence, ${PROGRESS_COLUMNS}`;

/** The most listeners that one claim looks at in vain: many thousands may have no free slot. */
const MAX_IN_VAIN = 1024;
/** The same for the search for a retry between first attempts. */
const RETRIES_IN_VAIN = 256;

/**
 * The counts of a listener in memory are wrong, which is a bug of this program. They are counted again, so that its deliveries do
 * not wait until the next start; the error is thrown so that it is logged.
 */
export class WrongCount extends Error {
  override readonly name = 'WrongCount';
}

/** Counts doubtful listeners again, at the beginning of a transaction that claims. */
export function recountDoubtful({ queues, writer }: Core): void {
  for (const id of queues.doubtful) queues.recount(id, readCounts(writer, id).get(id) ?? noCounts());
}

/** Returns the queues of a store that was just opened. */
export function readQueues(writer: Connection, nowMs: number): ListenerQueues {
  const queues = new ListenerQueues();
  queues.begin(nowMs);
  for (const [id, counts] of readCounts(writer)) queues.recount(id, counts);
  const paused = writer.all('SELECT webhook_id, paused_until_ms FROM webhook_health WHERE paused_until_ms > ?', nowMs);
  for (const row of paused) queues.pause(text(row, 'webhook_id'), number(row, 'paused_until_ms'));
  queues.committed();
  return queues;
}

/** Counts the open deliveries of a listener, or of all. */
function readCounts(writer: Connection, listenerId?: string): Map<string, QueueCounts> {
  const one = listenerId === undefined ? [] : [listenerId];
  const rows = writer.all(
    `SELECT listener_id, state, count(*) AS n, min(due_at_ms) AS due_at_ms FROM deliveries
      WHERE ${one.length > 0 ? 'listener_id = ? AND ' : ''}${OPEN_DELIVERY} GROUP BY listener_id, state`,
    ...one,
  );
  const all = new Map<string, QueueCounts>();
  for (const row of rows) {
    const [id, state] = [text(row, 'listener_id'), text<CountedState | 'held'>(row, 'state')];
    if (state === 'held') continue;
    const counts = all.get(id) ?? noCounts();
    all.set(id, counts);
    counts[state] = number(row, 'n');
    if (state === 'retrying') counts.retryAtMs = numberOrNull(row, 'due_at_ms') ?? Number.POSITIVE_INFINITY;
  }
  return all;
}

export function claimDeliveries(
  core: Core,
  w: SqliteLogWriter,
  limit: number,
): Claims & { nextDueAtMs: number | null } {
  const { queues } = core;
  recountDoubtful(core);
  queues.advance();
  const claimer = new DeliveryClaimer(core, w);
  const { isCut } = grantRound(claimer, queues.retries, limit);
  for (const queue of claimer.served) {
    queues.toTheEnd(queue);
    claimer.lookUp(queue);
  }
  // Listeners without a free slot go to the end, so that the next claim looks at the others.
  if (isCut) for (const queue of claimer.refused) queues.toTheEnd(queue);
  w.claims.deliveriesWaiting ||= queues.readyCount > 0;
  const looked = { isCut, isServed: claimer.served.size > 0, inVain: claimer.inVain };
  const leavesSome = queues.vainLooks.leaveSome(looked, queues.readyCount);
  const nextDueAtMs = leavesSome ? w.tx.nowMs : queues.nextAtMs((queue) => claimer.lookUp(queue));
  return { ...w.claims, nextDueAtMs };
}

/** Takes deliveries of one queue after another, within one transaction. */
export class DeliveryClaimer implements ClaimSource<ListenerQueue> {
  readonly served = new Set<ListenerQueue>();
  readonly refused = new Set<ListenerQueue>();
  inVain = 0;
  readonly #core: Core;
  readonly #w: SqliteLogWriter;

  constructor(core: Core, w: SqliteLogWriter) {
    this.#core = core;
    this.#w = w;
  }

  ready(state: WaitingState): Iterable<ListenerQueue> {
    return this.#core.queues.ready(state);
  }

  get hasRetries(): boolean {
    return this.#core.queues.ready('retrying').size > 0;
  }

  get hasLookedEnough(): boolean {
    return this.inVain >= MAX_IN_VAIN;
  }

  take(queue: ListenerQueue, phase: WaitingState): WaitingState | null {
    const taken = this.#take(queue, phase);
    return taken === 'pending' || taken === 'retrying' ? taken : null;
  }

  /** Takes a first attempt or else a retry, for the end of an attempt. */
  takeNext(queue: ListenerQueue): NextClaim {
    if (this.take(queue, 'pending') || this.take(queue, 'retrying')) return 'claimed';
    return this.refused.has(queue) ? 'refused' : 'none';
  }

  /** Takes a retry of the first listener that may have one; listeners without a free slot go to the end. */
  takeRetry(): boolean {
    const { queues } = this.#core;
    const most = Math.min(this.inVain + RETRIES_IN_VAIN, MAX_IN_VAIN);
    const refused: ListenerQueue[] = [];
    let hasGone = false;
    for (const queue of queues.ready('retrying')) {
      if (this.inVain >= most) break;
      const taken = this.#take(queue, 'retrying');
      hasGone = taken === 'retrying';
      if (hasGone) break;
      if (taken === 'refused') refused.push(queue);
    }
    for (const queue of refused) queues.toTheEnd(queue);
    return hasGone;
  }

  /** Takes one delivery of the queue, if one may be sent in this phase of the claim. */
  #take(queue: ListenerQueue, phase: WaitingState): WaitingState | 'refused' | 'nothing' {
    const { queues, routes } = this.#core;
    if (this.refused.has(queue)) return 'nothing';
    const webhook = isWebhook(queue.id) ? (routes.webhook(queue.id) ?? null) : null;
    const isOrdered = webhook?.settings.ordered ?? false;
    const head = isOrdered ? this.#head(queue, phase) : undefined;
    const state = isOrdered ? (head ? phase : null) : this.#stateOf(queue, phase);
    if (state === null) {
      queues.reconsider(queue);
      if (!this.served.has(queue)) this.inVain++;
      return 'nothing';
    }
    if (!this.#w.takeDelivery(queue.id, webhook)) {
      this.refused.add(queue);
      this.inVain++;
      return 'refused';
    }
    const row = head ?? this.#row(queue, state);
    this.#w.claims.deliveries.push(claimDelivery(this.#core, this.#w, { row, webhook, listenerId: queue.id }));
    queues.served(queue, state === 'pending' ? ONE_FIRST : ONE_RETRY);
    const next = state === 'retrying' ? queues.rows.next(queue.id, 'retrying') : undefined;
    if (next) queues.knowRetry(queue, number(next, 'due_at_ms'));
    if (isOrdered) queues.block(queue, Number.POSITIVE_INFINITY);
    this.served.add(queue);
    return state;
  }

  /** Reads when the next retry of a queue is due, unless that is known. */
  lookUp(queue: ListenerQueue): void {
    if (queue.isExact) return;
    const row = this.#core.writer.get(
      `SELECT min(due_at_ms) AS at FROM deliveries WHERE listener_id = ? AND state = 'retrying' AND ${OPEN_DELIVERY}`,
      queue.id,
    );
    this.#core.queues.knowRetry(queue, row ? numberOrNull(row, 'at') : null);
  }

  #stateOf(queue: ListenerQueue, phase: WaitingState): WaitingState | null {
    const { queues } = this.#core;
    if (!queues.isOpen(queue)) return null;
    if (queues.isRetryDue(queue)) this.lookUp(queue);
    const isRetryDue = queues.isRetryDue(queue);
    if (phase === 'retrying') return isRetryDue ? 'retrying' : null;
    if (queue.pending === 0) return null;
    return isRetryDue && retriesOf(queue.firsts, 1) > 0 ? 'retrying' : 'pending';
  }

  #row(queue: ListenerQueue, state: WaitingState): Row {
    const { queues } = this.#core;
    const row = queues.rows.take(queue.id, state, (limit) => this.#read(queue, state, limit));
    if (row) return row;
    queues.doubtful.add(queue.id);
    throw new WrongCount(`the count of ${state} deliveries to ${queue.id} is wrong`);
  }

  /** Reads rows of a queue. Pending rows are due whatever the clock says. */
  #read(queue: ListenerQueue, state: WaitingState, limit: number): Row[] {
    return this.#core.writer.all(
      `SELECT ${COLUMNS} FROM deliveries WHERE listener_id = ? AND state = '${state}' AND ${OPEN_DELIVERY}
        ORDER BY due_at_ms, delivery LIMIT ?`,
      queue.id,
      limit,
    );
  }

  /** Returns the open delivery with the lowest number of an ordered webhook, if it may be sent in this phase. */
  #head(queue: ListenerQueue, phase: WaitingState): Row | undefined {
    const { queues, writer } = this.#core;
    if (!queues.isOpen(queue)) return undefined;
    if (queue.sending > 0) {
      queues.block(queue, Number.POSITIVE_INFINITY);
      return undefined;
    }
    const row = writer.get(
      `SELECT ${COLUMNS} FROM deliveries WHERE listener_id = ? AND state IN ('pending', 'retrying')
        ORDER BY delivery LIMIT 1`,
      queue.id,
    );
    if (row?.state === 'retrying' && number(row, 'due_at_ms') > this.#w.tx.nowMs) {
      queues.block(queue, number(row, 'due_at_ms'));
      return undefined;
    }
    return row?.state === phase ? row : undefined;
  }
}

interface DueDelivery {
  readonly row: Row;
  readonly webhook: Webhook | null;
  readonly listenerId: string;
}

function claimDelivery(core: Core, w: SqliteLogWriter, { row, webhook, listenerId }: DueDelivery): ClaimedDelivery {
  const delivery = number(row, 'delivery');
  const ownerId = text(row, 'owner_id');
  const fence = number(row, 'fence') + 1;
  core.writer.run(
    "UPDATE deliveries SET state = 'sending', fence = ?, boot = ? WHERE delivery = ?",
    fence,
    core.boot,
    delivery,
  );
  w.tx.deliveriesMoved({ ownerId, listenerId, from: text<WaitingState>(row, 'state'), to: 'sending', isClaim: true });
  const emission = present(core.writer.get('SELECT * FROM emissions WHERE entry = ?', number(row, 'entry')));
  const mailTo = listenerId === MAIL ? (core.routes.owner(ownerId)?.email ?? null) : null;
  return toClaimedDelivery(row, { fence, listenerId, emission: toEmission(emission, core), webhook, mailTo });
}
