// Describes a component as JSON values.

import type { PropDefinition, PropDefinitions } from '../../../domain/props.ts';
import type { ComponentShape } from '../../runner.ts';
import { cutChars, textOf } from '../text.ts';
import type { Component } from './component.ts';
import { type AppLike, allDefinitions, isApp, type LiveDefinition } from './definitions.ts';

/**
 * The key under which a workflow file's first step carries the description of the whole workflow (modules/program.ts).
 */
const DESCRIPTION = Symbol.for('errand.workflow');

export function shapeOf(component: unknown): ComponentShape {
  const description = (component as { [DESCRIPTION]?: unknown } | undefined)?.[DESCRIPTION];
  const shape = ownShape(component);
  return description === undefined ? shape : { ...shape, workflow: copyOf(description) };
}

function ownShape(component: unknown): ComponentShape {
  if (typeof component === 'function') {
    const unsaid = { key: null, name: null, description: null, version: null, dedupe: null };
    return {
      type: 'function',
      isTyped: false,
      ...unsaid,
      props: {},
      hooks: [],
      members: [],
      hasRun: true,
      hasAdditionalProps: false,
    };
  }
  const { type, key, name, description, version, dedupe, props, hooks, run, additionalProps } = component as Component;
  return {
    type: type === 'action' || type === 'app' ? type : 'source',
    isTyped: typeof type === 'string',
    key: stringOr(key),
    name: stringOr(name),
    description: stringOr(description),
    version: stringOr(version),
    dedupe: dedupe === undefined || dedupe === null ? null : cutChars(textOf(dedupe), SHOWN_CHARS),
    props: ownDefinitions(props, component as Component),
    hooks: Object.keys(hooks ?? {}).filter((hook) => typeof hooks?.[hook] === 'function'),
    members: Object.keys(component as Component)
      .slice(0, SHOWN_MEMBERS)
      .map((member) => cutChars(member, SHOWN_CHARS)),
    hasRun: typeof run === 'function',
    hasAdditionalProps: typeof additionalProps === 'function',
    ...(hasSteps(component as Component & { steps?: unknown }) ? { hasSteps: true } : {}),
  };
}

function hasSteps({ key, name, run, steps }: Component & { steps?: unknown }): boolean {
  const isGiven = typeof steps === 'function' || (typeof steps === 'object' && steps !== null);
  return isGiven && typeof name === 'string' && key === undefined && run === undefined;
}

/** A component has a dozen members; what is exported in its place may have any number. */
const SHOWN_MEMBERS = 50;
const SHOWN_CHARS = 100;

function stringOr(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

const TYPELESS = 'has neither a type nor a propDefinition: [app, "name"]';

/**
 * Returns the definitions of a component's own props. One that says neither its type nor where it is defined is incomplete;
 * one of `additionalProps` may be, since it changes another.
 */
function ownDefinitions(props: Component['props'], component: Component): PropDefinitions {
  const all = Object.entries(definitionsAsJson(props, component));
  const marked = all.map(([name, definition]) => [
    name,
    isTypeless(props?.[name]) ? { ...definition, unresolved: TYPELESS } : definition,
  ]);
  return Object.fromEntries(marked);
}

function isTypeless(given: unknown): boolean {
  if (typeof given === 'string' || given === undefined || given === null) return false;
  const { type, propDefinition } = given as Component & { propDefinition?: unknown };
  return typeof type !== 'string' && !Array.isArray(propDefinition);
}

/** Returns the definitions as JSON: without functions, and with `propDefinition`s resolved. */
export function definitionsAsJson(
  props: Readonly<Record<string, unknown>> | undefined,
  component: Component,
): PropDefinitions {
  const all = Object.entries(allDefinitions(props));
  return Object.fromEntries(all.map(([name, definition]) => [name, asJson(definition, component)]));
}

function asJson(definition: LiveDefinition, component: Component): PropDefinition {
  const isPlain = ([, value]: [string, unknown]): boolean => typeof value !== 'object' || value === null;
  // The name of an app is enough: its functions are code.
  const own = isApp(definition) ? Object.fromEntries(Object.entries(definition).filter(isPlain)) : definition;
  return {
    ...(copyOf(own) as PropDefinition),
    ...(typeof definition.options === 'function' ? { remoteOptions: true } : {}),
    ...(isApp(definition) && asksForAuth(definition, component) ? { usesAuth: true } : {}),
  };
}

/**
 * Returns whether the app's or the component's code reads an account's fields. Nothing else in a component says whether
 * an app needs an account.
 */
function asksForAuth(app: AppLike, { methods, hooks, run, additionalProps, props }: Component): boolean {
  const own = [app.methods, app.propDefinitions, methods, hooks, props];
  return [run, additionalProps].some(saysAuth) || own.some((part) => hasAuth(part, 0));
}

function hasAuth(part: unknown, depth: number): boolean {
  if (saysAuth(part)) return true;
  if (typeof part !== 'object' || part === null || depth === 4) return false;
  return Object.values(Object.getOwnPropertyDescriptors(part)).some(
    ({ value, get }) => saysAuth(get) || hasAuth(value, depth + 1),
  );
}

/** What only lists the names of an account's fields, as the scaffold of every public app does, needs no account. */
const LISTS_FIELDS = /\bObject\s*\.\s*(?:keys|values|entries)\(\s*[\w.]*\$auth\s*\)/g;

function saysAuth(value: unknown): boolean {
  if (typeof value !== 'function') return false;
  return Function.prototype.toString.call(value).replace(LISTS_FIELDS, '').includes('$auth');
}

/** Copies a definition without functions and circular references. */
function copyOf(definition: unknown): unknown {
  if (typeof definition === 'string') return { type: definition };
  return copyJson(definition, []) ?? {};
}

function copyJson(value: unknown, above: readonly object[]): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value) || above.length >= MAX_DEPTH) return undefined;
  const path = [...above, value];
  if (Array.isArray(value)) return value.map((item) => copyJson(item, path) ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyJson(item, path)]));
}

const MAX_DEPTH = 16;
