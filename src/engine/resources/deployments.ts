// A cache of deployments, which are immutable. Bounded by the size of their code, which sources of one component share, and
// which is cached once. Each entry includes the key of its runs' resume addresses.

import { createHash } from 'node:crypto';
import type { Deployment, Runnable, Step } from '../../domain/resource.ts';
import { resumeKeyOf } from '../../runner/resume-token.ts';
import type { Store } from '../../store/contract/store.ts';

export interface KeptDeployment {
  readonly deployment: Deployment;
  /** Hex. */
  readonly resumeKey: string;
}

type Code = Pick<Step, 'code' | 'bundle' | 'sourceMap'>;

interface KeptCode {
  readonly code: Code;
  readonly chars: number;
  /** Number of steps with this code. */
  users: number;
}

interface Entry extends KeptDeployment {
  /** Hashes of its steps' code. */
  readonly hashes: readonly string[];
}

const MAX_KEPT = 20_000;
const MAX_CODE_CHARS = 128 * 1024 * 1024;

export class Deployments {
  readonly #store: Pick<Store, 'getDeployment' | 'deriveKey'>;
  readonly #maxCodeChars: number;
  /** By id; the most recently used is last. */
  readonly #kept = new Map<string, Entry>();
  /** By hash. */
  readonly #codes = new Map<string, KeptCode>();
  #chars = 0;

  constructor(store: Pick<Store, 'getDeployment' | 'deriveKey'>, maxCodeChars = MAX_CODE_CHARS) {
    this.#store = store;
    this.#maxCodeChars = maxCodeChars;
  }

  /** Returns the deployment when it is in the cache. */
  kept({ deploymentId }: Pick<Runnable, 'deploymentId'>): KeptDeployment | undefined {
    const known = this.#kept.get(deploymentId);
    if (known) {
      this.#kept.delete(deploymentId);
      this.#kept.set(deploymentId, known);
    }
    return known;
  }

  async get(runnable: Pick<Runnable, 'id' | 'ownerId' | 'deploymentId'>): Promise<KeptDeployment> {
    const { id, ownerId, deploymentId } = runnable;
    const known = this.kept(runnable);
    if (known) return known;
    const found = await this.#store.getDeployment(ownerId, deploymentId);
    if (!found) throw new Error(`deployment ${deploymentId} of ${id} is not in the store`);
    return this.#kept.get(deploymentId) ?? this.#keep(found);
  }

  #keep(found: Deployment): KeptDeployment {
    const hashes = found.steps.map(hashOf);
    const steps = found.steps.map((step, i) => ({ ...step, ...this.#shared(hashes[i] as string, step) }));
    const resumeKey = resumeKeyOf(this.#store.deriveKey('resume'), found.id);
    const entry = { deployment: { ...found, steps }, resumeKey, hashes };
    this.#kept.set(found.id, entry);
    for (const [oldest, { hashes: dropped }] of this.#kept) {
      if (this.#kept.size === 1 || (this.#kept.size <= MAX_KEPT && this.#chars <= this.#maxCodeChars)) break;
      this.#kept.delete(oldest);
      for (const hash of dropped) this.#drop(hash);
    }
    return entry;
  }

  #shared(hash: string, { code, bundle, sourceMap }: Step): Code {
    let kept = this.#codes.get(hash);
    if (kept === undefined) {
      const chars = code.length + bundle.length + sourceMap.length;
      kept = { code: { code, bundle, sourceMap }, chars, users: 0 };
      this.#codes.set(hash, kept);
      this.#chars += chars;
    }
    kept.users++;
    return kept.code;
  }

  #drop(hash: string): void {
    const kept = this.#codes.get(hash);
    if (kept === undefined || --kept.users > 0) return;
    this.#codes.delete(hash);
    this.#chars -= kept.chars;
  }
}

function hashOf({ code, bundle, sourceMap }: Step): string {
  const hash = createHash('sha256');
  for (const text of [code, bundle, sourceMap]) hash.update(`${text.length} `).update(text);
  return hash.digest('base64');
}
