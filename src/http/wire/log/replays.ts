// Replays of many errors as shown, and their parameters.

import type { Static } from 'typebox';
import {
  type ErrorSelection,
  LEFT_OUTCOMES,
  MOST_FAILURES,
  OUTCOMES,
  type OutcomeCounts,
  type Replaying,
  type ReplayOrder,
  replayedIn,
} from '../../../domain/errors/replaying.ts';
import { detailOf } from '../../../domain/failure.ts';
import { entryOf, isResourceId, PREFIX, recordId } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { DryRun } from '../../../store/contract/operations.ts';
import { count, id, mostlyNull, nullable, oneOf, RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { TIME_WANTED, timeOf, wrong } from '../times.ts';
import { word } from './error-filter.ts';
import { listedMessage } from './runs.ts';

const howMany = (description: string) => Type.Integer({ minimum: 0, description, examples: [42] });

const FROM = ['first_step', 'failed_step'] as const;

export const OUTCOME = oneOf(
  OUTCOMES,
  'What became of the error. `under_way`: the run of its replay is not over. `fixed`: it succeeded. `failed_same`: it failed with an error of the same group. `failed_differently`: with another one. `cancelled`: the run was cancelled. `unknown`: the run ended, and is no longer kept. `not_replayed`: it cannot be, see `reason`. `replayed_before`: a replay of it has ended already, see `reason`.',
);

const COUNTS = Object.fromEntries(
  OUTCOMES.map((outcome) => [outcome, howMany(`How many errors are \`${outcome}\`.`)]),
) as Record<keyof OutcomeCounts, ReturnType<typeof howMany>>;

export const REPLAY_PROGRESS = Type.Object(
  {
    group_id: nullable(id('eg_', 'Group that the errors are of; null: it was not asked for.')),
    workflow_id: nullable(id('p_', 'Workflow that the errors are of; null: it was not asked for.')),
    source_id: nullable(id('dc_', 'Source that the errors are of; null: it was not asked for.')),
    code: nullable(text({ description: 'Only errors with this code.', example: 'TypeError' })),
    step: nullable(text({ description: 'Only errors of steps with this name.', example: 'charge' })),
    failed_deployment_id: nullable(id('d_', 'Only errors of runs with this deployment.')),
    since_ms: mostlyNull('Only errors from then on, in milliseconds since the Unix epoch; null: all.'),
    until_ms: mostlyNull('Only errors before then, in milliseconds since the Unix epoch; null: all.'),
    error_ids: mostlyNull('How many errors were named; null: none.'),
    deployment: text({ description: 'The deployment that runs; `current`: the active one.', example: 'current' }),
    rate: nullable(
      Type.Number({ description: 'Most replays that begin in a second; null: no limit was set.', examples: [10] }),
    ),
    canary: Type.Integer({ description: 'How many errors go first.', examples: [1] }),
    canary_over: Type.Boolean({
      description: 'True: the first ones are fixed, and the others are replayed, too.',
      examples: [true],
    }),
    stop_on_failures: mostlyNull('After how many failures it pauses; null: after none.'),
    from: oneOf(FROM, 'The step that replays begin with.'),
    ordered: Type.Boolean({
      description: 'True: one at a time, in the order in which the errors came.',
      examples: [false],
    }),
    again: Type.Boolean({ description: 'True: also errors that were replayed before.', examples: [false] }),
    replayed: howMany('How many replays were begun.'),
    ...COUNTS,
  },
  {
    title: 'ReplayProgress',
    description: 'Of a replay: what it was asked for, and how many errors have come to which outcome.',
  },
);

export function replayingToWire({ order, counts, isCanaryOver }: Replaying): Static<typeof REPLAY_PROGRESS> {
  const { selection } = order;
  const { emitterId } = selection;
  const isOfSource = emitterId?.startsWith(PREFIX.source) ?? false;
  return {
    group_id: selection.groupId,
    workflow_id: isOfSource ? null : emitterId,
    source_id: isOfSource ? emitterId : null,
    code: selection.code,
    step: selection.step,
    failed_deployment_id: selection.deploymentId,
    since_ms: selection.sinceMs,
    until_ms: selection.untilMs,
    error_ids: selection.entries?.length ?? null,
    deployment: order.deploymentId ?? 'current',
    rate: order.rate,
    canary: order.canary,
    canary_over: isCanaryOver,
    stop_on_failures: order.stopOnFailures,
    from: order.isFromFailedStep ? 'failed_step' : 'first_step',
    ordered: order.isOrdered,
    again: order.isAgain,
    replayed: replayedIn(counts),
    ...counts,
  };
}

const time = (description: string, example: string) =>
  Type.Optional(
    Type.Union([Type.Integer(), Type.String()], {
      description: `${description}: ${TIME_WANTED}.`,
      'x-expected': TIME_WANTED,
      examples: [example],
    }),
  );

const IDS_WANTED = `1 to ${LIMITS.replayedIds} ids of errors, by commas or as an array`;

const SELECTORS = ['group_id', 'workflow_id', 'source_id', 'error_ids'] as const;

/** Which errors: one of the selectors. */
export const REPLAY_INPUT = {
  group_id: Type.Optional(text({ description: 'The errors of this group.', example: 'eg_0Vj3aBc9dEfGhIjK' })),
  workflow_id: Type.Optional(text({ description: 'The errors of this workflow.', example: 'p_0Vj3aBc9dEfGhIjK' })),
  source_id: Type.Optional(text({ description: 'The errors of this source.', example: 'dc_0Vj3aBc9dEfGhIjK' })),
  error_ids: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: `These errors, of any workflows: ${IDS_WANTED}.`,
      'x-expected': IDS_WANTED,
      examples: ['1782000000123-0'],
    }),
  ),
  since: time('With a group, workflow or source: only errors from then on', '2026-01-31T12:00:00Z'),
  until: time('And before then', '2026-02-01T00:00:00Z'),
  code: word('With a group, workflow or source: only errors with this code.', 'TypeError', LIMITS.codeChars),
  step: word(
    'With a group, workflow or source: only errors of steps with this name (`namespace`).',
    'charge',
    LIMITS.namespaceChars,
  ),
  failed_deployment_id: Type.Optional(
    text({
      description: 'With a group, workflow or source: only errors of runs with this deployment.',
      example: 'd_0Vj3aBc9dEfGhIjK',
    }),
  ),
  deployment: Type.Optional(
    text({
      description: '`current`: the deployment that is active when a replay begins; or the id of one of the workflow.',
      example: 'current',
    }),
  ),
  rate: Type.Optional(
    Type.Number({
      minimum: LIMITS.replaysPerSecondMin,
      maximum: LIMITS.replaysPerSecond,
      description: 'At most so many replays a second; as many as may be under way when not given.',
      examples: [10],
    }),
  ),
  canary: Type.Optional(
    count(
      0,
      LIMITS.replayCanary,
      'So many errors go first; the others wait until all of these are fixed, else the operation pauses. 1 when not given.',
    ),
  ),
  stop_on_failures: Type.Optional(
    count(1, MOST_FAILURES, 'Pauses after so many failures, and again after as many more.'),
  ),
  from: Type.Optional(
    oneOf(
      FROM,
      'The step that replays begin with. `failed_step`: the one that failed; those before it are not run again, and what they gave is kept. The deployment must begin with the same steps. `first_step` when not given.',
    ),
  ),
  ordered: Type.Optional(
    Type.Boolean({ description: 'One at a time, in the order in which the errors came.', examples: [true] }),
  ),
  again: Type.Optional(
    Type.Boolean({
      description:
        'Also errors of which a replay or a retry has ended already; they are left and counted when not given.',
      examples: [false],
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        'Only tells how many errors there are, how many of them would be replayed now and why the others would not, and shows a few.',
      examples: [false],
    }),
  ),
};

const INPUT_OBJECT = Type.Object(REPLAY_INPUT);

/** Refuses what contradicts itself. */
export function replayOrder(input: Static<typeof INPUT_OBJECT>): ReplayOrder {
  const { deployment = 'current' } = input;
  if (deployment !== 'current' && !isResourceId(deployment, PREFIX.deployment)) {
    throw wrong('deployment', 'must be "current" or the id of a deployment', deployment);
  }
  return {
    selection: selectionOf(input),
    deploymentId: deployment === 'current' ? null : deployment,
    rate: input.rate ?? null,
    canary: input.canary ?? 1,
    stopOnFailures: input.stop_on_failures ?? null,
    isFromFailedStep: input.from === 'failed_step',
    isOrdered: input.ordered ?? false,
    isAgain: input.again ?? false,
  };
}

function selectionOf(input: Static<typeof INPUT_OBJECT>): ErrorSelection {
  const { group_id: groupId, error_ids: errorIds, since, until, code, step } = input;
  const { workflow_id: workflowId, source_id: sourceId, failed_deployment_id: deploymentId } = input;
  const given = SELECTORS.filter((name) => input[name] !== undefined);
  if (given.length !== 1) {
    const message = `exactly one of ${SELECTORS.join(', ')} must be given, but here ${given.length === 0 ? 'is none' : `are ${given.join(' and ')}`}`;
    throw new Refusal('malformed', message, { errors: [{ parameter: given[1] ?? 'group_id', message }] });
  }
  if (errorIds !== undefined) {
    for (const [name, value] of Object.entries({ since, until, code, step, failed_deployment_id: deploymentId })) {
      if (value !== undefined) throw wrong(name, 'must not be given with error_ids', value);
    }
  }
  emitterOfKind('workflow', workflowId);
  emitterOfKind('source', sourceId);
  if (deploymentId !== undefined && !isResourceId(deploymentId, PREFIX.deployment)) {
    throw wrong('failed_deployment_id', 'must be the id of a deployment', deploymentId);
  }
  const sinceMs = since === undefined ? null : timeOf('since', since);
  const untilMs = until === undefined ? null : timeOf('until', until);
  if (sinceMs !== null && untilMs !== null && untilMs <= sinceMs)
    throw wrong('until', 'must be later than since', until);
  return {
    groupId: groupId ?? null,
    emitterId: workflowId ?? sourceId ?? null,
    code: code ?? null,
    step: step ?? null,
    deploymentId: deploymentId ?? null,
    sinceMs,
    untilMs,
    entries: errorIds === undefined ? null : entriesOf(errorIds),
  };
}

/** Refuses the id of another kind as one that is not there. */
function emitterOfKind(kind: 'workflow' | 'source', id: string | undefined): void {
  if (id !== undefined && !id.startsWith(PREFIX[kind])) throw new Refusal('not_found', `there is no ${kind} ${id}`);
}

function entriesOf(given: string | readonly string[]): readonly number[] {
  const ids = (typeof given === 'string' ? given.split(',') : given).map((one) => one.trim());
  if (ids.length === 0 || ids.length > LIMITS.replayedIds)
    throw wrong('error_ids', `must be ${IDS_WANTED}`, ids.length);
  const entries = ids.map((one) => {
    const entry = entryOf(one);
    if (entry === undefined) throw wrong('error_ids', 'must be ids of errors such as "1782000000123-0"', one);
    return entry;
  });
  return [...new Set(entries)].sort((a, b) => a - b);
}

const PASSED_OVER = ['under_way', ...LEFT_OUTCOMES] as const;

export const DRY_RUN = Type.Object(
  {
    dry_run: Type.Literal(true, { description: 'Nothing was replayed.' }),
    count: Type.Integer({ minimum: 0, description: 'Errors found.', examples: [42] }),
    at_least: Type.Boolean({
      description:
        'There may be more than were counted: so many errors, and so many bytes of their events, are looked at.',
      examples: [false],
    }),
    to_replay: Type.Integer({ minimum: 0, description: 'Of these, how many would be replayed now.', examples: [12] }),
    passed_over: Type.Integer({
      minimum: 0,
      description: 'And how many would not: see `reasons`. With `again`, what was run before is replayed.',
      examples: [30],
    }),
    reasons: Type.Array(
      Type.Object({
        outcome: oneOf(
          PASSED_OVER,
          'What the replay would count them as. It follows the replay of one that is `under_way`.',
        ),
        reason: text({ description: 'Why.', example: 'its event was run again, and succeeded' }),
        count: howMany('How many errors it is the reason for.'),
      }),
      { description: 'Why errors would be passed over, the reason of most first.' },
    ),
    by_workflow: Type.Array(
      Type.Object({
        id: text({ description: 'The workflow, source or webhook that failed.', example: 'p_0Vj3aBc9dEfGhIjK' }),
        count: howMany('How many of the errors are its.'),
      }),
      { description: 'How many errors there are of each.' },
    ),
    sample: Type.Array(
      Type.Object({
        id: RECORD_ID,
        emitter_id: nullable(id('p_', 'The workflow or source that failed; null: there is no such error.')),
        code: nullable(text({ description: 'Code of the error.', example: 'TypeError' })),
        msg: nullable(text({ description: 'Message of the error.', example: 'order 7 is lost' })),
        reason: nullable(text({ description: 'Why it would not be replayed; null: it would.' })),
      }),
      { description: `The oldest ${LIMITS.replaySample}, which would go first.` },
    ),
  },
  { title: 'ReplayDryRun' },
);

export function dryRunToWire({
  count: found,
  isAtLeast,
  toReplay,
  passedOver,
  byEmitter,
  sample,
}: DryRun): Static<typeof DRY_RUN> {
  return {
    dry_run: true,
    count: found,
    at_least: isAtLeast,
    to_replay: toReplay,
    passed_over: passedOver.reduce((sum, { count: of }) => sum + of, 0),
    reasons: [...passedOver],
    by_workflow: [...byEmitter].map(([emitterId, of]) => ({ id: emitterId, count: of })),
    sample: sample.map(({ entry, error, reason }) => ({
      id: recordId(entry),
      emitter_id: error?.emitterId ?? null,
      code: error?.code ?? null,
      msg: error && listedMessage(detailOf(error.body).error.msg),
      reason,
    })),
  };
}
