// Triggers of a workflow: parameters, and as shown.

import type { Static } from 'typebox';
import { NO_TOKEN, type TokenInput, type Urls } from '../../domain/endpoint.ts';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ShownTrigger, TriggerInput } from '../../domain/requests.ts';
import { id, nullable, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { cronExpression, TIMEZONE } from './schedules.ts';
import { EMITTER_ID, EVENT_NAME_INPUT, ID_TAIL } from './subscriptions.ts';

const MAX_INTERVAL_S = 366 * 86_400;
const STRICT = { additionalProperties: false };

const AUTH_INPUT = Type.Object(
  {
    type: Type.Union([Type.Literal('none'), Type.Literal('bearer')], {
      description: '`bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them.',
      'x-expected': '"none" or "bearer"',
      examples: ['bearer'],
    }),
    token: Type.Optional(
      Type.String({
        description:
          'With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out.',
        minLength: 1,
        maxLength: 255,
        pattern: '^[!-~]+$',
        'x-expected': '1 to 255 letters, digits and signs of ASCII, without spaces',
        'x-secret': true,
      }),
    ),
  },
  { ...STRICT, description: 'What callers of the address must send.' },
);

/** Members that answers have: accepted, so that an answer can be sent back. */
const SHOWN_ONLY = {
  id: Type.Optional(
    text({
      description:
        'In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type.',
      maxLength: 64,
    }),
  ),
  endpoint_url: Type.Optional(
    text({ description: 'Accepted and ignored, so that an answer can be sent back.', maxLength: LIMITS.urlChars }),
  ),
  next_at_ms: Type.Optional(
    nullable(Type.Integer({ description: 'Accepted and ignored, so that an answer can be sent back.' })),
  ),
  next_at_iso: Type.Optional(
    nullable(text({ description: 'Accepted and ignored, so that an answer can be sent back.', maxLength: 64 })),
  ),
};

const HTTP_INPUT = Type.Object(
  {
    ...SHOWN_ONLY,
    type: Type.Literal('http', { description: 'It takes events at an address of its own.' }),
    custom_response: Type.Optional(
      Type.Boolean({ description: 'The caller waits for what the run passes to `$.respond`.', examples: [false] }),
    ),
    auth: Type.Optional(AUTH_INPUT),
  },
  STRICT,
);

const ERRORS_INPUT = Type.Object(
  {
    ...SHOWN_ONLY,
    type: Type.Literal('errors', { description: 'It takes errors of another program at an address of its own.' }),
    auth: Type.Optional(AUTH_INPUT),
  },
  STRICT,
);

const SCHEDULE_INPUT = Type.Object(
  {
    ...SHOWN_ONLY,
    type: Type.Literal('schedule', { description: 'It fires at set times.' }),
    cron: Type.Optional(cronExpression('Cron expression, instead of `interval_seconds`.', '0 9 * * 1-5')),
    interval_seconds: Type.Optional(
      Type.Integer({ description: 'Seconds between two ticks.', minimum: 1, maximum: MAX_INTERVAL_S, examples: [900] }),
    ),
    timezone: Type.Optional(TIMEZONE),
  },
  STRICT,
);

const SOURCE_ID = text({
  description: 'Id of the source.',
  pattern: `^dc_${ID_TAIL}$`,
  expected: 'the id of a source (dc_…)',
  example: 'dc_0Vj3aBc9dEfGhIjK',
});

const SOURCE_INPUT = Type.Object(
  { ...SHOWN_ONLY, type: Type.Literal('source', { description: 'It hears a source.' }), source_id: SOURCE_ID },
  STRICT,
);

const EMITTER_INPUT = Type.Object(
  {
    ...SHOWN_ONLY,
    type: Type.Literal('emitter', { description: 'It hears another emitter.' }),
    emitter_id: EMITTER_ID,
    event_name: EVENT_NAME_INPUT,
  },
  STRICT,
);

const TRIGGER_INPUT = Type.Union([HTTP_INPUT, ERRORS_INPUT, SCHEDULE_INPUT, SOURCE_INPUT, EMITTER_INPUT]);

export const TRIGGER = Type.Object(
  {
    id: text({ description: 'Id of the trigger.', example: 'hi_0Vj3aBc9dEfGhIjK' }),
    type: text({ description: '`http`, `errors`, `schedule`, `source` or `emitter`.', example: 'http' }),
    endpoint_url: Type.Optional(
      text({
        description: 'Of http and errors: its address. A secret.',
        example: 'http://127.0.0.1:4400/e/Xk3vJ8nZ5tX1bL7cR0sW2y',
      }),
    ),
    custom_response: Type.Optional(
      Type.Boolean({ description: 'Of http: callers wait for what the run passes to `$.respond`.', examples: [false] }),
    ),
    auth: Type.Optional(
      Type.Object(
        { type: text({ description: '`none` or `bearer`.', example: 'none' }) },
        { description: 'Of http and errors: what callers must send.' },
      ),
    ),
    cron: Type.Optional(text({ description: 'Of a schedule: its cron expression.', example: '0 9 * * 1-5' })),
    interval_seconds: Type.Optional(
      Type.Number({ description: 'Of a schedule: seconds between two ticks.', examples: [900] }),
    ),
    timezone: Type.Optional(text({ description: 'Of a schedule: time zone of `cron`, an IANA name.', example: 'UTC' })),
    next_at_ms: Type.Optional(
      nullable(
        Type.Integer({
          description:
            'Of a schedule: when the next tick is due, in milliseconds since the Unix epoch; null while the workflow is inactive.',
        }),
      ),
    ),
    source_id: Type.Optional(id('dc_', 'The source that it hears.')),
    emitter_id: Type.Optional(id('p_', 'The emitter that it hears.')),
    event_name: Type.Optional(
      text({ description: 'Name of the events that start it: empty for events without a name.', example: '' }),
    ),
  },
  {
    title: 'Trigger',
    examples: [
      {
        id: 'hi_0Vj3aBc9dEfGhIjK',
        type: 'http',
        endpoint_url: 'http://127.0.0.1:4400/e/Xk3vJ8nZ5tX1bL7cR0sW2y',
        custom_response: false,
        auth: { type: 'none' },
      },
    ],
  },
);

export function triggerInput(input: Static<typeof TRIGGER_INPUT>, path: string): TriggerInput {
  const named = input.id === undefined ? {} : { id: input.id };
  switch (input.type) {
    case 'http':
      return { ...named, type: 'http', customResponse: input.custom_response ?? false, ...tokenOf(input, path) };
    case 'errors':
      return { ...named, type: 'errors', ...tokenOf(input, path) };
    case 'schedule': {
      const { cron, interval_seconds: intervalS, timezone = 'UTC' } = input;
      if ((cron === undefined) === (intervalS === undefined)) {
        refuse(path, 'must have exactly one of cron and interval_seconds');
      }
      const intervalMs = intervalS === undefined ? null : intervalS * SECOND_MS;
      return { ...named, type: 'schedule', schedule: { cron: cron ?? null, intervalMs, timezone } };
    }
    case 'source':
      return { ...named, type: 'source', sourceId: input.source_id };
    case 'emitter':
      return { ...named, type: 'emitter', emitterId: input.emitter_id, eventName: input.event_name ?? '' };
  }
}

function tokenOf({ id: named, auth }: { id?: string; auth?: Static<typeof AUTH_INPUT> }, path: string): TokenInput {
  const { type, token = null } = auth ?? {};
  if (type === 'none' && token !== null) refuse(`${path}.auth.token`, 'goes with type "bearer" only');
  if (type === 'none' || token !== null) return { token };
  if (named !== undefined) return { token, keepsToken: type === 'bearer' ? 'required' : 'optional' };
  if (type === 'bearer') refuse(`${path}.auth.token`, NO_TOKEN);
  return { token };
}

function refuse(parameter: string, message: string): never {
  throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

export function triggerToWire(shown: ShownTrigger, endpointUrl: Urls['endpointUrl']): Static<typeof TRIGGER> {
  const { trigger, subscription } = shown;
  if (trigger?.kind === 'http' || trigger?.kind === 'errors') {
    return {
      id: trigger.id,
      type: trigger.kind,
      ...(trigger.key === null ? {} : { endpoint_url: endpointUrl(trigger.key) }),
      ...(trigger.kind === 'http' ? { custom_response: trigger.customResponse } : {}),
      auth: { type: trigger.tokenHash === null ? 'none' : 'bearer' },
    };
  }
  if (trigger) {
    const { cron, intervalMs, timezone } = trigger.schedule ?? { cron: null, intervalMs: null, timezone: 'UTC' };
    const when = cron === null ? { interval_seconds: (intervalMs ?? 0) / SECOND_MS } : { cron };
    return { id: trigger.id, type: 'schedule', ...when, timezone, next_at_ms: trigger.nextAtMs };
  }
  const { emitterId, eventName } = subscription;
  if (emitterId.startsWith('dc_') && emitterId !== 'dc_*' && eventName === '') {
    return { id: subscription.id, type: 'source', source_id: emitterId };
  }
  return { id: subscription.id, type: 'emitter', emitter_id: emitterId, event_name: eventName };
}

export const TRIGGERS_INPUT = Type.Array(TRIGGER_INPUT, {
  description: 'What starts it; empty for a workflow that only listens.',
  maxItems: LIMITS.triggersPerWorkflow,
  examples: [[{ type: 'http' }]],
});
