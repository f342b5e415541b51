// The same 404 for what does not exist and for what belongs to another owner.

import { Refusal } from '../domain/refusal.ts';

export function notFound(noun: string, id: string): Refusal {
  return new Refusal(
    'not_found',
    `there is no ${noun} ${/^[\w-]{1,80}$/.test(id) ? id : JSON.stringify(id.slice(0, 80))}`,
  );
}

/** Returns `thing`. Throws a 404 that names the id when it is undefined. */
export function found<T>(thing: T | undefined, noun: string, id: string): T {
  if (thing === undefined) throw notFound(noun, id);
  return thing;
}
