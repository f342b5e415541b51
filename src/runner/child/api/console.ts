// Replaces `console` in user code: each line goes to the run whose step printed it, also when several runs share the
// process.

import { format, inspect } from 'node:util';
import type { Capture } from '../capture.ts';
import { current } from '../current.ts';
import { textOf } from '../text.ts';

const LEVELS = { log: 'info', info: 'info', warn: 'warn', error: 'error', debug: 'debug' } as const;

/** Replaces the printing methods; the rest of `console` (table, count, assert, …) prints through them. */
export function captureConsole(): void {
  for (const [method, level] of Object.entries(LEVELS)) {
    replace(method, (...args) => print(level, () => format(...args)));
  }
  replace('dir', (value, options) => print('info', () => inspect(value, options ?? {})));
  replace('trace', (...args) => print('debug', () => `Trace: ${format(...args)}`));
}

function replace(method: string, print: (...args: [unknown?, never?]) => void): void {
  Object.defineProperty(console, method, { value: print, enumerable: true, configurable: true, writable: true });
}

/**
 * Adds a line to the current run's log. Lines of no run in flight (a module being loaded, work left over from an ended
 * run) are dropped.
 */
function print(level: string, text: () => string): void {
  const step = current.getStore();
  if (step === undefined || step.run.ended) return;
  step.run.print(level, step.step.namespace, textFrom(text, step.run.program.capture));
}

/** Returns the text with its frames mapped; printing never fails the code that prints, whatever its values throw. */
function textFrom(text: () => string, capture: Capture): string {
  try {
    return capture.printed(text());
  } catch (thrown) {
    return `[cannot be printed: ${capture.printed(textOf(thrown)).slice(0, 200)}]`;
  }
}
