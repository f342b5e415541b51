// Sources of one owner that have the same code share a process, and each has an instance of that code to itself: its own
// module state, environment (PD_COMPONENT is the source's id) and folder for temporary files. Globals, and what code puts
// into prototypes, they share. An instance lives as long as its process: a module that was imported stays.

import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { join } from 'node:path';
import type { LoadedStep } from '../active-run.ts';
import { loadSteps } from '../load.ts';
import type { StepFile } from '../protocol.ts';

/** Code that could not be loaded fails its source's runs for so long without being loaded anew. */
const BROKEN_MS = 10_000;

type Environment = Record<string, string | undefined>;

interface Instance {
  readonly environment: Environment;
  /** Rejects with LoadError. */
  readonly steps: Promise<readonly LoadedStep[]>;
  brokenAtMs: number | null;
}

const performanceMs = performance.now.bind(performance);
/** Whose code is running; set for what it has left behind, too. */
const environmentOf = new AsyncLocalStorage<Environment>();

export class Instances {
  readonly #files: readonly StepFile[];
  /** By the source's id. */
  readonly #known = new Map<string, Instance>();
  #loads = 0;

  /** The process's own environment must be complete. */
  constructor(files: readonly StepFile[]) {
    this.#files = files;
    shareEnvironment();
  }

  /** Calls `then` as the source, when its code is there. Rejects with LoadError. */
  async run(sourceId: string, then: (steps: readonly LoadedStep[]) => Promise<void>): Promise<void> {
    const instance = this.#instance(sourceId);
    const steps = await instance.steps;
    await environmentOf.run(instance.environment, then, steps);
  }

  #instance(sourceId: string): Instance {
    const known = this.#known.get(sourceId);
    if (known && (known.brokenAtMs === null || performanceMs() - known.brokenAtMs < BROKEN_MS)) return known;
    // Another address is another module. The first one has the file's own, as code that is alone in its process has.
    const load = this.#loads++;
    const environment = environmentFor(sourceId);
    const steps = environmentOf.run(environment, loadSteps, this.#files, 'source', load === 0 ? '' : `?${load}`);
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
  return { ...own, TMPDIR };
}

/** `process.env` becomes that of whose code looks at it. */
function shareEnvironment(): void {
  const real = process.env;
  const now = (): Environment => environmentOf.getStore() ?? real;
  const write = (name: string | symbol, value: unknown): boolean => {
    // The process tells the time by it; sources of the same code mean the same.
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
  const { tmpdir } = os; // it asks the system, not `process.env`
  const value = (): string => now().TMPDIR ?? tmpdir();
  Object.defineProperty(os, 'tmpdir', { value, enumerable: true, configurable: true, writable: true });
  syncBuiltinESMExports(); // for `import { env } from 'node:process'`
}
