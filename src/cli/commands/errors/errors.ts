// errand errors list | show | tail | replay | export

import { type Command, Option } from 'commander';
import type { FoundError, StreamedError } from '../../../client/client.ts';
import { MOST_FAILURES } from '../../../domain/errors/replaying.ts';
import { TOLD_WORDS } from '../../../domain/errors/told.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { confirm } from '../../shell/ask.ts';
import { withExamples } from '../../shell/examples.ts';
import { CliError, EXIT } from '../../shell/exit.ts';
import { findId, namesOfEmitters, refuseMissing } from '../../shell/find.ts';
import { telling } from '../../shell/interrupt.ts';
import { readJsonText } from '../../shell/json-text.ts';
import { createNewFile } from '../../shell/new-file.ts';
import { tellingOutages } from '../../shell/outlast.ts';
import {
  type Column,
  printFields,
  printFirst,
  printJson,
  printLine,
  stateStyle,
  timeColumn,
} from '../../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../../shell/remote.ts';
import { oneLine, safeLines, timeText } from '../../shell/text.ts';
import { choiceOption, countValue, LIST_LIMIT, take } from '../../shell/values.ts';
import { runToEnd } from '../../shell/waiting.ts';
import { replaySeveral } from '../replays.ts';
import { printRun } from '../runs.ts';
import { type ErrorFilter, errorFilter, errorQuery, replaySelection } from './error-filter.ts';
import { addGroups } from './error-groups.ts';
import { findError, showError } from './error-show.ts';

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<FoundError>[] => [
  timeColumn('TIME', ({ indexed_at_ms: ms }) => ms),
  { title: 'ID', of: ({ id }) => id },
  {
    title: 'OF',
    of: ({ workflow_name: name, metadata: { emitter_id: id } }) => name ?? names.get(id) ?? id,
  },
  { title: 'STEP', of: ({ error }) => error.namespace, goes: 1 },
  { title: 'TOLD', of: ({ told }) => told, style: stateStyle, goes: 2 },
  { title: 'REPLAY', of: ({ replay }) => replay?.state, style: stateStyle },
  { title: 'CODE', of: ({ error }) => error.code, style: () => 'red' },
  { title: 'MESSAGE', of: ({ error }) => error.msg },
];

export function addErrors(program: Command, connect: Connect): void {
  const errors = program.command('errors').description('list, show, follow, replay and export errors');
  addList(errors, connect);
  addShow(errors, connect);
  addTail(errors, connect);
  addReplay(errors, connect);
  addGroups(errors, connect);
  addExport(errors, connect);
}

function addList(errors: Command, connect: Connect): void {
  const list = errorFilter(
    serverCommand(errors, 'list', 'list the newest errors of all workflows, sources and webhooks'),
  )
    .addOption(choiceOption('--told <state>', 'whether a listener was told, or what became of it', TOLD_WORDS))
    .option('--replayed', 'only errors with a replay or retry')
    .addOption(new Option('--not-replayed', 'only errors without a replay or retry').conflicts('replayed'))
    .option('--limit <n>', 'how many to show; 0: all', countValue(0), LIST_LIMIT);
  withExamples(
    list,
    'errand errors list --since 2h',
    'errand errors list --of "Charge orders" --code TypeError --json',
    'errand errors list --told false --not-replayed',
  );
  list.action(async (options: ListOptions) => {
    const remote = await connect(options);
    const { errand, out, isJson } = remote;
    const query = await errorQuery(errand, options);
    const found = errand.searchErrors({
      ...query,
      told: options.told,
      replayed: options.notReplayed ? false : options.replayed,
    });
    const taken = await take(found, options.limit);
    if (taken.records.length === 0 && query.emitter_id !== undefined) await refuseMissing(errand, query.emitter_id);
    if (isJson) return printJson(out, taken.records);
    if (taken.records.length === 0) return out.note('no errors');
    // An error of a workflow or source says its name.
    const isNamed = taken.records.every(({ workflow_name: name }) => name);
    await printFirst(out, taken, columnsOf(isNamed ? new Map() : await namesOfEmitters(errand)));
  });
}

interface ListOptions extends ServerOptions, ErrorFilter {
  readonly told?: NonNullable<FoundError['told']>;
  readonly replayed?: true;
  readonly notReplayed?: true;
  readonly limit: number;
}

function addShow(errors: Command, connect: Connect): void {
  const show = serverCommand(
    errors,
    'show <id>',
    'one error: its stack, its event, and who was told; "last": the newest',
  )
    .option('--event', 'print only the original event, as it arrived')
    .option('--fixture', 'print a fixture for "errand test" and errand/testing');
  withExamples(show, 'errand errors show last', 'errand errors show 1782000000123-0 --event > event.json');
  show.action(async (id: string, options: ServerOptions & { readonly event?: true; readonly fixture?: true }) => {
    const remote = await connect(options);
    const answer = await findError(remote.errand, await findId(remote.errand, 'error', id));
    const { id: recordId } = answer.data;
    if (options.event) return printEvent(remote, recordId);
    if (options.fixture) return printJson(remote.out, await remote.errand.getErrorFixture({ record_id: recordId }));
    await showError(remote, answer);
  });
}

/** Prints an event. The fixture has the bytes as they came; JSON that was read and written again may have other numbers. */
async function printEvent({ errand, out }: Remote, id: string): Promise<void> {
  const fixture = await errand.getErrorFixture({ record_id: id });
  const { original_event_text: event, original_event_base64: base64 } = fixture;
  if (!out.isTerminal) return out.write(event ?? Buffer.from(base64 ?? '', 'base64'));
  await out.write(`${safeLines(event ?? Buffer.from(base64 ?? '', 'base64').toString()).join('\n')}\n`);
}

function addTail(errors: Command, connect: Connect): void {
  const tail = errorFilter(
    serverCommand(errors, 'tail', 'errors as they come, until Ctrl-C; with --json one a line'),
    false,
  ).option('--after <id>', 'start after this error, with those that followed it');
  withExamples(tail, 'errand errors tail', 'errand errors tail --of "Charge orders" --json | jq .event.error.msg');
  tail.action(async (options: ServerOptions & ErrorFilter & { readonly after?: string }) => {
    const { errand, out, isJson, url } = await connect(options);
    const query = await errorQuery(errand, options);
    const after = options.after === undefined ? undefined : await findId(errand, 'error', options.after);
    const outages = tellingOutages(out, `errors of ${url}, as they come; Ctrl-C ends it`);
    const stream = errand.streamErrors(query, { lastEventId: after, ...outages });
    for await (const event of stream) {
      if (event.kind === 'gap') out.note(`errand: errors behind ${event.after} may be missing: they are kept no more`);
      else if (isJson) await printLine(out, event.data);
      else await out.write(`${lineOf(out, event.data)}\n`);
    }
  });
}

function lineOf(out: Remote['out'], { id, indexed_at_ms: ms, event, metadata }: StreamedError): string {
  const { error, original_context: context } = event;
  const name = oneLine(context.workflow_name ?? metadata.emitter_id);
  const step = error.namespace === '' ? '' : `/${oneLine(error.namespace)}`;
  return `${out.style('dim', `${timeText(ms)} ${id}`)} ${name}${step} ${out.style('red', oneLine(error.code))} ${oneLine(error.msg)}`;
}

function addReplay(errors: Command, connect: Connect): void {
  const replay = errorFilter(
    serverCommand(
      errors,
      'replay [ids...]',
      'run the original events of errors again: of the errors named, or of all that match the options',
    ),
  )
    .option('--event <file>', 'for a single error: run this event instead, a JSON file; - is standard input')
    .option('--dry-run', 'only show which errors would be replayed')
    .option('--again', 'include errors that were already replayed')
    .addOption(
      choiceOption('--from <step>', 'failed_step: from the step that failed, with the results of the steps before it', [
        'first_step',
        'failed_step',
      ]),
    )
    .option('--run-with <deployment_id>', 'run this deployment instead of the active one')
    .option(
      '--canary <n>',
      'replay this many first, and the others when these are fixed (default: 1; 0: all at once)',
      countValue(0, LIMITS.replayCanary),
    )
    .option('--stop-on-failures <n>', 'pause after this many failures', countValue(1, MOST_FAILURES))
    .option('--ordered', 'one at a time, in the order of the errors')
    .option('--rate <n>', 'at most this many per second', countValue(1, LIMITS.replaysPerSecond))
    .option('--wait', 'for a single error: wait until its run is over, and show it; exit code 1 unless it succeeded')
    .option('--yes', 'do not ask for confirmation');
  withExamples(
    replay,
    'errand errors replay last --wait',
    'errand errors replay 1782000000123-0 --event corrected.json',
    'errand errors replay --of "Charge orders" --code TypeError --since 2d --dry-run',
    'errand errors replay --of "Charge orders" --from failed_step --canary 3',
  );
  replay.action(async (given: readonly string[], options: ReplayOptions) => {
    const remote = await connect(options);
    const { errand } = remote;
    if (given.length > 0) refuseFilter(options);
    const ids = [];
    for (const id of given) ids.push(await findId(errand, 'error', id));
    if (ids.length === 1 && ids[0] && !options.dryRun && !isForMany(options)) return replayOne(remote, ids[0], options);
    if (options.event !== undefined && isForMany(options))
      throw new CliError(
        '--event runs all steps of the active deployment, once: leave out --from, --run-with, --rate, --canary, --stop-on-failures and --ordered',
        EXIT.usage,
      );
    if (options.event !== undefined) throw new CliError('--event is for one error', EXIT.usage);
    const chosen =
      ids.length > 0 ? { error_ids: ids } : await replaySelection(errand, await errorQuery(errand, options));
    const { again, rate, from, runWith: deployment, canary, ordered, stopOnFailures: stop_on_failures } = options;
    await replaySeveral(
      remote,
      { ...chosen, again, rate, from, deployment, canary, stop_on_failures, ordered },
      { isDry: options.dryRun, ask: (question) => confirm(question, options.yes) },
    );
  });
}

interface ReplayOptions extends ServerOptions, ErrorFilter {
  readonly event?: string;
  readonly dryRun?: true;
  readonly again?: true;
  readonly rate?: number;
  readonly from?: 'first_step' | 'failed_step';
  readonly runWith?: string;
  readonly canary?: number;
  readonly stopOnFailures?: number;
  readonly ordered?: true;
  readonly wait?: true;
  readonly yes?: true;
}

/** Returns whether an option is given that only operations have. */
function isForMany({ from, runWith, rate, canary, stopOnFailures, ordered }: ReplayOptions): boolean {
  return from === 'failed_step' || [runWith, rate, canary, stopOnFailures, ordered].some((one) => one !== undefined);
}

function refuseFilter({ of, code, group, step, text, deployment, since, until }: ErrorFilter): void {
  const given = { of, code, group, step, text, deployment, since, until };
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (name !== undefined) throw new CliError(`--${name} chooses errors: leave the ids out, or --${name}`, EXIT.usage);
}

async function replayOne(remote: Remote, id: string, options: ReplayOptions): Promise<void> {
  const { errand, out, isJson } = remote;
  const { event: file, again } = options;
  const { metadata, replays } = (await findError(errand, id)).data;
  // As a replay of several does: what was charged by the first one is not charged twice.
  const before = again || file !== undefined ? undefined : replays.find(({ state }) => state !== 'cancelled');
  if (before) {
    const { run_id: run, state } = before;
    throw new CliError(`its event was run again already: run ${run} (${state}); --again runs it once more`);
  }
  const { emitter_id: emitter } = metadata;
  const edited = file === undefined ? {} : { bodyText: `{"event":${await readJsonText(file)}}` };
  if (emitter.startsWith('wh_'))
    throw new CliError(`${id} is an error of a delivery: send it again with "errand deliveries resend"`);
  if (emitter.startsWith('hb_'))
    throw new CliError(`${id} is an error of a heartbeat: no event can be run again, start its job instead`);
  const asked = { id: emitter, record_id: id };
  const { data } = emitter.startsWith('dc_')
    ? await errand.replaySourceError(asked, edited)
    : await errand.replayError(asked, edited);
  if (options.wait && data.run_id !== null) return printRun(remote, await runToEnd(remote, data.run_id));
  if (isJson) return printJson(out, data);
  await printFields(out, { error: id, run: data.run_id });
  out.note(`See what became of it: errand runs show ${data.run_id}`);
}

function addExport(errors: Command, connect: Connect): void {
  const command = errorFilter(serverCommand(errors, 'export', 'write all stored errors as JSON lines, oldest first'))
    .option('--after <id>', 'only errors after this one')
    .option('--out <file>', 'write to this file, which must not exist yet');
  withExamples(
    command,
    'errand errors export --since 30d --out errors.ndjson',
    'errand errors export --of "Charge orders" | jq -r .error.code | sort | uniq -c',
  );
  command.action(async (options: ServerOptions & ErrorFilter & { readonly after?: string; readonly out?: string }) => {
    const { errand, out } = await connect(options);
    const after = options.after === undefined ? undefined : await findId(errand, 'error', options.after);
    const lines = errand.exportErrors({ ...(await errorQuery(errand, options)), after });
    if (options.out === undefined) {
      for await (const line of lines) await printLine(out, line);
      return;
    }
    const file = createNewFile(options.out);
    let [count, last] = [0, ''];
    const isPart = (): string =>
      `errand: ${file.partial} has a part, ${errorsText(count)}${last === '' ? '' : `; the others: --after ${last}, into another file`}`;
    try {
      await telling(out, isPart, async () => {
        for await (const line of lines) {
          file.write(`${JSON.stringify(line)}\n`);
          last = line.id;
          out.progress(errorsText(++count));
        }
      });
    } catch (error) {
      out.note(isPart());
      throw error;
    }
    file.finish();
    out.endProgress();
    out.note(`${errorsText(count)} written into ${options.out}`);
  });
}

function errorsText(count: number): string {
  return `${count} ${count === 1 ? 'error' : 'errors'}`;
}
