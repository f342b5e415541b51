// Resolves a component's props to their definitions: a bare string is a type, and a `propDefinition` is merged under
// the prop's own keys, through any number of apps.

import type { PropDefinition } from '../../../domain/props.ts';

export type Callable = (...args: unknown[]) => unknown;

export interface AppLike {
  readonly type?: unknown;
  readonly app?: unknown;
  readonly methods?: Readonly<Record<string, unknown>>;
  readonly propDefinitions?: Readonly<Record<string, unknown>>;
}

/** A definition with its functions. */
export type LiveDefinition = PropDefinition & AppLike & { readonly options?: unknown };

/** One `propDefinition` on the way: the app that it names, and the inputs for that app's `options`. */
interface Link {
  readonly app: AppLike;
  /** A function of the configured values, or the values themselves. */
  readonly inputs: unknown;
}

export interface Resolved {
  readonly definition: LiveDefinition;
  /**
   * From the component to where `options` is defined: whose `this` it gets, and which inputs. Empty: the component's
   * own.
   */
  readonly links: readonly Link[];
}

/** Apps whose props refer to each other could form a cycle. */
const MAX_LINKS = 16;

function definitionOf(given: unknown): LiveDefinition {
  return resolve(given).definition;
}

/** Resolves one definition; a value that is none becomes an empty definition. */
export function resolve(given: unknown, depth = 0): Resolved {
  if (typeof given === 'string') return { definition: { type: given }, links: [] };
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { definition: {}, links: [] };
  const { propDefinition, ...own } = given as Record<string, unknown>;
  if (!Array.isArray(propDefinition) || depth === MAX_LINKS) return { definition: given as LiveDefinition, links: [] };
  const [app, name, inputs] = propDefinition as [AppLike | undefined, string, unknown];
  const named = app?.propDefinitions?.[name];
  if (app === undefined || named === undefined || named === null) {
    return { definition: { ...defined(own), unresolved: whyUnresolved(app, name) }, links: [] };
  }
  const inner = resolve(named, depth + 1);
  return {
    definition: { ...inner.definition, ...defined(own) },
    links: own.options === undefined ? [{ app, inputs }, ...inner.links] : [],
  };
}

const SHOWN_DEFINITIONS = 20;

/** Returns what is wrong with a `propDefinition` that leads nowhere, to be read behind its prop's name. */
function whyUnresolved(app: unknown, name: unknown): string {
  if (typeof app !== 'object' || app === null) {
    const given = typeof app === 'string' ? `the text ${JSON.stringify(app)}` : String(app);
    return `has a propDefinition whose app is ${given}: the app itself is needed, as the code imports it`;
  }
  const { app: appName, propDefinitions } = app as AppLike;
  const known = Object.keys(propDefinitions ?? {});
  const shown = known.slice(0, SHOWN_DEFINITIONS).join(', ');
  const has = known.length === 0 ? 'has none' : `has ${shown}${known.length > SHOWN_DEFINITIONS ? ', …' : ''}`;
  const of = typeof appName === 'string' ? `app ${appName}` : 'its app';
  return `has the propDefinition ${JSON.stringify(String(name))}, which is unknown: ${of} ${has}`;
}

/** Returns the keys with a value: an undefined key overrides nothing. */
function defined(own: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
}

/** Returns all definitions of a component, with those of `additionalProps` laid over them. */
export function allDefinitions(
  props: Readonly<Record<string, unknown>> | undefined,
  additional: Readonly<Record<string, unknown>> = {},
): Record<string, LiveDefinition> {
  const all: Record<string, LiveDefinition> = Object.create(null);
  for (const [name, given] of Object.entries(props ?? {})) all[name] = definitionOf(given);
  for (const [name, given] of Object.entries(additional)) all[name] = { ...all[name], ...definitionOf(given) };
  return all;
}

export function isApp(definition: AppLike): boolean {
  return definition.type === 'app';
}

/** Returns whether both are the same app: one object, or copies with one name. */
export function isSameApp(one: AppLike, other: AppLike): boolean {
  return one === other || (typeof one.app === 'string' && one.app === other.app);
}
