// errand audit list | export

import type { Command } from 'commander';
import type { AuditRecord } from '../client/client.ts';
import type { Administration, AdministrationDeps, AuditFilter } from './administration.ts';
import { findKey, findOwner } from './owners.ts';
import { withExamples } from './shell/examples.ts';
import { type Column, createOutput, printFirst, printJson, printLine, timeColumn } from './shell/output.ts';
import { type ServerOptions, serverCommand } from './shell/remote.ts';

import { countValue, take, timeValue } from './shell/values.ts';

interface AuditOptions extends ServerOptions {
  readonly owner?: string;
  readonly byKey?: string;
  readonly operation?: string;
  readonly target?: string;
  readonly since?: string;
  readonly until?: string;
}

/** More than other lists show: one change is often many records. */
const LISTED = 100;

const COLUMNS: readonly Column<AuditRecord>[] = [
  timeColumn('TIME', ({ at_ms: ms }) => ms),
  { title: 'KEY', of: ({ key_id: id, key_label: label }) => label || id },
  { title: 'OPERATION', of: ({ operation }) => operation },
  { title: 'TARGET', of: ({ target_id: id }) => id },
  { title: 'STATUS', of: ({ status }) => status ?? '?' },
  { title: 'TIMES', of: ({ count }) => (count > 1 ? count : '') },
  { title: 'FROM', of: ({ client_ip: ip }) => ip },
];

export function addAudit(program: Command, { administer }: AdministrationDeps): void {
  const audit = program.command('audit').description('list and export the audit log: who changed what, and from where');
  const list = filtered(audit, 'list', 'the newest records').option(
    '--limit <n>',
    'how many to show; 0: all',
    countValue(0),
    LISTED,
  );
  withExamples(list, 'errand audit list --since 1d', 'errand audit list --owner Shop --operation deleteWorkflow');
  list.action((options: AuditOptions & { readonly limit: number }) =>
    administer(options, async (a) => {
      const out = createOutput();
      const taken = await take(recordsIn(await pagesOf(a, options)), options.limit);
      if (options.json) return printJson(out, taken.records);
      if (taken.records.length === 0) return out.note('no records');
      await printFirst(out, taken, COLUMNS);
    }),
  );
  const all = filtered(audit, 'export', 'all records, newest first, one JSON object a line');
  withExamples(all, 'errand audit export > audit.ndjson');
  all.action((options: AuditOptions) =>
    administer(options, async (a) => {
      const out = createOutput();
      let count = 0;
      for await (const page of await pagesOf(a, options)) {
        for (const record of page) await printLine(out, record);
        count += page.length;
        // Into a terminal the records themselves are written.
        if (!out.isTerminal) out.progress(`${count} records`);
      }
      out.endProgress();
    }),
  );
}

function filtered(audit: Command, name: string, description: string): Command {
  return serverCommand(audit, name, description)
    .option('--owner <id>', 'whose log; default: your own, or on the data dir that of the first owner')
    .option('--by-key <id>', 'only changes made with this key')
    .option('--operation <name>', 'only this operation, by its operationId in the OpenAPI document')
    .option('--target <id>', 'only changes to this record, by its whole id (it may be deleted)')
    .option('--since <time>', 'from this time on: an age such as 2h or 7d, or 2026-01-31T12:00:00Z', timeValue)
    .option('--until <time>', 'before this time', timeValue);
}

async function* recordsIn(pages: AsyncIterable<readonly AuditRecord[]>): AsyncGenerator<AuditRecord> {
  for await (const page of pages) yield* page;
}

async function pagesOf(a: Administration, options: AuditOptions): Promise<AsyncIterable<readonly AuditRecord[]>> {
  const { owner, byKey, operation, target, since, until } = options;
  const ownerId = await findOwner(a, owner);
  const key = byKey === undefined ? undefined : await findKey(a, ownerId, byKey);
  const given = { key, operation, target, since, until };
  const of: AuditFilter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return a.auditPages(ownerId, of);
}
