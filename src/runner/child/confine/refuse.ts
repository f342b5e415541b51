// Refuses to user code those parts of Node's own modules that lead out of the permission model.
//
// V8 trusts code that was compiled before (`cachedData`, compile caches, startup snapshots) and obeys its flags. Either
// is enough to read and write all memory of the process, which ends all permissions. Flags are frozen once the process
// runs (`--freeze-flags-after-init`): setting one would end the process, so it is refused before that.
//
// Each of Node's modules is one object, however code imports it. What is replaced here is replaced for every importer,
// once `guardProcess` has updated the imports. Other ways to the originals are cut off: `vm.Script` extends the class
// that takes compiled code, and instances of both name their constructor.

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
/** The options of `vm.compileFunction`, except for compiled code. */
const OF_COMPILE_FUNCTION = [
  ...['filename', 'lineOffset', 'columnOffset', 'produceCachedData', 'parsingContext'],
  ...['contextExtensions', 'importModuleDynamically'],
];
/** The settings of the report that code may change. */
const PASSED = ['excludeNetwork', 'excludeEnv', 'compact'];
const CACHED_DATA = 4;

/** Replaces the hazards. Must run before any user code, and before `guardProcess`. */
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
 * Replaces `kill` of child processes. For a process that was never started, Node 24 signals number 0: the whole group,
 * with the server. Where there is a filter of system calls, the filter refuses that; loading the module takes a
 * millisecond.
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

/** Returns an error like that of Node's permission model. */
function denied(what: string): Error {
  return Object.assign(new Error(`Code may not use ${what}`), { code: 'ERR_ACCESS_DENIED' });
}

/**
 * Disables the compile cache. Tools that enable it get the status that the environment variable for disabling it gives.
 */
function refuseCompileCache(): void {
  const { enableCompileCache, constants } = nodeModule as unknown as {
    enableCompileCache?: unknown;
    constants?: { compileCacheStatus?: { DISABLED?: number } };
  };
  if (enableCompileCache === undefined) return;
  const status = constants?.compileCacheStatus?.DISABLED ?? 3;
  replace(nodeModule, 'enableCompileCache', () => ({ status }));
}

/** Replaces the class below `vm.Script`, by which Node makes all scripts of node:vm. */
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

/**
 * Replaces the report's functions. Libraries read the report to detect the C library; code must not decide where and
 * when Node writes it.
 */
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
