// The lineage of what this server sends to its own endpoints: of deliveries to webhooks with such an address, and of requests of
// `$.send.http`. Without it, an error that reaches its cause over HTTP would go round for ever. It travels in a header that is
// signed, since any caller can send one, and that only endpoints of this server get; events are stored without it.
//
// It holds for one owner: what another owner sends begins a lineage of its own. So does a request that code makes itself: which
// run it is of is not known outside of its process. (Rejected: to count hops, too. A workflow that calls itself page by page
// would lose its listeners at the seventeenth, and a circle is ended by the lineage alone.)

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ClaimedDelivery } from '../../domain/delivery/delivery.ts';
import { isEndpoint, type Urls } from '../../domain/endpoint.ts';
import { extended } from '../../domain/failure.ts';
import type { Store } from '../../store/contract/store.ts';

interface OwnLineageDeps {
  readonly store: Pick<Store, 'deriveKey'>;
  readonly urls: Pick<Urls, 'publicUrl' | 'endpointHosts'>;
}

const MAC_BYTES = 18;
const BETWEEN = ',';

export function createOwnLineage({ store, urls }: OwnLineageDeps) {
  let key: Uint8Array | undefined;

  function macOf(ownerId: string, ids: string): string {
    key ??= store.deriveKey('own lineage');
    const mac = createHmac('sha256', key).update(`own lineage ${ownerId} ${ids}`).digest();
    return mac.subarray(0, MAC_BYTES).toString('base64url');
  }

  /** Returns the header's value for a request to this URL; null: it is no endpoint of this server, or nothing led to the request. */
  function lineageFor(url: URL, { emission, webhook }: ClaimedDelivery): string | null {
    if (!isEndpoint(url, urls)) return null;
    const { lineage, ownerId } = emission;
    const ids = (webhook ? extended(lineage, webhook.id) : lineage).join(BETWEEN);
    return ids === '' ? null : `${ids}.${macOf(ownerId, ids)}`;
  }

  /** Returns the lineage in the header of a request to an endpoint of this owner; empty unless this server sent it for the same owner. */
  function lineageIn(header: string, ownerId: string): readonly string[] {
    const end = header.lastIndexOf('.');
    const ids = header.slice(0, Math.max(0, end));
    const [wanted, given] = [Buffer.from(macOf(ownerId, ids)), Buffer.from(header.slice(end + 1))];
    const isOurs = wanted.length === given.length && timingSafeEqual(wanted, given);
    return isOurs ? ids.split(BETWEEN) : [];
  }

  return { lineageFor, lineageIn };
}
