// Owners and API keys: as shown, and their parameters.

import type { Static } from 'typebox';
import { dsnOf } from '../../domain/errors/dsn.ts';
import { type ApiKey, DEFAULT_SCOPES, type KeyOrder, SCOPES } from '../../domain/keys.ts';
import { DAY_MS, LIMITS, MINUTE_MS, SECOND_MS } from '../../domain/limits.ts';
import { MAIL_ADDRESS_PATTERN } from '../../domain/notices/mail-address.ts';
import type { Owner } from '../../domain/resource.ts';
import { CREATED_AT, id, mostlyNull, nullable, oneOf, text, toSeconds, UPDATED_AT } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { channelIds } from './notices/channel-ids.ts';

const OWNER_FIELDS = {
  id: id('u_'),
  name: text({ description: 'Name of the owner.', example: 'Ada' }),
  email: nullable(
    text({ description: 'Where mails go; null: into the outbox folder only.', example: 'ada@example.com' }),
  ),
  global_error_workflow_id: nullable(id('p_', 'The workflow that gets every error; null: there is none.')),
  digest_window_ms: Type.Integer({
    description: 'Repeats of an error within so many milliseconds become one mail at their end.',
    examples: [LIMITS.digestWindowMs],
  }),
  channels: Type.Array(id('ch_'), { description: 'The channels that are notified of errors.' }),
  state: Type.Union([Type.Literal('active'), Type.Literal('deleting')], {
    description: '`deleting`: its keys and addresses are refused, and nothing of it runs.',
    examples: ['active'],
  }),
  purge_at: mostlyNull(
    'While it is being deleted: from when on all that it owns is deleted, in seconds since the Unix epoch.',
  ),
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
};

export const OWNER = Type.Object(OWNER_FIELDS, { title: 'Owner', description: 'The owner.' });

export const KEY_OWNER = Type.Object(
  {
    ...OWNER_FIELDS,
    username: text({ description: 'The same as `name`, by the name that callers of users know.', example: 'Ada' }),
    orgs: Type.Array(Type.Unknown(), { description: 'Empty: there are no organisations here.' }),
  },
  { title: 'KeyOwner', description: 'The owner of the key.' },
);

const KEY_FIELDS = {
  id: id('key_'),
  owner_id: id('u_'),
  label: text({ description: 'What the key is for.', example: 'deploy script' }),
  scopes: Type.Array(oneOf(SCOPES), { description: 'What the key may do.' }),
  created_at: CREATED_AT,
  created_by: nullable(id('key_', 'The key that created it; null: the service itself, or the command line.')),
  expires_at: mostlyNull('When it expires, in seconds since the Unix epoch; null: never.'),
  last_used_at: nullable(
    Type.Integer({
      description: 'When it was used last, in seconds since the Unix epoch, to the minute; null: never.',
      examples: [1_782_000_000],
    }),
  ),
  revoked_at: nullable(
    Type.Integer({
      description: 'When it was revoked, in seconds since the Unix epoch; null: it is good.',
      examples: [1_782_000_000],
    }),
  ),
  workflow_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Of a key with `ingest` alone: the only workflow whose errors it reports; null: any of yours.',
    examples: [null],
  }),
};
const API_KEY_TEXT = text({
  description: 'The key itself. Shown here and never again.',
  example: 'Qk3vJ8nZ5tX1bL7cR0sW2yAe',
});

export const KEY = Type.Object(KEY_FIELDS, { title: 'ApiKey', description: 'The key, without the key itself.' });
export const NEW_KEY = Type.Object(
  {
    ...KEY_FIELDS,
    api_key: API_KEY_TEXT,
    dsn: Type.Optional(
      text({
        description:
          'Of a key with a workflow: what clients of Sentry are given, so that they report here. Contains the key.',
        example: 'http://ek_Qk3vJ8nZ5tX1bL7cR0sW2yAe@127.0.0.1:4400/73786976294838206464',
      }),
    ),
  },
  { title: 'NewApiKey' },
);
export const NEW_OWNER = Type.Object({ ...OWNER_FIELDS, key: KEY, api_key: API_KEY_TEXT }, { title: 'NewOwner' });

const NAME = text({ description: 'Name of the owner.', minLength: 1, maxLength: LIMITS.nameChars, example: 'Ada' });
export const MAIL_ADDRESS = nullable(
  text({
    description: 'Where mails go, a mail address; null: into the outbox folder only.',
    maxLength: LIMITS.nameChars,
    pattern: MAIL_ADDRESS_PATTERN,
    expected: 'a mail address such as ada@example.com',
    example: 'ada@example.com',
  }),
);

export const OWNER_CREATE = { name: NAME, email: Type.Optional(MAIL_ADDRESS) };

export const OWNER_UPDATE = {
  name: Type.Optional(NAME),
  email: Type.Optional(MAIL_ADDRESS),
  global_error_workflow_id: Type.Optional(
    text({
      description: 'A workflow of yours that gets every error.',
      minLength: 1,
      example: 'p_0Vj3aBc9dEfGhIjK',
    }),
  ),
  digest_window_ms: Type.Optional(
    Type.Integer({
      description: 'Repeats of an error within so many milliseconds become one mail at their end.',
      minimum: MINUTE_MS,
      maximum: 30 * DAY_MS,
      examples: [LIMITS.digestWindowMs],
    }),
  ),
  channels: Type.Optional(
    channelIds(
      'The channels that are notified of the errors of your workflows, sources and webhooks, beside the global error workflow.',
    ),
  ),
};

/** The end of the year 9999. */
const LAST_SECOND = 253_402_300_799;

export const KEY_CREATE = {
  label: text({
    description: 'What the key is for.',
    minLength: 1,
    maxLength: LIMITS.nameChars,
    example: 'deploy script',
  }),
  scopes: Type.Optional(
    Type.Array(oneOf(SCOPES), {
      description:
        'What the key may do: `ingest` reports errors of other programs, `read` reads, `write` changes, `keys` manages API keys, `account` changes the owner’s own data and reads the audit log, `admin` manages owners. `read` and `write` when not given.',
      minItems: 1,
      maxItems: SCOPES.length,
      uniqueItems: true,
      examples: [['read']],
    }),
  ),
  expires_at: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: LAST_SECOND }), Type.Null()], {
      description:
        'When it expires, in seconds since the Unix epoch: from then on it is refused with 401. When not given, never, or when your own key does.',
      'x-expected': 'seconds since 1970, such as 1798761600',
      examples: [1_798_761_600],
    }),
  ),
  workflow_id: Type.Optional(
    text({
      description:
        'With the scope `ingest` alone: the only workflow whose errors the key reports. The answer has its `dsn`.',
      minLength: 1,
      maxLength: 64,
      example: 'p_0Vj3aBc9dEfGhIjK',
    }),
  ),
  service: Type.Optional(
    text({
      description: 'Instead of `workflow_id`: a service by its name, whose workflow is made when there is none.',
      minLength: 1,
      maxLength: LIMITS.nameChars,
      example: 'checkout',
    }),
  ),
};

const KEY_OBJECT = Type.Object(KEY_CREATE);

export function keyInput(input: Static<typeof KEY_OBJECT>): KeyOrder {
  const { label, scopes, expires_at: expiresAt, workflow_id: workflowId, service } = input;
  const expiresAtMs = expiresAt === undefined || expiresAt === null ? null : expiresAt * SECOND_MS;
  const bound = { ...(workflowId === undefined ? {} : { workflowId }), ...(service === undefined ? {} : { service }) };
  return { label, scopes: scopes ?? DEFAULT_SCOPES, expiresAtMs, ...bound };
}

export function ownerToWire(owner: Owner): Static<typeof OWNER> {
  return {
    id: owner.id,
    name: owner.name,
    email: owner.email,
    global_error_workflow_id: owner.globalErrorWorkflowId,
    digest_window_ms: owner.digestWindowMs,
    channels: [...owner.channelIds],
    state: owner.deletion === null ? 'active' : 'deleting',
    purge_at: owner.deletion === null ? null : toSeconds(owner.deletion.purgeAtMs),
    created_at: toSeconds(owner.createdAtMs),
    updated_at: toSeconds(owner.updatedAtMs),
  };
}

export function keyOwnerToWire(owner: Owner): Static<typeof KEY_OWNER> {
  return { ...ownerToWire(owner), username: owner.name, orgs: [] };
}

export function keyToWire(key: ApiKey): Static<typeof KEY> {
  return {
    id: key.id,
    owner_id: key.ownerId,
    label: key.label,
    scopes: [...key.scopes],
    created_at: toSeconds(key.createdAtMs),
    created_by: key.createdBy,
    expires_at: key.expiresAtMs === null ? null : toSeconds(key.expiresAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : toSeconds(key.lastUsedAtMs),
    revoked_at: key.revokedAtMs === null ? null : toSeconds(key.revokedAtMs),
    workflow_id: key.workflowId,
  };
}

export function newKeyToWire(
  { key, apiKey }: { key: ApiKey; apiKey: string },
  publicUrl: string,
): Static<typeof NEW_KEY> {
  const dsn = key.workflowId === null ? null : dsnOf(publicUrl, apiKey, key.workflowId);
  return { ...keyToWire(key), api_key: apiKey, ...(dsn === null ? {} : { dsn }) };
}
