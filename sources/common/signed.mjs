// What sources have in common that others call, and sign what they send. A request that proves nothing is answered,
// counted and logged; it is no event, and no error: any caller can send one.

import { createHmac, timingSafeEqual } from 'node:crypto';

const KEY = 'refused';
const MAX_REASON_CHARS = 300;

export const http = { type: '$.interface.http', customResponse: true };

/** How old, or how far ahead, a signed time may be, in seconds: what the makers of both schemes advise. */
export const TOLERANCE_S = 300;

/** What was signed: the body as it came. */
export function bytesOf({ bodyRaw }) {
  return typeof bodyRaw === 'string' ? Buffer.from(bodyRaw) : Buffer.from(bodyRaw.$base64, 'base64');
}

export function hmac(key, ...parts) {
  const made = createHmac('sha256', key);
  for (const part of parts) made.update(part);
  return made.digest();
}

/** In a time that does not tell where they differ. Both are bytes. */
export function isEqual(given, expected) {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Hex digits, of either case; null when it is none. */
export function fromHex(text) {
  return /^([0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : null;
}

/**
 * When the request of this run arrived, epoch milliseconds. What was accepted is judged by that, however much later it runs:
 * after a crash of the server, or when its error is replayed.
 */
export function arrivedMs({ context }) {
  return Date.parse(context.original_ts);
}

/** Whether a time in the header, whole seconds as text, is about that of the arrival. */
export function isRecent(timestamp, arrivedMs) {
  return Math.abs(Math.floor(arrivedMs / 1000) - Number(timestamp)) <= TOLERANCE_S;
}

/** None wanted: all are. `invoice.*` stands for all that begin with `invoice.`. */
export function isWanted(name, wanted) {
  if (wanted === undefined || wanted.length === 0) return true;
  return wanted.some((one) => (one.endsWith('*') ? String(name).startsWith(one.slice(0, -1)) : one === name));
}

/** `source`: with the props `http` and `db`. */
export async function accept(source) {
  await source.http.respond({ status: 200, headers: {}, body: '' });
}

/** Taken, but nothing that is wanted. */
export async function pass(source, what) {
  console.log(`passed over: ${what}`);
  await accept(source);
}

export async function refuse(source, { client_ip: from }, { status, reason }) {
  const count = (source.db.get(KEY) ?? 0) + 1;
  source.db.set(KEY, count);
  console.warn(`refused request ${count}, from ${from}: ${reason}`.slice(0, MAX_REASON_CHARS));
  const body = JSON.stringify({ error: reason });
  await source.http.respond({ status, headers: { 'content-type': 'application/json' }, body });
}
