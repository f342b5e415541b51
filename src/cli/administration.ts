// What the commands for owners, keys and the audit log share.

import type { KeyOrder } from '../domain/keys.ts';

export interface AuditOptions {
  readonly key?: string;
  readonly operation?: string;
  readonly target?: string;
  readonly since?: string;
  readonly until?: string;
}

/** The operations of these commands: over the running server's API, or on its store when no server runs. */
export interface Administration {
  createOwner(input: { name: string; email: string | null }): Promise<object>;
  listOwners(): Promise<readonly object[]>;
  /** Sets the given quotas, by their API names, and returns all of them; null removes a quota. */
  quotas(ownerId: string, change: QuotaChange): Promise<object>;
  createKey(ownerId: string | null, input: KeyOrder): Promise<object>;
  listKeys(ownerId: string | null): Promise<readonly object[]>;
  revokeKey(ownerId: string | null, keyId: string): Promise<object>;
  /** Returns the newest records behind `after`; empty: no more records. */
  auditPage(ownerId: string | null, of: AuditOptions, after: string | null): Promise<readonly { id: string }[]>;
}

export type QuotaChange = Readonly<Record<string, number | null>>;

export interface AdministrationDeps {
  /** Opens an administration for `act`, and closes it afterwards. */
  readonly administer: <T>(act: (administration: Administration) => Promise<T>) => Promise<T>;
  readonly print: (value: unknown) => void;
}
