// Steps of plays that are made at random.

import fc from 'fast-check';

export interface RandomStep<What> {
  readonly what: What;
  /** On which of what there is, counted round. */
  readonly which: number;
  /** Called together with a verb that fails, so that what they share is rolled back. */
  readonly isPoisoned: boolean;
}

export function stepOf<What>(of: readonly What[]): fc.Arbitrary<RandomStep<What>> {
  return fc.record({
    what: fc.constantFrom(...of),
    which: fc.nat({ max: 11 }),
    isPoisoned: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  });
}
