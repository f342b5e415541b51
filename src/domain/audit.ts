// The audit log: who changed what, from where.

import { resourceId } from './ids.ts';

export interface AuditRecord {
  /** `au_…`; sorts by time. */
  readonly id: string;
  /** The owner whose log contains the record: the key's owner, and the owner that the request is about. */
  readonly ownerId: string;
  /** Null: the command line, on the store itself. */
  readonly keyId: string | null;
  readonly keyLabel: string;
  /** The key's owner, also in another owner's log; null like `keyId`. */
  readonly byOwnerId: string | null;
  /** `operationId` of the OpenAPI document. */
  readonly operation: string;
  /** Id of the resource that was changed or created; null when unknown. */
  readonly targetId: string | null;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly clientIp: string;
  readonly requestId: string;
  /** Status of the answer; null: no answer yet, or the process ended before it. */
  readonly status: number | null;
  /** Number of requests that the record stands for: 1, except for a key that is refused repeatedly. */
  readonly count: number;
  readonly atMs: number;
}

export interface AuditQuery {
  readonly ownerId: string;
  readonly keyId?: string;
  readonly operation?: string;
  readonly targetId?: string;
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

const NO_RANDOM = new Uint8Array(9);

/** Returns the lowest id that can be made at that time. */
export function firstIdAt(prefix: string, ms: number): string {
  return resourceId(prefix, Math.max(0, ms), NO_RANDOM);
}
