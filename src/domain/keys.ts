// What API keys may do, and for how long.

/**
 * `read` shows, `write` makes and changes workflows, sources, webhooks and what belongs to them, `keys` lists, makes and
 * revokes the owner's keys, `account` changes who the owner is and where mails go, and shows the audit log. `admin` makes
 * owners, and keys for them; the first owner's first key has it.
 */
export const SCOPES = ['read', 'write', 'keys', 'account', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

/** Of a key that is made without saying which. */
export const DEFAULT_SCOPES: readonly Scope[] = ['read', 'write'];
/** Of an owner's first key: all that is the owner's own. */
export const OWNER_SCOPES: readonly Scope[] = ['read', 'write', 'keys', 'account'];

export interface ApiKey {
  readonly id: string;
  readonly ownerId: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
  /** From then on it is refused; null: never. */
  readonly expiresAtMs: number | null;
  /** The key that made it; null: the service itself, or the command line on a store. */
  readonly createdBy: string | null;
  /** Not more exact than a minute; null: never used. */
  readonly lastUsedAtMs: number | null;
}

export interface KeyInput {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly expiresAtMs: number | null;
}

/** Whether requests with this key are answered at that time. */
export function isGood(key: Pick<ApiKey, 'revokedAtMs' | 'expiresAtMs'>, nowMs: number): boolean {
  return key.revokedAtMs === null && (key.expiresAtMs === null || nowMs < key.expiresAtMs);
}

/** Why a key must not make one like this; null: it may. No key gives more than it has, nor for longer. */
export function beyond(maker: Pick<ApiKey, 'scopes' | 'expiresAtMs'>, made: KeyInput): string | null {
  const scope = made.scopes.find((one) => !maker.scopes.includes(one));
  if (scope !== undefined) return `A key with the scope "${scope}" can only be made by one that has it`;
  const { expiresAtMs: until } = maker;
  if (until === null || (made.expiresAtMs !== null && made.expiresAtMs <= until)) return null;
  return `This key expires at ${isoOf(until)}, and makes none that lasts longer`;
}

/** Why a key must not revoke another one; null: it may. */
export function above(revoker: Pick<ApiKey, 'scopes'>, revoked: Pick<ApiKey, 'scopes'>): string | null {
  const scope = revoked.scopes.find((one) => !revoker.scopes.includes(one));
  return scope === undefined ? null : `A key with the scope "${scope}" can only be revoked by one that has it`;
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
