// A store that is read whole, to be written into another one. It is locked meanwhile: no other process opens it.

export type ExportedCell = string | number | boolean | null | Uint8Array;
export type ExportedRow = Readonly<Record<string, ExportedCell>>;

export interface Reading {
  readonly table: string;
  /** A condition on its rows, as SQL; none: all. */
  readonly where?: string;
  /** The columns to sort by. */
  readonly order: readonly string[];
  /** Only rows behind the one with these values in the columns of `order`. Null: all rows. */
  readonly after: readonly ExportedCell[] | null;
}

export interface ExportedStore {
  /** The place of the store, for people. */
  readonly label: string;
  readonly tag: string;
  /** Changes whenever the store is opened for writing. */
  readonly version: string;
  /** As `meta` has it; null: the store has no key yet. */
  readonly sealKey: string | null;
  /** The highest number that the store has given, if it keeps that. */
  readonly lastNumber: string | null;
  /** Yields rows, few of them in memory at a time. */
  rows(reading: Reading): Iterable<ExportedRow>;
  /** Returns how many rows a reading has. */
  count(of: Pick<Reading, 'table' | 'where'>): number;
  /** Marks the store as moved: it can no longer be opened. `to`: its new place, without secrets. */
  markMoved(to: string): void;
  close(): void;
}
