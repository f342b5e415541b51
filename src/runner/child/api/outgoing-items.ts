// Collects what a run asks to send, checked and bounded with each call.

import { isResourceId, PREFIX } from '../../../domain/ids.ts';
import { ConfigurationError, platformError } from '../errors.ts';
import { checkNesting, jsonOf } from '../json-text.ts';
import type { ChildLimits, OutgoingTuple } from '../protocol.ts';
import { cutChars, idText, textOf } from '../text.ts';
import { requestOf } from './http-request.ts';

/** The metadata of a source's emission; nothing of it is checked yet. */
export interface EmitMetadata {
  readonly id?: unknown;
  readonly summary?: unknown;
  readonly ts?: unknown;
  readonly name?: unknown;
  readonly delivery_ts?: unknown;
  /** `true`: the code has checked who sent the event. */
  readonly verified?: unknown;
}

export class OutgoingItems {
  readonly #limits: ChildLimits;
  #items: OutgoingTuple[] = [];
  #count = 0;
  bytes = 0;

  constructor(limits: ChildLimits) {
    this.#limits = limits;
  }

  emit(event: unknown, channel: unknown): void {
    this.#add(['emit', this.#channel(channel), this.#json(event, 'The event')]);
  }

  /** Implements a source's `$emit`. */
  emitItem(event: unknown, metadata: EmitMetadata | null | undefined): void {
    this.#emitText(this.#json(event, 'The event'), metadata ?? {});
  }

  /** Emits an event given as its JSON text. */
  emitText(body: string): void {
    checkNesting(body, { what: 'The event', levels: this.#limits.nestingDepth });
    this.#emitText(body, {});
  }

  /** Starts one workflow. */
  trigger(workflowId: unknown, event: unknown): void {
    if (typeof workflowId !== 'string' || !isResourceId(workflowId, PREFIX.workflow)) {
      const shown = textOf(workflowId).slice(0, 64);
      throw new ConfigurationError(
        `$.flow.trigger needs the id of a workflow (p_ and 16 letters or digits), not ${shown}`,
      );
    }
    this.#add(['trigger', workflowId, this.#json(event === undefined ? {} : event, 'The event')]);
  }

  email(mail: unknown): void {
    const { subject, text, html } = (mail ?? {}) as Record<string, unknown>;
    if (typeof subject !== 'string') throw new ConfigurationError('$.send.email needs a subject (a string)');
    for (const [name, part] of Object.entries({ text, html })) {
      if (part !== undefined && part !== null && typeof part !== 'string') {
        throw new ConfigurationError(`The ${name} of a mail is a string, not ${textOf(part).slice(0, 40)}`);
      }
    }
    this.#add(['email', '', jsonOf({ subject, text: text ?? '', html: html ?? undefined }, UNBOUND)]);
  }

  http(request: unknown): void {
    this.#add(['http', '', jsonOf(requestOf(request, this.#limits), UNBOUND)]);
  }

  /**
   * Returns what came since the last call. Items with a time are sorted from oldest to newest; items without one keep
   * their places. Undefined when there is nothing.
   */
  take(): OutgoingTuple[] | undefined {
    const items = this.#items;
    if (items.length === 0) return undefined;
    this.#items = [];
    const timed = items.filter((item) => typeof item[5] === 'number');
    if (timed.length === 0) return items;
    timed.sort((a, b) => (a[5] as number) - (b[5] as number));
    let next = 0;
    return items.map((item) => (typeof item[5] === 'number' ? (timed[next++] as OutgoingTuple) : item));
  }

  #emitText(body: string, metadata: EmitMetadata): void {
    const { id, summary, ts, name, delivery_ts: deliveryTs, verified } = metadata;
    const itemId = id === undefined || id === null ? null : idText(id, this.#limits.descriptionChars);
    const shown = summary === undefined || summary === null ? null : textOf(summary);
    this.#add([
      'emit',
      this.#channel(name),
      body,
      shown === null ? null : cutChars(shown, this.#limits.descriptionChars),
      itemId,
      timeOf(ts) ?? (typeof ts === 'string' ? timeOf(Date.parse(ts)) : null),
      this.#deliverAt(deliveryTs),
      // Only `true` itself counts, not every truthy value.
      verified === true ? true : undefined,
    ]);
  }

  #json(value: unknown, what: string): string {
    return jsonOf(value, { what, levels: this.#limits.nestingDepth });
  }

  /** Returns when to deliver (epoch ms); null: at once, as for every time that has passed. */
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
    if (this.#count >= emissionsPerRun) {
      throw platformError('PayloadTooLarge', `A run may send at most ${emissionsPerRun} times`);
    }
    for (const said of [item[2], item[3], item[4]]) this.bytes += said ? Buffer.byteLength(said) : 0;
    if (this.bytes > resultBytes) throw platformError('PayloadTooLarge', `A run may send at most ${resultBytes} bytes`);
    this.#count++;
    this.#items.push(item);
  }
}

/** The server's own JSON needs no check of its nesting. */
const UNBOUND = { what: '', levels: null };

function timeOf(ts: unknown): number | null {
  if (ts === undefined || ts === null) return null;
  const ms = Math.trunc(Number(ts));
  return Number.isSafeInteger(ms) ? ms : null;
}
