// The filter of errors as query parameters: of the search, the stream and the export.

import type { Static } from 'typebox';
import type { ErrorFilter } from '../../../domain/error-filter.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { TIME_WANTED, timeOf, wrong } from '../times.ts';

/** No database keeps the character NUL in a text, and nothing that is searched for has others of these. */
const PLAIN = '^[^\\u0000-\\u001f\\u007f]*$';

/** Returns the schema of a parameter that is compared with a whole value. */
export const word = (description: string, example: string, maxLength: number) =>
  Type.Optional(
    text({
      description,
      example,
      minLength: 1,
      maxLength,
      pattern: PLAIN,
      expected: `1 to ${maxLength} characters, without control characters`,
    }),
  );

/** Returns the schema of a time as a query parameter, which is always text. */
const time = (description: string, example: string) =>
  Type.Optional(text({ description: `${description}: ${TIME_WANTED}.`, example, expected: TIME_WANTED }));

export const TIME_RANGE = {
  since: time('From then on', '2026-01-31T12:00:00Z'),
  until: time('Before then', '2026-02-01T00:00:00Z'),
};

export const SEARCHED_TEXT = (where: string) =>
  Type.Optional(
    text({
      description: `A part of ${where}, in upper or lower case. No character of it is a wildcard.`,
      example: 'toFixed',
      minLength: 1,
      maxLength: LIMITS.searchedTextChars,
    }),
  );

export const ERROR_FILTER = {
  emitter_id: word(
    'Only errors of this workflow, source, webhook or heartbeat.',
    'p_0Vj3aBc9dEfGhIjK',
    LIMITS.nameChars,
  ),
  code: word('Only errors with this code, in its own upper and lower case.', 'TypeError', LIMITS.codeChars),
  group_id: word('Only errors of this group (`GET /v1/error_groups`).', 'eg_0Vj3aBc9dEfGhIjK', LIMITS.nameChars),
  step: word('Only errors of steps with this name (`namespace`).', 'charge', LIMITS.namespaceChars),
  text: SEARCHED_TEXT('the message, or of a cause'),
  deployment_id: word('Only errors of runs with this deployment.', 'd_0Vj3aBc9dEfGhIjK', LIMITS.nameChars),
  ...TIME_RANGE,
};

const FILTER_OBJECT = Type.Object(ERROR_FILTER);
const RANGE_OBJECT = Type.Object(TIME_RANGE);

/** Refuses invalid times, and a range that is empty. */
export function errorFilterOf(query: Static<typeof FILTER_OBJECT>): ErrorFilter {
  const { emitter_id: emitterId, code, group_id: groupId, step, text: part, deployment_id: deploymentId } = query;
  return {
    ...(emitterId === undefined ? {} : { emitterId }),
    ...(code === undefined ? {} : { code }),
    ...(groupId === undefined ? {} : { groupId }),
    ...(step === undefined ? {} : { step }),
    ...(part === undefined ? {} : { text: part }),
    ...(deploymentId === undefined ? {} : { deploymentId }),
    ...rangeOf(query),
  };
}

/** Refuses invalid times, and a range that is empty. */
export function rangeOf({ since, until }: Static<typeof RANGE_OBJECT>): { sinceMs?: number; untilMs?: number } {
  const sinceMs = since === undefined ? undefined : timeOf('since', since);
  const untilMs = until === undefined ? undefined : timeOf('until', until);
  if (sinceMs !== undefined && untilMs !== undefined && untilMs <= sinceMs) {
    throw wrong('until', 'must be later than since', until);
  }
  return { ...(sinceMs === undefined ? {} : { sinceMs }), ...(untilMs === undefined ? {} : { untilMs }) };
}
