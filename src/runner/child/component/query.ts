// Answers queries to a component that is being configured: the options of a prop, or its additional props.

import type { PropDefinition, PropDefinitions } from '../../../domain/props.ts';
import type { ComponentQuery } from '../../runner.ts';
import { dataStore } from '../api/data-store.ts';
import type { PendingRequests } from '../api/pending-requests.ts';
import { DbBudget, serviceDb } from '../api/service-db.ts';
import { ConfigurationError } from '../errors.ts';
import type { ChildLimits } from '../protocol.ts';
import { cutChars } from '../text.ts';
import { bindApp, bindComponent, type Component, previousDefinitions } from './component.ts';
import { type AppLike, type Callable, isSameApp, type Resolved, resolve } from './definitions.ts';
import { definitionsAsJson } from './describe.ts';

interface QueryMeans {
  readonly limits: ChildLimits;
  /** What the code asks of data stores; the server answers reads alone. */
  readonly requests: Pick<PendingRequests, 'send'>;
}

/** Returns the answer as JSON values. Rejects with what the component's code throws. */
export async function answerQuery(
  given: unknown,
  query: ComponentQuery,
  { limits, requests }: QueryMeans,
): Promise<unknown> {
  const component = (typeof given === 'function' ? {} : given) as Component;
  const bind = (additionalProps: PropDefinitions): object =>
    bindComponent(component, {
      props: { ...query.props, additionalProps },
      respond: async () => undefined,
      endpoints: query.endpoints,
      db: serviceDb(query.db ?? {}, new Map(), new DbBudget(limits)),
      dataStore: (id) => dataStore(id, requests, limits),
      emit: () => undefined,
    });
  if (query.what === 'props') {
    const { answered } = await additionalPropsOf(component, { bind, query });
    return { props: definitionsAsJson(answered, component) };
  }
  return await optionsOf(component, { bind, query });
}

interface QueryContext<A extends ComponentQuery = ComponentQuery> {
  /** Returns the component's `this`, with these additional props. */
  readonly bind: (additional: PropDefinitions) => object;
  readonly query: A;
}

interface AdditionalProps {
  readonly answered: Record<string, unknown>;
  readonly known: PropDefinitions;
}

/** The value of an added prop may add more props: forms query again with every prop that is filled in. */
const MAX_PASSES = 32;

async function additionalPropsOf(component: Component, { bind, query }: QueryContext): Promise<AdditionalProps> {
  let known = query.props.additionalProps ?? {};
  if (typeof component.additionalProps !== 'function') return { answered: {}, known };
  const seen = new Set([...Object.keys(component.props ?? {}), ...Object.keys(known)]);
  for (let pass = 1; ; pass++) {
    const previous = previousDefinitions(component, known);
    const returned = membersOf(await component.additionalProps.call(bind(known), previous));
    const answered = { ...changedIn(previous, component), ...returned };
    known = definitionsAsJson(answered, component);
    const fresh = Object.entries(known).filter(([name]) => !seen.has(name));
    for (const [name] of fresh) seen.add(name);
    const isMore = fresh.some(([name, definition]) => hasValue(definition, query.props.configuredProps[name]));
    if (!isMore || pass === MAX_PASSES) return { answered, known };
  }
}

function hasValue({ reloadProps, default: defaultValue }: PropDefinition, configured: unknown): boolean {
  if (configured !== undefined && configured !== null) return true;
  return reloadProps === true && defaultValue !== undefined && defaultValue !== null;
}

/**
 * Returns the component's own props that the code has changed in its argument: many hide a prop that way, without
 * returning it.
 */
function changedIn(shown: Record<string, unknown>, component: Component): Record<string, unknown> {
  const own = Object.entries(previousDefinitions(component, {}));
  const changed = own.filter(([name, before]) => {
    const now = shown[name];
    return typeof now === 'object' && now !== null && isOther(now, before as object);
  });
  return Object.fromEntries(changed.map(([name]) => [name, shown[name]]));
}

function isOther(now: object, before: object): boolean {
  const keys = Object.keys({ ...before, ...now });
  return keys.some((key) => Reflect.get(now, key) !== Reflect.get(before, key));
}

function membersOf(answered: unknown): Record<string, unknown> {
  if (answered === undefined || answered === null) return {};
  if (typeof answered === 'object' && !Array.isArray(answered)) return answered as Record<string, unknown>;
  throw new ConfigurationError('additionalProps must return an object of props, by name');
}

const SHOWN_CHARS = 100;

async function optionsOf(
  component: Component,
  { bind, query: asked }: QueryContext<Extract<ComponentQuery, { what: 'options' }>>,
): Promise<unknown> {
  const isOwn = Object.hasOwn(component.props ?? {}, asked.prop);
  const { answered, known } = isOwn
    ? { answered: component.props ?? {}, known: asked.props.additionalProps ?? {} }
    : await additionalPropsOf(component, { bind, query: asked });
  const given = Object.hasOwn(answered, asked.prop) ? answered[asked.prop] : undefined;
  if (given === undefined) throw new ConfigurationError(`The component has no prop "${asked.prop}"`);
  const { definition, links } = resolve(given);
  const { options: own, unresolved } = definition;
  if (own === undefined && unresolved !== undefined) throw new ConfigurationError(`Prop "${asked.prop}" ${unresolved}`);
  if (typeof own !== 'function') return { options: own ?? [], context: null };
  const self = bind(known);
  const { page, prevContext, query } = asked;
  const { self: owner, inputs } = ownerOf(component, { self, links, configured: valuesOf(self, known) });
  const listed = await withThis(own as Callable, owner).call(owner, { ...inputs, page, prevContext, query });
  if (typeof listed !== 'object' || listed === null || Array.isArray(listed)) {
    return { options: listed ?? [], context: null };
  }
  const { options, context } = listed as { options?: unknown; context?: unknown };
  const members = Object.keys(listed);
  // Some components return nothing, or an empty object, behind their last page.
  if (members.length > 0 && !('options' in listed || 'context' in listed)) {
    const has = cutChars(members.join(', '), SHOWN_CHARS);
    throw new ConfigurationError(`options must return an array, or {options: […], context}; it has returned {${has}}`);
  }
  return { options: options ?? [], context: context ?? null };
}

/** How the bundler writes an arrow function, and the `this` of a module, which is undefined. */
const ARROW = /^(?:async\b\s*)?(?:\(|[\w$]+\s*=>)/;
const NO_THIS = /\(void 0\)(?=\.|\[)|(?<=\}\s*=\s*)void 0\b|(?<=\.(?:bind|call|apply)\()void 0\b/g;

/**
 * Returns the function so that `this` has a value in it. Arrow functions at the top of a module have no `this`; public components
 * write options so all the same, since the hosted original evaluates their text again, without what is around them.
 */
function withThis(options: Callable, self: object): Callable {
  const text = Function.prototype.toString.call(options);
  const bound = ARROW.test(text) ? text.replace(NO_THIS, 'this') : text;
  return bound === text ? options : (Function(`return ${bound}`).call(self) as Callable);
}

function valuesOf(self: object, additional: PropDefinitions): Record<string, unknown> {
  const names = new Set([...Object.keys((self as Component).props ?? {}), ...Object.keys(additional)]);
  const values = [...names].map((name) => [name, (self as Record<string, unknown>)[name]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/**
 * Returns whose `options` it is, and its inputs: along the links, each mapper also gets the results of those before.
 */
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

/** Returns the component's prop for this app; an app that is not among its props has no account. */
function boundApp(component: Component, self: object, app: AppLike): object {
  for (const [name, given] of Object.entries(component.props ?? {})) {
    if (typeof given !== 'object' || given === null || !isSameApp(given as AppLike, app)) continue;
    const bound = (self as Record<string, unknown>)[name];
    if (typeof bound === 'object' && bound !== null) return bound;
  }
  return bindApp(app, {});
}
