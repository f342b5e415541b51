/**
 * Returns the values of a form that are others than those that it was opened with. Only these are sent: what another person has
 * changed meanwhile stays.
 */
export function changedOf<Values extends object>(
  values: Values,
  before: Readonly<Record<string, unknown>>,
): Partial<Values> {
  const isOther = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value ?? null) !== JSON.stringify(before[name] ?? null);
  return Object.fromEntries(Object.entries(values).filter(isOther)) as Partial<Values>;
}
