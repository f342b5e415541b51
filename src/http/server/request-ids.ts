import type { Ids } from '../../ports.ts';

/** Ids of requests: random per process, then counted. A random one for each would cost more than the rest of a header. */
export function requestIds(ids: Pick<Ids, 'secret'>): () => string {
  const prefix = `req_${ids
    .secret()
    .replace(/[^0-9A-Za-z]/g, '')
    .slice(0, 8)}`;
  let count = 0;
  return () => prefix + (count++).toString(36);
}
