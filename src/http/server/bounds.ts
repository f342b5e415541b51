// What callers may take of a server before it knows them: connections, time and memory.

import { LIMITS, SECOND_MS } from '../../domain/limits.ts';

export interface HttpBounds {
  readonly maxConnections: number;
  /** From one IPv4 address or one IPv6 network of 64 bits. Those from this machine count in all only: a proxy may be there. */
  readonly maxConnectionsPerAddress: number;
  /** How long a caller may leave an answer unread before its connection is closed. */
  readonly unreadAnswerMs: number;
  readonly headersMs: number;
  /** Headers and body together. */
  readonly requestMs: number;
  /** How often the two are looked at. */
  readonly checkMs: number;
  /** Longer than the idle timeout of the usual load balancers, so that it is they who close first. */
  readonly keepAliveMs: number;
  readonly bodyMemoryBytes: number;
  readonly ownerBodyMemoryBytes: number;
}

export const BOUNDS: HttpBounds = {
  maxConnections: LIMITS.connections,
  maxConnectionsPerAddress: LIMITS.connectionsPerAddress,
  unreadAnswerMs: 60 * SECOND_MS,
  headersMs: 20 * SECOND_MS,
  requestMs: 60 * SECOND_MS,
  checkMs: 2 * SECOND_MS,
  keepAliveMs: 72 * SECOND_MS,
  bodyMemoryBytes: LIMITS.bodyMemoryBytes,
  ownerBodyMemoryBytes: LIMITS.ownerBodyMemoryBytes,
};
