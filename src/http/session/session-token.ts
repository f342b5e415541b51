// What a browser keeps of a sign-in: a sealed text that names the key by its hash. The store keeps no sessions: each request
// reads the key again, so that a session ends with its key, at every node at once; and so do all sessions of a key, when its
// count of such ends is raised.
//
// (Rejected: a cookie with the key itself. A stolen cookie would open the API from anywhere, with no end but the key's.)

import { DAY_MS } from '../../domain/limits.ts';
import type { Store } from '../../store/contract/store.ts';
import { createSeal, type Seal } from '../../store/seal/seal.ts';

/** A session ends then at the latest. */
export const SESSION_MS = 7 * DAY_MS;

const PURPOSE = 'dashboard sessions';
const PLACE = 'dashboard session';
/** A token has some 200 characters; what is far longer is not opened. */
const MAX_TOKEN_CHARS = 1000;

export interface Session {
  /** SHA-256 of the API key, in hex. */
  readonly keyHash: string;
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  /** The key's `sessionEpoch` when the session began: ending all sessions of a key raises it. */
  readonly epoch: number;
}

export interface SessionTokens {
  seal(session: Session): string;
  /** Returns null for a text that is no session of this store, or one that is over. */
  open(token: string, nowMs: number): Session | null;
}

export function createSessionTokens(store: Pick<Store, 'deriveKey'>): SessionTokens {
  let made: Seal | undefined;
  const sealer = (): Seal => {
    made ??= createSeal(store.deriveKey(PURPOSE));
    return made;
  };
  return {
    seal: ({ keyHash, startedAtMs, endsAtMs, epoch }) => {
      return sealer().seal(JSON.stringify([keyHash, startedAtMs, endsAtMs, epoch]), PLACE);
    },
    open: (token, nowMs) => {
      const session = token.length > MAX_TOKEN_CHARS ? null : read(token);
      return session !== null && nowMs < session.endsAtMs ? session : null;
    },
  };

  function read(token: string): Session | null {
    try {
      const parts: unknown = JSON.parse(sealer().openOnce(token, PLACE));
      // The seal opens a plain `[]`, too.
      if (!Array.isArray(parts) || parts.length !== 4) return null;
      const [keyHash, startedAtMs, endsAtMs, epoch]: unknown[] = parts;
      if (typeof keyHash !== 'string' || typeof startedAtMs !== 'number') return null;
      if (typeof endsAtMs !== 'number' || typeof epoch !== 'number') return null;
      return { keyHash, startedAtMs, endsAtMs, epoch };
    } catch {
      return null;
    }
  }
}
