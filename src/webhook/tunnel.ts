// A connection to a target that somebody's code named: as client.ts makes them, with no protocol on top.
//
// Judged are each address that the name resolves to, and where the connection has ended up. What `allowTargets` opens is
// open here, too, but never the server's own port on this machine, nor its database.

import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { LIMITS, SECOND_MS } from '../domain/limits.ts';
import type { Addresses, Judgement } from './address.ts';
import { type Cidr, contains, parseCidr, parseIp } from './cidr.ts';
import { ConnectFailed, ConnectTimeout, ForbiddenTarget } from './failure.ts';
import { everyAddress, guardedLookup, type Lookup } from './lookup.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface Tunnels {
  /** Rejects with ForbiddenTarget, ConnectTimeout or ConnectFailed. */
  open(target: Target, signal: AbortSignal): Promise<Socket>;
}

export interface TunnelOptions {
  readonly addresses: Addresses;
  /** Where the server listens on this machine; null: not yet. */
  readonly ownPort: () => number | null;
  /** Hosts of the database, by name or address. */
  readonly database: readonly Target[];
  readonly lookup?: Lookup;
  readonly connectTimeoutMs?: number;
}

/** Lookups wait in a pool of threads that webhooks need, too. */
const LOOKUPS_AT_ONCE = 4;
const ATTEMPT_PER_ADDRESS_MS = 2 * SECOND_MS;
const LOOPBACK: readonly Cidr[] = ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128'].map(parseCidr);
const SHUT: Judgement = { ok: false, reason: 'it is where the server listens' };
const DATABASE: Judgement = { ok: false, reason: "it is the server's database" };

export function createTunnels(options: TunnelOptions): Tunnels {
  const lookup = limited(options.lookup ?? everyAddress);
  return {
    open: async (target, signal) => {
      const judged = { ...options.addresses, judgeAddress: await judgeOf(target, options, lookup) };
      return await connectTo(target, { ...options, addresses: judged, lookup, signal });
    },
  };
}

/** Few at a time, and one for each name. */
function limited(lookup: Lookup): Lookup {
  const underWay = new Map<string, ReturnType<Lookup>>();
  return async (name) => {
    while (!underWay.has(name) && underWay.size >= LOOKUPS_AT_ONCE) {
      await Promise.race(underWay.values()).catch(() => {});
    }
    const found = underWay.get(name) ?? lookup(name).finally(() => underWay.delete(name));
    underWay.set(name, found);
    return await found;
  };
}

/** How addresses are judged behind this port. */
async function judgeOf(
  { port }: Target,
  { addresses, ownPort, database }: TunnelOptions,
  lookup: Lookup,
): Promise<Addresses['judgeAddress']> {
  const databases: ((ip: string) => boolean)[] = [];
  for (const { host } of database.filter((one) => one.port === port)) {
    const found = isIP(host) === 0 ? await lookup(host).catch(() => null) : [{ address: host }];
    // Nobody knows where it is now: it may be anywhere.
    databases.push(found === null ? () => true : (ip) => found.some(({ address }) => isSame(address, ip)));
    if (found?.some(({ address }) => isThisMachine(address))) databases.push(isThisMachine);
  }
  return (ip) => {
    if (port === ownPort() && isThisMachine(ip)) return SHUT;
    return databases.some((isIt) => isIt(ip)) ? DATABASE : addresses.judgeAddress(ip);
  };
}

function isThisMachine(text: string): boolean {
  const ip = parseIp(text);
  if (ip === null || LOOPBACK.some((range) => contains(range, ip))) return true;
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => isSame(address, text)));
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [parseIp(a), parseIp(b)];
  return one !== null && one.family === other?.family && one.value === other.value;
}

type Connecting = Pick<TunnelOptions, 'addresses' | 'connectTimeoutMs'> & {
  readonly lookup: Lookup;
  readonly signal: AbortSignal;
};

function connectTo({ host, port }: Target, options: Connecting): Promise<Socket> {
  const { addresses, lookup, signal, connectTimeoutMs = LIMITS.connectTimeoutMs } = options;
  const isLiteral = isIP(host) !== 0;
  const judged = isLiteral ? addresses.judgeAddress(host) : { ok: true as const };
  if (!judged.ok) return Promise.reject(new ForbiddenTarget(judged.reason));
  return new Promise((resolve, reject) => {
    let phase: 'dns' | 'connect' = isLiteral ? 'connect' : 'dns';
    const socket = connect({
      host,
      port,
      lookup: guardedLookup(addresses, lookup),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_PER_ADDRESS_MS,
      allowHalfOpen: true,
      noDelay: true,
      signal,
    });
    const timer = setTimeout(() => socket.destroy(new ConnectTimeout(phase, connectTimeoutMs)), connectTimeoutMs);
    socket.once('lookup', (error) => {
      if (!error) phase = 'connect';
    });
    const onError = (error: Error): void => {
      clearTimeout(timer);
      reject(ConnectFailed.of(error, phase));
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      clearTimeout(timer);
      // A socket without a remote address was reset already.
      const arrived = socket.remoteAddress === undefined ? null : addresses.judgeAddress(socket.remoteAddress);
      if (!arrived) socket.destroy(new Error('reset while connecting'));
      else if (!arrived.ok) socket.destroy(new ForbiddenTarget(arrived.reason));
      else {
        socket.off('error', onError);
        resolve(socket);
      }
    });
  });
}
