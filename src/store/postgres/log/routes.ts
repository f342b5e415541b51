// What routing reads, in memory by owner and version of its configuration. A transaction first reads the version from the
// database, so nothing is routed by an outdated configuration; while nothing changes, that is all it reads.
//
// A look-up that misses is noted; the transaction then reads what was missed, and plans again.

import type { Owner, Runnable, Subscription, Webhook } from '../../../domain/resource.ts';
import { coveringEmitters } from '../../../domain/route.ts';
import { toOwner, toSubscription } from '../../rows/resource-rows.ts';
import { toWorkflow } from '../../rows/runnable-rows.ts';
import { toWebhook } from '../../rows/webhook-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';

/** The most entries of one owner before they are dropped, and the most owners before all are. */
const MAX_KEPT = 20_000;

/** The parts of an owner's configuration at one version that were read. Null: there is no such record. */
export class OwnerRoutes {
  readonly ownerId: string;
  readonly version: number;
  owner: Owner | undefined;
  readonly subscriptions = new Map<string, readonly Subscription[]>();
  readonly runnables = new Map<string, Runnable | null>();
  readonly webhooks = new Map<string, Webhook | null>();

  constructor(ownerId: string, version: number) {
    this.ownerId = ownerId;
    this.version = version;
  }

  get size(): number {
    return this.subscriptions.size + this.runnables.size + this.webhooks.size;
  }
}

/** What a plan looked up that was not read. */
export class Missed {
  readonly owners = new Set<OwnerRoutes>();
  readonly emitters: [OwnerRoutes, string][] = [];
  readonly runnables: [OwnerRoutes, string][] = [];
  readonly webhooks: [OwnerRoutes, string][] = [];

  get isEmpty(): boolean {
    return this.owners.size + this.emitters.length + this.runnables.length + this.webhooks.length === 0;
  }
}

export class Routes {
  readonly #owners = new Map<string, OwnerRoutes>();
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  /** Returns the routes of an owner at a version, empty if another version was read. */
  of(ownerId: string, version: number): OwnerRoutes {
    const known = this.#owners.get(ownerId);
    if (known && known.version === version) return known;
    const made = new OwnerRoutes(ownerId, version);
    this.#owners.set(ownerId, made);
    return made;
  }

  /** Drops what has grown too large. Called between transactions, so that none loses what it has just read. */
  trim(): void {
    if (this.#owners.size > MAX_KEPT) this.#owners.clear();
    for (const [ownerId, { size }] of this.#owners) if (size > MAX_KEPT) this.#owners.delete(ownerId);
  }

  /** Reads what was missed, in one round trip. */
  async read(tx: Tx, missed: Missed): Promise<void> {
    await Promise.all([
      readOwners(tx, [...missed.owners]),
      readSubscriptions(tx, missed.emitters),
      readById(tx, missed.runnables, {
        sql: 'SELECT id, owner_id, name, active, deployment_id, settings, created_at_ms, updated_at_ms FROM runnables',
        keep: (of, id, row) => of.runnables.set(id, row && toWorkflow(row, this.#seal)),
      }),
      readById(tx, missed.webhooks, {
        sql: 'SELECT * FROM webhooks',
        keep: (of, id, row) => of.webhooks.set(id, row && toWebhook(row, this.#seal)),
      }),
    ]);
  }
}

async function readOwners(tx: Tx, missed: readonly OwnerRoutes[]): Promise<void> {
  if (missed.length === 0) return;
  const ids = arrayLiteral(missed.map(({ ownerId }) => ownerId));
  const rows = await tx.query('SELECT * FROM owners WHERE id = ANY($1::text[])', ids);
  const byId = new Map(rows.map((row) => [row.id, toOwner(row)]));
  for (const of of missed) of.owner = byId.get(of.ownerId) ?? { ...UNKNOWN_OWNER, id: of.ownerId };
}

/** Stands for an owner that is not in the database: nothing is routed for it. */
const UNKNOWN_OWNER: Owner = {
  id: '',
  name: '',
  email: null,
  globalErrorWorkflowId: null,
  digestWindowMs: 0,
  channelIds: [],
  deletion: null,
  createdAtMs: 0,
  updatedAtMs: 0,
};

async function readSubscriptions(tx: Tx, missed: readonly [OwnerRoutes, string][]): Promise<void> {
  if (missed.length === 0) return;
  const wanted = missed.flatMap(([of, emitterId]) =>
    coveringEmitters(emitterId, of.ownerId).map((covering) => [of.ownerId, covering] as const),
  );
  const rows = await tx.query(
    `SELECT s.* FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS u (o, e)) AS w
      JOIN subscriptions AS s ON s.owner_id = w.o AND s.emitter_id = w.e
      WHERE s.active AND s.owner_id = ANY($1::text[]) AND s.emitter_id = ANY($2::text[]) ORDER BY s.id`,
    arrayLiteral(wanted.map(([ownerId]) => ownerId)),
    arrayLiteral(wanted.map(([, emitterId]) => emitterId)),
  );
  const byEmitter = Map.groupBy(rows.map(toSubscription), (s) => `${s.ownerId} ${s.emitterId}`);
  for (const [of, emitterId] of missed) {
    const covering = coveringEmitters(emitterId, of.ownerId);
    of.subscriptions.set(
      emitterId,
      covering.flatMap((id) => byEmitter.get(`${of.ownerId} ${id}`) ?? []),
    );
  }
}

interface ById {
  readonly sql: string;
  readonly keep: (of: OwnerRoutes, id: string, row: Row | null) => void;
}

async function readById(tx: Tx, missed: readonly [OwnerRoutes, string][], by: ById): Promise<void> {
  if (missed.length === 0) return;
  const rows = await tx.query(`${by.sql} WHERE id = ANY($1::text[])`, arrayLiteral(missed.map(([, id]) => id)));
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const [of, id] of missed) {
    const row = found.get(id);
    by.keep(of, id, row && row.owner_id === of.ownerId ? row : null);
  }
}
