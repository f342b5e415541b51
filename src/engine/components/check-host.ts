// What a component asks for that this host does not have, by what it says of itself and by its code.

import { isFileStore } from '../../domain/props.ts';
import type { CheckProblem } from '../../domain/requests.ts';
import { BINARY } from '../../runner/bundling/unloadable.ts';
import { HOSTED_SENDS } from '../../runner/component-api.ts';
import type { ComponentShape } from '../../runner/runner.ts';
import { whyNoSource } from '../sources/source-plan.ts';
import { type CheckedCode, type OwnFile, placeIn } from './checked-code.ts';
import { isNeeded, whyNotProp } from './prop-checks.ts';
import { whyNoStep } from './step-props.ts';

/** Calls of what only the vendor's service has. They throw here, each with what to use instead. */
const HOSTED = new RegExp(
  `\\$\\.(?:send\\.(?:${HOSTED_SENDS.join('|')})|discord(?:\\.\\w+)+|files\\.\\w+)(?=\\s*\\()`,
  'g',
);
const PROGRAMS = /^(?:node:)?(?:child_process|cluster)$/;

/** Returns what keeps a source or an action from running. `bundle`: the code without comments. */
export function problemsOf(shape: ComponentShape, files: readonly OwnFile[], bundle: string): CheckProblem[] {
  const problems: CheckProblem[] = [];
  const first = placeIn(files, '');
  const whole = shape.type === 'action' ? whyNoStep(shape) : whyNoSource(shape);
  if (whole !== null) problems.push({ ...first, text: shape.type === 'action' ? `the action ${whole}` : whole });
  for (const [prop, definition] of Object.entries(shape.props)) {
    const text = whyNotProp(prop, definition);
    if (text !== null) problems.push({ ...placeIn(files, definition.type ?? prop), text });
  }
  const calls = files.flatMap(({ text }) => [...text.matchAll(HOSTED)].map(([call]) => call));
  for (const call of new Set(calls)) {
    if (!bundle.includes(call)) continue;
    const text = `${call} is not available here, since it needs the vendor's service`;
    problems.push({ ...placeIn(files, call), text });
  }
  return problems;
}

/** Returns what may fail when that part of the code runs: packages that bring binaries often do without them. */
export function warningsOf({ props }: ComponentShape, { file, text, bundled }: CheckedCode): CheckProblem[] {
  const at = (wanted: string) => placeIn([{ file, text }], wanted);
  const programs = (bundled.imports ?? []).filter((name) => PROGRAMS.test(name));
  const binaries = bundled.inputs.filter((input) => BINARY.test(input));
  const stores = Object.entries(props).filter(([, definition]) => isFileStore(definition));
  return [
    ...stores.map(([prop]) => ({
      ...at('accessMode'),
      text: `prop "${prop}" is a folder of a file store, and there is none here: its open() throws`,
    })),
    ...programs.map((name) => ({ ...at(name), text: `${name} starts programs, and code here cannot start any` })),
    ...binaries.map((path) => ({
      ...at(''),
      text: `${nameOf(path)} is a binary for Node, and code here cannot load any`,
    })),
  ];
}

/** Returns the apps of the props that are refused without an account, sorted. */
export function accountsOf({ props }: ComponentShape): string[] {
  const apps = Object.entries(props).flatMap(([prop, definition]) => {
    const { type, disabled, app } = definition;
    return type === 'app' && disabled !== true && isNeeded(definition) ? [app ?? prop] : [];
  });
  return [...new Set(apps)].sort();
}

function nameOf(path: string): string {
  return path.split(/[\\/]node_modules[\\/]/).at(-1) as string;
}
