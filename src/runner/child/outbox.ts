// What a run asked to emit, checked and bounded as it asks.

import { ConfigurationError, platformError } from './errors.ts';
import type { ChildLimits, OutgoingTuple } from './protocol.ts';
import { cutChars, textOf } from './text.ts';

/** What a source may say of an emission. */
export interface EmitMetadata {
  readonly id?: unknown;
  readonly summary?: unknown;
  readonly ts?: unknown;
  readonly name?: unknown;
  readonly delivery_ts?: unknown;
}

export class Outbox {
  readonly #limits: ChildLimits;
  readonly #items: OutgoingTuple[] = [];
  bytes = 0;

  constructor(limits: ChildLimits) {
    this.#limits = limits;
  }

  emit(event: unknown, channel: unknown): void {
    this.#add(['emit', this.#channel(channel), jsonOf(event, 'The event')]);
  }

  /** A source's `$emit`. */
  emitItem(event: unknown, metadata: EmitMetadata | null | undefined): void {
    this.emitText(jsonOf(event, 'The event'), metadata ?? {});
  }

  /** `body` is the event's JSON text. */
  emitText(body: string, { id, summary, ts, name, delivery_ts: deliveryTs }: EmitMetadata): void {
    const itemId = id === undefined || id === null ? null : cutChars(textOf(id), this.#limits.descriptionChars);
    const shown = summary === undefined || summary === null ? null : textOf(summary);
    this.#add([
      'emit',
      this.#channel(name),
      body,
      shown === null ? null : cutChars(shown, this.#limits.descriptionChars),
      itemId,
      timeOf(ts),
      this.#deliverAt(deliveryTs),
    ]);
  }

  email(mail: unknown): void {
    const { subject, text, html } = (mail ?? {}) as Record<string, unknown>;
    if (typeof subject !== 'string') throw new ConfigurationError('$.send.email needs a subject (a string)');
    if (text !== undefined && typeof text !== 'string') throw new ConfigurationError('The text of a mail is a string');
    if (html !== undefined && typeof html !== 'string') throw new ConfigurationError('The html of a mail is a string');
    this.#add(['email', '', JSON.stringify({ subject, text: text ?? '', html })]);
  }

  /** Oldest to newest where a time was given; what carries none stays where it is. Undefined when there is nothing. */
  take(): OutgoingTuple[] | undefined {
    if (this.#items.length === 0) return undefined;
    const timed = this.#items.filter((item) => typeof item[5] === 'number');
    if (timed.length === 0) return this.#items;
    timed.sort((a, b) => (a[5] as number) - (b[5] as number));
    let next = 0;
    return this.#items.map((item) => (typeof item[5] === 'number' ? (timed[next++] as OutgoingTuple) : item));
  }

  /** Null: at once, as with every time that has passed. */
  #deliverAt(deliveryTs: unknown): number | null {
    if (deliveryTs === undefined || deliveryTs === null) return null;
    const ms = timeOf(deliveryTs);
    if (ms === null || typeof deliveryTs === 'boolean') {
      const given = textOf(deliveryTs).slice(0, 80);
      throw new ConfigurationError(
        `delivery_ts is a time in epoch milliseconds, like Date.now() + 60000, not ${given}`,
      );
    }
    const latest = Date.now() + this.#limits.laterMs;
    if (ms > latest) {
      throw new ConfigurationError(
        `delivery_ts is ${ms}, and may be ${latest} at most: ${this.#limits.laterMs / 86_400_000} days from now`,
      );
    }
    return ms;
  }

  #channel(channel: unknown): string {
    if (channel === undefined || channel === null) return '';
    const { eventNameChars } = this.#limits;
    if (typeof channel !== 'string') throw new ConfigurationError('A channel name is a string');
    if (channel.startsWith('$')) {
      throw new ConfigurationError(`Channel names that begin with $ belong to the service: ${channel.slice(0, 64)}`);
    }
    if (channel.length > eventNameChars || !channel.isWellFormed()) {
      throw new ConfigurationError(`A channel name has at most ${eventNameChars} characters of valid Unicode`);
    }
    return channel;
  }

  #add(item: OutgoingTuple): void {
    const { emissionsPerRun, resultBytes } = this.#limits;
    if (this.#items.length >= emissionsPerRun) {
      throw platformError('PayloadTooLarge', `A run may send at most ${emissionsPerRun} times`);
    }
    this.bytes += Buffer.byteLength(item[2]);
    if (this.bytes > resultBytes) throw platformError('PayloadTooLarge', `A run may send at most ${resultBytes} bytes`);
    this.#items.push(item);
  }
}

/** JSON text of a value; TypeError where it has none. */
export function jsonOf(value: unknown, what: string): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${what} is not a JSON value: ${textOf(value).slice(0, 80)}`);
  return text;
}

function timeOf(ts: unknown): number | null {
  if (ts === undefined || ts === null) return null;
  const ms = Math.trunc(Number(ts));
  return Number.isSafeInteger(ms) ? ms : null;
}
