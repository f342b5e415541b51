// Identifiers. Two kinds:
//
// - Resources (workflows, webhooks, …): a prefix, seven base-62 digits of the millisecond, nine random digits.
//   They sort by time, so a list is paged by id alone, and a cursor stays valid after its record is deleted.
// - Hot rows (emissions, runs, deliveries): one integer from the store's clock, `milliseconds * 1024 + sequence`,
//   which is the primary key; the public id is a spelling of it. A second index on a random text id
//   would cost as much as the row.

/** Rows that one store can number within a millisecond; more rows push its clock ahead. 2^53 / 1024 lasts until the year 2248. */
export const NUMBERS_PER_MS = 1024;

export const PREFIX = {
  owner: 'u_',
  key: 'key_',
  workflow: 'p_',
  deployment: 'd_',
  step: 'c_',
  source: 'dc_',
  webhook: 'wh_',
  subscription: 'sub_',
  httpTrigger: 'hi_',
  timerTrigger: 'ti_',
  run: 'r_',
  delivery: 'dl_',
  operation: 'op_',
  account: 'apn_',
  dataStore: 'ds_',
  audit: 'au_',
  errorGroup: 'eg_',
  heartbeat: 'hb_',
  /** An event that came with the error that it led to elsewhere. */
  reportedEvent: 'ev_',
  channel: 'ch_',
} as const;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TIME_DIGITS = 7;
const RANDOM_DIGITS = 9;
const RESOURCE_TAIL = /^[0-9A-Za-z]{16}$/;
const NUMBER_TAIL = /^[0-9a-z]{10,11}$/;

/** Returns a resource id. `random` needs at least nine bytes. */
export function resourceId(prefix: string, nowMs: number, random: Uint8Array): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < TIME_DIGITS; i++, rest = Math.floor(rest / 62)) time = DIGITS[rest % 62] + time;
  let tail = '';
  for (let i = 0; i < RANDOM_DIGITS; i++) tail += DIGITS[(random[i] as number) % 62];
  return prefix + time + tail;
}

/** Returns the resource id that a hash of at least 16 bytes makes: always the same one. It does not sort by time. */
export function resourceIdOf(prefix: string, hash: Uint8Array): string {
  let tail = '';
  for (let i = 0; i < TIME_DIGITS + RANDOM_DIGITS; i++) tail += DIGITS[(hash[i] as number) % 62];
  return prefix + tail;
}

/** Returns whether `id` has the shape of a resource id with this prefix (it need not exist). */
export function isResourceId(id: string, prefix: string): boolean {
  return id.startsWith(prefix) && RESOURCE_TAIL.test(id.slice(prefix.length));
}

/** Returns the prefix of an id (`p_`, `dc_`, …), or the empty string. */
export function prefixOf(id: string): string {
  const end = id.indexOf('_');
  return end < 0 ? '' : id.slice(0, end + 1);
}

/** Returns the `r_…` or `dl_…` of a row's number. */
export function numberedId(prefix: string, number: number): string {
  return prefix + number.toString(36);
}

/** Returns the row's number behind `r_…` or `dl_…`; undefined when the id has another shape. */
export function numberOf(prefix: string, id: string): number | undefined {
  if (!id.startsWith(prefix)) return undefined;
  const tail = id.slice(prefix.length);
  if (!NUMBER_TAIL.test(tail)) return undefined;
  const number = Number.parseInt(tail, 36);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Returns the `emit_id`: the store's tag (five random digits, so that ids of two stores differ) and the entry. */
export function emitId(storeTag: string, entry: number): string {
  return storeTag + entry.toString(36);
}

const STORE_TAG_CHARS = 5;

/** Returns the entry behind an emit id of any store; undefined when the id has another shape. */
export function entryOfEmitId(id: string): number | undefined {
  return numberOf(id.slice(0, STORE_TAG_CHARS), id);
}

/** Returns the record id and cursor of an emission: `<milliseconds>-<sequence>`. */
export function recordId(entry: number): string {
  return `${msOf(entry)}-${entry % NUMBERS_PER_MS}`;
}

/** Returns the entry behind a record id; undefined when malformed. */
export function entryOf(id: string): number | undefined {
  const match = /^(\d{1,14})-(\d{1,4})$/.exec(id);
  if (!match) return undefined;
  const sequence = Number(match[2]);
  if (sequence >= NUMBERS_PER_MS) return undefined;
  const entry = Number(match[1]) * NUMBERS_PER_MS + sequence;
  return Number.isSafeInteger(entry) ? entry : undefined;
}

/** Returns the entry behind a record id or an emit id; undefined when it is neither. */
export function entryOfEvent(id: string): number | undefined {
  return entryOf(id) ?? entryOfEmitId(id);
}

/** Returns the millisecond of a number. */
export function msOf(number: number): number {
  return Math.floor(number / NUMBERS_PER_MS);
}
