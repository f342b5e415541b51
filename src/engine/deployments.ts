// Deployments are immutable, so what was read once is right for good. Bounded: they carry their code.

import type { Deployment, Runnable } from '../domain/resource.ts';
import type { Store } from '../store/store.ts';

const MAX_KEPT = 200;

export class Deployments {
  readonly #store: Store;
  readonly #kept = new Map<string, Deployment>();

  constructor(store: Store) {
    this.#store = store;
  }

  async get(runnable: Runnable): Promise<Deployment> {
    const known = this.#kept.get(runnable.deploymentId);
    if (known) return known;
    const found = await this.#store.getDeployment(runnable.ownerId, runnable.deploymentId);
    if (!found) throw new Error(`deployment ${runnable.deploymentId} of ${runnable.id} is not in the store`);
    if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    this.#kept.set(found.id, found);
    return found;
  }
}
