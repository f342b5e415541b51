// Sends the requests of one run's code to the server and resolves them with the replies. Only a few are open at a time;
// the others wait here.

import { setImmediate } from 'node:timers';
import { ConfigurationError } from '../errors.ts';
import type { ChildLimits, ChildRequestMessage } from '../protocol.ts';

// Kept before user code can replace them.
const { stringify, parse } = JSON;

/** Storage failed, or the data store is full. */
export class DataStoreError extends Error {
  override readonly name = 'DataStoreError';
}

interface Pending {
  readonly message: ChildRequestMessage;
  readonly value: Uint8Array;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface PendingRequestsOptions {
  readonly run: number;
  readonly limits: ChildLimits;
  readonly post: (message: ChildRequestMessage, value: Uint8Array) => void;
  readonly isOver: () => boolean;
}

const NOTHING = new Uint8Array();

export class PendingRequests {
  readonly #options: PendingRequestsOptions;
  readonly #open = new Map<number, Pending>();
  #waiting: Pending[] = [];
  #openBytes = 0;
  #ids = 0;
  #onSettled: (() => void)[] = [];
  #hasRefused = false;

  constructor(options: PendingRequestsOptions) {
    this.#options = options;
  }

  /** Sends a request. `value`: JSON text. Resolves with the reply's JSON value; never settles after the run's end. */
  send(verb: string, args: Readonly<Record<string, unknown>>, value?: string): Promise<unknown> {
    if (this.#options.isOver()) return new Promise(() => {});
    const bytes = value === undefined ? NOTHING : Buffer.from(value);
    const id = ++this.#ids;
    const message: ChildRequestMessage = {
      t: 'request',
      run: this.#options.run,
      id,
      verb,
      args: stringify(args),
      bytes: bytes.byteLength,
    };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, value: bytes, resolve, reject });
      this.#flush();
    });
  }

  settle(id: number, ok: boolean, json: string): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#open.delete(id);
    this.#openBytes -= bytesOf(request);
    this.#flush();
    if (ok) request.resolve(parse(json));
    else {
      this.#hasRefused = true;
      request.reject(errorFrom(parse(json)));
    }
    if (this.#open.size > 0) return;
    for (const settled of this.#onSettled.splice(0)) settled();
  }

  /** Resolves when every request has its reply. */
  async allSettled(): Promise<void> {
    while (this.#open.size > 0) await new Promise<void>((resolve) => this.#onSettled.push(resolve));
    // A refusal that the code does not await fails the run as an unhandled rejection, which Node reports only after
    // this turn.
    if (this.#hasRefused) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Sends waiting requests in order: when the first is too large to go now, the others wait behind it. */
  #flush(): void {
    const { openChildRequests, openChildRequestBytes } = this.#options.limits;
    while (this.#open.size < openChildRequests) {
      const next = this.#waiting[0];
      if (next === undefined || this.#openBytes + bytesOf(next) > openChildRequestBytes) return;
      this.#waiting.shift();
      this.#open.set(next.message.id, next);
      this.#openBytes += bytesOf(next);
      this.#options.post(next.message, next.value);
    }
  }
}

function bytesOf({ message, value }: Pending): number {
  return message.args.length + value.byteLength;
}

function errorFrom(refusal: unknown): Error {
  const { name, message } = refusal as { name: string; message: string };
  return name === 'ConfigurationError' ? new ConfigurationError(message) : new DataStoreError(message);
}
