// Evaluates the expressions in a step's configured props with the values of this run.

import { hasExpression, type Part, partsOf } from '../../../domain/expressions.ts';
import type { PropDefinition } from '../../../domain/props.ts';
import type { PropsInput } from '../../runner.ts';
import type { Component } from '../component/component.ts';
import { allDefinitions } from '../component/definitions.ts';
import { ConfigurationError } from '../errors.ts';

type Evaluate = (steps: unknown) => unknown;

const Compile = Function;
/** By expression; bounded by what a deployment contains. */
const compiled = new Map<string, Evaluate>();

/**
 * Returns the props with their expressions evaluated. `steps` is in scope under that name. Throws a ConfigurationError
 * that names the prop when an expression throws.
 */
export function evaluated(props: PropsInput, steps: unknown, component: Component): PropsInput {
  const configuredProps = Object.create(null) as Record<string, unknown>;
  for (const [prop, value] of Object.entries(props.configuredProps)) {
    configuredProps[prop] = valueFor(value, { prop, steps });
  }
  const definitions = allDefinitions(component.props, props.additionalProps);
  const isUsed = ([prop, definition]: [string, PropDefinition]): boolean =>
    hasExpressionIn(definition.default) && (configuredProps[prop] ?? undefined) === undefined;
  const used = Object.entries(definitions).filter(isUsed);
  if (used.length === 0) return { ...props, configuredProps };
  // Forms of the hosted original fill in a default, so that it is evaluated as what a person configures.
  const additionalProps: Record<string, PropDefinition> = { ...props.additionalProps };
  for (const [prop, definition] of used) {
    const value = valueFor(definition.default, { prop, steps });
    additionalProps[prop] = { ...additionalProps[prop], default: value };
  }
  return { ...props, configuredProps, additionalProps };
}

function hasExpressionIn(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return hasExpression(value);
  return Object.values(value).some(hasExpressionIn);
}

interface ExpressionContext {
  readonly prop: string;
  readonly steps: unknown;
}

function valueFor(configured: unknown, where: ExpressionContext): unknown {
  if (typeof configured === 'string') return textOrValueOf(configured, where);
  if (typeof configured !== 'object' || configured === null) return configured;
  if (Array.isArray(configured)) return configured.map((item) => valueFor(item, where));
  return Object.fromEntries(Object.entries(configured).map(([name, member]) => [name, valueFor(member, where)]));
}

/** Evaluates one string: a single expression keeps its type; within other text, expressions become text. */
function textOrValueOf(text: string, where: ExpressionContext): unknown {
  const parts = partsOf(text);
  if (parts === null) return text;
  if (parts.length === 1) return partValue(parts[0] as Part, where);
  let whole = '';
  for (const part of parts) whole += asText(partValue(part, where));
  return whole;
}

function partValue(part: Part, { prop, steps }: ExpressionContext): unknown {
  if (typeof part === 'string') return part;
  const { expression } = part;
  try {
    let evaluate = compiled.get(expression);
    if (evaluate === undefined) {
      evaluate = Compile('steps', `"use strict"; return (${expression}\n);`) as Evaluate;
      compiled.set(expression, evaluate);
    }
    return evaluate(steps);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`prop "${prop}": {{${expression}}} cannot be evaluated: ${why}`);
  }
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
