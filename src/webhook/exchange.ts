// One request through undici, until its answer or its failure. Settles exactly once, never throws into undici, and leaves
// nothing behind that could still be sent.
//
// Uses undici's plain dispatch and not its `request`: no stream is built per response, reading can stop at a byte, and the
// stage of a timeout is known.
//
// A kept-alive connection may have died unnoticed. Before undici reuses one, it lets the event loop read; if the
// connection has ended, nothing was written, and the request uses a new connection: it was never sent, so it cannot have
// been processed. After the first byte that is unknown: a receiver may act on a request and die before it answers. Then
// the attempt has failed, and the schedule repeats it, with the same webhook-id; it is not sent again at
// once. Rejected: to treat an end without an answer as an idle close that crossed the request, as browsers do for GET.

import type { Dispatcher } from 'undici';
import { LIMITS } from '../domain/limits.ts';
import { limitTime } from '../time-limit.ts';
import type { GuardedClient, Wire, WireAware } from './client.ts';
import { AnswerTooLong, type Failure, failureOf, type Stage, stopped, timedOut } from './failure.ts';

export interface Exchanged {
  /** Null: the answer was read, up to the limit. */
  readonly failure: Failure | null;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The beginning of the body. */
  readonly kept: readonly Buffer[];
  /** The body was longer than the limit. */
  readonly cutOff: boolean;
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  /** From writing the request to the first byte of the response. */
  readonly firstByteMs: number | null;
}

export interface ExchangeOptions {
  readonly client: Pick<GuardedClient, 'dispatcher'>;
  readonly request: Dispatcher.DispatchOptions;
  /** For whom it is made. */
  readonly ownerId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** How much of the answer is kept, to the chunk. */
  readonly keptBytes?: number;
}

/** Rejects when undici cannot be loaded, since the process has no descriptor left, and with undici's refusal of the request. */
export function exchange(options: ExchangeOptions): Promise<Exchanged> {
  return new Promise((resolve) => {
    const handler = new Exchange(options, resolve);
    // Timed here: undici's two timeouts restart with every chunk, and tick in half seconds.
    if (!handler.isDone)
      options.client.dispatcher.dispatch({ ...options.request, headersTimeout: 0, bodyTimeout: 0 }, handler);
  });
}

const DROPPED = new Error('nothing more is wanted of this connection');

/** The exchanges that a signal stops. One listener for all: a listener each took a twentieth of a delivery's time. */
const stoppedBy = new WeakMap<AbortSignal, Set<Exchange>>();

function exchangesOf(signal: AbortSignal): Set<Exchange> {
  const known = stoppedBy.get(signal);
  if (known) return known;
  const made = new Set<Exchange>();
  stoppedBy.set(signal, made);
  signal.addEventListener(
    'abort',
    () => {
      for (const exchange of made) exchange.stop();
    },
    { once: true },
  );
  return made;
}

class Exchange implements Dispatcher.DispatchHandler, WireAware {
  isDone = false;
  readonly ownerId: string;
  readonly #resolve: (exchanged: Exchanged) => void;
  /** Undefined: no signal stops this one. */
  readonly #stoppable: Set<Exchange> | undefined;
  readonly #endLimit: () => void;
  readonly #keptBytes: number;
  #controller: Dispatcher.DispatchController | null = null;
  #wire: Wire | null = null;
  #stage: Stage = 'waiting';
  #status: number | null = null;
  #headers: Exchanged['headers'] = {};
  #kept: Buffer[] = [];
  #bodyBytes = 0;
  #isTooLong = false;
  #dnsMs: number | null = null;
  #connectMs: number | null = null;
  #sentMs = 0;
  #firstByteMs: number | null = null;

  constructor(options: ExchangeOptions, resolve: (exchanged: Exchanged) => void) {
    const { ownerId, timeoutMs, signal, keptBytes = LIMITS.keptResponseBytes } = options;
    this.ownerId = ownerId;
    this.#keptBytes = keptBytes;
    this.#resolve = resolve;
    this.#stoppable = signal && exchangesOf(signal);
    this.#endLimit = limitTime(timeoutMs, () => this.#finish(timedOut(this.#stage, timeoutMs)));
    if (signal?.aborted) this.stop();
    else this.#stoppable?.add(this);
  }

  onWire(wire: Wire): void {
    this.#wire = wire;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The time ran out in the queue; a request sent now would arrive after the attempt was counted as failed.
    if (this.isDone) {
      controller.abort(DROPPED);
      return;
    }
    this.#stage = 'sent';
    this.#sentMs = performance.now();
    if (!this.#wire?.fresh) return;
    this.#wire.fresh = false;
    this.#dnsMs = this.#wire.dnsMs;
    this.#connectMs = this.#wire.connectMs;
  }

  onResponseStarted(): void {
    this.#firstByteMs ??= performance.now() - this.#sentMs;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Exchanged['headers']): void {
    if (status < 200) return;
    this.#stage = 'body';
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bodyBytes < this.#keptBytes) this.#kept.push(chunk);
    this.#bodyBytes += chunk.length;
    this.#isTooLong = this.#bodyBytes > LIMITS.responseBytes;
    if (this.#isTooLong) this.#finish(null);
  }

  onResponseEnd(): void {
    this.#controller = null;
    this.#finish(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.isDone) return;
    // The status counts, as for any answer whose body is too long.
    this.#isTooLong ||= error instanceof AnswerTooLong && this.#status !== null;
    this.#finish(this.#isTooLong ? null : failureOf(error, this.#stage));
  }

  stop(): void {
    this.#finish(stopped(this.#stage));
  }

  #finish(failure: Failure | null): void {
    if (this.isDone) return;
    this.isDone = true;
    this.#endLimit();
    this.#stoppable?.delete(this);
    this.#resolve({
      failure,
      status: this.#status,
      headers: this.#headers,
      kept: this.#kept,
      cutOff: this.#isTooLong,
      dnsMs: this.#dnsMs,
      connectMs: this.#connectMs,
      firstByteMs: this.#firstByteMs,
    });
    this.#controller?.abort(DROPPED);
  }
}
