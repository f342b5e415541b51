// What the code of one run asks the server, and waits for. The server takes a few at a time; the rest waits here.

import { setImmediate } from 'node:timers';
import { ConfigurationError } from '../errors.ts';
import type { AskMessage, ChildLimits } from '../protocol.ts';

// Taken before user code can put its own in their place.
const { stringify, parse } = JSON;

/** Storage failed, or a data store takes no more. */
export class DataStoreError extends Error {
  override readonly name = 'DataStoreError';
}

interface Asked {
  readonly message: AskMessage;
  readonly value: Uint8Array;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface QuestionsOptions {
  readonly run: number;
  readonly limits: ChildLimits;
  readonly post: (message: AskMessage, value: Uint8Array) => void;
  readonly isOver: () => boolean;
}

const NOTHING = new Uint8Array();

export class Questions {
  readonly #options: QuestionsOptions;
  readonly #open = new Map<number, Asked>();
  #waiting: Asked[] = [];
  #openBytes = 0;
  #ids = 0;
  #onSettled: (() => void)[] = [];
  #hasRefused = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** `value`: JSON text. Resolves with the answer's JSON value; after the run's end, never. */
  ask(verb: string, args: Readonly<Record<string, unknown>>, value?: string): Promise<unknown> {
    if (this.#options.isOver()) return new Promise(() => {});
    const bytes = value === undefined ? NOTHING : Buffer.from(value);
    const id = ++this.#ids;
    const message: AskMessage = {
      t: 'ask',
      run: this.#options.run,
      id,
      verb,
      args: stringify(args),
      bytes: bytes.byteLength,
    };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, value: bytes, resolve, reject });
      this.#send();
    });
  }

  reply(id: number, ok: boolean, json: string): void {
    const asked = this.#open.get(id);
    if (asked === undefined) return;
    this.#open.delete(id);
    this.#openBytes -= bytesOf(asked);
    this.#send();
    if (ok) asked.resolve(parse(json));
    else {
      this.#hasRefused = true;
      asked.reject(errorFrom(parse(json)));
    }
    if (this.#open.size > 0) return;
    for (const settled of this.#onSettled.splice(0)) settled();
  }

  /** Resolves when everything that was asked has its answer. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await new Promise<void>((resolve) => this.#onSettled.push(resolve));
    // A refusal that nobody waits for fails the run, but not before Node has seen that nobody does.
    if (this.#hasRefused) await new Promise((resolve) => setImmediate(resolve));
  }

  /** In order: when the first that waits is too large to go now, the others wait behind it. */
  #send(): void {
    const { openAsks, openAskBytes } = this.#options.limits;
    while (this.#open.size < openAsks) {
      const next = this.#waiting[0];
      if (next === undefined || this.#openBytes + bytesOf(next) > openAskBytes) return;
      this.#waiting.shift();
      this.#open.set(next.message.id, next);
      this.#openBytes += bytesOf(next);
      this.#options.post(next.message, next.value);
    }
  }
}

function bytesOf({ message, value }: Asked): number {
  return message.args.length + value.byteLength;
}

function errorFrom(told: unknown): Error {
  const { name, message } = told as { name: string; message: string };
  return name === 'ConfigurationError' ? new ConfigurationError(message) : new DataStoreError(message);
}
