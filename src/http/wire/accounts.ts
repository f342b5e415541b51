// Accounts: as shown, and their parameters. The values of their fields are never shown, nor repeated in refusals.

import type { Static } from 'typebox';
import type { Account } from '../../domain/data.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { AccountInput } from '../../domain/requests.ts';
import { CREATED_AT, id, text, toSeconds, UPDATED_AT } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

const APP = text({
  description: 'The app’s name, as components spell it.',
  minLength: 1,
  maxLength: LIMITS.appChars,
  example: 'slack',
});
const NAME = text({
  description: 'Label for your own use; the app’s name when not given.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  example: 'Team chat',
});
const FIELDS = Type.Record(Type.String(), Type.Unknown(), {
  description: `What the app needs, as JSON: code finds it in \`this.app.$auth\`. At most ${LIMITS.accountFields} fields, ${LIMITS.accountBytes} bytes together. Never shown.`,
  'x-secret': true,
  examples: [{ oauth_access_token: 'xoxb-1234' }],
});

export const ACCOUNT_CREATE = { app: APP, name: Type.Optional(NAME), fields: Type.Optional(FIELDS) };

export const ACCOUNT_UPDATE = {
  app: Type.Optional(APP),
  name: Type.Optional(NAME),
  fields: Type.Optional(FIELDS),
};

export const ACCOUNT = Type.Object(
  {
    id: id('apn_'),
    owner_id: id('u_'),
    app: APP,
    name: NAME,
    field_names: Type.Array(Type.String(), {
      description: 'Names of its fields; their values are never shown.',
      examples: [['oauth_access_token']],
    }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: 'Account' },
);

const UPDATE = Type.Object(ACCOUNT_UPDATE);

export function accountInput({ app, name, fields }: Static<typeof UPDATE>): AccountInput {
  return {
    ...(app === undefined ? {} : { app }),
    ...(name === undefined ? {} : { name }),
    ...(fields === undefined ? {} : { fields }),
  };
}

export function accountToWire(account: Account): Static<typeof ACCOUNT> {
  return {
    id: account.id,
    owner_id: account.ownerId,
    app: account.app,
    name: account.name,
    field_names: Object.keys(account.fields),
    created_at: toSeconds(account.createdAtMs),
    updated_at: toSeconds(account.updatedAtMs),
  };
}
