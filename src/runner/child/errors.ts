// Errors that the child throws into user code.

import { LIMITS } from '../../domain/limits.ts';
import { PLATFORM_CODES } from '../../domain/refusal.ts';

/** Codes that a thrown error cannot claim. `ConfigurationError` is not among them: user code may throw that one. */
const RESERVED_CODES: ReadonlySet<string> = new Set(PLATFORM_CODES.filter((code) => code !== 'ConfigurationError'));
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns whether a code is, or looks like, one that a thrown error cannot claim: what is not seen of it does not count. */
export function isReserved(code: string): boolean {
  return RESERVED_CODES.has(code) || RESERVED_CODES.has(code.slice(0, LIMITS.codeChars).replace(INVISIBLE, '').trim());
}

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

// Kept outside the error, so that user code cannot make an error that passes for the platform's.
const codes = new WeakMap<object, string>();

/** Creates an error whose code is one of the platform's own. */
export function platformError(code: 'PayloadTooLarge' | 'WorkerExit', message: string): Error {
  const error = new Error(message);
  error.name = code;
  codes.set(error, code);
  return error;
}

/** Returns the code of an error that the platform made; undefined for an imitation by user code. */
export function platformCodeOf(thrown: unknown): string | undefined {
  return typeof thrown === 'object' && thrown !== null ? codes.get(thrown) : undefined;
}
