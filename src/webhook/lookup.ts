// Lookups of names, in which every address is judged.

import type { Addresses } from './address.ts';
import { ForbiddenTarget } from './failure.ts';
import type { ResolveName } from './names.ts';

type LookupCallback = (error: Error | null, addresses: { address: string; family: number }[]) => void;

interface Guard {
  readonly addresses: Addresses;
  /** The port of the connections. */
  readonly port: number;
  readonly lookup: ResolveName;
}

/** Returns a lookup for node:net that fails for a forbidden name, and when any of its addresses is forbidden. */
export function guardedLookup({ addresses, port, lookup }: Guard) {
  async function resolve(hostname: string) {
    const judgeAddress = await addresses.towards(port);
    const name = addresses.judgeName(hostname);
    if (!name.ok) throw new ForbiddenTarget(name.reason);
    const all = await lookup(hostname);
    if (all.length === 0) throw new Error('the name has no address');
    for (const { address } of all) {
      const judged = judgeAddress(address);
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
