// Owners and API keys as they are shown and asked for.

import { type Static, Type } from 'typebox';
import { DAY_MS, LIMITS, MINUTE_MS } from '../../domain/limits.ts';
import type { ApiKey, Owner } from '../../domain/resource.ts';
import { id, nullable, oneOf, SECONDS, text, toSeconds } from '../schema.ts';

const OWNER_FIELDS = {
  id: id('u_'),
  name: text({ example: 'Ada' }),
  email: nullable(
    text({ description: 'Where mails go; null: into the outbox folder only.', example: 'ada@example.com' }),
  ),
  global_error_workflow_id: nullable(id('p_')),
  digest_window_ms: Type.Integer({
    description: 'Repeats of an error within this time become one mail at its end.',
    examples: [LIMITS.digestWindowMs],
  }),
  created_at: SECONDS,
  updated_at: SECONDS,
};

export const OWNER = Type.Object(OWNER_FIELDS, { title: 'Owner' });

const KEY_FIELDS = {
  id: id('key_'),
  owner_id: id('u_'),
  label: text({ example: 'deploy script' }),
  scopes: Type.Array(oneOf(['read', 'write', 'admin'])),
  created_at: SECONDS,
  revoked_at: nullable(SECONDS),
};
const API_KEY_TEXT = text({
  description: 'The key itself. Shown here and never again.',
  example: 'Qk3vJ8nZ5tX1bL7cR0sW2yAe',
});

export const KEY = Type.Object(KEY_FIELDS, { title: 'ApiKey' });
export const NEW_KEY = Type.Object({ ...KEY_FIELDS, api_key: API_KEY_TEXT }, { title: 'NewApiKey' });
export const NEW_OWNER = Type.Object({ ...OWNER_FIELDS, key: KEY, api_key: API_KEY_TEXT }, { title: 'NewOwner' });

const NAME = text({ minLength: 1, maxLength: LIMITS.nameChars, example: 'Ada' });
const EMAIL = nullable(
  text({
    maxLength: LIMITS.nameChars,
    pattern: '^[^\\s@<>",;:]+@[^\\s@<>",;:]+$',
    expected: 'a mail address such as ada@example.com',
    example: 'ada@example.com',
  }),
);

export const OWNER_CREATE = { name: NAME, email: Type.Optional(EMAIL) };

export const OWNER_UPDATE = {
  name: Type.Optional(NAME),
  email: Type.Optional(EMAIL),
  global_error_workflow_id: Type.Optional(
    text({
      description: 'A workflow of yours that hears of every error.',
      minLength: 1,
      example: 'p_0Vj3aBc9dEfGhIjK',
    }),
  ),
  digest_window_ms: Type.Optional(
    Type.Integer({ minimum: MINUTE_MS, maximum: 30 * DAY_MS, examples: [LIMITS.digestWindowMs] }),
  ),
};

export const KEY_CREATE = {
  label: text({
    description: 'What the key is for.',
    minLength: 1,
    maxLength: LIMITS.nameChars,
    example: 'deploy script',
  }),
  scopes: Type.Optional(
    Type.Array(oneOf(['read', 'write', 'admin']), {
      description: '`read` to look, `write` to change, `admin` to make owners. Read and write when not given.',
      minItems: 1,
      maxItems: 3,
      examples: [['read']],
    }),
  ),
};

export function ownerToWire(owner: Owner): Static<typeof OWNER> {
  return {
    id: owner.id,
    name: owner.name,
    email: owner.email,
    global_error_workflow_id: owner.globalErrorWorkflowId,
    digest_window_ms: owner.digestWindowMs,
    created_at: toSeconds(owner.createdAtMs),
    updated_at: toSeconds(owner.updatedAtMs),
  };
}

export function keyToWire(key: ApiKey): Static<typeof KEY> {
  return {
    id: key.id,
    owner_id: key.ownerId,
    label: key.label,
    scopes: [...key.scopes],
    created_at: toSeconds(key.createdAtMs),
    revoked_at: key.revokedAtMs === null ? null : toSeconds(key.revokedAtMs),
  };
}
