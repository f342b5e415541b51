// What the configuration's verbs need of a database. Each backend implements it in `<backend>/config/config-database.ts`.

import type { DeliveryState } from '../../domain/delivery/delivery.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { Clock } from '../../ports.ts';
import type { MeasuredPart } from '../contract/quotas.ts';
import type { OwnerStore, SourceStore, TriggerStore, WebhookStore } from '../contract/resources.ts';
import type { SourceChangeStore } from '../contract/source-changes.ts';
import type { Row } from '../rows/rows.ts';
import type { Seal } from '../seal/seal.ts';
import type { Sql } from './sql.ts';
import type { Steps } from './steps.ts';

/** What a verb sees of its transaction beside its own statements. */
export interface Writing {
  /** The time of this transaction. */
  readonly nowMs: number;
  /** The same, on Postgres as exact as the database's own clock. */
  readonly now: Sql;
  /** Of an operation: behind all that are running. */
  nextTurn(): Sql;
  /** The settings of a workflow or source have changed. */
  throttleChanged(of: Listener, hasThrottle: boolean): void;
  /** Cancels the runs that wait for a workflow or source, which is gone. */
  cancelRuns(of: Listener): void | Promise<void>;
  /** A webhook has been made, changed or deleted: routing reads it again. */
  webhookWritten(id: string): void;
  /** Locks the deliveries to a listener: none is claimed or queued until the transaction is over. Undefined: there is no queue. */
  lockDeliveries(of: Listener): MaybeLater<LockedDeliveries | undefined>;
}

type MaybeLater<T> = T | Promise<T>;

/** What a verb does to the open deliveries of one listener. Those under way end by themselves. */
export interface LockedDeliveries {
  /** Makes those of the deliveries due at once that are in one of the states. Returns how many. */
  sendAgain(deliveries: readonly number[], states: readonly DeliveryState[]): MaybeLater<number>;
  /** What waits is held until the webhook is enabled. */
  hold(): MaybeLater<void>;
  /** What is held is due. */
  release(): MaybeLater<void>;
  /** The webhook is gone: so is its health, and what waits or is held is cancelled. */
  cancel(): MaybeLater<void>;
  /** The webhook's health begins again. */
  forgetHealth(): void;
  /** What was put off because its receiver asked for it is due. */
  endPause(): void;
  /** Applies the webhook's new settings to what waits. Called last. */
  settingsChanged(before: Webhook, after: Webhook): void;
}

/** A workflow, source or webhook, or another listener that deliveries go to. */
export interface Listener {
  readonly ownerId: string;
  readonly id: string;
}

/** Which runs are open, as SQL from FROM on. */
export interface OpenRuns {
  /** Those that began with a deployment `d` and go on with it. */
  readonly thatGoOn: Sql;
  /** Those of the workflow or source of a deployment `d`. */
  readonly ofRunnable: Sql;
}

/** How a mark in `source_changes` says which process has made it. */
export interface ChangeMarks {
  readonly column: Sql;
  /** This process. */
  self(): number;
  /** A condition on a mark `c`: its process is gone. */
  isAbandoned(): Sql;
}

export type Verb<T> = (w: Writing) => Steps<T>;

export interface ConfigDatabase {
  /** Reads what is committed. */
  all(statement: Sql): Promise<readonly Row[]>;
  get(statement: Sql): Promise<Row | undefined>;
  /** As `all`; Postgres makes a plan for these very values (see Pool.planned). */
  planned(statement: Sql): Promise<readonly Row[]>;
  /**
   * Runs a verb in one transaction. On Postgres the verb may run again, when its transaction met another one: it keeps no
   * state between tries. What it throws is passed on with nothing written.
   */
  write<T>(verb: Verb<T>): Promise<T>;
  /** As `write`, of what routing reads: every emission of this owner that is accepted later is routed by it. */
  writeRouting<T>(ownerId: string, verb: Verb<T>): Promise<T>;
  /**
   * As `writeRouting`, where the verb also touches what waits for a listener: on Postgres its queue is locked first.
   * `hasOperations`: and before that, its operations, in the order of their steps.
   */
  writeListener<T>(of: Listener & { readonly hasOperations?: boolean }, verb: Verb<T>): Promise<T>;
  /** As `write`, while no other transaction writes this owner's configuration. */
  writeLocked<T>(ownerId: string, verb: Verb<T>): Promise<T>;
  /** Writes one statement that changes nothing when it runs twice: it waits for no other write. */
  put(statement: Sql): Promise<void>;
  /** As `write`, for data stores: on Postgres over a connection of their own. */
  writeData<T>(verb: Verb<T>): Promise<T>;
  readonly marks: ChangeMarks;
  readonly hotReads: Pick<OwnerStore, 'keyByHash'> & Pick<TriggerStore, 'triggerByKey'>;
  /** Tables in which only this database keeps what counts as stored. */
  readonly moreMeasured: readonly MeasuredPart[];
  readonly openRuns: OpenRuns;
  webhookHealth: WebhookStore['webhookHealth'];
  /** Until when requests to a place wait, where no row says it; null: a row does, or they do not wait. */
  pauseInMemory(listenerId: string): number | null;
  hideEvents: SourceStore['deleteSourceEvents'];
  hookRuns: SourceChangeStore['hookRuns'];
}

/** What the configuration's verbs share. */
export interface ConfigCore {
  readonly database: ConfigDatabase;
  readonly seal: Seal;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Begins every emit id of this store. */
  readonly storeTag: string;
}
