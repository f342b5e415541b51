// Looks ahead at what an import would meet: the server bundles and loads the code of each step, and keeps nothing.

import { type Errand, ProblemError } from '../../client/client.ts';
import type { ImportedStep, ImportedWorkflow } from './imported.ts';

interface Checked {
  /** Why the server would refuse the workflow. */
  readonly faults: readonly string[];
  /** What is left to do. */
  readonly notes: readonly string[];
}

type Checks = Awaited<ReturnType<Errand['checkComponents']>>;

const FORBIDDEN = 403;

/** Checks the code of all steps. */
export async function checkSteps(errand: Errand, { steps }: ImportedWorkflow): Promise<Checked> {
  const [faults, notes]: [string[], string[]] = [[], []];
  for (const step of steps) {
    const of = `the step ${step.namespace}`;
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
      if (!(error instanceof ProblemError)) throw error;
      if (error.status === FORBIDDEN)
        return { faults, notes: ['its code was not checked: that takes the scope write'] };
      faults.push(`${of}: ${error.message}`);
    }
  }
  return { faults, notes };
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
