// What the commands for owners, keys and the audit log share.

import type { ApiKey, AuditRecord, CreateKeyAnswer, NewOwner, Owner, Quotas } from '../client/client.ts';
import type { KeyOrder } from '../domain/keys.ts';
import type { Named } from './shell/find.ts';
import type { ServerOptions } from './shell/remote.ts';

export interface AuditFilter {
  readonly key?: string;
  readonly operation?: string;
  readonly target?: string;
  readonly since?: string;
  readonly until?: string;
}

export type NewKey = CreateKeyAnswer['data'];

export type QuotaChange = Readonly<Record<string, number | null>>;

/**
 * The operations of these commands, in the words of the interface: over the API of a server, or on its store when no server
 * runs. `ownerId` null: the owner of the key; on the store, the first one.
 */
export interface Administration {
  createOwner(input: { name: string; email: string | null }): Promise<NewOwner>;
  listOwners(): AsyncIterable<Owner>;
  deleteOwner(ownerId: string): Promise<Owner>;
  restoreOwner(ownerId: string): Promise<Owner>;
  /** Yields everything that the owner has. */
  exportOwner(ownerId: string): AsyncIterable<object>;
  /** Sets the given quotas, by their API names, and returns all of them; null removes a quota. */
  quotas(ownerId: string, change: QuotaChange): Promise<Quotas>;
  createKey(ownerId: string | null, input: KeyOrder): Promise<NewKey>;
  listKeys(ownerId: string | null): AsyncIterable<ApiKey>;
  revokeKey(ownerId: string | null, keyId: string): Promise<ApiKey>;
  /** Yields pages, newest first. */
  auditPages(ownerId: string | null, of: AuditFilter): AsyncIterable<readonly AuditRecord[]>;
  /** Lists workflows, to find one by its name; those of another owner can only be listed on the store. */
  listWorkflows(ownerId: string | null): AsyncIterable<Named>;
}

export interface AdministrationDeps {
  /** Opens an administration for `act`, and closes it afterwards. Of the options, those that name a server. */
  readonly administer: <T>(options: ServerOptions, act: (administration: Administration) => Promise<T>) => Promise<T>;
}
