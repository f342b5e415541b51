// What a deployment by hand would change: `errand deploy --check`, `--dry-run` and `--prune`.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Errand, ProblemError } from '../client/client.ts';
import { isSent, markIn, pathOfKey, withoutMark } from '../domain/files/file-mark.ts';
import { checkTypes, findConfig, findTypeScript } from './dev/type-check.ts';
import { CliError } from './shell/exit.ts';

/** What was deployed by hand from a file. */
interface Sent {
  readonly kind: 'workflow' | 'source';
  readonly id: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly path: string;
  readonly project: string | null;
  readonly source: string;
}

export interface PlannedFile {
  readonly path: string;
  readonly change: 'new' | 'changed' | 'same';
  /** Lines. */
  readonly added: number;
  readonly removed: number;
}

export interface Plan {
  readonly files: readonly PlannedFile[];
  /** Their files are not there any more, and were of this project. */
  readonly gone: readonly Sent[];
}

const PAGE = 100;

/** Throws `CliError` with what is wrong. Returns what to tell a person. */
export async function typesOf(dir: string): Promise<string> {
  const project = await findTypeScript(dir);
  const config = project === null ? await findConfig(dir) : null;
  if (config !== null)
    throw new CliError(
      `types cannot be checked, and nothing was deployed: no TypeScript is installed for ${config} (npm install)`,
    );
  if (project === null) return `types are not checked: there is no tsconfig.json in ${dir} or a folder above it`;
  const { ok, lines } = await checkTypes(project);
  if (ok) return `types are right: ${project.config}`;
  throw new CliError(`types are wrong, and nothing was deployed:\n${lines.join('\n')}`);
}

export async function planOf(
  errand: Errand,
  { dir, paths, project }: { dir: string; paths: readonly string[]; project: string | null },
): Promise<Plan> {
  const sent = await allSent(errand);
  const known = new Map(sent.map((one) => [one.path, one]));
  const files = await Promise.all(
    paths.map(async (path): Promise<PlannedFile> => {
      const source = await readFile(join(dir, path), 'utf8');
      const before = known.get(path)?.source;
      if (before === undefined) return { path, change: 'new', added: source.split('\n').length, removed: 0 };
      return { path, change: before === source ? 'same' : 'changed', ...changedLines(before, source) };
    }),
  );
  return { files, gone: await goneOf(sent, dir, project) };
}

/** Returns one line for each active workflow and source of the project whose file is gone; none when they cannot be read. `names`: of each workflow that was deployed, its file. */
export async function linesOfGone(
  errand: Errand,
  { dir, project, names }: { dir: string; project: string; names: ReadonlyMap<string, string> },
): Promise<string[]> {
  const sent = await allSent(errand).catch((error: unknown) => {
    // The key may not read, or one was deleted meanwhile: what was deployed is deployed all the same.
    if (error instanceof ProblemError) return [];
    throw error;
  });
  const active = sent.filter(({ isActive }) => isActive).sort((a, b) => (a.path < b.path ? -1 : 1));
  return (await goneOf(active, dir, project)).map(({ path, kind, id, name }) => {
    const other = kind === 'workflow' ? names.get(name) : undefined;
    const twice = other === undefined ? '' : `, as does ${other}, which has the same name`;
    return `${path}: the file is gone, but its ${kind} ${id} ${JSON.stringify(name)} goes on${twice}: --prune deletes it`;
  });
}

/** Returns what was sent from files of this project that are not there any more. */
async function goneOf(sent: readonly Sent[], dir: string, project: string | null): Promise<Sent[]> {
  const ours = sent.filter((one) => project !== null && one.project === project);
  const isThere = await Promise.all(ours.map(({ path }) => exists(join(dir, path))));
  return ours.filter((_, n) => !isThere[n]);
}

/** Returns whether there is such a file, whatever it has: what cannot be looked at is not gone. */
async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isFile(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

const allSent = async (errand: Errand): Promise<Sent[]> => [
  ...(await sentWorkflows(errand)),
  ...(await sentSources(errand)),
];

async function sentWorkflows(errand: Errand): Promise<Sent[]> {
  const found: Sent[] = [];
  for await (const { id, name, active: isActive } of errand.listWorkflows({ limit: PAGE })) {
    const { data } = await errand.getWorkflow({ id });
    const code = data.steps[0]?.code ?? '';
    const mark = markIn(code);
    if (mark?.state !== 'deployed' || !isSent(mark.key)) continue;
    const { key, project } = mark;
    found.push({ kind: 'workflow', id, name, isActive, path: pathOfKey(key), project, source: withoutMark(code) });
  }
  return found;
}

async function sentSources(errand: Errand): Promise<Sent[]> {
  const found: Sent[] = [];
  for await (const { id, name, active: isActive } of errand.listSources({ limit: PAGE })) {
    const { data } = await errand.getSource({ id });
    const { file_path: path, project = null, component_code: code = '' } = data;
    if (path !== undefined) found.push({ kind: 'source', id, name, isActive, path, project, source: code });
  }
  return found;
}

/** Returns how many lines are in one text and not in the other, wherever they stand. */
function changedLines(before: string, after: string): { added: number; removed: number } {
  const left = new Map<string, number>();
  for (const line of before.split('\n')) left.set(line, (left.get(line) ?? 0) + 1);
  let added = 0;
  for (const line of after.split('\n')) {
    const count = left.get(line) ?? 0;
    if (count === 0) added++;
    else left.set(line, count - 1);
  }
  return { added, removed: [...left.values()].reduce((sum, count) => sum + count, 0) };
}

/** Returns the plan as lines for a person. */
export function planLines({ files, gone }: Plan): string[] {
  const width = Math.max(0, ...[...files, ...gone].map(({ path }) => path.length));
  const lines = files.map(({ path, change, added, removed }) => {
    const what = change === 'same' ? 'the file itself is the same' : `+${added} −${removed}`;
    return `${change.padEnd(8)} ${path.padEnd(width)}  ${what}`;
  });
  return [
    ...lines,
    ...gone.map(({ path, id, name }) => `${'gone'.padEnd(8)} ${path.padEnd(width)}  ${id} ${JSON.stringify(name)}`),
  ];
}
