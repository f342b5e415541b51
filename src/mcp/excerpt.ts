// Cuts what others wrote to what a model can use. What is cut says so.

const MORE = '…';

/** Characters. */
export const MAX = {
  message: 2000,
  stack: 8000,
  event: 30_000,
  line: 400,
  code: 60_000,
  body: 4000,
  log: 8000,
} as const;

export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  // Not between the halves of a pair.
  return `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')}${MORE}`;
}

/** Returns plain JSON with each text in it cut. */
export function cutAll<T>(value: T, max: number): T {
  return JSON.parse(JSON.stringify(value), (_, one: unknown) => (typeof one === 'string' ? cut(one, max) : one));
}

interface Excerpt {
  readonly text: string;
  readonly is_whole: boolean;
}

export function excerpt(text: string, max: number): Excerpt {
  return { text: cut(text, max), is_whole: text.length <= max };
}

export function isoOf(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
