import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { dataOf, operation } from '../openapi/operation.ts';
import { CHECKS, COMPONENT_CHECK, checkInput, checksToWire } from '../wire/component-checks.ts';
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
      'Runs the function `options` of the prop in a process of its own, with the props that are configured so far. If it throws, the answer is 422 with message and stack.',
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
      'Returns the props that the component declares, and those that its `additionalProps` adds for the given configuration. Ask again when a prop with `reloadProps` changes. If `additionalProps` throws, `additional_props_error` has the error, and the answer the props that are known without it.',
    body: COMPONENT_PROPS,
    example: { component_code: CODE, configured_props: {} },
    answer: dataOf(CONFIGURABLE_PROPS),
  });
  app.post('/v1/components/props', { schema: props }, async ({ body, caller }) => {
    return { data: definitionsToWire(await actions.reloadProps(caller.ownerId, componentInput(body))) };
  });

  const check = operation({
    id: 'checkComponents',
    tag: 'components',
    access: 'write',
    summary: 'Check whether components would run here',
    description:
      'Bundles and loads code, or each file of a folder, as a deployment does, and stores nothing. The answer says why a component would not run, which packages are missing, and which accounts it needs. It covers at most 100 files, or as many as were started within 30 seconds, in the order of their paths.',
    body: COMPONENT_CHECK,
    example: { component_code: CODE },
    answer: CHECKS,
  });
  app.post('/v1/components/check', { schema: check }, async ({ body, caller }) => {
    return checksToWire(await actions.checkComponents(caller.ownerId, checkInput(body)));
  });
}
