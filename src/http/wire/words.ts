// Times and durations in sentences.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../domain/limits.ts';

/** Writes an instant, to the second. */
export function instant(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Returns a duration in its two largest units: `2 h 30 min`, `57 s`, `400 ms`. */
export function lengthOf(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE_MS) return `${Math.round(ms / 100) / 10} s`;
  const parts: string[] = [];
  // A rounded number must not become 60 of its unit.
  let rest = Math.round(ms / SECOND_MS) * SECOND_MS;
  for (const [unitMs, unit] of [
    [DAY_MS, 'd'],
    [HOUR_MS, 'h'],
    [MINUTE_MS, 'min'],
    [SECOND_MS, 's'],
  ] as const) {
    const whole = Math.floor(rest / unitMs);
    rest -= whole * unitMs;
    if (whole > 0 && parts.length < 2) parts.push(`${whole} ${unit}`);
    else if (parts.length > 0) break;
  }
  return parts.join(' ');
}

/** Writes a count with its noun: `1 day`, `2 days`. */
export function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
