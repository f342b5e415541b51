// One mail address, as settings take it and mails are sent to it. Stricter than the standard: no quotes, comments or routes, which
// mail libraries read in different ways, and nothing that cannot be seen.

const NONE_OF = '\\s\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069@<>",;:()\\\\';

/** A regular expression. */
export const MAIL_ADDRESS_PATTERN = `^[^${NONE_OF}[\\]]+@[^${NONE_OF}]+$`;

const ADDRESS = new RegExp(MAIL_ADDRESS_PATTERN, 'u');

export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text);
}
