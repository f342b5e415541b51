// Everything of an owner, as NDJSON, before it is deleted for instance.

import { Readable } from 'node:stream';
import { PREFIX } from '../../../../domain/ids.ts';
import { KIB } from '../../../../domain/limits.ts';
import { authorize } from '../../../access/auth.ts';
import { stillGood } from '../../../access/still-good.ts';
import type { App } from '../../../app-type.ts';
import { encodeJson } from '../../../body/json.ts';
import type { HttpDeps } from '../../../deps.ts';
import { idIn, operation } from '../../../openapi/operation.ts';
import { text } from '../../../openapi/schema.ts';
import { Type } from '../../../schema/type.ts';
import { type ExportLine, ownerLines } from './lines.ts';

/** Lines between two looks whether the export may go on. */
const LINES_PER_LOOK = 200;

const LINE = Type.Object(
  {
    id: text({
      description: 'The line: the export goes on behind it with `after`.',
      example: 'workflow:p_0Vj3aBc9dEfGhIjK',
    }),
    type: text({ description: 'What the record is.', example: 'workflow' }),
    record: Type.Record(Type.String(), Type.Unknown(), {
      description: 'As the interface shows it to a key that may only read.',
    }),
  },
  { title: 'OwnerExportLine' },
);

const EXAMPLE = `{"id":"owner:u_0Vj3aBc9dEfGhIjK","type":"owner","record":{"id":"u_0Vj3aBc9dEfGhIjK","name":"Ada"}}
{"end":{"complete":true,"cursor":"owner:u_0Vj3aBc9dEfGhIjK","count":1}}
`;

export function addOwnerExport(app: App, deps: HttpDeps): void {
  const { actions, store, urls } = deps;
  const schema = operation({
    id: 'exportOwner',
    tag: 'account',
    access: 'admin',
    audits: 'reading',
    summary: 'Export everything of an owner',
    description:
      'One JSON object a line: the owner, its quotas, keys (not themselves), redaction, workflows with their code and versions, sources with events that are emitted later, what both keep between runs (`$.service.db`, ids that dedupe has seen), runs, webhooks, subscriptions, channels, accounts, heartbeats, data stores with their records, groups of errors with their state, note and assignee, operations with what became of each replay, the ledger, audit records, deliveries, and last all events that are kept, errors among them, oldest first, as text exactly as they are. Records are as the interface shows them to a key that may only read, so secrets are left out or masked, and what requests of code, mails and notices contain; variables of workflows (`env`) are in it. The last line is `{"end": {"complete", "cursor", "count"}}`; without it, or with `"complete": false`, go on with `after`. Also of an owner that is being deleted, until its purge. The export itself has a record in the audit log. Needs the scopes `admin` and `read`.',
    params: idIn(PREFIX.owner, 'The owner.'),
    query: { after: Type.Optional(text({ description: 'Only lines behind this one: the `id` of a line.' })) },
    mediaType: 'application/x-ndjson',
    item: LINE,
    answer: Type.String({ examples: [EXAMPLE] }),
  });
  app.get('/v1/owners/:id/export', { schema, exposeHeadRoute: false }, async (request, reply) => {
    authorize(request.caller, 'read');
    const isGood = stillGood(store, request);
    const mayGoOn = async (): Promise<boolean> => !deps.draining() && (await isGood());
    const { getWorkflow, getSource } = actions;
    const after = request.query.after ?? null;
    const lines = ownerLines({ store, urls, getWorkflow, getSource }, request.params.id, after);
    // What is wrong is told before the answer begins.
    const first = await lines.next();
    const all = encoded(first, lines, { mayGoOn, after });
    reply.header('content-type', 'application/x-ndjson');
    reply.header('content-disposition', 'attachment; filename="owner.ndjson"');
    return reply.send(Readable.from(all, { objectMode: false, highWaterMark: 64 * KIB }));
  });
}

async function* encoded(
  first: IteratorResult<ExportLine, void>,
  lines: AsyncGenerator<ExportLine>,
  { mayGoOn, after }: { readonly mayGoOn: () => Promise<boolean>; readonly after: string | null },
): AsyncGenerator<Buffer> {
  let cursor = after;
  let count = 0;
  for (let next = first; !next.done; next = await lines.next()) {
    if (count % LINES_PER_LOOK === 0 && !(await mayGoOn())) {
      await lines.return(undefined);
      yield Buffer.from(`${JSON.stringify({ end: { complete: false, cursor, count } })}\n`);
      return;
    }
    cursor = next.value.id;
    count++;
    yield Buffer.concat([Buffer.from(encodeJson(next.value)), LINE_FEED]);
  }
  yield Buffer.from(`${JSON.stringify({ end: { complete: true, cursor, count } })}\n`);
}

const LINE_FEED = Buffer.from('\n');
