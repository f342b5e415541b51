// Accounts: as shown, and their parameters. The values of their fields are never shown, nor repeated in refusals.

import type { Static } from 'typebox';
import { OAUTH_LIMITS } from '../../domain/accounts/renewal.ts';
import type { Account, AccountInput, AccountOauth, OauthInput } from '../../domain/data.ts';
import { LIMITS } from '../../domain/limits.ts';
import { CREATED_AT, id, nullable, text, toSeconds, UPDATED_AT } from '../openapi/schema.ts';
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

const TOKEN_URL = text({
  description: 'The address of the app’s token server (OAuth 2).',
  minLength: 1,
  maxLength: LIMITS.urlChars,
  example: 'https://oauth2.googleapis.com/token',
});
const CLIENT_ID = text({
  description: 'What your own application is called there.',
  minLength: 1,
  maxLength: OAUTH_LIMITS.idChars,
  example: '1234.apps.example.com',
});
const SCOPE = text({
  description: 'Sent with each renewal, when given.',
  minLength: 1,
  maxLength: OAUTH_LIMITS.scopeChars,
  example: 'read write',
});
const CLIENT_AUTH = Type.Union([Type.Literal('body'), Type.Literal('basic')], {
  description: 'How the client’s id and secret are sent: in the body, or as basic authentication.',
  examples: ['body'],
});
const secret = (description: string) =>
  Type.String({
    ...{ description, minLength: 1, maxLength: OAUTH_LIMITS.secretChars, examples: ['abc-123'] },
    'x-secret': true,
  });

const OAUTH_INPUT = nullable(
  Type.Object(
    {
      token_url: Type.Optional(TOKEN_URL),
      client_id: Type.Optional(CLIENT_ID),
      client_secret: Type.Optional(nullable(secret('The secret of your own application. Never shown.'))),
      refresh_token: Type.Optional(
        nullable(
          secret(
            'What a new token is given for. A new refresh token that comes with it takes its place. Without one, the client’s own credentials are enough (`client_credentials`). Never shown.',
          ),
        ),
      ),
      scope: Type.Optional(nullable(SCOPE)),
      client_auth: Type.Optional(CLIENT_AUTH),
    },
    {
      additionalProperties: false,
      description:
        'How the field `oauth_access_token` is renewed with OAuth 2, before a run that needs it. `token_url` and `client_id` are required. Null: it is not renewed.',
      'x-secret': true,
      examples: [{ token_url: 'https://oauth2.googleapis.com/token', client_id: '1234.apps.example.com' }],
    },
  ),
);

const OAUTH_SHOWN = Type.Object(
  {
    token_url: TOKEN_URL,
    client_id: CLIENT_ID,
    client_auth: CLIENT_AUTH,
    scope: nullable(SCOPE),
    grant: Type.Union([Type.Literal('refresh_token'), Type.Literal('client_credentials')], {
      description: 'What a new token is given for.',
      examples: ['refresh_token'],
    }),
    expires_at: nullable({
      ...UPDATED_AT,
      description: 'When the token expires, in seconds since the Unix epoch; null: none was got yet.',
    }),
    failure: nullable(
      text({
        description: 'Why the last renewal failed; null: it did not.',
        example: 'the token server answered 400 with invalid_grant',
      }),
    ),
  },
  { title: 'AccountOauth' },
);

export const ACCOUNT_CREATE = {
  app: APP,
  name: Type.Optional(NAME),
  fields: Type.Optional(FIELDS),
  oauth: Type.Optional(OAUTH_INPUT),
};

export const ACCOUNT_UPDATE = {
  app: Type.Optional(APP),
  name: Type.Optional(NAME),
  fields: Type.Optional(FIELDS),
  oauth: Type.Optional(OAUTH_INPUT),
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
    oauth: nullable({ ...OAUTH_SHOWN, description: 'How its token is renewed; null: it is not.' }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: 'Account' },
);

const UPDATE = Type.Object(ACCOUNT_UPDATE);

export function accountInput({ app, name, fields, oauth }: Static<typeof UPDATE>): AccountInput {
  return {
    ...(app === undefined ? {} : { app }),
    ...(name === undefined ? {} : { name }),
    ...(fields === undefined ? {} : { fields }),
    ...(oauth === undefined ? {} : { oauth: oauth && oauthInput(oauth) }),
  };
}

function oauthInput(given: NonNullable<Static<typeof UPDATE>['oauth']>): OauthInput {
  const named = {
    tokenUrl: given.token_url,
    clientId: given.client_id,
    clientSecret: given.client_secret,
    refreshToken: given.refresh_token,
    scope: given.scope,
    clientAuth: given.client_auth,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

export function accountToWire(account: Account): Static<typeof ACCOUNT> {
  return {
    id: account.id,
    owner_id: account.ownerId,
    app: account.app,
    name: account.name,
    field_names: Object.keys(account.fields),
    oauth: account.oauth && oauthToWire(account.oauth),
    created_at: toSeconds(account.createdAtMs),
    updated_at: toSeconds(account.updatedAtMs),
  };
}

function oauthToWire(oauth: AccountOauth): Static<typeof OAUTH_SHOWN> {
  const { tokenUrl, clientId, clientAuth, scope, refreshToken, expiresAtMs, failure } = oauth;
  return {
    token_url: tokenUrl,
    client_id: clientId,
    client_auth: clientAuth,
    scope,
    grant: refreshToken === null ? 'client_credentials' : 'refresh_token',
    expires_at: expiresAtMs === null ? null : toSeconds(expiresAtMs),
    failure: failure?.message ?? null,
  };
}
