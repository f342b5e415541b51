// What may be reached. One judgement for literals in URLs, for what names resolve to, and for where a socket ended up.
//
// The tightest range that holds an address decides. A carrier (an IPv6 spelling of an IPv4 host) is judged by what it embeds,
// unless a tighter range forbids the address itself: so `::1` is loopback, and not the IPv4 address 0.0.0.1.
// Ranges that the operator opens win over everything, but open exactly themselves and the mapped spelling of the same host:
// 6to4, NAT64, Teredo and compatible spellings of an opened address go through some relay to who knows where, and stay shut.
//
// A reason never names an address: what a name resolves to inside our network is nobody's business.

import { LIMITS } from '../domain/limits.ts';
import { type Cidr, contains, type Ip, parseCidr, parseIp, unmapped } from './cidr.ts';
import { CARRIERS, FORBIDDEN, PUBLIC_IPV6 } from './ranges.ts';

export type Judgement = { readonly ok: true } | { readonly ok: false; readonly reason: string };
export type UrlJudgement = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: string };

export interface Addresses {
  /** Judges what can be judged without asking DNS: a name may still resolve to what is forbidden. */
  judgeUrl(url: string, maxChars?: number): UrlJudgement;
  /** Judges an IP address in any spelling. What is not an address is refused. */
  judgeAddress(ip: string): Judgement;
}

const OK: Judgement = { ok: true };
const forbidden = FORBIDDEN.map(({ cidr, why }) => ({ range: parseCidr(cidr), why }));
const carriers = CARRIERS.map(({ cidr, embedded }) => ({ range: parseCidr(cidr), embedded }));
const publicIpv6 = parseCidr(PUBLIC_IPV6);
// The URL parser would drop tabs and line breaks and trim spaces; whoever sends them means no good.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BLANK = /[\u0000-\u0020\u007f]/;

/** Throws an Error that quotes the first of `allowTargets` that is not a CIDR range. */
export function createAddresses({ allowTargets }: { allowTargets: readonly string[] }): Addresses {
  const opened = allowTargets.map((text) => unmapped(parseCidr(text)));

  function judgeAddress(text: string): Judgement {
    const ip = parseIp(text);
    return ip ? judge(ip, opened) : no('what was given is not an IP address');
  }

  return { judgeAddress, judgeUrl: (url, maxChars) => judgeUrl(url, judgeAddress, maxChars) };
}

function judge(ip: Ip, opened: readonly Cidr[]): Judgement {
  if (opened.some((range) => contains(range, ip))) return OK;
  const tightest = tightestRange(ip);
  const carrier = carriers.find(({ range }) => contains(range, ip));
  if (carrier && carrier.range.prefixBits >= (tightest?.range.prefixBits ?? 0)) {
    return judgeEmbedded(carrier.embedded(ip.value));
  }
  if (tightest) return no(`the address lies in ${tightest.range.text}, ${tightest.why}`);
  if (ip.family === 6 && !contains(publicIpv6, ip)) {
    return no(`the address lies outside ${PUBLIC_IPV6}, the public part of IPv6`);
  }
  return OK;
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

function judgeUrl(
  text: string,
  judgeAddress: (ip: string) => Judgement,
  maxChars: number = LIMITS.urlChars,
): UrlJudgement {
  if (text.length > maxChars) return no(`the URL is longer than ${maxChars} characters`);
  if (BLANK.test(text)) return no('the URL contains white space or control characters');
  const url = URL.parse(text);
  if (!url) return no('it is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return no('the URL is neither http nor https');
  if (url.username !== '' || url.password !== '') return no('the URL contains credentials');
  if (url.port === '0') return no('port 0 cannot be reached');
  const judged = judgeHost(url.hostname, judgeAddress);
  return judged.ok ? { ok: true, url } : judged;
}

/** `hostname` comes from the URL parser, which has already turned 0x7f.1, 017700000001 and the like into 127.0.0.1. */
function judgeHost(hostname: string, judgeAddress: (ip: string) => Judgement): Judgement {
  const host = hostname.replace(/\.+$/, '');
  if (host === '') return no('the URL has no host');
  if (host.startsWith('[')) return judgeAddress(host.slice(1, -1));
  if (host === 'localhost' || host.endsWith('.localhost')) {
    const judged = judgeAddress('127.0.0.1');
    return judged.ok ? judged : judgeAddress('::1').ok ? OK : judged;
  }
  return parseIp(host) ? judgeAddress(host) : OK;
}

function no(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
