// Gives steps names as they are taken here, and changes the references to them.

import type { ImportedStep, LeftProp } from './imported.ts';
import { codeWithNames, valueWithNames } from './references.ts';
import { type Renames, renamesOf } from './step-names.ts';

interface Named {
  readonly steps: readonly ImportedStep[];
  readonly left: readonly LeftProp[];
  /** What was changed, and what could not be told. */
  readonly notes: readonly string[];
}

export async function withStepNames(found: readonly ImportedStep[], left: readonly LeftProp[]): Promise<Named> {
  const renames = renamesOf(found.map(({ namespace }) => namespace));
  const notes = [...renames].map(([there, here]) => `the step ${there} is ${here} here, where names are lower-case`);
  const steps: ImportedStep[] = [];
  for (const step of found) {
    const namespace = renames.get(step.namespace) ?? step.namespace;
    steps.push({ ...step, namespace, ...(await withReferences({ ...step, namespace }, { renames, notes })) });
  }
  return {
    steps,
    left: left.map((one) => ({ ...one, namespace: renames.get(one.namespace) ?? one.namespace })),
    notes,
  };
}

interface Renaming {
  readonly renames: Renames;
  readonly notes: string[];
}

async function withReferences(
  { namespace, code, configured_props: props }: ImportedStep,
  { renames, notes }: Renaming,
): Promise<Pick<ImportedStep, 'code' | 'configured_props'>> {
  const given = await Promise.all(
    Object.entries(props ?? {}).map(async ([prop, value]) => [prop, await valueWithNames(value, renames)] as const),
  );
  const changed = given.filter(([prop, value]) => JSON.stringify(value) !== JSON.stringify(props?.[prop]));
  if (changed.length > 0) {
    const names = changed.map(([prop]) => prop).join(', ');
    notes.push(`references in the props of the step ${namespace} were changed: ${names}`);
  }
  const configured = props === undefined ? {} : { configured_props: Object.fromEntries(given) };
  return code === undefined
    ? configured
    : { code: await renamedCode(namespace, code, { renames, notes }), ...configured };
}

async function renamedCode(namespace: string, code: string, { renames, notes }: Renaming): Promise<string> {
  const { text, changedLines, unclearLines, ownLines } = await codeWithNames(code, renames);
  const of = `the code of the step ${namespace}`;
  const meant = `look there for ${[...renames.keys()].join(', ')}`;
  if (changedLines.length > 0) notes.push(`references in ${of} were changed in ${linesText(changedLines)}`);
  if (unclearLines.length > 0)
    notes.push(`${of} uses "steps" without the name of a step in ${linesText(unclearLines)}: ${meant}`);
  if (ownLines.length > 0)
    notes.push(
      `${of} has a variable "steps" of its own in ${linesText(ownLines)}, so its references were not changed: ${meant}`,
    );
  return text;
}

function linesText(lines: readonly number[]): string {
  return `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`;
}
