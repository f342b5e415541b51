// One workflow file must not become two workflows: a folder that the server watches, deployed by hand as well, would run
// everything twice, under the same names; so would a project that is deployed under another name. Files of other folders may
// have the same paths, so names tell.
//
// The names are read before the file is written, and another node may write one meanwhile: the store writes a workflow only
// while those that were read are all that have its name (`onlyNamed`).

import { type FileMark, isSent, pathOfKey } from '../../domain/files/file-mark.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Workflow } from '../../domain/resource.ts';
import type { NamedWorkflow } from '../../store/contract/resources.ts';
import type { Store } from '../../store/contract/store.ts';
import { markOf, workflowIdOf } from './identity.ts';

interface Named extends Pick<FileMark, 'key' | 'project'> {
  readonly name: string | undefined;
  /** No other active workflow may have the name, however it was made. */
  readonly isUnique: boolean;
}

const PAGE = 100;

/**
 * Returns the workflows that have the name, itself left out; undefined: it has no name of its own. Throws `Refusal` (conflict)
 * when one of them was deployed from a file in another way, or the name is to be unique.
 */
export async function refuseTwin(
  store: Pick<Store, 'listWorkflows' | 'getDeployment'>,
  ownerId: string,
  file: Named,
): Promise<readonly NamedWorkflow[] | undefined> {
  if (file.name === undefined) return undefined;
  const own = workflowIdOf(ownerId, file.key);
  const others = (await listNamed(store, ownerId, file.name)).filter(({ id }) => id !== own);
  for (const { id, deploymentId, active } of others) {
    const deployment = await store.getDeployment(ownerId, deploymentId);
    const mark = deployment ? markOf(deployment) : null;
    if (file.isUnique && active) throw sameName(file, mark, id);
    if (mark?.state !== 'deployed' || workflowIdOf(ownerId, mark.key) !== id) continue;
    if (isSent(mark.key) !== isSent(file.key) || mark.project !== file.project) throw twin(file, mark, id);
  }
  return others.map(({ id, deploymentId }) => ({ id, deploymentId }));
}

async function listNamed(store: Pick<Store, 'listWorkflows'>, ownerId: string, name: string): Promise<Workflow[]> {
  const found: Workflow[] = [];
  for (let after: string | undefined; ; after = found.at(-1)?.id) {
    const { items } = await store.listWorkflows({ ownerId, name }, { limit: PAGE, after });
    found.push(...items);
    if (items.length < PAGE) return found;
  }
}

function sameName({ key, name }: Named, mark: FileMark | null, id: string): Refusal {
  const how = mark === null ? 'was not made from a file' : `was deployed from ${pathOfKey(mark.key)}`;
  const message = `${pathOfKey(key)} would make a second workflow with the name ${JSON.stringify(name)}: ${id} has it, is active, and ${how}`;
  return new Refusal('conflict', message, { errors: [{ parameter: 'unique_name', message }] });
}

function twin({ key, name }: Named, mark: FileMark, id: string): Refusal {
  const [path, quoted] = [pathOfKey(mark.key), JSON.stringify(name)];
  const of = mark.project === null ? '' : ` of the project ${JSON.stringify(mark.project)}`;
  return new Refusal(
    'conflict',
    isSent(key) && !isSent(mark.key)
      ? `The server itself deploys ${path} of the folder that it watches (ERRAND_WORKFLOWS_DIR) as ${quoted}: change the file there, or give this workflow another name`
      : `${quoted} was deployed by hand from ${path}${of} (${id}), and would run twice: delete that workflow, or give this one another name`,
  );
}

/** Throws `Refusal` (conflict) when the file of that path is another project's. */
export function refuseOtherProject(
  { key, project: theirs }: Pick<FileMark, 'key' | 'project'>,
  project: string | null,
): void {
  if (theirs === null || theirs === project) return;
  throw new Refusal(
    'conflict',
    `${pathOfKey(key)} was deployed by the project ${JSON.stringify(theirs)}, and this one is ${JSON.stringify(project)}: give the file another path, or go on as that project (project, --project)`,
  );
}

/** A file that was deployed, and the one of the same path that is to take its place. */
export interface Successor {
  readonly path: string;
  /** `p_…` or `dc_…`. */
  readonly id: string;
  readonly name: string;
  readonly source: string;
  /** Of the file that was deployed. */
  readonly project: string | null;
  /** Of the new file, as its caller said; null: it said none. */
  readonly asked: string | null;
  /** By what the new file is known: the name of a workflow, the key of a component; undefined: it has none. */
  readonly called: string | undefined;
}

/**
 * Throws `Refusal` (conflict) when a file is probably another one than that which has its path: files that are deployed one by one
 * are known by their base names alone, and only projects tell them apart. `source`: where the name still stands in the former code,
 * it is the same file, whatever its workflow is called by now.
 */
export function refuseStranger({ path, id, name, source, project, asked, called }: Successor): void {
  const isOneProject = project !== null && project === asked;
  if (isOneProject || called === undefined || called === name || isQuotedIn(source, called)) return;
  const of = project === null ? '' : ` of the project ${JSON.stringify(project)}`;
  const goOn = project === null ? '' : ', go on as that project (project, --project)';
  throw new Refusal(
    'conflict',
    `${path} was deployed as ${JSON.stringify(name)} (${id})${of}, and this file is ${JSON.stringify(called)}: give the file another name${goOn}, or, if it is the same one, rename ${JSON.stringify(name)} first`,
  );
}

function isQuotedIn(source: string, called: string): boolean {
  return ["'", '"', '`'].some((quote) => source.includes(quote + called + quote));
}
