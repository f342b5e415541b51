// The server's own: the addresses of its machine, and the services that it uses. Judged at each connection, since
// addresses and names change.
//
// The machine's addresses are as closed as private ones: ERRAND_ALLOW_TARGETS opens them. The services named here, such as
// the database, are never open, whatever the setting says: a range that opens a receiver on this machine must not open
// them. (Rejected: to open them when the setting names exactly one address. 127.0.0.1/32 is what every operator
// with a receiver on this machine writes.)

import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { hostsOf } from './carriers.ts';
import { contains, type Ip, parseCidr, parseIp } from './cidr.ts';
import { everyAddress, type ResolveName, sharedLookup } from './names.ts';

export interface OwnService {
  /** A name or an address; null: this machine. */
  readonly host: string | null;
  readonly port: number;
  /** The reason for the refusal; it names no address. */
  readonly reason: string;
}

export interface Own {
  isThisMachine(ip: Ip): boolean;
  /** Returns why nothing is sent to this port of an address; null: no service of the server is there. Makes no lookups. */
  reasonAgainst(ip: Ip, port: number): string | null;
  /** Returns `reasonAgainst` for one port, with the names of services looked up now. Never rejects. */
  towards(port: number): Promise<(ip: Ip) => string | null>;
}

export interface OwnOptions {
  /** The current services. */
  readonly services?: () => readonly OwnService[];
  readonly lookup?: ResolveName;
  /** Current addresses of this machine's interfaces. */
  readonly interfaces?: () => readonly string[];
}

interface OwnPlace {
  readonly isThere: (ip: Ip) => boolean;
  readonly reason: string;
}

const LOOPBACK = ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128'].map(parseCidr);

export function createOwn(options: OwnOptions = {}): Own {
  const { services = () => [], interfaces = interfacesNow } = options;
  // Code may begin any number of connections to the port of a service at a time.
  const lookup = sharedLookup(options.lookup ?? everyAddress);

  function isThisMachine(ip: Ip): boolean {
    const hosts = hostsOf(ip);
    if (hosts.some((host) => LOOPBACK.some((range) => contains(range, host)))) return true;
    return interfaces().some((text) => hosts.some((host) => isSame(parseIp(text), host)));
  }

  function placed({ reason }: OwnService, addresses: readonly string[]): OwnPlace {
    const places = addresses.map(parseIp);
    // A service on one address of this machine may be reachable on all of them.
    const isHere = places.some((place) => place !== null && isThisMachine(place));
    const isOne = (ip: Ip) => hostsOf(ip).some((host) => places.some((place) => isSame(place, host)));
    return { reason, isThere: (ip) => isOne(ip) || (isHere && isThisMachine(ip)) };
  }

  /** Returns null for a service that has a name. */
  function placedAtOnce(service: OwnService): OwnPlace | null {
    if (service.host === null) return { reason: service.reason, isThere: isThisMachine };
    return isIP(service.host) === 0 ? null : placed(service, [service.host]);
  }

  async function placedByName(service: OwnService): Promise<OwnPlace> {
    const found = await lookup(service.host as string).catch(() => null);
    // Its current address is unknown, so it may be anywhere.
    if (found === null) return { reason: service.reason, isThere: () => true };
    return placed(
      service,
      found.map(({ address }) => address),
    );
  }

  const at = (port: number): readonly OwnService[] => services().filter((service) => service.port === port);

  return {
    isThisMachine,
    reasonAgainst: (ip, port) =>
      reasonIn(
        at(port).map((service) => placedAtOnce(service)),
        ip,
      ),
    towards: async (port) => {
      const all = await Promise.all(at(port).map((service) => placedAtOnce(service) ?? placedByName(service)));
      return (ip) => reasonIn(all, ip);
    },
  };
}

function reasonIn(all: readonly (OwnPlace | null)[], ip: Ip): string | null {
  return all.find((place) => place?.isThere(ip))?.reason ?? null;
}

function interfacesNow(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
}

function isSame(a: Ip | null, b: Ip): boolean {
  return a !== null && a.family === b.family && a.value === b.value;
}
