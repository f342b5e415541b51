// API keys as they were before keys and the account had scopes of their own, and what becomes of them.

import { deepEqual, equal } from 'node:assert/strict';
import type { Store } from '../../src/store/contract/store.ts';
import { defined } from './fixtures.ts';

interface OldKey {
  readonly ownerId: string;
  readonly label: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const [A, B, C] = ['u_0000000000000a01', 'u_0000000000000a02', 'u_0000000000000a03'];
const ALL = ['read', 'write', 'keys', 'account'];

/** Oldest first. */
const KEYS: readonly OldKey[] = [
  {
    ownerId: A,
    label: 'first key',
    before: ['read', 'write', 'admin'],
    after: ['read', 'write', 'admin', 'keys', 'account'],
  },
  { ownerId: A, label: 'deploys', before: ['read', 'write'], after: ['read', 'write'] },
  { ownerId: A, label: 'first key', before: ['read', 'write'], after: ['read', 'write'] },
  { ownerId: A, label: 'an admin', before: ['read', 'write', 'admin'], after: ['read', 'write', 'admin'] },
  { ownerId: B, label: 'first key', before: ['read', 'write'], after: ALL },
  { ownerId: B, label: 'looks', before: ['read'], after: ['read'] },
  { ownerId: C, label: 'first key', before: ['read'], after: ['read'] },
];

const idOf = (n: number): string => `key_${String(n + 1).padStart(16, '0')}`;

export const OLD_KEYS = KEYS.map(
  ({ ownerId, label, before }, n) =>
    `INSERT INTO api_keys (id, owner_id, hash, label, scopes, created_at_ms)
      VALUES ('${idOf(n)}', '${ownerId}', 'hash-${n}', '${label}', '${JSON.stringify(before)}', ${n});`,
).join('\n');

export async function assertOldKeys(store: Store): Promise<void> {
  for (const [n, { after, label }] of KEYS.entries()) {
    const key = defined(await store.keyByHash(`hash-${n}`));
    deepEqual(key.scopes, after, `${label} of ${key.ownerId}`);
    deepEqual([key.expiresAtMs, key.createdBy, key.lastUsedAtMs], [null, null, null]);
  }
  equal((await store.listAudit({ ownerId: A }, { limit: 1 })).totalCount, 0);
}
