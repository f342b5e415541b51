// The audit log: who changed what, from where.

import { resourceId } from './ids.ts';

export interface AuditRecord {
  /** `au_…`: in the order of time. */
  readonly id: string;
  /** In whose log it stands: the key's owner, and the owner whom it is about. */
  readonly ownerId: string;
  /** Null: the command line, on the store itself. */
  readonly keyId: string | null;
  readonly keyLabel: string;
  /** The key's owner, also in the log of another one; null as `keyId`. */
  readonly byOwnerId: string | null;
  /** `operationId` of the OpenAPI document. */
  readonly operation: string;
  /** What it was done to, or what it made; null when that is not known. */
  readonly targetId: string | null;
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly clientIp: string;
  readonly requestId: string;
  /** What was answered; null: nothing yet, or never, since the process ended meanwhile. */
  readonly status: number | null;
  /** How many requests it stands for: 1, but where a key was refused again and again. */
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

/** No id of that time or later is lower. */
export function firstIdAt(prefix: string, ms: number): string {
  return resourceId(prefix, Math.max(0, ms), NO_RANDOM);
}
