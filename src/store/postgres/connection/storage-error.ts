// Distinguishes errors of storage from errors of statements: errors of storage are answered with 503, and the caller tries again.

import { StoreUnavailable } from '../../contract/unavailable.ts';

/** SQLSTATE classes: connection, transaction rolled back, resources, intervention, system. */
const CLASSES = new Set(['08', '40', '53', '57', '58', 'XX']);

/** Codes of the driver and the system for a broken connection. */
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
  'EACCES',
  'EISDIR',
  // The server has ended the session: a transaction was idle, or took, for too long.
  '25P03',
  '25P04',
]);

/**
 * Read-only (a standby, or a former primary), a lock not granted in time; and a wrong password, an unknown database, schema or
 * setting, or a missing permission, or a pooler that shares sessions, which make the
 * store unavailable until the operator corrects them.
 */
const REFUSED = new Set(['25006', '55P03', '28000', '28P01', '3D000', '3F000', '42704', '42501', '26000', '42P05']);

/** Prepared statements of a session that are another one's: a pooler gave the session to several connections. */
const POOLED = 'a pooler in front of the database must have pool_mode = session';

/** What to do about errors that an operator corrects, by their code. */
const HINTS: Readonly<Record<string, string>> = {
  '25006': 'the server is a standby, or default_transaction_read_only is on',
  '42501':
    'the role must own the database, or have the privileges USAGE and CREATE on its schema (GRANT USAGE, CREATE ON SCHEMA …)',
  '3F000': 'search_path in the address names no schema of the database',
  '42704': 'parameters in the address become settings of the session: leave out what is no setting of Postgres',
  '53300': 'each process needs 11 connections, of max_connections and of the limits of its role and database',
  '26000': POOLED,
  '42P05': POOLED,
};

/** A conflict with another transaction, worth another try. (A lock that was not granted in time is not: the first try has waited.) */
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

/** Returns whether a lock was not granted in time. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** Returns whether a newer process has changed a table of a prepared statement. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery';
}

/** Returns whether the server takes no writes; another one may. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006';
}

/** Returns the error for the store's callers. (The driver keeps values out of its errors.) */
export function storageError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  const isStorage = CONNECTION.has(code) || REFUSED.has(code) || (code.length === 5 && CLASSES.has(code.slice(0, 2)));
  if (!isStorage) return error;
  const hint = HINTS[code] === undefined ? '' : `: ${HINTS[code]}`;
  return new StoreUnavailable(`the database failed: ${(error as Error).message} (${code})${hint}`, { cause: error });
}
