// What a source keeps in `$.service.db`, as far as it is shown.

/** More stays where it is; a page tells of it. */
export const SOURCE_STATE = { values: 100, valueChars: 4096, nameChars: 256 } as const;

export interface SourceState {
  /** How many names there are. */
  readonly count: number;
  /** The first ones, in the order of their names. */
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
