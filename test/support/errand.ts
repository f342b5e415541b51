// A whole Errand inside the test's process, on a store of its own, with a clock that the test may set forward (and the
// database's with it).

import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, Log } from '../../src/ports.ts';
import { type BundlingParts, createBundling, type SharedParts } from '../../src/server/code-bundling.ts';
import { type Config, readConfig } from '../../src/server/config.ts';
import { type Service, startService } from '../../src/server/service.ts';
import { type Client, createClient } from './client.ts';
import { databaseFor } from './database.ts';
import { createErrandOn, type ErrandActions } from './flows.ts';

export const API_KEY = 'test-key-test-key-test-key';
const STOP_GRACE_MS = 5000;

export interface Errand extends ErrandActions, AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  /** What it was started with, for a command line on the same store. */
  readonly settings: Readonly<Record<string, string>>;
  readonly client: Client;
  /** Sets the clock forward; what became due shows at the next poll. */
  forward(ms: number): void;
  /** Stops in order, and starts again on the same store. */
  restart(env?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
  /** Mails in the outbox folder, oldest first, as text. */
  outbox(): Promise<string[]>;
  /** Lines of the server's log. */
  readonly logged: { level: string; name: string; fields: object }[];
}

/** For services that share a database. Each clock that is not given is the one that `forward` sets. */
export interface ErrandPorts {
  /** The machine's own. */
  readonly clock?: Clock;
  /** Stands in for the database's; null: it goes by its own. */
  readonly databaseClock?: Clock | null;
  /** False: loops go by wake-ups and by what they know to be due. */
  readonly isPolling?: boolean;
}

/** Starts with ERRAND_* settings; loopback receivers are allowed unless told otherwise. */
export async function startErrand(env: Record<string, string> = {}, ports: ErrandPorts = {}): Promise<Errand> {
  const dataDir = await mkdtemp(join(tmpdir(), 'errand-test-'));
  const database = await databaseFor(env, dataDir);
  const logged: Errand['logged'] = [];
  let offsetMs = 0;
  const ownClock = { nowMs: () => Date.now() + offsetMs };
  const { clock = ownClock, databaseClock = ownClock, isPolling } = ports;
  const random = { bytes: (count: number) => randomBytes(count), fraction: () => Math.random() };
  const keep = (level: string) => (fields: object, name: string) => void logged.push({ level, name, fields });
  const log: Log = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
  let settings: Record<string, string> = {};
  let release = (): void => undefined;
  const start = async (more: Record<string, string> = {}): Promise<Service> => {
    const all = {
      ERRAND_PORT: '0',
      // As on a laptop. What another user changes is tested with the isolation, and with real processes.
      ERRAND_CODE_USER: 'server',
      ERRAND_DATA_DIR: dataDir,
      ERRAND_API_KEY: API_KEY,
      ERRAND_MAIL_TO: 'owner@example.com',
      ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
      ERRAND_OWNERS_WITHOUT_JAIL: '1000',
      ...database.settings,
      ...env,
      ...more,
    };
    settings = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    const config = readConfig(settings);
    const shared = shareBundling(config, settings);
    release = shared.release;
    const given = { clock, random, log, databaseClock: databaseClock ?? undefined, isPolling };
    try {
      const service = await startService(config, { ...given, shared: shared.parts });
      isIsolationTried ||= shared.parts !== undefined;
      return service;
    } catch (error) {
      release();
      throw error;
    }
  };
  let service = await start();
  let client = createClient(service.url, env.ERRAND_API_KEY ?? API_KEY);
  const stop = (): Promise<void> => service.stop(STOP_GRACE_MS).finally(() => release());
  return {
    get url() {
      return service.url;
    },
    get client() {
      return client;
    },
    get settings() {
      return settings;
    },
    dataDir,
    logged,
    forward: (ms) => {
      offsetMs += ms;
    },
    restart: async (more) => {
      await stop();
      service = await start(more);
      client = createClient(service.url, env.ERRAND_API_KEY ?? API_KEY);
    },
    stop,
    outbox: () => readOutbox(join(dataDir, 'outbox')),
    ...createErrandOn(() => client),
    [Symbol.asyncDispose]: async () => {
      await stop();
      await database[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function readOutbox(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const mails = names.filter((name) => name.endsWith('.eml')).sort();
  const texts = mails.map((name) =>
    readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      // Of an owner who is purged meanwhile.
      if (error.code === 'ENOENT') return null;
      throw error;
    }),
  );
  return (await Promise.all(texts)).filter((text) => text !== null);
}

/** Settings that bundling and isolation go by: a server with one of them has its own. */
const OWN_BUNDLING = /PACKAGES|COMPONENTS|WORKFLOWS_DIR|ISOLATION|CODE_(?!USER$)|MEMORY|CGROUP/;
/** The next server of a file is started within it. */
const BUNDLING_IDLE_MS = 300;

const QUIET = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let bundling: BundlingParts | null = null;
let bundlingUsers = 0;
let isIsolationTried = false;
let ending: NodeJS.Timeout | undefined;

interface SharedBundling {
  /** Undefined: the server has its own. */
  readonly parts: SharedParts | undefined;
  /** Called when the server has ended; may be called twice. */
  readonly release: () => void;
}

/**
 * Returns what bundles for a server with these settings, shared with others of the process: to start it takes a second of the
 * processor, and a trial of the isolation a quarter. It ends soon after the last server that uses it.
 */
function shareBundling(config: Config, settings: Readonly<Record<string, string>>): SharedBundling {
  const isOwn = settings.ERRAND_CODE_USER !== 'server' || Object.keys(settings).some((name) => OWN_BUNDLING.test(name));
  if (isOwn) return { parts: undefined, release: () => undefined };
  clearTimeout(ending);
  bundling ??= createBundling(config, QUIET);
  bundlingUsers += 1;
  let isReleased = false;
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    bundlingUsers -= 1;
    if (bundlingUsers === 0) ending = setTimeout(endBundling, BUNDLING_IDLE_MS);
  };
  return { parts: { bundling: { ...bundling, stop: () => undefined }, isIsolationTried }, release };
}

function endBundling(): void {
  if (bundlingUsers > 0) return;
  bundling?.stop();
  bundling = null;
}
