// One request to a token server (OAuth 2), at a judged address like all that owners choose. Redirects are not followed.

import { RENEWAL, type TokenAnswer, type TokenRequest } from '../domain/accounts/renewal.ts';
import { LIMITS } from '../domain/limits.ts';
import type { GuardedClient } from './client.ts';
import { exchange } from './exchange.ts';
import { unsent } from './failure.ts';

/** Returns what makes the requests. It never rejects, and what it says names no address. */
export function createTokenRequests({ client, version }: { client: GuardedClient; version: string }) {
  return async ({ url, headers, body }: TokenRequest, ownerId: string): Promise<TokenAnswer> => {
    const judged = client.addresses.judgeUrl(url);
    if (!judged.ok) return { failure: `the token server cannot be reached: ${judged.reason}` };
    const { origin, pathname, search } = judged.url;
    const all = { ...headers, 'user-agent': `errand/${version}`, 'accept-encoding': 'identity' };
    const request = { origin, path: pathname + search, method: 'POST' as const, headers: all, body };
    const { timeoutMs } = RENEWAL;
    const options = { client, request, ownerId, timeoutMs, signal: undefined, keptBytes: LIMITS.responseBytes };
    const answer = await exchange(options).catch((error: unknown) => ({
      failure: unsent(error),
      status: null,
      kept: [],
    }));
    if (answer.failure !== null) return { failure: `the token server cannot be reached: ${answer.failure.detail}` };
    return { status: answer.status ?? 0, body: Buffer.concat(answer.kept).toString(), failure: null };
  };
}
