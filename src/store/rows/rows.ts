/** A row as either backend gives it. Who reads it says what its cells are. */
export type Row = Readonly<Record<string, unknown>>;
