// Turns a workflow file (sdk/workflow.ts) into steps that the process runs as any other component. It becomes part of
// the file's bundle, so it imports nothing.

type Run = (this: unknown, given: object) => unknown;

interface NamedStep {
  readonly namespace: string;
  readonly code: unknown;
}

interface Workflow {
  readonly kind?: unknown;
  readonly name?: unknown;
  readonly triggers?: unknown;
  readonly settings?: unknown;
  readonly steps?: readonly NamedStep[];
  readonly unknownMembers?: readonly string[];
}

export interface WorkflowProgram {
  /** By namespace. */
  readonly steps: Readonly<Record<string, unknown>>;
  /** The first step. It carries the description of the whole workflow, which child/component/describe.ts reads. */
  readonly first: unknown;
}

const DESCRIPTION = Symbol.for('errand.workflow');

/**
 * Returns the program of a file. `exported`: the file's default export. Throws errors that are meant for the file's
 * author.
 */
export function programOf(exported: unknown): WorkflowProgram {
  const { kind, name, triggers, settings, steps = [], unknownMembers = [] } = (exported ?? {}) as Workflow;
  if (kind !== 'errand.workflow') {
    throw new TypeError('The default export is no workflow: it must be what defineWorkflow returns');
  }
  const [first, ...others] = steps;
  if (first === undefined) throw new TypeError('The workflow has no steps');
  // Their names alone: the server refuses them, whatever they are.
  const unknown = Object.fromEntries(unknownMembers.map((member) => [member, true]));
  const description = { ...unknown, name, triggers, settings, steps: steps.map(({ namespace }) => namespace) };
  const lead = Object.assign(componentOf(first), { [DESCRIPTION]: description });
  const rest = others.map((step) => [step.namespace, componentOf(step)] as const);
  return { steps: Object.fromEntries([[first.namespace, lead], ...rest]), first: lead };
}

function componentOf({ namespace, code }: NamedStep): object {
  if (typeof code === 'function') return (given: object) => (code as Run)(given);
  const run = (code as { run?: unknown } | null | undefined)?.run;
  if (typeof run !== 'function') {
    throw new TypeError(`Step ${String(namespace)} is neither a function nor a component with run()`);
  }
  return {
    ...(code as object),
    run(given: object) {
      return (run as Run).call(this, given);
    },
  };
}
