// One error, whole.

import { type Errand, type ErrorRecordWhole, ProblemError } from '../../../client/client.ts';
import { CliError, EXIT } from '../../shell/exit.ts';
import { exactDataOf } from '../../shell/json-text.ts';
import { printFields, printJson, printTable, stateStyle, timeColumn } from '../../shell/output.ts';
import type { Remote } from '../../shell/remote.ts';
import { safeLines, timeText } from '../../shell/text.ts';

const MAX_EVENT_LINES = 40;

/** Returns the answer with an error, by its id alone. Throws `CliError` when it is not there. */
export async function findError(errand: Errand, id: string): Promise<{ readonly data: ErrorRecordWhole }> {
  const ms = Number(id.split('-')[0]);
  // Its id tells when it came; how many came in that millisecond is not known.
  for await (const found of errand.searchErrors({ since: String(ms), until: String(ms + 1) })) {
    if (found.id !== id) continue;
    const asked = { id: found.metadata.emitter_id, record_id: id, expand: 'event' } as const;
    if (asked.id.startsWith('dc_')) return await errand.getSourceError(asked);
    if (asked.id.startsWith('wh_')) return await errand.getWebhookError(asked);
    if (asked.id.startsWith('hb_')) return await errand.getHeartbeatError(asked);
    return await errand.getWorkflowError(asked);
  }
  throw new CliError(`there is no error ${id}`, EXIT.notFound);
}

const NAMED: Readonly<Record<string, (errand: Errand, id: string) => Promise<string | null | undefined>>> = {
  p: async (errand, id) => (await errand.getWorkflow({ id })).data.name,
  dc: async (errand, id) => (await errand.getSource({ id })).data.name,
  wh: async (errand, id) => (await errand.getWebhook({ id })).data.name,
  ch: async (errand, id) => (await errand.getChannel({ id })).data.name,
};

/** Returns the names of listeners that have one and still exist. */
async function namesOfListeners(errand: Errand, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const id of new Set(ids)) {
    try {
      const name = await NAMED[/^[a-z]+(?=_)/.exec(id)?.[0] ?? '']?.(errand, id);
      if (name) names.set(id, name);
    } catch (error) {
      // Of one that was deleted there is the id alone.
      if (!(error instanceof ProblemError) || error.status !== 404) throw error;
    }
  }
  return names;
}

export async function showError(
  { errand, out, isJson }: Remote,
  answer: { readonly data: ErrorRecordWhole },
): Promise<void> {
  const exact = exactDataOf(answer);
  if (isJson) return printJson(out, exact);
  const record = answer.data;
  const { event, metadata } = record;
  const context = event?.original_context;
  await printFields(out, {
    error: record.id,
    time: timeText(record.indexed_at_ms),
    code: event?.error.code,
    of: context?.workflow_name ? `${context.workflow_name} (${metadata.emitter_id})` : metadata.emitter_id,
    step: event?.error.namespace,
    deployment: context?.deployment_id,
    group: metadata.group_id,
    attempt: context?.attempt,
    run: record.run_retained === false ? `${record.run_id} (no longer retained)` : record.run_id,
    delivery: record.delivery_id,
    told: record.told,
  });
  const message = safeLines(event?.error.msg ?? '').map((line) => out.style('red', line));
  const stack = safeLines(event?.error.stack ?? '').filter((line) => line !== '');
  await out.write(`\n${message.join('\n')}\n${stack.map((line) => `  ${line.trim()}\n`).join('')}`);
  const lines = safeLines(JSON.stringify(exact.event?.original_event, null, 2) ?? '');
  const cut =
    lines.length > MAX_EVENT_LINES ? [`… ${lines.length - MAX_EVENT_LINES} more lines: --event prints all`] : [];
  await out.write(`\n${out.style('bold', 'Event')}\n${[...lines.slice(0, MAX_EVENT_LINES), ...cut].join('\n')}\n`);
  if (record.receipts.length > 0) {
    const names = await namesOfListeners(
      errand,
      record.receipts.map(({ listener_id: id }) => id),
    );
    await out.write(`\n${out.style('bold', 'Told')}\n`);
    await printTable(out, record.receipts, [
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'ID', of: ({ id }) => id },
      { title: 'LISTENER', of: ({ listener_id: id }) => id },
      { title: 'NAME', of: ({ listener_id: id }) => names.get(id) },
      { title: 'STATE', of: ({ state }) => state, style: stateStyle },
      { title: 'REASON', of: ({ reason }) => reason },
    ]);
  }
  if (record.replays.length > 0) {
    await out.write(`\n${out.style('bold', 'Run again')}\n`);
    await printTable(out, record.replays, [
      { title: 'KIND', of: ({ kind, edited }) => (edited ? `${kind}, edited` : kind) },
      { title: 'RUN', of: ({ run_id: id }) => id },
      { title: 'STATE', of: ({ state }) => state, style: stateStyle },
      { title: 'OUTCOME', of: ({ outcome }) => outcome },
      { title: 'BY', of: ({ operation_id: id }) => id },
      timeColumn('TIME', ({ created_at_ms: ms }) => ms),
      { title: 'ENDED IN', of: ({ error_id: id }) => id },
    ]);
  }
}
