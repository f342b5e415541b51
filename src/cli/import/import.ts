// errand import: the workflows of a project of the hosted original become workflows here.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Errand, ProblemError } from '../../client/client.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { printJson, printTable } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { checkSteps } from './check.ts';
import { createWithPlaceholders, type Whole } from './create.ts';
import { type ImportedWorkflow, readProject } from './exported.ts';
import { foreignExport } from './foreign.ts';
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
      'check the code of all steps on the server, show what would be created and what is missing, and create nothing',
    );
  withExamples(command, 'errand import my-project --dry-run', 'errand import my-project/orders-p_abc123 --activate');
  command.action(async (folder: string, { activate, dryRun, ...options }: ImportOptions) => {
    const found = await stat(resolve(folder)).catch(() => null);
    if (found === null) throw new CliError(`there is no folder ${resolve(folder)}`, EXIT.notFound);
    const workflows = found.isDirectory() ? await readProject(resolve(folder)) : [];
    if (workflows.length === 0) throw await nothingFound(folder, found.isDirectory());
    const { errand, out, isJson } = await connect(options);
    const taken = new Set<string>();
    const stores = importedStores(errand);
    for await (const { name } of errand.listWorkflows()) taken.add(name);
    const results: Imported[] = [];
    for (const workflow of workflows) {
      results.push(
        await importOne(errand, workflow, { taken, stores, isActive: activate === true, isDry: dryRun === true }),
      );
      taken.add(workflow.name);
    }
    if (isJson) await printJson(out, results);
    else {
      await printTable(out, results, [
        { title: 'WORKFLOW', of: ({ name }) => name },
        { title: 'RESULT', of: ({ result }) => result, style: (text) => (FAULTY.has(text) ? 'red' : null) },
        { title: 'ID', of: ({ workflow_id: id }) => id },
        { title: 'ADDRESS', of: ({ endpoint_url: url }) => url },
      ]);
      for (const { name, notes } of results) for (const note of notes) out.note(`${name}: ${note}`);
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

interface How {
  /** Names of workflows that are there. */
  readonly taken: ReadonlySet<string>;
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
  if (taken.has(name)) return { ...none, result: 'is there already', notes: [] };
  if (isDry) {
    const { faults, notes: more } = await checkSteps(errand, workflow);
    const result = faults.length === 0 ? 'would be created' : 'would fail';
    return { ...none, result, notes: [...notes, ...more, ...faults] };
  }
  try {
    const { whole, notes: more } = await createWithPlaceholders(errand, workflow, { active, stores });
    const hint = active ? [] : [`is inactive: errand workflows enable ${whole.id}`];
    return {
      folder,
      name,
      result: 'created',
      workflow_id: whole.id,
      endpoint_url: addressOf(whole),
      notes: [...notes, ...more, ...hint],
    };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const details = error.errors?.map(({ parameter, message }) => `${parameter}: ${message}`) ?? [];
    return { ...none, result: 'failed', notes: [...notes, error.message, ...details] };
  }
}

function addressOf({ triggers }: Pick<Whole, 'triggers'>): string | null {
  return triggers.flatMap((trigger) => ('endpoint_url' in trigger ? [trigger.endpoint_url] : []))[0] ?? null;
}
