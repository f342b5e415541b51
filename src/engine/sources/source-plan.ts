// From a requested source to its record, triggers and deployment.

import type { PropDefinitions, PropValues } from '../../domain/props.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ShownTrigger, SourceInput, TriggerInput, WholeSource } from '../../domain/requests.ts';
import { nextVersion } from '../../domain/requests.ts';
import { DEDUPES, DEFAULT_SETTINGS, type Dedupe, type Deployment, type Source } from '../../domain/resource.ts';
import type { ComponentShape, Runner } from '../../runner/runner.ts';
import { type PropsDeps, planProps } from '../components/component-props.ts';
import type { Components } from '../components/components.ts';
import { makeDeployment } from '../resources/bundle.ts';
import { planTriggers, type TriggerDeps } from '../resources/triggers.ts';
import { codeOf } from './source-code.ts';
import { type PlannedInterface, plannedInterfaces } from './source-props.ts';

export interface SourcePlanDeps extends TriggerDeps, PropsDeps {
  readonly components?: Components;
  readonly runner: Runner;
}

export interface PlannedSource extends WholeSource {
  /** Null: the current one. */
  readonly deployment: Deployment | null;
  readonly shape: ComponentShape;
}

const NAMESPACE = 'source';

/** Writes nothing. Throws `Refusal` (422) for code that does not compile or load, and for invalid props. */
export async function planSource(
  deps: SourcePlanDeps,
  of: { ownerId: string; id: string },
  asked: { input: SourceInput; before: WholeSource | null },
): Promise<PlannedSource> {
  const { input, before } = asked;
  const nowMs = deps.clock.nowMs();
  const { deployment, made } = await deploymentOf(deps, of, asked);
  const shape = await shapeOfSource(deps.runner, deployment);
  const place = { ownerId: of.ownerId, parameter: 'configured_props' };
  const props = await planProps(
    deps,
    { place, deployment, shape },
    {
      given: input.configuredProps && withoutInterfaces(input.configuredProps, shape.props),
      before: before && propsOf(before.source, shape.props),
      isSameCode: made === null,
    },
  );
  const interfaces = plannedInterfaces(place, props, nowMs);
  const source: Source = {
    ...of,
    name: input.name ?? before?.source.name ?? shape.name ?? of.id,
    active: false,
    deploymentId: deployment.id,
    settings: DEFAULT_SETTINGS,
    componentCode: deployment.steps[0]?.code ?? '',
    configuredProps: props.configured,
    additionalProps: props.additional,
    dedupe: shape.dedupe as Dedupe | null,
    secretProps: props.secret,
    createdAtMs: before?.source.createdAtMs ?? nowMs,
    updatedAtMs: before === null ? nowMs : nextVersion(before.source, nowMs),
  };
  const inputs = interfaces.map((planned) => triggerInput(planned, before?.source.configuredProps[planned.prop]));
  const triggers = await planTriggers(deps, source, { inputs, existing: before?.triggers ?? [] });
  const configuredProps = { ...props.configured, ...interfaceProps(interfaces, triggers) };
  return { source: { ...source, configuredProps }, triggers, deployment: made, shape };
}

async function deploymentOf(
  deps: SourcePlanDeps,
  of: { ownerId: string; id: string },
  { input, before }: { input: SourceInput; before: WholeSource | null },
): Promise<{ deployment: Deployment; made: Deployment | null }> {
  const { code, ready } = await codeOf(deps.components, input, { namespace: NAMESPACE, before });
  const previous = before ? await deps.store.getDeployment(of.ownerId, before.source.deploymentId) : undefined;
  if (previous?.steps[0]?.code === code) return { deployment: previous, made: null };
  const runnable = { ...of, previous: previous ?? null, parameter: 'component_code' };
  const made = await makeDeployment(deps, runnable, [{ namespace: NAMESPACE, code, ready }]);
  return { deployment: made, made };
}

/** Returns the component's description. Throws `Refusal` (422) when it cannot be loaded, or is no source. */
export async function shapeOfSource(runner: Runner, deployment: Deployment): Promise<ComponentShape> {
  const described = await runner.describe(deployment);
  if (!described.ok) {
    throw new Refusal('code_invalid', `the component cannot be loaded: ${described.message}`, {
      errors: [{ parameter: 'component_code', message: `${described.message}\n${described.stack}`.trim() }],
    });
  }
  const { shape } = described;
  const wrong = whyNoSource(shape);
  if (wrong === null) return shape;
  throw new Refusal('impossible', wrong, { errors: [{ parameter: 'component_code', message: wrong }] });
}

/** Other types of components, and where they belong. */
const OTHER_TYPES: Readonly<Record<string, string>> = {
  action: 'of type action, which is a step of a workflow; a source has no type',
  app: 'of type app, which is for the props of other components; a source has no type',
  function: 'a function, which is a step of a workflow; a source is an object with props and run(event)',
};

/** Returns why the component is no source; null when it is one. */
export function whyNoSource(shape: ComponentShape): string | null {
  if (shape.type !== 'source')
    return `the component is ${OTHER_TYPES[shape.type] ?? `of type ${shape.type}; a source has none`}`;
  if (shape.hasSteps)
    return 'the component has steps and no run(event): a workflow file exports what defineWorkflow returns';
  if (shape.dedupe !== null && !(DEDUPES as readonly string[]).includes(shape.dedupe)) {
    return `dedupe "${shape.dedupe}" is not known: it is one of ${DEDUPES.join(', ')}`;
  }
  return null;
}

/** Returns the configuration, as the caller sent it. */
export function propsOf(
  { configuredProps, additionalProps: additional, secretProps: secret }: Source,
  own: PropDefinitions,
): { configured: PropValues; additional: PropDefinitions; secret: readonly string[] } {
  return { configured: withoutInterfaces(configuredProps, { ...own, ...additional }), additional, secret };
}

/** Returns the trigger of an interface. `before`: what the prop had, so that each http prop keeps its own address. */
function triggerInput(planned: PlannedInterface, before: unknown): TriggerInput {
  if (planned.kind === 'schedule')
    return { type: 'schedule', schedule: planned.schedule as NonNullable<PlannedInterface['schedule']> };
  const named = isWritten(before) ? { id: before.triggerId } : {};
  return { ...named, type: 'http', customResponse: planned.customResponse, token: null };
}

interface InterfaceValue {
  readonly triggerId?: string;
}

/** Members that the service writes into an http prop when it shows one. */
const WRITTEN = new Set(['triggerId', 'endpoint_url']);

/** Removes what the service wrote into http props, which is not part of the caller's configuration. */
function withoutInterfaces(configured: PropValues, definitions: PropDefinitions): PropValues {
  const isHttp = ([prop, value]: [string, unknown]): boolean =>
    definitions[prop]?.type === '$.interface.http' || isWritten(value);
  return Object.fromEntries(Object.entries(configured).filter((entry) => !isHttp(entry)));
}

/** Checks the value alone, for props that the code no longer declares, too. */
function isWritten(value: unknown): value is Required<InterfaceValue> {
  const id = (value as InterfaceValue | null | undefined)?.triggerId;
  return (
    typeof id === 'string' && id.startsWith('hi_') && Object.keys(value as object).every((name) => WRITTEN.has(name))
  );
}

function interfaceProps(
  interfaces: readonly PlannedInterface[],
  triggers: readonly ShownTrigger[],
): Record<string, InterfaceValue> {
  const props: Record<string, InterfaceValue> = {};
  interfaces.forEach(({ prop, kind }, i) => {
    const id = triggers[i]?.trigger?.id;
    if (kind === 'http' && id !== undefined) props[prop] = { triggerId: id };
  });
  return props;
}
