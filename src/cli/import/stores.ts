// Data stores in place of those of the hosted original, empty. They are found again by their names, so that a repeated import shares
// them with what was imported before.

import type { Errand } from '../../client/client.ts';

export interface Place {
  readonly id: string;
  /** It was created now. */
  readonly isNew: boolean;
}

export interface DataStores {
  /** Returns the data store here for the id of one there, and creates it where there is none. */
  placeFor(there: string): Promise<Place>;
  /** Deletes those that were created for these ids. */
  remove(created: readonly string[]): Promise<void>;
}

export function importedStores(errand: Errand): DataStores {
  let known: Map<string, string> | null = null;

  /** Returns the id of each data store by its name; of several with one name, that of the oldest. */
  async function byName(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for await (const { name, id } of errand.listDataStores()) found.set(name, id);
    return found;
  }

  return {
    async placeFor(there) {
      known ??= await byName();
      const name = nameOf(there);
      const id = known.get(name);
      if (id !== undefined) return { id, isNew: false };
      const { data } = await errand.createDataStore({ name });
      known.set(name, data.id);
      return { id: data.id, isNew: true };
    },
    async remove(created) {
      for (const name of created.map(nameOf)) {
        const id = known?.get(name);
        if (id === undefined) continue;
        await errand.deleteDataStore({ id });
        known?.delete(name);
      }
    },
  };
}

function nameOf(there: string): string {
  return `Imported ${there}`;
}
