// Claiming due deliveries in turn over webhooks, first attempts of all before retries of any, so that failures do not
// starve new events. Beside the batch, as claims of runs are.

import { type ClaimedDelivery, MAIL } from '../../domain/delivery.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { Admission, Claims } from '../store.ts';
import { claimDeliveryRows, type DeliveryClaim, toClaimedDelivery } from './claim.ts';
import { NOW_SQL } from './clock.ts';
import type { Core } from './core.ts';
import { OutcomeUnknown, type Tx } from './lane.ts';
import { Ledger } from './ledger.ts';
import { moveStray } from './orphans.ts';
import { Line, sendLines } from './pass.ts';
import { toWebhook } from './rows.ts';
import { inTurn, type Turn } from './turn-runs.ts';
import { arrayLiteral, type Row } from './values.ts';

/** Webhooks looked at in one claim. */
const CANDIDATES = 200;
/** Due rows counted for one webhook in one claim: more than it may have in flight, far less than may be due. */
const MAX_DUE = 64;

type State = 'pending' | 'retrying';

interface Candidate {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly webhook: Webhook | null;
  readonly mailTo: string | null;
  readonly due: Readonly<Record<State, number>>;
}

interface Grant {
  readonly candidate: Candidate;
  readonly counts: Record<State, number>;
}

interface Taken {
  readonly granted: Map<Candidate, Grant>;
  readonly isMoreWaiting: boolean;
}

export async function claimDeliveries(
  core: Core,
  limit: number,
  admission: Admission,
): Promise<Claims & { readonly nextDueAtMs: number | null }> {
  let taken: Taken | undefined;
  try {
    const claimed = await core.claims.transact(async (tx) => {
      dropAll(taken, admission);
      taken = undefined;
      const { found, nowMs } = await candidates(core, tx);
      const wanted = grantInTurn(found, limit, admission);
      // Not held while lines are being locked: see turn-runs.ts.
      dropAll(wanted, admission);
      const { locked, lines } = await lockLines(core, tx, [...wanted.granted.keys()]);
      const granted = grantInTurn(locked, limit, admission);
      taken = granted;
      const isMoreWaiting = wanted.isMoreWaiting || granted.isMoreWaiting || lines.size < wanted.granted.size;
      const claimed = await claim(core, tx, { granted: granted.granted, isMoreWaiting, lines, nowMs, admission });
      const next = await tx.query(
        'SELECT min(ready_at_ms) AS at FROM lines WHERE NOT is_run AND ready_at_ms > $1::bigint',
        nowMs,
      );
      return { ...claimed, nextDueAtMs: (next[0]?.at as number | null | undefined) ?? null };
    });
    for (const drop of claimed.unused) drop();
    core.held.add({ runs: [], deliveries: claimed.deliveries });
    core.turns.deliveries = claimed.turn ?? core.turns.deliveries;
    const { deliveries, deliveriesWaiting, nextDueAtMs } = claimed;
    return { runs: [], deliveries, runsWaiting: false, deliveriesWaiting, nextDueAtMs };
  } catch (error) {
    dropAll(taken, admission);
    if (error instanceof OutcomeUnknown) core.node.mayHoldUnknown = true;
    throw error;
  }
}

function dropAll(taken: Taken | undefined, admission: Admission): void {
  for (const { candidate, counts } of taken?.granted.values() ?? []) {
    for (let i = 0; i < counts.pending + counts.retrying; i++) admission.dropDelivery(candidate.listenerId);
  }
}

/** Lines with something due that no other node is sending to. */
async function candidates(core: Core, tx: Tx): Promise<{ found: Candidate[]; nowMs: number }> {
  const { listenerId, ownerId } = core.turns.deliveries;
  const now = `coalesce($4::bigint, ${NOW_SQL})`;
  const part = (condition: string): string =>
    `(SELECT listener_id, owner_id FROM lines WHERE NOT is_run AND ready_at_ms IS NOT NULL AND ready_at_ms <= ${now}
      AND (taken = 0 OR holder = $3) AND (listener_id, owner_id) ${condition} ($1, $2)
      ORDER BY listener_id, owner_id LIMIT ${CANDIDATES})`;
  const due = (state: State): string =>
    `(SELECT count(*) FROM (SELECT 1 FROM open_deliveries AS d WHERE d.owner_id = l.owner_id AND d.listener_id = l.listener_id
      AND d.state = '${state}' AND d.due_at_ms <= ${now} LIMIT ${MAX_DUE}) AS n) AS ${state}_due`;
  const rows = await tx.query(
    `SELECT ${now} AS now_ms, (SELECT gone_at_ms IS NULL FROM nodes WHERE node = $3) AS is_alive,
        l.owner_id AS line_owner, l.listener_id, ${due('pending')}, ${due('retrying')}, o.email, w.*
      FROM (SELECT 1) AS one LEFT JOIN (${part('>')} UNION ALL ${part('<=')} LIMIT ${CANDIDATES}) AS l ON true
      LEFT JOIN webhooks AS w ON w.id = l.listener_id AND w.owner_id = l.owner_id
      LEFT JOIN owners AS o ON o.id = l.owner_id`,
    listenerId,
    ownerId,
    core.node.id,
    core.clock.standMs(),
  );
  const nowMs = core.clock.heard(rows[0]?.now_ms as number);
  if (rows[0]?.is_alive !== true) return { found: [], nowMs };
  const found: Candidate[] = [];
  for (const row of rows.filter((r) => r.listener_id !== null)) {
    const of = listenerOf(row);
    if (of.listenerId === MAIL || row.active === true) found.push(toCandidate(row, of));
    else await moveStray(core, tx, { ...of, to: row.id === null ? 'cancelled' : 'held', nowMs });
  }
  return { found: inTurn(found, core.turns.deliveries, (candidate) => candidate), nowMs };
}

function toCandidate(row: Row, of: { ownerId: string; listenerId: string }): Candidate {
  const isMail = of.listenerId === MAIL;
  return {
    ...of,
    webhook: isMail ? null : toWebhook(row),
    mailTo: isMail ? (row.email as string | null) : null,
    due: { pending: row.pending_due as number, retrying: row.retrying_due as number },
  };
}

function grantInTurn(found: readonly Candidate[], limit: number, admission: Admission): Taken {
  const granted = new Map<Candidate, Grant>();
  let isMoreWaiting = false;
  let rest = limit;
  for (const state of ['pending', 'retrying'] as const) {
    if (found.some(({ due }) => due[state] === MAX_DUE)) isMoreWaiting = true;
    let left = found;
    while (left.length > 0) {
      left = left.filter((candidate) => {
        const grant = granted.get(candidate) ?? { candidate, counts: { pending: 0, retrying: 0 } };
        if (grant.counts[state] >= candidate.due[state]) return false;
        if (rest === 0 || !admission.takeDelivery(candidate.listenerId)) {
          isMoreWaiting = true;
          return false;
        }
        grant.counts[state]++;
        granted.set(candidate, grant);
        rest--;
        return true;
      });
    }
  }
  return { granted, isMoreWaiting };
}

interface Claimed {
  readonly deliveries: readonly ClaimedDelivery[];
  readonly deliveriesWaiting: boolean;
  readonly unused: (() => void)[];
  readonly turn: Turn | undefined;
}

interface Claiming extends Taken {
  readonly lines: ReadonlyMap<string, Line>;
  readonly nowMs: number;
  readonly admission: Admission;
}

async function claim(core: Core, tx: Tx, of: Claiming): Promise<Claimed> {
  const { granted, lines, nowMs, admission, isMoreWaiting } = of;
  const unused: (() => void)[] = [];
  if (granted.size === 0) return { deliveries: [], deliveriesWaiting: isMoreWaiting, unused, turn: undefined };
  const wanted = [...granted.values()].flatMap(({ candidate: { ownerId, listenerId }, counts }) =>
    (['pending', 'retrying'] as const).map((state) => ({ ownerId, listenerId, state, count: counts[state] })),
  );
  const by = { node: core.node.id, nowMs, storeTag: core.storeTag };
  const claims = await claimDeliveryRows(
    tx,
    wanted.filter(({ count }) => count > 0),
    by,
  );
  const ledger = new Ledger();
  const byLine = Map.groupBy(claims, keyOf);
  for (const { candidate, counts } of granted.values()) {
    const mine = byLine.get(keyOf(candidate)) ?? [];
    const surplus = counts.pending + counts.retrying - mine.length;
    for (let i = 0; i < surplus; i++) unused.push(() => admission.dropDelivery(candidate.listenerId));
    if (mine.length === 0) continue;
    lines.get(keyOf(candidate))?.change({ waiting: -mine.length, taken: mine.length }, core.node.id);
    for (const { state } of mine) ledger.moved(candidate.ownerId, 'deliveries', { from: state, to: 'sending' });
  }
  const changed = [...lines.values()].filter((line) => line.isChanged);
  if (changed.length > 0) sendLines(tx, changed);
  ledger.write(tx, core.node.slot);
  const last = [...granted.keys()].at(-1);
  const turn = last && { listenerId: last.listenerId, ownerId: last.ownerId };
  return { deliveries: inOrder(core, claims, granted), deliveriesWaiting: isMoreWaiting, unused, turn };
}

/** First attempts before retries, as they were granted. */
function inOrder(core: Core, claims: readonly DeliveryClaim[], granted: Taken['granted']): ClaimedDelivery[] {
  const candidates = new Map([...granted.keys()].map((candidate) => [keyOf(candidate), candidate]));
  const sorted = [...claims].sort((a, b) => a.state.localeCompare(b.state));
  return sorted.map((claimed) => {
    const { webhook, mailTo } = candidates.get(keyOf(claimed)) as Candidate;
    return toClaimedDelivery(claimed, { webhook, mailTo, storeTag: core.storeTag });
  });
}

function keyOf({ ownerId, listenerId }: { ownerId: string; listenerId: string }): string {
  return `${ownerId} ${listenerId}`;
}

interface Locked {
  readonly locked: Candidate[];
  readonly lines: ReadonlyMap<string, Line>;
}

/** With their webhooks as they are by now: whoever changes one locks its line, too. */
async function lockLines(core: Core, tx: Tx, of: readonly Candidate[]): Promise<Locked> {
  if (of.length === 0) return { locked: [], lines: new Map() };
  const rows = await tx.query(
    `SELECT l.owner_id AS line_owner, l.listener_id, l.waiting, l.taken, l.holder, o.email, w.*
      FROM unnest($1::text[], $2::text[]) AS u (o, i)
      JOIN lines AS l ON l.owner_id = u.o AND l.listener_id = u.i
      LEFT JOIN webhooks AS w ON w.id = l.listener_id AND w.owner_id = l.owner_id AND w.id = ANY($2::text[])
      LEFT JOIN owners AS o ON o.id = l.owner_id AND o.id = ANY($1::text[])
      WHERE l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])
        AND (l.taken = 0 OR l.holder = $3) AND (w.active OR l.listener_id = '${MAIL}')
      ORDER BY l.owner_id, l.listener_id FOR UPDATE OF l SKIP LOCKED`,
    arrayLiteral(of.map(({ ownerId }) => ownerId)),
    arrayLiteral(of.map(({ listenerId }) => listenerId)),
    core.node.id,
  );
  const byKey = new Map(rows.map((row) => [keyOf(listenerOf(row)), row]));
  const locked = of.flatMap((candidate) => {
    const row = byKey.get(keyOf(candidate));
    return row ? [{ ...toCandidate(row, listenerOf(row)), due: candidate.due }] : [];
  });
  return { locked, lines: new Map(rows.map((row) => [keyOf(listenerOf(row)), toLine(row)])) };
}

function toLine(row: Row): Line {
  const { waiting, taken, holder } = row as { waiting: number; taken: number; holder: number | null };
  return new Line({ ...listenerOf(row), waiting, taken, holder }, false);
}

function listenerOf(row: Row): { ownerId: string; listenerId: string } {
  return { ownerId: row.line_owner as string, listenerId: row.listener_id as string };
}
