// Shared by the helpers for express, fastify and fetch: keys made once, and a body read within a limit.

import { Buffer } from 'node:buffer';
import { keysOf } from './keys.ts';
import { CAME_BEFORE, type Genuine, type NotGenuine, verifyWith, type WebhookHeaders } from './verify.ts';

export interface ReceiverOptions {
  /** `whsec_…` for `v1`, `whpk_…` for `v1a`; several while secrets are being rotated. */
  readonly secrets: string | readonly string[];
  /** How far the timestamp may lie from now, both ways, inclusive; 300 by default. */
  readonly toleranceS?: number;
  /** The present by default. */
  readonly nowMs?: () => number;
  /** 8 MiB by default. A sender is unverified until its whole body was read. */
  readonly maxBodyBytes?: number;
  /** Returns whether the same request came before (replay.ts); none by default: the timestamp alone limits replays. */
  readonly isReplay?: (genuine: Genuine) => boolean;
}

/** A genuine request. */
export interface ReceivedWebhook extends Genuine {
  /** The event's bytes, as they were signed. */
  readonly body: Buffer;
}

export interface RefusedWebhook {
  readonly ok: false;
  readonly status: NotGenuine['status'] | 413;
  readonly reason: string;
}

export type Received = ReceivedWebhook | RefusedWebhook;

export type ByteStream = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface Receiver {
  /** Reads the body, unless its declared length is too large. Rejects when the stream breaks. */
  receive(headers: WebhookHeaders, stream: ByteStream, declaredBytes: number): Promise<Received>;
  judge(headers: WebhookHeaders, body: Buffer): Received;
}

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Throws for invalid secrets, so that a missing setting shows at the start and not with the first request. */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { toleranceS, nowMs = Date.now, maxBodyBytes = MAX_BODY_BYTES, isReplay = () => false } = options;
  const keys = keysOf(options.secrets);
  const tooLarge: Received = { ok: false, status: 413, reason: `the body is longer than ${maxBodyBytes} bytes` };

  function judge(headers: WebhookHeaders, body: Buffer): Received {
    if (body.length > maxBodyBytes) return tooLarge;
    const verified = verifyWith({ keys, headers, body, nowMs: nowMs(), toleranceS });
    if (!verified.ok) return verified;
    if (isReplay(verified)) return { ok: false, status: 401, reason: CAME_BEFORE };
    return { ...verified, body };
  }

  async function receive(headers: WebhookHeaders, stream: ByteStream, declaredBytes: number): Promise<Received> {
    if (declaredBytes > maxBodyBytes) return tooLarge;
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of stream) {
      bytes += part.length;
      if (bytes > maxBodyBytes) return tooLarge;
      parts.push(part);
    }
    return judge(headers, Buffer.concat(parts, bytes));
  }

  return { receive, judge };
}
