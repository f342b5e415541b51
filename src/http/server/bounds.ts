// Limits on unauthenticated callers: connections, time and memory.

import { LIMITS, SECOND_MS } from '../../domain/limits.ts';

export interface HttpBounds {
  readonly maxConnections: number;
  /** Per IPv4 address or IPv6 network of 64 bits. Connections from this machine count only in all: a proxy may run there. */
  readonly maxConnectionsPerAddress: number;
  /** How long an answer may stay unread before its connection is closed. */
  readonly unreadAnswerMs: number;
  readonly headersMs: number;
  /** Headers and body together. */
  readonly requestMs: number;
  /** How often these two times are checked. */
  readonly checkMs: number;
  /** Longer than the idle timeout of common load balancers, so that they close first. */
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
