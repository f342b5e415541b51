// For receivers, `errand/webhooks/fetch`: handlers that get a Request (Next.js, Hono, Remix, Deno, Bun, …).

import { createReceiver, type Received, type ReceiverOptions } from './receiver.ts';

/** The members of a Request that are used. */
export interface FetchRequest {
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
  readonly bodyUsed: boolean;
}

/**
 * Reads the request and returns whether it is genuine, with the event's bytes or the status to answer. Rejects when the body
 * was read before, when the stream breaks, and for invalid secrets.
 */
export async function verifyRequest(request: FetchRequest, options: ReceiverOptions): Promise<Received> {
  const receiver = createReceiver(options);
  if (request.bodyUsed) {
    throw new TypeError(
      'the body was read before verifyRequest saw it, and the signature covers its bytes as they came: ' +
        'verify first, or pass request.clone() before reading',
    );
  }
  return receiver.receive(request.headers, request.body ?? [], Number(request.headers.get('content-length') ?? 0));
}
