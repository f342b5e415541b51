// errand deploy PATH: bundles a workflow file, a source component or a folder of them on this machine, and sends them to a
// server.

import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Errand } from '../client/client.ts';
import { NOT_EXPORTED } from '../domain/files/no-workflow.ts';
import { keptVariables, readVariables, unreadEnv, type Variables } from './deploy-env.ts';
import { deployable, type FileDeps, isOfAll, placed, refuseLost } from './deploy-files.ts';
import { linesOfGone, type Plan, planLines, planOf, typesOf } from './deploy-plan.ts';
import { projectOf } from './project.ts';
import { confirm } from './shell/ask.ts';
import { withExamples } from './shell/examples.ts';
import { CliError, EXIT, EXPECTED_ERRORS } from './shell/exit.ts';
import { createOutput, type Output, printLine } from './shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from './shell/remote.ts';
import { oneLine } from './shell/text.ts';

export interface DeployDeps extends FileDeps {
  readonly connect: Connect;
  /** Returns the paths, with slashes, of files in a folder that may be workflows. */
  readonly list: (dir: string) => Promise<readonly string[]>;
  readonly complain: (line: string) => void;
}

const NO_PROJECT =
  'these files belong to no project: a file of another folder with the same path and workflow name would replace them; give package.json a name, or use --project';

type Props = Readonly<Record<string, unknown>>;

/** Options of the command line. */
interface DeployOptions {
  readonly dir: string;
  readonly path: string;
  readonly isAlone: boolean;
  readonly props: Props | undefined;
  readonly project: string | null;
  readonly variables: Variables;
  /** Name of a workflow → the file that has it, of those that were deployed before. */
  readonly names: Map<string, string>;
  readonly told: (deployed: Told) => Promise<void>;
  /** Says what is beside the result. */
  readonly note: (text: string) => void;
}

/** What became of a file. */
interface Told {
  readonly path: string;
  readonly result: string;
  readonly workflow_id?: string;
  readonly source_id?: string;
  readonly endpoints?: readonly string[];
  readonly endpoint?: string;
}

export function addDeploy(program: Command, deps: DeployDeps): void {
  const command = serverCommand(
    program,
    'deploy <path>',
    'bundle a workflow or source file, or all in a folder, and deploy it; the same path is the same one',
  )
    .option('--props <json>', 'all props of a source as JSON, or @ and the name of a JSON file; default: unchanged')
    .option(
      '--project <name>',
      'the project that the files belong to; default: the name in package.json, and the folder below it',
    )
    // Not `--env-file`: Node.js takes that for itself, wherever it stands.
    .option('--variables <file>', 'variables of the workflows, as NAME=value lines; default: .env in the folder')
    .option('--check', "check types with the project's own TypeScript, and show what would change, before deploying")
    .option('--dry-run', 'like --check, but deploy nothing')
    .option(
      '--prune',
      'for a folder: delete the workflows and sources of this project whose files are gone; asks for confirmation',
    )
    .option('--yes', 'do not ask for confirmation');
  withExamples(
    command,
    'errand deploy workflows',
    'errand deploy workflows --check --prune',
    'errand deploy shop/order.ts --profile prod',
    'errand deploy workflows --profile prod --variables prod.env',
  );
  command.action(async (given: string, { props: text, ...options }: DeployCommand) => {
    const props = text === undefined ? undefined : await readProps(text);
    const { dir, paths, isAlone } = await find(deps, given);
    if (text !== undefined && !isAlone) throw new CliError('--props is for one file, not for a folder', EXIT.usage);
    if (paths.length === 0) throw nothing(given, { dir, isAlone });
    if (options.prune && isAlone) throw new CliError('--prune is for a folder, not for one file', EXIT.usage);
    const project = await projectOf(dir, options.project);
    if (options.prune && project === null) throw unnamed(dir);
    const variables = await readVariables(dir, options.variables);
    const out = createOutput();
    const unread = options.variables === undefined ? await unreadEnv(dir) : null;
    if (unread !== null)
      out.note(`${unread} is not read: variables are in ${join(dir, '.env')}, or in the file that --variables names`);
    const isShown = options.check || options.dryRun;
    if (isShown) out.note(await typesOf(dir));
    const { errand } = await deps.connect(options);
    const told = (deployed: Told): Promise<void> => tell(out, options.json === true, deployed);
    if (isShown || options.prune) {
      const { kept, refused } = await deployable(deps, errand, { dir, paths, isAlone, project });
      const plan = await planOf(errand, { dir, project, paths: kept });
      const shown = isAlone ? { ...plan, gone: [] } : plan;
      if (options.dryRun && refused.length > 0) process.exitCode = 1;
      else if (options.dryRun && kept.length === 0 && shown.gone.length === 0) throw nothing(given, { dir, isAlone });
      if (options.dryRun) for (const line of refused) deps.complain(line);
      if (options.dryRun && options.json) return printPlan(out, shown);
      if (isShown) for (const line of planLines(shown)) out.note(line);
      if (options.dryRun) return;
      if (options.prune) await prune(errand, { gone: shown.gone, isSure: options.yes, told });
    }
    const names = new Map<string, string>();
    const asked = { dir, isAlone, props, project, variables, names, told, note: out.note };
    let [failed, deployed] = [0, 0];
    for (const path of paths) {
      try {
        if (await deploy(deps, errand, { ...asked, path })) deployed++;
      } catch (error) {
        if (!EXPECTED_ERRORS.some((kind) => error instanceof kind) || isOfAll(error)) throw error;
        failed++;
        deps.complain(placed(path, error as Error));
      }
    }
    if (project === null && deployed > 0 && options.json !== true) out.note(NO_PROJECT);
    if (project !== null && !isAlone && !options.prune) {
      for (const line of await linesOfGone(errand, { dir, project, names })) out.note(line);
    }
    if (failed > 0) process.exitCode = 1;
    else if (deployed === 0) throw nothing(given, { dir, isAlone });
  });
}

/** Prints what would be deployed: an object of JSON in a line for each file. */
async function printPlan(out: Output, { files, gone }: Plan): Promise<void> {
  for (const file of files) await printLine(out, file);
  for (const { path, kind, id, name } of gone) await printLine(out, { path, change: 'gone', [`${kind}_id`]: id, name });
}

/** Prints what became of a file: a line for people, or an object of JSON in a line. */
async function tell(out: Output, isJson: boolean, told: Told): Promise<void> {
  if (isJson) return printLine(out, told);
  const { path, result, workflow_id: workflow, source_id: source, endpoints = [], endpoint } = told;
  const style = result === 'deleted' ? 'yellow' : result === 'same' ? 'dim' : 'green';
  const addresses = endpoint === undefined ? endpoints : [endpoint];
  const line = [out.style(style, result.padEnd(7)), oneLine(path), workflow ?? source, ...addresses].join('  ');
  await out.write(`${line}\n`);
}

function unnamed(dir: string): CliError {
  return new CliError(
    `--prune deletes workflows and sources of this project alone, and ${dir} and the folders above it have no package.json with a name: name the project with --project`,
    EXIT.usage,
  );
}

interface DeployCommand extends ServerOptions {
  readonly project?: string;
  readonly variables?: string;
  readonly props?: string;
  readonly check?: true;
  readonly dryRun?: true;
  readonly prune?: true;
  readonly yes?: true;
}

interface Pruning {
  readonly gone: Plan['gone'];
  readonly isSure: true | undefined;
  readonly told: DeployOptions['told'];
}

async function prune(errand: Errand, { gone, isSure, told }: Pruning): Promise<void> {
  if (gone.length === 0) return;
  const named = gone.map(({ path, name }) => `${JSON.stringify(name)} (${path})`).join(', ');
  const noun = gone.length === 1 ? `the ${gone[0]?.kind}` : `these ${gone.length}:`;
  await confirm(`Delete ${noun} ${named}, whose files are gone?`, isSure);
  for (const { kind, id, path } of gone) {
    await (kind === 'workflow' ? errand.deleteWorkflow({ id }) : errand.deleteSource({ id }));
    await told({ path, result: 'deleted', [`${kind}_id`]: id });
  }
}

/** Finds the files to deploy. `isAlone`: a file was named, not a folder. */
async function find(
  { list }: DeployDeps,
  given: string,
): Promise<{ dir: string; paths: readonly string[]; isAlone: boolean }> {
  const path = resolve(given);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new CliError(`there is no file or folder ${path}`, EXIT.notFound);
  if (!found.isDirectory()) return { dir: dirname(path), paths: [basename(path)], isAlone: true };
  return { dir: path, paths: [...(await list(path))].sort(), isAlone: false };
}

async function readProps(text: string): Promise<Props> {
  const json = text.startsWith('@') ? await readFile(text.slice(1), 'utf8').catch(() => '') : text;
  try {
    const props: unknown = JSON.parse(json);
    if (typeof props === 'object' && props !== null && !Array.isArray(props)) return props as Props;
  } catch {
    // reported below
  }
  throw new CliError(
    '--props is not a JSON object; write it like {"url": "https://…"}, or @ and the name of a JSON file',
    EXIT.usage,
  );
}

function nothing(given: string, { dir, isAlone }: { dir: string; isAlone: boolean }): CliError {
  const what = isAlone ? `${given} exports no workflow and no component` : `no file in ${dir} exports a workflow`;
  return new CliError(`nothing to deploy: ${what}`);
}

/** Returns whether the file is a workflow or a source. */
async function deploy(deps: DeployDeps, errand: Errand, asked: DeployOptions): Promise<boolean> {
  const { dir, path, project, variables, names, told, note } = asked;
  const bundled = await deps.bundle({ dir, path });
  if (bundled.kind === 'module') {
    await refuseLost(deps, errand, { path, project, hasDefault: false });
    if (bundled.definesWorkflow) note(`${path}: not deployed: ${NOT_EXPORTED}`);
    return false;
  }
  if (bundled.kind === 'broken') throw new CliError(bundled.problems.join('; '));
  const { bundle, sourceMap } = bundled;
  const source = await readFile(join(dir, path), 'utf8');
  if (bundled.kind === 'source') {
    const isSource = await deploySource(errand, { ...asked, source, bundle, sourceMap });
    if (!isSource) await refuseLost(deps, errand, { path, project, hasDefault: true });
    return isSource;
  }
  if (asked.props !== undefined) throw new CliError('--props is for sources, and this is a workflow');
  const { env, file } = variables;
  const body = { path, ...(project === null ? {} : { project }), source, bundle, source_map: sourceMap, env };
  const { result, workflow } = (await errand.deployWorkflowFile(body)).data;
  const endpoints = workflow.triggers.flatMap(({ endpoint_url: endpoint }) => endpoint ?? []);
  await told({ path, result, workflow_id: workflow.id, endpoints });
  const other = names.get(workflow.name);
  if (other !== undefined)
    note(
      `${path}: ${other} has the same name, ${JSON.stringify(workflow.name)}: by its name neither can be told from the other`,
    );
  names.set(workflow.name, path);
  const kept = file === null || result !== 'changed' ? [] : keptVariables(workflow.settings.env, { env, source });
  if (kept.length > 0)
    note(
      `${path}: the workflow keeps ${kept.join(', ')}, which ${file} does not name; to remove: errand variables unset ${workflow.id} ${kept.join(' ')}`,
    );
  return true;
}

interface Component extends DeployOptions {
  readonly source: string;
  readonly bundle: string;
  readonly sourceMap: string;
}

/** Returns whether it is a source: of a folder, other components are left alone. */
async function deploySource(errand: Errand, component: Component): Promise<boolean> {
  const { path, project, source: code, bundle, sourceMap, props, isAlone, told } = component;
  const body = {
    path,
    ...(project === null ? {} : { project }),
    source: code,
    bundle,
    source_map: sourceMap,
    configured_props: props,
    from_folder: !isAlone,
  };
  const { result, source } = (await errand.deploySourceFile(body)).data;
  if (source === undefined) return false;
  const endpoint = source.endpoint_url;
  await told({ path, result, source_id: source.id, ...(endpoint === undefined ? {} : { endpoint }) });
  return true;
}
