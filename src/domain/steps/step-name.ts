// Names of steps: what a request may call them, and what a form says while one is typed.

import { LIMITS } from '../limits.ts';

export const STEP_NAME = {
  pattern: `^[a-z_][a-z0-9_]{0,${LIMITS.namespaceChars - 1}}$`,
  /** What a refusal says would be right. */
  expected: `lower-case letters, digits and underscores, not beginning with a digit, at most ${LIMITS.namespaceChars}`,
} as const;

/** A step of that name would hide `steps.trigger`, the event, from later steps. */
const EVENT = 'trigger';
const PATTERN = new RegExp(STEP_NAME.pattern);

/** Says why a step cannot have a name beside the names of others; null: it can. */
export function whyNameTaken(name: string, others: ReadonlySet<string>): string | null {
  if (name !== EVENT && !others.has(name)) return null;
  return `"${name}" is ${name === EVENT ? 'the name of the event' : 'taken by an earlier step'}; each needs its own`;
}

/** Says why a name that is typed is refused beside the names of other steps, as the refusal of a request does; null: it is not. */
export function whyNoName(name: string, others: ReadonlySet<string>): string | null {
  if (!PATTERN.test(name)) return `must be ${STEP_NAME.expected}, but was ${JSON.stringify(name)}`;
  return whyNameTaken(name, others);
}

/** Returns the first name of its kind that no step has: `step_2`. */
export function freeName(others: ReadonlySet<string>): string {
  let n = others.size + 1;
  while (others.has(`step_${n}`)) n++;
  return `step_${n}`;
}
