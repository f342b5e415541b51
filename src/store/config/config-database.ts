// What the configuration's verbs need of a database. Each backend implements it in `<backend>/config/config-database.ts`.

import type { DeliveryState } from '../../domain/delivery/delivery.ts';
import type { ListenerMove } from '../../domain/delivery/progress.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { Clock } from '../../ports.ts';
import type { MeasuredPart } from '../contract/quotas.ts';
import type { OwnerStore, TriggerStore } from '../contract/resources.ts';
import type { SetBack } from '../contract/store.ts';
import type { Row } from '../rows/rows.ts';
import type { Seal } from '../seal/seal.ts';
import type { Sql } from './sql.ts';
import type { Steps } from './steps.ts';

/** What a verb's transaction offers it beside its own statements. */
export interface Writing {
  /** The time of this transaction. */
  readonly nowMs: number;
  /** The time of this transaction as SQL; on Postgres as exact as the database's own clock. */
  readonly now: Sql;
  /** Returns, as SQL, the place of an operation behind all that are running (column `turn`). */
  nextTurn(): Sql;
  /** Called when the settings of a workflow or source have changed. */
  throttleChanged(of: Listener, hasThrottle: boolean): void;
  /**
   * Cancels the runs that wait for a workflow or source that was deleted, or whose owner was: all of them, or on SQLite, which
   * does nothing else meanwhile, at most `most` in each state.
   */
  cancelRuns(of: Listener, most?: number): void | Promise<void>;
  /** Called when keys were revoked, or their sessions ended. */
  keysChanged(): void;
  /** Called when a webhook was made, changed or deleted: routing reads it again. */
  webhookWritten(id: string): void;
  /** Called when an owner is gone with all that it owned. */
  ownerRemoved(ownerId: string): void;
  /** Sets back when deliveries are due, and until when their listeners are paused. */
  turnBackDeliveries(by: SetBack): MaybeLater<void>;
  /** Locks the deliveries to a listener: none is claimed or queued until the transaction is over. Undefined: there is no queue. */
  lockDeliveries(of: Listener): MaybeLater<LockedDeliveries | undefined>;
}

type MaybeLater<T> = T | Promise<T>;

/** What a verb does to the open deliveries of one listener. Those under way end by themselves. */
export interface LockedDeliveries {
  /** Makes the deliveries that are in one of the states due at once. Returns how many. */
  sendAgain(deliveries: readonly number[], states: readonly DeliveryState[]): MaybeLater<number>;
  /** Moves deliveries: all of them, or on SQLite, which does nothing else meanwhile, at most `most` in each state. */
  move(move: ListenerMove, most?: number): MaybeLater<void>;
  /** Resets the webhook's health. */
  forgetHealth(): void;
  /** Applies the webhook's new settings to deliveries that wait; undefined: it is deleted. Called last. */
  settingsChanged(before: Webhook, after: Webhook | undefined): void;
}

/** A workflow, source or webhook, or another listener that deliveries go to. */
export interface Listener {
  readonly ownerId: string;
  readonly id: string;
}

/** Open runs, as SQL from FROM on. */
export interface OpenRunsSql {
  /** Runs that go on with deployment `d`. */
  readonly thatGoOn: Sql;
  /** Runs of the workflow or source of deployment `d`. */
  readonly ofRunnable: Sql;
}

/** How a mark in `source_changes` names the process that made it. */
export interface ChangeMarks {
  readonly column: Sql;
  /** Returns the value of `column` for this process. */
  self(): number;
  /** Returns a condition on mark `c`: its process is gone. */
  isAbandoned(): Sql;
}

/** A table with rows of owners, or of what they own. */
export interface OwnedTable {
  readonly table: string;
  /** Columns of its primary key. */
  readonly key: string;
  /** Names the owner, or a record in the table `of`. */
  readonly column: string;
  readonly of: 'owners' | 'runnables' | 'webhooks';
}

export type ConfigVerb<T> = (w: Writing) => Steps<T>;

export interface ConfigDatabase {
  /** Reads what is committed. */
  all(statement: Sql): Promise<readonly Row[]>;
  get(statement: Sql): Promise<Row | undefined>;
  /** Reads rows as `all` does; Postgres plans the statement for these values (see Pool.planned). */
  planned(statement: Sql): Promise<readonly Row[]>;
  /**
   * Runs a verb in one transaction. On Postgres the verb may run again after a conflict, so it keeps no state between tries.
   * An error that the verb throws is passed on with nothing written.
   */
  write<T>(verb: ConfigVerb<T>): Promise<T>;
  /**
   * Runs a verb as `write` does, of what routing reads: every emission of this owner that is accepted later is routed by the
   * new state.
   */
  writeRouting<T>(ownerId: string, verb: ConfigVerb<T>): Promise<T>;
  /**
   * Runs a verb as `writeRouting` does, where the verb also changes work that waits for a listener: Postgres locks the
   * listener's queue first. `hasOperations`: Postgres locks the listener's operations before the queue, as their steps do.
   */
  writeListener<T>(of: Listener & { readonly hasOperations?: boolean }, verb: ConfigVerb<T>): Promise<T>;
  /** Runs a verb as `write` does, while no other transaction writes this owner's configuration. */
  writeLocked<T>(ownerId: string, verb: ConfigVerb<T>): Promise<T>;
  /** Writes one idempotent statement, which waits for no other write. */
  put(statement: Sql): Promise<void>;
  /** Runs a verb as `write` does, for data stores: Postgres has a separate connection for them. */
  writeData<T>(verb: ConfigVerb<T>): Promise<T>;
  readonly marks: ChangeMarks;
  readonly hotReads: Pick<OwnerStore, 'keyByHash'> & Pick<TriggerStore, 'triggerByKey'>;
  /** Tables of this database alone whose content counts as stored. */
  readonly moreMeasured: readonly MeasuredPart[];
  /** Tables of this database alone that have rows of an owner. */
  readonly moreOwned: readonly OwnedTable[];
  readonly openRuns: OpenRunsSql;
  /** Returns until when requests to a place wait, if no row says so; null: a row does, or they do not wait. */
  pauseInMemory(listenerId: string): number | null;
}

/** What the configuration's verbs share. */
export interface ConfigCore {
  readonly database: ConfigDatabase;
  readonly seal: Seal;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Begins every emit id of this store. */
  readonly storeTag: string;
}
