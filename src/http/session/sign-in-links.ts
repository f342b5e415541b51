// The link that `npm start` prints: it signs in once, within ten minutes, from this machine. Kept in memory alone, as a hash.
// Its token stands behind a `#`, so it is in no log, and a program that looks ahead at addresses does not use it up.

import type { IncomingMessage } from 'node:http';
import { MINUTE_MS } from '../../domain/limits.ts';
import { sha256Hex } from '../access/auth.ts';
import { isFromLoopback } from '../server/client-ip.ts';
import { isLoopbackHost } from './session-cookie.ts';

const LINK_MS = 10 * MINUTE_MS;

/** What a proxy adds: the request may come from another machine. */
const PROXIED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

export class SignInLinks {
  #link: { readonly tokenHash: string; readonly keyHash: string; readonly endsAtMs: number } | null = null;

  /** Returns a new link for the key with that hash; an earlier link ends. Null without a key. `url`: where the server listens. */
  create(keyHash: string | null, { url, token, nowMs }: { url: string; token: string; nowMs: number }): string | null {
    if (keyHash === null) return null;
    this.#link = { tokenHash: sha256Hex(token), keyHash, endsAtMs: nowMs + LINK_MS };
    const at = new URL(url);
    // What listens at all addresses is reached by its own machine at this one.
    if (at.hostname === '0.0.0.0' || at.hostname === '[::]') at.hostname = '127.0.0.1';
    return `${at.origin}/sign-in#${token}`;
  }

  /** Returns the hash of the link's key, once; null: the link is unknown, used, over, or used from another machine. */
  use(token: string, req: IncomingMessage, nowMs: number): string | null {
    const link = this.#link;
    if (link === null || sha256Hex(token) !== link.tokenHash || !isFromHere(req)) return null;
    this.#link = null;
    return nowMs < link.endsAtMs ? link.keyHash : null;
  }
}

function isFromHere(req: IncomingMessage): boolean {
  // The name of the host, too: a foreign page may have a name of its own lead to this machine.
  return (
    isFromLoopback(req) && isLoopbackHost(req.headers.host) && PROXIED.every((name) => req.headers[name] === undefined)
  );
}
