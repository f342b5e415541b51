// The files that `errand deploy` is given: what each of them is, and whether it was deployed before.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Errand, ProblemError } from '../client/client.ts';
import { markIn } from '../domain/files/file-mark.ts';
import { LOST_EXPORT } from '../domain/files/no-workflow.ts';
import { CliError, EXIT, exitCodeOf } from './shell/exit.ts';

export type BundledFiles =
  | { readonly kind: 'workflow' | 'source'; readonly bundle: string; readonly sourceMap: string }
  | { readonly kind: 'module'; readonly definesWorkflow: boolean }
  | { readonly kind: 'broken'; readonly problems: readonly string[] };

export interface FileDeps {
  readonly bundle: (file: { dir: string; path: string }) => Promise<BundledFiles>;
  /** Returns the ids that a workflow and a source have when the owner deploys a file of this path. */
  readonly idsOf: (ownerId: string, path: string) => Promise<{ readonly workflow: string; readonly source: string }>;
}

interface ProjectFile {
  readonly path: string;
  readonly project: string | null;
}

interface ProjectFiles extends Pick<ProjectFile, 'project'> {
  readonly dir: string;
  readonly paths: readonly string[];
  /** A file was named, not a folder. */
  readonly isAlone: boolean;
}

interface Deployable {
  /** Paths of workflows and sources. Other files are for them to import. */
  readonly kept: readonly string[];
  /** What is wrong with files that would be refused, in a line each. */
  readonly refused: readonly string[];
}

/** Returns which files would be deployed. A workflow that throws when it is loaded shows with its deployment. */
export async function deployable(
  deps: FileDeps,
  errand: Errand,
  { dir, paths, isAlone, project }: ProjectFiles,
): Promise<Deployable> {
  const kept: string[] = [];
  const refused: string[] = [];
  for (const path of paths) {
    try {
      const bundled = await deps.bundle({ dir, path });
      if (bundled.kind === 'broken') throw new CliError(bundled.problems.join('; '));
      const asked = { dir, path, project, from_folder: !isAlone };
      const isSkipped = bundled.kind === 'source' && (await dryRun(errand, { ...bundled, ...asked })) === 'skipped';
      if (bundled.kind === 'module' || isSkipped)
        await refuseLost(deps, errand, { path, project, hasDefault: isSkipped });
      else kept.push(path);
    } catch (error) {
      if (!(error instanceof CliError || error instanceof ProblemError) || isOfAll(error)) throw error;
      refused.push(placed(path, error));
    }
  }
  return { kept, refused };
}

interface Asked {
  readonly dir: string;
  readonly path: string;
  readonly project: string | null;
  readonly bundle: string;
  readonly sourceMap: string;
  readonly from_folder: boolean;
}

/** Returns what would become of a component, which its code says. */
async function dryRun(errand: Errand, asked: Asked): Promise<string> {
  const { dir, path, project, bundle, sourceMap, from_folder } = asked;
  const source = await readFile(join(dir, path), 'utf8');
  const body = { path, ...(project === null ? {} : { project }), source, bundle, source_map: sourceMap };
  return (await errand.deploySourceFile({ ...body, from_folder, dry_run: true })).data.result;
}

/**
 * Throws `CliError` when the project has deployed a file that is neither a workflow nor a source now: its author has probably lost
 * the export, and would find the former code at work.
 */
export async function refuseLost(
  deps: FileDeps,
  errand: Errand,
  { path, project, hasDefault }: ProjectFile & { hasDefault: boolean },
): Promise<void> {
  const { data: owner } = await orNone(errand.getMe());
  if (owner === undefined) return;
  const ids = await deps.idsOf(owner.id, path);
  const { data: workflow } = await orNone(errand.getWorkflow({ id: ids.workflow }));
  const { data: source } = await orNone(errand.getSource({ id: ids.source }));
  const mark = markIn(workflow?.steps[0]?.code ?? '');
  const isOurWorkflow = mark?.state === 'deployed' && mark.project === project;
  const isOurSource = source?.file_path !== undefined && (source.project ?? null) === project;
  const [kind, was] = isOurWorkflow ? ['workflow', workflow] : ['source', isOurSource ? source : undefined];
  if (was === undefined) return;
  const why = hasDefault ? 'it no longer exports a workflow or a source' : LOST_EXPORT;
  throw new CliError(`${path}: ${why}: the ${kind} ${JSON.stringify(was.name)} (${was.id}) stays as it was deployed`);
}

/** Returns no data where there is none, or the key may not read: a key that only writes deploys all the same. */
async function orNone<T>(asked: Promise<{ readonly data: T }>): Promise<{ readonly data?: T }> {
  return asked.catch((error: unknown) => {
    if (error instanceof ProblemError && (error.status === 404 || error.status === 403)) return {};
    throw error;
  });
}

/** Returns the message of a file's error, which begins with the file. */
export function placed(path: string, { message }: Error): string {
  return message.startsWith(`${path}:`) ? message : `${path}: ${message}`;
}

/** Returns whether an error has nothing to do with the file: each other one would end so, too. */
export function isOfAll(error: unknown): boolean {
  const code = exitCodeOf(error);
  return code === EXIT.denied || code === EXIT.unreachable;
}
