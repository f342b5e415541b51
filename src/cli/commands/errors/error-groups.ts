// errand errors groups list | show | differences | resolve | mute | reopen | edit

import type { Command } from 'commander';
import type { Differences, ErrorGroup, UpdateErrorGroupInput } from '../../../client/client.ts';
import { GROUP_SORTS, GROUP_STATES, UNASSIGNED } from '../../../domain/errors/group.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { withExamples } from '../../shell/examples.ts';
import { CliError, EXIT } from '../../shell/exit.ts';
import { findEmitter, findId, namesOfEmitters, refuseMissing, titleOf } from '../../shell/find.ts';
import {
  type Column,
  printFields,
  printFirst,
  printJson,
  printLine,
  printTable,
  stateStyle,
  timeColumn,
} from '../../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../../shell/remote.ts';
import { oneLine, safeLines, timeText } from '../../shell/text.ts';
import { choiceOption, countValue, futureValue, LIST_LIMIT, take, timeValue } from '../../shell/values.ts';

/** Returns what the errors of a group say, on one line; of a group by a rule, the rule. */
function whatOf({ rule, fingerprint: { code, template } }: ErrorGroup): string {
  return rule ?? [code, template].filter((part) => part !== '').join(': ');
}

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<ErrorGroup>[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: ({ state }) => state, style: stateStyle },
  { title: 'ERRORS', of: ({ count }) => count },
  timeColumn('LAST', ({ last_seen_ms: ms }) => ms),
  { title: 'OF', of: ({ emitter_id: id }) => names.get(id) ?? id },
  { title: 'WHAT', of: whatOf },
];

interface ListOptions extends ServerOptions {
  readonly of?: string;
  readonly state?: ErrorGroup['state'];
  readonly code?: string;
  readonly since?: string;
  readonly text?: string;
  readonly assignee?: string;
  readonly sort?: 'last_seen' | 'count';
  readonly limit: number;
}

interface MuteOptions extends ServerOptions {
  readonly until?: string;
  readonly errors?: number;
  readonly nextDeployment?: true;
  readonly note?: string;
}

interface EditOptions extends ServerOptions {
  readonly assignee?: string;
  readonly note?: string;
}

const NO_END = 'a mute ends some time: give --until, --errors or --next-deployment';

export function addGroups(errors: Command, connect: Connect): void {
  const groups = errors.command('groups').description('errors that have the same cause, counted');
  const list = serverCommand(groups, 'list', 'list groups, most recently seen first')
    .option('--of <id>', 'only groups of this workflow, source, webhook or heartbeat')
    .addOption(choiceOption('--state <state>', 'only groups in this state', GROUP_STATES))
    .option('--code <code>', 'only groups with this code')
    .option('--since <time>', 'seen at or after this time', timeValue)
    .option('--text <text>', 'only groups whose code, message template, frame or step contains this text')
    .option('--assignee <address>', `only groups assigned to this mail address; ${UNASSIGNED}: to no person`)
    .addOption(choiceOption('--sort <by>', 'the order', GROUP_SORTS))
    .option('--limit <n>', 'how many to show; 0: all', countValue(0), LIST_LIMIT);
  withExamples(list, 'errand errors groups list --state open --sort count');
  list.action(async ({ of, state, code, since, text, assignee, sort, limit, ...options }: ListOptions) => {
    const { errand, out, isJson } = await connect(options);
    const emitterId = of === undefined ? undefined : await findEmitter(errand, of);
    const asked = { emitter_id: emitterId, state, code, since, text, assignee, sort };
    const taken = await take(errand.listErrorGroups(asked), limit);
    if (taken.records.length === 0 && emitterId !== undefined) await refuseMissing(errand, emitterId);
    if (isJson) return printJson(out, taken.records);
    if (taken.records.length === 0) return out.note('no groups of errors');
    await printFirst(out, taken, columnsOf(await namesOfEmitters(errand)));
  });
  serverCommand(groups, 'show <id>', 'show a group: first and last seen, counts, deployments').action(
    async (id: string, options: ServerOptions) => {
      const { errand, out, isJson } = await connect(options);
      const { data } = await errand.getErrorGroup({ id: await findId(errand, 'group', id) });
      if (isJson) return printJson(out, data);
      await printFields(out, {
        ...fieldsOf(data),
        of: titleOf(data.emitter_id, await namesOfEmitters(errand)),
        note: data.note,
        assignee: data.assignee,
      });
      out.note(`Its errors: errand errors list --group ${data.id}`);
      out.note(`How its events differ from those of successful runs: errand errors groups differences ${data.id}`);
    },
  );
  addDifferences(groups, connect);
  addChanges(groups, connect);
}

function fieldsOf(group: ErrorGroup): Record<string, string | number | null> {
  return {
    group: group.id,
    state: group.state,
    until: endOf(group),
    errors: group.count,
    of: group.emitter_id,
    what: group.rule ?? group.why,
    first: timeText(group.first_seen_ms),
    last: timeText(group.last_seen_ms),
    'last error': group.last_error_id,
    'last deployment': group.last_deployment_id,
  };
}

/** Returns when the state of a muted or resolved group is over; null: it has no end. */
function endOf(group: ErrorGroup): string | null {
  if (group.state === 'resolved') return group.resolved_in_next_deployment ? 'an error of a later deployment' : null;
  if (group.state !== 'muted') return null;
  const { muted_until_ms: ms, muted_errors_left: left, muted_until_next_deployment: isNext } = group;
  const ends = [
    ...(ms === null ? [] : [timeText(ms)]),
    ...(left === null ? [] : [`${left} more ${left === 1 ? 'error' : 'errors'}`]),
    ...(isNext ? ['an error of a later deployment'] : []),
  ];
  return ends.join(', or ');
}

function addDifferences(groups: Command, connect: Connect): void {
  const differences = serverCommand(
    groups,
    'differences <id>',
    'show how the events of a group differ from those of successful runs, and what changed before its first error',
  );
  withExamples(differences, 'errand errors groups differences eg_0Vj3aBc9dEfGhIjK');
  differences.action(async (given: string, options: ServerOptions) => {
    const remote = await connect(options);
    const id = await findId(remote.errand, 'group', given);
    const { data } = await remote.errand.getErrorGroupDifferences({ id });
    if (remote.isJson) return printJson(remote.out, data);
    await showDifferences(remote, data);
  });
}

async function showDifferences({ out }: Remote, differences: Differences): Promise<void> {
  const { looked_at: lookedAt, fields, last_good: good, first_bad: bad, code, shape } = differences;
  const counted = ({ count, part }: { count: number; part: boolean }): string =>
    `${count}${part ? ' (there are more)' : ''}`;
  await printFields(out, {
    group: differences.group_id,
    failures: counted(lookedAt.failures),
    successes: counted(lookedAt.successes),
    'last good run': good?.run_id,
    'first error': bad?.error_id,
  });
  const part = async (title: string, lines: readonly string[]): Promise<void> => {
    if (lines.length > 0)
      await out.write(`\n${out.style('bold', title)}\n${lines.map((line) => `${line}\n`).join('')}`);
  };
  await part(
    'What differs',
    fields.map(({ text }) => oneLine(text)),
  );
  for (const { namespace, lines } of code ?? [])
    await part(`Code of ${oneLine(namespace)}`, lines?.flatMap((line) => safeLines(line)) ?? ['too many lines differ']);
  if (shape === null || shape.length === 0) return;
  await out.write('\n');
  await printTable(out, shape, [
    { title: 'FIELD', of: ({ path }) => path },
    { title: 'LAST GOOD', of: ({ before }) => before.join(', ') || 'missing' },
    { title: 'FIRST BAD', of: ({ after }) => after.join(', ') || 'missing' },
  ]);
}

type Changes = Omit<UpdateErrorGroupInput, 'id'>;

function changer(connect: Connect) {
  return async (ids: readonly string[], options: ServerOptions, to: Changes): Promise<void> => {
    const { errand, out, isJson } = await connect(options);
    for (const given of ids) {
      const { data } = await errand.updateErrorGroup({ id: await findId(errand, 'group', given), ...to });
      const { id: group, state, note, assignee } = data;
      if (!isJson) await printFields(out, { group, state, until: endOf(data), note, assignee });
      else if (ids.length === 1) printJson(out, data);
      else await printLine(out, data);
    }
  };
}

function addChanges(groups: Command, connect: Connect): void {
  const change = changer(connect);
  const resolve = serverCommand(groups, 'resolve <ids...>', 'mark groups as resolved; the next error opens them again')
    .option('--next-deployment', 'only errors of a later deployment open them again')
    .option('--note <text>', 'note that is kept with the groups');
  withExamples(resolve, 'errand errors groups resolve eg_0Vj3aBc9dEfGhIjK --next-deployment');
  resolve.action(
    (
      ids: readonly string[],
      { nextDeployment, note, ...options }: ServerOptions & { nextDeployment?: true; note?: string },
    ) => change(ids, options, { state: 'resolved', resolved_in_next_deployment: nextDeployment, note }),
  );
  const mute = serverCommand(groups, 'mute <ids...>', 'mute groups: their errors are still listed, but send no notices')
    .option('--until <time>', 'until this time: 2h, 7d from now, or 2027-01-31T12:00:00Z', futureValue)
    .option('--errors <n>', 'until this many more errors have occurred', countValue(1, LIMITS.maxMuteErrors))
    .option('--next-deployment', 'until a later deployment has an error of the group')
    .option('--note <text>', 'note that is kept with the groups');
  withExamples(mute, 'errand errors groups mute eg_0Vj3aBc9dEfGhIjK --errors 100 --note "the shop is closed"');
  mute.action((ids: readonly string[], { until, errors, nextDeployment, note, ...options }: MuteOptions) => {
    if (until === undefined && errors === undefined && !nextDeployment) throw new CliError(NO_END, EXIT.usage);
    return change(ids, options, {
      state: 'muted',
      muted_until: until,
      muted_errors: errors,
      muted_until_next_deployment: nextDeployment,
      note,
    });
  });
  const reopen = serverCommand(groups, 'reopen <ids...>', 'open resolved or muted groups again');
  withExamples(reopen, 'errand errors groups reopen eg_0Vj3aBc9dEfGhIjK');
  reopen.action((ids: readonly string[], options: ServerOptions) => change(ids, options, { state: 'open' }));
  const edit = serverCommand(groups, 'edit <ids...>', 'assign groups to a person, or write a note to them')
    .option('--assignee <address>', `the mail address of the person; ${UNASSIGNED}: no person any more`)
    .option('--note <text>', 'note that is kept with the groups; an empty text removes it');
  withExamples(
    edit,
    'errand errors groups edit eg_0Vj3aBc9dEfGhIjK --assignee ada@example.com',
    'errand errors groups edit eg_0Vj3aBc9dEfGhIjK --note "waits for the new price list"',
  );
  edit.action((ids: readonly string[], { assignee, note, ...options }: EditOptions) => {
    if (assignee === undefined && note === undefined)
      throw new CliError('nothing to change: give --assignee or --note', EXIT.usage);
    return change(ids, options, {
      ...(assignee === undefined ? {} : { assignee: assignee === UNASSIGNED ? null : assignee }),
      ...(note === undefined ? {} : { note: note === '' ? null : note }),
    });
  });
}
