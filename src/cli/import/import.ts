// errand import: the workflows of a project of the hosted original become workflows here.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Errand, ProblemError } from '../../client/client.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { telling } from '../shell/interrupt.ts';
import { type Output, printJson, printTable } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { checkWorkflow, faultsIn } from './check.ts';
import { createWithPlaceholders, type Whole } from './create.ts';
import { readProject } from './exported.ts';
import { foreignExport } from './foreign.ts';
import type { ImportedWorkflow } from './imported.ts';
import { withOwnNames } from './names.ts';
import { type DataStores, importedStores } from './stores.ts';

interface ImportOptions extends ServerOptions {
  readonly activate?: true;
  readonly dryRun?: true;
}

interface Imported {
  readonly folder: string;
  readonly name: string;
  readonly result: 'created' | 'would be created' | 'would fail' | 'is there already' | 'failed';
  readonly workflow_id: string | null;
  readonly endpoint_url: string | null;
  /** What is left to do, and what was wrong. */
  readonly notes: readonly string[];
}

export function addImport(program: Command, connect: Connect): void {
  const command = serverCommand(
    program,
    'import <folder>',
    'create the workflows of a Pipedream project, as its GitHub Sync wrote them; inactive, and each name once',
  )
    .option(
      '--activate',
      'activate the workflows at once; by default they are inactive, since they still run at Pipedream',
    )
    .option(
      '--dry-run',
      'check the workflows and the code of their steps on the server, show what would be created and what is missing, and create nothing',
    );
  withExamples(command, 'errand import my-project --dry-run', 'errand import my-project/orders-p_abc123 --activate');
  command.action(async (folder: string, { activate, dryRun, ...options }: ImportOptions) => {
    const found = await stat(resolve(folder)).catch(() => null);
    if (found === null) throw new CliError(`there is no folder ${resolve(folder)}`, EXIT.notFound);
    const workflows = found.isDirectory() ? await readProject(resolve(folder)) : [];
    if (workflows.length === 0) throw await nothingFound(folder, found.isDirectory());
    const { errand, out, isJson } = await connect(options);
    const taken = await namesOf(errand);
    const stores = importedStores(errand);
    const how = { taken, stores, isActive: activate === true, isDry: dryRun === true };
    const own = withOwnNames(workflows, taken);
    const { results, broken } = await importAll(errand, out, { workflows: own, how });
    if (isJson && (broken === null || results.length > 0)) await printJson(out, results);
    if (!isJson && results.length > 0) await printResults(out, results);
    if (broken !== null) {
      out.note(stoppedText(results, own));
      throw broken;
    }
    if (results.some(({ result }) => FAULTY.has(result))) process.exitCode = EXIT.failed;
  });
}

const FAULTY: ReadonlySet<string> = new Set(['failed', 'would fail']);

/** Returns the complaint about a place without a project. */
async function nothingFound(place: string, isFolder: boolean): Promise<CliError> {
  const foreign = await foreignExport(resolve(place));
  const why =
    foreign === null ? '' : `; ${foreign}, which is not imported: docs/migrating.md says what takes its place`;
  const what = isFolder
    ? `no folder in ${place} has a workflow.yaml or workflow.json`
    : `${place} is no folder: name the folder of a Pipedream project`;
  return new CliError(what + why, EXIT.notFound);
}

/** Returns the ids of the workflows by their names. */
async function namesOf(errand: Errand): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const { name, id } of errand.listWorkflows()) found.set(name, [...(found.get(name) ?? []), id]);
  return found;
}

/** Imports one after the other. `broken`: why it ended before the last one, as without a connection. */
async function importAll(
  errand: Errand,
  out: Output,
  { workflows, how }: { readonly workflows: readonly ImportedWorkflow[]; readonly how: How },
): Promise<{ readonly results: readonly Imported[]; readonly broken: unknown }> {
  const results: Imported[] = [];
  return await telling(
    out,
    () => stoppedText(results, workflows),
    async () => {
      try {
        for (const workflow of workflows) results.push(await importOne(errand, workflow, how));
        return { results, broken: null };
      } catch (broken) {
        return { results, broken };
      }
    },
  );
}

function stoppedText({ length: done }: readonly Imported[], workflows: readonly ImportedWorkflow[]): string {
  const next = workflows[done];
  return `It ended after ${done} of ${workflows.length} workflows, at ${next?.folder}. Run the command again: it shows the ids, addresses and notes of what is there already, and imports the rest.`;
}

async function printResults(out: Output, results: readonly Imported[]): Promise<void> {
  await printTable(out, results, [
    { title: 'WORKFLOW', of: ({ name }) => name },
    { title: 'RESULT', of: ({ result }) => result, style: (text) => (FAULTY.has(text) ? 'red' : null) },
    { title: 'ID', of: ({ workflow_id: id }) => id },
    { title: 'ADDRESS', of: ({ endpoint_url: url }) => url },
  ]);
  for (const { name, notes } of results) for (const note of notes) out.note(`${name}: ${note}`);
}

interface How {
  /** Ids of the workflows that are there, by their names. */
  readonly taken: ReadonlyMap<string, readonly string[]>;
  readonly stores: DataStores;
  readonly isActive: boolean;
  readonly isDry: boolean;
}

async function importOne(
  errand: Errand,
  workflow: ImportedWorkflow,
  { taken, stores, isActive, isDry }: How,
): Promise<Imported> {
  const { folder, name, notes, fault } = workflow;
  const active = isActive && workflow.active;
  const none = { folder, name, workflow_id: null, endpoint_url: null };
  if (fault !== null) return { ...none, result: 'failed', notes: [...notes, fault] };
  const there = taken.get(name);
  if (there !== undefined) return await foundThere(errand, workflow, there);
  if (isDry) {
    const { faults, notes: more } = await checkWorkflow(errand, workflow);
    const result = faults.length === 0 ? 'would be created' : 'would fail';
    return { ...none, result, notes: [...notes, ...more, ...faults] };
  }
  try {
    const { whole, notes: more } = await createWithPlaceholders(errand, workflow, { active, stores });
    return { folder, name, result: 'created', ...shownOf(whole), notes: [...notes, ...more, ...hintsFor(whole)] };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { ...none, result: 'failed', notes: [...notes, ...faultsIn(error)] };
  }
}

/** Returns what is shown of a workflow that has the name already: it is left unchanged. */
async function foundThere(errand: Errand, workflow: ImportedWorkflow, ids: readonly string[]): Promise<Imported> {
  const { folder, name, notes } = workflow;
  const found = { folder, name, result: 'is there already' } as const;
  const [id = '', ...others] = ids;
  if (others.length > 0) {
    const several = `several workflows have this name: ${ids.join(', ')}`;
    return { ...found, workflow_id: null, endpoint_url: null, notes: [...notes, several] };
  }
  const { data: whole } = await errand.getWorkflow({ id });
  const differs = isSameCode(whole, workflow)
    ? []
    : ['its steps are not those of the folder: it was changed, or is another workflow of this name'];
  return { ...found, ...shownOf(whole), notes: [...notes, ...differs, ...hintsFor(whole)] };
}

function isSameCode({ steps: there }: Whole, { steps }: ImportedWorkflow): boolean {
  return (
    steps.length === there.length &&
    steps.every(({ namespace, code }, n) => {
      const step = there[n];
      return step?.namespace === namespace && (code === undefined || code === step.code);
    })
  );
}

function hintsFor({ id, active }: Whole): string[] {
  return active ? [] : [`is inactive: errand workflows enable ${id}`];
}

function shownOf({ id, triggers }: Whole): Pick<Imported, 'workflow_id' | 'endpoint_url'> {
  const addresses = triggers.flatMap((trigger) => ('endpoint_url' in trigger ? [trigger.endpoint_url] : []));
  return { workflow_id: id, endpoint_url: addresses[0] ?? null };
}
