import { text } from '../../../domain/bytes.ts';
import { PREFIX } from '../../../domain/ids.ts';
import { memberOf } from '../../../domain/json-member.ts';
import type { LogLine } from '../../../domain/run/step-result.ts';
import type { RunRecord, RunWhole } from '../../../store/contract/records.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { LIST_QUERY, listOf, numberCursor, pageOf, selectFields } from '../../list.ts';
import { idIn, operation } from '../../openapi/operation.ts';
import { runIdOf } from '../../wire/log/runs.ts';
import { SOURCE_LOG_LINE } from '../../wire/sources.ts';
import { exists } from './emitters.ts';

/** Runs that are read at the same time. */
const READ_AT_ONCE = 10;

export function addSourceLogRoute(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listSourceLogs',
    tag: 'sources',
    access: 'read',
    summary: 'Read the log of a source',
    description:
      'The log lines of its last 100 runs: newest run first, the lines of a run in their order. `limit`, cursors and `page_info` count runs.',
    params: idIn(PREFIX.source, 'The source.'),
    query: LIST_QUERY,
    answer: listOf(SOURCE_LOG_LINE),
  });
  app.get('/v1/sources/:id/logs', { schema }, async ({ params, query, caller }) => {
    const { ownerId } = caller;
    const page = pageOf(query, numberCursor(PREFIX.run));
    await exists(store, ownerId, { id: params.id, noun: 'source', prefix: PREFIX.source });
    const { items, totalCount } = await store.listRuns({ ownerId, runnableId: params.id }, page);
    const runs = await readAll(items, (run) => store.getRun(ownerId, run));
    const pageInfo = {
      total_count: totalCount,
      count: items.length,
      start_cursor: runIdOf(items[0]?.run ?? null),
      end_cursor: runIdOf(items.at(-1)?.run ?? null),
    };
    return { page_info: pageInfo, data: selectFields(runs.flatMap(linesOf), query) };
  });
}

async function readAll(
  items: readonly RunRecord[],
  read: (run: number) => Promise<RunWhole | undefined>,
): Promise<(RunWhole | undefined)[]> {
  const runs: (RunWhole | undefined)[] = [];
  for (let at = 0; at < items.length; at += READ_AT_ONCE) {
    runs.push(...(await Promise.all(items.slice(at, at + READ_AT_ONCE).map(({ run }) => read(run)))));
  }
  return runs;
}

function linesOf(run: RunWhole | undefined): object[] {
  if (!run || run.detail === null) return [];
  const logs = memberOf(Buffer.from(run.detail), 'logs');
  const lines = logs ? (JSON.parse(text(logs)) as LogLine[]) : [];
  return lines.map((line) => ({ run_id: runIdOf(run.run), ...line }));
}
