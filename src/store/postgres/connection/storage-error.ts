// Which errors mean that storage is at fault, and not the statement: they are answered with 503, and what they
// interrupted is tried again.

import { StoreUnavailable } from '../../contract/store.ts';

/** SQLSTATE classes: connection, transaction rolled back, resources, intervention, system. */
const CLASSES = new Set(['08', '40', '53', '57', '58', 'XX']);

/** The driver's and the system's codes for a connection that is not there. */
const CONNECTION = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/**
 * Read-only (a standby, or a primary that became one), a lock not granted in time; and wrong password, unknown database: as
 * unavailable as a server that is off, until the operator corrects it.
 */
const REFUSED = new Set(['25006', '55P03', '28000', '28P01', '3D000']);

/** Another transaction was in the way: a second try is enough. (For a lock not granted in time the first try has waited.) */
const CONTENTION = new Set(['40001', '40P01']);

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  return CONNECTION.has(code) || code.startsWith('08') || code.startsWith('57P');
}

export function isContention(error: unknown): boolean {
  return CONTENTION.has(codeOf(error));
}

/** A newer process has changed a table whose statements this connection had prepared. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery';
}

/** The server takes no writes (any more): another one may. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006';
}

/** The error as the store's callers shall see it. (The driver keeps statements' values out of its errors.) */
export function storageError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  const isStorage = CONNECTION.has(code) || REFUSED.has(code) || (code.length === 5 && CLASSES.has(code.slice(0, 2)));
  if (!isStorage) return error;
  return new StoreUnavailable(`the database failed: ${(error as Error).message} (${code})`, { cause: error });
}
