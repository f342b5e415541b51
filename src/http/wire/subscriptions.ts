// Subscriptions: as shown, and their parameters.

import type { Static } from 'typebox';
import { FILTER_LIMITS } from '../../domain/filter/limits.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { ListenerInput, Subscription } from '../../domain/resource.ts';
import { CREATED_AT, EVENT_NAME, id, nullable, text, toSeconds } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

/** Fields, and for each a list of what is wanted, or again fields. */
const FILTER = Type.Record(Type.String(), Type.Unknown(), {
  description: `Which of these events go through, by their content: for each field a list of what is wanted. [How it is written](/docs/webhooks#filters). At most ${FILTER_LIMITS.bytes} bytes. Null: all.`,
  'x-expected': 'an object with fields, such as {"body": {"type": [{"prefix": "invoice."}]}}',
  examples: [{ body: { type: [{ prefix: 'invoice.' }] } }],
});

export const FILTER_INPUT = nullable(FILTER);

export const SUBSCRIPTION = Type.Object(
  {
    id: id('sub_'),
    owner_id: id('u_'),
    emitter_id: text({ description: 'Id of the emitter, or `*`, `p_*` or `dc_*`.', example: 'p_0Vj3aBc9dEfGhIjK' }),
    listener_id: text({
      description: 'Id of the listener: a workflow, source or webhook.',
      example: 'p_1Wk4bCd0eFgHiJkL',
    }),
    event_name: EVENT_NAME,
    filter: nullable(FILTER),
    active: Type.Boolean({ description: 'Whether the listener gets events.', examples: [true] }),
    created_at: CREATED_AT,
  },
  { title: 'Subscription' },
);

/** Wider than ids are: what only looks like one does not exist (404), and is not malformed. */
export const ID_TAIL = '[0-9A-Za-z._~-]{1,128}';

export const EMITTER_ID = text({
  description:
    'Who emits: a workflow `p_…`, source `dc_…`, webhook `wh_…`, heartbeat `hb_…`, trigger `hi_…` or `ti_…`; or `p_*`, `dc_*`, `*` (or your own `u_…`) for everything of that kind, also what is made later.',
  pattern: `^(?:(?:p|dc|wh|hb|hi|ti|u)_${ID_TAIL}|\\*|p_\\*|dc_\\*)$`,
  expected: 'the id of an emitter (p_…, dc_…, wh_…, hb_…, hi_…, ti_…, u_…) or one of *, p_*, dc_*',
  example: 'p_0Vj3aBc9dEfGhIjK',
});

export const LISTENER_ID = text({
  description: 'Who listens: a workflow `p_…`, source `dc_…` or webhook `wh_…`.',
  pattern: `^(?:p|dc|wh)_${ID_TAIL}$`,
  expected: 'the id of a listener (p_…, dc_… or wh_…)',
  example: 'p_1Wk4bCd0eFgHiJkL',
});

export const EVENT_NAME_INPUT = Type.Optional(
  nullable(
    text({
      description:
        'Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name.',
      maxLength: LIMITS.eventNameChars,
      example: '$errors',
    }),
  ),
);

export const TRIPLE = { emitter_id: EMITTER_ID, listener_id: LISTENER_ID, event_name: EVENT_NAME_INPUT };

export function subscriptionToWire(subscription: Subscription): Static<typeof SUBSCRIPTION> {
  return {
    id: subscription.id,
    owner_id: subscription.ownerId,
    emitter_id: subscription.emitterId,
    listener_id: subscription.listenerId,
    event_name: subscription.eventName,
    filter: subscription.filter,
    active: subscription.active,
    created_at: toSeconds(subscription.createdAtMs),
  };
}

const MAX_LISTENERS = 100;

/** Who hears a new source: each as a listener alone, or as a subscription without its emitter. */
export const LISTENERS = Type.Array(
  Type.Union([
    LISTENER_ID,
    Type.Object(
      { listener_id: LISTENER_ID, event_name: EVENT_NAME_INPUT, filter: Type.Optional(FILTER_INPUT) },
      { additionalProperties: false },
    ),
  ]),
  {
    maxItems: MAX_LISTENERS,
    description:
      'Who hears it from its first emission on: ids of workflows, sources and webhooks, or objects as subscriptions take them, without the emitter. What it emits while it is created reaches those alone that are named here, or that hear all sources.',
    'x-expected': 'an array of listeners: ids (p_…, dc_…, wh_…), or objects with listener_id, event_name, filter',
    examples: [['wh_0Vj3aBc9dEfGhIjK']],
  },
);

export function listenersInput(asked: Static<typeof LISTENERS> | undefined): ListenerInput[] {
  return (asked ?? []).map((one) => {
    if (typeof one === 'string') return { listenerId: one, eventName: '', filter: null };
    return { listenerId: one.listener_id, eventName: one.event_name ?? '', filter: one.filter ?? null };
  });
}
