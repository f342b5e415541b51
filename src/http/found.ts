// What does not exist or belongs to another owner: the same answer for both.

import { Refusal } from '../domain/fault.ts';

export function notFound(noun: string, id: string): Refusal {
  return new Refusal(
    'not_found',
    `there is no ${noun} ${/^[\w-]{1,80}$/.test(id) ? id : JSON.stringify(id.slice(0, 80))}`,
  );
}

/** `thing`, or the 404 that says what was asked for. */
export function found<T>(thing: T | undefined, noun: string, id: string): T {
  if (thing === undefined) throw notFound(noun, id);
  return thing;
}
