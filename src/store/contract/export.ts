// A store that is read from end to end, to be written into another one. It is locked meanwhile: no other process opens it.

export type Cell = string | number | boolean | null | Uint8Array;
export type Cells = Readonly<Record<string, Cell>>;

export interface Reading {
  readonly table: string;
  /** Which of its rows, as SQL; none: all. */
  readonly where?: string;
  /** Columns. */
  readonly order: readonly string[];
  /** Only rows behind this one: what it has in the columns of `order`. Null: from the first on. */
  readonly after: readonly Cell[] | null;
}

export interface ExportedStore {
  /** Where it is, for people. */
  readonly label: string;
  readonly tag: string;
  /** Changes whenever the store is opened to be written. */
  readonly version: string;
  /** As its `meta` has it; null: it has none yet. */
  readonly sealKey: string | null;
  /** The highest number that was ever given in it, if it had to keep that. */
  readonly lastNumber: string | null;
  /** Read as they are asked for: never more than a few in memory. */
  rows(reading: Reading): Iterable<Cells>;
  /** From now on it is opened no more. `to`: where it is from now on; no secret. */
  markMoved(to: string): void;
  close(): void;
}
