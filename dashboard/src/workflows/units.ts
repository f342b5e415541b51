// Numbers of fields, in the units that people use, and in milliseconds.

export function perOne(ms: number | null | undefined, unitMs: number): number | null {
  return ms === null || ms === undefined ? null : ms / unitMs;
}

export function times(value: number | null, unitMs: number): number | null {
  return value === null ? null : Math.round(value * unitMs);
}
