// What of a workflow refers to one of its steps, and what no longer finds the step that it refers to.

import { codeOf, type ShownStep } from './draft-steps.ts';
import { words } from './english.ts';
import { referencesIn } from './references.ts';

/** A place that refers to a step. */
export interface Place {
  readonly key: string;
  readonly where: string;
  readonly text: string;
  /** The name can be changed there. */
  readonly isSure: boolean;
}

/** Code that is not edited here is none that can be changed. */
export function isComponent({ deployed }: ShownStep): boolean {
  return deployed?.component_path !== undefined;
}

/** Returns the places in other steps that refer to a step by its name. */
export function placesOf({ id, name }: ShownStep, shown: readonly ShownStep[]): Place[] {
  return shown
    .filter((step) => step.id !== id)
    .flatMap((step) => {
      const inCode = referencesIn(codeOf(step))
        .filter((one) => one.name === name)
        .map(({ line, text, isSure, from }) => ({
          key: `${step.id}:${from}`,
          where: words.place(step.name, line),
          text,
          isSure: isSure && !isComponent(step),
        }));
      return [...inCode, ...inProps(step, name)];
    });
}

/** Values of props may be expressions: `{{steps.price.$return_value}}`. */
const IN_PROPS = /\bsteps\s*(?:\?\.|\.|\[\s*\\?["'])\s*([a-z_]\w*)/g;

function inProps({ id, name, deployed }: ShownStep, of: string): Place[] {
  return Object.entries(deployed?.configured_props ?? {}).flatMap(([prop, value]) => {
    const where = words.placeInProps(name);
    const text = `${prop}: ${textOf(value)}`;
    return namesIn(value).includes(of) ? [{ key: `${id}:${prop}`, where, text, isSure: false }] : [];
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function namesIn(value: unknown): string[] {
  return [...textOf(value).matchAll(IN_PROPS)].map(([, name = '']) => name);
}

/** Returns the steps whose code names a step where the name can be changed. */
export function changeable({ id, name }: ShownStep, shown: readonly ShownStep[]): ShownStep[] {
  return shown.filter(
    (step) =>
      step.id !== id && !isComponent(step) && referencesIn(codeOf(step)).some((one) => one.isSure && one.name === name),
  );
}

/** Returns what is said at a step of a rearranged workflow that refers to one that it is not given. `known`: names that are deployed. */
export function brokenAt(at: number, shown: readonly ShownStep[], known: ReadonlySet<string>): string[] {
  const names = shown.map(({ name }) => name);
  const step = shown[at] as ShownStep;
  const inCode = referencesIn(codeOf(step)).map(({ name }) => name);
  const referred = new Set([...inCode, ...namesIn(step.deployed?.configured_props)]);
  return [...referred].flatMap((name) => {
    const place = names.indexOf(name);
    if (place > at) return [words.later(name)];
    return place < 0 && known.has(name) ? [words.gone(name)] : [];
  });
}
