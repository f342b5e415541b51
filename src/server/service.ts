// The composition root: the only file that builds all parts, and stops them in order.

import { createUrls, type Urls } from '../domain/endpoint.ts';
import { Answers } from '../engine/accept/answers.ts';
import { Dispatch } from '../engine/accept/dispatch.ts';
import { createEmit } from '../engine/accept/emit.ts';
import { createOwnLineage } from '../engine/accept/own-lineage.ts';
import { Waiters } from '../engine/accept/waiters.ts';
import { createActions } from '../engine/actions.ts';
import { OwnerQuotas } from '../engine/capacity/quotas.ts';
import { Slots } from '../engine/capacity/slots.ts';
import { createComponents } from '../engine/components/components.ts';
import { propStoresOf } from '../engine/components/prop-stores.ts';
import { Counters } from '../engine/counter-checks.ts';
import { Deliveries } from '../engine/deliveries/deliveries.ts';
import { DeliveryLimiter } from '../engine/deliveries/delivery-limiter.ts';
import { Operations } from '../engine/deliveries/operations.ts';
import { createFileDeployer } from '../engine/files/deploy.ts';
import { createFileUploads } from '../engine/files/upload.ts';
import { LedgerHours } from '../engine/ledger-hours.ts';
import { Metrics } from '../engine/metrics/metrics.ts';
import { Nodes } from '../engine/nodes.ts';
import { buildNotices } from '../engine/notices/notice-parts.ts';
import { createPrivacy } from '../engine/privacy/privacy.ts';
import { createAccountTokens } from '../engine/resources/account-tokens.ts';
import { createGlobalErrorUpgrade } from '../engine/resources/global-error-upgrade.ts';
import { createLateFailures } from '../engine/runs/late-failures.ts';
import { ReadyRuns } from '../engine/runs/ready-runs.ts';
import { Runs } from '../engine/runs/runs.ts';
import { warmer } from '../engine/runs/warm.ts';
import { Janitor } from '../engine/schedule/janitor.ts';
import { OwnerFiles } from '../engine/schedule/owner-files.ts';
import { Scheduler } from '../engine/schedule/scheduler.ts';
import { createWatches } from '../engine/schedule/watches.ts';
import { LastHooks } from '../engine/sources/last-hooks.ts';
import { SourceChanges } from '../engine/sources/source-changes.ts';
import { createSourceFiles } from '../engine/sources/source-files.ts';
import { SourceRepairs } from '../engine/sources/source-repairs.ts';
import { StopWaits } from '../engine/stop-waits.ts';
import { StorageOutage } from '../engine/storage-outage.ts';
import { Streams } from '../engine/streams/streams.ts';
import { Tracing } from '../engine/tracing/tracing.ts';
import { WakeUps } from '../engine/wake-ups.ts';
import { openDashboard } from '../http/dashboard/built.ts';
import { createHttpServer, type HttpServer } from '../http/server/server.ts';
import { SignInLinks } from '../http/session/sign-in-links.ts';
import { STREAM_FRAMES } from '../http/wire/log/stream-frames.ts';
import { fileInput } from '../http/wire/workflow-files.ts';
import type { Ids, Log, Random, SpanSink, StoreClock } from '../ports.ts';
import { createBundler } from '../runner/bundling/bundler.ts';
import type { ProcessRunner } from '../runner/pool/pool.ts';
import type { RunQuotas } from '../runner/pool/process-slots.ts';
import type { LateFailure } from '../runner/runner.ts';
import type { Store } from '../store/contract/store.ts';
import type { Addresses } from '../webhook/address.ts';
import { createEgress } from '../webhook/egress.ts';
import { reasonOf } from '../webhook/failure.ts';
import { newSecret, newSigningKey } from '../webhook/sign.ts';
import { createBundling, type SharedParts } from './code-bundling.ts';
import { runnerOf, tryIsolation } from './code-isolation.ts';
import { type Config, ConfigError, dataPaths, maxOwnersOf } from './config.ts';
import { ensureFirstOwner, type FirstOwner } from './first-owner.ts';
import { listen } from './listening.ts';
import { openStore, type StorePorts } from './open-store.ts';
import { createJudges, createTargetCheck, type OwnPorts } from './own-services.ts';
import { prepareMachine } from './preparation.ts';
import { createIds } from './real-ports.ts';
import { removeRunning, writeRunning } from './running-file.ts';
import { createSenders, openSpansOf } from './senders.ts';
import { warnAtStart } from './start-warnings.ts';
import { buildFolder } from './workflow-folder.ts';

export interface Ports extends StorePorts {
  /** As of LoopPorts. */
  readonly isPolling?: boolean | undefined;
  /** With other services of the process. */
  readonly shared?: SharedParts | undefined;
}

export interface Service {
  /** The listening address. */
  readonly url: string;
  /** The address of metrics without a key; null: none. */
  readonly metricsUrl: string | null;
  /** The address for callers. */
  readonly publicUrl: string;
  readonly first: FirstOwner;
  /** Signs in to the dashboard, once; null: there is no dashboard here, or no key to sign in with. */
  readonly signInUrl: string | null;
  /** Begins the end: from now on not ready, and every request but health is answered with 503 and `connection: close`, unless it still `accepts`. */
  drain(accepts?: boolean): void;
  /**
   * Ends soon after `graceMs`: nothing accepted is lost, and what runs is finished or released. May be called twice. `withinMs`:
   * resolves by then though a part still waits, as for a database that does not answer: the process must end.
   */
  stop(graceMs: number, withinMs?: number): Promise<void>;
}

type Parts = ReturnType<typeof buildParts>;

interface Surroundings extends Pick<Ports, 'isPolling' | 'shared'> {
  readonly config: Config;
  readonly store: Store;
  /** The store's clock, shared by all its nodes: a wrong clock of this machine does no harm. */
  readonly clock: StoreClock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  /** Judges the targets of webhooks and requests. */
  readonly addresses: Addresses;
  /** Judges the targets of code's connections. */
  readonly codeAddresses: Addresses;
  readonly urls: Urls;
  readonly spans: SpanSink | null;
}

/** Builds and connects everything between the store and HTTP, without starting it. */
function buildParts(surroundings: Surroundings) {
  const { config, clock, random, ids, log, urls, spans } = surroundings;
  const { storing: store, shown, textFor, ...privacy } = createPrivacy(surroundings.store, { clock, ...urls });
  const tracing = spans && new Tracing({ spans, clock, random, textFor });
  const { lineageFor, lineageIn } = createOwnLineage({ store, urls });
  const limiter = new DeliveryLimiter();
  const roles = { runs: config.roles.has('run'), deliveries: config.roles.has('deliver') };
  const slots = new Slots(limiter, roles, (runnable) => readyRuns.ahead(runnable));
  const wake = new WakeUps();
  store.listen(wake);
  const outage = new StorageOutage({ log, isBack: () => surroundings.store.check() });
  const loopPorts = { random, log, outage, isPolling: surroundings.isPolling };
  const dispatch = new Dispatch(wake);
  const waiters = new Waiters();
  const answers = new Answers({ store, waiters, wake, ...loopPorts });
  const openEgress = createEgress({ addresses: surroundings.codeAddresses });
  const quotas = new OwnerQuotas({ store, clock, runnerUse: (ownerId) => runner.useOf(ownerId), ...loopPorts });
  const quotasOf = (ownerId: string): RunQuotas => quotas.forRuns(ownerId);
  const onLate = (late: LateFailure): void => lateFailures.tell(late);
  const runner: ProcessRunner = runnerOf(config, { log: privacy.logging(log), clock, openEgress, quotasOf, onLate });
  const readyRuns = new ReadyRuns(runner);
  const { retentionDays } = config;
  const streams = new Streams({ store: shown, frames: STREAM_FRAMES, clock, wake, ...loopPorts, retentionDays });
  const bundling = surroundings.shared?.bundling ?? createBundling(config, log);
  const metrics = new Metrics(slots, streams, {
    processes: () => runner.stats().processes,
    isBundlingFailing: () => bundling.problem() !== null,
    spans: () => spans?.counts,
    queue: { store, clock },
  });
  const making = { ...surroundings, tracing, lineageFor };
  const { client, poster, mailer, removeFiles, requestToken } = createSenders(config, making);

  const shared = { store, slots, dispatch, metrics, clock, wake, tracing, ...loopPorts };
  const counters = new Counters(shared);
  const nodes = new Nodes({ ...shared, runner: readyRuns });
  const accountTokens = createAccountTokens({ store, clock, requestToken });
  const propStores = propStoresOf(store, accountTokens);
  const emit = createEmit({ store, slots, dispatch, waiters, answers, metrics, tracing });
  const senders = { post: poster.post, mail: privacy.mailing(mailer.send), noticeFor: privacy.noticeFor };
  const { post, mail, sendTo, linkOf, sendNotices } = buildNotices({ ...shared, store: shown, emit, urls, senders });
  const runs = new Runs({ ...shared, readyRuns, waiters, answers, ...urls, propStores, linkOf, ...privacy });
  const lateFailures = createLateFailures({ ...shared, emit, written: (run) => runs.written(run) });
  const deliveries = new Deliveries({ ...shared, log: privacy.logging(log), limiter, post, probe: poster.probe, mail });
  const operations = new Operations(shared);
  const watches = createWatches(shared);
  const scheduler = new Scheduler({ ...shared, waiters, watches, retentionDays: config.retentionDays, sendNotices });
  // What the first run leads to must not wait until the client of deliveries is loaded, while its own process starts anyway.
  let loadsClient = roles.deliveries;
  dispatch.connect({
    run: (run) => {
      runs.execute(run);
      if (loadsClient) client.preload();
      loadsClient = false;
    },
    delivery: (delivery) => deliveries.attempt(delivery),
  });
  const { componentsDir, packagesDir } = config;
  const { packageFolders: outside, bundleStep, bundles } = bundling;
  const bundler = createBundler({ packagesDir, outside, bundleStep, cache: bundles });
  const components = createComponents({ bundler, componentsDir, packagesDir, runner });
  const changes = new SourceChanges({ store, wake });
  const warm = warmer(runner, { runsHere: config.roles.has('run') });
  const changing = { store, clock, ids, runner, propStores, wake };
  const lastHooks = new LastHooks({ ...changing, ...urls, log: privacy.logging(log) });
  const sourceDeps = { ...changing, random, components, waiters, emit, changes, lastHooks, warm };
  const acts = createActions({
    ...sourceDeps,
    ...urls,
    metrics,
    shown,
    newSecret,
    newSigningKey,
    readyRuns,
    accountTokens,
    probe: privacy.probing((delivery) => deliveries.probe(delivery)),
    probeChannel: privacy.probingChannel((to, made) => deliveries.probeBy((signal) => sendTo(to, made, signal))),
    reasonAgainst: (target) => reasonOf(surroundings.addresses.judgeUrl(target)),
    releaseClaimed: (webhookId) => deliveries.releaseClaimed(webhookId),
    ...{ maxOwners: maxOwnersOf(config), ownerGraceDays: config.ownerGraceDays },
  });
  const periodic = config.roles.has('run')
    ? [new Janitor({ ...shared, ...acts, ids, removeFiles }), new LedgerHours(shared)]
    : [new OwnerFiles({ ...shared, removeFiles })];
  // Only nodes that take calls or run code describe and run what was deployed.
  const isRepairing = config.roles.has('api') || config.roles.has('run');
  const repairs = isRepairing ? new SourceRepairs({ ...sourceDeps, ...loopPorts, cancelRun: acts.cancelRun }) : null;
  const deployer = createFileDeployer({ store, clock, ids, runner, workflows: acts, readFile: fileInput });
  const upgrade = createGlobalErrorUpgrade({ store, clock, ids, log, runner });
  const files = buildFolder({ ...surroundings, outage, emit, clock }, deployer, bundling);
  const actions = {
    ...acts,
    ...privacy.actions,
    ...{ listComponents: components.listComponents, getComponent: components.getComponent },
    ...watches,
    ...createFileUploads({ deployer, getWorkflow: acts.getWorkflow, bundle: components.bundle }),
    ...createSourceFiles({ store, runner, sources: acts }),
  };
  const loops = { nodes, quotas, repairs, answers, runs, lateFailures, deliveries, operations };
  const stopWaits = new StopWaits();
  const others = { scheduler, periodic, counters, files, streams, upgrade, outage, lineageIn, stopWaits };
  return { store, shown, slots, runner, bundling, metrics, poster, mailer, tracing, ...loops, ...others, actions };
}

/** Starts everything. Rejects with `StoreUnavailable` when another process uses the data dir, or the database is unreachable. */
export async function startService(config: Config, ports: Ports): Promise<Service> {
  const { random, log, isPolling, shared } = ports;
  await prepareMachine(config, log);
  let listensAt: OwnPorts = { api: null, metrics: null };
  const judges = createJudges(config, () => listensAt);
  const store = await openStore(config, ports);
  const { clock } = store;
  const ids = createIds(clock, random);
  let [url, metricsUrl]: [string, string | null] = ['', null];
  let [isLeaving, isDraining] = [false, false];
  const urls = createUrls(config, () => url);
  let parts: Parts;
  try {
    const spans = await openSpansOf(config, log);
    parts = buildParts({ config, store, clock, random, ids, log, isPolling, shared, urls, spans, ...judges });
  } catch (error) {
    await store.close();
    throw error;
  }
  const { nodes, slots, actions, metrics, streams, quotas, bundling, outage } = parts;
  nodes.start();
  const { maxBodyBytes, maxConnections, maxConnectionsPerAddress } = config;
  const isApi = config.roles.has('api');
  const [signInLinks, dashboard] = [new SignInLinks(), isApi ? openDashboard() : null];
  const base = {
    ...{ store: parts.shown, clock, ids, log, urls, actions, metrics, streams, quotas, tracing: parts.tracing },
    installation: { settings: config.shown, checkTarget: createTargetCheck(config, () => listensAt) },
    ...{ signInLinks, dashboard, isApi, maxBodyBytes, lineageIn: parts.lineageIn },
    canBundle: () => bundling.problem() === null,
    ...{ leaving: () => isLeaving, draining: () => isDraining },
    ...{ storageFailed: (error: Error) => outage.failed(error, 'requests') },
  };
  const http = await createHttpServer(base, { maxConnections, maxConnectionsPerAddress });

  let first: FirstOwner;
  try {
    if (!shared?.isIsolationTried) await tryIsolation(config, parts.runner);
    first = await ensureFirstOwner({ store, actions, config, ids, clock });
    // Leases of dead processes first, so that no newer row overtakes theirs.
    await nodes.rescue();
    await parts.repairs?.take();
    await quotas.read();
    await startFiles(parts);
    await actions.excuseStop();
    ({ url, metricsUrl, ports: listensAt } = await listen(http, config));
  } catch (error) {
    await stopParts(parts, http, 0);
    throw error;
  }
  slots.open();
  startParts(parts, config);
  await warnAtStart(config, ports.log, { store, url });
  const signInUrl = dashboard && signInLinks.create(first.keyHash, { url, token: ids.secret(), nowMs: clock.nowMs() });
  const running = { pid: process.pid, url };
  const runningFile = dataPaths(config.dataDir).running;
  if (isApi) await writeRunning(runningFile, running);

  const drain = (accepts = false): void => {
    isLeaving = true;
    if (accepts) return;
    isDraining = true;
    // Readers are disconnected, and connect again to another node.
    void streams.stop();
  };
  let stopping: Promise<void> | undefined;
  const stop = (graceMs: number, withinMs?: number): Promise<void> => {
    drain();
    const end = (): Promise<void> => parts.stopWaits.within(stopParts(parts, http, graceMs), { withinMs, log });
    stopping ??= end().then(() => removeRunning(runningFile, running));
    return stopping;
  };
  return { url, metricsUrl, publicUrl: urls.publicUrl(), first, signInUrl, drain, stop };
}

/** Deploys the folder before the server accepts calls, so that its workflows exist from the first request on. */
async function startFiles({ files }: Parts): Promise<void> {
  await files?.start().catch((error: unknown) => {
    throw new ConfigError(`ERRAND_WORKFLOWS_DIR: ${(error as Error).message}`);
  });
}

/** Starts the parts of this process's roles. Schedules, digests and retention belong to `run`, operations to `run` and `deliver`. */
function startParts(parts: Parts, { roles, databaseUrl }: Config): void {
  const { repairs, runs, deliveries, operations, scheduler, periodic, counters, answers, streams, quotas } = parts;
  repairs?.start();
  quotas.start();
  counters.start();
  if (roles.has('run')) {
    runs.start();
    scheduler.start();
  }
  for (const part of periodic) part.start();
  if (roles.has('deliver')) deliveries.start();
  // A step follows the end of a run or of a delivery: it is made where that was, or only at the next poll.
  if (roles.has('run') || roles.has('deliver')) operations.start();
  if (roles.has('api')) {
    streams.start();
    parts.upgrade.start();
  }
  if (databaseUrl !== null) answers.start();
}

/**
 * Stops all parts in order: no new claims; runs end and their ends are written, and until then calls get 503; no more connections;
 * deliveries are sent or released; callers here are answered; until then this node beats; the store is last: all write to it.
 */
async function stopParts(parts: Parts, http: HttpServer, graceMs: number): Promise<void> {
  const { operations, scheduler, counters, quotas, answers, stopWaits: waits } = parts;
  parts.slots.close();
  const early = { streams: parts.streams.stop(), files: parts.files?.stop(), upgrade: parts.upgrade.stop() };
  const loops = [...parts.periodic, scheduler, operations, counters, quotas].map((loop) => loop.stop());
  await waits.for({ loops: Promise.all(loops), repairs: parts.repairs?.stop() });
  await waits.for({ code: parts.runner.stop(graceMs) });
  await waits.for(early);
  parts.bundling.stop();
  await waits.for({ runs: parts.runs.stop(graceMs) });
  await waits.for({ lateFailures: parts.lateFailures.stop() });
  answers.leave();
  const requests = http.stop();
  await waits.for({ deliveries: parts.deliveries.stop(graceMs), requests });
  await waits.for({ answers: answers.stop() });
  await Promise.all([parts.poster.close(), parts.mailer.close()]);
  await waits.for({ nodes: parts.nodes.stop() });
  parts.outage.stop();
  await waits.for({ store: parts.store.close() });
  await parts.tracing?.stop();
}
