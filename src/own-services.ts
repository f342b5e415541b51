// What of the server's own no request of its users may reach: where it listens, its database, its mail server.

import type { Config } from './config.ts';
import { databaseTargets } from './database-url.ts';
import type { OwnService } from './webhook/own.ts';

/** What nodemailer takes when the URL has no port. */
const MAIL_PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

/** `ports`: where the server listens on this machine. */
export function ownServices(config: Pick<Config, 'databaseUrl' | 'smtpUrl'>, ports: readonly number[]): OwnService[] {
  return [
    ...ports.map((port) => ({ host: null, port, reason: 'it is where the server listens' })),
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
