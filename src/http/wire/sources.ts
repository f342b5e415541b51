// Sources: as shown, and their parameters.

import type { Static } from 'typebox';
import type { Urls } from '../../domain/endpoint.ts';
import { LIMITS } from '../../domain/limits.ts';
import { type Origin, originOf, plainCode } from '../../domain/origin.ts';
import type { Source, Trigger } from '../../domain/resource.ts';
import { CREATED_AT, id, text, toSeconds, UPDATED_AT } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { LOG_LINE } from './log/runs.ts';
import { LISTENERS } from './subscriptions.ts';
import { slugOf } from './workflows.ts';

const CODE = `export default {
  name: 'Clock',
  version: '0.0.1',
  props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } } },
  async run(event) {
    this.$emit(event, { summary: 'tick' });
  },
};
`;

export const PROPS = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Values of the component’s props, by name. A timer is `{cron}` or `{intervalSeconds}`. Values of secret props are never shown; left out of an update, they stay.',
  'x-secret': true,
  examples: [{ timer: { intervalSeconds: 900 } }],
});
export const NAME = text({
  description: 'Name of the source; that of its component when not given.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  example: 'Clock',
});
const COMPONENT_CODE = text({
  description: 'The component: an ES module in JavaScript or TypeScript.',
  minLength: 1,
  maxLength: LIMITS.codeBytes,
  example: CODE,
});

const COMPONENT_PATH = text({
  description: 'Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`).',
  minLength: 1,
  maxLength: LIMITS.urlChars,
  example: 'shop/sources/new-order.mjs',
});
const COMPONENT_KEY = text({
  description: 'Instead of code: one of `GET /v1/components`.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  example: 'rss',
});

const SOURCE = {
  name: Type.Optional(NAME),
  component_code: Type.Optional(COMPONENT_CODE),
  component_path: Type.Optional(COMPONENT_PATH),
  component: Type.Optional(COMPONENT_KEY),
  configured_props: Type.Optional(PROPS),
};

export const SOURCE_CREATE = { ...SOURCE, listeners: Type.Optional(LISTENERS) };

export const SOURCE_UPDATE = {
  ...SOURCE,
  active: Type.Optional(Type.Boolean({ description: 'False: it neither runs nor takes events.', examples: [true] })),
};

export const SOURCE_WHOLE = Type.Object(
  {
    id: id('dc_'),
    owner_id: id('u_'),
    name: text({ description: 'Name of the source.', example: 'Clock' }),
    name_slug: text({ description: 'Its name in lower case, with hyphens.', example: 'clock' }),
    active: Type.Boolean({ description: 'False: it neither runs nor takes events.', examples: [true] }),
    configured_props: PROPS,
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
    endpoint_url: Type.Optional(
      text({ description: 'With an HTTP interface: its address, without a trailing slash.' }),
    ),
    skipped_ticks: Type.Optional(
      Type.Integer({
        description: 'With a timer: ticks that were skipped, since the run of the one before was not over.',
        examples: [0],
      }),
    ),
    component_code: Type.Optional(text({ description: 'When one source is read: as it was deployed.', example: CODE })),
    component_path: Type.Optional(
      text({ description: 'When it was deployed by path.', example: 'shop/sources/new-order.mjs' }),
    ),
    component: Type.Optional(text({ description: 'When it comes with Errand.', example: 'rss' })),
    file_path: Type.Optional(
      text({ description: 'When it was deployed from a file: its path.', example: 'shop/sources/new-order.mjs' }),
    ),
    project: Type.Optional(text({ description: 'Whose file it is, when that was said.', example: 'shop/sources' })),
  },
  { title: 'SourceWhole', description: 'The source.' },
);

export const SOURCE_LOG_LINE = Type.Object(
  {
    id: text({ description: 'Id of the line. Also its cursor.', example: 'r_g4w9zl7uo0-0' }),
    run_id: id('r_'),
    ...LOG_LINE,
  },
  { title: 'SourceLogLine' },
);

function plainToWire(source: Source) {
  return {
    id: source.id,
    owner_id: source.ownerId,
    name: source.name,
    name_slug: slugOf(source.name),
    active: source.active,
    configured_props: shownProps(source),
    created_at: toSeconds(source.createdAtMs),
    updated_at: toSeconds(source.updatedAtMs),
  };
}

/** Only the source's own triggers, not their subscriptions. */
interface ShownSource {
  readonly source: Source;
  readonly triggers: readonly { readonly trigger: Trigger | null }[];
}

function shownProps({ configuredProps, secretProps }: Source): Record<string, unknown> {
  return Object.fromEntries(Object.entries(configuredProps).filter(([prop]) => !secretProps.includes(prop)));
}

export function sourceWholeToWire(
  whole: ShownSource,
  endpointUrl: Urls['endpointUrl'],
  withCode: boolean,
): Static<typeof SOURCE_WHOLE> {
  const timers = whole.triggers.flatMap(({ trigger }) => (trigger?.kind === 'schedule' ? [trigger.skippedTicks] : []));
  const key = whole.triggers.find(({ trigger }) => trigger?.kind === 'http')?.trigger?.key;
  const source = plainToWire(whole.source);
  return {
    ...source,
    configured_props: withEndpoints(source.configured_props, whole, endpointUrl),
    ...(key ? { endpoint_url: endpointUrl(key) } : {}),
    ...(timers.length > 0 ? { skipped_ticks: timers.reduce((sum, skipped) => sum + skipped, 0) } : {}),
    ...originToWire(originOf(whole.source.componentCode)),
    ...(withCode ? { component_code: plainCode(whole.source.componentCode) } : {}),
  };
}

function originToWire(origin: Origin | null): object {
  if (origin === null) return {};
  const { kind, name, project = null } = origin;
  return kind === 'file' ? { file_path: name, ...(project === null ? {} : { project }) } : { [kind]: name };
}

/** Adds the address to each http prop, where users look for it. */
function withEndpoints(
  props: Record<string, unknown>,
  { triggers }: ShownSource,
  endpointUrl: Urls['endpointUrl'],
): Record<string, unknown> {
  const keys = new Map(triggers.map(({ trigger }) => [trigger?.id, trigger?.key]));
  const shown = Object.entries(props).map(([prop, value]) => {
    const key = keys.get((value as { triggerId?: string } | null)?.triggerId);
    return [prop, key ? { ...(value as object), endpoint_url: endpointUrl(key) } : value] as const;
  });
  return Object.fromEntries(shown);
}
