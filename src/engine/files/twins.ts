// One workflow file must not become two workflows: a folder that the server watches, deployed by hand as well, would run
// everything twice, under the same names. Files of other folders may have the same paths, so names tell.

import { Refusal } from '../../domain/fault.ts';
import { isSent, pathOfKey } from '../../domain/files/file-mark.ts';
import type { Store } from '../../store/contract/store.ts';
import { markOf, workflowIdOf } from './identity.ts';

interface Named {
  readonly key: string;
  readonly name: string | undefined;
}

const LOOKED_AT = 20;

/** Throws `Refusal` (conflict) when a workflow of that name was deployed from a file in the other way. */
export async function refuseTwin(
  store: Pick<Store, 'listWorkflows' | 'getDeployment'>,
  ownerId: string,
  { key, name }: Named,
): Promise<void> {
  if (name === undefined) return;
  const { items } = await store.listWorkflows({ ownerId, name }, { limit: LOOKED_AT });
  for (const { id, deploymentId } of items) {
    const deployment = await store.getDeployment(ownerId, deploymentId);
    const mark = deployment ? markOf(deployment) : null;
    const isOther = mark?.state === 'deployed' && isSent(mark.key) !== isSent(key);
    if (!isOther || workflowIdOf(ownerId, mark.key) !== id) continue;
    const [path, quoted] = [pathOfKey(mark.key), JSON.stringify(name)];
    throw new Refusal(
      'conflict',
      isSent(key)
        ? `The server itself deploys ${path} of the folder that it watches (ERRAND_WORKFLOWS_DIR) as ${quoted}: change the file there, or give this workflow another name`
        : `${quoted} was deployed by hand from ${path} (${id}), and would run twice: delete that workflow, or give this one another name`,
    );
  }
}
