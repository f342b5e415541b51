import { text } from '../../../domain/bytes.ts';
import { numberedId, numberOf, PREFIX } from '../../../domain/ids.ts';
import { memberOf } from '../../../domain/json-member.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { LogLine } from '../../../domain/run/step-result.ts';
import type { RunRecord, RunWhole } from '../../../store/contract/records.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, type WireRecord } from '../../list.ts';
import { idIn, operation } from '../../openapi/operation.ts';
import { SOURCE_LOG_LINE } from '../../wire/sources.ts';
import { exists } from './emitters.ts';

/** Runs that are read at the same time. */
const READ_AT_ONCE = 10;
/** A cursor: the run, and which of its lines. */
const LINE_ID = /^(r_[0-9a-z]+)-(\d{1,9})$/;

interface LogPosition {
  readonly run: number;
  readonly line: number;
}

interface ShownLine extends LogPosition {
  readonly shown: WireRecord;
}

export function addSourceLogRoute(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listSourceLogs',
    tag: 'sources',
    access: 'read',
    summary: 'Read the log of a source',
    description: `The log lines of its last ${LIMITS.pageRecords} runs: newest run first, the lines of a run in their order. \`after\` goes on behind a line, \`before\` has those in front of one.`,
    params: idIn(PREFIX.source, 'The source.'),
    query: LIST_QUERY,
    answer: listOf(SOURCE_LOG_LINE),
  });
  app.get('/v1/sources/:id/logs', { schema }, async ({ params, query, caller }) => {
    const { ownerId } = caller;
    const { limit, after, before } = pageOf(query, placeOf);
    await exists(store, ownerId, { id: params.id, noun: 'source', prefix: PREFIX.source });
    const { items } = await store.listRuns({ ownerId, runnableId: params.id }, { limit: LIMITS.pageRecords });
    const lines = await linesOf(items, (run) => store.getRun(ownerId, run));
    const onPage = lines.filter(
      (line) => (after === undefined || isBehind(line, after)) && (before === undefined || isBehind(before, line)),
    );
    const page = before !== undefined && after === undefined ? onPage.slice(-limit) : onPage.slice(0, limit);
    return listAnswer({ totalCount: lines.length, items: page }, ({ shown }) => shown);
  });
}

function placeOf(cursor: string): LogPosition | undefined {
  const [, id = '', line] = LINE_ID.exec(cursor) ?? [];
  const run = numberOf(PREFIX.run, id);
  return run === undefined ? undefined : { run, line: Number(line) };
}

/** Returns whether one line stands behind another in the list. */
function isBehind(one: LogPosition, other: LogPosition): boolean {
  return one.run === other.run ? one.line > other.line : one.run < other.run;
}

async function linesOf(
  items: readonly RunRecord[],
  read: (run: number) => Promise<RunWhole | undefined>,
): Promise<ShownLine[]> {
  const lines: ShownLine[] = [];
  for (let at = 0; at < items.length; at += READ_AT_ONCE) {
    const runs = await Promise.all(items.slice(at, at + READ_AT_ONCE).map(({ run }) => read(run)));
    lines.push(...runs.flatMap(linesOfRun));
  }
  return lines;
}

function linesOfRun(whole: RunWhole | undefined): ShownLine[] {
  if (!whole || whole.detail === null) return [];
  const logs = memberOf(Buffer.from(whole.detail), 'logs');
  const lines = logs ? (JSON.parse(text(logs)) as LogLine[]) : [];
  const { run } = whole;
  const runId = numberedId(PREFIX.run, run);
  return lines.map((fields, line) => ({ run, line, shown: { id: `${runId}-${line}`, run_id: runId, ...fields } }));
}
