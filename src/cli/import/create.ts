// Creates an imported workflow. What only exists at the hosted original, and a person has to provide here, gets a placeholder,
// so that the workflow is there to be completed: an account without fields, an empty data store.

import { type Errand, ProblemError } from '../../client/client.ts';
import type { ImportedStep, ImportedWorkflow, LeftProp } from './imported.ts';
import type { DataStores, Place } from './stores.ts';

type Input = Parameters<Errand['createWorkflow']>[0];
export type Whole = Awaited<ReturnType<Errand['createWorkflow']>>['data'];

interface Created {
  readonly whole: Whole;
  /** What the placeholders stand for. */
  readonly notes: readonly string[];
}

interface Change {
  readonly steps: readonly ImportedStep[];
  readonly note: string | null;
}

/**
 * Creates the workflow in one request, and fills in what the server says is missing, one after the other. Throws a ProblemError when the
 * server refuses it for another reason; then nothing is left.
 */
export async function createWithPlaceholders(
  errand: Errand,
  workflow: ImportedWorkflow,
  { active, stores }: { readonly active: boolean; readonly stores: DataStores },
): Promise<Created> {
  const { name, settings, triggers } = workflow;
  const made: string[] = [];
  const placeFor: PlaceFor = async (there) => {
    const place = await stores.placeFor(there);
    if (place.isNew) made.push(there);
    return place;
  };
  try {
    const { answer, notes } = await withPlaceholders(workflow, {
      placeFor,
      send: (steps) => errand.createWorkflow({ name, steps, settings, triggers, active }),
    });
    return { whole: answer.data, notes };
  } catch (error) {
    if (error instanceof ProblemError) await stores.remove(made);
    throw error;
  }
}

/** Returns the data store here in place of one there. */
type PlaceFor = (there: string) => Promise<Place>;

interface Sending<T> {
  readonly send: (steps: Input['steps']) => Promise<T>;
  /** Null: none may be created, and the steps that need one are sent without their code. */
  readonly placeFor: PlaceFor | null;
}

/** Sends the steps until the server takes them. Throws what it refuses them for. */
export async function withPlaceholders<T>(
  workflow: ImportedWorkflow,
  { send, placeFor }: Sending<T>,
): Promise<{ readonly answer: T; readonly notes: readonly string[] }> {
  let { steps } = workflow;
  const notes: string[] = [];
  let ofPath: unknown = null;
  for (;;) {
    try {
      return { answer: await send(steps), notes };
    } catch (error) {
      const change = error instanceof ProblemError ? await changeFor(error, { workflow, steps, placeFor }) : null;
      // What was said of the path that the notes name.
      if (change === null) throw isOfPath(error) ? (ofPath ?? error) : error;
      steps = change.steps;
      if (change.note === null) ofPath = error;
      else notes.push(change.note);
    }
  }
}

interface Attempt {
  readonly workflow: ImportedWorkflow;
  readonly steps: readonly ImportedStep[];
  readonly placeFor: PlaceFor | null;
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
  { workflow, steps, placeFor }: Attempt,
  namespace: string,
  prop: string,
): Promise<Change | null> {
  const left = workflow.left.find((one) => one.namespace === namespace && one.prop === prop);
  const props = steps.find((step) => step.namespace === namespace)?.configured_props ?? {};
  if (left === undefined || left.kind === 'other' || Object.hasOwn(props, prop)) return null;
  if (left.kind === 'data_store' && placeFor === null) {
    const note = `the step ${namespace} gets an empty data store as its prop "${prop}", in place of ${left.id}; its other props were not checked`;
    return { steps: steps.map((step) => (step.namespace === namespace ? withoutCode(step) : step)), note };
  }
  const { value, note } = await placeholderFor(left, placeFor);
  const configured_props = { ...props, [prop]: value };
  return {
    steps: steps.map((step) => (step.namespace === namespace ? { ...step, configured_props } : step)),
    note: `the step ${namespace} has ${note}`,
  };
}

/** Returns a step with nothing in it that could be refused but its name. */
export function withoutCode({ namespace }: ImportedStep): ImportedStep {
  return { namespace, code: 'export default () => {};' };
}

async function placeholderFor(
  { kind, id, prop }: LeftProp,
  placeFor: PlaceFor | null,
): Promise<{ readonly value: unknown; readonly note: string }> {
  if (kind === 'account' || placeFor === null)
    return { value: { $auth: {} }, note: `no account yet: configure its prop "${prop}"` };
  const place = await placeFor(id);
  const what = place.isNew ? 'a new, empty data store' : 'the data store that an import has created';
  return { value: place.id, note: `${what} as its prop "${prop}": ${place.id}, in place of ${id}` };
}
