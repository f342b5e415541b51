// Looks ahead at what an import would meet: the server bundles and loads the code of each step, checks the workflow as if it were created,
// and keeps nothing.

import { type Errand, ProblemError } from '../../client/client.ts';
import { withoutCode, withPlaceholders } from './create.ts';
import type { ImportedStep, ImportedWorkflow } from './imported.ts';

interface Checked {
  /** Why the server would refuse the workflow. */
  readonly faults: readonly string[];
  /** What is left to do. */
  readonly notes: readonly string[];
}

interface CheckedSteps extends Checked {
  /** Names of the steps whose code would be refused. */
  readonly faulty: ReadonlySet<string>;
}

type Checks = Awaited<ReturnType<Errand['checkComponents']>>;

const FORBIDDEN = 403;
/** Of servers that have no such check yet. */
const NO_ROUTE: ReadonlySet<number> = new Set([404, 405]);

/** Checks the code of all steps, and the workflow as it would be sent. */
export async function checkWorkflow(errand: Errand, workflow: ImportedWorkflow): Promise<Checked> {
  try {
    const ofSteps = await checkSteps(errand, workflow);
    const ofWhole = await checkWhole(errand, workflow, ofSteps.faulty);
    return { faults: [...ofSteps.faults, ...ofWhole.faults], notes: [...ofSteps.notes, ...ofWhole.notes] };
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== FORBIDDEN) throw error;
    return { faults: [], notes: ['its code was not checked: that takes the scope write'] };
  }
}

async function checkSteps(errand: Errand, { steps }: ImportedWorkflow): Promise<CheckedSteps> {
  const [faults, notes, faulty]: [string[], string[], Set<string>] = [[], [], new Set()];
  for (const step of steps) {
    const { faults: own, notes: more } = await checkStep(errand, step);
    faults.push(...own);
    notes.push(...more);
    if (own.length > 0) faulty.add(step.namespace);
  }
  return { faults, notes, faulty };
}

async function checkStep(errand: Errand, step: ImportedStep): Promise<Checked> {
  const of = `the step ${step.namespace}`;
  const [faults, notes]: [string[], string[]] = [[], []];
  try {
    const { data, install } = await checkOf(errand, step);
    const missing = data.flatMap(({ missing_packages: packages }) => packages);
    const how = install === null ? '' : `: ${install}`;
    if (missing.length > 0)
      faults.push(`${of} needs packages that the server does not have, ${missing.join(', ')}${how}`);
    for (const { accounts, problems } of data) {
      if (accounts.length > 0) notes.push(`${of} needs an account of ${accounts.join(', ')}`);
      const others = problems.filter(({ text }) => !missing.some((name) => text.includes(packageOf(name))));
      faults.push(...others.map(({ line, column, text }) => `${of}: ${line}:${column}: ${text}`));
    }
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status === FORBIDDEN) throw error;
    faults.push(`${of}: ${error.message}`);
  }
  return { faults, notes };
}

/** Checks the workflow with empty code in place of the faulty steps, whose faults are known. */
async function checkWhole(errand: Errand, workflow: ImportedWorkflow, faulty: ReadonlySet<string>): Promise<Checked> {
  const { name, settings, triggers } = workflow;
  const steps = workflow.steps.map((step) => (faulty.has(step.namespace) ? withoutCode(step) : step));
  try {
    const { notes } = await withPlaceholders(
      { ...workflow, steps },
      {
        send: (sent) => errand.checkWorkflow({ name, steps: sent, settings, triggers, active: false }),
        placeFor: null,
      },
    );
    return { faults: [], notes };
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status === FORBIDDEN) throw error;
    if (NO_ROUTE.has(error.status))
      return { faults: [], notes: ['its triggers, settings and props were not checked: the server is older'] };
    return { faults: faultsIn(error), notes: [] };
  }
}

/** Returns what a refusal says, and of each parameter what its text does not say. */
export function faultsIn({ message, errors }: ProblemError): string[] {
  const details = errors.filter((one) => !message.includes(one.message));
  return [message, ...details.map((one) => `${one.parameter}: ${one.message}`)];
}

/** Asks for the component in TypeScript when there is none in JavaScript: its key does not say which it is. */
async function checkOf(errand: Errand, { code, component_path: path }: ImportedStep): Promise<Checks> {
  if (path === undefined) return errand.checkComponents({ component_code: code });
  try {
    return await errand.checkComponents({ component_path: path });
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status === FORBIDDEN) throw error;
    return await errand.checkComponents({ component_path: path.replace(/\.mjs$/, '.ts') }).catch(() => {
      throw error;
    });
  }
}

/** Returns the name of a package without the version behind it. */
function packageOf(name: string): string {
  const at = name.indexOf('@', 1);
  return at === -1 ? name : name.slice(0, at);
}
