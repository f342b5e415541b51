// Channels: as shown, and their parameters. Of their configuration only what is no secret is shown.

import type { Static } from 'typebox';
import { HIDDEN } from '../../../domain/delivery/http-request.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { CHANNEL_KINDS, type Channel, type ChannelConfig, hiddenUrl } from '../../../domain/notices/channel.ts';
import { NOTICE_LIMITS } from '../../../domain/notices/limits.ts';
import { PLACEHOLDERS } from '../../../domain/notices/template.ts';
import type { ChannelInput } from '../../../domain/requests.ts';
import { CREATED_AT, id, nullable, oneOf, text, toSeconds, UPDATED_AT } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { ATTEMPT, attemptToWire } from '../log/deliveries.ts';
import { MAIL_ADDRESS } from '../owners.ts';

const KIND = oneOf(CHANNEL_KINDS, 'What is at the other end. It cannot be changed.');
const NAME = text({
  description: 'Label for your own use; the kind when not given.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  example: 'On call',
});
const ACTIVE = Type.Boolean({ description: 'False: no notice is sent to it.', examples: [true] });

const HEADERS = Type.Record(Type.String(), Type.String(), {
  description: 'Of `http`: headers of each request, such as `authorization`.',
  'x-secret': true,
  examples: [{ authorization: 'Bearer 1234' }],
});

const CONFIG_INPUT = Type.Object(
  {
    url: Type.Optional(
      nullable(
        text({
          description:
            'Of slack, discord, teams: the address of the incoming webhook. Of http: where the notice goes. Of pagerduty and opsgenie: instead of the service’s address, e.g. `https://api.eu.opsgenie.com`.',
          minLength: 1,
          maxLength: LIMITS.urlChars,
          example: 'https://hooks.slack.com/services/T0/B0/XXXX',
        }),
      ),
    ),
    key: Type.Optional(
      nullable(
        text({
          description: 'Of pagerduty: the routing key of an Events API v2 integration. Of opsgenie: the API key.',
          minLength: 1,
          maxLength: NOTICE_LIMITS.channelKeyChars,
          pattern: '^[\\x21-\\x7e]+$',
          expected: 'a key without blanks',
          example: '0123456789abcdef0123456789abcdef',
        }),
      ),
    ),
    to: Type.Optional({ ...MAIL_ADDRESS, description: 'Of mail: the address that notices go to.' }),
    headers: Type.Optional(nullable(HEADERS)),
    template: Type.Optional(
      nullable(
        text({
          description: `Of http: the body of the request, with placeholders such as {{title}}; the notice as JSON when not given. There are ${PLACEHOLDERS.join(', ')}.`,
          minLength: 1,
          maxLength: NOTICE_LIMITS.templateChars,
          example: '{"text": "{{title}}"}',
        }),
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'What the kind needs. It is kept sealed; addresses, keys and the values of headers are never shown, the template to keys with the scope `write` alone.',
    'x-secret': true,
    examples: [{ url: 'https://hooks.slack.com/services/T0/B0/XXXX' }],
  },
);

export const CHANNEL_CREATE = {
  kind: KIND,
  name: Type.Optional(NAME),
  active: Type.Optional(ACTIVE),
  config: CONFIG_INPUT,
};

export const CHANNEL_UPDATE = {
  name: Type.Optional(NAME),
  active: Type.Optional(ACTIVE),
  config: Type.Optional(CONFIG_INPUT),
};

const CONFIG_SHOWN = Type.Object(
  {
    url: Type.Optional(text({ description: 'Scheme and host alone.', example: 'https://hooks.slack.com/(hidden)' })),
    key: Type.Optional(text({ description: 'Always hidden.', example: HIDDEN })),
    to: Type.Optional(text({ description: 'Of mail: the address that notices go to.', example: 'oncall@example.com' })),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Of http: names of the headers; their values are hidden.',
        examples: [{ authorization: HIDDEN }],
      }),
    ),
    template: Type.Optional(
      text({
        description:
          'Of http: the body of the request, with placeholders. To a key without the scope `write` it is `(hidden)`: services take keys there, too.',
        example: '{"text": "{{title}}"}',
      }),
    ),
  },
  { description: 'Without what is secret.' },
);

export const CHANNEL = Type.Object(
  {
    id: id('ch_'),
    owner_id: id('u_'),
    kind: KIND,
    name: NAME,
    active: ACTIVE,
    config: CONFIG_SHOWN,
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: 'Channel' },
);

export const CHANNEL_TEST = Type.Object(
  {
    delivered: Type.Boolean({ description: 'Whether the notice was accepted.', examples: [true] }),
    attempt: ATTEMPT,
  },
  { title: 'ChannelTest' },
);

const UPDATE = Type.Object(CHANNEL_UPDATE);

export function channelInput({ name, active, config }: Static<typeof UPDATE>): ChannelInput {
  return {
    ...(name === undefined ? {} : { name }),
    ...(active === undefined ? {} : { active }),
    ...(config === undefined ? {} : { config: config as NonNullable<ChannelInput['config']> }),
  };
}

/**
 * Returns a channel as it is shown. `withTemplate`: to a caller who may change the channel, and so could have the template sent
 * anywhere; others see no credentials in it.
 */
export function channelToWire(channel: Channel, withTemplate: boolean): Static<typeof CHANNEL> {
  return {
    id: channel.id,
    owner_id: channel.ownerId,
    kind: channel.kind,
    name: channel.name,
    active: channel.active,
    config: configToWire(channel.config, withTemplate),
    created_at: toSeconds(channel.createdAtMs),
    updated_at: toSeconds(channel.updatedAtMs),
  };
}

function configToWire(
  { url, key, to, headers, template }: ChannelConfig,
  withTemplate: boolean,
): Static<typeof CONFIG_SHOWN> {
  return {
    ...(url === undefined ? {} : { url: hiddenUrl(url) }),
    ...(key === undefined ? {} : { key: HIDDEN }),
    ...(to === undefined ? {} : { to }),
    ...(headers ? { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN])) } : {}),
    ...(template === undefined ? {} : { template: withTemplate ? template : HIDDEN }),
  };
}

type Tested = Parameters<typeof attemptToWire>[0];

export function channelTestToWire(tested: {
  readonly attempt: Tested;
  readonly state: string;
}): Static<typeof CHANNEL_TEST> {
  return {
    delivered: tested.state === 'delivered',
    attempt: attemptToWire(tested.attempt, { n: 1, trigger: 'test' }),
  };
}
