// Emissions as server-sent events (the event streams of the HTML standard): an id that a reader goes on from, the channel
// as the event's name, and the record as the listings show it.

import { recordId } from '../../../domain/ids.ts';
import { SECOND_MS } from '../../../domain/limits.ts';
import type { EmissionRecord } from '../../../store/contract/records.ts';
import { encodeJson } from '../../body/json.ts';
import { emissionToWire } from './emissions.ts';

/** How long a reader waits before it connects again. */
const RETRY_MS = 2 * SECOND_MS;
const LINE_BREAK = /\r\n|\r|\n/;
const GAP = '$gap';

export const STREAM_FRAMES = {
  hello: (gapAfter: number | null): Uint8Array =>
    Buffer.from(`retry: ${RETRY_MS}\n\n${gapAfter === null ? '' : gapFrame(gapAfter)}`),

  of: (records: readonly EmissionRecord[]): Uint8Array => Buffer.from(records.map(frame).join('')),

  /** Keeps proxies from closing what seems idle. */
  quiet: Buffer.from(':\n\n'),
} as const;

function gapFrame(after: number): string {
  const message = 'what was emitted next after this id may be gone: it is older than what is kept';
  return `event: ${GAP}\n${dataLines(JSON.stringify({ after: recordId(after), message }))}\n`;
}

function frame(record: EmissionRecord): string {
  const json = encodeJson(emissionToWire(record, true)).toString();
  return `id: ${recordId(record.entry)}\n${eventLine(record.name)}${dataLines(json)}\n`;
}

/** A name with a line break cannot be told here; the record has it. */
function eventLine(name: string): string {
  return name === '' || LINE_BREAK.test(name) ? '' : `event: ${name}\n`;
}

/**
 * An event is kept as it was sent, and JSON may have line breaks between its tokens: the reader puts the lines together
 * again with line feeds. The format knows no carriage return, so one of those comes out as a line feed too.
 */
function dataLines(json: string): string {
  return json
    .split(LINE_BREAK)
    .map((line) => `data: ${line}\n`)
    .join('');
}
