// Streams of events, over as many connections as it takes: each goes on behind the last record that came.

import { keepAnswer } from './answers.ts';
import { textOf } from './body.ts';
import { createFrameReader, type Frame } from './event-frames.ts';
import type { CallOptions, Open } from './options.ts';
import { ConnectionError, ProblemError } from './problem.ts';
import { checkNumbers } from './request.ts';
import { backoffMs, pause } from './retry.ts';

export interface StreamOptions extends CallOptions {
  /** The id of a record: the stream begins behind it, with everything that is still kept. None: from now on. */
  readonly lastEventId?: string | undefined;
  /** False: the end of the first connection is the end of the stream. */
  readonly reconnects?: boolean | undefined;
  /** Called when a connection is open, the first one and each that is made again: what comes from now on is heard. */
  readonly onConnect?: (() => void) | undefined;
  /** Called when a connection is lost, before the next one; null: the server ended it in order. */
  readonly onDisconnect?: ((error: unknown) => void) | undefined;
  /** How long nothing may come, not even a comment, which the server sends every 15 seconds; 60 seconds when not given. */
  readonly idleTimeoutMs?: number | undefined;
}

/** `gap`: something may be missing that was emitted behind the record `after`, since it is kept no more. */
export type StreamEvent<T> =
  | { readonly kind: 'event'; readonly id: string; readonly name: string; readonly data: T }
  | { readonly kind: 'gap'; readonly after: string; readonly message: string };

const IDLE_MS = 60_000;
const RETRY_MS = 2000;
const MAX_BACKOFF_MS = 30_000;
const GAP = '$gap';
/** Refusals that another attempt may not meet. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Ends with `break`, with the signal, or with a refusal that stays. A connection that is lost is made again. */
export async function* streamEvents<T>(
  open: Open,
  input: object,
  options: StreamOptions,
): AsyncGenerator<StreamEvent<T>, void> {
  const { lastEventId, reconnects = true, onConnect, onDisconnect, ...others } = options;
  const { idleTimeoutMs: idleMs = IDLE_MS, ...call } = others;
  checkNumbers(options);
  const { signal } = call;
  let lastId = lastEventId ?? (input as { last_event_id?: string }).last_event_id ?? '';
  let retryMs = RETRY_MS;
  let wasOpen = false;
  for (let failures = 0; ; ) {
    const frames = createFrameReader(lastId);
    const headers = { ...call.headers, ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
    let lost: unknown = null;
    try {
      const response = await open({ ...input, last_event_id: undefined }, { ...call, headers });
      wasOpen = true;
      onConnect?.();
      for await (const part of textOf(response, { idleMs, signal })) {
        failures = 0;
        for (const frame of frames.take(part)) yield eventOf<T>(frame);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!wasOpen || !reconnects || !isPassing(error)) throw error;
      failures++;
      lost = error;
    }
    if (!reconnects) return;
    lastId = frames.lastId;
    retryMs = frames.retryMs ?? retryMs;
    onDisconnect?.(lost);
    await pause(Math.max(retryMs, failures > 0 ? backoffMs(failures, MAX_BACKOFF_MS) : 0), signal);
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ProblemError && PASSING.has(error.status));
}

function eventOf<T>({ lastId, name, data }: Frame): StreamEvent<T> {
  const value: unknown = JSON.parse(data);
  if (name === GAP) return { kind: 'gap', ...(value as { after: string; message: string }) };
  if (typeof value === 'object' && value !== null) keepAnswer(value, { text: data, etag: null });
  return { kind: 'event', id: lastId, name, data: value as T };
}
