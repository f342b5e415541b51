// From a component and its configuration to its props: checked, omitted secrets kept, and `additionalProps` called where
// its answer may have changed.

import {
  type AdditionalPropsError,
  type ComponentProps,
  givenValue,
  mergedDefinitions,
  type PropDefinition,
  type PropDefinitions,
  type PropValues,
} from '../../domain/props.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Deployment } from '../../domain/resource.ts';
import type { ComponentShape, PropsInput, Runner } from '../../runner/runner.ts';
import { checkGiven, checkProps, type PropsPlace } from './prop-checks.ts';
import { accountsOf, type PropStores } from './prop-stores.ts';

export interface PropsDeps {
  readonly runner: Runner;
  readonly propStores: PropStores;
}

/** The component: the first step of the deployment. */
export interface DescribedComponent {
  readonly place: PropsPlace;
  readonly deployment: Deployment;
  readonly shape: ComponentShape;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Configuration {
  /** Undefined: as before, but for props that the code no longer has. */
  readonly given: PropValues | undefined;
  readonly before: ComponentProps | null;
  /** False: other code, whose `additionalProps` may answer otherwise. */
  readonly isSameCode: boolean;
}

export interface PlannedProps extends ComponentProps {
  /** The component's own, and the additional ones. */
  readonly definitions: PropDefinitions;
}

/** Throws `Refusal` (422) naming the wrong prop, or the error of `additionalProps`. */
export async function planProps(
  deps: PropsDeps,
  component: DescribedComponent,
  configuration: Configuration,
): Promise<PlannedProps> {
  const { place, shape } = component;
  const { given, before } = configuration;
  const kept = before === null ? {} : given === undefined ? before.configured : secretsOf(before, given);
  const all = { ...given, ...kept };
  checkGiven(place, { definitions: shape.props, configured: all });
  const checked = async (additional: PropDefinitions): Promise<PlannedProps> => {
    const definitions = mergedDefinitions(shape.props, additional);
    // A value without a prop was kept from before, for other code: the caller did not send it.
    const configured = withoutUnknown(all, { kept, definitions });
    await checkProps(deps.propStores, place, { definitions, configured });
    return { configured, additional, secret: secretNames(definitions, configured), definitions };
  };
  if (!shape.hasAdditionalProps) return await checked({});
  if (!isAnswered(shape, { ...configuration, all })) {
    return await checked(await additionalOf(deps, component, { ...configuration, all }));
  }
  const known = before?.additional ?? {};
  try {
    return await checked(known);
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    // The answer depends on another service, too: a table has a new column, for which the caller sends a value.
    const asked = await queryAdditionalProps(deps, component, { configuredProps: all, additionalProps: known });
    if (!asked.ok) throw refusal;
    return await checked(asked.props);
  }
}

/** Returns the secrets that an update leaves out, which stay: callers cannot send back values that are not shown. */
function secretsOf({ configured, secret }: ComponentProps, given: PropValues): PropValues {
  const kept = secret.filter((prop) => Object.hasOwn(configured, prop) && !Object.hasOwn(given, prop));
  return Object.fromEntries(kept.map((prop) => [prop, configured[prop]]));
}

function withoutUnknown(
  all: PropValues,
  { kept, definitions }: { kept: PropValues; definitions: PropDefinitions },
): PropValues {
  const isKnown = (prop: string): boolean => Object.hasOwn(definitions, prop) || !Object.hasOwn(kept, prop);
  return Object.fromEntries(Object.entries(all).filter(([prop]) => isKnown(prop)));
}

function secretNames(definitions: PropDefinitions, configured: PropValues): string[] {
  const names = Object.keys(definitions);
  return names.filter((prop) => isSecret(definitions[prop] as PropDefinition, configured[prop]));
}

/**
 * Returns whether a prop's value is secret. An account's fields, and the credentials of a request, are secret even when the
 * code does not declare them so.
 */
function isSecret({ secret, type }: PropDefinition, configured: unknown): boolean {
  if (secret === true) return true;
  if (typeof configured !== 'object' || configured === null) return false;
  return (type === 'app' && '$auth' in configured) || (type === 'http_request' && 'auth' in configured);
}

/** Returns whether the answer of `additionalProps` from before still stands. */
function isAnswered(shape: ComponentShape, { before, isSameCode, all }: Configuration & { all: PropValues }): boolean {
  if (before === null || !isSameCode) return false;
  return !isReloaded(mergedDefinitions(shape.props, before.additional), [before.configured, all]);
}

async function additionalOf(
  deps: PropsDeps,
  component: DescribedComponent,
  { before, all }: Configuration & { all: PropValues },
): Promise<PropDefinitions> {
  const known = before?.additional ?? {};
  const asked = await queryAdditionalProps(deps, component, { configuredProps: all, additionalProps: known });
  if (asked.ok) return asked.props;
  const { place, shape } = component;
  // A prop that is missing is the likely cause, and says more than the error that it leads to.
  const ownOf = <T>(values: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(values).filter(([prop]) => Object.hasOwn(shape.props, prop)));
  const definitions = ownOf(mergedDefinitions(shape.props, known));
  await checkProps(deps.propStores, place, { definitions, configured: ownOf(all) });
  throw new Refusal('impossible', `additionalProps threw: ${asked.message}`, {
    errors: [{ parameter: place.parameter, message: `${asked.message}\n${asked.stack}`.trim() }],
  });
}

function isReloaded(definitions: PropDefinitions, [before, now]: readonly [PropValues, PropValues]): boolean {
  return Object.entries(definitions).some(([prop, definition]) => {
    if (definition.reloadProps !== true) return false;
    const values = [before, now].map((configured) => JSON.stringify(givenValue(definition, configured[prop])));
    return values[0] !== values[1];
  });
}

export type AdditionalProps =
  | { readonly ok: true; readonly props: PropDefinitions }
  | ({ readonly ok: false } & AdditionalPropsError);

/** Calls `additionalProps`. */
export async function queryAdditionalProps(
  { runner, propStores }: PropsDeps,
  { place, deployment, env }: DescribedComponent,
  input: PropsInput,
): Promise<AdditionalProps> {
  const accounts = await accountsOf(propStores, place.ownerId, input.configuredProps);
  const onChildRequest = propStores.dataStores.reads(place.ownerId, input.configuredProps);
  const query = { what: 'props', props: { ...input, ...accounts } } as const;
  const result = await runner.queryComponent(deployment, query, { env, onChildRequest });
  if (result.ok) return { ok: true, props: (result.answer.props ?? {}) as PropDefinitions };
  return { ok: false, message: result.message, stack: result.stack };
}

/** Returns the props that a run's code needs. */
export async function propsInput(
  stores: PropStores,
  ownerId: string,
  { configured, additional }: Pick<ComponentProps, 'configured' | 'additional'>,
): Promise<PropsInput> {
  return {
    configuredProps: configured,
    additionalProps: additional,
    ...(await accountsOf(stores, ownerId, configured)),
  };
}
