// Props of a workflow's steps: an action of the component API is a step, configured beside its code.

import type { PropValues } from '../../domain/props.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { StepInput } from '../../domain/requests.ts';
import type { Deployment, Step } from '../../domain/resource.ts';
import { NO_COMPONENT } from '../../runner/component-api.ts';
import type { ComponentShape, PropsInput } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import { type PropsDeps, planProps, propsInput } from './component-props.ts';
import type { PropStores } from './prop-stores.ts';

interface StepPlan {
  readonly inputs: readonly StepInput[];
  readonly previous: Deployment | null;
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the deployment with its steps' props. Throws `Refusal` (422) naming `steps.<namespace>.configured_props.<prop>`. */
export async function withStepProps(deps: PropsDeps, made: Deployment, planned: StepPlan): Promise<Deployment> {
  const steps: Step[] = [];
  for (const step of made.steps) steps.push(await withProps(deps, made, { step, planned }));
  return { ...made, steps };
}

/** In bundles: props, a type of component that is no step, a default export that is text, a number, a list and the like. */
const MAY_BE_NO_STEP = /\bprops\b|\btype: "(?:app|source)"|_default = (?:["'`\d[]|null\b|true\b|false\b|\{\})/;
const MAY_BE_CALLED = /=>|\bfunction\b|\brun\b/;

async function withProps(
  deps: PropsDeps,
  made: Deployment,
  { step, planned }: { step: Step; planned: StepPlan },
): Promise<Step> {
  const { namespace } = step;
  const given = planned.inputs.find((input) => input.namespace === namespace)?.configuredProps;
  const previous = planned.previous?.steps.find((known) => known.namespace === namespace);
  // A process is started only for code that may have props or be no step.
  const isPlain = given === undefined && previous?.props === undefined;
  if (isPlain && !MAY_BE_NO_STEP.test(step.bundle) && MAY_BE_CALLED.test(step.bundle)) return step;
  const place = { ownerId: made.ownerId, parameter: `steps.${namespace}.configured_props`, ofStep: true };
  const deployment = { ...made, steps: [step] };
  const described = await deps.runner.describe(deployment, planned.env);
  if (!described.ok) {
    // The error shows on the first run, as for code without props.
    const isNoComponent = described.message.includes(NO_COMPONENT);
    if (!isNoComponent && (given === undefined || isEmpty(given))) return step;
    throw new Refusal('code_invalid', `step ${namespace} cannot be loaded: ${described.message}`, {
      errors: [{ parameter: `steps.${namespace}.code`, message: `${described.message}\n${described.stack}`.trim() }],
    });
  }
  const { shape } = described;
  const whyNot = whyNoStep(shape);
  if (whyNot !== null) {
    const message = `step ${namespace} ${whyNot}`;
    throw new Refusal('impossible', message, { errors: [{ parameter: `steps.${namespace}.code`, message }] });
  }
  const before = previous?.props ?? null;
  const isSameCode = previous?.code === step.code;
  const { configured, additional, secret } = await planProps(
    deps,
    { place, deployment, shape, env: planned.env },
    { given, before, isSameCode },
  );
  const hasProps = Object.keys(shape.props).length + Object.keys(additional).length > 0;
  return hasProps ? { ...step, props: { configured, additional, secret } } : step;
}

const INTERFACES = new Set(['$.interface.http', '$.interface.timer']);

/**
 * Says why a component is not a step: components are of several kinds, which the public registry mixes. What says that it is
 * an action is one, also with an interface among its props: some public actions have inherited one that they do not use.
 */
export function whyNoStep({ type, isTyped, hasRun, props }: ComponentShape): string | null {
  if (type === 'app') return 'is an app, which is for the props of other components: an action of it can be a step';
  const isInterface = (name: string): boolean => INTERFACES.has(props[name]?.type ?? '');
  const prop = type === 'action' ? undefined : Object.keys(props).find(isInterface);
  if (prop !== undefined) return `is a source, since its prop "${prop}" is an interface: POST /v1/sources takes it`;
  if (type === 'source' && isTyped) return 'is a source, since its type says so: POST /v1/sources takes it';
  return hasRun ? null : 'is a component without run()';
}

function isEmpty(values: PropValues): boolean {
  return Object.keys(values).length === 0;
}

/** Returns whether the configuration is unchanged: omitted props, and omitted secrets, stay. */
export function isSameProps(deployment: Deployment, inputs: readonly StepInput[]): boolean {
  return inputs.every(({ namespace, configuredProps: given }) => {
    if (given === undefined) return true;
    const { configured = {}, secret = [] } = deployment.steps.find((step) => step.namespace === namespace)?.props ?? {};
    const isLeftOut = (prop: string): boolean => secret.includes(prop) && !Object.hasOwn(given, prop);
    const current = Object.entries(configured).filter(([prop]) => !isLeftOut(prop));
    return sortedJson(current) === sortedJson(Object.entries(given));
  });
}

function sortedJson(entries: [string, unknown][]): string {
  return JSON.stringify([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the configuration of all steps with props. */
export function configuredIn(stepProps: readonly (PropsInput | null)[] | null): PropValues[] {
  return (stepProps ?? []).flatMap((props) => (props ? [props.configuredProps] : []));
}

/** What a run's steps get beside their code. */
export interface StepInputs {
  /** Step by step; null when no step has props. */
  readonly props: readonly (PropsInput | null)[] | null;
  /** The `$.service.db` of all steps, as it stands now; null when no step uses it. */
  readonly db: Readonly<Record<string, string>> | null;
}

const NO_INPUTS: StepInputs = { props: null, db: null };

/** Returns what the steps get where nothing has to be read for it: no step has props. Else undefined. */
export function plainInputs({ steps }: Deployment): StepInputs | undefined {
  return steps.every(({ props }) => props === undefined) ? NO_INPUTS : undefined;
}

export async function stepInputs(
  { propStores, store }: { readonly propStores: PropStores; readonly store: Pick<Store, 'readSourceDb'> },
  deployment: Deployment,
): Promise<StepInputs> {
  const { ownerId, steps, runnableId } = deployment;
  const plain = plainInputs(deployment);
  if (plain) return plain;
  const [props, db] = await Promise.all([
    Promise.all(steps.map(async ({ props }) => (props ? await propsInput(propStores, ownerId, props) : null))),
    usesDb(deployment) ? store.readSourceDb(runnableId) : null,
  ]);
  return { props, db };
}

/** By deployment: code may be megabytes, and is searched once. */
const usersOfDb = new WeakMap<Deployment, boolean>();

/** Returns whether a step may have a prop of type `$.service.db`: definitions are not kept with a deployment. */
function usesDb(deployment: Deployment): boolean {
  const known = usersOfDb.get(deployment);
  if (known !== undefined) return known;
  const uses = deployment.steps.some(({ props, bundle }) => props !== undefined && bundle.includes('$.service.db'));
  usersOfDb.set(deployment, uses);
  return uses;
}
