// The session that a request comes with.

import type { IncomingMessage } from 'node:http';
import type { ApiKey } from '../../domain/keys.ts';
import type { HttpDeps } from '../deps.ts';
import { foreignFault } from './same-origin.ts';
import { sessionCookieOf } from './session-cookie.ts';
import { createSessionTokens, SESSION_MS, type Session, type SessionTokens } from './session-token.ts';

export type SessionDeps = Pick<HttpDeps, 'store' | 'urls'>;

export class Sessions {
  readonly #deps: SessionDeps;
  readonly #tokens: SessionTokens;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#tokens = createSessionTokens(deps.store);
  }

  /** Returns null when there is none, or it is over. Throws `Refusal` (403) when another origin caused the request. */
  of(req: IncomingMessage): Session | null {
    if (req.headers.cookie === undefined) return null;
    const { store, urls } = this.#deps;
    const publicUrl = urls.publicUrl();
    const token = sessionCookieOf(req, publicUrl);
    const session = token === null ? null : this.#tokens.open(token, store.clock.nowMs());
    if (session === null) return null;
    const fault = foreignFault(req, publicUrl);
    if (fault) throw fault;
    return session;
  }

  /** Returns a new session of that key with its token. It ends with the key, if that ends first. */
  start(keyHash: string, { expiresAtMs, sessionEpoch }: ApiKey): { session: Session; token: string } {
    const startedAtMs = this.#deps.store.clock.nowMs();
    const endsAtMs = Math.min(startedAtMs + SESSION_MS, expiresAtMs ?? Number.POSITIVE_INFINITY);
    const session = { keyHash, startedAtMs, endsAtMs, epoch: sessionEpoch };
    return { session, token: this.#tokens.seal(session) };
  }
}
