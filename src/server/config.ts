// Environment → Config. One table has every setting with its default and unit; no other file reads process.env.

import { join, resolve } from 'node:path';
import type { EndpointHosts } from '../domain/endpoint.ts';
import { KIB, LIMITS } from '../domain/limits.ts';
import { DELETION } from '../domain/owners/deletion.ts';
import type { ShownSetting } from '../http/deps.ts';
import type { TracingSettings } from '../otel/settings.ts';
import { readDatabaseUrl } from './database-url.ts';
import { oneLine, shortened, unknownSetting } from './settings/messages.ts';
import {
  type CodeUser,
  maskedCredentials,
  readAddress,
  readCidrs,
  readCodeUser,
  readEndpointHosts,
  readHost,
  readInteger,
  readKey,
  readOneOf,
  readPublicUrl,
  readSecretKey,
  readSender,
  readUrl,
  type Setting,
} from './settings/readers.ts';
import { ROLES, type Role, readRoles } from './settings/roles.ts';
import { shownSettings } from './settings/shown.ts';
import { contradictionIn } from './settings/together.ts';
import { readTracing, TRACING_SETTINGS } from './settings/tracing.ts';

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Without trailing slash; null: derived from the listening address. */
  readonly publicUrl: string | null;
  /** Null: endpoints are below the public URL. */
  readonly endpointHosts: EndpointHosts | null;
  readonly dataDir: string;
  /** Null: SQLite in the data dir. Contains a password. */
  readonly databaseUrl: string | null;
  /** Never empty; with SQLite always all. */
  readonly roles: ReadonlySet<Role>;
  readonly apiKey: string | null;
  /** Null: the key in the data dir's file, if any. */
  readonly secretKey: string | null;
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  readonly mailTo: string | null;
  readonly allowTargets: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** In which a process that is told to stop still accepts, while it says that it is not ready. */
  readonly stopDelayS: number;
  readonly metricsHost: string;
  /** Null: metrics have no separate address. */
  readonly metricsPort: number | null;
  readonly retentionDays: number;
  /** In which a deleted owner can be restored. */
  readonly ownerGraceDays: number;
  /** Folder of workflow files; absolute. */
  readonly workflowsDir: string | null;
  /** Folder with the node_modules of user code; absolute. */
  readonly packagesDir: string | null;
  /** Folder of components that are deployed by path; absolute. */
  readonly componentsDir: string | null;
  readonly logLevel: string;
  /** How user code is confined. */
  readonly isolation: 'process' | 'jail';
  readonly jailNetwork: 'none' | 'public' | 'full';
  readonly processNetwork: 'public' | 'full';
  /** Owners allowed while user code is not in a jail. */
  readonly ownersWithoutJail: number;
  /** Null: the runner's default. */
  readonly runnerMemoryMb: number | null;
  /** The user of code where the server is root; null: the server's. `isAsked`: the start fails where this is impossible. */
  readonly codeUser: CodeUser | null;
  readonly tracing: TracingSettings | null;
  /** All settings, for people. */
  readonly shown: readonly ShownSetting[];
}

/** A wrong or unknown setting; the message names it and says what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** What is left of 30 s is for what is under way. */
const MAX_STOP_DELAY_S = 10;
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

export const SETTINGS: readonly Setting[] = [
  { name: 'ERRAND_HOST', fallback: '127.0.0.1', about: 'Address to listen on', read: readHost },
  { name: 'ERRAND_PORT', fallback: '4400', about: 'Port to listen on; 0: any free one', read: readInteger(0, 65_535) },
  {
    name: 'ERRAND_PUBLIC_URL',
    fallback: '',
    about: 'How callers reach this server; none: http://host:port',
    read: readPublicUrl,
  },
  {
    name: 'ERRAND_ENDPOINT_URL',
    fallback: '',
    about:
      'Addresses of endpoints without a path, such as https://*.hooks.example.com; none: /e/… of ERRAND_PUBLIC_URL',
    read: readEndpointHosts,
  },
  {
    name: 'ERRAND_DATA_DIR',
    fallback: './data',
    about: 'Folder of the store, the outbox and the first key',
    read: (v) => resolve(v),
  },
  {
    name: 'ERRAND_API_KEY',
    fallback: '',
    about: "The first owner's key on a new store; none: one is made",
    read: readKey(LIMITS.apiKeyChars),
    isSecret: true,
  },
  {
    name: 'ERRAND_SECRET_KEY',
    fallback: '',
    about: 'Opens the secrets in the store; none: the file secret-key in the data dir',
    read: readSecretKey,
    isSecret: true,
  },
  {
    name: 'ERRAND_SMTP_URL',
    fallback: '',
    about: 'Mail server, such as smtp://user:password@mail.example.com:587; none: mails go into the outbox folder',
    read: readUrl(['smtp:', 'smtps:']),
    isSecret: true,
  },
  { name: 'ERRAND_MAIL_FROM', fallback: 'errand@localhost', about: 'Sender of mails', read: readSender },
  { name: 'ERRAND_MAIL_TO', fallback: '', about: "The first owner's address on a new store", read: readAddress },
  {
    name: 'ERRAND_ALLOW_TARGETS',
    fallback: '',
    about: 'Ranges (CIDR) that webhooks and built-in sources may reach although they are not public, by commas',
    read: readCidrs,
  },
  {
    name: 'ERRAND_MAX_BODY_BYTES',
    fallback: String(512 * KIB),
    about: 'Largest event over HTTP, in bytes',
    read: readInteger(1, 64 * 1024 * KIB),
  },
  {
    name: 'ERRAND_MAX_CONNECTIONS',
    fallback: String(LIMITS.connections),
    about: 'Connections that are open at a time, in all',
    read: readInteger(1, 1_000_000),
  },
  {
    name: 'ERRAND_MAX_CONNECTIONS_PER_ADDRESS',
    fallback: String(LIMITS.connectionsPerAddress),
    about:
      'The same from one address that is not this machine; more where a proxy on another one stands for all callers',
    read: readInteger(1, 1_000_000),
  },
  {
    name: 'ERRAND_STOP_DELAY_SECONDS',
    fallback: '0',
    about:
      'How long a process that gets SIGTERM goes on accepting, while /readyz says 503: until no load balancer sends to it',
    read: readInteger(0, MAX_STOP_DELAY_S),
  },
  { name: 'ERRAND_METRICS_HOST', fallback: '127.0.0.1', about: 'Address of ERRAND_METRICS_PORT', read: readHost },
  {
    name: 'ERRAND_METRICS_PORT',
    fallback: '',
    about: 'Port of /metrics without a key; none: /metrics needs a key with the scope admin, on the main port',
    read: readInteger(0, 65_535),
  },
  {
    name: 'ERRAND_RETENTION_DAYS',
    fallback: '30',
    about: 'Days that events, runs and deliveries are kept',
    read: readInteger(1, 3650),
  },
  {
    name: 'ERRAND_OWNER_GRACE_DAYS',
    fallback: String(DELETION.graceDays),
    about: 'Days in which a deleted owner can be restored; 0: none',
    read: readInteger(0, DELETION.maxGraceDays),
  },
  { name: 'ERRAND_LOG_LEVEL', fallback: 'info', about: `One of ${LOG_LEVELS.join(', ')}`, read: readOneOf(LOG_LEVELS) },
  {
    name: 'ERRAND_ISOLATION',
    fallback: 'process',
    about: 'Isolation of user code: process, or jail (needs bubblewrap)',
    read: readOneOf(['process', 'jail']),
  },
  {
    name: 'ERRAND_JAIL_NETWORK',
    fallback: 'none',
    about: 'What code in a jail reaches: none, public (what webhooks may reach), or full (what the server reaches)',
    read: readOneOf(['none', 'public', 'full']),
  },
  {
    name: 'ERRAND_PROCESS_NETWORK',
    fallback: 'full',
    about:
      'What code reaches at the level process: full (what the server reaches), or public (what webhooks may reach; hostile code can bypass it)',
    read: readOneOf(['public', 'full']),
  },
  {
    name: 'ERRAND_CODE_USER',
    fallback: 'auto',
    about:
      'User of user code when the server is root: uid:gid for all owners, server, or auto (a user of its own for each owner, where possible)',
    read: readCodeUser,
  },
  {
    name: 'ERRAND_OWNERS_WITHOUT_JAIL',
    fallback: '1',
    about: 'How many owners there may be while ERRAND_ISOLATION is process',
    read: readInteger(1, 1_000_000),
  },
  {
    name: 'ERRAND_RUNNER_MEMORY_MB',
    fallback: '',
    about:
      'What all processes of user code keep together while they have nothing to do, in MB; none: half of the memory',
    read: readInteger(64, 1024 * 1024),
  },
  {
    name: 'ERRAND_ROLES',
    fallback: ROLES.join(),
    about: 'What this process does, by commas; with SQLite, all of it',
    read: readRoles,
  },
  {
    name: 'ERRAND_WORKFLOWS_DIR',
    fallback: '',
    about: 'Folder of workflow files, deployed at the start and when they change',
    read: (v) => resolve(v),
  },
  {
    name: 'ERRAND_PACKAGES_DIR',
    fallback: '',
    about: 'Folder whose node_modules has the packages that code imports from there, read-only; none: no packages',
    read: (v) => resolve(v),
  },
  {
    name: 'ERRAND_COMPONENTS_DIR',
    fallback: '',
    about: 'Folder of components that sources and steps are deployed from by path',
    read: (v) => resolve(v),
  },
  {
    name: 'ERRAND_DATABASE_URL',
    fallback: '',
    about: 'Postgres, shared by several processes; none: SQLite in the data dir',
    read: readDatabaseUrl,
    isSecret: true,
  },
];

/**
 * Throws `ConfigError` at the first wrong setting, for an unknown `ERRAND_*` name, and for settings that contradict
 * each other.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const known = new Set(SETTINGS.map(({ name }) => name));
  const unknown = unknownSetting(env, known);
  if (unknown !== null) throw new ConfigError(unknown);
  const values = new Map(SETTINGS.map((setting) => [setting.name, readSetting(setting, env[setting.name])]));
  const of = <T>(name: string): T => values.get(name) as T;
  const config: Config = {
    host: of('ERRAND_HOST'),
    port: of('ERRAND_PORT'),
    publicUrl: of('ERRAND_PUBLIC_URL'),
    endpointHosts: of('ERRAND_ENDPOINT_URL'),
    dataDir: of('ERRAND_DATA_DIR'),
    databaseUrl: of('ERRAND_DATABASE_URL'),
    roles: of('ERRAND_ROLES'),
    apiKey: of('ERRAND_API_KEY'),
    secretKey: of('ERRAND_SECRET_KEY'),
    smtpUrl: of('ERRAND_SMTP_URL'),
    mailFrom: of('ERRAND_MAIL_FROM'),
    mailTo: of('ERRAND_MAIL_TO'),
    allowTargets: of<string[] | null>('ERRAND_ALLOW_TARGETS') ?? [],
    maxBodyBytes: of('ERRAND_MAX_BODY_BYTES'),
    maxConnections: of('ERRAND_MAX_CONNECTIONS'),
    maxConnectionsPerAddress: of('ERRAND_MAX_CONNECTIONS_PER_ADDRESS'),
    stopDelayS: of('ERRAND_STOP_DELAY_SECONDS'),
    metricsHost: of('ERRAND_METRICS_HOST'),
    metricsPort: of('ERRAND_METRICS_PORT'),
    retentionDays: of('ERRAND_RETENTION_DAYS'),
    ownerGraceDays: of('ERRAND_OWNER_GRACE_DAYS'),
    workflowsDir: of('ERRAND_WORKFLOWS_DIR'),
    packagesDir: of('ERRAND_PACKAGES_DIR'),
    componentsDir: of('ERRAND_COMPONENTS_DIR'),
    logLevel: of('ERRAND_LOG_LEVEL'),
    isolation: of('ERRAND_ISOLATION'),
    jailNetwork: of('ERRAND_JAIL_NETWORK'),
    processNetwork: of('ERRAND_PROCESS_NETWORK'),
    ownersWithoutJail: of('ERRAND_OWNERS_WITHOUT_JAIL'),
    runnerMemoryMb: of('ERRAND_RUNNER_MEMORY_MB'),
    codeUser: of('ERRAND_CODE_USER'),
    tracing: readTracing(env, (setting) => readSetting(setting, env[setting.name])),
    shown: shownSettings([...SETTINGS, ...TRACING_SETTINGS.map(withoutReading)], env),
  };
  const contradiction = contradictionIn(config);
  if (contradiction !== null) throw new ConfigError(contradiction);
  return config;
}

/** Returns the setting as it was given: without an endpoint of traces, what is wrong with it does no harm. */
const withoutReading = ({ read: _, ...setting }: (typeof TRACING_SETTINGS)[number]) => setting;

/** Returns how many owners a store may have; null: any number. */
export function maxOwnersOf({ isolation, ownersWithoutJail }: Config): number | null {
  return isolation === 'jail' ? null : ownersWithoutJail;
}

/** Returns paths in the data dir. */
export function dataPaths(
  dataDir: string,
): Readonly<Record<'store' | 'outbox' | 'apiKey' | 'secretKey' | 'running', string>> {
  return {
    store: join(dataDir, 'errand.db'),
    outbox: join(dataDir, 'outbox'),
    apiKey: join(dataDir, 'api-key'),
    secretKey: join(dataDir, 'secret-key'),
    running: join(dataDir, 'running.json'),
  };
}

function readSetting(setting: Setting, given: string | undefined): unknown {
  const text = given === undefined || given === '' ? setting.fallback : given;
  if (text === '') return null;
  try {
    return setting.read(text);
  } catch (error) {
    const shown = setting.isSecret ? 'its value' : `"${shortened(maskedCredentials(text))}"`;
    throw new ConfigError(oneLine(`${setting.name}: ${shown} is not ${(error as Error).message}`));
  }
}
