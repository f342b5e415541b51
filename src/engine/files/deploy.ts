// Deploys a bundled workflow file: its workflow in the store is created, changed, left unchanged, or disabled when the file
// is gone. Several nodes may do so at once (identity.ts).

import { type FileMark, isSent, pathOfKey, withMark, withoutMark } from '../../domain/files/file-mark.ts';
import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WholeWorkflow, WorkflowInput } from '../../domain/requests.ts';
import { DEFAULT_SETTINGS, type Deployment, type Step } from '../../domain/resource.ts';
import type { Clock, Ids } from '../../ports.ts';
import { stepBundles } from '../../runner/bundling/bundle-file.ts';
import type { CodeProblem } from '../../runner/bundling/bundle-options.ts';
import type { DescribeResult, Runner } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import { StoreUnavailable } from '../../store/contract/unavailable.ts';
import { unstoredDeployment } from '../components/unstored-deployment.ts';
import { stepIdOf } from '../resources/step-ids.ts';
import type { NamedInput, Workflows } from '../resources/workflows.ts';
import { digestOf, markOf, mayBeFiles, nextDeploymentId, remarked, workflowIdOf } from './identity.ts';
import { refuseOtherProject, refuseStranger, refuseTwin } from './twins.ts';

export interface FileDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly runner: Pick<Runner, 'describe'>;
  readonly workflows: Pick<Workflows, 'createWorkflow' | 'updateWorkflow'>;
  /** Checks a file's own description like a request. Throws `Refusal`. */
  readonly readFile: (described: unknown) => WorkflowInput;
}

export interface FileCode {
  readonly key: string;
  /** Whose file it is; null: as before. */
  readonly project: string | null;
  /** As its author wrote it. */
  readonly source: string;
  readonly bundle: string;
  readonly sourceMap: string;
  /** Environment of the folder; the file's own takes precedence. */
  readonly env: Readonly<Record<string, string>>;
  /** No new workflow is made with a name that another active one has. */
  readonly hasUniqueName?: boolean;
}

export type DeployedFile =
  | {
      readonly kind: 'made' | 'changed' | 'same';
      readonly workflowId: string;
      readonly deploymentId: string;
      readonly name: string;
    }
  /** `refusal`: the file loads, but its settings are refused. Null: the file could not be loaded. */
  | { readonly kind: 'refused'; readonly problem: CodeProblem; readonly refusal: Refusal | null };

const TRIES = 3;
const PAGE = 100;

export type FileDeployer = ReturnType<typeof createFileDeployer>;

export function createFileDeployer(deps: FileDeps) {
  const { store } = deps;

  /** Returns the keys of the files that the owner's workflows were deployed from, without removed files. */
  async function listFiles(ownerId: string): Promise<string[]> {
    const keys: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.listWorkflows({ ownerId }, { limit: PAGE, after });
      for (const { id, deploymentId } of page.items) {
        if (!mayBeFiles(id, ownerId)) continue;
        const deployment = await store.getDeployment(ownerId, deploymentId);
        const mark = deployment ? markOf(deployment) : null;
        if (mark?.state === 'deployed' && workflowIdOf(ownerId, mark.key) === id) keys.push(mark.key);
      }
      after = page.items.length < PAGE ? undefined : page.items.at(-1)?.id;
    } while (after !== undefined);
    return keys;
  }

  /** Returns problems of the file as a value. Rejects when storage fails. */
  async function deployFile(ownerId: string, file: FileCode): Promise<DeployedFile> {
    return (await deployIf(ownerId, file, async () => true)) as DeployedFile;
  }

  /** Deploys a file that may change meanwhile. `isStill` is asked before anything is written; null: it said no. */
  async function deployIf(
    ownerId: string,
    file: FileCode,
    isStill: () => Promise<boolean>,
  ): Promise<DeployedFile | null> {
    const digest = digestOf([file.bundle, file.sourceMap, JSON.stringify(file.env)]);
    return againIfTaken(async () => {
      const former = await find(deps, ownerId, file.key);
      const before = former && markOf(former.deployment);
      const project = file.project ?? before?.project ?? null;
      if (before?.state === 'deployed') refuseOtherProject(before, project);
      const mark: FileMark = { key: file.key, state: 'deployed', project, digest };
      if (former && isSame(former, mark)) return deployedFile('same', former);
      try {
        const input = await describe(deps, { ownerId, file, former });
        if (!(await isStill())) return null;
        if (former && before?.state === 'deployed' && isSent(file.key)) {
          refuseStranger({ ...standing(former, file.key, before.project), asked: file.project, called: input.name });
        }
        const isUnique = file.hasUniqueName === true && former === null;
        const onlyNamed = await refuseTwin(store, ownerId, { ...mark, name: input.name, isUnique });
        return await write(deps, { ownerId, file, mark, former, input: { ...input, onlyNamed } });
      } catch (error) {
        if (!(error instanceof Refused || error instanceof Refusal)) throw error;
        const problem = problemOf(error, file.key);
        return { kind: 'refused', problem, refusal: error instanceof Refusal ? error : null };
      }
    });
  }

  /** Returns false when no workflow was enabled. The code stays, so that waiting runs can continue. */
  async function removeFile(ownerId: string, key: string): Promise<boolean> {
    return againIfTaken(async () => {
      const former = await find(deps, ownerId, key);
      const mark = former ? markOf(former.deployment) : null;
      if (!former || mark?.state !== 'deployed') return false;
      const removed: FileMark = { ...mark, state: 'removed' };
      const [first, ...others] = former.deployment.steps as [Step, ...Step[]];
      const steps = [{ ...first, code: remarked(first.code, removed) }, ...others];
      const deployment = following(deps, former, { mark: removed, steps });
      await deps.workflows.updateWorkflow(ownerId, former.workflow.id, { active: false, ready: deployment });
      return true;
    });
  }

  return { listFiles, deployFile, deployIf, removeFile };
}

class Refused extends Error {
  readonly frames: string;

  constructor({ message, stack }: Extract<DescribeResult, { ok: false }>) {
    super(message);
    this.frames = stack;
  }
}

interface FormerDeployment extends Pick<WholeWorkflow, 'workflow' | 'deployment'> {
  readonly newest: Deployment;
}

interface FileDeployment {
  readonly ownerId: string;
  readonly file: FileCode;
  readonly former: FormerDeployment | null;
}

/**
 * Retries a refused write: another node may have written the same ids between the read and the write. The store refuses
 * them like any duplicate, without a separate code, so every refusal is read again and retried.
 */
async function againIfTaken<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === TRIES || error instanceof StoreUnavailable || error instanceof Refusal) throw error;
    }
  }
}

/** Places the problem at the first frame, if any. */
function problemOf(error: Refused | Refusal, key: string): CodeProblem {
  const frames = error instanceof Refused ? error.frames : '';
  const [, file = key, line = 1, column = 1] = /([^\s()]+):(\d+):(\d+)\)?$/m.exec(frames) ?? [];
  return { file, line: Number(line), column: Number(column), text: error.message };
}

/** Reads the newest deployment first: a node that writes between the two reads takes the id that would be used here. */
async function find({ store }: FileDeps, ownerId: string, key: string): Promise<FormerDeployment | null> {
  const id = workflowIdOf(ownerId, key);
  const [newest] = (await store.listDeployments(ownerId, id, { limit: 1 })).items;
  const workflow = await store.getWorkflow(ownerId, id);
  const deployment = workflow && (await store.getDeployment(ownerId, workflow.deploymentId));
  return workflow && deployment ? { workflow, deployment, newest: newest ?? deployment } : null;
}

function isSame({ deployment }: FormerDeployment, { state, project, digest }: FileMark): boolean {
  const mark = markOf(deployment);
  return mark?.state === state && mark.project === project && mark.digest === digest;
}

/** Returns the workflow that stands at a path, as it is compared with a file that is sent to the same path. */
function standing({ workflow, deployment }: FormerDeployment, key: string, project: string | null) {
  const source = withoutMark(deployment.steps[0]?.code ?? '');
  return { path: pathOfKey(key), id: workflow.id, name: workflow.name, source, project };
}

function deployedFile(
  kind: 'made' | 'changed' | 'same',
  { workflow, deployment }: Pick<WholeWorkflow, 'workflow' | 'deployment'>,
): DeployedFile {
  return { kind, workflowId: workflow.id, deploymentId: deployment.id, name: workflow.name };
}

/** Loads the file in a process of its own, with its later environment. */
async function describe(deps: FileDeps, { ownerId, file, former }: FileDeployment): Promise<WorkflowInput> {
  const { key, bundle, sourceMap, env } = file;
  const runnableId = workflowIdOf(ownerId, key);
  const deployment = unstoredDeployment({ ownerId, runnableId, namespace: 'workflow', bundle, sourceMap });
  const described = await deps.runner.describe(deployment, { ...former?.workflow.settings.env, ...env });
  if (!described.ok) throw new Refused(described);
  return deps.readFile(described.shape.workflow);
}

async function write(
  deps: FileDeps,
  { ownerId, file, mark, former, input }: FileDeployment & { mark: FileMark; input: NamedInput },
): Promise<DeployedFile> {
  const env = { ...former?.workflow.settings.env, ...file.env, ...input.settings?.env };
  const asked = { ...input, steps: undefined, triggers: input.triggers ?? [] };
  // Settings removed from the file return to their defaults.
  const all = { ...asked, settings: { ...DEFAULT_SETTINGS, ...input.settings, env } };
  const namespaces = (input.steps ?? []).map(({ namespace }) => namespace);
  const runnableId = workflowIdOf(ownerId, file.key);
  const steps = stepsOf({ runnableId, namespaces, file, mark, previous: former?.deployment ?? null });
  if (former) {
    const ready = following(deps, former, { mark, steps });
    // A workflow disabled over the API stays disabled; one disabled because its file was gone is enabled again with the file.
    const isBack = markOf(former.deployment)?.state === 'removed';
    const whole = { ...all, ready, ...(isBack ? { active: true } : {}) };
    return deployedFile('changed', await deps.workflows.updateWorkflow(ownerId, former.workflow.id, whole));
  }
  const id = deps.ids.next(PREFIX.deployment);
  const ready = { id, ownerId, runnableId, steps, createdAtMs: deps.clock.nowMs() };
  return deployedFile('made', await deps.workflows.createWorkflow(ownerId, { ...all, ready }));
}

interface Stepping {
  readonly runnableId: string;
  readonly namespaces: readonly string[];
  readonly file: FileCode;
  readonly mark: FileMark;
  readonly previous: Deployment | null;
}

function stepsOf({ runnableId, namespaces, file, mark, previous }: Stepping): Step[] {
  return stepBundles(namespaces, file).map((step, i): Step => {
    const known = previous?.steps.find(({ namespace }) => namespace === step.namespace);
    const elsewhere = `// Step ${step.namespace} of ${JSON.stringify(file.key)}: see step ${namespaces[0]}\n`;
    return {
      ...step,
      id: known?.id ?? stepIdOf(runnableId, step.namespace),
      code: i === 0 ? withMark(mark, file.source) : elsewhere,
    };
  });
}

function following(
  { clock }: FileDeps,
  { workflow, newest }: FormerDeployment,
  { mark, steps }: { mark: FileMark; steps: readonly Step[] },
): Deployment {
  const { ownerId, id: runnableId } = workflow;
  return { id: nextDeploymentId(newest, mark), ownerId, runnableId, steps, createdAtMs: clock.nowMs() };
}
