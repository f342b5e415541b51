// Colours that programs write for terminals (`\u001b[31m`): in messages of errors of Playwright or of compilers, where they are read as noise.

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const COLOURS = /\u001b\[[\d;:]*m/g;

/** Returns a text without what sets colours and weights in terminals. */
export function withoutColours(text: string): string {
  return text.includes('\u001b') ? text.replace(COLOURS, '') : text;
}
