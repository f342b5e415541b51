// Requests of forms to a component before its deployment, or while it is changed: the options of a prop, and the current
// props.

import type { Urls } from '../../domain/endpoint.ts';
import { PREFIX } from '../../domain/ids.ts';
import { mergedDefinitions, type PropDefinitions, type PropValues, type ReloadedProps } from '../../domain/props.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ComponentInput, OptionsInput, PropOptions } from '../../domain/requests.ts';
import type { Deployment } from '../../domain/resource.ts';
import type { ComponentShape, PropsInput } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import { type CodeDeps, makeDeployment } from '../resources/bundle.ts';
import { codeOf } from '../sources/source-code.ts';
import { endpointsOf } from '../sources/source-run.ts';
import { type PropsDeps, propsInput, queryAdditionalProps } from './component-props.ts';

const NAMESPACE = 'component';

export interface ConfigureDeps extends CodeDeps, PropsDeps {
  readonly store: Store;
  readonly endpointUrl: Urls['endpointUrl'];
}

/** A component that is being configured. */
interface ComponentInstance {
  readonly deployment: Deployment;
  readonly env: Readonly<Record<string, string>>;
  readonly configured: PropValues;
  readonly additional: PropDefinitions;
  readonly sourceId: string | null;
}

export function createConfigure(deps: ConfigureDeps) {
  const { store, runner, propStores } = deps;

  async function propOptions(ownerId: string, input: OptionsInput): Promise<PropOptions> {
    const { propName: prop, page, prevContext, query } = input;
    const found = await find(ownerId, input);
    const props = await propsInput(propStores, ownerId, found);
    const more = found.sourceId === null ? {} : await surroundings(ownerId, found.sourceId);
    const result = await runner.queryComponent(
      found.deployment,
      { what: 'options', prop, page, prevContext: prevContext ?? {}, query, props, ...more },
      { env: found.env, onChildRequest: propStores.dataStores.reads(ownerId, found.configured) },
    );
    if (!result.ok) {
      throw new Refusal('impossible', `the options of prop "${prop}" could not be loaded: ${result.message}`, {
        errors: [{ parameter: `configured_props.${prop}`, message: `${result.message}\n${result.stack}`.trim() }],
      });
    }
    const { options, context } = result.answer;
    if (Array.isArray(options)) return { options, context: context ?? null };
    const message = `the options of prop "${prop}" are no array: an array is needed, or {options: […], context}`;
    throw new Refusal('impossible', message, { errors: [{ parameter: `configured_props.${prop}`, message }] });
  }

  /**
   * Returns all props, in the order of the component, with the additional ones for this configuration. `additionalProps` of
   * many components throws until an account is configured: forms need the other props all the same.
   */
  async function reloadProps(ownerId: string, input: ComponentInput): Promise<ReloadedProps> {
    const found = await find(ownerId, input);
    const shape = await describe(found);
    if (!shape.hasAdditionalProps) return { definitions: shape.props, error: null };
    const place = { ownerId, parameter: 'configured_props' };
    const component = { place, deployment: found.deployment, shape, env: found.env };
    const props: PropsInput = { configuredProps: found.configured, additionalProps: found.additional };
    const asked = await queryAdditionalProps(deps, component, props);
    const additional = asked.ok ? asked.props : found.additional;
    const error = asked.ok ? null : { message: asked.message, stack: asked.stack };
    return { definitions: mergedDefinitions(shape.props, additional), error };
  }

  async function describe({ deployment, env }: ComponentInstance): Promise<ComponentShape> {
    const described = await runner.describe(deployment, env);
    if (described.ok) return described.shape;
    throw new Refusal('code_invalid', `the component cannot be loaded: ${described.message}`, {
      errors: [{ parameter: 'component_code', message: `${described.message}\n${described.stack}`.trim() }],
    });
  }

  async function find(ownerId: string, input: ComponentInput): Promise<ComponentInstance> {
    if (input.sourceId !== undefined) return findSource(ownerId, input.sourceId, input.configuredProps);
    if (input.workflowId !== undefined) return findStep(ownerId, input.workflowId, input);
    const runnable = { ownerId, id: PREFIX.source, previous: null, parameter: 'component_code' };
    const code = await codeOf(deps.components, input, { namespace: NAMESPACE, before: null });
    const deployment = await makeDeployment(deps, runnable, [{ namespace: NAMESPACE, ...code }]);
    return { deployment, env: {}, configured: input.configuredProps, additional: {}, sourceId: null };
  }

  async function findSource(ownerId: string, id: string, given: PropValues): Promise<ComponentInstance> {
    const source = await store.getSource(ownerId, id);
    const deployment = source && (await store.getDeployment(ownerId, source.deploymentId));
    if (!source || !deployment) throw notFound('source_id', `there is no source ${id}`);
    const configured = { ...source.configuredProps, ...given };
    return { deployment, env: {}, configured, additional: source.additionalProps, sourceId: id };
  }

  async function findStep(ownerId: string, id: string, input: ComponentInput): Promise<ComponentInstance> {
    const workflow = await store.getWorkflow(ownerId, id);
    const whole = workflow && (await store.getDeployment(ownerId, workflow.deploymentId));
    if (!workflow || !whole) throw notFound('workflow_id', `there is no workflow ${id}`);
    const { namespace, configuredProps } = input;
    const step = namespace === undefined ? whole.steps[0] : whole.steps.find((one) => one.namespace === namespace);
    if (!step) throw notFound('namespace', `workflow ${id} has no step "${namespace}"`);
    const { configured = {}, additional = {} } = step.props ?? {};
    const deployment = { ...whole, steps: [step] };
    const { env } = workflow.settings;
    return { deployment, env, configured: { ...configured, ...configuredProps }, additional, sourceId: null };
  }

  async function surroundings(ownerId: string, sourceId: string) {
    const source = await store.getSource(ownerId, sourceId);
    if (!source) return {};
    return { endpoints: await endpointsOf(store, source, deps.endpointUrl), db: await store.readSourceDb(sourceId) };
  }

  return { propOptions, reloadProps };
}

function notFound(parameter: string, message: string): Refusal {
  return new Refusal('not_found', message, { errors: [{ parameter, message }] });
}
