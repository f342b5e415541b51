// The last hook of a source whose owner is being deleted: what `activate` has registered elsewhere is to be removed there, though
// nothing begins for that owner any more. So the hook is no run of the log, where it would wait for ever: the runner executes it,
// and what it emits or writes is dropped. Its result is in the log of the first owner, which stays.

import { utf8 } from '../../domain/bytes.ts';
import type { HookEvent } from '../../domain/emission.ts';
import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WholeSource } from '../../domain/requests.ts';
import type { Owner } from '../../domain/resource.ts';
import type { Clock, Ids, Log, Wake } from '../../ports.ts';
import type { Runner } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import { propsInput } from '../components/component-props.ts';
import type { PropStores } from '../components/prop-stores.ts';
import { Deployments } from '../resources/deployments.ts';
import { answerData, dataStoresIn } from '../runs/data-requests.ts';
import { endpointsOf } from './source-run.ts';
import { described, type WrittenSource } from './source-writes.ts';

export interface LastHooksDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Redacts what code has thrown. */
  readonly log: Log;
  readonly wake: Wake;
  readonly runner: Runner;
  readonly propStores: PropStores;
  readonly endpointUrl: (key: string) => string;
}

/** How a hook ended; null: the component has none. */
type Ended = { readonly code: string; readonly thrown: string } | 'succeeded' | null;

const DONE = 200;
const FAILED = 500;

/** Thrown when the server ends before the hook has: it is to be run again. */
class HookInterrupted extends Error {
  override readonly name = 'HookInterrupted';
}

export class LastHooks {
  readonly #deps: LastHooksDeps;
  readonly #deployments: Deployments;
  /** Numbers of runs in the log are those of times, and far greater. */
  #runs = 0;

  constructor(deps: LastHooksDeps) {
    this.#deps = deps;
    this.#deployments = new Deployments(deps.store);
  }

  /** Runs `deactivate` of a source whose owner is being deleted. Returns false for another one, whose hooks are runs. */
  async run(whole: WholeSource): Promise<boolean> {
    const { store } = this.#deps;
    const owner = await store.getOwner(whole.source.ownerId);
    if (!owner?.deletion) return false;
    const ended = await this.#end(whole);
    if (ended !== null) await this.#tell(owner, whole, ended);
    return true;
  }

  async #end(whole: WholeSource): Promise<Ended> {
    try {
      const source = await described(this.#deps, whole);
      return source.shape.hooks.includes('deactivate') ? await this.#execute(source) : null;
    } catch (error) {
      // Its code cannot be loaded any more.
      if (error instanceof Refusal) return { code: error.code, thrown: error.message };
      throw error;
    }
  }

  async #execute({ source }: WrittenSource): Promise<Ended> {
    const { store, clock, runner, propStores, endpointUrl } = this.#deps;
    const { ownerId, id: sourceId, deploymentId, configuredProps, additionalProps, settings } = source;
    const [{ deployment, resumeKey }, endpoints, db, props] = await Promise.all([
      this.#deployments.get(source),
      endpointsOf(store, source, endpointUrl),
      store.readSourceDb(sourceId),
      propsInput(propStores, ownerId, { configured: configuredProps, additional: additionalProps }),
    ]);
    const { end } = await runner.run({
      run: ++this.#runs,
      deployment,
      timeoutMs: LIMITS.hooksTimeoutMs,
      memoryMb: settings.memoryMb,
      env: settings.env,
      // One that crashes is judged by itself.
      alone: true,
      attempt: 1,
      event: utf8(JSON.stringify({ hooks: ['deactivate'] } satisfies HookEvent)),
      context: {
        ...{ ts: new Date(clock.nowMs()).toISOString(), deployment_id: deploymentId, source_type: 'API' },
        ...{ owner_id: ownerId, source_id: sourceId, attempt: 1 },
      },
      source: { ...props, sourceId, call: ['deactivate'], endpoints, db },
      earlier: null,
      resumeKey,
      onAnswer: () => undefined,
      onChildRequest: answerData(this.#deps, { ownerId, storeIds: () => dataStoresIn([configuredProps]) }),
    });
    if (end.kind === 'failed') return { code: end.fault.code, thrown: end.fault.msg };
    if (end.kind === 'succeeded') return 'succeeded';
    throw new HookInterrupted(`hook deactivate of ${sourceId} was interrupted`);
  }

  async #tell(owner: Owner, { source }: WholeSource, ended: NonNullable<Ended>): Promise<void> {
    const { store, clock, ids, log } = this.#deps;
    const first = (await store.listOwners()).map(({ id }) => id).toSorted()[0];
    if (first !== undefined) {
      await store.writeAudit([
        {
          id: ids.next(PREFIX.audit),
          ownerId: first,
          keyId: null,
          keyLabel: 'the deletion of the owner',
          byOwnerId: null,
          operation: 'deactivateSource',
          targetId: source.id,
          method: 'PURGE',
          path: `${owner.name}: ${source.name}`.slice(0, LIMITS.auditPathChars),
          clientIp: '',
          requestId: '',
          status: ended === 'succeeded' ? DONE : FAILED,
          count: 1,
          atMs: clock.nowMs(),
        },
      ]);
    }
    if (ended === 'succeeded') return;
    const fields = { owner: owner.id, source: source.id, name: source.name, ...ended };
    log.warn(fields, 'hook deactivate of a source threw while its owner was deleted: it may be registered elsewhere');
  }
}
