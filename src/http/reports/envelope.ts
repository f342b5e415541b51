// Reads envelopes, the format in which clients of Sentry send: lines of JSON, each item's header followed by its payload.
//
//   {"event_id": "…", "sent_at": "…"}
//   {"type": "event", "length": 41}
//   {"exception": {"values": [{"type": "…"}]}}
//
// A payload has the length that its header says, whatever bytes are in it, or ends with its line. What does not fit together
// is refused as a whole: half an envelope may be half an error.

import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { isRecord } from '../body/json.ts';

const NEWLINE = 0x0a;

export interface EnvelopeItem {
  /** Empty: its header says none. */
  readonly type: string;
  /** A view of the envelope. */
  readonly payload: Buffer;
}

export interface Envelope {
  /** As the client has given it; null: none. */
  readonly eventId: string | null;
  readonly items: readonly EnvelopeItem[];
}

/** Throws `Refusal`: 400 for what is no whole envelope, 413 for too many items. */
export function readEnvelope(bytes: Buffer): Envelope {
  const first = endOfLine(bytes, 0);
  const header = headerIn(bytes, { from: 0, end: first, what: 'The header of the envelope' });
  const eventId = typeof header.event_id === 'string' ? header.event_id : null;
  const items: EnvelopeItem[] = [];
  let at = first + 1;
  while (at < bytes.length) {
    // Lines between items, and behind the last one, may be empty.
    if (bytes[at] === NEWLINE) {
      at++;
      continue;
    }
    if (items.length === LIMITS.envelopeItems) {
      throw new Refusal('too_large', `The envelope has more than ${LIMITS.envelopeItems} items (envelopeItems)`);
    }
    const end = endOfLine(bytes, at);
    const n = items.length + 1;
    const { type, length } = headerIn(bytes, { from: at, end, what: `The header of item ${n}` });
    const start = Math.min(end + 1, bytes.length);
    const behind = length === undefined || length === null ? endOfLine(bytes, start) : start + lengthOf(length, n);
    if (behind > bytes.length) {
      const has = `its payload has ${bytes.length - start} bytes, but its header says ${String(length)}`;
      throw new Refusal('malformed', `Item ${n} of the envelope is cut short: ${has}`);
    }
    if (behind < bytes.length && bytes[behind] !== NEWLINE) {
      throw new Refusal(
        'malformed',
        `Item ${n} of the envelope goes on behind the ${String(length)} bytes of its header`,
      );
    }
    items.push({ type: typeof type === 'string' ? type : '', payload: bytes.subarray(start, behind) });
    at = behind + 1;
  }
  return { eventId, items };
}

function endOfLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(NEWLINE, from);
  return end < 0 ? bytes.length : end;
}

function headerIn(bytes: Buffer, of: { from: number; end: number; what: string }): Record<string, unknown> {
  const { from, end, what } = of;
  if (end - from > LIMITS.envelopeHeaderBytes) {
    throw new Refusal('too_large', `${what} is longer than ${LIMITS.envelopeHeaderBytes} bytes (envelopeHeaderBytes)`);
  }
  let header: unknown;
  try {
    header = JSON.parse(bytes.toString('utf8', from, end));
  } catch {
    throw new Refusal('malformed', `${what} is not JSON in one line`);
  }
  if (isRecord(header)) return header;
  throw new Refusal('malformed', `${what} is not a JSON object`);
}

function lengthOf(length: unknown, n: number): number {
  if (Number.isSafeInteger(length) && (length as number) >= 0) return length as number;
  throw new Refusal('malformed', `The length of item ${n} of the envelope is not a whole number of bytes`);
}
