// Configuring a component: which component, the options of a prop, and its props.

import type { Static } from 'typebox';
import { LIMITS } from '../../domain/limits.ts';
import type { ReloadedProps } from '../../domain/props.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ComponentInput, OptionsInput, PropOptions } from '../../domain/requests.ts';
import { count, nullable, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

const CODE = `export default {
  props: { city: { type: 'string', options: ({ page }) => (page === 0 ? ['Oslo', 'Rome'] : []) } },
  run() {},
};
`;

const WHICH = {
  component_code: Type.Optional(
    text({
      description: 'The component: an ES module in JavaScript or TypeScript. Or name one that is deployed.',
      minLength: 1,
      maxLength: LIMITS.codeBytes,
      example: CODE,
    }),
  ),
  component_path: Type.Optional(
    text({ description: 'A file in the server’s folder of components.', example: 'shop/sources/new-order.mjs' }),
  ),
  component: Type.Optional(text({ description: 'The key of a component that comes with Errand.', example: 'rss' })),
  source_id: Type.Optional(text({ description: 'The component of a source, and what it is configured with.' })),
  workflow_id: Type.Optional(text({ description: 'The component of a workflow’s step, likewise.' })),
  namespace: Type.Optional(text({ description: 'With `workflow_id`: which step; the first when left out.' })),
  configured_props: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values of the props that are configured so far, by name. They need not be complete.',
      'x-secret': true,
      examples: [{}],
    }),
  ),
};

export const COMPONENT_PROPS = WHICH;

export const COMPONENT_CONFIGURE = {
  ...WHICH,
  prop_name: text({ description: 'The prop whose options are asked for.', minLength: 1, example: 'city' }),
  page: Type.Optional(count(0, 1_000_000, 'Page of the options, counted from 0.')),
  prev_context: Type.Optional(
    nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The `context` of the page before; null or left out for the first.',
        examples: [{}],
      }),
    ),
  ),
  query: Type.Optional(text({ description: 'The text that the user typed, for props with `useQuery`.' })),
};

export const PROP_OPTIONS = Type.Object(
  {
    options: Type.Array(Type.Unknown({ examples: ['Oslo'] }), {
      description: 'As the component gave them: values, or `{label, value}`.',
    }),
    string_options: Type.Optional(
      Type.Array(text({ example: 'Oslo' }), { description: 'When all of them are strings.' }),
    ),
    context: Type.Unknown({ description: 'To be sent as `prev_context` with the next page.', examples: [null] }),
  },
  { title: 'PropOptions' },
);

export const CONFIGURABLE_PROPS = Type.Object(
  {
    configurable_props: Type.Array(
      Type.Object(
        {
          name: text({ description: 'Name of the prop.', example: 'city' }),
          type: Type.Optional(text({ description: 'Type of the prop.', example: 'string' })),
        },
        { additionalProperties: true },
      ),
      {
        description:
          'In the order of the component, each as it defines it; `remoteOptions`: its options are asked for.',
      },
    ),
    additional_props_error: nullable(
      Type.Object(
        {
          message: text({ description: 'Its message.', example: 'no headers' }),
          stack: text({ description: 'Its stack, or empty.', example: 'at Object.additionalProps (component.ts:3:9)' }),
        },
        { description: 'What `additionalProps` threw for this configuration. Props that it added before are kept.' },
      ),
    ),
  },
  { title: 'ConfigurableProps' },
);

type ComponentParameters = {
  readonly component_code?: string;
  readonly component_path?: string;
  readonly component?: string;
  readonly source_id?: string;
  readonly workflow_id?: string;
  readonly namespace?: string;
  readonly configured_props?: Record<string, unknown>;
};

type OptionsParameters = ComponentParameters & {
  readonly prop_name: string;
  readonly page?: number;
  readonly prev_context?: Record<string, unknown> | null;
  readonly query?: string;
};

const ONE_OF = ['component_code', 'component_path', 'component', 'source_id', 'workflow_id'] as const;

export function componentInput(asked: ComponentParameters): ComponentInput {
  if (ONE_OF.filter((name) => asked[name] !== undefined).length !== 1) {
    const message = `exactly one of ${ONE_OF.join(', ')} says which component it is`;
    throw new Refusal('malformed', message, { errors: [{ parameter: 'component_code', message }] });
  }
  const { component_code: componentCode, component_path: componentPath, component } = asked;
  const { source_id: sourceId, workflow_id: workflowId, namespace } = asked;
  return {
    componentCode,
    componentPath,
    component,
    sourceId,
    workflowId,
    namespace,
    configuredProps: asked.configured_props ?? {},
  };
}

export function optionsInput(asked: OptionsParameters): OptionsInput {
  const { prop_name: propName, page = 0, prev_context: prevContext = null, query } = asked;
  return { ...componentInput(asked), propName, page, prevContext, query };
}

export function optionsToWire({ options, context }: PropOptions): Static<typeof PROP_OPTIONS> {
  const isStrings = options.length > 0 && options.every((option) => typeof option === 'string');
  return {
    options: [...options],
    ...(isStrings ? { string_options: options as string[] } : {}),
    context,
  };
}

export function definitionsToWire({ definitions, error }: ReloadedProps): Static<typeof CONFIGURABLE_PROPS> {
  const configurable = Object.entries(definitions).map(([name, definition]) => ({ ...definition, name }));
  return { configurable_props: configurable, additional_props_error: error };
}
