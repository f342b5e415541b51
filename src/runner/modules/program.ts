// Stands between a workflow file (sdk/workflow.ts) and the process that runs its steps: each of them becomes a component
// as any other. It becomes part of the file's bundle, so it imports nothing.

interface Given {
  readonly steps: { readonly trigger: { readonly event: unknown; readonly context: unknown } };
  readonly $: unknown;
}

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
}

export interface Program {
  /** By namespace. */
  readonly steps: Readonly<Record<string, unknown>>;
  /** The first of them. It carries the description of the whole, which describe.ts in child/ looks for. */
  readonly first: unknown;
}

const DESCRIPTION = Symbol.for('errand.workflow');

/** `exported`: the default export of the file. Throws what its author should read. */
export function programOf(exported: unknown): Program {
  const { kind, name, triggers, settings, steps = [] } = (exported ?? {}) as Workflow;
  if (kind !== 'errand.workflow') {
    throw new TypeError('The default export is no workflow: it must be what defineWorkflow returns');
  }
  const [first, ...others] = steps;
  if (first === undefined) throw new TypeError('The workflow has no steps');
  const description = { name, triggers, settings, steps: steps.map(({ namespace }) => namespace) };
  const lead = Object.assign(componentOf(first), { [DESCRIPTION]: description });
  const rest = others.map((step) => [step.namespace, componentOf(step)] as const);
  return { steps: Object.fromEntries([[first.namespace, lead], ...rest]), first: lead };
}

function componentOf({ namespace, code }: NamedStep): object {
  if (typeof code === 'function') return (given: Given) => (code as Run)(wider(given));
  const run = (code as { run?: unknown } | null | undefined)?.run;
  if (typeof run !== 'function') {
    throw new TypeError(`Step ${String(namespace)} is neither a function nor a component with run()`);
  }
  return {
    ...(code as object),
    run(given: Given) {
      return (run as Run).call(this, wider(given));
    },
  };
}

/** Not copied: an event is parsed when it is first read. */
function wider({ steps, $ }: Given): object {
  return {
    steps,
    $,
    get event() {
      return steps.trigger.event;
    },
    get context() {
      return steps.trigger.context;
    },
  };
}
