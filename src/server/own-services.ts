// The server's own services, which its users' code and requests may not reach: its listening addresses, database and
// mail server.
//
// Webhooks and requests of `$.send.http` may reach the port of the API where ERRAND_ALLOW_TARGETS opens its address: a
// workflow's trigger is a target like any other, and every other route requires a key. Connections of code may not, since
// they come from this machine's address.

import { SECOND_MS } from '../domain/limits.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Addresses, createAddresses } from '../webhook/address.ts';
import { type Explained, explainUrl } from '../webhook/explain.ts';
import { Lookups, PLACES } from '../webhook/lookups.ts';
import { everyAddress, type ResolveName } from '../webhook/names.ts';
import { createOwn, type OwnService } from '../webhook/own.ts';
import type { Config } from './config.ts';
import { databaseTargets } from './database-url.ts';

/** nodemailer's defaults for a URL without port. */
const MAIL_PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

/** The server's ports on this machine; null: none, or not yet. */
export interface OwnPorts {
  readonly api: number | null;
  readonly metrics: number | null;
}

/** Returns the judges of webhooks' and requests' targets, and of code's connections; `at`: the current ports. */
export function createJudges(
  config: Pick<Config, 'databaseUrl' | 'smtpUrl' | 'allowTargets'>,
  at: () => OwnPorts,
): { readonly addresses: Addresses; readonly codeAddresses: Addresses } {
  const { allowTargets } = config;
  const toRequests = createOwn({ services: () => servicesOfNoEvents(config, at().metrics) });
  const toCode = createOwn({ services: () => ownServices(config, at()) });
  return {
    addresses: createAddresses({ allowTargets, own: toRequests }),
    codeAddresses: createAddresses({ allowTargets, own: toCode }),
  };
}

/** For one owner. */
const MAX_LOOKUPS = 8;
const LOOKUP_MS = 5 * SECOND_MS;

/**
 * Returns what explains whether webhooks and requests may reach a URL: `POST /v1/targets/check`. Throws `Refusal`
 * (rate_limited) while too many names are looked up.
 */
export function createTargetCheck(
  { allowTargets, ...config }: Pick<Config, 'databaseUrl' | 'smtpUrl' | 'allowTargets'>,
  at: () => OwnPorts,
  resolve: ResolveName = everyAddress,
): (url: string, by: { ownerId: string; namesAddresses: boolean }) => Promise<Explained> {
  const own = createOwn({ services: () => servicesOfNoEvents(config, at().metrics) });
  const lookupFor = boundedLookups(resolve);
  return (url, { ownerId, namesAddresses }) =>
    explainUrl(url, { allowTargets, own, lookup: lookupFor(ownerId), namesAddresses });
}

/** Bounds how long a caller waits for a name, and how many names each owner looks up at a time. */
function boundedLookups(resolve: ResolveName): (ownerId: string) => ResolveName {
  const lookups = new Lookups(resolve, { places: PLACES.checks });
  const underWay = new Map<string, number>();
  const count = (ownerId: string, more: number): void => {
    const counted = (underWay.get(ownerId) ?? 0) + more;
    if (counted === 0) underWay.delete(ownerId);
    else underWay.set(ownerId, counted);
  };
  return (ownerId) => async (name) => {
    if ((underWay.get(ownerId) ?? 0) >= MAX_LOOKUPS)
      throw new Refusal('rate_limited', 'Too many names are looked up at present', { retryAfterS: 1 });
    count(ownerId, 1);
    const found = lookups.find(name, ownerId).finally(() => count(ownerId, -1));
    const timeout = new Promise<never>((_, reject) => {
      const late = (): void => reject(Object.assign(new Error('no answer'), { code: 'ETIMEOUT' }));
      const timer = setTimeout(late, LOOKUP_MS);
      found.finally(() => clearTimeout(timer)).catch(() => undefined);
    });
    return Promise.race([found, timeout]);
  };
}

const LISTENS = 'it is where the server listens';

/** Returns the services closed to connections of code. */
export function ownServices(config: Pick<Config, 'databaseUrl' | 'smtpUrl'>, { api, metrics }: OwnPorts): OwnService[] {
  return [
    ...(api === null ? [] : [{ host: null, port: api, reason: LISTENS }]),
    ...servicesOfNoEvents(config, metrics),
  ];
}

/** Returns the services closed to webhooks and requests. */
export function servicesOfNoEvents(
  config: Pick<Config, 'databaseUrl' | 'smtpUrl'>,
  metricsPort: number | null,
): OwnService[] {
  return [
    ...(metricsPort === null ? [] : [{ host: null, port: metricsPort, reason: LISTENS }]),
    ...databaseTargets(config.databaseUrl ?? '').map((target) => ({
      ...target,
      reason: "it is the server's database",
    })),
    ...mailServers(config.smtpUrl),
  ];
}

function mailServers(smtpUrl: string | null): OwnService[] {
  const url = smtpUrl === null ? null : URL.parse(smtpUrl);
  if (!url) return [];
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || MAIL_PORTS[url.protocol];
  return port === undefined ? [] : [{ host, port, reason: "it is the server's mail server" }];
}
