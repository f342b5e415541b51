// Names to addresses, of which every one has been judged.

import { lookup as dnsLookup } from 'node:dns/promises';
import type { Addresses } from './address.ts';
import { ForbiddenTarget } from './failure.ts';

/** All addresses of a name. Rejects when there is none. */
export type Lookup = (hostname: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export const everyAddress: Lookup = (hostname) => dnsLookup(hostname, { all: true, order: 'verbatim' });

type LookupCallback = (error: Error | null, addresses: { address: string; family: number }[]) => void;

/** A lookup for node:net that fails when any address of the name is forbidden. */
export function guardedLookup(addresses: Addresses, lookup: Lookup) {
  // Lookups wait in Node's small thread pool: those for one name share one, so that a name server that does not answer
  // costs one thread per name and not one per delivery.
  const underWay = new Map<string, ReturnType<Lookup>>();

  async function resolve(hostname: string) {
    let found = underWay.get(hostname);
    if (!found) {
      found = lookup(hostname).finally(() => underWay.delete(hostname));
      underWay.set(hostname, found);
    }
    const all = await found;
    if (all.length === 0) throw new Error('the name has no address');
    for (const { address } of all) {
      const judged = addresses.judgeAddress(address);
      if (!judged.ok) throw new ForbiddenTarget(`the name resolves to what is not allowed (${judged.reason})`);
    }
    return all.map(({ address, family }) => ({ address, family }));
  }

  return (hostname: string, _options: object, callback: LookupCallback) => {
    resolve(hostname).then(
      (all) => callback(null, all),
      (error) => callback(error, []),
    );
  };
}
