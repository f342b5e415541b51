// Errors as lines of an export (NDJSON). A JSON text may have line breaks between its tokens, and most readers would change
// its numbers, so the original event is a string: its text, exactly as it arrived.

import { isUtf8 } from 'node:buffer';
import { type ErrorParts, errorPartsOf } from '../../../domain/errors/error-parts.ts';
import type { LoggedRecord } from '../../../store/contract/streams.ts';
import { encodeJson, Verbatim } from '../../body/json.ts';
import { groupedToWire } from './emissions.ts';

/** Returns the line of an error. `record` has its body. */
export function errorLine(record: LoggedRecord): Buffer {
  const { body, original } = record;
  const { originalEvent, originalContext, error } = errorPartsOf(body ?? new Uint8Array(), original);
  const line = {
    ...groupedToWire(record, false),
    error: new Verbatim(error),
    original_context: new Verbatim(originalContext),
    ...originalText(originalEvent),
  };
  return Buffer.concat([Buffer.from(encodeJson(line)), LINE_FEED]);
}

const LINE_FEED = Buffer.from('\n');

/** Returns the event's bytes in a form from which they can be had back, whatever reads the JSON around them. */
export function originalText(
  bytes: ErrorParts['originalEvent'],
): { original_event_text: string } | { original_event_base64: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isUtf8(buffer)
    ? { original_event_text: buffer.toString('utf8') }
    : { original_event_base64: buffer.toString('base64') };
}

interface ExportEnd {
  /** False: the export was ended early, and goes on behind the cursor. */
  readonly complete: boolean;
  /** As far as the log was read; null: nothing was. */
  readonly cursor: string | null;
  readonly count: number;
}

/** Returns the last line, without which an export was cut off. */
export function endLine(end: ExportEnd): Buffer {
  return Buffer.from(`${JSON.stringify({ end })}\n`);
}
