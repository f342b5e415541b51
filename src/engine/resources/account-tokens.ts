// Access tokens of accounts that are renewed: before a run that needs one, and when a caller asks for it. A token is renewed once,
// however many runs and processes need it: many servers take a refresh token only once.

import { setTimeout as pause } from 'node:timers/promises';
import {
  hasJustFailed,
  isRenewalDue,
  isSameGrant,
  isUsable,
  RENEWAL,
  type TokenAnswer,
  type TokenRequest,
  tokenRequest,
  withAnswer,
} from '../../domain/accounts/renewal.ts';
import type { Account } from '../../domain/data.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { retryStorage } from '../storage-retry.ts';

export interface AccountTokenDeps {
  readonly store: Pick<Store, 'getAccount' | 'updateAccount'>;
  readonly clock: Clock;
  /** Makes one request to a token server. Never rejects. */
  readonly requestToken: (request: TokenRequest, ownerId: string) => Promise<TokenAnswer>;
}

/** An account whose fields can be used, or why they cannot. */
export type UsableAccount =
  | { readonly account: Account; readonly refused: null }
  | { readonly account: Account; readonly refused: string };

export type AccountTokens = ReturnType<typeof createAccountTokens>;

const POLL_MS = 200;
/** How long an answer is held for a store that does not write. */
const HELD_MS = 60_000;

export function createAccountTokens({ store, clock, requestToken }: AccountTokenDeps) {
  const underWay = new Map<string, Promise<Account | undefined>>();

  /** Returns the account with a token that can be used; undefined when the owner has no such account. */
  async function usable(ownerId: string, id: string): Promise<UsableAccount | undefined> {
    const found = await store.getAccount(ownerId, id);
    if (!found?.oauth || !isRenewalDue(found, clock.nowMs())) return found && { account: found, refused: null };
    const account = hasJustFailed(found.oauth, clock.nowMs()) ? found : await renew(ownerId, id, false);
    if (!account) return undefined;
    const nowMs = clock.nowMs();
    if (!isRenewalDue(account, nowMs) || isUsable(account, nowMs)) return { account, refused: null };
    const why = account.oauth?.failure?.message ?? 'another process did not get one in time';
    return { account, refused: `its access token could not be renewed: ${why}` };
  }

  /** Renews the token now. `isForced`: also one that is not due. Undefined: there is no such account. */
  function renew(ownerId: string, id: string, isForced: boolean): Promise<Account | undefined> {
    // Another owner's account with this id does not exist, so ids alone are enough; but the answer is the owner's alone.
    const key = `${ownerId} ${id}`;
    const known = underWay.get(key);
    if (known) return known;
    const renewing = renewOnce(ownerId, id, isForced).finally(() => underWay.delete(key));
    underWay.set(key, renewing);
    return renewing;
  }

  async function renewOnce(ownerId: string, id: string, isForced: boolean): Promise<Account | undefined> {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const { account, isClaimed } = await claim(ownerId, id, isForced);
      if (isClaimed && account) return await renewClaimed(account);
      // Another process renews it, or has done so; one that died is not waited for any longer than its claim holds.
      const isWaited = account?.oauth?.claimedUntilMs != null && waitedMs < RENEWAL.claimMs;
      if (!isWaited) return account;
      await pause(POLL_MS);
    }
  }

  async function claim(ownerId: string, id: string, isForced: boolean) {
    let isClaimed = false;
    const account = await store.updateAccount(ownerId, id, (before) => {
      isClaimed = false;
      const nowMs = clock.nowMs();
      const { oauth } = before;
      if (oauth === null || (oauth.claimedUntilMs !== null && oauth.claimedUntilMs > nowMs)) return before;
      const isNeeded = isForced || (isRenewalDue(before, nowMs) && !hasJustFailed(oauth, nowMs));
      const claimedUntilMs = isNeeded ? nowMs + RENEWAL.claimMs : null;
      isClaimed = isNeeded;
      return { ...before, oauth: { ...oauth, claimedUntilMs } };
    });
    return { account, isClaimed };
  }

  async function renewClaimed({ ownerId, id, oauth: asked }: Account): Promise<Account | undefined> {
    if (asked === null) return undefined;
    const answer = await requestToken(tokenRequest(asked), ownerId);
    // The server may take the refresh token only once: what it gave for it is kept as soon as the store writes again.
    const write = async () => ({
      account: await store.updateAccount(ownerId, id, (before) => {
        if (before.oauth === null) return before;
        if (isSameGrant(before.oauth, asked)) return withAnswer(before, answer, clock.nowMs());
        return { ...before, oauth: { ...before.oauth, claimedUntilMs: null } };
      }),
    });
    const written = await retryStorage(write, AbortSignal.timeout(HELD_MS));
    return written ? written.account : await write().then(({ account }) => account);
  }

  return { usable, renew };
}
