// Claims due deliveries, as store/log/round-robin.ts grants them to listeners: of an ordered webhook only the lowest number, of
// a paused one none. In a transaction of its own, like claims of runs.

import { type ClaimedDelivery, isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import { CANCEL, HOLD, type WaitingState } from '../../../domain/delivery/progress.ts';
import type { Claims, FreeSlots } from '../../contract/store.ts';
import { LedgerChanges } from '../../log/ledger.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { toWebhook } from '../../rows/webhook-rows.ts';
import { NOW_SQL } from '../connection/clock.ts';
import { OutcomeUnknown, type Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { writeLedger } from '../log/ledger.ts';
import { headOf, isFor, ListenerQueue, sendQueues, toQueueRow } from '../log/listener-queue.ts';
import { moveOrphanedDeliveries, type OrphanedDeliveries } from '../runs/orphaned-runs.ts';
import { claimDeliveryRows, countByState, toClaimed } from './claim.ts';
import { behindCursor, type ClaimCursor } from './claim-cursor.ts';
import { type Candidate, type GrantedDeliveries, grant, keyOf, MAX_DUE } from './round-robin.ts';

/** Listeners that one claim looks at; more if its limit is higher. */
const CANDIDATES = 200;

export async function claimDeliveries(
  core: Core,
  limit: number,
  admission: FreeSlots,
): Promise<Claims & { readonly nextDueAtMs: number | null }> {
  let taken: GrantedDeliveries | undefined;
  try {
    const claimed = await core.claims.transact(async (tx) => {
      dropAll(taken, admission);
      taken = undefined;
      const { found, nowMs, seen, isCut } = await candidates(core, tx, limit);
      const granting = {
        limit,
        admission,
        retryShares: core.retryShares,
        hasRetries: found.some(({ due }) => due.retrying > 0),
      };
      const wanted = grant(found, granting);
      // Slots are given back while queues are being locked: see claim-runs.ts.
      dropAll(wanted, admission);
      const { locked, queues } = await lockQueues(core, tx, { candidates: [...wanted.granted.keys()], nowMs });
      const granted = grant(locked, granting);
      taken = granted;
      const isOther = isCut || queues.size < wanted.granted.size;
      const isMoreWaiting = isOther || wanted.isMoreWaiting || granted.isMoreWaiting;
      const claimed = await claim(core, tx, { ...granted, isMoreWaiting, queues, nowMs, admission });
      const next = await tx.query(
        `SELECT min(greatest(ready_at_ms, paused_until_ms)) AS at FROM listener_queues
          WHERE NOT is_run AND ready_at_ms IS NOT NULL AND greatest(ready_at_ms, paused_until_ms) > $1::bigint`,
        nowMs,
      );
      const inVain = isCut && granted.granted.size === 0 ? seen : 0;
      const ready = inVain === 0 ? 0 : await countReady(core, tx, nowMs);
      // If many listeners have no free slot, the next claim looks at those behind them.
      const cursor = claimed.cursor ?? (inVain > 0 ? found.at(-1) : undefined);
      const nextDueAtMs = next[0] ? numberOrNull(next[0], 'at') : null;
      return { ...claimed, cursor, nowMs, nextDueAtMs, inVain, ready, retries: granted.retries };
    });
    for (const drop of claimed.unused) drop();
    core.leased.add({ runs: [], deliveries: claimed.deliveries });
    const { deliveries, deliveriesWaiting, retries, inVain, ready } = claimed;
    const looked = { isCut: inVain > 0, isServed: inVain === 0, inVain };
    const { listenerId, ownerId } = claimed.cursor ?? core.cursors.deliveries;
    core.cursors.deliveries = { listenerId, ownerId };
    core.retryShares.retries = retries;
    // It follows at once, until all listeners were looked at.
    const nextDueAtMs = core.retryShares.vainLooks.leaveSome(looked, ready) ? claimed.nowMs : claimed.nextDueAtMs;
    return { runs: [], deliveries, runsWaiting: false, deliveriesWaiting, nextDueAtMs };
  } catch (error) {
    dropAll(taken, admission);
    if (error instanceof OutcomeUnknown) core.node.mayHoldUnknown = true;
    throw error;
  }
}

function dropAll(taken: GrantedDeliveries | undefined, admission: FreeSlots): void {
  for (const { candidate, counts } of taken?.granted.values() ?? []) {
    for (let i = 0; i < counts.pending + counts.retrying; i++) admission.dropDelivery(candidate.listenerId);
  }
}

interface DeliveryCandidates {
  readonly found: Candidate[];
  readonly nowMs: number;
  /** How many queues were looked at, and whether there may be more. */
  readonly seen: number;
  readonly isCut: boolean;
}

/** Returns a condition on `listener_queues AS l`: the next delivery is due at `now`, and the webhook is not paused. */
const isReady = (now: string): string =>
  `l.ready_at_ms IS NOT NULL AND l.ready_at_ms <= ${now} AND (l.paused_until_ms IS NULL OR l.paused_until_ms <= ${now})`;

/** Counts the queues that claims would look at. */
async function countReady(core: Core, tx: Tx, nowMs: number): Promise<number> {
  const [row] = await tx.query(
    `SELECT count(*) AS n FROM listener_queues AS l WHERE NOT is_run AND ${isReady('$1::bigint')} AND ${isFor('$2', '$1::bigint')}`,
    nowMs,
    core.node.id,
  );
  return row ? number(row, 'n') : 0;
}

/** Finds queues with a due delivery that no other node sends to or keeps. */
async function candidates(core: Core, tx: Tx, limit: number): Promise<DeliveryCandidates> {
  const { listenerId, ownerId } = core.cursors.deliveries;
  const now = `coalesce($4::bigint, ${NOW_SQL})`;
  const part = (condition: string): string =>
    `(SELECT listener_id, owner_id, taken FROM listener_queues AS l WHERE NOT is_run AND ${isReady(now)}
      AND ${isFor('$3', now)} AND (listener_id, owner_id) ${condition} ($1, $2)
      ORDER BY listener_id, owner_id LIMIT $5::int)`;
  const due = (state: WaitingState): string =>
    `CASE WHEN w.is_ordered THEN 0 ELSE (SELECT count(*) FROM (SELECT 1 FROM open_deliveries AS d
      WHERE d.owner_id = l.owner_id AND d.listener_id = l.listener_id AND d.state = '${state}' AND d.due_at_ms <= ${now}
      LIMIT ${MAX_DUE}) AS n) END AS ${state}_due`;
  const head = `CASE WHEN w.is_ordered AND l.taken = 0 THEN (${headOf(
    `CASE WHEN d.due_at_ms <= ${now} THEN d.state END`,
    { owner: 'l.owner_id', listener: 'l.listener_id' },
  )}) END AS head_state`;
  const most = Math.max(CANDIDATES, limit);
  const rows = await tx.query(
    `SELECT ${now} AS now_ms, (SELECT gone_at_ms IS NULL FROM nodes WHERE node = $3) AS is_alive,
        l.owner_id AS queue_owner, l.listener_id, ${due('pending')}, ${due('retrying')}, ${head},
        o.email, w.*
      FROM (SELECT 1) AS one LEFT JOIN (${part('>')} UNION ALL ${part('<=')} LIMIT $5::int) AS l ON true
      LEFT JOIN webhooks AS w ON w.id = l.listener_id AND w.owner_id = l.owner_id
      LEFT JOIN owners AS o ON o.id = l.owner_id`,
    listenerId,
    ownerId,
    core.node.id,
    core.clock.overrideMs(),
    most,
  );
  const [first] = rows;
  if (!first) throw new Error('the database returned no time');
  const nowMs = core.clock.endReading(number(first, 'now_ms'), tx.beganAt);
  if (first.is_alive !== true) return { found: [], nowMs, seen: 0, isCut: false };
  const found: Candidate[] = [];
  const orphaned: OrphanedDeliveries[] = [];
  for (const row of rows.filter((r) => r.listener_id !== null)) {
    const of = listenerOf(row);
    if (!isWebhook(of.listenerId) || row.active === true) found.push({ ...toParty(core, row, of), due: dueOf(row) });
    else orphaned.push({ ownerId: of.ownerId, id: of.listenerId, move: row.id === null ? CANCEL : HOLD });
  }
  if (orphaned.length > 0) await moveOrphanedDeliveries(core, tx, { orphaned, nowMs });
  const isCut = rows.length === most;
  return {
    found: behindCursor(found, core.cursors.deliveries, (candidate) => candidate),
    nowMs,
    seen: rows.length,
    isCut,
  };
}

function toParty(core: Core, row: Row, of: { ownerId: string; listenerId: string }): Omit<Candidate, 'due'> {
  return {
    ...of,
    webhook: isWebhook(of.listenerId) ? toWebhook(row, core.seal) : null,
    mailTo: of.listenerId === MAIL ? textOrNull(row, 'email') : null,
  };
}

function dueOf(row: Row): Candidate['due'] {
  const head = textOrNull<WaitingState>(row, 'head_state');
  if (head !== null) return { pending: 0, retrying: 0, [head]: 1 };
  return { pending: number(row, 'pending_due'), retrying: number(row, 'retrying_due') };
}

interface DeliveryClaims {
  readonly deliveries: readonly ClaimedDelivery[];
  readonly deliveriesWaiting: boolean;
  readonly unused: (() => void)[];
  readonly cursor: ClaimCursor | undefined;
}

interface Claiming extends Omit<GrantedDeliveries, 'retries'> {
  readonly queues: ReadonlyMap<string, ListenerQueue>;
  readonly nowMs: number;
  readonly admission: FreeSlots;
}

async function claim(core: Core, tx: Tx, of: Claiming): Promise<DeliveryClaims> {
  const { granted, served, queues, nowMs, admission, isMoreWaiting } = of;
  const unused: (() => void)[] = [];
  if (granted.size === 0) return { deliveries: [], deliveriesWaiting: isMoreWaiting, unused, cursor: undefined };
  const wanted = [...granted.values()].map(({ candidate: { ownerId, listenerId, webhook }, counts }) => ({
    ownerId,
    listenerId,
    count: counts.pending + counts.retrying,
    retries: counts.retrying,
    isOrdered: webhook?.settings.ordered ?? false,
  }));
  const by = { node: core.node.id, nowMs, storeTag: core.storeTag, seal: core.seal };
  const claims = await claimDeliveryRows(tx, wanted, by);
  const ledger = new LedgerChanges();
  const byQueue = Map.groupBy(claims, keyOf);
  for (const { candidate, counts } of granted.values()) {
    const mine = byQueue.get(keyOf(candidate)) ?? [];
    const surplus = counts.pending + counts.retrying - mine.length;
    for (let i = 0; i < surplus; i++) unused.push(() => admission.dropDelivery(candidate.listenerId));
    if (mine.length === 0) continue;
    core.retryShares.served(keyOf(candidate), countByState(mine));
    const queue = queues.get(keyOf(candidate));
    for (const { state } of mine) queue?.deliveriesMoved({ from: state, to: 'sending' }, ledger, core.node.id);
  }
  sendQueues(
    tx,
    [...queues.values()].filter((queue) => queue.isChanged),
  );
  writeLedger(tx, ledger, core.node.slot);
  const last = [...served].at(-1);
  const cursor = last && { listenerId: last.listenerId, ownerId: last.ownerId };
  const candidates = new Map([...granted.keys()].map((candidate) => [keyOf(candidate), candidate]));
  const deliveries = claims.map((one) => toClaimed(one, candidates.get(keyOf(one)) as Candidate, core));
  return { deliveries, deliveriesWaiting: isMoreWaiting, unused, cursor };
}

interface LockedQueues {
  readonly locked: Candidate[];
  readonly queues: ReadonlyMap<string, ListenerQueue>;
}

/** Locks queues, and reads their webhooks again: a change of a webhook locks its queue, too. */
async function lockQueues(
  core: Core,
  tx: Tx,
  of: { candidates: readonly Candidate[]; nowMs: number },
): Promise<LockedQueues> {
  const { candidates: wanted, nowMs } = of;
  if (wanted.length === 0) return { locked: [], queues: new Map() };
  const rows = await tx.query(
    `SELECT l.owner_id AS queue_owner, l.listener_id, l.waiting, l.taken, l.holder, l.kept_until_ms, l.failing_since_ms,
        l.exhausted_in_row, l.noticed_at_ms, l.paused_until_ms, o.email, w.*
      FROM unnest($1::text[], $2::text[]) AS u (o, i)
      JOIN listener_queues AS l ON l.owner_id = u.o AND l.listener_id = u.i
      LEFT JOIN webhooks AS w ON w.id = l.listener_id AND w.owner_id = l.owner_id AND w.id = ANY($2::text[])
      LEFT JOIN owners AS o ON o.id = l.owner_id AND o.id = ANY($1::text[])
      WHERE l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[]) AND ${isReady('$4::bigint')}
        AND ${isFor('$3', '$4::bigint')} AND (l.taken = 0 OR w.is_ordered IS NOT TRUE)
        AND (w.active OR NOT starts_with(l.listener_id, 'wh_'))
      ORDER BY l.owner_id, l.listener_id FOR UPDATE OF l SKIP LOCKED`,
    arrayLiteral(wanted.map(({ ownerId }) => ownerId)),
    arrayLiteral(wanted.map(({ listenerId }) => listenerId)),
    core.node.id,
    nowMs,
  );
  const byKey = new Map(rows.map((row) => [keyOf(listenerOf(row)), row]));
  const locked = wanted.flatMap((candidate) => {
    const row = byKey.get(keyOf(candidate));
    return row ? [lockedCandidate(core, row, candidate)] : [];
  });
  return { locked, queues: new Map(rows.map((row) => [keyOf(listenerOf(row)), toQueue(row)])) };
}

/** Returns a candidate with its current webhook, which may have become ordered. */
function lockedCandidate(core: Core, row: Row, { due, ...of }: Candidate): Candidate {
  const party = toParty(core, row, of);
  if (!party.webhook?.settings.ordered) return { ...party, due };
  return { ...party, due: due.pending > 0 ? { pending: 1, retrying: 0 } : { pending: 0, retrying: 1 } };
}

function toQueue(row: Row): ListenerQueue {
  return new ListenerQueue(toQueueRow({ ...row, owner_id: text(row, 'queue_owner') }), false);
}

function listenerOf(row: Row): { ownerId: string; listenerId: string } {
  return { ownerId: text(row, 'queue_owner'), listenerId: text(row, 'listener_id') };
}
