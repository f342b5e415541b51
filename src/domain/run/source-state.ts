// What a source keeps in `$.service.db`, as far as it is shown.

/** Of one answer; `maxSkip`: of how many it may pass over. */
export const SOURCE_STATE = { values: 100, maxSkip: 1_000_000, valueChars: 4096, nameChars: 256 } as const;

export interface SourceState {
  /** How many names there are. */
  readonly count: number;
  /** Some of them, in the order of their names. */
  readonly values: readonly StateValue[];
}

export interface StateValue {
  /** Null: it is too long to be shown. */
  readonly name: string | null;
  /** JSON text; null: it, or its name, is too long to be shown. */
  readonly value: string | null;
  /** Of the JSON text. */
  readonly chars: number;
}
