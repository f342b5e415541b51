// Claims queued runs, round robin over owners and their workflows and sources. In a transaction of its own, beside the batch: it
// skips queues that another transaction has locked, so it never waits.
//
// Slots are taken only for queues that the claim has locked. The end of a run has its queue locked, and gives the freed slot to
// the next run; if a claim had taken that slot before, both would get nothing, and the queue would wait for the poll.
//
// The queue of a throttled workflow becomes ready when its next run may begin. A claim corrects a queue that is ready too early.

import { concurrencyOf, type Runnable } from '../../../domain/resource.ts';
import type { Claims, FreeSlots } from '../../contract/store.ts';
import { type GrantedRuns, grantRuns, type RunCandidate } from '../../log/grant-runs.ts';
import { LedgerChanges } from '../../log/ledger.ts';
import { OwnerRoundRobin } from '../../log/owner-round-robin.ts';
import { number, numberOrNull, text } from '../../rows/cells.ts';
import { toWorkflow } from '../../rows/runnable-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import { NOW_SQL } from '../connection/clock.ts';
import { OutcomeUnknown, type Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { writeLedger } from '../log/ledger.ts';
import { ListenerQueue, QUEUE_COLUMNS, sendQueues, toQueueRow } from '../log/listener-queue.ts';
import { cancelOrphanedRuns } from '../runs/orphaned-runs.ts';
import { claimRunRows, startOf } from './claim.ts';
import { behindCursor, type ClaimCursor } from './claim-cursor.ts';

/** Workflows and sources that one claim looks at. */
const CANDIDATES = 200;
const RUNNABLE = 'r.id, r.name, r.active, r.deployment_id, r.settings, r.created_at_ms, r.updated_at_ms';

interface QueuedCandidate extends RunCandidate {
  readonly queue: ListenerQueue;
}

/** Implements RunStore.claimRuns. */
export async function claimRuns(
  core: Core,
  limit: number,
  admission: FreeSlots,
): Promise<Claims & { readonly nextDueAtMs: number | null }> {
  let taken: GrantedRuns | undefined;
  try {
    const claims = await core.claims.transact(async (tx) => {
      dropAll(taken, admission);
      taken = undefined;
      const { found, nowMs, nextReadyAtMs } = await candidates(core, tx);
      const grant = (of: readonly QueuedCandidate[]): GrantedRuns =>
        grantRuns(of, { round: new OwnerRoundRobin(), limit, takeRun: (runnable) => admission.takeRun(runnable) });
      const wanted = grant(found);
      dropAll(wanted, admission);
      const early = found.filter(({ room }) => room === 0).map(({ runnable }) => runnable);
      const asked = [...wanted.granted.keys(), ...early];
      const { locked, queues } = await lockQueues(core, tx, { runnables: asked, nowMs });
      const granted = grant(locked);
      taken = granted;
      const isMoreWaiting = wanted.isMoreWaiting || granted.isMoreWaiting || queues.size < asked.length;
      const claimed = await claim(core, tx, { granted: granted.granted, isMoreWaiting, queues, nowMs, admission });
      const ready = [...queues.values()].filter((queue) => queue.waiting > 0).map((queue) => queue.readyAtMs);
      return { ...claimed, nextDueAtMs: earliest([...ready, nextReadyAtMs], nowMs) };
    });
    for (const drop of claims.unused) drop();
    core.leased.add({ runs: claims.runs, deliveries: [] });
    core.cursors.runs = claims.cursor ?? core.cursors.runs;
    const { runs, runsWaiting, nextDueAtMs } = claims;
    return { runs, deliveries: [], runsWaiting, deliveriesWaiting: false, nextDueAtMs };
  } catch (error) {
    dropAll(taken, admission);
    if (error instanceof OutcomeUnknown) core.node.mayHoldUnknown = true;
    throw error;
  }
}

function dropAll(taken: GrantedRuns | undefined, admission: FreeSlots): void {
  for (const [runnable, count] of taken?.granted ?? []) {
    for (let i = 0; i < count; i++) admission.dropRun(runnable.id);
  }
}

/** Returns the earliest time after `nowMs`, or null. */
function earliest(times: readonly (number | null)[], nowMs: number): number | null {
  const next = times.filter((ms) => ms !== null && ms > nowMs).map(Number);
  return next.length === 0 ? null : Math.min(...next);
}

interface RunCandidates {
  readonly found: QueuedCandidate[];
  readonly nowMs: number;
  /** When the next queue becomes ready that is not yet; null: there is none. */
  readonly nextReadyAtMs: number | null;
}

async function candidates(core: Core, tx: Tx): Promise<RunCandidates> {
  const { listenerId, ownerId } = core.cursors.runs;
  const now = `coalesce($4::bigint, ${NOW_SQL})`;
  const part = (condition: string): string =>
    `(SELECT listener_id, owner_id, waiting, taken, starts FROM listener_queues
      WHERE is_run AND ready_at_ms IS NOT NULL AND ready_at_ms <= ${now}
      AND (listener_id, owner_id) ${condition} ($1, $2) ORDER BY listener_id, owner_id LIMIT ${CANDIDATES})`;
  const rows = await tx.query(
    `SELECT ${now} AS now_ms, (SELECT gone_at_ms IS NULL FROM nodes WHERE node = $3) AS is_alive, one.next_ready_at_ms,
        l.*, ${RUNNABLE}
      FROM (SELECT min(ready_at_ms) AS next_ready_at_ms FROM listener_queues
        WHERE is_run AND ready_at_ms > 0 AND ready_at_ms > ${now}) AS one LEFT JOIN (${part('>')} UNION ALL ${part('<=')} LIMIT ${CANDIDATES}) AS l ON true
      LEFT JOIN runnables AS r ON r.id = l.listener_id AND r.owner_id = l.owner_id`,
    listenerId,
    ownerId,
    core.node.id,
    core.clock.overrideMs(),
  );
  const [first] = rows;
  if (!first) throw new Error('the database returned no time');
  const nowMs = core.clock.endReading(number(first, 'now_ms'), tx.beganAt);
  if (first.is_alive !== true) return { found: [], nowMs, nextReadyAtMs: null };
  const real = rows.filter((row) => row.listener_id !== null);
  const gone = real.filter(({ id }) => id === null);
  if (gone.length > 0) {
    const runnables = gone.map((row) => ({ ownerId: text(row, 'owner_id'), id: text(row, 'listener_id') }));
    await cancelOrphanedRuns(core, tx, { runnables, nowMs });
  }
  const found = real.filter(({ id }) => id !== null).map((row) => toCandidate(row, { nowMs, seal: core.seal }));
  return {
    found: behindCursor(found, core.cursors.runs, ({ runnable: r }) => ({ listenerId: r.id, ownerId: r.ownerId })),
    nowMs,
    nextReadyAtMs: numberOrNull(first, 'next_ready_at_ms'),
  };
}

function toCandidate(row: Row, { nowMs, seal }: { nowMs: number; seal: Seal }): QueuedCandidate {
  const runnable = toWorkflow(row, seal);
  const queue = new ListenerQueue(toQueueRow(row), true);
  const room = queue.roomAt(runnable.settings.throttle, nowMs);
  const { ownerId, waiting, taken } = queue;
  return { ownerId, runnable, queue, waiting, room, free: concurrencyOf(runnable) - taken };
}

interface Claiming extends Omit<GrantedRuns, 'throttled'> {
  readonly queues: ReadonlyMap<string, ListenerQueue>;
  readonly nowMs: number;
  readonly admission: FreeSlots;
}

interface RunClaims {
  readonly runs: Claims['runs'];
  readonly runsWaiting: boolean;
  readonly unused: (() => void)[];
  readonly cursor: ClaimCursor | undefined;
}

async function claim(core: Core, tx: Tx, of: Claiming): Promise<RunClaims> {
  const unused: (() => void)[] = [];
  const { granted, queues, nowMs, admission, isMoreWaiting } = of;
  if (granted.size === 0 && queues.size === 0)
    return { runs: [], runsWaiting: isMoreWaiting, unused, cursor: undefined };
  const wanted = [...granted].map(([runnable, count]) => ({ runnable, count }));
  const runs = await claimRunRows(tx, wanted, { node: core.node.id, nowMs, storeTag: core.storeTag, seal: core.seal });
  const ledger = new LedgerChanges();
  for (const { runnable, count } of wanted) {
    const mine = runs.filter((run) => run.runnable.id === runnable.id);
    for (let i = mine.length; i < count; i++) unused.push(() => admission.dropRun(runnable.id));
    if (mine.length === 0) continue;
    const queue = queues.get(runnable.id) as ListenerQueue;
    queue.change({ waiting: -mine.length, taken: mine.length }, core.node.id);
    queue.began(runnable.settings.throttle, startOf(mine, nowMs));
    ledger.moved(runnable.ownerId, 'runs', { from: 'queued', to: 'running', n: mine.length });
  }
  sendQueues(
    tx,
    [...queues.values()].filter((queue) => queue.isChanged),
  );
  writeLedger(tx, ledger, core.node.slot);
  const last = [...granted.keys()].at(-1);
  const cursor = last && { listenerId: last.id, ownerId: last.ownerId };
  return { runs, runsWaiting: isMoreWaiting, unused, cursor };
}

interface LockedQueues {
  readonly locked: QueuedCandidate[];
  readonly queues: ReadonlyMap<string, ListenerQueue>;
}

/** Locks queues, and reads their workflows and sources again: a change of one locks its queue, too. */
async function lockQueues(
  { seal }: Core,
  tx: Tx,
  { runnables, nowMs }: { runnables: readonly Runnable[]; nowMs: number },
): Promise<LockedQueues> {
  if (runnables.length === 0) return { locked: [], queues: new Map() };
  const rows = await tx.query(
    `SELECT ${QUEUE_COLUMNS}, ${RUNNABLE} FROM unnest($1::text[], $2::text[]) AS u (o, i)
      JOIN listener_queues AS l ON l.owner_id = u.o AND l.listener_id = u.i
      JOIN runnables AS r ON r.id = l.listener_id AND r.owner_id = l.owner_id
      WHERE l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[]) AND r.id = ANY($2::text[])
      ORDER BY l.owner_id, l.listener_id FOR UPDATE OF l SKIP LOCKED`,
    arrayLiteral(runnables.map(({ ownerId }) => ownerId)),
    arrayLiteral(runnables.map(({ id }) => id)),
  );
  const byId = new Map(rows.map((row) => [text(row, 'listener_id'), row]));
  const inOrder = runnables.map(({ id }) => byId.get(id)).filter((row) => row !== undefined);
  const locked = inOrder.map((row) => toCandidate(row, { nowMs, seal }));
  return { locked, queues: new Map(locked.map(({ queue }) => [queue.listenerId, queue])) };
}
