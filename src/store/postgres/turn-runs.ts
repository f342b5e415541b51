// Claiming queued runs in turn over workflows and sources. In a transaction of its own, beside the batch: it takes the
// lines that it wants only where nobody else has them at the moment, so it waits for nobody.
//
// Hands are taken for lines that are locked by then, and not before: whoever ends a run has its line meanwhile, and
// hands the freed hand over to the next one. A claim that held that hand would get nothing, and neither would the other;
// what waits would wait for the poll.

import { concurrencyOf, type Runnable } from '../../domain/resource.ts';
import type { Seal } from '../seal.ts';
import type { Admission, Claims } from '../store.ts';
import { claimRunRows } from './claim.ts';
import { NOW_SQL } from './clock.ts';
import type { Core } from './core.ts';
import { OutcomeUnknown, type Tx } from './lane.ts';
import { Ledger } from './ledger.ts';
import { LINE_COLUMNS, Line, sendLines, toLineRow } from './line.ts';
import { cancelOrphans } from './orphans.ts';
import { toWorkflow } from './rows.ts';
import { arrayLiteral, type Row } from './values.ts';

/** Workflows and sources looked at in one claim. */
const CANDIDATES = 200;
const RUNNABLE = 'r.id, r.name, r.active, r.deployment_id, r.settings, r.created_at_ms, r.updated_at_ms';

interface Candidate {
  readonly runnable: Runnable;
  readonly waiting: number;
  readonly free: number;
}

interface Taken {
  readonly granted: ReadonlyMap<Runnable, number>;
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

/** Those behind the last one served first, and around to it; ids are compared as the database does, byte by byte. */
export function inTurn<T>(found: readonly T[], last: Turn, of: (item: T) => Turn): T[] {
  const keyOf = ({ listenerId, ownerId }: Turn): string => `${listenerId} ${ownerId}`;
  const lastKey = keyOf(last);
  const placeOf = (item: T): string => {
    const key = keyOf(of(item));
    return `${key > lastKey ? 0 : 1}${key}`;
  };
  return found
    .map((item) => ({ item, place: placeOf(item) }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ item }) => item);
}

export async function claimRuns(core: Core, limit: number, admission: Admission): Promise<Claims> {
  let taken: Taken | undefined;
  try {
    const claims = await core.claims.transact(async (tx) => {
      dropAll(taken, admission);
      taken = undefined;
      const { found, nowMs } = await candidates(core, tx);
      const wanted = grantInTurn(found, limit, admission);
      dropAll(wanted, admission);
      const { locked, lines } = await lockLines(core, tx, [...wanted.granted.keys()]);
      const granted = grantInTurn(locked, limit, admission);
      taken = granted;
      const isMoreWaiting = wanted.isMoreWaiting || granted.isMoreWaiting || lines.size < wanted.granted.size;
      return claim(core, tx, { granted: granted.granted, isMoreWaiting, lines, nowMs, admission });
    });
    for (const drop of claims.unused) drop();
    core.held.add({ runs: claims.runs, deliveries: [] });
    core.turns.runs = claims.turn ?? core.turns.runs;
    return { runs: claims.runs, deliveries: [], runsWaiting: claims.runsWaiting, deliveriesWaiting: false };
  } catch (error) {
    dropAll(taken, admission);
    if (error instanceof OutcomeUnknown) core.node.mayHoldUnknown = true;
    throw error;
  }
}

function dropAll(taken: Taken | undefined, admission: Admission): void {
  for (const [runnable, count] of taken?.granted ?? []) {
    for (let i = 0; i < count; i++) admission.dropRun(runnable.id);
  }
}

async function candidates(core: Core, tx: Tx): Promise<{ found: Candidate[]; nowMs: number }> {
  const { listenerId, ownerId } = core.turns.runs;
  const part = (condition: string): string =>
    `(SELECT listener_id, owner_id, waiting, taken FROM lines WHERE is_run AND ready_at_ms IS NOT NULL
      AND (listener_id, owner_id) ${condition} ($1, $2) ORDER BY listener_id, owner_id LIMIT ${CANDIDATES})`;
  const rows = await tx.query(
    `SELECT ${NOW_SQL} AS now_ms, (SELECT gone_at_ms IS NULL FROM nodes WHERE node = $3) AS is_alive, l.*,
        ${RUNNABLE}
      FROM (SELECT 1) AS one LEFT JOIN (${part('>')} UNION ALL ${part('<=')} LIMIT ${CANDIDATES}) AS l ON true
      LEFT JOIN runnables AS r ON r.id = l.listener_id AND r.owner_id = l.owner_id`,
    listenerId,
    ownerId,
    core.node.id,
  );
  const nowMs = core.clock.heard(rows[0]?.now_ms as number);
  if (rows[0]?.is_alive !== true) return { found: [], nowMs };
  const real = rows.filter((row) => row.listener_id !== null);
  for (const row of real.filter(({ id }) => id === null)) {
    await cancelOrphans(core, tx, { ownerId: row.owner_id as string, runnableId: row.listener_id as string, nowMs });
  }
  const found = real.filter(({ id }) => id !== null).map((row) => toCandidate(row, core.seal));
  return {
    found: inTurn(found, core.turns.runs, ({ runnable: r }) => ({ listenerId: r.id, ownerId: r.ownerId })),
    nowMs,
  };
}

function toCandidate(row: Row, seal: Seal): Candidate {
  const runnable = toWorkflow(row, seal);
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

interface Claiming extends Taken {
  readonly lines: ReadonlyMap<string, Line>;
  readonly nowMs: number;
  readonly admission: Admission;
}

interface Claimed {
  readonly runs: Claims['runs'];
  readonly runsWaiting: boolean;
  readonly unused: (() => void)[];
  readonly turn: Turn | undefined;
}

async function claim(core: Core, tx: Tx, of: Claiming): Promise<Claimed> {
  const unused: (() => void)[] = [];
  const { granted, lines, nowMs, admission, isMoreWaiting } = of;
  if (granted.size === 0) return { runs: [], runsWaiting: isMoreWaiting, unused, turn: undefined };
  const wanted = [...granted].map(([runnable, count]) => ({ runnable, count }));
  const runs = await claimRunRows(tx, wanted, { node: core.node.id, nowMs, storeTag: core.storeTag });
  const ledger = new Ledger();
  for (const { runnable, count } of wanted) {
    const mine = runs.filter((run) => run.runnable === runnable).length;
    for (let i = mine; i < count; i++) unused.push(() => admission.dropRun(runnable.id));
    if (mine === 0) continue;
    lines.get(runnable.id)?.change({ waiting: -mine, taken: mine }, core.node.id);
    ledger.moved(runnable.ownerId, 'runs', { from: 'queued', to: 'running', n: mine });
  }
  sendLines(
    tx,
    [...lines.values()].filter((line) => line.isChanged),
  );
  ledger.write(tx, core.node.slot);
  const last = [...granted.keys()].at(-1);
  const turn = last && { listenerId: last.id, ownerId: last.ownerId };
  return { runs, runsWaiting: isMoreWaiting, unused, turn };
}

interface Locked {
  readonly locked: Candidate[];
  readonly lines: ReadonlyMap<string, Line>;
}

/** With their workflows and sources as they are by now: whoever changes one locks its line, too. */
async function lockLines({ seal }: Core, tx: Tx, runnables: readonly Runnable[]): Promise<Locked> {
  if (runnables.length === 0) return { locked: [], lines: new Map() };
  const rows = await tx.query(
    `SELECT ${LINE_COLUMNS}, ${RUNNABLE} FROM unnest($1::text[], $2::text[]) AS u (o, i)
      JOIN lines AS l ON l.owner_id = u.o AND l.listener_id = u.i
      JOIN runnables AS r ON r.id = l.listener_id AND r.owner_id = l.owner_id
      WHERE l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[]) AND r.id = ANY($2::text[])
      ORDER BY l.owner_id, l.listener_id FOR UPDATE OF l SKIP LOCKED`,
    arrayLiteral(runnables.map(({ ownerId }) => ownerId)),
    arrayLiteral(runnables.map(({ id }) => id)),
  );
  const byId = new Map(rows.map((row) => [row.listener_id as string, row]));
  const inTurn = runnables.map(({ id }) => byId.get(id)).filter((row) => row !== undefined);
  return {
    locked: inTurn.map((row) => toCandidate(row, seal)),
    lines: new Map(inTurn.map((row) => [row.listener_id as string, new Line(toLineRow(row), true)])),
  };
}
