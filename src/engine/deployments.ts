// Deployments are immutable, so what was read once is right for good. Bounded: they carry their code. With each goes the
// key to the addresses that resume its runs.

import type { Deployment, Runnable } from '../domain/resource.ts';
import { resumeKeyOf } from '../runner/child/resume-token.ts';
import type { Store } from '../store/store.ts';

export interface KeptDeployment {
  readonly deployment: Deployment;
  /** Hex. */
  readonly resumeKey: string;
}

const MAX_KEPT = 200;

export class Deployments {
  readonly #store: Store;
  readonly #kept = new Map<string, KeptDeployment>();

  constructor(store: Store) {
    this.#store = store;
  }

  async get(runnable: Runnable): Promise<KeptDeployment> {
    const known = this.#kept.get(runnable.deploymentId);
    if (known) return known;
    const found = await this.#store.getDeployment(runnable.ownerId, runnable.deploymentId);
    if (!found) throw new Error(`deployment ${runnable.deploymentId} of ${runnable.id} is not in the store`);
    if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    const made = { deployment: found, resumeKey: resumeKeyOf(this.#store.deriveKey('resume'), found.id) };
    this.#kept.set(found.id, made);
    return made;
  }
}
