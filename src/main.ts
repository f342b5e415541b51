// The server's process: settings, ports of the real world, signals.

import './server/thread-pool.ts';
import { SECOND_MS } from './domain/limits.ts';
import { VERSION } from './domain/version.ts';
import { endWithParent } from './ends-with-parent.ts';
import type { Log } from './ports.ts';
import type { IsolationSettings } from './runner/isolation/isolation.ts';
import { isolationOf } from './server/code-isolation.ts';
import { type Config, readConfig } from './server/config.ts';
import { databaseLabel } from './server/database-url.ts';
import { freeMemoryWhenIdle } from './server/idle-memory.ts';
import { createLog } from './server/log.ts';
import { clock, random } from './server/real-ports.ts';
import { type Service, startService } from './server/service.ts';
import { warnOfEnvFile } from './server/start-warnings.ts';
import { complaintOf } from './server/startup-error.ts';

/** SIGTERM promises an end within 30 s: three parts are waited for one after the other. */
const STOP_GRACE_MS = 8000;
/** While a database does not answer, they and others wait for longer. */
const STOP_WITHIN_MS = 28_000;
/** Callers on open connections learn with their next request that they must go elsewhere, before the doors close. */
const DRAIN_MS = 250;

/** A terminal and systemd signal all processes, and npm hands its own on: what comes within this time is one signal. */
const ONE_SIGNAL_MS = 200;

/** How long the process goes on after its disk has failed, so that callers that wait get their answer. */
const LOST_GRACE_MS = 1000;

const NAME_CHARS = 'dashboard  '.length;

function row(name: string, text: string | null): [string, string][] {
  return text === null ? [] : [[name, text]];
}

function greet(service: Service, config: Config): void {
  const { dataDir, databaseUrl, smtpUrl } = config;
  const { url, publicUrl, signInUrl, metricsUrl } = service;
  const rows: [name: string, text: string][] = [
    ...row('public', publicUrl === url ? null : publicUrl),
    ...row('dashboard', signInUrl === null ? null : `${signInUrl} (signs in once, within ten minutes)`),
    ...row('docs', config.roles.has('api') ? `${publicUrl}/docs` : null),
    ...row('metrics', metricsUrl),
    ['roles', [...config.roles].join(', ')],
    ['store', databaseUrl === null ? `SQLite in ${dataDir}` : `Postgres, ${databaseLabel(databaseUrl)}`],
    ['data', dataDir],
    ['code', describeIsolation(isolationOf(config))],
    ['key', describeKey(service, config)],
    [
      'mail',
      smtpUrl === null ? `no ERRAND_SMTP_URL: kept as files in ${dataDir}/outbox` : `over ${new URL(smtpUrl).host}`,
    ],
  ];
  const lines = [
    `Errand ${VERSION} listens on ${url}`,
    ...rows.map(([name, text]) => `  ${name.padEnd(NAME_CHARS)}${text}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const NETWORKS = {
  none: 'without a network',
  public: 'with public addresses',
  full: 'with the network',
} as const;

function describeIsolation({ level, network, user, userOf }: IsolationSettings): string {
  const other = userOf === undefined ? `user ${user?.uid}` : 'one user per owner';
  const who = user === null ? "the server's own user" : other;
  if (level === 'process') return `in processes of ${who}${network === 'public' ? ', with public addresses' : ''}`;
  return `in jails of ${who}, ${NETWORKS[network]}`;
}

function describeKey({ first }: Service, { apiKey }: Config): string {
  // Wherever the output goes: scripts that start the server read it there.
  if (first.newKey !== null)
    return `${first.keyFile}\n${' '.repeat(2 + NAME_CHARS)}${first.newKey} (new; not shown again)`;
  if (first.keyFile !== null) return first.keyFile;
  return apiKey === null ? 'the one that the store was made with' : 'as given in ERRAND_API_KEY';
}

function end(service: Service, log: Log, withinMs: number): void {
  service.drain();
  setTimeout(() => {
    service.stop(Math.min(STOP_GRACE_MS, withinMs / 3), withinMs).then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, 'could not stop in order');
        process.exit(1);
      },
    );
  }, DRAIN_MS);
}

async function main(): Promise<void> {
  // Whatever we write is for our user alone, also where the data dir was there before and is open to others.
  process.umask(0o077);
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  warnOfEnvFile(process.cwd(), process.env, log);
  let started: Service | undefined;
  const onStoreLost = (failure: Error): void => {
    log.error({ err: failure }, 'storage is lost; ending, and what is on disk the next start shows');
    started?.drain();
    setTimeout(() => process.exit(1), LOST_GRACE_MS);
  };
  const service = await startService(config, { clock, random, log, onStoreLost });
  started = service;
  let askedAtMs: number | null = null;
  const stop = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    // Nothing accepted is lost by leaving at once: what was under way is taken over at the next start.
    if (askedAtMs !== null && nowMs - askedAtMs > ONE_SIGNAL_MS) process.exit(1);
    if (askedAtMs !== null) return;
    askedAtMs = nowMs;
    // A person at a terminal waits for no load balancer.
    const delayMs = signal === 'SIGTERM' ? config.stopDelayS * SECOND_MS : 0;
    log.info({ signal, delay_ms: delayMs }, 'stopping');
    service.drain(true);
    setTimeout(() => end(service, log, STOP_WITHIN_MS - delayMs), delayMs);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // The terminal was closed.
  process.on('SIGHUP', stop);
  endWithParent(() => stop('SIGHUP'));
  // Last: its reader may stop this process at once.
  greet(service, config);
  freeMemoryWhenIdle();
}

main().catch((error: unknown) => {
  process.stderr.write(`errand: ${complaintOf(error)}\n`);
  process.exit(1);
});
