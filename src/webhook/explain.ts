// The judgement of a URL in steps, for operators. It calls the judges of address.ts and has no rules of its own, so it
// always agrees with what happens to a request. Unlike a refusal, it names addresses.

import { isIP } from 'node:net';
import { Refusal } from '../domain/refusal.ts';
import { createAddresses, type Judgement, portOf } from './address.ts';
import { everyAddress, type ResolveName } from './names.ts';
import { createOwn, type Own } from './own.ts';

export interface Explained {
  readonly lines: readonly string[];
  /** Whether a request would be sent, as far as names and addresses decide. */
  readonly isAllowed: boolean;
}

export interface ExplainOptions {
  readonly allowTargets: readonly string[];
  /** The server's own services, as far as its settings name them. */
  readonly own?: Own;
  readonly lookup?: ResolveName;
  /** False: leaves out what callers of the interface must not learn, which addresses a name has here and what is opened. */
  readonly namesAddresses?: boolean;
}

/** Explains whether a URL may be reached. Rejects with a `Refusal` of `lookup` alone, and throws for a malformed range in `allowTargets`. */
export async function explainUrl(given: string, options: ExplainOptions): Promise<Explained> {
  const { allowTargets, own = createOwn(), lookup = everyAddress, namesAddresses = true } = options;
  const addresses = createAddresses({ allowTargets, own });
  const lines = [
    ...(namesAddresses ? [`opened by ERRAND_ALLOW_TARGETS: ${allowTargets.join(', ') || 'nothing'}`] : []),
    // As JSON: any text stays one line that is safe for a terminal.
    `given: ${JSON.stringify(given.replace(/^([^:]*:[\\/]*)[^\\/?#]*@/, '$1***@'))}`,
  ];
  const judged = addresses.judgeUrl(given);
  const url = judged.ok ? judged.url : URL.parse(given);
  if (url?.hostname) lines.push(hostLine(given, url));
  lines.push(judged.ok ? 'url: ok' : `url: refused: ${judged.reason}`);
  const host = url?.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '') ?? '';
  const judge = await addresses.towards(url ? portOf(url) : 0);
  const words = (address: string): string => addressWords(address, { allowTargets, own, judged: judge(address) });
  if (isIP(host) !== 0 && namesAddresses) lines.push(`address ${host}: ${words(host)}`);
  if (!judged.ok || isIP(host) !== 0) return ended(lines, judged);

  const found = await lookup(judged.url.hostname).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof Refusal) throw error;
    return error;
  });
  if (found instanceof Error || found.length === 0) {
    const why =
      found instanceof Error ? `it could not be looked up (${found.code ?? found.name})` : 'it has no address';
    return ended([...lines, `name ${host}: ${why}`], {
      ok: false,
      reason: 'nothing is sent to a name without address',
    });
  }
  if (namesAddresses) {
    lines.push(`name ${host}: ${found.length === 1 ? '1 address' : `${found.length} addresses`}`);
    for (const { address } of found) lines.push(`address ${address}: ${words(address)}`);
  }
  const isAllowed = found.every(({ address }) => judge(address).ok);
  return ended(lines, isAllowed ? { ok: true } : { ok: false, reason: 'one forbidden address is enough' });
}

/** Names the host as spelled, and as the URL parser, and so the request, reads it. */
function hostLine(given: string, url: URL): string {
  const authority = /^[^:]*:[\\/]*([^\\/?#]*)/.exec(given)?.[1] ?? '';
  const spelled = authority.replace(/^.*@/, '').replace(/:\d*$/, '');
  const isLiteral = isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0;
  const as = spelled === url.hostname ? '' : `, spelled ${JSON.stringify(spelled)}`;
  return `host: ${url.hostname}, ${isLiteral ? 'an address' : 'a name'}${as}`;
}

interface JudgedAddress {
  readonly allowTargets: readonly string[];
  readonly own: Own;
  readonly judged: Judgement;
}

/** Names the rule that applies, and the opening. */
function addressWords(address: string, { allowTargets, own, judged }: JudgedAddress): string {
  const closed = createAddresses({ allowTargets: [], own }).judgeAddress(address);
  if (judged.ok && closed.ok) return 'ok: it is public';
  const isOpening = (range: string): boolean =>
    createAddresses({ allowTargets: [range], own }).judgeAddress(address).ok;
  const opening = allowTargets.find(isOpening);
  if (judged.ok) return `ok: ${closed.ok ? 'it is public' : closed.reason}, but ${opening} is opened`;
  const isNothing = !closed.ok && closed.reason === judged.reason && allowTargets.length > 0;
  return `refused: ${judged.reason}${isNothing ? '; nothing that is opened holds it' : ''}`;
}

function ended(lines: readonly string[], verdict: Judgement): Explained {
  const last = verdict.ok ? 'verdict: may be reached' : `verdict: refused: ${verdict.reason}`;
  return { lines: [...lines, last], isAllowed: verdict.ok };
}
