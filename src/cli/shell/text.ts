// Text for a terminal: what others wrote may hold control characters, which would move its cursor or change its title.

import { SECOND_MS } from '../../domain/limits.ts';
import { withoutColours } from '../../domain/notices/colours.ts';

/** Controls of terminals, and marks that turn the direction of what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Of these, what JSON leaves as it is. */
const LEFT_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** The colours that this program writes itself, line breaks, and then all controls. */
const OURS_OR_CONTROL = new RegExp(`\\u001b\\[[\\d;]{1,8}m|\\n|${CONTROL.source}`, 'g');
const SIGN = '\ufffd';

/** East Asian wide and fullwidth characters, in the planes of ideographs, too. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
/** Shown as a picture: by itself, with the selector for it, or as a flag. */
const PICTURE = /\p{Emoji_Presentation}|\ufe0f|\p{Regional_Indicator}{2}/u;
/** Only marks that stand on what is before them, and characters without a width. */
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]*$/u;
const ASCII = /^[ -~]*$/;
/** Made with the first text that is not ASCII: it takes 15 ms. */
let graphemes: Intl.Segmenter | undefined;
const MORE = '…';
/** Of a character with thousands of marks on it, these are looked at. */
const MOST_PER_COLUMN = 32;

/** In seconds. */
const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
] as const;
/** From two of a unit on, it is the one that says most. */
const MOST_OF_UNIT = 2;

/** Returns text on one line, with a sign in the place of each control character. */
export function oneLine(text: string): string {
  const shown = withoutColours(text);
  const line = /[\r\n]/.test(shown) ? joined(shown) : shown;
  return line.replaceAll('\t', ' ').replace(CONTROL, SIGN);
}

/** Returns the lines as one. An expression that matches white space around breaks would take the square of its length. */
function joined(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

/** Returns the text with its lines, made safe in the same way. */
export function safeLines(text: string): string[] {
  return withoutColours(text)
    .split(/\r\n|\n|\r/)
    .map((line) => line.replaceAll('\t', '    ').replace(CONTROL, SIGN));
}

/** Returns what may go to a terminal of a text that holds colours of ours. */
export function onlyOurs(text: string): string {
  return text
    .replaceAll('\t', '    ')
    .replace(OURS_OR_CONTROL, (found) => (found === '\n' || found.length > 1 ? found : SIGN));
}

/** Returns JSON that is the same for programs, and holds nothing that a terminal acts on. */
export function jsonText(value: unknown, indent?: number): string | undefined {
  return JSON.stringify(value, null, indent)?.replace(
    LEFT_IN_JSON,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function columnsOf(segment: string): number {
  if (WIDE.test(segment) || PICTURE.test(segment)) return 2;
  return NO_WIDTH.test(segment) ? 0 : 1;
}

function graphemesOf(text: string): Intl.Segments {
  graphemes ??= new Intl.Segmenter();
  return graphemes.segment(text);
}

/** Returns how many columns a text takes. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += columnsOf(segment);
  return width;
}

/** Returns as much of a text as fits, with a sign that there is more. No more of a long text is read than that. */
export function fit(text: string, width: number): string {
  const head = text.slice(0, width * MOST_PER_COLUMN + 1);
  let [kept, taken, shortened] = ['', 0, ''];
  for (const { segment } of graphemesOf(head)) {
    if (taken <= width - 1) shortened = kept;
    taken += columnsOf(segment);
    if (taken > width) return shortened + MORE;
    kept += segment;
  }
  return head.length < text.length ? shortened + MORE : kept;
}
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Returns a time to the second, in UTC; nothing for null. */
export function timeText(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function secondsText(s: number | null | undefined): string {
  return timeText(msOf(s));
}

/** Returns a time in seconds as one in milliseconds. */
export function msOf(s: number | null | undefined): number | null {
  return s === null || s === undefined ? null : s * SECOND_MS;
}

/** Returns how long ago a time is, or how far ahead, in its largest unit; nothing for null. */
export function ageText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '';
  const s = Math.round(Math.abs(Date.now() - ms) / SECOND_MS);
  const [size, unit] = UNITS.find(([size]) => s >= MOST_OF_UNIT * size) ?? [1, 's'];
  return `${ms > Date.now() ? 'in ' : ''}${Math.floor(s / size)}${unit}`;
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
