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
  const inner = resolve(app?.propDefinitions?.[name], depth + 1);
  const isOwn = own.options !== undefined || app === undefined;
  return {
    definition: { ...inner.definition, ...defined(own) },
    links: isOwn ? [] : [{ app, inputs }, ...inner.links],
  };
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
