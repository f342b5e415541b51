// The difference of two texts, line by line. Pure.

import { COMPARED } from './compared.ts';

/** Returns lines behind a sign: ` ` in both, `-` in the first alone, `+` in the second alone. Null: too many lines differ. */
export function lineDiff(before: string, after: string): readonly string[] | null {
  return diffWithin(before, after, { pairs: COMPARED.lines ** 2 });
}

/** Pairs of lines that may still be compared. */
interface Budget {
  pairs: number;
}

function diffWithin(before: string, after: string, budget: Budget): readonly string[] | null {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const [old, young] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const pairs = old.length * young.length;
  if (pairs > Math.min(budget.pairs, COMPARED.lines ** 2)) return null;
  budget.pairs -= pairs;
  const context = (lines: readonly string[]): string[] => lines.map((line) => ` ${line}`);
  return [
    ...context(a.slice(Math.max(0, head - CONTEXT), head)),
    ...changed(old, young),
    ...context(a.slice(a.length - tail, a.length - tail + CONTEXT)),
  ];
}

const CONTEXT = 2;

/** Returns the lines of both with their signs. The longest common subsequence stays. */
function changed(a: readonly string[], b: readonly string[]): string[] {
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i++]}`);
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) lines.push(`-${a[i++]}`);
    else lines.push(`+${b[j++]}`);
  }
  return lines;
}

export interface StepDiff {
  readonly namespace: string;
  /** As `lineDiff` gives them. */
  readonly lines: readonly string[] | null;
}

type Code = readonly { readonly namespace: string; readonly code: string }[];

/** Returns the steps whose code differs, a missing one being empty. */
export function stepDiffs(before: Code, after: Code): readonly StepDiff[] {
  const names = [...new Set([...before, ...after].map(({ namespace }) => namespace))];
  const codeIn = (steps: Code, name: string): string => steps.find((one) => one.namespace === name)?.code ?? '';
  const budget = { pairs: COMPARED.steps * COMPARED.lines ** 2 };
  return names.flatMap((namespace) => {
    const [was, is] = [codeIn(before, namespace), codeIn(after, namespace)];
    return was === is ? [] : [{ namespace, lines: diffWithin(was, is, budget) }];
  });
}
