const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Returns a time in at most two units: `36 ms`, `4.20 s`, `30 s`, `1 min 5 s`, `2 h`. */
export function durationText(ms: number): string {
  if (Math.round(ms) < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) {
    const digits = ms % SECOND === 0 ? 0 : ms < 10 * SECOND ? 2 : 1;
    return `${(ms / SECOND).toFixed(digits)} s`;
  }
  const seconds = Math.round(ms / SECOND);
  if (ms < HOUR) return pair(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(ms / MINUTE);
  return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
