// Checks the values in a child's messages. User code could have written them, so every invalid value throws.

import { LIMITS } from '../../domain/limits.ts';
import { checkCheaply } from './json-check.ts';

export function text(value: unknown, maxChars: number): string {
  if (typeof value !== 'string') throw new TypeError('a text is missing');
  if (value.length > maxChars)
    throw new TypeError(`a text of ${value.length} characters, where ${maxChars} are the most`);
  if (!value.isWellFormed()) throw new TypeError('a text with half of a character');
  return value;
}

/** Checks JSON text: it goes into the log and into answers as it is. */
export function json(value: unknown, maxChars: number): string {
  const given = text(value, maxChars);
  checkCheaply(given);
  return given;
}

/** Checks JSON text that other programs will read, possibly by recursion. */
export function shallowJson(value: unknown, maxChars: number): string {
  const given = text(value, maxChars);
  checkCheaply(given, LIMITS.nestingDepth);
  return given;
}

export function optional<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === undefined || value === null ? null : read(value);
}

export function list(value: unknown, maxLength: number): unknown[] {
  if (!Array.isArray(value) || value.length > maxLength) throw new TypeError('no such list');
  return value;
}

export function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('no such object');
  return value as Record<string, unknown>;
}

export function integer(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new TypeError('no such number');
  return value as number;
}

/** A date has at most 8.64e15. The rest is for clocks that are corrected. */
const MAX_TIME_MS = 8e15;

/** Reads epoch milliseconds: of a number that no date can be, the server could not tell the time. */
export function time(value: unknown): number {
  const ms = integer(value);
  if (Math.abs(ms) > MAX_TIME_MS) throw new RangeError('no such time');
  return ms;
}
