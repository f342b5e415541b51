// What owners store for their code: accounts at other services, and data stores. Times in epoch milliseconds.

/** Credentials for one app on a user's behalf. Code gets the fields as they are when the run begins (`$auth`). */
export interface Account {
  readonly id: string;
  readonly ownerId: string;
  /** The app's name as components spell it, e.g. `slack`. */
  readonly app: string;
  readonly name: string;
  /** JSON values, all secret. Becomes `$auth`. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface DataStore {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  /** Records that have not expired. */
  readonly size: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface DataStoreChange {
  readonly name: string;
  /** Given the name before the change, in its transaction; what it throws is passed on with nothing written. */
  readonly check: (before: string) => void;
}

export interface DataRecord {
  readonly key: string;
  /** JSON text. */
  readonly value: string;
  readonly updatedAtMs: number;
  /** Null: the record never expires. */
  readonly expiresAtMs: number | null;
}
