// Values of options, as people write them.

import { InvalidArgumentError, Option } from 'commander';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../domain/limits.ts';

const UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/** Returns a time as the interface takes it: `2h` ago, ISO 8601 with its offset, or milliseconds. */
export function timeValue(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Date.now() - Number(count) * (UNITS[unit] ?? 0)).toISOString();
  if (/^\d{12,14}$/.test(text)) return text;
  if (INSTANT.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('It is like 90s, 30m, 2h or 7d (ago), or 2026-01-31T12:00:00Z.');
}

/** Returns a time to come as the interface takes it: `2h` from now, or ISO 8601 with its offset. */
export function futureValue(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const atMs = count === undefined ? instantOf(text) : Date.now() + Number(count) * (UNITS[unit] ?? 0);
  if (atMs > Date.now()) return new Date(atMs).toISOString();
  throw new InvalidArgumentError('It is a time to come: 30m, 2h or 7d (from now), or like 2027-01-31T12:00:00Z.');
}

function instantOf(text: string): number {
  return INSTANT.test(text) ? Date.parse(text) : Number.NaN;
}

/** Returns an option that takes one of these words. */
export function choiceOption(flags: string, description: string, words: readonly string[]): Option {
  return new Option(flags, description).choices(words);
}

/** Returns what reads several of these words, by commas. */
export function wordsValue(words: readonly string[]): (text: string) => string {
  return (text) => {
    const given = text.split(',').map((word) => word.trim());
    if (given.every((word) => words.includes(word))) return given.join(',');
    throw new InvalidArgumentError(`It is of ${words.join(', ')}, by commas.`);
  };
}

/** Returns the address of a server, without a slash at its end. */
export function serverValue(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('It is like https://errand.example.com.');
}

/** Returns the id of a record. */
export function recordValue(text: string): string {
  if (/^\d{13}-\d+$/.test(text)) return text;
  throw new InvalidArgumentError('It is the id of an event, like 1782000000123-0.');
}

/** Returns a whole number from `min`. */
export function countValue(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(
      `It is a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? ' on' : ` to ${max}`}.`,
    );
  };
}

export const LIST_LIMIT = 25;

export interface Taken<T> {
  readonly records: readonly T[];
  /** There are more than were taken. */
  readonly isMore: boolean;
}

/** Returns the first records of a list. `limit` 0: all. */
export async function take<T>(list: AsyncIterable<T>, limit: number): Promise<Taken<T>> {
  const records: T[] = [];
  for await (const record of list) {
    if (limit > 0 && records.length === limit) return { records, isMore: true };
    records.push(record);
  }
  return { records, isMore: false };
}
