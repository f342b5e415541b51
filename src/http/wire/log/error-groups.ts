// Groups of errors as shown, and their parameters.

import type { Static } from 'typebox';
import {
  type CapturedFault,
  explained,
  type GroupingRule,
  keyOf,
  ruleFor,
} from '../../../domain/errors/fingerprint.ts';
import { type ErrorGroup, GROUP_STATES, type GroupChange, type GroupOrder } from '../../../domain/errors/group.ts';
import { msOf, recordId } from '../../../domain/ids.ts';
import { HOUR_MS, LIMITS } from '../../../domain/limits.ts';
import type { GroupWhole } from '../../../store/contract/error-groups.ts';
import { id, mostlyNull, msAt, nullable, oneOf, RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { MAIL_ADDRESS } from '../owners.ts';
import { TIME_WANTED, timeOf, wrong } from '../times.ts';
import { ERROR, GROUPED_METADATA, INDEXED_AT_MS } from './emissions.ts';
import { RECEIPT } from './runs.ts';

const COUNT = Type.Integer({ minimum: 0, description: 'How many errors.', examples: [42] });

const FINGERPRINT = Type.Object(
  {
    version: Type.Integer({ description: 'Of the way in which fingerprints are made.', examples: [1] }),
    namespace: text({ description: 'The step; empty when the error belongs to none.', example: 'charge' }),
    code: text({ description: 'The code of the errors.', example: 'TypeError' }),
    template: text({
      description: 'The message without its variable parts, and the codes of its causes.',
      example: 'order {n} has no "{}"',
    }),
    frame: text({
      description: 'The first frame of own code; empty when there is none.',
      example: 'total (charge.ts)',
    }),
  },
  { title: 'Fingerprint', description: 'Of a group that a rule made: of its first error.' },
);

const STATES =
  '`open`: its errors are told. `resolved`: the next error opens it again. `muted`: nothing is told of it until the mute ends.';

const REOPENED = Type.Object(
  {
    from: oneOf(['resolved', 'muted'], 'The state that it had before.'),
    by: oneOf(
      ['error', 'time', 'count', 'deployment', 'person'],
      'What opened it again: an error, the end of a mute by its time, its count or a deployment, or a person.',
    ),
    at_ms: msAt('When it was opened again'),
    error_id: nullable(text({ description: 'The error that opened it; null: none did.', example: '1782000000123-0' })),
    deployment_id: nullable(id('d_', 'Deployment of the error that opened it.')),
  },
  { title: 'Reopened', description: 'How the group was last opened again.' },
);

const SEEN = {
  first_seen_ms: msAt('When the first of its errors came'),
  last_seen_ms: msAt('When the last of its errors came'),
};

export const ERROR_GROUP = Type.Object(
  {
    id: id('eg_'),
    emitter_id: text({ description: 'The workflow, source or webhook that failed.', example: 'p_0Vj3aBc9dEfGhIjK' }),
    state: oneOf(GROUP_STATES, STATES),
    why: text({
      description: 'What the errors have in common.',
      example: 'same step `charge`, same code `TypeError`, message template `order {n} has no "{}"`',
    }),
    fingerprint: FINGERPRINT,
    rule: nullable(text({ description: 'The name that a rule of the workflow gave it (`settings.grouping`).' })),
    count: Type.Integer({
      description: 'Number of its errors, also of those that are no longer kept.',
      examples: [42],
    }),
    ...SEEN,
    first_error_id: RECORD_ID,
    last_error_id: RECORD_ID,
    first_deployment_id: nullable(id('d_', 'Deployment of its first error; null: none ran.')),
    last_deployment_id: nullable(id('d_', 'Deployment of its last error; null: none ran.')),
    resolved_in_next_deployment: Type.Boolean({
      description: 'Errors of deployments that were there when it was resolved do not open it again.',
      examples: [false],
    }),
    muted_until_ms: mostlyNull('When the mute ends, in milliseconds since the Unix epoch; null: at no set time.'),
    muted_errors_left: mostlyNull('How many more errors end the mute; null: it does not end by a count.'),
    muted_until_next_deployment: Type.Boolean({
      description: 'True: the first error of a later deployment ends the mute.',
      examples: [false],
    }),
    reopened: nullable(REOPENED),
    note: nullable(
      text({ description: 'A note of yours; null: there is none.', example: 'Waits for the fix of the price list.' }),
    ),
    assignee: nullable(
      text({
        description: 'Who takes care of it, by mail address; null: no person is named.',
        example: 'ada@example.com',
      }),
    ),
    updated_at_ms: msAt('When it was changed last'),
  },
  { title: 'ErrorGroup' },
);

const SAMPLE = Type.Object(
  {
    id: RECORD_ID,
    indexed_at_ms: INDEXED_AT_MS,
    metadata: GROUPED_METADATA,
    deployment_id: nullable(id('d_', 'The deployment that failed; null: none ran.')),
    error: ERROR,
    receipts: Type.Array(RECEIPT, { description: 'Who was told.' }),
  },
  { title: 'ErrorSample' },
);

const HOURS = Type.Array(Type.Object({ from_ms: msAt('Start of the hour'), count: COUNT }, { title: 'GroupHour' }), {
  description: `Of the last ${LIMITS.groupHours} hours those that had errors, newest first.`,
});

/** With `expand=hours`, its hours, too. */
export const LISTED_GROUP = Type.Object(
  { ...ERROR_GROUP.properties, hours: Type.Optional(HOURS) },
  { title: 'ListedErrorGroup' },
);

export const ERROR_GROUP_WHOLE = Type.Object(
  {
    ...ERROR_GROUP.properties,
    hours: HOURS,
    deployments: Type.Array(Type.Object({ id: id('d_'), count: COUNT, ...SEEN }, { title: 'GroupDeployment' }), {
      description: `The newest ${LIMITS.groupDeployments} that had errors, newest first.`,
    }),
    samples: Type.Array(SAMPLE, { description: `The newest ${LIMITS.groupSamples} errors that are kept.` }),
  },
  { title: 'ErrorGroupWhole' },
);

export function groupToWire(group: ErrorGroup): Static<typeof ERROR_GROUP> {
  const { reopened, state, untilCount, count } = group;
  const waitsForDeployment = group.afterDeployment !== null;
  return {
    id: group.id,
    emitter_id: group.emitterId,
    state,
    why: explained(group.fingerprint, group.rule),
    fingerprint: group.fingerprint,
    rule: group.rule,
    count,
    first_seen_ms: msOf(group.firstEntry),
    last_seen_ms: msOf(group.lastEntry),
    first_error_id: recordId(group.firstEntry),
    last_error_id: recordId(group.lastEntry),
    first_deployment_id: group.firstDeployment,
    last_deployment_id: group.lastDeployment,
    resolved_in_next_deployment: state === 'resolved' && waitsForDeployment,
    muted_until_ms: group.untilMs,
    muted_errors_left: untilCount === null ? null : Math.max(0, untilCount - count),
    muted_until_next_deployment: state === 'muted' && waitsForDeployment,
    reopened: reopened && {
      from: reopened.from,
      by: reopened.by,
      at_ms: reopened.atMs,
      error_id: reopened.entry === null ? null : recordId(reopened.entry),
      deployment_id: reopened.deploymentId,
    },
    note: group.note,
    assignee: group.assignee,
    updated_at_ms: group.updatedAtMs,
  };
}

export function hoursToWire(hours: GroupWhole['hours']): Static<typeof HOURS> {
  return hours.map(({ hour, count }) => ({ from_ms: hour * HOUR_MS, count }));
}

export function groupWholeToWire(whole: GroupWhole, samples: readonly Static<typeof SAMPLE>[]) {
  return {
    ...groupToWire(whole.group),
    hours: hoursToWire(whole.hours),
    deployments: whole.deployments.map(({ deploymentId, count, firstEntry, lastEntry }) => ({
      id: deploymentId,
      count,
      first_seen_ms: msOf(firstEntry),
      last_seen_ms: msOf(lastEntry),
    })),
    samples,
  };
}

export const GROUP_ASSIGNEE = Type.Object(
  {
    assignee: text({ description: 'The mail address, as one of the groups has it.', example: 'ada@example.com' }),
    groups: Type.Integer({ minimum: 1, description: 'How many groups are assigned to it.', examples: [12] }),
    open: Type.Integer({ minimum: 0, description: 'How many of them are open.', examples: [3] }),
  },
  { title: 'GroupAssignee' },
);

export const GROUP_UPDATE = {
  state: Type.Optional(oneOf(GROUP_STATES, STATES)),
  resolved_in_next_deployment: Type.Optional(
    Type.Boolean({
      description: 'With the state `resolved`: only an error of a later deployment opens it again.',
      examples: [true],
    }),
  ),
  muted_until: Type.Optional(
    Type.Union([Type.Integer(), Type.String(), Type.Null()], {
      description: `With the state \`muted\`: until then, ${TIME_WANTED}.`,
      'x-expected': TIME_WANTED,
      examples: ['2026-02-01T00:00:00Z'],
    }),
  ),
  muted_errors: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.maxMuteErrors,
        description: 'With the state `muted`: until so many more errors have come.',
        examples: [100],
      }),
    ),
  ),
  muted_until_next_deployment: Type.Optional(
    Type.Boolean({
      description: 'With the state `muted`: until an error of a later deployment.',
      examples: [false],
    }),
  ),
  note: Type.Optional(
    nullable(
      text({
        description: 'A note of yours. Null removes it.',
        maxLength: LIMITS.groupNoteChars,
        pattern: '^[^\\u0000]*$',
        expected: `at most ${LIMITS.groupNoteChars} characters, without the character NUL`,
        example: 'Waits for the fix of the price list.',
      }),
    ),
  ),
  assignee: Type.Optional({ ...MAIL_ADDRESS, description: 'Who takes care of it, by mail address. Null: no person.' }),
};

const UPDATE_OBJECT = Type.Object(GROUP_UPDATE);

export function groupChange(input: Static<typeof UPDATE_OBJECT>, nowMs: number): GroupChange {
  const { note, assignee } = input;
  const status = orderOf(input, nowMs);
  return {
    ...(status === undefined ? {} : { status }),
    ...(note === undefined ? {} : { note: note?.toWellFormed() ?? null }),
    ...(assignee === undefined ? {} : { assignee }),
  };
}

function orderOf(input: Static<typeof UPDATE_OBJECT>, nowMs: number): GroupOrder | undefined {
  const { state, resolved_in_next_deployment: inNextDeployment } = input;
  const { muted_until: until, muted_errors: afterCount, muted_until_next_deployment: untilNext } = input;
  if (inNextDeployment !== undefined && state !== 'resolved') {
    throw wrong('resolved_in_next_deployment', 'needs the state "resolved"', inNextDeployment);
  }
  const ends = { muted_until: until, muted_errors: afterCount, muted_until_next_deployment: untilNext };
  for (const [name, end] of Object.entries(ends)) {
    if (end !== undefined && state !== 'muted') throw wrong(name, 'needs the state "muted"', end);
  }
  if (state === undefined) return undefined;
  if (state === 'open') return { state };
  if (state === 'resolved') return { state, inNextDeployment: inNextDeployment ?? false };
  const untilMs = until === undefined || until === null ? null : timeOf('muted_until', until);
  if (untilMs !== null && (untilMs <= nowMs || untilMs > nowMs + LIMITS.maxMuteMs)) {
    throw wrong('muted_until', 'must lie in the future, at most 366 days away', until);
  }
  if (untilMs === null && (afterCount ?? null) === null && untilNext !== true) {
    throw wrong('state', 'muted needs an end: muted_until, muted_errors or muted_until_next_deployment', state);
  }
  return { state, untilMs, afterCount: afterCount ?? null, untilNextDeployment: untilNext ?? false };
}

export const GROUP_PREVIEW = Type.Object(
  {
    why: ERROR_GROUP.properties.why,
    fingerprint: FINGERPRINT,
    rule: nullable(text({ description: 'Name of the rule that makes it; null: none does.', example: 'cards' })),
    count: Type.Integer({ description: 'How many of the errors that were looked at.', examples: [12] }),
    error_ids: Type.Array(RECORD_ID, { description: 'These errors, newest first.' }),
    group_ids: Type.Array(id('eg_'), { description: 'The groups that these errors are in now.' }),
  },
  { title: 'ErrorGroupPreview' },
);

interface PastError {
  readonly entry: number;
  readonly groupId: string | null;
  readonly fault: CapturedFault;
}

/** Returns the groups that rules would make of errors, given newest first. */
export function previewOf(
  errors: readonly PastError[],
  rules: readonly GroupingRule[],
): Static<typeof GROUP_PREVIEW>[] {
  const groups = Map.groupBy(errors, ({ fault }) => keyOf(fault, ruleFor(fault, rules)));
  return [...groups.values()].flatMap((members) => {
    const oldest = members.at(-1);
    if (!oldest) return [];
    const { fingerprint } = oldest.fault;
    const rule = ruleFor(oldest.fault, rules)?.group ?? null;
    return [
      {
        why: explained(fingerprint, rule),
        fingerprint,
        rule,
        count: members.length,
        error_ids: members.map(({ entry }) => recordId(entry)),
        group_ids: [...new Set(members.flatMap(({ groupId }) => groupId ?? []))],
      },
    ];
  });
}
