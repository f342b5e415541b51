// The composition root: the only file that builds everything, and takes it down again in order.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError, dataPaths } from './config.ts';
import { VERSION } from './domain/version.ts';
import { createActions } from './engine/actions.ts';
import { Deliveries } from './engine/deliveries.ts';
import { Dispatch } from './engine/dispatch.ts';
import { createEmit } from './engine/emit.ts';
import { Lines } from './engine/lines.ts';
import { Metrics } from './engine/metrics.ts';
import { Runs } from './engine/runs.ts';
import { Slots } from './engine/slots.ts';
import { Times } from './engine/times.ts';
import { Waiters } from './engine/waiters.ts';
import { ensureFirstOwner, type FirstOwner } from './first-owner.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { createMailer } from './mail/mailer.ts';
import type { Clock, Ids, Log, Random } from './ports.ts';
import { createRunner } from './runner/pool.ts';
import { openSqliteStore } from './store/sqlite/open.ts';
import type { Store } from './store/store.ts';
import { type Addresses, createAddresses } from './webhook/address.ts';
import { createGuardedClient } from './webhook/client.ts';
import { createPoster } from './webhook/post.ts';
import { newSecret } from './webhook/sign.ts';

export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
}

export interface Service {
  /** Where it listens. */
  readonly url: string;
  /** How callers reach it. */
  readonly publicUrl: string;
  readonly first: FirstOwner;
  /** From now on every request but health is answered with 503 and `connection: close`. */
  drain(): void;
  /** Ends within `graceMs` and a little: nothing accepted is lost, what runs is finished or handed back. May be called twice. */
  stop(graceMs: number): Promise<void>;
}

type Parts = ReturnType<typeof buildParts>;

interface Surroundings {
  readonly config: Config;
  readonly ports: Ports;
  readonly store: Store;
  readonly addresses: Addresses;
  readonly publicUrl: () => string;
}

/** Everything between the store and HTTP, connected and not yet started. */
function buildParts({ config, ports, store, addresses, publicUrl }: Surroundings) {
  const { clock, random, log } = ports;
  const lines = new Lines();
  const slots = new Slots(lines);
  const dispatch = new Dispatch();
  const waiters = new Waiters();
  const runner = createRunner({ log, clock, tmpDir: join(config.dataDir, 'tmp') });
  const metrics = new Metrics(slots, () => runner.stats().processes);
  const poster = createPoster({ client: createGuardedClient({ addresses }), clock, version: VERSION });
  const { smtpUrl, mailFrom: from } = config;
  const mailer = createMailer({ smtpUrl, from, outboxDir: dataPaths(config.dataDir).outbox, clock, random, log });

  const shared = { store, slots, dispatch, metrics, clock, log };
  const runs = new Runs({ ...shared, runner, waiters, publicUrl });
  const deliveries = new Deliveries({ ...shared, lines, random, post: poster.post, mail: mailer.send });
  const times = new Times({ ...shared, retentionDays: config.retentionDays });
  dispatch.connect({
    run: (run) => runs.execute(run),
    delivery: (delivery) => deliveries.attempt(delivery),
    wakeRuns: () => runs.wake(),
    wakeDeliveries: () => deliveries.wake(),
  });
  const emit = createEmit({ store, slots, dispatch, waiters, metrics });
  const actions = createActions({
    ...ports,
    store,
    runner,
    waiters,
    emit,
    newSecret,
    reasonAgainst: (target) => {
      const judged = addresses.judgeUrl(target);
      return judged.ok ? null : judged.reason;
    },
    wakeTimes: () => times.wake(),
    wakeDeliveries: () => deliveries.wake(),
    letGo: (webhookId) => deliveries.letGo(webhookId),
  });
  return { store, slots, dispatch, runner, metrics, poster, mailer, runs, deliveries, times, actions };
}

/** Starts everything. Rejects with `StoreUnavailable` when another process uses the data dir. */
export async function startService(config: Config, ports: Ports): Promise<Service> {
  const { clock, random, log } = ports;
  const paths = dataPaths(config.dataDir);
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const addresses = readTargets(config.allowTargets);
  const store = await openSqliteStore({ path: paths.store, clock, random });
  let url = '';
  let isDraining = false;
  const publicUrl = (): string => config.publicUrl ?? url;
  const parts = buildParts({ config, ports, store, addresses, publicUrl });
  const { slots, dispatch, actions, metrics } = parts;

  const first = await ensureFirstOwner({ store, actions, config, ids: ports.ids });
  // What a process that is gone still held comes before anything new, so that nothing overtakes it.
  const rescued = await store.rescue(slots);
  if (rescued.runs + rescued.deliveries > 0) {
    log.info({ runs: rescued.runs, deliveries: rescued.deliveries }, 'took over what was under way');
  }
  const { maxBodyBytes } = config;
  const draining = (): boolean => isDraining;
  const http = await createHttpServer({ ...ports, store, actions, metrics, publicUrl, maxBodyBytes, draining });
  const { port } = await http.listen({ host: config.host, port: config.port });
  url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  dispatch.take(rescued.claims);
  parts.runs.start();
  parts.deliveries.start();
  parts.times.start();
  if (config.allowTargets.length > 0) {
    log.warn({ allow_targets: config.allowTargets }, 'webhooks may reach these addresses');
  }
  await writeFile(paths.running, `${JSON.stringify({ pid: process.pid, url })}\n`, { mode: 0o600 });

  const drain = (): void => {
    isDraining = true;
  };
  let stopping: Promise<void> | undefined;
  const stop = (graceMs: number): Promise<void> => {
    drain();
    stopping ??= stopParts(parts, http, graceMs).then(() => rm(paths.running, { force: true }));
    return stopping;
  };
  return { url, publicUrl: publicUrl(), first, drain, stop };
}

/**
 * The order matters: nothing new comes in; nothing new is taken; what runs ends, and its end is written; then what it
 * caused is sent or handed back; the store is last, since all of them write to it.
 */
async function stopParts(parts: Parts, http: HttpServer, graceMs: number): Promise<void> {
  const { store, slots, runner, runs, deliveries, times, poster, mailer } = parts;
  slots.close();
  await times.stop();
  const httpStopped = http.stop();
  await runner.stop(graceMs);
  await runs.stop(graceMs);
  await deliveries.stop(graceMs);
  await httpStopped;
  await Promise.all([poster.close(), mailer.close()]);
  await store.close();
}

/** Before anything is opened: a range that cannot be read stops the start, with the setting's name. */
function readTargets(allowTargets: readonly string[]): Addresses {
  try {
    return createAddresses({ allowTargets });
  } catch (error) {
    throw new ConfigError(`ERRAND_ALLOW_TARGETS: ${(error as Error).message}`);
  }
}
