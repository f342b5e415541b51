// What was measured, printed as it comes, and kept for `--json`.

import type { Spread } from './stats.ts';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note?: string;
  /** Met, or not; left out where there is no goal. */
  readonly goal?: { readonly text: string; readonly isMet: boolean };
}

export const figures: Figure[] = [];

export function add(figure: Figure): void {
  figures.push(figure);
  const { name, value, unit, note, goal } = figure;
  const shown = value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
  const against = goal ? `  ${goal.isMet ? 'met' : 'NOT MET'} (${goal.text})` : '';
  process.stdout.write(
    `${name.padEnd(46)} ${shown.padStart(8)} ${unit.padEnd(9)}${against}${note ? `  ${note}` : ''}\n`,
  );
}

export function atLeast(value: number, goal: number, unit: string): { goal: NonNullable<Figure['goal']> } {
  return { goal: { text: `at least ${goal} ${unit}`, isMet: value >= goal } };
}

export function below(value: number, goal: number, unit: string): { goal: NonNullable<Figure['goal']> } {
  return { goal: { text: `below ${goal} ${unit}`, isMet: value < goal } };
}

export function addSpread(name: string, spread: Spread, goals: { p50?: number; p99?: number }): void {
  const { p50, p99, count } = spread;
  add({
    name: `${name}, p50`,
    value: p50,
    unit: 'ms',
    ...(goals.p50 === undefined ? {} : below(p50, goals.p50, 'ms')),
  });
  const judged = goals.p99 === undefined ? {} : below(p99, goals.p99, 'ms');
  add({ name: `${name}, p99`, value: p99, unit: 'ms', note: `of ${count}`, ...judged });
}
