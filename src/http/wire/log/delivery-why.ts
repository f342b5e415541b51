// Why a delivery is due when it is, in whole sentences: what set its due time, then everything that it waits for now.

import { numberedId, PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { AttemptRecord, DeliveryRecord, DeliveryWhole, QueuePosition } from '../../../store/contract/records.ts';
import { countOf, instant, lengthOf } from '../words.ts';

/** Time between the end of an attempt and the computation of the next due time. */
const RECKONING_MS = 2000;

const HELD = 'The webhook is not active; this goes out when it is enabled again.';

/** Returns when the next attempt is due: not before the webhook's pause is over. */
export function nextAttemptAtMs(record: DeliveryRecord, pausedUntilMs: number | null): number | null {
  const { state, nextAttemptAtMs: atMs } = record;
  if (state !== 'pending' && state !== 'retrying') return null;
  if (atMs === null || pausedUntilMs === null) return atMs;
  return Math.max(atMs, pausedUntilMs);
}

/** Returns the reason from the record alone, for lists. Null when the delivery is over, unless it is a mail that was not sent. */
export function shortWhy(record: DeliveryRecord): string | null {
  const { state, attemptsMade, dueBy } = record;
  switch (state) {
    case 'pending':
    case 'retrying':
      if (dueBy === 'resend') return `Is sent again by hand: attempt ${attemptsMade + 1}.`;
      if (dueBy === 'retry_after') return 'The receiver asked to be left alone (Retry-After).';
      if (attemptsMade === 0) return 'Waits for its first attempt.';
      if (dueBy === 'event') return `Due again after ${countOf(attemptsMade, 'attempt', 'attempts')}.`;
      return `Attempt ${attemptsMade} failed; attempt ${attemptsMade + 1} follows by the schedule of retries.`;
    case 'sending':
      return `Attempt ${attemptsMade + 1} is on its way.`;
    case 'held':
      return HELD;
    default:
      return record.unsent;
  }
}

/** Returns the reason from everything known. Null when the delivery is over, unless it is a mail that was not sent. */
export function wholeWhy({ record, attempts, position, pausedUntilMs }: DeliveryWhole, nowMs: number): string | null {
  const { state, attemptsMade, dueBy } = record;
  switch (state) {
    case 'pending':
    case 'retrying': {
      const cause = causeOf(record, attempts, position);
      if (pausedUntilMs) {
        return `${cause} The place that it goes to is paused (Retry-After): nothing goes there before ${instant(pausedUntilMs)}.`;
      }
      const sentences = [cause, ...hindrances(record, position, nowMs)];
      return sentences.join(' ');
    }
    case 'sending': {
      const again = dueBy === 'resend' ? 'It is being sent again by hand: a' : 'A';
      return `${again}ttempt ${attemptsMade + 1} is on its way.`;
    }
    case 'held':
      return heldWhy(record);
    default:
      return record.unsent;
  }
}

function heldWhy({ attemptsMade }: DeliveryRecord): string {
  const made = attemptsMade === 0 ? '' : ` It has had ${countOf(attemptsMade, 'attempt', 'attempts')}.`;
  return HELD + made;
}

/** Says what set the due time. */
function causeOf(record: DeliveryRecord, attempts: readonly AttemptRecord[], position: QueuePosition | null): string {
  const { attemptsMade: made, dueBy } = record;
  const last = attempts.at(-1);
  if (dueBy === 'resend') return `It is sent again by hand: attempt ${made + 1}, in place of any that was to come.`;
  if (dueBy === 'retry_after' && last) return askedFor(last);
  if (dueBy === 'schedule' && last) return bySchedule(record, last, position);
  if (made === 0) return 'It waits for its first attempt.';
  return `It is due again after ${countOf(made, 'attempt', 'attempts')}.`;
}

function askedFor(last: AttemptRecord): string {
  const asked = header(last, 'retry-after');
  const how = asked === null ? 'Retry-After' : `Retry-After: ${asked}`;
  const waitMs = last.retryAfterMs ?? null;
  const untilMs = waitMs === null ? null : last.startedAtMs + last.tookMs + waitMs;
  const until = untilMs === null ? '' : ` until ${instant(untilMs)}`;
  const capped = waitMs === LIMITS.retryAfterMs ? `, at most ${lengthOf(LIMITS.retryAfterMs)}` : '';
  return `The receiver answered ${last.status} and asked to be left alone (${how})${until}${capped}; that attempt does not count.`;
}

function bySchedule(record: DeliveryRecord, last: AttemptRecord, position: QueuePosition | null): string {
  const { attemptsMade: made, nextAttemptAtMs: atMs } = record;
  const failed = `Attempt ${made} failed: ${sentence(last.detail)}`;
  const next = `Attempt ${made + 1}`;
  if (atMs === null) return `${failed} ${next} follows by the schedule of retries.`;
  const waitMs = atMs - (last.startedAtMs + last.tookMs);
  const delayMs = delayBehind(waitMs, position?.webhook.settings.retryDelaysMs ?? LIMITS.retryDelaysMs);
  const of =
    delayMs === undefined
      ? ''
      : `, ${lengthOf(delayMs)} in the schedule of retries, give or take ${LIMITS.retryJitter * 100} %`;
  return `${failed} ${next} follows after ${lengthOf(waitMs)}${of}.`;
}

/** Returns the delay of the schedule that became `waitMs`; undefined when the schedule has changed since. */
function delayBehind(waitMs: number, delaysMs: readonly number[]): number | undefined {
  const off = (delayMs: number): number => Math.abs(waitMs - delayMs);
  const fitting = delaysMs.filter((delayMs) => off(delayMs) <= delayMs * LIMITS.retryJitter + RECKONING_MS);
  return fitting.sort((a, b) => off(a) - off(b))[0];
}

/** Says what the delivery waits for now, the strictest first. */
function hindrances(record: DeliveryRecord, position: QueuePosition | null, nowMs: number): string[] {
  const dueAtMs = nextAttemptAtMs(record, position?.pausedUntilMs ?? null);
  const isDue = dueAtMs === null || dueAtMs <= nowMs;
  const due = isDue ? 'It is due now.' : `It is due at ${instant(dueAtMs)}.`;
  if (!position) return [due];
  const { webhook, pausedUntilMs } = position;
  const sentences: string[] = [];
  if (pausedUntilMs !== null && pausedUntilMs > nowMs) {
    sentences.push(`The webhook is paused (Retry-After): nothing goes to it before ${instant(pausedUntilMs)}.`);
  }
  sentences.push(due, ...orderOf(position));
  if (!isDue) return sentences;
  const { rateLimit } = webhook.settings;
  sentences.push(...queueOf(position));
  if (rateLimit) {
    const requests = countOf(rateLimit.limit, 'request', 'requests');
    sentences.push(`The webhook takes at most ${requests} in ${lengthOf(rateLimit.intervalMs)} (rate_limit).`);
  }
  return sentences;
}

function orderOf({ webhook, head }: QueuePosition): string[] {
  if (!webhook.settings.ordered || head === null) return [];
  const id = numberedId(PREFIX.delivery, head);
  return [`The webhook is ordered: ${id} comes first, and holds this up until it is delivered or exhausted.`];
}

function queueOf({ webhook, sending, ahead }: QueuePosition): string[] {
  const sentences: string[] = [];
  const { ordered, maxInFlight } = webhook.settings;
  const most = ordered ? 1 : (maxInFlight ?? LIMITS.inFlightPerWebhook);
  if (sending > 0) {
    const whileFailing = most > 1 ? ' (one at a time while it fails)' : '';
    const requests = countOf(most, 'request', 'requests');
    sentences.push(`${sending} of at most ${requests} to the webhook on the way${whileFailing}.`);
  }
  if (ahead > 0) {
    const plus = ahead >= LIMITS.countedRecords ? 'or more ' : '';
    sentences.push(`${ahead} ${plus}${ahead === 1 ? 'delivery comes' : 'deliveries come'} before it.`);
  }
  return sentences;
}

function header({ responseHeaders }: AttemptRecord, name: string): string | null {
  const found = Object.entries(responseHeaders).find(([given]) => given.toLowerCase() === name);
  return found ? found[1].slice(0, 64) : null;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
