// What API keys may do, and until when.

/**
 * `ingest` reports errors of other programs, and nothing else; `read` shows; `write` creates and changes workflows, sources, webhooks and their parts; `keys` lists, creates and revokes
 * the owner's keys; `account` changes the owner's profile and mail settings, and shows the audit log; `admin` creates owners
 * and keys for them. The first owner's first key has `admin`.
 */
export const SCOPES = ['ingest', 'read', 'write', 'keys', 'account', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

/** Scopes of a key that is created without naming any. */
export const DEFAULT_SCOPES: readonly Scope[] = ['read', 'write'];
/** Scopes of an owner's first key. */
export const OWNER_SCOPES: readonly Scope[] = ['ingest', 'read', 'write', 'keys', 'account'];

export interface ApiKey {
  readonly id: string;
  readonly ownerId: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
  /** The key is refused from then on; null: never. */
  readonly expiresAtMs: number | null;
  /** The key that created this one; null: the service, or the command line on a store. */
  readonly createdBy: string | null;
  /** Exact to a minute; null: never used. */
  readonly lastUsedAtMs: number | null;
  /** Of a key with `ingest` alone: the only workflow whose errors it reports; null: any of the owner's. */
  readonly workflowId: string | null;
  /** The service whose workflow that is, which is made again when it was deleted; null: none. */
  readonly service: string | null;
  /** How often all of its sessions were ended: a session is good while the number is what it was when the session began. */
  readonly sessionEpoch: number;
  /** Set, where a key is found by its hash, while its owner is being deleted: the key is refused. */
  readonly ownerPurgeAtMs?: number;
}

export interface KeyInput {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly expiresAtMs: number | null;
  /** As those of `ApiKey`. */
  readonly workflowId: string | null;
  readonly service: string | null;
}

/** A key as it is asked for. At most one of the two names what its errors belong to. */
export interface KeyOrder extends Omit<KeyInput, 'workflowId' | 'service'> {
  readonly workflowId?: string | undefined;
  /** A service, whose workflow is made when there is none. */
  readonly service?: string | undefined;
}

/** Returns whether the key reports errors and can do nothing else, so that it may be published: in a web page, for instance. */
export function isIngestOnly({ scopes }: Pick<ApiKey, 'scopes'>): boolean {
  return scopes.length === 1 && scopes[0] === 'ingest';
}

/** Returns whether requests with this key are answered at that time. */
export function isGood(key: Pick<ApiKey, 'revokedAtMs' | 'expiresAtMs' | 'ownerPurgeAtMs'>, nowMs: number): boolean {
  if (key.ownerPurgeAtMs !== undefined) return false;
  return key.revokedAtMs === null && (key.expiresAtMs === null || nowMs < key.expiresAtMs);
}

/** Returns why a key must not create such a key; null: it may. No key grants more scopes than it has, nor a later expiry. */
export function beyond(
  maker: Pick<ApiKey, 'scopes' | 'expiresAtMs'>,
  made: Omit<KeyInput, 'workflowId' | 'service'>,
): string | null {
  const scope = made.scopes.find((one) => !maker.scopes.includes(one));
  if (scope !== undefined) return `A key with the scope "${scope}" can only be made by one that has it`;
  const { expiresAtMs: until } = maker;
  if (until === null || (made.expiresAtMs !== null && made.expiresAtMs <= until)) return null;
  return `This key expires at ${isoOf(until)}, and makes none that lasts longer`;
}

/** Returns why a key must not revoke another one; null: it may. */
export function above(revoker: Pick<ApiKey, 'scopes'>, revoked: Pick<ApiKey, 'scopes'>): string | null {
  const scope = revoked.scopes.find((one) => !revoker.scopes.includes(one));
  return scope === undefined ? null : `A key with the scope "${scope}" can only be revoked by one that has it`;
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
