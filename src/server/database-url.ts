// The address of the shared database: `postgres://user:password@host:port/name`, also with several hosts separated by
// commas, of which the writable one is used. Parsed here, since URL parsers accept only one host.

import { checkParameters } from '../store/database-parameters.ts';

interface DatabaseUrl {
  /** Each is `host` or `host:port`. */
  readonly hosts: readonly string[];
  readonly name: string;
  readonly query: URLSearchParams;
}

const SHAPE = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;
const HOST = /^([A-Za-z0-9_.-]+)(?::(\d{1,5}))?$/;
const DEFAULT_PORT = '5432';
const MAX_PORT = 65_535;
const RIGHT =
  'a URL like postgres://user:password@host:5432/name (hosts by commas; in user and password, what is no letter or digit as %xx)';

/** Returns the URL unchanged; throws what is allowed. */
export function readDatabaseUrl(value: string): string {
  const parsed = parse(value);
  if (!parsed) throw new Error(RIGHT);
  checkParameters(parsed.query);
  return value;
}

/** Returns what may be shown: hosts and the database's name. */
export function databaseLabel(url: string): string {
  const parsed = parse(url);
  return parsed ? `${parsed.hosts.join(',')}/${parsed.name}` : 'a database';
}

/** Returns all hosts with their ports. */
export function databaseTargets(url: string): { readonly host: string; readonly port: number }[] {
  return (parse(url)?.hosts ?? []).map((text) => {
    const [host = '', port = DEFAULT_PORT] = text.split(':');
    return { host, port: Number(port) };
  });
}

function parse(url: string): DatabaseUrl | null {
  const [whole, user = '', hostList = '', name = '', query = ''] = SHAPE.exec(url) ?? [];
  if (whole === undefined || /[\s\p{Cc}]/u.test(url)) return null;
  const hosts = hostList.split(',');
  if (!hosts.every(isHost) || !isDecodable(user) || !isDecodable(name)) return null;
  return { hosts, name: decodeURIComponent(name), query: new URLSearchParams(query) };
}

function isHost(text: string): boolean {
  const [whole, , port] = HOST.exec(text) ?? [];
  return whole !== undefined && (port === undefined || (Number(port) > 0 && Number(port) <= MAX_PORT));
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
