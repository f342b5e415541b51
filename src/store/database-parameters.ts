// The parameters of a database's address that are no settings of the session, and what may be wrong with them. What libpq would
// use and Errand would not is refused: an address that asks for encryption must not lead to a connection without it.

/** Modes of https://www.postgresql.org/docs/current/libpq-ssl.html, table 32.1: whether TLS is used. */
const MODES: ReadonlyMap<string, boolean> = new Map([
  ['disable', false],
  ['allow', false],
  ['prefer', false],
  ['require', true],
  ['verify-ca', true],
  ['verify-full', true],
]);
const WITH_TLS = 'require, verify-ca or verify-full';

/** Parameters that are used here, and `application_name`, which is always Errand's. `target_session_attrs` chooses among hosts (hosts.ts). */
const USED = new Set(['sslmode', 'ssl', 'sslrootcert', 'application_name', 'target_session_attrs']);

/** The others of https://www.postgresql.org/docs/current/libpq-connect.html that are no settings of a session. */
const UNUSED = new Set(
  `host hostaddr port dbname user password passfile service servicefile options replication fallback_application_name
  connect_timeout tcp_user_timeout keepalives keepalives_idle keepalives_interval keepalives_count load_balance_hosts
  require_auth channel_binding requirepeer gssencmode gsslib gssdelegation krbsrvname scram_client_key scram_server_key
  oauth_issuer oauth_client_id oauth_client_secret oauth_scope oauth_ca_file
  requiressl sslnegotiation sslcompression sslcert sslkey sslkeylogfile sslpassword sslcertmode sslcrl sslcrldir sslsni
  ssl_min_protocol_version ssl_max_protocol_version min_protocol_version max_protocol_version`.split(/\s+/),
);

/** Returns settings of the session: name → value. */
export function sessionSettings(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].filter(([name]) => !USED.has(name)));
}

/** Returns the mode of TLS; `ssl=true` is `verify-full`. */
export function tlsMode(query: URLSearchParams): string {
  return query.get('sslmode') ?? (query.get('ssl') === 'true' ? 'verify-full' : 'disable');
}

/** Throws what an address is when its parameters are right: the words behind "is not". */
export function checkParameters(query: URLSearchParams): void {
  const right = whatIsRight(query);
  if (right !== null) throw new Error(`an address ${right}`);
}

function whatIsRight(query: URLSearchParams): string | null {
  const names = [...query.keys()];
  const unused = names.filter((name) => UNUSED.has(name));
  if (unused.length > 0) return `that Errand can use: leave out ${unused.join(', ')}`;
  const again = names.find((name, i) => names.indexOf(name) < i);
  if (again !== undefined) return `that says ${again} once`;
  if (!['true', 'false'].includes(query.get('ssl') ?? 'false')) return 'whose ssl is true or false';
  if (query.has('ssl') && query.has('sslmode')) return 'with one of sslmode and ssl: leave out ssl';
  const isEncrypted = MODES.get(tlsMode(query));
  if (isEncrypted === undefined) return `whose sslmode is disable, allow, prefer, ${WITH_TLS}`;
  if (query.has('sslrootcert') && !isEncrypted) return `that uses sslrootcert: add sslmode=${WITH_TLS}`;
  return null;
}
