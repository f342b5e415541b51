// Operations as shown, and their parameters.

import type { Static } from 'typebox';
import { overIn } from '../../../domain/errors/replaying.ts';
import { msOf, numberedId, PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import {
  OPERATION_KINDS,
  OPERATION_STATES,
  type Operation,
  RESENDABLE,
  type ResendableState,
} from '../../../domain/operation.ts';
import type { ResendInput } from '../../../domain/requests.ts';
import type { ResendPreview } from '../../../store/contract/operations.ts';
import { CREATED_AT_MS, EMITTER, id, msAt, nullable, oneOf, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { TIME_WANTED, timeOf, wrong } from '../times.ts';
import { REPLAY_PROGRESS, replayingToWire } from './replays.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [120] });

export const OPERATION = Type.Object(
  {
    id: id('op_'),
    kind: oneOf(
      OPERATION_KINDS,
      '`resend` sends deliveries of a webhook again, `replay` runs the events of errors again.',
    ),
    webhook_id: nullable(id('wh_', 'The webhook, of a resend.')),
    state: oneOf(OPERATION_STATES, 'Whether it runs, pauses or is over.'),
    states: Type.Array(oneOf(RESENDABLE), {
      description: 'Of a resend: states of the deliveries that are sent again.',
    }),
    since_ms: msAt('Start of the period that it is about'),
    until_ms: msAt('End of the period that it is about'),
    total: nullable(
      Type.Integer({
        minimum: 0,
        description: 'How many were found; null while they are still being counted.',
        examples: [120],
      }),
    ),
    resent: count('How many deliveries were sent again.'),
    passed_over: Type.Integer({
      minimum: 0,
      description: 'How many were in another state when it was their turn. Set when the operation is done.',
      examples: [0],
    }),
    replay: nullable(REPLAY_PROGRESS),
    progress: nullable(
      Type.Number({ description: 'From 0 to 1; null while they are still being counted.', examples: [1] }),
    ),
    reason: nullable(text({ description: 'Why it waits, or ended early.', example: 'Paused.' })),
    created_at_ms: CREATED_AT_MS,
    updated_at_ms: msAt('When it last went on'),
    ended_at_ms: nullable(
      Type.Integer({
        description: 'When it ended, in milliseconds since the Unix epoch; null: it has not ended.',
        examples: [1_782_000_000_123],
      }),
    ),
  },
  { title: 'Operation' },
);

export function operationToWire(operation: Operation): Static<typeof OPERATION> {
  return {
    id: operation.id,
    kind: operation.kind,
    webhook_id: operation.webhookId,
    state: operation.state,
    states: [...operation.states],
    since_ms: operation.sinceMs,
    until_ms: operation.untilMs,
    total: operation.total,
    resent: operation.resent,
    passed_over: operation.passedOver,
    replay: operation.replaying && replayingToWire(operation.replaying),
    progress: progressOf(operation),
    reason: operation.reason,
    created_at_ms: operation.createdAtMs,
    updated_at_ms: operation.updatedAtMs,
    ended_at_ms: operation.endedAtMs,
  };
}

function progressOf({ state, total, resent, passedOver, replaying }: Operation): number | null {
  if (state === 'done') return 1;
  if (total === null) return null;
  const over = replaying ? overIn(replaying.counts) : resent + passedOver;
  return total === 0 ? 0 : Math.min(1, over / total);
}

const STATES_WANTED = `one or more of ${RESENDABLE.join(', ')}`;

const TIME_EXAMPLES = ['2026-01-31T12:00:00Z'];

export const RESEND = {
  since: Type.Union([Type.Integer(), Type.String()], {
    description: `Deliveries that were accepted from then on: ${TIME_WANTED}.`,
    'x-expected': TIME_WANTED,
    examples: TIME_EXAMPLES,
  }),
  until: Type.Optional(
    Type.Union([Type.Integer(), Type.String(), Type.Null()], {
      description: 'And before then; now when not given.',
      'x-expected': TIME_WANTED,
      examples: ['2026-02-01T00:00:00Z'],
    }),
  ),
  state: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: `Those that are in one of these states when it is their turn: ${STATES_WANTED}, by commas or as an array; exhausted when not given.`,
      'x-expected': STATES_WANTED,
      examples: ['exhausted'],
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'True: nothing is sent, and the answer says what would be.', examples: [true] }),
  ),
};

export const RESEND_DRY_RUN = Type.Object(
  {
    dry_run: Type.Literal(true, { description: 'Nothing was sent.' }),
    count: Type.Integer({ minimum: 0, description: 'Deliveries found.', examples: [42] }),
    at_least: Type.Boolean({ description: 'There are more than were counted.', examples: [false] }),
    by_state: Type.Array(
      Type.Object({ state: oneOf(RESENDABLE, 'State of the delivery.'), count: count('How many deliveries have it.') }),
      { description: 'How many there are of each state.' },
    ),
    sample: Type.Array(
      Type.Object({
        id: id('dl_'),
        state: oneOf(RESENDABLE, 'State of the delivery.'),
        emitter_id: EMITTER,
        event_name: text({ description: 'Name of the event: empty when it has none.', example: '' }),
        attempts_made: count('How many attempts were made.'),
        created_at_ms: CREATED_AT_MS,
      }),
      { description: `The oldest ${LIMITS.replaySample}, which would go first.` },
    ),
  },
  { title: 'ResendDryRun' },
);

export function resendDryRunToWire({
  count,
  isAtLeast,
  byState,
  sample,
}: ResendPreview): Static<typeof RESEND_DRY_RUN> {
  return {
    dry_run: true,
    count,
    at_least: isAtLeast,
    by_state: [...byState].map(([state, of]) => ({ state, count: of })),
    sample: sample.map(({ delivery, state, emitterId, eventName, attemptsMade }) => ({
      id: numberedId(PREFIX.delivery, delivery),
      state: state as ResendableState,
      emitter_id: emitterId,
      event_name: eventName,
      attempts_made: attemptsMade,
      created_at_ms: msOf(delivery),
    })),
  };
}

const RESEND_OBJECT = Type.Object(RESEND);

export function resendInput({ since, until, state }: Static<typeof RESEND_OBJECT>, nowMs: number): ResendInput {
  const sinceMs = timeOf('since', since);
  const untilMs = until === undefined || until === null ? null : timeOf('until', until);
  if (untilMs !== null && untilMs <= sinceMs) throw wrong('until', 'must be later than since', until);
  if (sinceMs > nowMs) throw wrong('since', 'must lie in the past', since);
  return { sinceMs, untilMs, states: statesOf(state ?? 'exhausted') };
}

function statesOf(given: string | readonly string[]): readonly ResendableState[] {
  const names = (typeof given === 'string' ? given.split(',') : given).map((name) => name.trim());
  const isKnown = (name: string): name is ResendableState => (RESENDABLE as readonly string[]).includes(name);
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) throw wrong('state', `must be ${STATES_WANTED}`, unknown);
  if (names.length === 0) throw wrong('state', `must be ${STATES_WANTED}`, []);
  return RESENDABLE.filter((state) => names.includes(state));
}
