// A line: what waits for one workflow, source or webhook and how many of it are under way, and a webhook's health. Whoever
// changes one has its row locked.

import { HEALTHY, type WebhookHealth } from '../../domain/health.ts';
import type { Tx } from './lane.ts';
import { arrayLiteral, type Row } from './values.ts';

export interface LineRow {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly waiting: number;
  readonly taken: number;
  readonly holder: number | null;
  readonly health: WebhookHealth;
}

/** Of `lines AS l`: what `toLineRow` reads. */
export const LINE_COLUMNS = `l.owner_id, l.listener_id, l.waiting, l.taken, l.holder, l.failing_since_ms,
  l.exhausted_in_row, l.noticed_at_ms, l.paused_until_ms`;

export function toLineRow(row: Row): LineRow {
  return {
    ownerId: row.owner_id as string,
    listenerId: row.listener_id as string,
    waiting: row.waiting as number,
    taken: row.taken as number,
    holder: row.holder as number | null,
    health: toHealth(row),
  };
}

/** Mostly the same object, which nobody needs to compare in depth then. */
export function toHealth(row: Row): WebhookHealth {
  if (row.failing_since_ms === null && row.paused_until_ms === null) return HEALTHY;
  return {
    failingSinceMs: row.failing_since_ms as number | null,
    exhaustedInRow: row.exhausted_in_row as number,
    noticedAtMs: row.noticed_at_ms as number | null,
    pausedUntilMs: row.paused_until_ms as number | null,
  };
}

/** A listener's counters, as its transaction has them so far. */
export class Line {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly isRun: boolean;
  waiting: number;
  taken: number;
  holder: number | null;
  isChanged = false;
  readonly #healthBefore: WebhookHealth;
  #health: WebhookHealth;

  constructor(row: LineRow, isRun: boolean) {
    this.ownerId = row.ownerId;
    this.listenerId = row.listenerId;
    this.isRun = isRun;
    this.waiting = row.waiting;
    this.taken = row.taken;
    this.holder = row.holder;
    this.#healthBefore = row.health;
    this.#health = row.health;
  }

  static empty(ownerId: string, listenerId: string, isRun: boolean): Line {
    return new Line({ ownerId, listenerId, waiting: 0, taken: 0, holder: null, health: HEALTHY }, isRun);
  }

  change(by: { waiting?: number; taken?: number }, node: number): void {
    this.waiting += by.waiting ?? 0;
    this.taken += by.taken ?? 0;
    this.isChanged = true;
    if (this.isRun) return;
    // Who only lets something wait here, or hands back what a node that is gone held, does not become the holder.
    if (this.taken === 0) this.holder = null;
    else if ((by.taken ?? 0) > 0) this.holder = node;
  }

  get health(): WebhookHealth {
    return this.#health;
  }

  set health(health: WebhookHealth) {
    if (health === this.#health) return;
    this.#health = health;
    // When something is ready depends on it.
    this.isChanged = true;
  }

  get isHealthChanged(): boolean {
    return this.#health !== this.#healthBefore;
  }

  isPaused(nowMs: number): boolean {
    return this.#health.pausedUntilMs !== null && this.#health.pausedUntilMs > nowMs;
  }
}

/** Of `lines AS l`: when the earliest of what waits is due; of an ordered webhook the lowest number, which goes first. */
const EARLIEST_DUE = `CASE WHEN (SELECT w.is_ordered FROM webhooks AS w WHERE w.id = l.listener_id)
  THEN (SELECT d.due_at_ms FROM open_deliveries AS d
    WHERE d.owner_id = l.owner_id AND d.listener_id = l.listener_id AND d.state IN ('pending', 'retrying')
    ORDER BY d.owner_id, d.listener_id, d.delivery LIMIT 1)
  ELSE least(
    (SELECT min(due_at_ms) FROM open_deliveries AS d
      WHERE d.owner_id = l.owner_id AND d.listener_id = l.listener_id AND d.state = 'pending'),
    (SELECT min(due_at_ms) FROM open_deliveries AS d
      WHERE d.owner_id = l.owner_id AND d.listener_id = l.listener_id AND d.state = 'retrying')) END`;

/** A delivery's line is ready when what goes next is due and its webhook is not paused, told by the rows themselves. */
export function sendLines(tx: Tx, changed: readonly Line[]): void {
  if (changed.length === 0) return;
  sendHealth(
    tx,
    changed.filter((line) => line.isHealthChanged),
  );
  void tx.query(
    `UPDATE lines AS l SET waiting = u.waiting, taken = u.taken, holder = u.holder,
        ready_at_ms = CASE WHEN u.waiting = 0 THEN NULL WHEN l.is_run THEN 0
          ELSE greatest(l.paused_until_ms, ${EARLIEST_DUE}) END
      FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::bigint[]) AS u (o, i, waiting, taken, holder)
      WHERE l.owner_id = u.o AND l.listener_id = u.i AND l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])`,
    arrayLiteral(changed.map((l) => l.ownerId)),
    arrayLiteral(changed.map((l) => l.listenerId)),
    arrayLiteral(changed.map((l) => l.waiting)),
    arrayLiteral(changed.map((l) => l.taken)),
    arrayLiteral(changed.map((l) => l.holder)),
  );
}

function sendHealth(tx: Tx, changed: readonly Line[]): void {
  if (changed.length === 0) return;
  void tx.query(
    `UPDATE lines AS l SET failing_since_ms = u.since, exhausted_in_row = u.exhausted, noticed_at_ms = u.noticed,
        paused_until_ms = u.paused
      FROM unnest($1::text[], $2::text[], $3::bigint[], $4::int[], $5::bigint[], $6::bigint[])
        AS u (o, i, since, exhausted, noticed, paused)
      WHERE l.owner_id = u.o AND l.listener_id = u.i AND l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])`,
    arrayLiteral(changed.map((l) => l.ownerId)),
    arrayLiteral(changed.map((l) => l.listenerId)),
    arrayLiteral(changed.map((l) => l.health.failingSinceMs)),
    arrayLiteral(changed.map((l) => l.health.exhaustedInRow)),
    arrayLiteral(changed.map((l) => l.health.noticedAtMs)),
    arrayLiteral(changed.map((l) => l.health.pausedUntilMs)),
  );
}

/** Of a webhook that is deleted, whose line is locked. */
export function forgetHealth(tx: Tx, { ownerId, id }: { ownerId: string; id: string }): void {
  void tx.query(
    `UPDATE lines SET failing_since_ms = NULL, exhausted_in_row = 0, noticed_at_ms = NULL, paused_until_ms = NULL
      WHERE owner_id = $1 AND listener_id = $2`,
    ownerId,
    id,
  );
}
