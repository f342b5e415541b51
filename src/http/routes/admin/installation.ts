// What the operator's settings make of this server: the settings themselves, and which targets may be reached.

import type { Static } from 'typebox';
import { LIMITS } from '../../../domain/limits.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps, ShownSetting } from '../../deps.ts';
import { dataOf, operation } from '../../openapi/operation.ts';
import { nullable, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

const SETTING = Type.Object(
  {
    name: text({ description: 'Name of the setting.', example: 'ERRAND_RETENTION_DAYS' }),
    value: nullable(text({ description: 'What is in force; null: nothing, or it is secret.', example: '30' })),
    default: nullable(text({ description: 'Its default; null: none.', example: '30' })),
    set: Type.Boolean({ description: 'It was given to the server.', examples: [false] }),
    secret: Type.Boolean({ description: 'Its value is never shown.', examples: [false] }),
    about: text({
      description: 'What it is for, with its unit.',
      example: 'Days that events, runs and deliveries are kept',
    }),
  },
  { title: 'Setting' },
);

const TARGET = {
  url: text({
    description: 'The URL, as a webhook would have it.',
    example: 'https://example.com/hooks',
    minLength: 1,
    maxLength: 2 * LIMITS.urlChars,
  }),
};

const TARGET_CHECK = Type.Object(
  {
    allowed: Type.Boolean({ description: 'Whether the URL may be reached.', examples: [true] }),
    lines: Type.Array(text({ example: 'verdict: may be reached' }), {
      description:
        'Step by step, for people. A key with the scope `admin` is told which addresses a name has here, and what `ERRAND_ALLOW_TARGETS` opens.',
    }),
  },
  { title: 'TargetCheck' },
);

export function addInstallationRoutes(app: App, { installation }: HttpDeps): void {
  const settings = operation({
    id: 'listSettings',
    tag: 'service',
    access: 'admin',
    summary: 'List the settings of this server',
    description:
      'Of the process that answers, in the order of the documents. What is secret is not shown, and no password in a URL. Needs the scope `admin`.',
    answer: dataOf(Type.Array(SETTING)),
  });
  app.get('/v1/settings', { schema: settings }, async () => ({ data: installation.settings.map(settingToWire) }));

  const check = operation({
    id: 'checkTarget',
    tag: 'webhooks',
    access: 'write',
    summary: 'Check whether a URL may be reached',
    description:
      'Says step by step whether webhooks, and requests of code, may be sent to a URL: how it is read, which addresses its name has, and what forbids one of them. Nothing is sent.',
    body: TARGET,
    answer: dataOf(TARGET_CHECK),
  });
  app.post('/v1/targets/check', { schema: check }, async ({ body, caller }) => {
    const by = { ownerId: caller.ownerId, namesAddresses: caller.scopes.includes('admin') };
    const { isAllowed, lines } = await installation.checkTarget(body.url, by);
    return { data: { allowed: isAllowed, lines: [...lines] } };
  });
}

function settingToWire({ name, value, fallback, isSet, isSecret, about }: ShownSetting): Static<typeof SETTING> {
  return { name, value, default: fallback, set: isSet, secret: isSecret, about };
}
