// Text for a terminal: what others wrote may hold control characters, which would move its cursor or change its title.

import { SECOND_MS } from '../../domain/limits.ts';

/** Controls of terminals, and marks that turn the direction of what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const WIDE =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const GRAPHEMES = new Intl.Segmenter();
const MORE = '…';

/** Returns text on one line, with a sign in the place of each control character. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').replace(CONTROL, '\ufffd');
}

/** Returns the text with its lines, made safe in the same way. */
export function safeLines(text: string): string[] {
  return text.split(/\r\n|\n|\r/).map((line) => line.replaceAll('\t', '    ').replace(CONTROL, '\ufffd'));
}

/** Returns how many columns a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Returns as much of a text as fits, with a sign that there is more. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, taken] = ['', 0];
  for (const { segment } of GRAPHEMES.segment(text)) {
    taken += WIDE.test(segment) ? 2 : 1;
    if (taken > width - 1) break;
    kept += segment;
  }
  return kept + MORE;
}

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Returns a time to the second, in UTC; nothing for null. */
export function timeText(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function secondsText(s: number | null | undefined): string {
  return timeText(s === null || s === undefined ? null : s * SECOND_MS);
}

/** Returns how long something took, in the unit that says most. */
export function tookText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '';
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  const s = ms / SECOND_MS;
  return s < 100 ? `${s.toFixed(1)} s` : `${Math.round(s / 60)} min`;
}

/** Returns a share, from 0 to 1, in hundredths. */
export function shareText(share: number | null | undefined): string {
  return share === null || share === undefined ? '' : `${Number((share * 100).toPrecision(2))} %`;
}
