// Lookups of the addresses of a name.

import { lookup as dnsLookup } from 'node:dns/promises';

/** All addresses of a name. Rejects when there is none. */
export type ResolveName = (
  hostname: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export const everyAddress: ResolveName = (hostname) => dnsLookup(hostname, { all: true, order: 'verbatim' });

/**
 * Shares one lookup among callers of the same name. Lookups occupy threads of Node's small pool: a name server that does not
 * answer takes one thread per name and not one per connection.
 */
export function sharedLookup(lookup: ResolveName): ResolveName {
  const underWay = new Map<string, ReturnType<ResolveName>>();
  return (hostname) => {
    let found = underWay.get(hostname);
    if (!found) {
      found = lookup(hostname).finally(() => underWay.delete(hostname));
      underWay.set(hostname, found);
    }
    return found;
  };
}
