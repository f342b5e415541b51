// What of the server's own its users' code and requests may not reach: where it listens, its database, its mail server.
//
// Webhooks and requests of `$.send.http` may go to the port of its interface where ERRAND_ALLOW_TARGETS opens its address: a
// workflow's trigger is an address as any other, and nothing else answers there without a key. Connections of code may not:
// what comes from there looks like this machine.

import { type Addresses, createAddresses } from '../webhook/address.ts';
import { createOwn, type OwnService } from '../webhook/own.ts';
import type { Config } from './config.ts';
import { databaseTargets } from './database-url.ts';

/** What nodemailer takes when the URL has no port. */
const MAIL_PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

/** Where the server listens on this machine; null: nowhere, or not yet. */
export interface OwnPorts {
  readonly api: number | null;
  readonly metrics: number | null;
}

/** What judges where webhooks and requests go, and where connections of code go; `at`: where the server listens now. */
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

const LISTENS = 'it is where the server listens';

/** Returns what is closed to connections of code. */
export function ownServices(config: Pick<Config, 'databaseUrl' | 'smtpUrl'>, { api, metrics }: OwnPorts): OwnService[] {
  return [
    ...(api === null ? [] : [{ host: null, port: api, reason: LISTENS }]),
    ...servicesOfNoEvents(config, metrics),
  ];
}

/** Returns what is closed to webhooks and requests. */
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
