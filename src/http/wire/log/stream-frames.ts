// Emissions as server-sent events (HTML standard): an id to resume from, the event's name, and the record as
// the listings show it.

import { recordId } from '../../../domain/ids.ts';
import { SECOND_MS } from '../../../domain/limits.ts';
import type { EmissionRecord } from '../../../store/contract/records.ts';
import { encodeJson } from '../../body/json.ts';
import { groupedToWire } from './emissions.ts';

/** How long a reader waits before it connects again. */
const RETRY_MS = 2 * SECOND_MS;
const LINE_BREAK = /\r\n|\r|\n/;
const GAP = '$gap';

export const STREAM_FRAMES = {
  /** An id without data is no event, but what a reader goes on behind when it is lost before the first one. */
  hello: (at: number, gapAfter: number | null): Uint8Array =>
    Buffer.from(`retry: ${RETRY_MS}\nid: ${recordId(at)}\n\n${gapAfter === null ? '' : gapFrame(gapAfter)}`),

  of: (records: readonly EmissionRecord[]): Uint8Array => Buffer.from(records.map(frame).join('')),

  /** Keeps proxies from closing an idle stream. */
  quiet: Buffer.from(':\n\n'),
} as const;

function gapFrame(after: number): string {
  const message = 'what was emitted next after this id may be gone: it is older than what is kept';
  return `event: ${GAP}\n${dataLines(JSON.stringify({ after: recordId(after), message }))}\n`;
}

function frame(record: EmissionRecord): string {
  const json = encodeJson(groupedToWire(record, true)).toString();
  return `id: ${recordId(record.entry)}\n${eventLine(record.name)}${dataLines(json)}\n`;
}

/** Returns the line with an event's name. The format has no name with a line break; the record has it. */
function eventLine(name: string): string {
  return name === '' || LINE_BREAK.test(name) ? '' : `event: ${name}\n`;
}

/**
 * Returns the lines of an event's data. An event is kept as sent, and JSON may have line breaks between its tokens: the reader
 * joins the lines with line feeds. The format has no carriage return, so it becomes a line feed, too.
 */
function dataLines(json: string): string {
  return json
    .split(LINE_BREAK)
    .map((line) => `data: ${line}\n`)
    .join('');
}
