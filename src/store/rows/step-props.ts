// The props of a deployment's steps have a column of their own, since they are secret and code is not.

import type { ComponentProps } from '../../domain/props.ts';
import type { Step } from '../../domain/resource.ts';

/** Returns the steps without their props, and the props by namespace as JSON text; null: no step has any. */
export function splitProps(steps: readonly Step[]): { readonly plain: readonly Step[]; readonly props: string | null } {
  const all = steps.flatMap(({ namespace, props }) => (props === undefined ? [] : [[namespace, props] as const]));
  if (all.length === 0) return { plain: steps, props: null };
  return { plain: steps.map(({ props: _props, ...plain }) => plain), props: JSON.stringify(Object.fromEntries(all)) };
}

export function withProps(steps: readonly Step[], text: string): Step[] {
  const all = JSON.parse(text) as Record<string, ComponentProps>;
  return steps.map((step) => (Object.hasOwn(all, step.namespace) ? { ...step, props: all[step.namespace] } : step));
}
