// The access token of an account, renewed with OAuth 2 (RFC 6749): what is kept for it, when it is due, the request, and what an
// answer of the token server means. The token itself is the account's field `oauth_access_token`.

import type { Account, AccountOauth } from '../data.ts';
import { MINUTE_MS, SECOND_MS } from '../limits.ts';

/** The answer of a token server; `failure`: there was none, and why. */
export type TokenAnswer =
  | { readonly status: number; readonly body: string; readonly failure: null }
  | { readonly failure: string };

export const OAUTH_LIMITS = { idChars: 1024, secretChars: 16_384, scopeChars: 4096 } as const;
export const OAUTH_TOKEN = 'oauth_access_token';
/** No field of an account may have this name: how its token is renewed is kept under it. */
export const OAUTH = '$oauth';

/** How long one renewal may take, and keeps others from renewing. */
export const RENEWAL = { timeoutMs: 10 * SECOND_MS, claimMs: 20 * SECOND_MS, afterFailureMs: 30 * SECOND_MS } as const;
/** A token is renewed so long before it expires, but not in the first half of its time. */
const EARLY_MS = MINUTE_MS;
/** Of a token whose server does not say when it expires. */
const ASSUMED_SECONDS = 3600;
const TOKEN_CHARS = 16_384;
const MESSAGE_CHARS = 500;

/** Returns whether the token must be renewed before it is used. */
export function isRenewalDue({ fields, oauth }: Account, nowMs: number): boolean {
  if (oauth === null) return false;
  return typeof fields[OAUTH_TOKEN] !== 'string' || oauth.renewAtMs === null || oauth.renewAtMs <= nowMs;
}

/** Returns whether a renewal that is due has just failed, and is not tried again yet. */
export function hasJustFailed({ failure }: AccountOauth, nowMs: number): boolean {
  return failure !== null && nowMs < failure.atMs + RENEWAL.afterFailureMs && nowMs >= failure.atMs;
}

/** Returns whether the token that there is can still be used. */
export function isUsable({ fields, oauth }: Account, nowMs: number): boolean {
  return typeof fields[OAUTH_TOKEN] === 'string' && oauth?.expiresAtMs != null && nowMs < oauth.expiresAtMs;
}

export interface TokenRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function tokenRequest(oauth: AccountOauth): TokenRequest {
  const { tokenUrl, clientId, clientSecret, refreshToken, scope, clientAuth } = oauth;
  const form = new URLSearchParams(
    refreshToken === null
      ? { grant_type: 'client_credentials' }
      : { grant_type: 'refresh_token', refresh_token: refreshToken },
  );
  if (scope !== null) form.set('scope', scope);
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (clientAuth === 'basic') {
    const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret ?? '')}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  } else {
    form.set('client_id', clientId);
    if (clientSecret !== null) form.set('client_secret', clientSecret);
  }
  return { url: tokenUrl, headers, body: form.toString() };
}

/** Returns the text as it is encoded before the pair becomes Base64 (RFC 6749, 2.3.1). */
function formEncoded(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}

/** Returns the account with the new token, or with what the renewal failed for. Never throws. */
export function withAnswer(account: Account, answer: TokenAnswer, nowMs: number): Account {
  const { oauth } = account;
  if (oauth === null) return account;
  const token = answer.failure === null ? tokenOf(answer.body) : null;
  if (token === null || answer.failure !== null || answer.status >= 300) {
    const failure = { message: messageOf(oauth, answer), atMs: nowMs };
    return { ...account, oauth: { ...oauth, failure, claimedUntilMs: null } };
  }
  const livesMs = token.expiresInSeconds * SECOND_MS;
  return {
    ...account,
    fields: { ...account.fields, [OAUTH_TOKEN]: token.accessToken },
    oauth: {
      ...oauth,
      refreshToken: token.refreshToken ?? oauth.refreshToken,
      expiresAtMs: nowMs + livesMs,
      renewAtMs: nowMs + Math.max(livesMs - EARLY_MS, livesMs / 2),
      failure: null,
      claimedUntilMs: null,
    },
  };
}

/** Returns whether both are renewed in the same way: the answer for one is one for the other. */
export function isSameGrant(one: AccountOauth, other: AccountOauth): boolean {
  const names = ['tokenUrl', 'clientId', 'clientSecret', 'refreshToken', 'scope', 'clientAuth'] as const;
  return names.every((name) => one[name] === other[name]);
}

interface Token {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly expiresInSeconds: number;
}

function tokenOf(body: string): Token | null {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = membersOf(body);
  if (!isToken(accessToken)) return null;
  // Some services send the number as text.
  const seconds = Number(expiresIn ?? ASSUMED_SECONDS);
  return {
    accessToken,
    refreshToken: isToken(refreshToken) ? refreshToken : null,
    expiresInSeconds: seconds > 0 && seconds < 1e9 ? seconds : ASSUMED_SECONDS,
  };
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= TOKEN_CHARS;
}

function membersOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Says what the server said, without the secrets that it was sent. */
function messageOf({ clientSecret, refreshToken }: AccountOauth, answer: TokenAnswer): string {
  if (answer.failure !== null) return answer.failure;
  const { error, error_description: description } = membersOf(answer.body);
  const said = [error, description].filter((part) => typeof part === 'string' && part !== '').join(': ');
  const why = said === '' ? (answer.status < 300 ? 'no access_token' : 'no reason') : said;
  const secrets = [clientSecret, refreshToken].filter((secret) => secret !== null && secret !== '') as string[];
  const shown = secrets.reduce((text, secret) => text.replaceAll(secret, '(hidden)'), why);
  return `the token server answered ${answer.status} with ${shown.replace(/\s+/g, ' ').slice(0, MESSAGE_CHARS)}`;
}
