// Which addresses may be reached: one judgement for literals in URLs, for resolved names, and for connected sockets.
//
// The tightest range that contains an address decides. A carrier (an IPv6 spelling of an IPv4 host) is judged by the address
// that it embeds, unless a tighter range forbids the carrier: so `::1` is loopback, and not the IPv4 address 0.0.0.1.
// Ranges that the operator opens take precedence, but open exactly themselves and the mapped spelling of the same host:
// 6to4, NAT64, Teredo and compatible spellings of an opened address pass an unknown relay, and stay closed.
//
// Metadata services of clouds are opened by no wider range than their own address: an operator who opens 169.254.0.0/16 or
// 0.0.0.0/0 does not mean the machine's credentials. The server's own services (own.ts) are judged together with the port.
//
// A reason never names an address: the address that a name has inside the network is not disclosed.

import { LIMITS } from '../domain/limits.ts';
import { carrierOf, hostsAtMost } from './carriers.ts';
import { type Cidr, contains, type Ip, isOneAddress, parseCidr, parseIp, unmapped } from './cidr.ts';
import { createOwn, type Own } from './own.ts';
import { FORBIDDEN, METADATA, METADATA_NAMES, PUBLIC_IPV6 } from './ranges.ts';

export type Judgement = { readonly ok: true } | { readonly ok: false; readonly reason: string };
export type UrlJudgement = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: string };

export interface Addresses {
  /** Judges a URL without asking DNS: its name may still resolve to a forbidden address. */
  judgeUrl(url: string, maxChars?: number): UrlJudgement;
  /** Judges an IP address in any spelling, for any port. Text that is no address is refused. */
  judgeAddress(ip: string): Judgement;
  /** Judges a name itself: its addresses are judged after the lookup. */
  judgeName(name: string): Judgement;
  /** Judges addresses as judgeAddress does, for connections to one port that are about to be made. Never rejects. */
  towards(port: number): Promise<(ip: string) => Judgement>;
}

const OK: Judgement = { ok: true };
const forbidden = FORBIDDEN.map(({ cidr, why }) => ({ range: parseCidr(cidr), why }));
const metadata = METADATA.map(({ cidr }) => parseCidr(cidr));
const publicIpv6 = parseCidr(PUBLIC_IPV6);
// The URL parser would drop tabs and line breaks and trim spaces, which hides where a URL leads.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BLANK = /[\u0000-\u0020\u007f]/;

const NO_ADDRESS = no('what was given is not an IP address');
const NOT_BY_ITSELF = no(
  "the address is a cloud's metadata service, which ERRAND_ALLOW_TARGETS opens by itself alone (/32, or /128 in IPv6)",
);

/** Throws an Error that quotes the first of `allowTargets` that is not a CIDR range. */
export function createAddresses(given: { allowTargets: readonly string[]; own?: Own }): Addresses {
  const { allowTargets, own = createOwn() } = given;
  const opened = allowTargets.map((text) => unmapped(parseCidr(text)));
  const judged = (ip: Ip): Judgement => judge(ip, opened, own);

  function judgeAddress(text: string): Judgement {
    const ip = parseIp(text);
    return ip ? judged(ip) : NO_ADDRESS;
  }

  function judgeUrlAddress(text: string, port: number): Judgement {
    const ip = parseIp(text);
    const reason = ip && own.reasonAgainst(ip, port);
    return reason ? no(reason) : judgeAddress(text);
  }

  function judgeName(name: string): Judgement {
    const all = METADATA_NAMES.get(name.toLowerCase().replace(/\.+$/, ''));
    if (all === undefined || all.some((address) => judgeAddress(address).ok)) return OK;
    return no("the name is that of a cloud's metadata service");
  }

  async function towards(port: number): Promise<(ip: string) => Judgement> {
    const reasonAgainst = await own.towards(port);
    return (text) => {
      const ip = parseIp(text);
      if (!ip) return NO_ADDRESS;
      const reason = reasonAgainst(ip);
      return reason === null ? judged(ip) : no(reason);
    };
  }

  const rules: UrlRules = { judgeAddress: judgeUrlAddress, judgeName };
  return { judgeAddress, judgeName, towards, judgeUrl: (url, maxChars) => judgeUrl(url, rules, maxChars) };
}

function judge(ip: Ip, opened: readonly Cidr[], own: Own): Judgement {
  const openings = opened.filter((range) => contains(range, ip));
  if (openings.length > 0) return openings.some(isOneAddress) || !isMetadata(ip) ? OK : NOT_BY_ITSELF;
  const closed = judgeClosed(ip);
  return closed.ok && own.isThisMachine(ip) ? no('the address is one of this machine') : closed;
}

/** Judges an address that is not opened. */
function judgeClosed(ip: Ip): Judgement {
  const tightest = tightestRange(ip);
  const carrier = carrierOf(ip);
  if (carrier && carrier.range.prefixBits >= (tightest?.range.prefixBits ?? 0)) {
    return judgeEmbedded(carrier.embedded(ip.value));
  }
  if (tightest) return no(`the address lies in ${tightest.range.text}, ${tightest.why}`);
  if (ip.family === 6 && !contains(publicIpv6, ip)) {
    return no(`the address lies outside ${PUBLIC_IPV6}, the public part of IPv6`);
  }
  return OK;
}

function isMetadata(ip: Ip): boolean {
  return hostsAtMost(ip).some((host) => metadata.some((range) => contains(range, host)));
}

function judgeEmbedded(values: readonly bigint[]): Judgement {
  for (const value of values) {
    const tightest = tightestRange({ family: 4, value });
    if (tightest) return no(`the address embeds an IPv4 address in ${tightest.range.text}, ${tightest.why}`);
  }
  return OK;
}

function tightestRange(ip: Ip) {
  let best: (typeof forbidden)[number] | undefined;
  for (const row of forbidden) {
    if (contains(row.range, ip) && row.range.prefixBits > (best?.range.prefixBits ?? -1)) best = row;
  }
  return best;
}

interface UrlRules {
  readonly judgeAddress: (ip: string, port: number) => Judgement;
  readonly judgeName: (name: string) => Judgement;
}

function judgeUrl(text: string, rules: UrlRules, maxChars: number = LIMITS.urlChars): UrlJudgement {
  if (text.length > maxChars) return no(`the URL is longer than ${maxChars} characters`);
  if (BLANK.test(text)) return no('the URL contains white space or control characters');
  const url = URL.parse(text);
  if (!url) return no('it is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return no('the URL is neither http nor https');
  if (url.username !== '' || url.password !== '') return no('the URL contains credentials');
  if (url.port === '0') return no('port 0 cannot be reached');
  const port = portOf(url);
  const judged = judgeHost(url.hostname, { ...rules, judgeAddress: (ip) => rules.judgeAddress(ip, port) });
  return judged.ok ? { ok: true, url } : judged;
}

/** Returns the port of a URL of http or https. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/**
 * Judges the host of a URL. `hostname` comes from the URL parser, which has already turned 0x7f.1, 017700000001 and the like
 * into 127.0.0.1.
 */
function judgeHost(
  hostname: string,
  { judgeAddress, judgeName }: Pick<Addresses, 'judgeAddress' | 'judgeName'>,
): Judgement {
  const host = hostname.replace(/\.+$/, '');
  if (host === '') return no('the URL has no host');
  if (host.startsWith('[')) return judgeAddress(host.slice(1, -1));
  if (host === 'localhost' || host.endsWith('.localhost')) {
    const judged = judgeAddress('127.0.0.1');
    return judged.ok ? judged : judgeAddress('::1').ok ? OK : judged;
  }
  return parseIp(host) ? judgeAddress(host) : judgeName(host);
}

function no(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
