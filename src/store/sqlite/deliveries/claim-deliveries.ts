// Claims due deliveries: what store/log/round-robin.ts grants, read from the file row by row. A claim costs a few statements
// for each delivery that it takes, and next to nothing for those that it does not; see round-robin.ts beside this file.
// A queue that was served goes to the end.

import { type ClaimedDelivery, isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import type { WaitingState } from '../../../domain/delivery/progress.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { Claims } from '../../contract/store.ts';
import type { NextClaim } from '../../log/delivery-port.ts';
import { type ClaimSource, grantInTurn, retriesOf } from '../../log/round-robin.ts';
import { number, numberOrNull, text } from '../../rows/cells.ts';
import { PROGRESS_COLUMNS, toClaimedDelivery } from '../../rows/delivery-rows.ts';
import type { Core } from '../core.ts';
import type { Connection, Row } from '../database.ts';
import type { SqliteLogWriter } from '../log/log-writer.ts';
import { toEmission } from '../log/rows.ts';
import { OPEN_DELIVERY } from '../partial-index.ts';
import { type Line, Turns } from './round-robin.ts';

const ONE_FIRST = { pending: 1, retrying: 0 };
const ONE_RETRY = { pending: 0, retrying: 1 };
const COLUMNS = `delivery, owner_id, subscription_id, via, entry, state, due_at_ms, fence, ${PROGRESS_COLUMNS}`;

/** Listeners that one claim looks at in vain, at most: those whose slots are all taken may be many thousands. */
const MAX_IN_VAIN = 1024;
/** The same, for the one retry that is looked for before first attempts go on. */
const RETRIES_IN_VAIN = 256;
/** Rows of one listener and state that are read at first, and then. */
const ROWS_AT_FIRST = 2;
const ROWS_THEN = 16;

/**
 * What memory says of a listener is not so: a bug of ours. It is counted anew, so that its deliveries do not stand still
 * until the next start; this comes out all the same, so that it is logged.
 */
export class LostCount extends Error {
  override readonly name = 'LostCount';
}

/** At the beginning of a transaction that claims. */
export function recountDoubtful({ turns, writer }: Core): void {
  for (const listenerId of turns.doubtful) {
    const rows = writer.all(
      `SELECT state, count(*) AS n, min(due_at_ms) AS due_at_ms FROM deliveries
        WHERE listener_id = ? AND ${OPEN_DELIVERY} GROUP BY state`,
      listenerId,
    );
    const byState = new Map(rows.map((row) => [text(row, 'state'), row]));
    const countOf = (state: string): number => {
      const row = byState.get(state);
      return row ? number(row, 'n') : 0;
    };
    const retry = byState.get('retrying');
    turns.recount(listenerId, {
      pending: countOf('pending'),
      retrying: countOf('retrying'),
      sending: countOf('sending'),
      retryAtMs: (retry && numberOrNull(retry, 'due_at_ms')) ?? Number.POSITIVE_INFINITY,
    });
  }
}

/** All that is open, as a store has it that was just opened. */
export function readTurns(writer: Connection, nowMs: number): Turns {
  const turns = new Turns();
  turns.begin(nowMs);
  const open = writer.all(
    `SELECT listener_id, state, count(*) AS n, min(due_at_ms) AS due_at_ms FROM deliveries
      WHERE ${OPEN_DELIVERY} GROUP BY listener_id, state`,
  );
  for (const row of open) {
    const to = text<WaitingState | 'sending' | 'held'>(row, 'state');
    if (to === 'held') continue;
    const dueAtMs = numberOrNull(row, 'due_at_ms');
    turns.moved(text(row, 'listener_id'), { from: null, to, dueAtMs, count: number(row, 'n') });
  }
  const paused = writer.all('SELECT webhook_id, paused_until_ms FROM webhook_health WHERE paused_until_ms > ?', nowMs);
  for (const row of paused) turns.pause(text(row, 'webhook_id'), number(row, 'paused_until_ms'));
  turns.committed();
  return turns;
}

export function claimDeliveries(
  core: Core,
  w: SqliteLogWriter,
  limit: number,
): Claims & { nextDueAtMs: number | null } {
  const { turns } = core;
  recountDoubtful(core);
  turns.advance();
  const taker = new Taker(core, w);
  const { isCut } = grantInTurn(taker, turns.retries, limit);
  for (const line of taker.served) {
    turns.toTheEnd(line);
    taker.lookUp(line);
  }
  // The rest of a line that is longer than one claim looks at has its turn with the next one.
  if (isCut) for (const line of taker.refused) turns.toTheEnd(line);
  w.claims.deliveriesWaiting ||= turns.readyCount > 0;
  const leavesSome = turns.leavesSome({ isCut, isServed: taker.served.size > 0, inVain: taker.inVain });
  const nextDueAtMs = leavesSome ? w.tx.nowMs : turns.nextAtMs((line) => taker.lookUp(line));
  return { ...w.claims, nextDueAtMs };
}

/** Takes deliveries of one line after another, within one transaction. */
export class Taker implements ClaimSource<Line> {
  readonly served = new Set<Line>();
  readonly refused = new Set<Line>();
  inVain = 0;
  readonly #core: Core;
  readonly #w: SqliteLogWriter;
  /** Read, and not taken yet. */
  readonly #rows = { pending: new Map<Line, Row[]>(), retrying: new Map<Line, Row[]>() };

  constructor(core: Core, w: SqliteLogWriter) {
    this.#core = core;
    this.#w = w;
  }

  ready(state: WaitingState): Iterable<Line> {
    return this.#core.turns.ready(state);
  }

  get hasRetries(): boolean {
    return this.#core.turns.ready('retrying').size > 0;
  }

  get isTired(): boolean {
    return this.inVain >= MAX_IN_VAIN;
  }

  take(line: Line, phase: WaitingState): WaitingState | null {
    const taken = this.#take(line, phase);
    return taken === 'pending' || taken === 'retrying' ? taken : null;
  }

  /** A first attempt or else a retry, for the end of an attempt. */
  takeNext(line: Line): NextClaim {
    if (this.take(line, 'pending') || this.take(line, 'retrying')) return 'claimed';
    return this.refused.has(line) ? 'refused' : 'none';
  }

  /** Listeners that may not have one go to the end, so that the others have their turn. */
  takeRetry(): boolean {
    const { turns } = this.#core;
    const most = Math.min(this.inVain + RETRIES_IN_VAIN, MAX_IN_VAIN);
    const refused: Line[] = [];
    let hasGone = false;
    for (const line of turns.ready('retrying')) {
      if (this.inVain >= most) break;
      const taken = this.#take(line, 'retrying');
      hasGone = taken === 'retrying';
      if (hasGone) break;
      if (taken === 'refused') refused.push(line);
    }
    for (const line of refused) turns.toTheEnd(line);
    return hasGone;
  }

  /** One delivery of that line, when one may go in this phase of the claim. */
  #take(line: Line, phase: WaitingState): WaitingState | 'refused' | 'nothing' {
    const { turns, routes } = this.#core;
    if (this.refused.has(line)) return 'nothing';
    const webhook = isWebhook(line.id) ? (routes.webhook(line.id) ?? null) : null;
    const isOrdered = webhook?.settings.ordered ?? false;
    const head = isOrdered ? this.#head(line, phase) : undefined;
    const state = isOrdered ? (head ? phase : null) : this.#stateOf(line, phase);
    if (state === null) {
      turns.reconsider(line);
      if (!this.served.has(line)) this.inVain++;
      return 'nothing';
    }
    if (!this.#w.takeDelivery(line.id, webhook)) {
      this.refused.add(line);
      this.inVain++;
      return 'refused';
    }
    const row = head ?? this.#row(line, state);
    this.#w.claims.deliveries.push(claimDelivery(this.#core, this.#w, { row, webhook, listenerId: line.id }));
    turns.served(line, state === 'pending' ? ONE_FIRST : ONE_RETRY);
    const next = state === 'retrying' ? this.#rows.retrying.get(line)?.[0] : undefined;
    if (next) turns.knowRetry(line, number(next, 'due_at_ms'));
    if (isOrdered) turns.block(line, Number.POSITIVE_INFINITY);
    this.served.add(line);
    return state;
  }

  /** Finds out when its next retry is due, unless that is known. */
  lookUp(line: Line): void {
    if (line.isExact) return;
    const row = this.#core.writer.get(
      `SELECT min(due_at_ms) AS at FROM deliveries WHERE listener_id = ? AND state = 'retrying' AND ${OPEN_DELIVERY}`,
      line.id,
    );
    this.#core.turns.knowRetry(line, row ? numberOrNull(row, 'at') : null);
  }

  #stateOf(line: Line, phase: WaitingState): WaitingState | null {
    const { turns } = this.#core;
    if (!turns.isOpen(line)) return null;
    if (turns.isRetryDue(line)) this.lookUp(line);
    const isRetryDue = turns.isRetryDue(line);
    if (phase === 'retrying') return isRetryDue ? 'retrying' : null;
    if (line.pending === 0) return null;
    return isRetryDue && retriesOf(line.firsts, 1) > 0 ? 'retrying' : 'pending';
  }

  #row(line: Line, state: WaitingState): Row {
    const known = this.#rows[state].get(line);
    const rows = known?.length ? known : this.#read(line, state, known ? ROWS_THEN : ROWS_AT_FIRST);
    this.#rows[state].set(line, rows);
    const row = rows.shift();
    if (!row) {
      this.#core.turns.doubtful.add(line.id);
      throw new LostCount(`the store lost count of what is ${state} for ${line.id}`);
    }
    return row;
  }

  /** Those that are pending are due, whatever the clock says. */
  #read(line: Line, state: WaitingState, limit: number): Row[] {
    return this.#core.writer.all(
      `SELECT ${COLUMNS} FROM deliveries WHERE listener_id = ? AND state = '${state}' AND ${OPEN_DELIVERY}
        ORDER BY due_at_ms, delivery LIMIT ?`,
      line.id,
      limit,
    );
  }

  /** The open delivery of an ordered webhook with the lowest number, when it may go in this phase. */
  #head(line: Line, phase: WaitingState): Row | undefined {
    const { turns, writer } = this.#core;
    if (!turns.isOpen(line)) return undefined;
    if (line.sending > 0) {
      turns.block(line, Number.POSITIVE_INFINITY);
      return undefined;
    }
    const row = writer.get(
      `SELECT ${COLUMNS} FROM deliveries WHERE listener_id = ? AND state IN ('pending', 'retrying')
        ORDER BY delivery LIMIT 1`,
      line.id,
    );
    if (row?.state === 'retrying' && number(row, 'due_at_ms') > this.#w.tx.nowMs) {
      turns.block(line, number(row, 'due_at_ms'));
      return undefined;
    }
    return row?.state === phase ? row : undefined;
  }
}

interface Found {
  readonly row: Row;
  readonly webhook: Webhook | null;
  readonly listenerId: string;
}

function claimDelivery(core: Core, w: SqliteLogWriter, { row, webhook, listenerId }: Found): ClaimedDelivery {
  const delivery = number(row, 'delivery');
  const ownerId = text(row, 'owner_id');
  const fence = number(row, 'fence') + 1;
  core.writer.run(
    "UPDATE deliveries SET state = 'sending', fence = ?, boot = ? WHERE delivery = ?",
    fence,
    core.boot,
    delivery,
  );
  w.tx.deliveriesMoved({ ownerId, listenerId, from: text<WaitingState>(row, 'state'), to: 'sending' });
  const emission = core.writer.get('SELECT * FROM emissions WHERE entry = ?', number(row, 'entry')) as Row;
  const mailTo = listenerId === MAIL ? (core.routes.owner(ownerId)?.email ?? null) : null;
  return toClaimedDelivery(row, { fence, listenerId, emission: toEmission(emission, core), webhook, mailTo });
}
