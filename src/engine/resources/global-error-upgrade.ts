// Gives global error workflows the code that new owners begin with, if their owner has not changed it: the code is, byte for byte,
// one that owners once began with. One that was changed stays as it is, and so does a workflow that an owner has named instead.

import { hash } from 'node:crypto';
import type { Deployment, Owner } from '../../domain/resource.ts';
import type { Clock, Ids, Log } from '../../ports.ts';
import type { Runner } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import { makeDeployment } from './bundle.ts';
import { GLOBAL_ERROR_CODE } from './global-error-code.ts';
import { listOwnTriggers, partsOf } from './triggers.ts';

/** SHA-256 of all codes that owners began with before this one. */
const FORMER_CODES: ReadonlySet<string> = new Set([
  '076d4b5f4c66cbaa4dd1ea34c845cb0c75ddf18e65597b550755a90ff97d11f5',
  'aaab1d55a1213d362a39366fa96ac3107e5839fd132a42d20233f60b9aaeac50',
  '4e902beec33c7eabb9ff89c371bdc817a67a8a00b5c842050e67794534fb4234',
  'a581cb4de921dd3971745981c2347cbc62c9338583f1c2dd7e7331e8096e1bbf',
  'e32382c1a4cc6c74db399668e77cce8afe5aff6b26842fdb14b9ef26250e1851',
  'e3072b0c012d00c4ae5f52519595bc23fa1db6ab659904a42d89918d4a9b103f',
  '0eb9be9d7c033fce590712fe0a0b894a3e866bf6d18a533ac3064a2ef0c975ca',
  '1b072a6c9a73d39144a629cbd1cd453113b7eb0feff596631267ff815add1f24',
  '76facd7bf9553f4b300c7e2b07f570cca3ecf2a3dc7e17a4aa48aaf10a28241b',
  'fb67f23e7448bd20a6f2a66de6d5a95eaf9423c2b1858358d0e53c42741dd030',
  '58c642a360dd94aa35bd62a54053e0794ec72bff35542cbcd1d3dfe0bb0a7ed3',
  'db963709e20dcad0fdeae8a1a6ce43d64ce8033ef4ebe9ae2bbc15992216fb0e',
  '2a44f2b02d019ab5fd3b94d3905189093af7aa542cd3154f76249668f3a24311',
  'ef32d96c77c20ea35e2119e0b9fa99ac3b8d331bb5e9bb9196262048c186cf53',
  'fb732c41bd1946c23e74515d922416cdbf0cfc5ade48bf039ab07150a3753462',
  '6b9976aca1c3063f3e0489a403dec8c005b45810b93cde6c74d56e65dc02b239',
  '10b2717dcefa61efcb8b78e59d435f945172cd794ebdec31e9167532f7824d7b',
  'ff87362bcdbec6b24483f58c98c807486c02616413960cfbf814457b02772809',
  '27ae26585ee47adb6913c6bb00ebcf5c2c0782a1bfc222c01ca66d0c0d175888',
]);

export interface UpgradeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly runner: Pick<Runner, 'retire'>;
}

/** Upgrades beside what else the process does. `stop` may be called twice, or before `start`. */
export function createGlobalErrorUpgrade(deps: UpgradeDeps) {
  const stopping = new AbortController();
  let upgrading: Promise<unknown> = Promise.resolve();
  return {
    start: (): void => {
      upgrading = upgradeGlobalErrors(deps, { signal: stopping.signal }).catch((error: unknown) => {
        // Nothing depends on it, and the next start goes on with it.
        deps.log.warn({ err: error }, 'global error workflows could not all be upgraded');
      });
    },
    stop: async (): Promise<void> => {
      stopping.abort();
      await upgrading;
    },
  };
}

/** Upgrades one owner after the other, until `signal` is aborted. Returns how many were upgraded. */
async function upgradeGlobalErrors(
  deps: UpgradeDeps,
  { signal, isFormer = isFormerCode }: { signal: AbortSignal; isFormer?: (code: string) => boolean },
): Promise<number> {
  let upgraded = 0;
  // Bundled once: it is the same code for all.
  let ready: { bundle: string; sourceMap: string } | undefined;
  for (const owner of await deps.store.listOwners()) {
    if (signal.aborted) break;
    const former = await formerOf(deps, owner, isFormer);
    if (!former) continue;
    const { ownerId, runnableId: id } = former;
    const input = { namespace: 'notify', code: GLOBAL_ERROR_CODE, ...(ready ? { ready } : {}) };
    const deployment = await makeDeployment(deps, { ownerId, id, previous: former }, [input]);
    const [step] = deployment.steps;
    if (step) ready = { bundle: step.bundle, sourceMap: step.sourceMap };
    if (await replace(deps, former, deployment)) upgraded++;
  }
  if (upgraded > 0) deps.log.info({ owners: upgraded }, 'global error workflows with unchanged code were upgraded');
  return upgraded;
}

export function isFormerCode(code: string): boolean {
  return FORMER_CODES.has(hash('sha256', code));
}

/** Returns the active deployment of an owner's global error workflow, if it is to be upgraded. */
async function formerOf(
  { store }: UpgradeDeps,
  { id: ownerId, globalErrorWorkflowId }: Owner,
  isFormer: (code: string) => boolean,
): Promise<Deployment | undefined> {
  const workflow = globalErrorWorkflowId === null ? undefined : await store.getWorkflow(ownerId, globalErrorWorkflowId);
  const deployment = workflow && (await store.getDeployment(ownerId, workflow.deploymentId));
  const [step, second] = deployment?.steps ?? [];
  return step?.namespace === 'notify' && !second && isFormer(step.code) ? deployment : undefined;
}

/** Reads the workflow again: its owner, or another process, may have deployed while the code was bundled. */
async function replace({ store, clock, runner }: UpgradeDeps, former: Deployment, to: Deployment): Promise<boolean> {
  const { ownerId, runnableId } = former;
  const before = await store.getWorkflow(ownerId, runnableId);
  if (before?.deploymentId !== former.id) return false;
  const workflow = { ...before, deploymentId: to.id, updatedAtMs: clock.nowMs() };
  const triggers = await listOwnTriggers(store, ownerId, runnableId);
  const write = { workflow, deployment: to, ...partsOf(triggers), ifUpdatedAtMs: before.updatedAtMs };
  if (!(await store.updateWorkflow(write))) return false;
  runner.retire(former.id);
  return true;
}
