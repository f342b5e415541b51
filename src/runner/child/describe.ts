// What a component says of itself, as JSON values.

import type { ComponentShape } from '../runner.ts';
import type { Component } from './component.ts';

/** Under which a workflow file's first step carries the description of the whole (modules/program.ts). */
const DESCRIPTION = Symbol.for('errand.workflow');

export function shapeOf(component: unknown): ComponentShape {
  const description = (component as { [DESCRIPTION]?: unknown } | undefined)?.[DESCRIPTION];
  const shape = ownShape(component);
  return description === undefined ? shape : { ...shape, workflow: copyOf(description) };
}

function ownShape(component: unknown): ComponentShape {
  if (typeof component === 'function') {
    const unsaid = { key: null, name: null, description: null, version: null, dedupe: null };
    return { type: 'function', ...unsaid, props: {}, hooks: [], hasRun: true };
  }
  const { type, key, name, description, version, dedupe, props, hooks, run } = component as Component;
  return {
    type: type === 'action' || type === 'app' ? type : 'source',
    key: stringOr(key),
    name: stringOr(name),
    description: stringOr(description),
    version: stringOr(version),
    dedupe: stringOr(dedupe),
    props: Object.fromEntries(Object.entries(props ?? {}).map(([prop, definition]) => [prop, copyOf(definition)])),
    hooks: Object.keys(hooks ?? {}).filter((hook) => typeof hooks?.[hook] === 'function'),
    hasRun: typeof run === 'function',
  };
}

function stringOr(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A copy without functions and without what leads back to itself. */
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
