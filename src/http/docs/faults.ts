// The error codes in words, for the page and for docs/errors.md. A test compares all three with REFUSALS.

import type { RefusalCode } from '../../domain/refusal.ts';

export const REFUSAL_MEANINGS: Readonly<Record<RefusalCode, string>> = {
  malformed: 'A parameter is missing, unknown or wrong; `errors` names each one, and says what would be right.',
  no_answer:
    'An HTTP trigger with `custom_response`: the run ended without `$.respond`, or with an answer that cannot be sent, of which its error says why. Or a source with `customResponse`, which failed without `respond`.',
  unauthenticated: 'The key (or the trigger’s token) is missing, malformed, unknown, revoked or expired.',
  forbidden: 'The key is valid, but lacks the scope that this needs.',
  owner_deleted: 'The owner of the key or address is being deleted. Until its purge begins it can be restored.',
  not_found: 'It does not exist, or it belongs to another owner.',
  method_not_allowed: 'The path exists, but not with this method; the header `Allow` lists those that are possible.',
  too_slow: 'The request did not arrive within its time: 20 seconds for the headers, 60 for all of it.',
  conflict:
    'The request does not fit the current state: a record exists already, a run has not failed, another change is in progress. The message says which.',
  precondition_failed:
    'The record has another `ETag` than `If-Match` names: it was changed since it was read. Or `If-None-Match: *` was to create it, and it exists.',
  too_large:
    'The body is larger than the limit (also after decompression), or contains too many values, or a waiting run has no room left for it.',
  unsupported_media: 'The content type or content encoding is not supported here.',
  impossible: 'The request is well formed, but it cannot be done; the message says why.',
  code_invalid: 'The code does not compile; `errors` has file, line and column.',
  key_reused: 'The `Idempotency-Key` came with another method, path, query or body within the last 24 hours.',
  rate_limited: 'Too many requests; `Retry-After` says in how many seconds to try again.',
  internal: 'An error of the server; its log has the details under the answer’s `x-request-id`.',
  unavailable:
    'Storage is unreachable, the process is stopping, does not serve the API, or has no room for more connections or bodies. Nothing was written, unless the message says otherwise. Try again after `Retry-After`.',
  run_timeout: 'An HTTP trigger with `custom_response`: the run did not answer within its time.',
};
