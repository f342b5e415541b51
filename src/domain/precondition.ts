// The version of a record that callers change: the millisecond of its last change, which each change moves on. A caller that
// sends the version that it has read overwrites no change of another caller.

import { Refusal } from './fault.ts';

/** The versions that a change is meant for; null: any. */
export type Expected = readonly number[] | null;

export interface Versioned {
  readonly id: string;
  readonly updatedAtMs: number;
}

/** Returns the version after a change: also of two changes in one millisecond, or when the clock was set back. */
export function nextVersion(before: Pick<Versioned, 'updatedAtMs'>, nowMs: number): number {
  return Math.max(nowMs, before.updatedAtMs + 1);
}

/** Throws `Refusal` when the record has another version than the change is meant for. */
export function checkVersion({ id, updatedAtMs }: Versioned, expected: Expected = null): void {
  if (expected !== null && !expected.includes(updatedAtMs)) throw changedMeanwhile(id);
}

export function changedMeanwhile(id: string): Refusal {
  const what = `${id} is not what If-Match names: it was changed since`;
  return new Refusal('precondition_failed', `${what}; read it again, and send the ETag that it has then`);
}
