// Creates an imported workflow. What only exists at the hosted original, and a person has to provide here, gets a placeholder,
// so that the workflow is there to be completed: an account without fields, an empty data store.

import { type Errand, ProblemError } from '../../client/client.ts';
import type { ImportedStep, ImportedWorkflow } from './exported.ts';

interface Created {
  readonly id: string;
  /** What the placeholders stand for. */
  readonly notes: readonly string[];
}

interface Change {
  readonly steps: readonly ImportedStep[];
  readonly note: string | null;
}

/**
 * Creates the workflow, and fills in what the server says is missing, one after the other. `stores`: the data stores that were
 * created so far, id there → id here. Throws a ProblemError when the server refuses it for another reason; then nothing is left.
 */
export async function createWithPlaceholders(
  errand: Errand,
  workflow: ImportedWorkflow,
  stores: Map<string, string>,
): Promise<Created> {
  const { name, settings } = workflow;
  let { steps } = workflow;
  const before = new Set(stores.keys());
  const notes: string[] = [];
  let ofPath: unknown = null;
  for (;;) {
    try {
      const { data } = await errand.createWorkflow({ name, steps, settings });
      return { id: data.id, notes };
    } catch (error) {
      const change = error instanceof ProblemError ? await changeFor(error, { errand, workflow, steps, stores }) : null;
      if (change === null) {
        await deleteStores(errand, stores, before);
        // What was said of the path that the notes name.
        throw isOfPath(error) ? (ofPath ?? error) : error;
      }
      steps = change.steps;
      if (change.note === null) ofPath = error;
      else notes.push(change.note);
    }
  }
}

interface Attempt {
  readonly errand: Errand;
  readonly workflow: ImportedWorkflow;
  readonly steps: readonly ImportedStep[];
  readonly stores: Map<string, string>;
}

const PATH = /^steps\[(\d+)\]\.component_path$/;

function isOfPath(error: unknown): boolean {
  return error instanceof ProblemError && error.errors.some(({ parameter }) => PATH.test(parameter));
}

/** Returns the steps as the server may take them; null: it is not known what to change. */
async function changeFor({ errors }: ProblemError, attempt: Attempt): Promise<Change | null> {
  for (const { parameter } of errors) {
    const [, index] = PATH.exec(parameter) ?? [];
    if (index !== undefined) return inTypeScript(attempt.steps, Number(index));
    const [, namespace, prop] = /^steps\.([^.]+)\.configured_props\.(.+)$/.exec(parameter) ?? [];
    if (namespace !== undefined && prop !== undefined) return await withPlaceholder(attempt, namespace, prop);
  }
  return null;
}

/** Names the step's component in TypeScript: the public registry has both languages, and the keys do not say which. */
function inTypeScript(steps: readonly ImportedStep[], index: number): Change | null {
  const path = steps[index]?.component_path;
  if (path === undefined || !path.endsWith('.mjs')) return null;
  const component_path = path.replace(/\.mjs$/, '.ts');
  return { steps: steps.map((step, i) => (i === index ? { ...step, component_path } : step)), note: null };
}

async function withPlaceholder(
  { errand, workflow, steps, stores }: Attempt,
  namespace: string,
  prop: string,
): Promise<Change | null> {
  const left = workflow.left.find((one) => one.namespace === namespace && one.prop === prop);
  const props = steps.find((step) => step.namespace === namespace)?.configured_props ?? {};
  if (left === undefined || left.kind === 'other' || Object.hasOwn(props, prop)) return null;
  const { kind, id } = left;
  const value = kind === 'account' ? { $auth: {} } : await storeFor(errand, id, stores);
  const configured_props = { ...props, [prop]: value };
  const note =
    kind === 'account'
      ? `the step ${namespace} has no account yet: configure its prop "${prop}"`
      : `the step ${namespace} has a new, empty data store as its prop "${prop}": ${String(value)}, in place of ${id}`;
  return {
    steps: steps.map((step) => (step.namespace === namespace ? { ...step, configured_props } : step)),
    note,
  };
}

async function storeFor(errand: Errand, there: string, stores: Map<string, string>): Promise<string> {
  const known = stores.get(there);
  if (known !== undefined) return known;
  const { data } = await errand.createDataStore({ name: `Imported ${there}` });
  stores.set(there, data.id);
  return data.id;
}

async function deleteStores(errand: Errand, stores: Map<string, string>, kept: ReadonlySet<string>): Promise<void> {
  for (const [there, id] of [...stores]) {
    if (kept.has(there)) continue;
    await errand.deleteDataStore({ id });
    stores.delete(there);
  }
}
