// What a component is asked while it is being configured: the options of a prop, or its additional props.

import type { PropDefinitions } from '../../domain/props.ts';
import type { Ask } from '../runner.ts';
import { bindApp, bindComponent, type Component, previousDefinitions } from './component.ts';
import { dataStore } from './data-store.ts';
import { type AppLike, type Callable, isSameApp, type Resolved, resolve } from './definitions.ts';
import { definitionsAsJson } from './describe.ts';
import { ConfigurationError } from './errors.ts';
import type { ChildLimits } from './protocol.ts';
import { sourceDb } from './source-db.ts';

/** The answer, as JSON values. Rejects with what the component's code throws. */
export async function answerTo(given: unknown, ask: Ask, limits: ChildLimits): Promise<unknown> {
  const component = (typeof given === 'function' ? {} : given) as Component;
  const self = bindComponent(component, {
    props: ask.props,
    respond: async () => undefined,
    endpoints: ask.endpoints,
    db: sourceDb(ask.db ?? {}, new Map(), limits.resultBytes),
    dataStore: (id) => dataStore(id, NO_STORES, limits),
    emit: () => undefined,
  });
  if (ask.what === 'props') return { props: await additionalProps(component, { self, ask }) };
  return await optionsOf(component, { self, ask });
}

/** What it does with a data store would stand, although nothing has been deployed. */
const NO_STORES = {
  ask: async (): Promise<never> => {
    throw new ConfigurationError('Data stores are there for `run` and hooks, not for `options` and `additionalProps`');
  },
};

interface Asked<A extends Ask = Ask> {
  readonly self: object;
  readonly ask: A;
}

async function additionalProps(component: Component, { self, ask }: Asked): Promise<PropDefinitions> {
  return definitionsAsJson(await liveAdditional(component, { self, ask }), component);
}

async function liveAdditional(component: Component, { self, ask }: Asked): Promise<Record<string, unknown>> {
  if (typeof component.additionalProps !== 'function') return {};
  const previous = previousDefinitions(component, ask.props.additionalProps ?? {});
  const answered: unknown = await component.additionalProps.call(self, previous);
  if (answered === undefined || answered === null) return {};
  if (typeof answered === 'object' && !Array.isArray(answered)) return answered as Record<string, unknown>;
  throw new ConfigurationError('additionalProps must return an object of props, by name');
}

async function optionsOf(
  component: Component,
  { self, ask }: Asked<Extract<Ask, { what: 'options' }>>,
): Promise<unknown> {
  const given = Object.hasOwn(component.props ?? {}, ask.prop)
    ? component.props?.[ask.prop]
    : (await liveAdditional(component, { self, ask }))[ask.prop];
  if (given === undefined) throw new ConfigurationError(`The component has no prop "${ask.prop}"`);
  const { definition, links } = resolve(given);
  if (typeof definition.options !== 'function') return { options: definition.options ?? [], context: null };
  const { page, prevContext, query } = ask;
  const { self: owner, inputs } = ownerOf(component, { self, links, configured: valuesOf(self, ask) });
  const answered = await (definition.options as Callable).call(owner, { ...inputs, page, prevContext, query });
  if (typeof answered !== 'object' || answered === null || Array.isArray(answered)) {
    return { options: answered ?? [], context: null };
  }
  const { options, context } = answered as { options?: unknown; context?: unknown };
  return { options: options ?? [], context: context ?? null };
}

function valuesOf(self: object, ask: Ask): Record<string, unknown> {
  const names = new Set([
    ...Object.keys((self as Component).props ?? {}),
    ...Object.keys(ask.props.additionalProps ?? {}),
  ]);
  const values = [...names].map((name) => [name, (self as Record<string, unknown>)[name]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Whose `options` it is, and what it is handed: from link to link, each mapper sees what the one before gave, too. */
function ownerOf(
  component: Component,
  of: { self: object; links: Resolved['links']; configured: Record<string, unknown> },
): { self: object; inputs: Record<string, unknown> } {
  let { self, configured: inputs } = of;
  for (const { app, inputs: mapper } of of.links) {
    const given = typeof mapper === 'function' ? (mapper as Callable)(inputs) : mapper;
    inputs = { ...inputs, ...(given as object | undefined) };
    self = boundApp(component, of.self, app);
  }
  return { self, inputs };
}

/** The one that the component has among its props; an app that it has not has no account. */
function boundApp(component: Component, self: object, app: AppLike): object {
  for (const [name, given] of Object.entries(component.props ?? {})) {
    if (typeof given !== 'object' || given === null || !isSameApp(given as AppLike, app)) continue;
    const bound = (self as Record<string, unknown>)[name];
    if (typeof bound === 'object' && bound !== null) return bound;
  }
  return bindApp(app, {});
}
