// What a failed call tells a model: what was wrong, and what to do next.

import { ConnectionError, ProblemError } from '../client/client.ts';
import { ToolError } from './tool.ts';

const ADVICE: Readonly<Record<number, string>> = {
  401: 'The API key is missing, unknown, expired or revoked: ask the person for another one.',
  403: 'The API key lacks the scope: ask the person for a key that has it.',
  404: 'Look the id up with a search tool: it may be misspelled, deleted, or no longer kept.',
  409: 'Read it again: its state has changed, or does not allow this.',
  422: 'What was asked for cannot be done as it is: change it as the message says.',
  429: 'A limit is reached: wait, then try again.',
  503: 'The server cannot do it now: try again in a moment.',
};

/** Returns null for what is no failure of a call, but a fault of this program. */
export function failureText(error: unknown): string | null {
  if (error instanceof ToolError) return error.message;
  if (error instanceof ConnectionError) {
    const done = error.wasSent ? 'What was asked for may have been done: read the state before you try again.' : '';
    return `${error.message}. ${done}`.trim();
  }
  if (!(error instanceof ProblemError)) return null;
  const { status, detail, errors, retryAfterMs } = error;
  // Of a single problem the detail says it all.
  const more = errors.filter(({ parameter, message }) => detail !== `${parameter} ${message}`);
  const places = more.slice(0, 10).map(placeOf);
  const wait = retryAfterMs === null ? '' : ` It asks to be left alone for ${Math.ceil(retryAfterMs / 1000)} s.`;
  return [`${detail}${places.length > 0 ? `\n${places.join('\n')}` : ''}`, `${ADVICE[status] ?? ''}${wait}`.trim()]
    .filter((line) => line !== '')
    .join('\n');
}

function placeOf(problem: ProblemError['errors'][number]): string {
  const { parameter, message, file, line, column } = problem;
  const place = file === undefined ? '' : ` (${file}:${line}:${column})`;
  return `- ${parameter}${place}: ${message}`;
}
