// IP addresses and CIDR ranges as numbers. (Rejected: net.BlockList. It treats an IPv4 rule as matching mapped addresses, and
// answers "no" for text that it cannot parse, so a gap would fail open; here the result is null or an error.)

import { isIPv4, isIPv6 } from 'node:net';

export interface Ip {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface Cidr extends Ip {
  readonly prefixBits: number;
  /** As it was written, for messages. */
  readonly text: string;
}

const BITS = { 4: 32, 6: 128 } as const;
const MAPPED_PREFIX = 0xffffn;
const LOW_32 = 0xffff_ffffn;

/**
 * Parses an address; null when the text is none or has a zone (`%eth0`). An IPv4-mapped address becomes IPv4, since that is
 * the host that the kernel connects to.
 */
export function parseIp(text: string): Ip | null {
  const raw = parseAsWritten(text);
  return raw?.family === 6 && raw.value >> 32n === MAPPED_PREFIX ? { family: 4, value: raw.value & LOW_32 } : raw;
}

/** Parses a range. Throws an Error that quotes the text when it is malformed or has bits beyond its prefix. */
export function parseCidr(text: string): Cidr {
  const match = /^([0-9A-Fa-f.:]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const base = match ? parseAsWritten(match[1] as string) : null;
  if (!base) throw new Error(`"${text}" is not a CIDR range such as 10.0.0.0/8 or fd00::/8`);
  const prefixBits = Number(match?.[2]);
  const bits = BITS[base.family];
  if (prefixBits > bits) throw new Error(`"${text}" is not a CIDR range: its prefix is longer than ${bits} bits`);
  // A range such as 10.1.2.3/8 is ambiguous: its writer may mean the address or the range.
  const rest = BigInt(bits - prefixBits);
  if ((base.value >> rest) << rest !== base.value) {
    const range = `${textOf({ ...base, value: (base.value >> rest) << rest })}/${prefixBits}`;
    const meant = `write ${range} for the range that holds it, or ${textOf(base)}/${bits} for this address alone`;
    throw new Error(`"${text}" is not a CIDR range: it has bits beyond its prefix; ${meant}`);
  }
  return { ...base, prefixBits, text };
}

/** Returns a range of IPv4-mapped addresses as its IPv4 range; any other range unchanged. */
export function unmapped(range: Cidr): Cidr {
  if (range.family === 4 || range.prefixBits < 96 || range.value >> 32n !== MAPPED_PREFIX) return range;
  return { ...range, family: 4, value: range.value & LOW_32, prefixBits: range.prefixBits - 96 };
}

/** Returns whether the range is one address. */
export function isOneAddress({ family, prefixBits }: Cidr): boolean {
  return prefixBits === BITS[family];
}

export function contains(range: Cidr, ip: Ip): boolean {
  if (range.family !== ip.family) return false;
  const rest = BigInt(BITS[range.family] - range.prefixBits);
  return range.value >> rest === ip.value >> rest;
}

function parseAsWritten(text: string): Ip | null {
  if (isIPv4(text)) return { family: 4, value: ipv4Value(text) };
  if (!isIPv6(text) || text.includes('%')) return null;
  return { family: 6, value: ipv6Value(text) };
}

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);
}

/** Returns an address as a number. `text` has passed isIPv6: at most one `::`, at most one dotted tail. */
function ipv6Value(text: string): bigint {
  const tailStart = text.lastIndexOf(':') + 1;
  const tail = text.slice(tailStart);
  const hex = tail.includes('.') ? text.slice(0, tailStart) + hexTail(ipv4Value(tail)) : text;
  const [left = '', right] = hex.split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  const gap: string[] = right === undefined ? [] : Array(8 - before.length - after.length).fill('0');
  return [...before, ...gap, ...after].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function textOf({ family, value }: Ip): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1); // in its shortest spelling
}

function hexTail(value: bigint): string {
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
