// How retention goes on from step to step. Same promises as store.ts.

/** A place in the errors of all workflows that keep their own longer. */
export interface ErrorsPlace {
  readonly emitterId: string;
  /** The first error that was not looked at; null: this workflow is done. */
  readonly entry: number | null;
}

export const NO_ERRORS_YET: ErrorsPlace = { emitterId: '', entry: null };

export interface PrunedErrors {
  readonly emissions: number;
  /** Where to go on; null: all were looked at. */
  readonly next: ErrorsPlace | null;
}
