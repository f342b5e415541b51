// Names of imported workflows. Names are not unique at the hosted original, where the id in a folder's name tells workflows apart; an
// import recognises what is there already by its name.

import type { ImportedWorkflow } from './imported.ts';

/** Returns the workflows, each with a name that no other folder of the project has. `taken`: names that workflows here have. */
export function withOwnNames(
  workflows: readonly ImportedWorkflow[],
  taken: { readonly has: (name: string) => boolean },
): ImportedWorkflow[] {
  const folders = Map.groupBy(workflows, ({ name }) => name);
  const ids = Map.groupBy(workflows, ({ name, folder }) => `${name}\n${idIn(folder)}`);
  return workflows.map((workflow) => {
    const { name, folder, notes } = workflow;
    const others = (folders.get(name) ?? []).filter((one) => one !== workflow);
    if (others.length === 0) return workflow;
    const isOwnId = ids.get(`${name}\n${idIn(folder)}`)?.length === 1;
    const own = `${name} (${(isOwnId ? idIn(folder) : null) ?? folder})`;
    const also = others.map((one) => one.folder).join(', ');
    const there = taken.has(name)
      ? [`a workflow "${name}" is there too, which may be what an earlier import made of one of them`]
      : [];
    return { ...workflow, name: own, notes: [...notes, `its name "${name}" is also that of ${also}`, ...there] };
  });
}

/** Returns the id that the workflow had, with which the folder's name ends. */
function idIn(folder: string): string | null {
  return /-(p_[0-9A-Za-z]+)$/.exec(folder)?.[1] ?? null;
}
