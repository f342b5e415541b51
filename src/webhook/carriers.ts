// The IPv4 hosts that an IPv6 address leads to.

import { type Cidr, contains, type Ip, parseCidr } from './cidr.ts';
import { CARRIERS } from './ranges.ts';

interface EmbeddingRange {
  readonly range: Cidr;
  readonly embedded: (address: bigint) => readonly bigint[];
}

const LOW_32 = 0xffff_ffffn;
const carriers: readonly EmbeddingRange[] = CARRIERS.map(({ cidr, embedded }) => ({
  range: parseCidr(cidr),
  embedded,
}));

/** Returns the carrier that an address is a spelling of; undefined for an address that embeds none. */
export function carrierOf(ip: Ip): EmbeddingRange | undefined {
  return carriers.find(({ range }) => contains(range, ip));
}

/** Returns the address itself, and the IPv4 hosts that it embeds. */
export function hostsOf(ip: Ip): readonly Ip[] {
  const embedded = carrierOf(ip)?.embedded(ip.value) ?? [];
  return [ip, ...embedded.map((value): Ip => ({ family: 4, value }))];
}

/**
 * Returns what hostsOf returns, and for IPv6 also the last 32 bits: a network may have a NAT64 prefix of its own (RFC 6052), or
 * give an IPv4 host an IPv6 address with the same end, as OpenStack does with fe80::a9fe:a9fe.
 */
export function hostsAtMost(ip: Ip): readonly Ip[] {
  return ip.family === 4 ? [ip] : [...hostsOf(ip), { family: 4, value: ip.value & LOW_32 }];
}
