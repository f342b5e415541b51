// Claims granted rows, oldest first: one statement for runs and one for deliveries, for any number of listeners. The queues are
// locked, so no other process claims the same rows; the statements check the state anyway.

import { type ClaimedDelivery, isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import { HOLD, type WaitingState } from '../../../domain/delivery/progress.ts';
import { msOf } from '../../../domain/ids.ts';
import type { Runnable, Webhook } from '../../../domain/resource.ts';
import type { ClaimedRun } from '../../../domain/run/run.ts';
import type { Served } from '../../log/round-robin.ts';
import { number, text } from '../../rows/cells.ts';
import { toClaimedDelivery } from '../../rows/delivery-rows.ts';
import { toEmission } from '../../rows/log-rows.ts';
import { CLAIMED_COLUMNS, claimedRun, toClaimedRun } from '../../rows/run-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import { moveDeliveries } from '../deliveries/move-deliveries.ts';
import { pairKey } from '../log/batch-needs.ts';
import type { BatchPlanner, PlannedClaim } from '../log/batch-planner.ts';
import { headOf } from '../log/listener-queue.ts';
import { DELIVERY_LEASE_MS, runLeaseMs } from './leases.ts';

/** Columns of the emission that differ from the row's own. */
const EMISSION = `e.entry, e.owner_id, e.emitter_id, e.name, e.source_type, e.origin_id, e.verified, e.replay, e.test,
  e.trace_id, e.traceparent, e.lineage, e.hops, e.cause_run, e.cause_delivery, e.summary, e.item_id, e.item_ts, e.code,
  e.original_start, e.original_length, e.only_listener_id, e.digest_key, e.group_id, e.body`;

export interface WantedRuns {
  readonly runnable: Runnable;
  readonly count: number;
}

export interface ClaimContext {
  readonly node: number;
  readonly nowMs: number;
  readonly storeTag: string;
  readonly seal: Seal;
}

const CLAIMED_RUN = claimedRun({ deployment: 'p.deployment', now: '$6::bigint', greatest: 'greatest' });

/** Claims at most `count` of the oldest queued runs of each workflow or source. */
export async function claimRunRows(tx: Tx, wanted: readonly WantedRuns[], by: ClaimContext): Promise<ClaimedRun[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.query(
    `WITH wanted AS (SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::bigint[]) AS u (id, n, deployment, lease)),
      picked AS (SELECT o.run, o.entry, w.deployment, w.lease FROM wanted AS w CROSS JOIN LATERAL (
        SELECT run, entry FROM open_runs
          WHERE runnable_id >= w.id AND runnable_id <= w.id AND due_at_ms IS NULL AND state = 'queued'
          ORDER BY runnable_id DESC, run LIMIT w.n) AS o)
      UPDATE open_runs AS o SET ${CLAIMED_RUN}, node = $5, lease_until_ms = $6::bigint + p.lease
        FROM picked AS p, emissions AS e WHERE o.run = p.run AND o.state = 'queued' AND e.entry = p.entry
          AND o.run = ANY(ARRAY(SELECT run FROM picked)) AND e.entry = ANY(ARRAY(SELECT entry FROM picked))
        RETURNING o.runnable_id, o.awaited_by, ${CLAIMED_COLUMNS.map((column) => `o.${column}`).join(', ')}, ${EMISSION}`,
    arrayLiteral(wanted.map(({ runnable }) => runnable.id)),
    arrayLiteral(wanted.map(({ count }) => count)),
    arrayLiteral(wanted.map(({ runnable }) => runnable.deploymentId)),
    arrayLiteral(wanted.map(({ runnable }) => runLeaseMs(runnable))),
    by.node,
    by.nowMs,
  );
  const runnables = new Map(wanted.map(({ runnable }) => [runnable.id, runnable]));
  const claimed = rows.map((row) =>
    toClaimedRun(row, {
      runnable: runnables.get(text(row, 'runnable_id')) as Runnable,
      emission: toEmission(row, by),
      isAwaitedElsewhere: row.awaited_by !== null && row.awaited_by !== by.node,
    }),
  );
  return claimed.sort((a, b) => a.run - b.run);
}

export interface WantedDeliveries {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly count: number;
  /** So many of them are due retries, before first attempts get the rest. */
  readonly retries: number;
  /** Only the lowest number, and only when it is due. */
  readonly isOrdered: boolean;
}

/** A claimed delivery; the caller adds the webhook and the mail's address. */
export interface DeliveryClaim {
  readonly row: Row;
  readonly ownerId: string;
  readonly listenerId: string;
  /** The state before the claim. */
  readonly state: WaitingState;
}

/** Selects due deliveries of a queue in `wanted AS w`, the longest due first. `$7`: now. */
const dueOf = (state: WaitingState, place: number): string =>
  `SELECT d.delivery, d.entry, d.due_at_ms, d.state, ${place} AS place FROM open_deliveries AS d
    WHERE NOT w.ordered AND d.owner_id = w.owner AND d.listener_id = w.id AND d.state = '${state}' AND d.due_at_ms <= $7::bigint
    ORDER BY d.due_at_ms, d.delivery`;

const HEAD = `SELECT * FROM (${headOf('d.delivery, d.entry, d.due_at_ms, d.state, 4 AS place', {
  owner: 'w.owner',
  listener: 'w.id',
  only: 'w.ordered',
})}) AS head WHERE head.due_at_ms <= $7::bigint`;

/** Claims at most `count` due deliveries of each listener: `retries` retries, then first attempts, then other retries. */
export async function claimDeliveryRows(
  tx: Tx,
  wanted: readonly WantedDeliveries[],
  by: ClaimContext,
): Promise<DeliveryClaim[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.query(
    `WITH wanted AS (SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::boolean[])
        AS u (owner, id, n, retries, ordered)),
      picked AS (SELECT o.delivery, o.entry, o.due_at_ms, o.state FROM wanted AS w CROSS JOIN LATERAL (
        SELECT * FROM ((${dueOf('retrying', 1)} LIMIT w.retries) UNION ALL (${dueOf('pending', 2)} LIMIT w.n)
          UNION ALL (${dueOf('retrying', 3)} OFFSET w.retries LIMIT w.n) UNION ALL (${HEAD})) AS due
          ORDER BY place, due_at_ms, delivery LIMIT w.n) AS o)
      UPDATE open_deliveries AS o SET state = 'sending', fence = o.fence + 1, node = $6, lease_until_ms = $8::bigint
        FROM picked AS p, emissions AS e WHERE o.delivery = p.delivery AND o.state = p.state AND e.entry = p.entry
          AND o.delivery = ANY(ARRAY(SELECT delivery FROM picked)) AND e.entry = ANY(ARRAY(SELECT entry FROM picked))
        RETURNING o.delivery, o.listener_id, o.fence, o.via, o.subscription_id, o.attempts_made, o.requests_made, o.tries,
          o.due_by, o.kind, p.state AS was, p.due_at_ms AS was_due, ${EMISSION}`,
    arrayLiteral(wanted.map((w) => w.ownerId)),
    arrayLiteral(wanted.map((w) => w.listenerId)),
    arrayLiteral(wanted.map((w) => w.count)),
    arrayLiteral(wanted.map((w) => w.retries)),
    arrayLiteral(wanted.map((w) => w.isOrdered)),
    by.node,
    by.nowMs,
    by.nowMs + DELIVERY_LEASE_MS,
  );
  const claims = rows.map((row) => ({
    row,
    ownerId: text(row, 'owner_id'),
    listenerId: text(row, 'listener_id'),
    state: text<WaitingState>(row, 'was'),
  }));
  return claims.sort(inOrder);
}

export function toClaimed(
  { row, listenerId }: DeliveryClaim,
  to: Pick<ClaimedDelivery, 'webhook' | 'mailTo'>,
  by: Pick<ClaimContext, 'storeTag' | 'seal'>,
): ClaimedDelivery {
  const { webhook, mailTo } = to;
  const emission = toEmission(row, by);
  return toClaimedDelivery(row, { fence: number(row, 'fence'), listenerId, emission, webhook, mailTo });
}

/** Compares claims: first attempts before retries, then the longest due first. */
function inOrder(a: DeliveryClaim, b: DeliveryClaim): number {
  if (a.state !== b.state) return a.state === 'pending' ? -1 : 1;
  const byDue = number(a.row, 'was_due') - number(b.row, 'was_due');
  return byDue || number(a.row, 'delivery') - number(b.row, 'delivery');
}

/** Claims rows for the planner's grants, and gives back slots without a row. */
export async function grantRows(planner: BatchPlanner, tx: Tx): Promise<void> {
  for (const queue of planner.goneWebhooks.values()) await holdQueue(planner, tx, queue);
  const { node, storeTag, seal, retryShares } = planner.core;
  const by = { node: node.id, nowMs: planner.nowMs, storeTag, seal };
  const runs = planner.grants.filter(({ runnable }) => runnable !== null);
  const deliveries = planner.grants.filter(({ runnable }) => runnable === null);
  const wantedRuns = [...Map.groupBy(runs, ({ queue }) => queue).values()].map((grants) => ({
    runnable: grants[0]?.runnable as Runnable,
    count: sum(grants),
  }));
  // A later attempt of the batch may have paused the webhook.
  const mayGo = [...Map.groupBy(deliveries, ({ queue }) => queue)].filter(([queue]) => !queue.isPaused(planner.nowMs));
  const wantedDeliveries = mayGo.map(([queue, grants]) => ({
    ownerId: queue.ownerId,
    listenerId: queue.listenerId,
    count: sum(grants),
    retries: retryShares.retriesOf(keyOf(queue), sum(grants)),
    isOrdered: webhookOf(planner, queue)?.settings.ordered ?? false,
  }));
  const [claimedRuns, claimedDeliveries] = await Promise.all([
    claimRunRows(tx, wantedRuns, by),
    claimDeliveryRows(tx, wantedDeliveries, by),
  ]);
  giveRuns(planner, runs, claimedRuns);
  giveDeliveries(planner, deliveries, claimedDeliveries);
}

const sum = (grants: readonly PlannedClaim[]): number => grants.reduce((total, { count }) => total + count, 0);
const keyOf = (of: { ownerId: string; listenerId: string }): string => pairKey(of.ownerId, of.listenerId);

function webhookOf(planner: BatchPlanner, queue: PlannedClaim['queue']): Webhook | null {
  return isWebhook(queue.listenerId) ? (planner.webhook(queue.ownerId, queue.listenerId) ?? null) : null;
}

/** Returns the start of these runs for their throttle: a run starts no earlier than its number, which may be ahead of the clock. */
export function startOf(runs: readonly ClaimedRun[], nowMs: number): { count: number; atMs: number; nowMs: number } {
  return { count: runs.length, atMs: Math.max(nowMs, ...runs.map(({ run }) => msOf(run))), nowMs };
}

function giveRuns(planner: BatchPlanner, grants: readonly PlannedClaim[], claimed: readonly ClaimedRun[]): void {
  const left = new Map(Map.groupBy(claimed, ({ runnable }) => runnable.id));
  for (const { queue, claimer, count, runnable } of grants) {
    const given = left.get(queue.listenerId)?.splice(0, count) ?? [];
    claimer.claims.runs.push(...given);
    planner.leaveUnused(claimer, queue, count - given.length);
    if (given.length === 0) continue;
    queue.change({ waiting: -given.length, taken: given.length }, planner.core.node.id);
    queue.began(runnable?.settings.throttle ?? null, startOf(given, planner.nowMs));
    planner.ledger.moved(queue.ownerId, 'runs', { from: 'queued', to: 'running', n: given.length });
  }
}

function giveDeliveries(
  planner: BatchPlanner,
  grants: readonly PlannedClaim[],
  claimed: readonly DeliveryClaim[],
): void {
  const { node, retryShares } = planner.core;
  const left = Map.groupBy(claimed, keyOf);
  for (const [key, claims] of left) retryShares.served(key, countByState(claims));
  for (const { queue, claimer, count } of grants) {
    const given = left.get(keyOf(queue))?.splice(0, count) ?? [];
    planner.leaveUnused(claimer, queue, count - given.length);
    if (given.length === 0) continue;
    const webhook = webhookOf(planner, queue);
    const mailTo = queue.listenerId === MAIL ? (planner.owner(queue.ownerId)?.email ?? null) : null;
    claimer.claims.deliveries.push(...given.map((claim) => toClaimed(claim, { webhook, mailTo }, planner.core)));
    for (const { state } of given) queue.deliveriesMoved({ from: state, to: 'sending' }, planner.ledger, node.id);
  }
}

export function countByState(claims: readonly DeliveryClaim[]): Served {
  const pending = claims.filter(({ state }) => state === 'pending').length;
  return { pending, retrying: claims.length - pending };
}

/** Disables a webhook for all nodes at once, and holds the deliveries that wait for it. */
async function holdQueue(planner: BatchPlanner, tx: Tx, queue: PlannedClaim['queue']): Promise<void> {
  void tx.query(
    `INSERT INTO versions (owner_id, version) VALUES ($1, 1)
      ON CONFLICT (owner_id) DO UPDATE SET version = versions.version + 1`,
    queue.ownerId,
  );
  void tx.query(
    'UPDATE webhooks SET active = false, updated_at_ms = $2::bigint WHERE id = $1',
    queue.listenerId,
    planner.nowMs,
  );
  const { nowMs, ledger } = planner;
  await moveDeliveries(tx, queue, { move: HOLD, nowMs, ledger, node: planner.core.node.id });
}
