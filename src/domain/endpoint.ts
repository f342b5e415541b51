// Addresses of endpoints: below the public URL, `{public URL}/e/{key}`, or each on a host of its own,
// `https://{label}.hooks.example.com`. A host has no room for a key: names of hosts have no upper case, and keys have. So
// the label is the key's bytes in base 32 (RFC 4648, lower case, no padding): 29 characters for the 18 bytes of a key, and
// the key comes back from it without another column in the store.

/** The names of hosts that are endpoints. */
export interface EndpointHosts {
  readonly protocol: string;
  /** What follows the label, in lower case: `.hooks.example.com`. */
  readonly suffix: string;
  /** `:8443`; empty for the protocol's own. */
  readonly port: string;
}

/** How callers reach the service. */
export interface Urls {
  /** Without a trailing slash, e.g. `http://127.0.0.1:4400`. A function: the port may be known only after listening. */
  readonly publicUrl: () => string;
  /** Returns the address of the endpoint with this key, without a trailing slash. */
  readonly endpointUrl: (key: string) => string;
  /** Null: endpoints have no hosts of their own. */
  readonly endpointHosts: EndpointHosts | null;
}

interface UrlSettings {
  readonly publicUrl: string | null;
  readonly endpointHosts: EndpointHosts | null;
}

/** Creates the addresses that callers see. `listensAt`: returns the address to use without a public URL. */
export function createUrls({ publicUrl: given, endpointHosts }: UrlSettings, listensAt: () => string): Urls {
  const publicUrl = (): string => given ?? listensAt();
  const endpointUrl = (key: string): string => {
    if (endpointHosts === null) return `${publicUrl()}/e/${key}`;
    const { protocol, suffix, port } = endpointHosts;
    return `${protocol}//${labelOfKey(key)}${suffix}${port}`;
  };
  return { publicUrl, endpointUrl, endpointHosts };
}

/** Has the lineage of what this server sends to its own endpoints. */
export const LINEAGE_HEADER = 'errand-lineage';

/** Returns whether a request to this URL comes to an endpoint of this server. */
export function isEndpoint(url: URL, { publicUrl, endpointHosts }: Pick<Urls, 'publicUrl' | 'endpointHosts'>): boolean {
  if (endpointHosts !== null && url.hostname.endsWith(endpointHosts.suffix)) return true;
  const own = URL.parse(`${publicUrl()}/e/`);
  return own !== null && url.origin === own.origin && url.pathname.startsWith(own.pathname);
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const DIGIT_BITS = 5;
const BYTE_BITS = 8;
/** Of a part of a host's name (RFC 1035). */
const LABEL_CHARS = 63;

/** Returns the label of a key, which is base64url. */
export function labelOfKey(key: string): string {
  let label = '';
  let bits = 0;
  let count = 0;
  for (const byte of Buffer.from(key, 'base64url')) {
    bits = (bits << BYTE_BITS) | byte;
    count += BYTE_BITS;
    for (; count >= DIGIT_BITS; count -= DIGIT_BITS) label += ALPHABET[(bits >> (count - DIGIT_BITS)) & 31];
    bits &= (1 << count) - 1;
  }
  return count === 0 ? label : label + ALPHABET[(bits << (DIGIT_BITS - count)) & 31];
}

/** Returns the key of a label in lower case; null for a text that `labelOfKey` never returns. */
export function keyOfLabel(label: string): string | null {
  if (label === '' || label.length > LABEL_CHARS) return null;
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const char of label) {
    const digit = ALPHABET.indexOf(char);
    if (digit < 0) return null;
    bits = (bits << DIGIT_BITS) | digit;
    count += DIGIT_BITS;
    if (count < BYTE_BITS) continue;
    count -= BYTE_BITS;
    bytes.push(bits >> count);
    bits &= (1 << count) - 1;
  }
  // What is left fills the last digit with zeros: each key has one label.
  return count < DIGIT_BITS && bits === 0 ? Buffer.from(bytes).toString('base64url') : null;
}

/** Why a trigger is refused that asks for a token and has none. */
export const NO_TOKEN = 'is missing; bearer needs it';

/** What callers of a trigger must send. Tokens are kept hashed: a caller that sends back what was shown cannot give them. */
export interface TokenInput {
  /** Null: nothing. */
  readonly token: string | null;
  /** The trigger that `id` names keeps its token; `required`: it must have one. */
  readonly keepsToken?: 'optional' | 'required';
}
