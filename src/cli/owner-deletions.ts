// errand owners delete | restore | export

import type { Command } from 'commander';
import type { Owner } from '../client/client.ts';
import type { Administration, AdministrationDeps } from './administration.ts';
import { confirmByName } from './shell/ask.ts';
import { withExamples } from './shell/examples.ts';
import { findAmong } from './shell/find.ts';
import { createOutput, printFields, printJson, printLine } from './shell/output.ts';
import { type ServerOptions, serverCommand } from './shell/remote.ts';
import { secondsText } from './shell/text.ts';

type DeleteOptions = ServerOptions & { readonly yes?: boolean };

export function addOwnerDeletions(owners: Command, { administer }: AdministrationDeps): void {
  const remove = serverCommand(
    owners,
    'delete <owner>',
    'delete an owner with all that it owns, after ERRAND_OWNER_GRACE_DAYS; from now on it is refused and nothing of it runs',
  ).option('--yes', 'do not ask for the name as confirmation');
  withExamples(remove, 'errand owners delete Shop', 'errand owners delete u_0Vj3aBc9dEfGhIjK --yes --json');
  remove.action(async (given: string, { yes, ...options }: DeleteOptions) => {
    const owner = await administer(options, async (a) => {
      const { id, name } = await readOwner(a, given);
      await confirmByName(`This deletes the owner ${name} (${id}) with all that it owns.`, name, yes);
      return a.deleteOwner(id);
    });
    await print(owner, options);
  });
  addExport(owners, { administer });

  const restore = serverCommand(owners, 'restore <owner>', 'restore a deleted owner, until its purge has begun');
  withExamples(restore, 'errand owners restore Shop');
  restore.action(async (given: string, options: ServerOptions) =>
    print(await administer(options, async (a) => a.restoreOwner((await readOwner(a, given)).id)), options),
  );
}

function addExport(owners: Command, { administer }: AdministrationDeps): void {
  const all = serverCommand(
    owners,
    'export <owner>',
    'everything that an owner has, one JSON object a line: configuration with code, runs, deliveries, and all events that are kept; no secrets',
  );
  withExamples(all, 'errand owners export Shop > shop.ndjson');
  all.action((given: string, options: ServerOptions) =>
    administer(options, async (a) => {
      const out = createOutput();
      let count = 0;
      for await (const line of a.exportOwner((await readOwner(a, given)).id)) {
        await printLine(out, line);
        count++;
        // Into a terminal the lines themselves are written.
        if (!out.isTerminal && count % 100 === 0) out.progress(`${count} records`);
      }
      out.endProgress();
    }),
  );
}

/** Returns the owner that a person names. */
async function readOwner(a: Administration, given: string): Promise<Owner> {
  const all: Owner[] = [];
  for await (const owner of a.listOwners()) all.push(owner);
  const id = await findAmong('owner', given, () => listed(all));
  return all.find((owner) => owner.id === id) ?? ({ id, name: id } as Owner);
}

async function* listed(owners: readonly Owner[]): AsyncGenerator<Owner> {
  yield* owners;
}

async function print(owner: Owner, options: ServerOptions): Promise<void> {
  const out = createOutput();
  if (options.json) return printJson(out, owner);
  const { id, name, state, purge_at: purgeAt } = owner;
  await printFields(out, { owner: id, name, state, 'purged from': purgeAt === null ? null : secondsText(purgeAt) });
}
