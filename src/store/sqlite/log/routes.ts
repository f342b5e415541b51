// What routing reads, cached in memory: this process is the only writer, so the cache is valid until it writes one of the tables.
// Reads use the writing connection, so that a subscription of the same batch takes effect.

import type { Owner, Runnable, Subscription, Trigger, Webhook } from '../../../domain/resource.ts';
import { coveringEmitters } from '../../../domain/route.ts';
import { toOwner, toSubscription, toTrigger } from '../../rows/resource-rows.ts';
import { toWorkflow } from '../../rows/runnable-rows.ts';
import { toWebhook } from '../../rows/webhook-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import type { Connection } from '../database.ts';

/** The most entries of each map before it is emptied; a table of one emitter has about a kilobyte. */
const MAX_CACHED = 20_000;

export class Routes {
  readonly #writer: Connection;
  readonly #seal: Seal;
  readonly #subscriptions = new Map<string, readonly Subscription[]>();
  readonly #runnables = new Map<string, Runnable | undefined>();
  readonly #webhooks = new Map<string, Webhook | undefined>();
  readonly #owners = new Map<string, Owner | undefined>();
  readonly #triggers = new Map<string, Trigger>();

  constructor(writer: Connection, seal: Seal) {
    this.#writer = writer;
    this.#seal = seal;
  }

  /** Called after every write to owners, runnables or subscriptions, and after its rollback. */
  forget(): void {
    this.#subscriptions.clear();
    this.#runnables.clear();
    this.#owners.clear();
    this.#triggers.clear();
  }

  /** Called after every write to this webhook, and after its rollback. Others stay cached: opening their secrets takes time. */
  forgetWebhook(id: string): void {
    this.#webhooks.delete(id);
  }

  /** Implements LogWriter.subscriptionsTo. */
  subscriptionsTo(ownerId: string, emitterId: string): readonly Subscription[] {
    const key = `${ownerId} ${emitterId}`;
    return remember(this.#subscriptions, key, () =>
      coveringEmitters(emitterId, ownerId).flatMap((covering) => this.#read(ownerId, covering)),
    );
  }

  runnable(id: string): Runnable | undefined {
    return remember(this.#runnables, id, () => {
      const row = this.#writer.get('SELECT * FROM runnables WHERE id = ?', id);
      return row && toWorkflow(row, this.#seal);
    });
  }

  webhook(id: string): Webhook | undefined {
    return remember(this.#webhooks, id, () => {
      const row = this.#writer.get('SELECT * FROM webhooks WHERE id = ?', id);
      return row && toWebhook(row, this.#seal);
    });
  }

  /** Returns the trigger with this secret part, if its workflow or source is active. Unknown keys are not cached. */
  trigger(key: string): Trigger | undefined {
    const known = this.#triggers.get(key);
    if (known) return known;
    const row = this.#writer.get(
      `SELECT triggers.*, owners.purge_at_ms AS owner_purge_at_ms FROM triggers
        JOIN runnables ON runnables.id = triggers.runnable_id JOIN owners ON owners.id = triggers.owner_id
        WHERE key = ? AND runnables.active = 1`,
      key,
    );
    return row && remember(this.#triggers, key, () => toTrigger(row));
  }

  owner(id: string): Owner | undefined {
    return remember(this.#owners, id, () => {
      const row = this.#writer.get('SELECT * FROM owners WHERE id = ?', id);
      return row && toOwner(row);
    });
  }

  #read(ownerId: string, emitterId: string): readonly Subscription[] {
    const rows = this.#writer.all(
      // `+id` keeps SQLite from scanning all of the owner's subscriptions in the order of their ids.
      'SELECT * FROM subscriptions WHERE owner_id = ? AND emitter_id = ? AND active = 1 ORDER BY +id',
      ownerId,
      emitterId,
    );
    return rows.map(toSubscription);
  }
}

function remember<T>(map: Map<string, T>, key: string, read: () => T): T {
  if (map.has(key)) return map.get(key) as T;
  if (map.size >= MAX_CACHED) map.clear();
  const value = read();
  map.set(key, value);
  return value;
}
