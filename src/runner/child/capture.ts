// A thrown value becomes a fault: limited, valid Unicode, and captured whatever the value does when it is looked at.

import { types } from 'node:util';
import { platformCodeOf, RESERVED_CODES } from './errors.ts';
import type { ChildFault, ChildLimits } from './protocol.ts';
import type { StackMapper } from './stack.ts';
import { cutBytes, cutChars, textOf } from './text.ts';

const nowMs = Date.now;

/** What was thrown, in which step, and whether loading the step threw it. */
interface Thrown {
  readonly value: unknown;
  readonly step: number;
  readonly loading?: boolean;
}

export class Capture {
  readonly #limits: ChildLimits;
  readonly #stacks: StackMapper;

  constructor(limits: ChildLimits, stacks: StackMapper) {
    this.#limits = limits;
    this.#stacks = stacks;
  }

  /** Never throws. */
  fault(thrown: Thrown): ChildFault {
    try {
      return this.#captured(thrown);
    } catch {
      // The code has broken something that all code relies on; that it failed is still told.
      const msg = 'The code failed, and left its process unable to say how';
      return { step: thrown.step, code: thrown.loading ? 'StartFailed' : 'Error', msg, tsMs: nowMs(), stack: '' };
    }
  }

  #captured({ value, step, loading = false }: Thrown): ChildFault {
    const isError = isErrorLike(value);
    const message = messageOf(value, isError);
    return {
      step,
      code: loading ? 'StartFailed' : cutChars(codeOf(value, isError), this.#limits.codeChars),
      msg: cutBytes(message, this.#limits.messageBytes),
      tsMs: nowMs(),
      stack: isError ? this.#stacks.frames(stackOf(value), message) : '',
    };
  }
}

function isErrorLike(value: unknown): value is object {
  try {
    return types.isNativeError(value) || value instanceof Error;
  } catch {
    return false; // a Proxy with a hostile trap
  }
}

function codeOf(value: unknown, isError: boolean): string {
  if (!isError) return 'Error';
  const platform = platformCodeOf(value);
  if (platform !== undefined) return platform;
  for (const key of ['code', 'name']) {
    const claimed = read(value as object, key);
    if (typeof claimed === 'string' && claimed !== '' && !RESERVED_CODES.has(claimed)) return claimed;
  }
  return 'Error';
}

function messageOf(value: unknown, isError: boolean): string {
  if (!isError) return textOf(value);
  const message = read(value as object, 'message');
  return message === UNREADABLE ? textOf(value) : textOf(message);
}

/** Formatted by V8 even when user code has its own `Error.prepareStackTrace`: V8 formats on first sight of `stack`. */
function stackOf(error: object): string {
  const formatting: { prepareStackTrace?: unknown } = Error;
  const own = formatting.prepareStackTrace;
  try {
    Reflect.set(formatting, 'prepareStackTrace', undefined);
    const stack = read(error, 'stack');
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  } finally {
    Reflect.set(formatting, 'prepareStackTrace', own); // silent when `Error` is frozen, and then nothing had changed
  }
}

const UNREADABLE = Symbol('unreadable');

function read(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return UNREADABLE;
  }
}
