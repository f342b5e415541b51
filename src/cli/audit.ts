// errand audit list | export

import type { Command } from 'commander';
import type { AdministrationDeps, AuditOptions } from './administration.ts';

/** Filters, as `GET /v1/audit` takes them. */
export interface AuditCommandDeps extends AdministrationDeps {
  /** Resolves when more can be written. */
  readonly write: (text: string) => Promise<void>;
}

export function addAudit(program: Command, { administer, print, write }: AuditCommandDeps): void {
  const audit = program.command('audit').description('who changed what, and from where');
  const filtered = (name: string, description: string): Command =>
    audit
      .command(name)
      .description(description)
      .option('--owner <id>', 'whose log (u_…); none: the first owner')
      .option('--key <id>', 'only by this key (key_…)')
      .option('--operation <name>', 'only this operation, as the OpenAPI document calls it')
      .option('--target <id>', 'only what was done to this')
      .option('--since <time>', 'from then on, such as 2026-01-31T12:00:00Z')
      .option('--until <time>', 'before then');
  filtered('list', 'the newest 100 records').action(async ({ owner, ...of }: AuditOptions & { owner?: string }) =>
    print(await administer((a) => a.auditPage(owner ?? null, of, null))),
  );
  filtered('export', 'all records, newest first, one JSON object a line').action(
    async ({ owner, ...of }: AuditOptions & { owner?: string }) =>
      administer(async (a) => {
        for (let after: string | null = null; ; ) {
          const page: readonly { id: string }[] = await a.auditPage(owner ?? null, of, after);
          const last = page.at(-1);
          if (!last) return;
          await write(page.map((record) => `${JSON.stringify(record)}\n`).join(''));
          after = last.id;
        }
      }),
  );
}
