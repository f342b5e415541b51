// Gives each source that shares a process its own instance of the code. Sources of one owner with the same code share a
// process; each instance has its own module state, environment (PD_COMPONENT is the source's id) and folder for
// temporary files. Globals and changes to prototypes are shared. An instance lives as long as its process: Node unloads
// no module.

import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { join } from 'node:path';
import type { LoadedStep } from '../active-run.ts';
import { loadSteps } from '../load.ts';
import type { StepFile } from '../protocol.ts';

/** Code that failed to load fails its source's runs for this time before it is loaded again. */
const BROKEN_MS = 10_000;

type Environment = Record<string, string | undefined>;

interface Instance {
  readonly environment: Environment;
  /** Rejects with LoadError. */
  readonly steps: Promise<readonly LoadedStep[]>;
  brokenAtMs: number | null;
}

const performanceMs = performance.now.bind(performance);
/** The environment of the source whose code is running, set also for work that a run left behind. */
const environmentOf = new AsyncLocalStorage<Environment>();

export class Instances {
  readonly #files: readonly StepFile[];
  /** By the source's id. */
  readonly #known = new Map<string, Instance>();
  #loads = 0;

  /** Loads the code. The process's own environment must be complete before. */
  constructor(files: readonly StepFile[]) {
    this.#files = files;
    shareEnvironment();
  }

  /** Calls `then` in the source's environment, once its code is loaded. Rejects with LoadError. */
  async run(sourceId: string, then: (steps: readonly LoadedStep[]) => Promise<void>): Promise<void> {
    const instance = this.#instance(sourceId);
    const steps = await instance.steps;
    await environmentOf.run(instance.environment, then, steps);
  }

  #instance(sourceId: string): Instance {
    const known = this.#known.get(sourceId);
    if (known && (known.brokenAtMs === null || performanceMs() - known.brokenAtMs < BROKEN_MS)) return known;
    // Another URL is another module. The first instance has the file's own URL, as code alone in its process has.
    const load = this.#loads++;
    const environment = environmentFor(sourceId);
    const steps = environmentOf.run(environment, loadSteps, this.#files, 'source', {
      query: load === 0 ? '' : `?${load}`,
    });
    const instance: Instance = { environment, steps, brokenAtMs: null };
    this.#known.set(sourceId, instance);
    steps.catch(() => {
      instance.brokenAtMs = performanceMs();
    });
    return instance;
  }
}

function environmentFor(sourceId: string): Environment {
  const { TMPDIR: shared } = process.env;
  const own = { ...process.env, PD_COMPONENT: sourceId };
  if (shared === undefined) return own;
  const TMPDIR = join(shared, sourceId);
  mkdirSync(TMPDIR, { recursive: true });
  return { ...own, HOME: TMPDIR, TMPDIR };
}

/** Makes `process.env` the environment of the source whose code reads it. */
function shareEnvironment(): void {
  const real = process.env;
  const now = (): Environment => environmentOf.getStore() ?? real;
  const write = (name: string | symbol, value: unknown): boolean => {
    // Node reads the time zone from it; sources of the same code agree on it.
    if (name === 'TZ') real.TZ = value as string;
    const text = `${value as string}`; // throws for a symbol, as it does in an environment of the system's
    return Reflect.defineProperty(now(), name, { value: text, enumerable: true, configurable: true, writable: true });
  };
  const shared = new Proxy(real, {
    get: (_, name) => Reflect.get(now(), name),
    set: (_, name, value) => write(name, value),
    has: (_, name) => Reflect.has(now(), name),
    deleteProperty: (_, name) => Reflect.deleteProperty(now(), name),
    ownKeys: () => Reflect.ownKeys(now()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(now(), name),
    defineProperty: (_, name, { value }) => write(name, value),
  });
  Object.defineProperty(process, 'env', { value: shared, enumerable: true, configurable: true, writable: true });
  const { tmpdir, homedir } = os; // they ask the system, not `process.env`
  ask('tmpdir', () => now().TMPDIR ?? tmpdir());
  ask('homedir', () => now().HOME ?? homedir());
  syncBuiltinESMExports(); // for `import { env } from 'node:process'`
}

function ask(name: 'tmpdir' | 'homedir', value: () => string): void {
  Object.defineProperty(os, name, { value, enumerable: true, configurable: true, writable: true });
}
