// Decides which runs share a process: those of one workflow's deployment, and those of an owner's sources with the same
// code and settings. Otherwise five thousand sources of one component that tick once a minute would start 83 processes
// a second, which is the work of five cores. Each source has its own instance of the code
// (child/component/instances.ts).

import { createHash } from 'node:crypto';
import { originOf } from '../../domain/origin.ts';
import type { Deployment } from '../../domain/resource.ts';
import type { RunOutcome } from '../../domain/run/run.ts';
import type { RunRequest } from '../runner.ts';
import { LruCache } from './lru-cache.ts';

/**
 * Sources with the same code are spread over so many processes: that uses more cores, and a blocked process stops fewer
 * sources.
 */
const PROCESSES_PER_CODE = 4;
/** Runs of sources in one process at a time: they share its memory. */
export const SOURCES_AT_ONCE = 64;
/** The part of a process's memory that instances may take. */
const INSTANCES_MEMORY = 1 / 4;
/** About twice what an instance of a few lines takes, beside a multiple of its code. */
const INSTANCE_BYTES = 32 * 1024;
const BYTES_PER_CODE_CHAR = 8;
const BYTES_PER_MB = 1024 * 1024;

/** How long a source whose run has harmed others in its process has a process of its own. */
const SEPARATE_MS = 3_600_000;
const MAX_SEPARATED = 10_000;
const HARMFUL_CODES: ReadonlySet<string> = new Set(['OutOfMemory', 'WorkerExit', 'WorkerLost']);

export type ProcessSettings = Pick<RunRequest, 'deployment' | 'memoryMb' | 'env'>;

interface EndedRun {
  readonly request: Pick<RunRequest, 'deployment'>;
  /** Its process did not answer the halt. */
  readonly isSilent: boolean;
}

export class ProcessKeys {
  readonly #hashes = new WeakMap<Deployment, string>();
  readonly #separated = new LruCache<number>({ max: MAX_SEPARATED });

  /** Returns the key of a run's process; runs with the same key share a process. */
  keyOf({ deployment, memoryMb, env }: ProcessSettings): string {
    if (!isSource(deployment) || this.#isSeparate(deployment.id)) return deployment.id;
    let code = this.#hashes.get(deployment);
    if (code === undefined) {
      const whose = isOurComponent(deployment) ? 'ours' : 'theirs'; // they reach different addresses
      code = `${deployment.ownerId} ${whose} ${hashOf(deployment)} ${shardOf(deployment.runnableId)}`;
      this.#hashes.set(deployment, code);
    }
    return `${code} ${memoryMb} ${JSON.stringify(env)}`;
  }

  /** Learns from a run's outcome: a source that harms others is separated. */
  ended({ request: { deployment }, isSilent }: EndedRun, { end }: RunOutcome): void {
    if (end.kind !== 'failed' || !isSource(deployment)) return;
    if (isSilent || HARMFUL_CODES.has(end.fault.code))
      this.#separated.set(deployment.id, performance.now() + SEPARATE_MS);
  }

  #isSeparate(deploymentId: string): boolean {
    return (this.#separated.get(deploymentId) ?? 0) > performance.now();
  }
}

export function isSource({ runnableId }: Deployment): boolean {
  return runnableId.startsWith('dc_');
}

/**
 * Returns whether the deployment is a source deployed by name from sources/; only those have that mark
 * (domain/origin.ts).
 */
export function isOurComponent(deployment: Deployment): boolean {
  const [step] = deployment.steps;
  return isSource(deployment) && step !== undefined && originOf(step.code)?.kind === 'component';
}

/** Returns how many sources of this code one process takes; at least one. */
export function sourcesPerProcess({ steps }: Deployment, memoryMb: number): number {
  const chars = steps.reduce((sum, { bundle }) => sum + bundle.length, 0);
  const each = INSTANCE_BYTES + BYTES_PER_CODE_CHAR * chars;
  return Math.max(1, Math.floor((memoryMb * BYTES_PER_MB * INSTANCES_MEMORY) / each));
}

function hashOf({ steps }: Deployment): string {
  const parts = steps.map(({ namespace, bundle, sourceMap }) => [namespace, bundle, sourceMap]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

/** Returns a source's process number: always the same one, so that the source keeps its modules' state. */
function shardOf(sourceId: string): number {
  return createHash('sha256').update(sourceId).digest().readUInt32BE() % PROCESSES_PER_CODE;
}

export function sameEnv(a: ProcessSettings['env'], b: ProcessSettings['env']): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
