// Reads the URL of one host for node-postgres. Its own parser treats `sslmode=require` as `verify-full`; here the modes mean what
// they mean in libpq.

import { readFileSync } from 'node:fs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type pg from 'pg';
import { checkParameters, sessionSettings, tlsMode } from '../../database-parameters.ts';

export interface Address {
  readonly client: pg.ClientConfig;
  /** Other settings of the session in the URL: name → value. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Reads `postgres://user:password@host:port/name?sslmode=…` of one host. Throws for wrong parameters, and when `sslrootcert` cannot be read. */
export function addressOf(text: string): Address {
  const url = new URL(text);
  const given = (part: string): string | undefined => (part === '' ? undefined : decodeURIComponent(part));
  return {
    client: {
      host: url.hostname,
      port: url.port === '' ? undefined : Number(url.port),
      user: given(url.username),
      password: given(url.password),
      database: given(url.pathname.slice(1)),
      ssl: tlsOf(url.searchParams),
    },
    settings: sessionSettings(url.searchParams),
  };
}

/**
 * Returns how TLS is used: https://www.postgresql.org/docs/current/libpq-ssl.html, table 32.1, except that `allow` and `prefer`
 * connect without TLS.
 */
function tlsOf(query: URLSearchParams): false | TlsOptions {
  checkParameters(query);
  const file = query.get('sslrootcert');
  const roots = file === null || file === 'system' ? {} : { ca: readRoots(file) };
  switch (tlsMode(query)) {
    case 'require':
      return file === null ? { rejectUnauthorized: false } : { ...roots, checkServerIdentity: () => undefined };
    case 'verify-ca':
      return { ...roots, checkServerIdentity: () => undefined };
    case 'verify-full':
      return roots;
    default:
      return false;
  }
}

function readRoots(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    throw Object.assign(new Error(`sslrootcert of its address cannot be read: ${message}`, { cause: error }), { code });
  }
}
