// What became of the steps of a workflow between two versions: which came, went, got another name, or another place. Pure.

/** `was`: the name that the step had before, where that is known. */
export interface ChangedStep {
  readonly namespace: string;
  readonly code: string;
  readonly was?: string | null;
}

export const STEP_CHANGES = ['added', 'removed', 'renamed', 'moved'] as const;

export interface StepChange {
  readonly change: (typeof STEP_CHANGES)[number];
  readonly namespace: string;
  /** Of a step that was renamed: its name before. */
  readonly was: string | null;
}

type Before = readonly Omit<ChangedStep, 'was'>[];

/**
 * Returns the changes: steps that are there now in their order, then those that were removed. A step of another name is the one
 * that its `was` names; where nothing says so (undefined), the only one that is gone and had the same code. A step that is
 * renamed and moved is both.
 */
export function stepChanges(before: Before, after: readonly ChangedStep[]): readonly StepChange[] {
  const formerly = formerNames(before, after);
  const places = after.map((_, i) => before.findIndex(({ namespace }) => namespace === formerly[i]));
  const inOrder = longestRising(places.filter((place) => place >= 0));
  const changes = after.flatMap(({ namespace }, i): StepChange[] => {
    const was = formerly[i] ?? null;
    if (was === null) return [{ change: 'added', namespace, was: null }];
    const renamed = { change: 'renamed', namespace, was } as const;
    const moved = { change: 'moved', namespace, was: null } as const;
    return [...(was === namespace ? [] : [renamed]), ...(inOrder.has(places[i] as number) ? [] : [moved])];
  });
  const gone = before.filter(({ namespace }) => !formerly.includes(namespace));
  return [...changes, ...gone.map(({ namespace }) => ({ change: 'removed', namespace, was: null }) as const)];
}

/** Returns the name that each step had before; null: it is new. */
function formerNames(before: Before, after: readonly ChangedStep[]): readonly (string | null)[] {
  const known = new Set(before.map(({ namespace }) => namespace));
  const named = after.map(({ namespace, was = namespace }) => (was !== null && known.has(was) ? was : null));
  const gone = before.filter(({ namespace }) => !named.includes(namespace));
  return after.map(({ code, was }, i) => {
    if (named[i] !== null || was !== undefined) return named[i] ?? null;
    const same = gone.filter((one) => one.code === code);
    const others = after.filter((one, at) => named[at] === null && one.was === undefined && one.code === code);
    return same.length === 1 && others.length === 1 ? (same[0]?.namespace ?? null) : null;
  });
}

/** Returns the most numbers of a list that rise in it: the steps that stayed while the others were moved. */
function longestRising(numbers: readonly number[]): ReadonlySet<number> {
  const best: number[][] = [];
  for (const [i, number] of numbers.entries()) {
    const before = best.slice(0, i).filter((run) => (run.at(-1) as number) < number);
    best.push([
      ...before.reduce<number[]>((longest, run) => (run.length > longest.length ? run : longest), []),
      number,
    ]);
  }
  return new Set(best.reduce((longest, run) => (run.length > longest.length ? run : longest), []));
}
