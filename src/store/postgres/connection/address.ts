// Reads the URL of one host for node-postgres. Its own parser treats `sslmode=require` as `verify-full`; here the modes mean what
// they mean in libpq.

import { readFileSync } from 'node:fs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type pg from 'pg';

export interface Address {
  readonly client: pg.ClientConfig;
  /** Other settings of the session in the URL: name → value. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Parameters of the URL that are no settings of the session. `target_session_attrs` chooses among hosts (hosts.ts). */
const NOT_SETTINGS = new Set(['sslmode', 'ssl', 'sslrootcert', 'application_name', 'target_session_attrs']);

/** Reads `postgres://user:password@host:port/name?sslmode=…` of one host. Throws when `sslrootcert` cannot be read. */
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
    settings: Object.fromEntries([...url.searchParams].filter(([name]) => !NOT_SETTINGS.has(name))),
  };
}

/**
 * Returns how TLS is used: https://www.postgresql.org/docs/current/libpq-ssl.html, table 32.1, except that `allow` and `prefer`
 * connect without TLS.
 */
function tlsOf(query: URLSearchParams): false | TlsOptions {
  const mode = query.get('sslmode') ?? query.get('ssl') ?? 'disable';
  const file = query.get('sslrootcert');
  const roots = file === null || file === 'system' ? {} : { ca: readFileSync(file, 'utf8') };
  switch (mode) {
    case 'require':
      return file === null ? { rejectUnauthorized: false } : { ...roots, checkServerIdentity: () => undefined };
    case 'verify-ca':
      return { ...roots, checkServerIdentity: () => undefined };
    case 'verify-full':
    case 'true':
      return roots;
    default:
      return false;
  }
}
