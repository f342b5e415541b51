// No answer of the database is waited for for ever: a network may be silent, and then nobody says that nothing will come.

import { StoreUnavailable } from '../../contract/store.ts';

/** Rejects with `StoreUnavailable` when the answer is not there by then; what it comes to later is nobody's business. */
export async function inTime<T>(answer: PromiseLike<T>, withinMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StoreUnavailable('the database does not answer')), withinMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
