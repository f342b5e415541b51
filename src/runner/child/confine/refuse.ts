// What of Node's own modules leads out of its permission model, and is refused to user code.
//
// V8 believes code that it has compiled before (`cachedData`, compile caches, startup snapshots), and does what its flags say:
// either is enough to read and write all memory of the process, and then there are no permissions. Flags are frozen once
// the process runs (`--freeze-flags-after-init`): setting one would end the process, so it is refused before that.
//
// There is one object of each of Node's modules, whichever way code asks for it, and what is replaced here is replaced for
// all of them once `guardProcess` has told those who import. Originals that can be had otherwise are cut off: `vm.Script`
// extends the class that takes compiled code, and the instances of either name their constructor.

import nodeModule from 'node:module';
import traceEvents from 'node:trace_events';
import v8 from 'node:v8';
import vm from 'node:vm';

type Members = Record<string, unknown>;
type Constructor = new (...args: unknown[]) => object;

const { construct, setPrototypeOf, getPrototypeOf } = Reflect;
const { defineProperty, entries } = Object;
const { isView } = ArrayBuffer;

const OF_V8 = [
  'setFlagsFromString',
  'writeHeapSnapshot',
  'setHeapSnapshotNearHeapLimit',
  'setHeapProfileNearHeapLimit',
  'takeCoverage',
  'stopCoverage',
];
const OF_PROCESS = ['binding', '_linkedBinding', 'dlopen', '_getActiveRequests'];
/** What `vm.compileFunction` reads of its options, but for the code that was compiled before. */
const OF_COMPILE_FUNCTION = [
  ...['filename', 'lineOffset', 'columnOffset', 'produceCachedData', 'parsingContext'],
  ...['contextExtensions', 'importModuleDynamically'],
];
/** What of the report's settings is the code's own affair. */
const PASSED = ['excludeNetwork', 'excludeEnv', 'compact'];
const CACHED_DATA = 4;

/** Must come before any of the users' code, and before `guardProcess`. */
export function refuseHazards(): void {
  for (const name of OF_V8) refuse(v8, name, `v8.${name}`);
  const snapshot = { isBuildingSnapshot: () => false };
  for (const name of Object.keys(v8.startupSnapshot ?? {})) {
    if (name !== 'isBuildingSnapshot') replace(snapshot, name, refusal(`v8.startupSnapshot.${name}`));
  }
  replace(v8, 'startupSnapshot', snapshot);
  for (const name of OF_PROCESS) refuse(process, name, `process.${name}`);
  refuse(traceEvents, 'createTracing', 'trace_events.createTracing');
  refuseCompileCache();
  guardScript();
  guardCompileFunction();
  guardReport();
}

/**
 * Of a process that was never started, Node 24 signals number 0: all of the group, the server among them. Where there is a
 * filter of system calls, that refuses it; loading the module takes a millisecond.
 */
export function refuseSignals(): void {
  const { ChildProcess } = process.getBuiltinModule('node:child_process');
  const made = new ChildProcess() as unknown as { _handle: object };
  replace(getPrototypeOf(made._handle) as object, 'kill', refusal('signals'));
}

function refuse(object: object, name: string, what: string): void {
  if (name in object) replace(object, name, refusal(what));
}

function replace(object: object, name: string, value: unknown): void {
  defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function refusal(what: string): () => never {
  return () => {
    throw denied(what);
  };
}

/** As Node says it of what its permission model stops. */
function denied(what: string): Error {
  return Object.assign(new Error(`Code may not use ${what}`), { code: 'ERR_ACCESS_DENIED' });
}

/** Tools ask for it in passing: they are told that there is none, as where an environment variable switches it off. */
function refuseCompileCache(): void {
  const { enableCompileCache, constants } = nodeModule as unknown as {
    enableCompileCache?: unknown;
    constants?: { compileCacheStatus?: { DISABLED?: number } };
  };
  if (enableCompileCache === undefined) return;
  const status = constants?.compileCacheStatus?.DISABLED ?? 3;
  replace(nodeModule, 'enableCompileCache', () => ({ status }));
}

/** Scripts are made by Node's own class below `vm.Script`, for all of node:vm: it is that class which is hidden. */
function guardScript(): void {
  const native = getPrototypeOf(vm.Script) as Constructor;
  function Script(...args: unknown[]): object {
    if (new.target === undefined) throw new TypeError('A script is made with new');
    for (let i = 0; i < args.length; i++)
      if (isView(args[i])) throw denied('cachedData, code that was compiled before');
    args[CACHED_DATA] = undefined;
    return construct(native, args, new.target);
  }
  replace(native.prototype as object, 'constructor', Script);
  defineProperty(Script, 'prototype', { value: native.prototype, writable: false });
  if (!setPrototypeOf(vm.Script, Script)) throw new Error('vm.Script cannot be guarded');
}

function guardCompileFunction(): void {
  const { compileFunction } = vm as unknown as { compileFunction: (...args: unknown[]) => unknown };
  replace(vm, 'compileFunction', (code: unknown, params: unknown, options: unknown) => {
    if (typeof options !== 'object' || options === null) return compileFunction(code, params, options);
    const given = options as Members;
    if (given.cachedData !== undefined) throw denied('cachedData, code that was compiled before');
    const read: Members = { __proto__: null, cachedData: undefined };
    for (let i = 0; i < OF_COMPILE_FUNCTION.length; i++) {
      const name = OF_COMPILE_FUNCTION[i] as string;
      if (given[name] !== undefined) read[name] = given[name];
    }
    return compileFunction(code, params, read);
  });
}

/** Libraries ask the report which C library this is; where Node would write it, and when, is not theirs to say. */
function guardReport(): void {
  const get = Object.getOwnPropertyDescriptor(process, 'report')?.get;
  if (get === undefined) return;
  let shown: object | undefined;
  const show = (): object => {
    const report = get.call(process) as Members;
    const passed = Object.fromEntries(PASSED.map((name) => [name, passedTo(report, name)]));
    const made = Object.create(Object.prototype, passed) as Members;
    for (const [name, value] of entries(report)) {
      if (name in made) continue;
      replace(
        made,
        name,
        name === 'getReport' ? value : typeof value === 'function' ? refusal(`process.report.${name}`) : value,
      );
    }
    return made;
  };
  const shownOnce = (): object => (shown ??= show());
  defineProperty(process, 'report', { get: shownOnce, enumerable: true, configurable: true });
}

function passedTo(report: Members, name: string): PropertyDescriptor {
  const set = (value: unknown): void => {
    report[name] = value;
  };
  return { get: () => report[name], set, enumerable: true };
}
