// One mistake that could be made: a bound moved, a condition dropped, a unit mistaken, an owner left out.

export interface Mutation {
  readonly name: string;
  /** Of the sources, from the project's folder. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** Files of tests that should notice it; one that fails is enough. */
  readonly tests: readonly string[];
}

/** Returns mutations of one file that the same tests should notice. `changes`: by name, what stands there and what replaces it. */
export function of(
  file: string,
  tests: readonly string[],
  changes: Readonly<Record<string, readonly [string, string]>>,
): Mutation[] {
  return Object.entries(changes).map(([name, [from, to]]) => ({ name, file, from, to, tests }));
}
