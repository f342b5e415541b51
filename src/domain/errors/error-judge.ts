// Judges by a filter errors that were read from the log with their bodies.

import { type ErrorFilter, matchOf } from '../error-filter.ts';
import { detailIn } from '../failure.ts';
import type { OriginalPlace } from './error-parts.ts';

interface JudgedError {
  readonly emitterId: string;
  readonly code: string | null;
  readonly groupId: string | null;
  readonly body: Uint8Array | null;
  readonly original: OriginalPlace | null;
}

/** Returns a function that tells whether an error is meant. What lies behind its original event is read only if it has to be. */
export function errorJudge(filter: ErrorFilter): (record: JudgedError) => boolean {
  const { byHead, byDetail } = matchOf(filter);
  return (record) => {
    if (!byHead(record)) return false;
    const { body, original } = record;
    if (!byDetail) return true;
    return (
      body !== null && original !== null && byDetail(detailIn(body.subarray(original.start + original.length + 1)))
    );
  };
}
