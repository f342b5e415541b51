// The body of an `$errors` emission, taken apart: the original event in the bytes that arrived, its context, and the error.

import { concat, utf8 } from '../bytes.ts';
import { memberOf } from '../json-member.ts';

/** Where the original event stands in the body of an error. */
export interface OriginalPlace {
  readonly start: number;
  readonly length: number;
}

/** JSON texts in UTF-8. */
export interface ErrorParts {
  readonly originalEvent: Uint8Array;
  readonly originalContext: Uint8Array;
  readonly error: Uint8Array;
}

const OPEN = utf8('{');
const NULL = utf8('null');
const EMPTY = utf8('{}');

/** Reads what follows the original event, which is small, and never walks through the event itself. */
export function errorPartsOf(body: Uint8Array, original: OriginalPlace | null): ErrorParts {
  const rest = original ? concat([OPEN, body.subarray(original.start + original.length + 1)]) : body;
  return {
    originalEvent: original
      ? body.subarray(original.start, original.start + original.length)
      : (memberOf(body, 'original_event') ?? NULL),
    originalContext: memberOf(rest, 'original_context') ?? EMPTY,
    error: memberOf(rest, 'error') ?? EMPTY,
  };
}
