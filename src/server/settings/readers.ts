// Readers from a setting's text to its value. Each throws what is allowed: the words behind "is not".

import { isIP } from 'node:net';
import type { EndpointHosts } from '../../domain/endpoint.ts';
import { LIMITS } from '../../domain/limits.ts';
import { isMailAddress } from '../../domain/notices/mail-address.ts';
import { parseCidr } from '../../webhook/cidr.ts';

export interface Setting {
  readonly name: string;
  /** As shown by `errand config`; empty: no default. */
  readonly fallback: string;
  readonly about: string;
  /** Throws what is allowed. Gets an empty string only for settings without a default. */
  readonly read: (value: string) => unknown;
  readonly isSecret?: boolean;
}

export function readText(value: string): string {
  if (/[\r\n\0]/.test(value)) throw new Error('one line of text');
  return value;
}

export function readAddress(value: string): string {
  if (!isMailAddress(value)) throw new Error('a mail address such as ada@example.com');
  return value;
}

/** Reads an address, or a name followed by the address in angle brackets. */
export function readSender(value: string): string {
  const address = /^[^<>]*<([^<>]+)>$/.exec(value)?.[1] ?? value;
  if (!isMailAddress(address)) throw new Error('a mail address, or a name and <address>');
  return readText(value);
}

export function readHost(value: string): string {
  if (isIP(value) === 0 && !/^[A-Za-z0-9.-]+$/.test(value)) throw new Error('an IP address or host name');
  return value;
}

export function readInteger(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max) throw new Error(`an integer from ${min} to ${max}`);
    return number;
  };
}

/** Returns a text without the user and password of URLs in it. */
export function maskedCredentials(text: string): string {
  return text.replace(/(?<=:\/\/)[^/?#\s]*@/g, '***@');
}

/** For protocols other than http the parser accepts hosts that cannot be connected to. */
const URL_HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)$/;

export function readUrl(protocols: readonly string[]): (value: string) => string {
  return (value) => {
    const right = `a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')} and has a host`;
    const url = URL.parse(value);
    if (!url || !protocols.includes(url.protocol) || !URL_HOST.test(url.hostname)) throw new Error(right);
    if (!isDecodable(`${url.username}${url.password}`)) throw new Error(`${right}, and its user and password in %xx`);
    return value.replace(/\/+$/, '');
  };
}

const PUBLIC_URL = 'a URL such as https://errand.example.com, without user, query, fragment and blanks';
const readHttpUrl = readUrl(['http:', 'https:']);

/** Reads an address that paths are appended to. The parser would remove blanks and line breaks, and the addresses keep them. */
export function readPublicUrl(value: string): string {
  const url = readHttpUrl(value);
  if (/[\s?#@\\\p{Cc}]/u.test(url)) throw new Error(PUBLIC_URL);
  return url;
}

const ENDPOINT_URL =
  'a URL such as https://*.hooks.example.com, with the star as the first part of its host and no path';
/** Parts of letters, digits and inner hyphens, which have no other spelling. */
const STAR_HOST = /^\*((?:\.(?!-)[a-z0-9-]{1,63}(?<!-))+)$/;
/** Of a name in DNS, without the label in the place of the star. */
const SUFFIX_CHARS = 253 - 63;

export function readEndpointHosts(value: string): EndpointHosts {
  const url = URL.parse(value);
  const suffix = STAR_HOST.exec(url?.hostname ?? '')?.[1];
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (/\s/.test(value) || suffix === undefined || !isPlain || suffix.length > SUFFIX_CHARS)
    throw new Error(ENDPOINT_URL);
  return { protocol: url.protocol, suffix, port: url.port === '' ? '' : `:${url.port}` };
}

export function readSecretKey(value: string): string {
  return readKey(LIMITS.secretKeyChars)(value);
}

export function readKey(minChars: number): (value: string) => string {
  return (value) => {
    if (value.length < minChars || /[^\x21-\x7e]/.test(value)) {
      throw new Error(`a key of at least ${minChars} visible ASCII characters`);
    }
    return value;
  };
}

const CIDRS = 'a list of CIDRs by commas';
/** Eight groups, the last two dotted, and a prefix. */
const LONGEST_CIDR = 64;

export function readCidrs(value: string): string[] {
  return value.split(',').map((part) => {
    const text = part.trim();
    if (text.length > LONGEST_CIDR) throw new Error(CIDRS);
    const family = isIP(text);
    const cidr = family === 0 ? text : `${text}/${family === 4 ? 32 : 128}`;
    try {
      return parseCidr(cidr).text;
    } catch (error) {
      throw new Error(`${CIDRS}: ${(error as Error).message}`);
    }
  });
}

export function readOneOf(allowed: readonly string[]): (value: string) => string {
  return (value) => {
    if (!allowed.includes(value)) throw new Error(`one of ${allowed.join(', ')}`);
    return value;
  };
}

/** `isAsked`: the start fails where this user is impossible. */
export interface CodeUser {
  readonly uid: number;
  readonly gid: number;
  readonly isAsked: boolean;
}

/** The number of the overflow user. Root is not accepted as a number: `server` states that choice. */
const OVERFLOW_ID = 65_534;

export function readCodeUser(value: string): CodeUser | null {
  if (value === 'server') return null;
  if (value === 'auto') return { uid: OVERFLOW_ID, gid: OVERFLOW_ID, isAsked: false };
  const [uid, gid] = (/^([1-9]\d{0,8}):([1-9]\d{0,8})$/.exec(value) ?? []).slice(1).map(Number);
  if (uid === undefined || gid === undefined)
    throw new Error('uid:gid in numbers, neither of them 0, or server, or auto');
  return { uid, gid, isAsked: true };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
