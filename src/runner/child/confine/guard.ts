// Prevents what user code must not do to the server, or to the process that other runs share with it.
//
// This keeps honest code from doing harm by accident. Hostile code is bounded by Node's permission model and by the
// server, which trusts nothing that the child sends.

import { createRequire, isBuiltin, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { current } from '../current.ts';
import { platformError } from '../errors.ts';
import type { StepRun } from '../step-run.ts';

/** Ends the process for good. */
export const exitProcess = (process as unknown as { reallyExit: (code: number) => never }).reallyExit.bind(process);

/** Installs the guards. `onStray` gets exceptions that belong to no run in flight, with the step of a run that has ended. */
export function guardProcess(onStray: (thrown: unknown, step?: StepRun) => void): void {
  blockExits();
  blockSignals();
  syncBuiltinESMExports(); // for `import { exit } from 'node:process'`, and for what tmp.ts has replaced
  const onThrown = (thrown: unknown): void => {
    const step = current.getStore();
    if (step === undefined) onStray(thrown);
    else if (!step.run.ended) step.run.fail(thrown, step.index);
    // Node reports an unhandled rejection only when all that the code does at once is done, and the run may have ended by then.
    else if (!step.run.failLate(thrown, step.index)) onStray(thrown, step);
  };
  // The capture callback: unlike a listener, it cannot be removed by `removeAllListeners`.
  process.setUncaughtExceptionCaptureCallback(onThrown);
  process.on('unhandledRejection', onThrown);
  defineGlobals();
}

/**
 * Makes ending the process fail the run whose code asked for it, at once. Other runs finish in this process, which
 * takes no new ones.
 */
function blockExits(): void {
  const end = (what: string): never => {
    const error = platformError('WorkerExit', `The code ended its process with ${what}`);
    const step = current.getStore();
    step?.run.fail(error, step.index);
    throw error;
  };
  override('exit', (code) => end(`process.exit(${code ?? ''})`));
  override('reallyExit', () => end('process.reallyExit()'));
  override('abort', () => end('process.abort()'));
  override('kill', (pid, signal) => {
    if (pid === process.pid && signal === 0) return true; // it asks whether the process is there
    if (pid === process.pid) end('process.kill(process.pid)');
    throw new Error('Code may not send signals to other processes');
  });
}

/** Blocks signals and priorities: the permission model does not cover them, and the server may run as the same user. */
function blockSignals(): void {
  const setPriority = (): never => {
    throw new Error('Code may not change priorities');
  };
  Object.defineProperty(os, 'setPriority', {
    value: setPriority,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  for (const name of ['_kill', '_debugProcess', '_debugEnd', '_getActiveHandles']) override(name, undefined);
}

function override(name: string, value: ((...given: unknown[]) => unknown) | undefined): void {
  Object.defineProperty(process, name, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * Defines `defineComponent` of the component API, and `require` for Node's modules, which bundles of CommonJS code
 * call.
 */
function defineGlobals(): void {
  const builtin = createRequire(import.meta.url);
  const require = (name: unknown): unknown => {
    if (typeof name === 'string' && isBuiltin(name)) return builtin(name);
    throw new Error(`Only Node's own modules can be required here, not ${String(name)}`);
  };
  for (const [name, value] of Object.entries({ defineComponent: (component: unknown) => component, require })) {
    Object.defineProperty(globalThis, name, { value, enumerable: false, configurable: true, writable: true });
  }
}
