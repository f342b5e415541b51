import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { dataOf, operation } from '../openapi/operation.ts';
import {
  COMPONENT_CONFIGURE,
  COMPONENT_PROPS,
  CONFIGURABLE_PROPS,
  componentInput,
  definitionsToWire,
  optionsInput,
  optionsToWire,
  PROP_OPTIONS,
} from '../wire/components.ts';

const CODE =
  "export default {\n  props: { city: { type: 'string', options: () => ['Oslo', 'Rome'] } },\n  run() {},\n};\n";

export function addComponentRoutes(app: App, { actions }: HttpDeps): void {
  const configure = operation({
    id: 'configureProp',
    tag: 'components',
    access: 'write',
    summary: 'Read the options of a prop',
    description:
      'Runs the prop’s `options`, with what is configured so far, in a process of its own. What it throws is 422, with message and stack.',
    body: COMPONENT_CONFIGURE,
    example: { component_code: CODE, prop_name: 'city', configured_props: {} },
    answer: dataOf(PROP_OPTIONS),
  });
  app.post('/v1/components/configure', { schema: configure }, async ({ body, caller }) => {
    return { data: optionsToWire(await actions.propOptions(caller.ownerId, optionsInput(body))) };
  });

  const props = operation({
    id: 'reloadProps',
    tag: 'components',
    access: 'write',
    summary: 'Read the props of a component',
    description:
      'Those that it declares, and those that its `additionalProps` adds for what is configured: to be asked again when a prop with `reloadProps` changes.',
    body: COMPONENT_PROPS,
    example: { component_code: CODE, configured_props: {} },
    answer: dataOf(CONFIGURABLE_PROPS),
  });
  app.post('/v1/components/props', { schema: props }, async ({ body, caller }) => {
    return { data: definitionsToWire(await actions.reloadProps(caller.ownerId, componentInput(body))) };
  });
}
