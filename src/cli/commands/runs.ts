// errand runs list | show | tail | retry | cancel

import { type Command, Option } from 'commander';
import type { Errand, Run, RunWhole } from '../../client/client.ts';
import { RUN_STATES } from '../../domain/run/run.ts';
import { endedRuns } from '../shell/ended-runs.ts';
import { withExamples } from '../shell/examples.ts';
import { findId, findRunner, namesOf, refuseMissing, titleOf } from '../shell/find.ts';
import { exactDataOf } from '../shell/json-text.ts';
import { outlasting } from '../shell/outlast.ts';
import {
  type Column,
  printFields,
  printFirst,
  printJson,
  printLine,
  printTable,
  stateStyle,
  timeColumn,
} from '../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { oneLine, safeLines, timeText, tookText } from '../shell/text.ts';
import { choiceOption, countValue, LIST_LIMIT, take, timeValue } from '../shell/values.ts';
import { runToEnd, type Waiting, waitOption } from '../shell/waiting.ts';

const tookMs = ({ started_at_ms: from, ended_at_ms: to }: Run): number | null =>
  from === null || to === null ? null : to - from;

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Run>[] => [
  timeColumn('TIME', ({ created_at_ms: ms }) => ms),
  { title: 'ID', of: ({ id }) => id },
  {
    title: 'OF',
    of: ({ workflow_id: workflow, source_id: source }) => names.get(workflow ?? source ?? '') ?? workflow ?? source,
  },
  { title: 'STATE', of: ({ state }) => state, style: stateStyle },
  { title: 'ATTEMPT', of: ({ attempt }) => (attempt > 1 ? attempt : '') },
  { title: 'TOOK', of: (run) => tookText(tookMs(run)) },
  { title: 'WHAT', of: ({ error, summary }) => (error ? `${error.code}: ${error.msg}` : summary) },
];

interface Filter {
  readonly of?: string;
  readonly workflow?: string;
  readonly source?: string;
  readonly state?: Run['state'];
  readonly code?: string;
  readonly text?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Of runs that are over. */
const ENDED_STATES = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly Run['state'][];

function runFilter(command: Command, states: readonly Run['state'][] = RUN_STATES): Command {
  return command
    .option('--of <id>', 'only runs of this workflow or source')
    .addOption(new Option('--workflow <id>', 'only runs of this workflow').conflicts('of'))
    .addOption(new Option('--source <id>', 'only runs of this source').conflicts('of'))
    .addOption(choiceOption('--state <state>', 'only runs in this state', states))
    .option('--code <code>', 'only runs that failed with this code')
    .option('--text <text>', 'only runs whose event or summary contains this text');
}

async function runQuery(errand: Errand, { of, workflow, source, state, code, text, since, until }: Filter) {
  const id = of === undefined ? undefined : await findRunner(errand, of);
  const workflowId = workflow === undefined ? undefined : await findId(errand, 'workflow', workflow);
  const sourceId = source === undefined ? undefined : await findId(errand, 'source', source);
  return {
    workflow_id: id?.startsWith('p_') ? id : workflowId,
    source_id: id?.startsWith('dc_') ? id : sourceId,
    ...{ state, error_code: code, text, since, until },
  };
}

export function addRuns(program: Command, connect: Connect): void {
  const runs = program
    .command('runs')
    .description('list, show, follow, retry and cancel executions of workflows and sources');
  const list = runFilter(serverCommand(runs, 'list', 'list the newest runs'))
    .option('--since <time>', 'from this time on: an age such as 2h or 7d, or 2026-01-31T12:00:00Z', timeValue)
    .option('--until <time>', 'before this time', timeValue)
    .option('--limit <n>', 'how many to show; 0: all', countValue(0), LIST_LIMIT);
  withExamples(
    list,
    'errand runs list --state failed --since 1d',
    'errand runs list --workflow "Charge orders" --text order-7 --json',
  );
  list.action(async (options: ServerOptions & Filter & { readonly limit: number }) => {
    const { errand, out, isJson } = await connect(options);
    const query = await runQuery(errand, options);
    const taken = await take(errand.searchRuns(query), options.limit);
    const of = query.workflow_id ?? query.source_id;
    if (taken.records.length === 0 && of !== undefined) await refuseMissing(errand, of);
    if (isJson) return printJson(out, taken.records);
    if (taken.records.length === 0) return out.note('no runs');
    await printFirst(out, taken, columnsOf(await namesOf(errand)));
  });
  addShow(runs, connect);
  addTail(runs, connect);
  addChanges(runs, connect);
}

function addShow(runs: Command, connect: Connect): void {
  const show = serverCommand(runs, 'show <id>', 'show a run: its steps, logs and error; "last": the newest');
  withExamples(show, 'errand runs show last', 'errand runs show r_g4w9zl7uo0 --json');
  show.action(async (id: string, options: ServerOptions) => {
    const remote = await connect(options);
    await printRun(remote, await remote.errand.getRun({ id: await findId(remote.errand, 'run', id) }));
  });
}

/** Prints a run with its steps, logs and error. */
export async function printRun(remote: Remote, answer: { readonly data: RunWhole }): Promise<void> {
  const exact = exactDataOf(answer);
  if (remote.isJson) return printJson(remote.out, exact);
  await showRun(remote, answer.data, exact.steps);
}

/** Prints a run for people. `exact`: its steps, with the numbers that they returned as they were. */
async function showRun({ errand, out }: Remote, run: RunWhole, exact: RunWhole['steps']): Promise<void> {
  await printFields(out, {
    run: run.id,
    of: titleOf(run.workflow_id ?? run.source_id ?? '', await namesOf(errand)),
    deployment: run.deployment_id,
    state: run.state,
    attempt: run.attempt > 1 ? run.attempt : null,
    created: timeText(run.created_at_ms),
    started: timeText(run.started_at_ms),
    took: tookText(tookMs({ ...run, error: undefined })),
    waits: run.waiting && `${run.waiting.kind} until ${timeText(run.waiting.until_ms)}`,
    summary: run.summary,
    'caused by': run.caused_by.run_id ?? run.caused_by.emission_id,
    error: run.error_id,
    'retried by': run.retried_by,
  });
  if (run.steps.length > 0) {
    await out.write('\n');
    const steps = run.steps.map((step, n) => ({ ...step, return_value: exact[n]?.return_value }));
    await printTable(out, steps, [
      { title: 'STEP', of: ({ namespace }) => namespace },
      { title: 'STATE', of: ({ state }) => state, style: stateStyle },
      { title: 'TOOK', of: ({ took_ms: ms }) => tookText(ms) },
      {
        title: 'RETURNED',
        of: ({ return_value: value }) => (value === undefined || value === null ? '' : JSON.stringify(value)),
      },
    ]);
  }
  if (run.logs.length > 0) {
    await out.write(`\n${out.style('bold', 'Printed')}\n`);
    for (const { ts_ms: ms, level, text } of run.logs) {
      const style = stateStyle(level);
      for (const line of safeLines(text)) {
        await out.write(
          `${out.style('dim', new Date(ms).toISOString().slice(11, 23))} ${style ? out.style(style, line) : line}\n`,
        );
      }
    }
  }
  if (!run.error) return;
  const message = oneLine(`${run.error.code}: ${run.error.msg}`);
  const stack = safeLines(run.error.stack).filter((line) => line !== '');
  await out.write(`\n${out.style('red', message)}\n${stack.map((line) => `  ${line.trim()}\n`).join('')}`);
}

const LOOK_MS = 700;

function addTail(runs: Command, connect: Connect): void {
  const tail = runFilter(
    serverCommand(runs, 'tail', 'runs as they end, until Ctrl-C; with --json one a line'),
    ENDED_STATES,
  );
  withExamples(tail, 'errand runs tail --workflow "Charge orders"', 'errand runs tail --state failed --json');
  tail.action(async ({ state, ...options }: ServerOptions & Filter) => {
    const { errand, out, isJson, url } = await connect(options);
    // Of runs that are not over the state changes: it is judged when they are.
    const query = await runQuery(errand, options);
    const onBegin = (): void => out.hint(`runs of ${url}, as they end; Ctrl-C ends it`);
    for await (const run of endedRuns(errand, { query, lookMs: LOOK_MS, again: outlasting(out), onBegin })) {
      if (state !== undefined && run.state !== state) continue;
      if (isJson) await printLine(out, run);
      else await out.write(`${lineOf(out, run)}\n`);
    }
  });
}

function lineOf(out: Remote['out'], run: Run): string {
  const style = stateStyle(run.state);
  const state = style ? out.style(style, run.state) : run.state;
  const what = run.error ? `${run.error.code}: ${run.error.msg}` : (run.summary ?? '');
  const when = out.style('dim', `${timeText(run.ended_at_ms)} ${run.id}`);
  return `${when} ${run.workflow_id ?? run.source_id} ${state} ${tookText(tookMs(run))} ${oneLine(what)}`.trimEnd();
}

function addChanges(runs: Command, connect: Connect): void {
  const retry = waitOption(
    serverCommand(
      runs,
      'retry <ids...>',
      'run the events of failed runs again, from the step that failed, with the active code',
    ),
  ).option('--again', 'also runs that were already retried or replayed');
  withExamples(retry, 'errand runs retry r_g4w9zl7uo0', 'errand runs retry last --wait');
  retry.action(async (ids: readonly string[], options: ServerOptions & Waiting & { readonly again?: true }) => {
    const remote = await connect(options);
    const { errand, out, isJson } = remote;
    for (const given of ids) {
      const id = await findId(errand, 'run', given);
      const { data } = await errand.retryRun({ id, again: options.again });
      const run = options.wait && data.run_id !== null ? await runToEnd(remote, data.run_id) : null;
      if (run !== null && isJson) await printLine(out, exactDataOf(run));
      else if (run !== null) await printRun(remote, run);
      else if (isJson) await printLine(out, data);
      else await printFields(out, { run: id, 'retried by': data.run_id });
    }
  });
  serverCommand(runs, 'cancel <ids...>', 'cancel runs that are queued, waiting or running').action(
    async (ids: readonly string[], options: ServerOptions) => {
      const { errand, out, isJson } = await connect(options);
      for (const given of ids) {
        const { data } = await errand.cancelRun({ id: await findId(errand, 'run', given) });
        if (isJson) await printLine(out, data);
        else await printFields(out, { run: data.id, state: data.state });
        if (['succeeded', 'failed'].includes(data.state)) out.note(`${data.id} had ended before`);
      }
    },
  );
}
