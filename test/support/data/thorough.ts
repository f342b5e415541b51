// How often a test repeats what is alike: rounds of a race, random requests, spellings of a path. `npm test` does so often enough to
// see what is broken; `test:rare` and `test:postgres:all`, which run before a release, as often as it takes to see what is rare.

/** Whether this is one of the parts that take their time. */
export const isThorough = ['rare', 'postgres:all'].includes(process.env.ERRAND_TEST_PART ?? '');

/** Returns how often: `all` in the parts that take their time, else `some`. */
export function timesOf(all: number, some: number): number {
  return isThorough ? all : some;
}
