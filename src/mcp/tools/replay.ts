// replay_errors, read_replay
//
// A replay runs code again, with effects in the world. So it takes two calls: the first one only tells what would be run, and
// gives a confirmation, without which the second one is refused. The confirmation is a hash of the order and of what the dry
// run found: it holds for exactly that, in every process and after a restart, and nothing is kept for it. It is no secret: it
// keeps a model from acting before it has looked, not the owner of the key from calling the interface. (Rejected: a
// confirmation that the server remembers. There are no sessions, and the next call may come to another process.)

import { createHash } from 'node:crypto';
import type { Errand, Operation, ReplayDryRun, ReplayErrorsInput } from '../../client/client.ts';
import { OUTCOMES } from '../../domain/errors/replaying.ts';
import { LIMITS } from '../../domain/limits.ts';
import { cut, isoOf, MAX } from '../excerpt.ts';
import { flag, ids, input, listOf, oneOf, orNull, output, record, since, text, until, whole } from '../schema.ts';
import { READING, type Tool, ToolError, tool } from '../tool.ts';

const MAX_IDS = 100;
const CONFIRMATION = /^([0-9a-z]{1,12})\.([\w-]{22})$/;
const RADIX = 36;
/** Older ones say little about what there is now. */
const CONFIRMS_FOR_MS = 3_600_000;

interface ReplayInput {
  readonly error_ids?: readonly string[];
  readonly group_id?: string;
  readonly workflow_id?: string;
  readonly source_id?: string;
  readonly code?: string;
  readonly step?: string;
  readonly since?: string;
  readonly until?: string;
  readonly again?: boolean;
  readonly from?: 'first_step' | 'failed_step';
  readonly ordered?: boolean;
  readonly rate?: number;
  readonly event?: unknown;
  readonly confirm?: string;
}

const OPERATION = {
  operation_id: ids.operation,
  state: text('running, paused, done or cancelled.'),
  total: orNull({ type: 'integer', description: 'How many errors were found.' }),
  progress: orNull({ type: 'number', description: 'From 0 to 1.' }),
  outcomes: record('How many came to which outcome.'),
  reason: orNull(text('Why it waits, or ended early.')),
};

export const replayErrors: Tool = tool<ReplayInput>({
  name: 'replay_errors',
  title: 'Run the events of errors again',
  description:
    'Runs the original events of errors again with the code that is active now: of errors named by error_ids, or of a group, workflow or source. It takes two calls. Call it without confirm first: nothing is run, and the answer says which errors it would be, how many of them would be run (to_replay) and why the others would not, and gives a confirmation. Show that to the person. Then call it with the same members and that confirmation as confirm. When what would be run has changed since, it is refused: make a new dry run. With event, the one named error is run with that event instead.',
  scope: 'write',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: input({
    error_ids: { ...listOf(ids.error, 'These errors.'), minItems: 1, maxItems: MAX_IDS, uniqueItems: true },
    group_id: ids.group,
    workflow_id: ids.workflow,
    source_id: ids.source,
    code: text('With a group, workflow or source: only errors with this code.', { maxLength: LIMITS.codeChars }),
    step: text('With a group, workflow or source: only errors of the step with this name.', {
      maxLength: LIMITS.namespaceChars,
    }),
    since,
    until,
    again: flag('Also errors that were replayed already.'),
    from: oneOf(
      ['first_step', 'failed_step'],
      'failed_step: from the step that failed; the steps before it are not run again, and what they gave is kept. first_step: all steps; the default.',
    ),
    ordered: flag('One at a time, in the order in which the errors came.'),
    rate: whole('At most so many a second.', 1, LIMITS.replaysPerSecond),
    event: { description: 'Only with exactly one of error_ids: run this event instead. Any JSON.' },
    confirm: text('The confirmation of the dry run.', { maxLength: 100 }),
  }),
  output: output(
    {
      was_dry_run: flag('True: nothing was run.'),
      count: { type: 'integer', description: 'How many errors there are.' },
      at_least: flag('There may be more than were counted.'),
      to_replay: { type: 'integer', description: 'How many of them would be run again now.' },
      passed_over: { type: 'integer', description: 'How many would not.' },
      reasons: listOf(record('outcome, reason, count'), 'Why those would be passed over.'),
      by_workflow: listOf(record('id, count'), 'How many of which workflow or source.'),
      sample: listOf(record('id, code, message, left_out'), 'The oldest ones, which go first.'),
      confirm: text('Give it as confirm to run them.'),
      run_id: ids.run,
      ...OPERATION,
    },
    ['was_dry_run'],
  ),
  call: async (errand, given) => {
    const { confirm, event, ...rest } = given;
    check(given);
    const nowMs = Date.now();
    const [, at = '', digest] = CONFIRMATION.exec(confirm ?? '') ?? [];
    if (confirm !== undefined && digest === undefined) throw new ToolError(UNKNOWN);
    const madeAtMs = digest === undefined ? nowMs : Number.parseInt(at, RADIX);
    if (digest !== undefined && !(madeAtMs <= nowMs && nowMs - madeAtMs < CONFIRMS_FOR_MS)) throw new ToolError(STALE);
    // What comes between the two calls is not run: it was not looked at.
    const order = rest.error_ids || rest.until !== undefined ? rest : { ...rest, until: String(madeAtMs) };
    const dry = await dryRun(errand, order);
    const found = digestOf({ order, event, dry });
    if (digest === undefined) return shown(dry, `${madeAtMs.toString(RADIX)}.${found}`);
    if (digest !== found) throw new ToolError(CHANGED);
    if (event !== undefined) return await replayEdited(errand, given);
    const { data: begun } = await errand.replayErrors(order);
    if ('dry_run' in begun) throw new ToolError('The server has only counted the errors: nothing was run.');
    return { was_dry_run: false, ...operationOf(begun) };
  },
});

const DRY_FIRST = 'Call replay_errors without confirm: nothing is run, and its answer has the confirmation.';
const UNKNOWN = `This is no confirmation of a dry run. ${DRY_FIRST}`;
const STALE = `This confirmation is older than an hour. ${DRY_FIRST}`;
const CHANGED = `Nothing was run: what was asked for, or the errors that it would be, are not those of the dry run. ${DRY_FIRST}`;

function check({ error_ids: errorIds, event, ...rest }: ReplayInput): void {
  const ways = [errorIds, rest.group_id, rest.workflow_id, rest.source_id].filter((way) => way !== undefined);
  if (ways.length !== 1) throw new ToolError('Give one of error_ids, group_id, workflow_id and source_id.');
  if (event !== undefined && errorIds?.length !== 1)
    throw new ToolError('event is for one error: give exactly one id in error_ids.');
  if (event !== undefined && rest.from === 'failed_step') throw new ToolError('event runs all steps: leave out from.');
  const chosen = Object.entries({ code: rest.code, step: rest.step, since: rest.since, until: rest.until });
  const [other] = chosen.find(([, value]) => value !== undefined) ?? [];
  if (errorIds && other !== undefined)
    throw new ToolError(`${other} chooses among errors of a group, workflow or source.`);
}

async function dryRun(errand: Errand, order: ReplayErrorsInput): Promise<ReplayDryRun> {
  const { data } = await errand.replayErrors({ ...order, dry_run: true });
  if ('dry_run' in data) return data;
  throw new ToolError('The server does not say which errors it would be.');
}

interface DryRun {
  readonly order: ReplayErrorsInput;
  readonly event: unknown;
  readonly dry: ReplayDryRun;
}

function digestOf({ order, event, dry }: DryRun): string {
  const members = Object.entries(order).sort(([a], [b]) => (a < b ? -1 : 1));
  const sample = dry.sample.map(({ id, reason }) => [id, reason]);
  const seen = [members, event, dry.count, dry.to_replay, dry.by_workflow.map(({ id, count }) => [id, count]), sample];
  return createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 22);
}

function shown(dryRun: ReplayDryRun, confirm: string) {
  const { count, at_least: atLeast, to_replay: toReplay, passed_over: passedOver, reasons, by_workflow: by } = dryRun;
  return {
    was_dry_run: true,
    count,
    at_least: atLeast,
    to_replay: toReplay,
    passed_over: passedOver,
    reasons: reasons.map(({ outcome, reason, count: of }) => ({ outcome, reason, count: of })),
    by_workflow: by.map(({ id, count: of }) => ({ id, count: of })),
    sample: dryRun.sample.map(({ id, code, msg, reason }) => {
      return { id, code, message: msg === null ? null : cut(msg, MAX.message), left_out: reason };
    }),
    // Without errors there is nothing to confirm.
    ...(count === 0 ? {} : { confirm }),
  };
}

async function replayEdited(errand: Errand, { error_ids: [id = ''] = [], event }: ReplayInput): Promise<object> {
  const { emitter_id: of } = await errand.getErrorFixture({ record_id: id });
  if (!/^(p|dc)_/.test(of)) throw new ToolError(`${id} is no error of a run: there is no code to run with an event.`);
  const asked = { id: of, record_id: id, event };
  const { data } = of.startsWith('dc_') ? await errand.replaySourceError(asked) : await errand.replayError(asked);
  return { was_dry_run: false, run_id: data.run_id };
}

export const readReplay: Tool = tool<{ readonly operation_id: string }>({
  name: 'read_replay',
  title: 'Read how a replay goes',
  description:
    'Shows how far a replay of errors is, and what became of its errors: fixed, failed in the same way, or failed differently.',
  scope: 'read',
  hints: READING,
  input: input({ operation_id: ids.operation }, ['operation_id']),
  output: output(
    {
      ...OPERATION,
      results: listOf(record('error_id, outcome, run_id, reason, error (code and msg)'), 'The newest results.'),
    },
    ['operation_id', 'state', 'results'],
  ),
  call: async (errand, { operation_id: id }) => {
    const { data } = await errand.getOperation({ id });
    const { data: results } = await errand.listReplayResults({ id, limit: 20 });
    return { ...operationOf(data), ended_at: isoOf(data.ended_at_ms), results };
  },
});

function operationOf({ id, state, total, progress, reason, replay }: Operation) {
  const counts = Object.entries(replay ?? {}).filter(([name]) => COUNTED.has(name));
  return { operation_id: id, state, total, progress, outcomes: Object.fromEntries(counts), reason };
}

const COUNTED: ReadonlySet<string> = new Set(['replayed', ...OUTCOMES]);
