// Converts a thrown value into a fault: bounded, valid Unicode, and captured even when inspecting the value throws.

import { types } from 'node:util';
import { isReserved, platformCodeOf } from './errors.ts';
import type { ChildFault, ChildLimits } from './protocol.ts';
import type { StackMapper } from './stack.ts';
import { cutBytes, cutChars, textOf } from './text.ts';

const nowMs = Date.now;
const { isSafeInteger: isInteger } = Number;
const { hasOwn } = Object;

/** What was thrown, in which step, and whether loading the step threw it. */
export interface Thrown {
  readonly value: unknown;
  readonly step: number;
  readonly loading?: boolean;
}

export class Capture {
  readonly #limits: ChildLimits;
  readonly #stacks: StackMapper;
  readonly #hasNetwork: boolean;

  constructor(limits: ChildLimits, stacks: StackMapper, hasNetwork = true) {
    this.#limits = limits;
    this.#stacks = stacks;
    this.#hasNetwork = hasNetwork;
  }

  /** Returns the fault. Never throws. */
  fault(thrown: Thrown): ChildFault {
    try {
      return this.#captured(thrown);
    } catch {
      // The code has broken something that all code relies on; the failure itself is still reported.
      const msg = 'The code failed, and left its process unable to say how';
      return { step: thrown.step, code: thrown.loading ? 'StartFailed' : 'Error', msg, tsMs: nowMs(), stack: '' };
    }
  }

  /** Returns what code prints, with its frames mapped as those of faults are. Never throws. */
  printed(text: string): string {
    try {
      return this.#stacks.printed(text);
    } catch {
      return text;
    }
  }

  #captured({ value, step, loading = false }: Thrown): ChildFault {
    const isError = isErrorLike(value);
    const own = (isError ? denialOf(value) : undefined) ?? this.#messageOf(value, isError);
    return {
      step,
      code: loading ? 'StartFailed' : cutChars(this.#mapped(codeOf(value, isError)), this.#limits.codeChars),
      msg: cutBytes(isError ? this.#explained(this.#withInner(own, value), value) : own, this.#limits.messageBytes),
      tsMs: nowMs(),
      stack: isError ? this.#stackOf(value) : '',
    };
  }

  /**
   * Returns the frames, followed by those of the causes, each under a line that names the cause and looks like a frame.
   */
  #stackOf(error: object): string {
    const { stackFrames, frameBytes } = this.#limits;
    const behind: string[] = [];
    for (const cause of causesOf(error)) {
      const isError = isErrorLike(cause);
      const said = this.#messageOf(cause, isError);
      const title = isError ? `${this.#mapped(codeOf(cause, true))}: ${this.#withInner(said, cause)}` : said;
      behind.push(`    at [cause: ${cutBytes(oneLine(title, frameBytes), frameBytes - TITLE_BYTES)}]`);
      if (isError) behind.push(...this.#framesOf(cause).slice(0, CAUSE_FRAMES));
    }
    return [...this.#framesOf(error).slice(0, stackFrames - behind.length), ...behind].join('\n');
  }

  #framesOf(error: object): string[] {
    const message = read(error, 'message');
    return this.#stacks.frames(stackOf(error), typeof message === 'string' ? message : '');
  }

  #messageOf(value: unknown, isError: boolean): string {
    return this.#mapped(messageOf(value, isError));
  }

  /** Returns the message, with those of the errors in an AggregateError. */
  #withInner(message: string, error: object): string {
    const errors = isAggregate(error) ? read(error, 'errors') : null;
    const count = typeof errors === 'object' && errors !== null ? read(errors, 'length') : 0;
    if (typeof count !== 'number' || !(count > 0)) return message;
    const inner: string[] = [];
    for (let i = 0; i < Math.min(count, INNER_ERRORS); i++) {
      const one = read(errors as object, String(i));
      inner.push(oneLine(this.#messageOf(one, isErrorLike(one)), INNER_CHARS));
    }
    if (count > INNER_ERRORS) inner.push(`and ${count - INNER_ERRORS} more`);
    return message === '' ? inner.join('; ') : `${message}: ${inner.join('; ')}`;
  }

  /** Returns the message, with the reason where a connection failed since there is no network: the system's own words name none. */
  #explained(message: string, error: object): string {
    const isUnreachable = !this.#hasNetwork && [error, ...causesOf(error)].some(isOfConnection);
    return isUnreachable ? `${message}: ${NO_NETWORK}` : message;
  }

  /**
   * Returns the begin of a message, with the stacks in it mapped. A message contains stacks where the thrown value has errors
   * in it, or is a Proxy of one. As V8 wrote them, they would name the folder of this process, which is none of the
   * code's business and differs from process to process.
   */
  #mapped(message: string): string {
    const head = message.slice(0, MAPPED_MESSAGES * this.#limits.messageBytes);
    // A frame that is cut off is not recognised as one.
    const whole = head.length < message.length ? head.replace(CUT_FRAME, '') : head;
    return this.#stacks.printed(whole);
  }
}

/** Frames that are left out make room for what follows them: so much more of a message is read than is kept. */
const MAPPED_MESSAGES = 4;
const CUT_FRAME = /\n +at [^\n]*$/;

/** The bounds on causes and their frames: the error's own frames have the rest. */
const CAUSES = 4;
const CAUSE_FRAMES = 8;
const TITLE_BYTES = '    at [cause: ]'.length;
/** The errors of an AggregateError, such as from `Promise.any` or a connection to several addresses. */
const INNER_ERRORS = 10;
const INNER_CHARS = 500;

function causesOf(error: object): unknown[] {
  const causes: unknown[] = [];
  const seen = new Set<unknown>([error]);
  let cause = read(error, 'cause');
  while (cause !== undefined && cause !== null && cause !== UNREADABLE && causes.length < CAUSES && !seen.has(cause)) {
    causes.push(cause);
    seen.add(cause);
    cause = isErrorLike(cause) ? read(cause, 'cause') : undefined;
  }
  return causes;
}

const NO_NETWORK = 'code has no network here, since ERRAND_JAIL_NETWORK of the server is none';
/** What connections and lookups of names fail with in a network namespace that has a loopback interface alone. */
const UNREACHABLE: readonly unknown[] = ['EAI_AGAIN', 'ENETUNREACH', 'ECONNREFUSED'];

function isOfConnection(value: unknown): boolean {
  return isErrorLike(value) && UNREACHABLE.includes(read(value, 'code'));
}

function isAggregate(error: object): boolean {
  try {
    return error instanceof AggregateError || read(error, 'name') === 'AggregateError';
  } catch {
    return false;
  }
}

function oneLine(text: string, maxChars: number): string {
  return cutChars(text, maxChars).replace(/\s+/g, ' ');
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
    const claimed = key === 'code' ? numberAsText(value as object) : read(value as object, key);
    if (typeof claimed === 'string' && claimed !== '' && !isReserved(claimed)) return claimed;
  }
  return 'Error';
}

function messageOf(value: unknown, isError: boolean): string {
  if (!isError) return textOf(value);
  const message = read(value as object, 'message');
  return message === UNREADABLE ? textOf(value) : textOf(message);
}

/** By the permission's name in Node's permission model. */
const DENIALS: Readonly<Record<string, string>> = {
  FileSystemRead: 'read',
  FileSystemWrite: 'write',
  ChildProcess: 'start processes',
  WorkerThreads: 'start worker threads',
};

/**
 * Returns a message for a denial. Node's own message names flags of its command line, which authors of code cannot set.
 */
function denialOf(error: object): string | undefined {
  if (read(error, 'code') !== 'ERR_ACCESS_DENIED') return undefined;
  const [permission, resource] = [read(error, 'permission'), read(error, 'resource')];
  if (typeof permission !== 'string' || !Object.hasOwn(DENIALS, permission)) return undefined;
  const what = `Code may not ${DENIALS[permission]}`;
  if (!permission.startsWith('FileSystem')) return `${what} here`;
  return `${what} ${textOf(resource)}: its files are those below /tmp`;
}

/**
 * Returns the stack as V8 formats it, even when user code has its own `Error.prepareStackTrace`: V8 formats on first
 * access.
 */
function stackOf(error: object): string {
  const formatting: { prepareStackTrace?: unknown } = Error;
  const own = formatting.prepareStackTrace;
  try {
    Reflect.set(formatting, 'prepareStackTrace', undefined);
    let stack = read(error, 'stack');
    if (stack === UNREADABLE) {
      // V8 reads name and message to format the stack, and either may throw. The frames alone can be had without them.
      Reflect.set(formatting, 'prepareStackTrace', framesAlone);
      stack = read(error, 'stack');
    }
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  } finally {
    Reflect.set(formatting, 'prepareStackTrace', own); // silent when `Error` is frozen, and then nothing had changed
  }
}

function framesAlone(_error: unknown, sites: readonly unknown[]): string {
  return sites.map((site) => `\n    at ${site}`).join('');
}

const UNREADABLE = Symbol('unreadable');

/** Returns an error's `code`; a number of its own as text, as those of MongoDB and gRPC are. That of a `DOMException` says less than its name. */
function numberAsText(error: object): unknown {
  const code = read(error, 'code');
  if (typeof code !== 'number') return code;
  try {
    return isInteger(code) && hasOwn(error, 'code') ? `${code}` : undefined;
  } catch {
    return UNREADABLE;
  }
}

function read(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return UNREADABLE;
  }
}
