// Claiming queued runs in turn over workflows and sources. In a transaction of its own, beside the batch: it takes the
// lines that it wants only where nobody else has them at the moment, so it waits for nobody.

import { concurrencyOf, type Runnable } from '../../domain/resource.ts';
import type { Admission, Claims } from '../store.ts';
import { claimRunRows } from './claim.ts';
import { NOW_SQL } from './clock.ts';
import type { Core } from './core.ts';
import type { Tx } from './lane.ts';
import { Ledger } from './ledger.ts';
import { cancelOrphans } from './orphans.ts';
import { Line, sendLines } from './pass.ts';
import { toWorkflow } from './rows.ts';
import { arrayLiteral, type Row } from './values.ts';

/** Workflows and sources looked at in one claim. */
const CANDIDATES = 200;

interface Candidate {
  readonly runnable: Runnable;
  readonly waiting: number;
  readonly free: number;
}

interface Taken {
  readonly granted: Map<Runnable, number>;
  readonly isMoreWaiting: boolean;
}

/** Where the last claim ended: the next one begins behind it, so that small claims are in turn too. */
export interface Turn {
  readonly listenerId: string;
  readonly ownerId: string;
}

export interface Turns {
  runs: Turn;
  deliveries: Turn;
}

export const FIRST_TURN: Turn = { listenerId: '', ownerId: '' };

export async function claimRuns(core: Core, limit: number, admission: Admission): Promise<Claims> {
  let taken: Taken | undefined;
  try {
    const claims = await core.claims.transact(async (tx) => {
      dropAll(taken, admission);
      const found = await candidates(core, tx);
      taken = grantInTurn(found.candidates, limit, admission);
      return claim(core, tx, { ...taken, nowMs: found.nowMs, admission });
    });
    for (const drop of claims.unused) drop();
    core.held.add({ runs: claims.runs, deliveries: [] });
    core.turns.runs = claims.turn ?? core.turns.runs;
    return { runs: claims.runs, deliveries: [], runsWaiting: claims.runsWaiting, deliveriesWaiting: false };
  } catch (error) {
    dropAll(taken, admission);
    throw error;
  }
}

function dropAll(taken: Taken | undefined, admission: Admission): void {
  for (const [runnable, count] of taken?.granted ?? []) {
    for (let i = 0; i < count; i++) admission.dropRun(runnable.id);
  }
}

async function candidates(core: Core, tx: Tx): Promise<{ candidates: Candidate[]; nowMs: number }> {
  const { listenerId, ownerId } = core.turns.runs;
  const part = (condition: string): string =>
    `(SELECT listener_id, owner_id, waiting, taken FROM lines WHERE is_run AND ready_at_ms IS NOT NULL
      AND (listener_id, owner_id) ${condition} ($1, $2) ORDER BY listener_id, owner_id LIMIT ${CANDIDATES})`;
  const rows = await tx.query(
    `SELECT ${NOW_SQL} AS now_ms, (SELECT gone_at_ms IS NULL FROM nodes WHERE node = $3) AS is_alive, l.*,
        r.id, r.name, r.active, r.deployment_id, r.settings, r.created_at_ms, r.updated_at_ms
      FROM (SELECT 1) AS one LEFT JOIN (${part('>')} UNION ALL ${part('<=')} LIMIT ${CANDIDATES}) AS l ON true
      LEFT JOIN runnables AS r ON r.id = l.listener_id AND r.owner_id = l.owner_id`,
    listenerId,
    ownerId,
    core.node.id,
  );
  const nowMs = core.clock.heard(rows[0]?.now_ms as number);
  if (rows[0]?.is_alive !== true) return { candidates: [], nowMs };
  const real = rows.filter((row) => row.listener_id !== null);
  for (const row of real.filter(({ id }) => id === null)) {
    await cancelOrphans(core, tx, { ownerId: row.owner_id as string, runnableId: row.listener_id as string, nowMs });
  }
  return { candidates: real.filter(({ id }) => id !== null).map(toCandidate), nowMs };
}

function toCandidate(row: Row): Candidate {
  const runnable = toWorkflow(row);
  return { runnable, waiting: row.waiting as number, free: concurrencyOf(runnable) - (row.taken as number) };
}

/** How many runs each workflow or source may start now: one each in turn, until nobody may or the limit is reached. */
function grantInTurn(found: readonly Candidate[], limit: number, admission: Admission): Taken {
  const granted = new Map<Runnable, number>();
  let isMoreWaiting = false;
  let rest = limit;
  let left = found;
  while (left.length > 0) {
    left = left.filter(({ runnable, waiting, free }) => {
      const count = granted.get(runnable) ?? 0;
      if (count >= waiting) return false;
      if (rest === 0 || count >= free || !admission.takeRun(runnable)) {
        isMoreWaiting = true;
        return false;
      }
      granted.set(runnable, count + 1);
      rest--;
      return true;
    });
  }
  return { granted, isMoreWaiting };
}

interface Claimed {
  readonly runs: Claims['runs'];
  readonly runsWaiting: boolean;
  readonly unused: (() => void)[];
  readonly turn: Turn | undefined;
}

async function claim(core: Core, tx: Tx, of: Taken & { nowMs: number; admission: Admission }): Promise<Claimed> {
  const unused: (() => void)[] = [];
  const { granted, nowMs, admission, isMoreWaiting } = of;
  if (granted.size === 0) return { runs: [], runsWaiting: isMoreWaiting, unused, turn: undefined };
  const lines = await lockLines(tx, [...granted.keys()]);
  const wanted = [...granted].map(([runnable, count]) => {
    const line = lines.get(runnable.id);
    const free = line ? Math.min(line.waiting, concurrencyOf(runnable) - line.taken) : 0;
    return { runnable, count: Math.max(0, Math.min(count, free)) };
  });
  const by = { node: core.node.id, nowMs, storeTag: core.storeTag };
  const runs = await claimRunRows(
    tx,
    wanted.filter(({ count }) => count > 0),
    by,
  );
  const ledger = new Ledger();
  for (const { runnable } of wanted) {
    const mine = runs.filter((run) => run.runnable === runnable).length;
    const surplus = (granted.get(runnable) ?? 0) - mine;
    for (let i = 0; i < surplus; i++) unused.push(() => admission.dropRun(runnable.id));
    if (mine === 0) continue;
    lines.get(runnable.id)?.change({ waiting: -mine, taken: mine }, core.node.id);
    ledger.moved(runnable.ownerId, 'runs', { from: 'queued', to: 'running', n: mine });
  }
  const changed = [...lines.values()].filter((line) => line.isChanged);
  if (changed.length > 0) sendLines(tx, changed);
  ledger.write(tx, core.node.slot);
  const last = [...granted.keys()].at(-1);
  const turn = last && { listenerId: last.id, ownerId: last.ownerId };
  return { runs, runsWaiting: isMoreWaiting, unused, turn };
}

async function lockLines(tx: Tx, runnables: readonly Runnable[]): Promise<Map<string, Line>> {
  const rows = await tx.query(
    `SELECT l.owner_id, l.listener_id, l.waiting, l.taken FROM unnest($1::text[], $2::text[]) AS u (o, i)
      JOIN lines AS l ON l.owner_id = u.o AND l.listener_id = u.i ORDER BY l.owner_id, l.listener_id
      FOR UPDATE OF l SKIP LOCKED`,
    arrayLiteral(runnables.map(({ ownerId }) => ownerId)),
    arrayLiteral(runnables.map(({ id }) => id)),
  );
  const lines = rows.map((row) => {
    const { owner_id: ownerId, listener_id: listenerId } = row as { owner_id: string; listener_id: string };
    const { waiting, taken } = row as { waiting: number; taken: number };
    return new Line({ ownerId, listenerId, waiting, taken, holder: null }, true);
  });
  return new Map(lines.map((line) => [line.listenerId, line]));
}
