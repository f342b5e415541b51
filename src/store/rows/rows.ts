/** A row of either backend. `cells.ts` reads its cells. */
export type Row = Readonly<Record<string, unknown>>;
