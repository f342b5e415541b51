// The refusal of code that cannot be bundled.

import { Refusal } from '../../domain/refusal.ts';
import type { CodeProblem } from '../../runner/bundling/bundle-options.ts';

/** Returns the refusal of code. `parameterOf`: the request's parameter for a file. */
export function refusalOf(problems: readonly CodeProblem[], parameterOf: (file: string) => string): Refusal {
  const errors = problems.map(({ file, line, column, text }) => ({
    parameter: parameterOf(file),
    message: text,
    file,
    line,
    column,
  }));
  const { file, line, column, text } = problems[0] as CodeProblem;
  return new Refusal('code_invalid', `${file}:${line}:${column}: ${text}`, { errors });
}
