// What a component asks for that this host does not have, by what it says of itself and by its code.

import { closest, distance } from 'fastest-levenshtein';
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

const NO_PROGRAMS = 'starts programs, and code here cannot start any';
/** Modules of Node that throw when they are used. */
const REFUSED_MODULES: Readonly<Record<string, string>> = {
  child_process: NO_PROGRAMS,
  cluster: NO_PROGRAMS,
  worker_threads: 'starts threads, and code here cannot start any',
  wasi: 'runs WebAssembly with access to files, and code here cannot use it',
  inspector: 'debugs its process, and code here cannot use it',
};

/** Returns what may fail when that part of the code runs: packages that bring binaries often do without them. */
export function warningsOf(shape: ComponentShape, { file, text, bundled }: CheckedCode): CheckProblem[] {
  const at = (wanted: string) => placeIn([{ file, text }], wanted);
  const warnings: CheckProblem[] = [];
  const warn = (wanted: string, why: string): void => void warnings.push({ ...at(wanted), text: why });
  for (const [prop, definition] of Object.entries(shape.props)) {
    const { type, unresolved } = definition;
    if (type !== undefined && typeof unresolved === 'string') warn('propDefinition', `prop "${prop}" ${unresolved}`);
    if (isFileStore(definition))
      warn('accessMode', `prop "${prop}" is a folder of a file store, and there is none here: its open() throws`);
  }
  for (const [name, why] of misspelt(shape)) warn(name, why);
  if (shape.type === 'source' && !mayBeCalled(shape)) {
    warn('', 'no prop is an interface ($.interface.http or $.interface.timer): it runs only when it is invoked');
  }
  for (const name of bundled.imports ?? []) {
    const why = REFUSED_MODULES[name.replace(/^node:/, '')];
    if (why !== undefined) warn(name, `${name} ${why}`);
  }
  for (const path of bundled.inputs.filter((input) => BINARY.test(input)))
    warn('', `${nameOf(path)} is a binary for Node, and code here cannot load any`);
  return warnings;
}

const MEMBERS = 'name key type version description props methods hooks dedupe additionalProps run'.split(' ');
const HOOKS = ['deploy', 'activate', 'deactivate'];

/** Returns members and hooks that nothing reads and whose names are nearly those of others. Components may have further ones. */
function misspelt({ members, hooks }: ComponentShape): [name: string, why: string][] {
  return [
    ...nearly(members, MEMBERS).map(([name, meant]): [string, string] => [
      name,
      `the member "${name}" has no effect: "${meant}" may be meant`,
    ]),
    ...nearly(hooks, HOOKS).map(([name, meant]): [string, string] => [
      name,
      `the hook "${name}" is never called: "${meant}" may be meant`,
    ]),
  ];
}

function nearly(names: readonly string[], known: readonly string[]): [name: string, meant: string][] {
  return names.flatMap((name): [string, string][] => {
    const meant = closest(name.toLowerCase(), known);
    const isNear = distance(name.toLowerCase(), meant.toLowerCase()) <= Math.max(1, meant.length / 4);
    return known.includes(name) || !isNear ? [] : [[name, meant]];
  });
}

const INTERFACES: ReadonlySet<string | undefined> = new Set([
  '$.interface.http',
  '$.interface.timer',
  '$.interface.apphook',
]);

/** Returns whether something calls the source's `run`, as far as can be told: `additionalProps` may add an interface. */
function mayBeCalled({ props, hasAdditionalProps }: ComponentShape): boolean {
  return hasAdditionalProps || Object.values(props).some(({ type }) => INTERFACES.has(type));
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
